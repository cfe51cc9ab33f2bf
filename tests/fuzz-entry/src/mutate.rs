//! Inputs with something changed, by a fixed seed: what replays try beside the inputs themselves.

/// SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The input with one to three changes that belong to `seed`.
pub fn mutate(input: &[u8], seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut bytes = input.to_vec();
    let mut below = |bound: usize| {
        usize::try_from(next(&mut state) % u64::try_from(bound.max(1)).unwrap()).unwrap()
    };
    for _ in 0..=below(3) {
        let at = below(bytes.len());
        match below(8) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] ^= 1 << below(8),
            2 if at < bytes.len() => bytes[at] = [0, 0xff, 0x7f, 0x80, b'"'][below(5)],
            3 => bytes.insert(at.min(bytes.len()), u8::try_from(below(256)).unwrap()),
            4 if at < bytes.len() => {
                let end = (at + 1 + below(8)).min(bytes.len());
                bytes.drain(at..end);
            }
            5 if at < bytes.len() => {
                let end = (at + 1 + below(12)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                let to = below(bytes.len());
                bytes.splice(to..to, part);
            }
            6 if at < bytes.len() => {
                let end = (at + 4).min(bytes.len());
                bytes[at..end].fill([0, 0xff, 0x7f][below(3)]);
            }
            _ => {}
        }
    }
    bytes
}
