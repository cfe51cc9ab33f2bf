//! Bitmaps against sets of values, bytes of Java, and bytes that are none.

#![allow(
    clippy::cast_possible_truncation,
    reason = "halves of numbers are cut off on purpose"
)]

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

impl Containers<u16> {
    fn add(&mut self, value: u32) {
        let (key, low) = ((value >> 16) as u16, (value & 0xffff) as u16);
        let single = Containers(vec![(key, Container::Array(vec![low]))]);
        *self = std::mem::take(self).union(single);
    }
}

fn bitmap32(values: &BTreeSet<u32>) -> Bitmap32 {
    let mut containers = Containers::default();
    values.iter().for_each(|value| containers.add(*value));
    Bitmap32(containers)
}

fn bitmap64(values: &BTreeSet<u64>) -> Bitmap64 {
    let mut united = Bitmap64(Containers::default());
    for value in values {
        let low = (value & 0xffff) as u16;
        let single = Bitmap64(Containers(vec![(value >> 16, Container::Array(vec![low]))]));
        united = united.union(single);
    }
    united
}

fn values_of<K: Copy + Into<u64>>(containers: &Containers<K>) -> Vec<u64> {
    let mut values = Vec::new();
    for (key, container) in &containers.0 {
        let mut words = Box::new([0; 1024]);
        let all = container.clone().union(&Container::Bits(words.clone()));
        words.fill(0);
        let low: Vec<u16> = match all {
            Container::Array(values) => values,
            Container::Runs(runs) => runs.iter().flat_map(|(s, l)| *s..=s + l).collect(),
            Container::Bits(words) => (0..=u16::MAX)
                .filter(|v| words[usize::from(v / 64)] >> (v % 64) & 1 == 1)
                .collect(),
        };
        values.extend(low.iter().map(|low| (*key).into() << 16 | u64::from(*low)));
    }
    values
}

/// Values that make arrays, bits and runs.
fn values() -> impl Strategy<Value = BTreeSet<u32>> {
    let scattered = prop::collection::btree_set(0u32..400_000, 0..60);
    let stretch = (0u32..300_000, 0u32..6000, 1u32..3)
        .prop_map(|(start, len, step)| (0..len).map(|at| start + at * step).collect());
    let ends = Just(BTreeSet::from([0, u32::MAX, 65535, 65536]));
    let part = prop_oneof![scattered, stretch, ends];
    prop::collection::vec(part, 1..3).prop_map(|parts: Vec<BTreeSet<u32>>| parts.concat_sets())
}

trait ConcatSets {
    fn concat_sets(self) -> BTreeSet<u32>;
}

impl ConcatSets for Vec<BTreeSet<u32>> {
    fn concat_sets(self) -> BTreeSet<u32> {
        self.into_iter().flatten().collect()
    }
}

fn from_hex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap() as u8;
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// What is written reads back, and a union holds the values of both.
    #[test]
    fn unions_of_32_bits_hold_both_and_survive_their_bytes(left in values(), right in values()) {
        let build = |values: &BTreeSet<u32>| {
            let mut containers: Vec<(u16, Container)> = Vec::new();
            for value in values {
                let (key, low) = ((value >> 16) as u16, (value & 0xffff) as u16);
                match containers.last_mut() {
                    Some((last, Container::Array(lows))) if *last == key => lows.push(low),
                    _ => containers.push((key, Container::Array(vec![low]))),
                }
            }
            Bitmap32(Containers(containers.into_iter().map(|(key, c)| (key, c.smallest())).collect()))
        };
        let decoded = Bitmap32::decode(&build(&left).encode()).unwrap();
        prop_assert_eq!(values_of(&decoded.0), left.iter().map(|v| u64::from(*v)).collect::<Vec<_>>());
        let united = decoded.union(build(&right));
        let bytes = united.encode();
        let again = Bitmap32::decode(&bytes).unwrap();
        prop_assert_eq!(again.encode(), bytes);
        let both: Vec<u64> = left.union(&right).map(|v| u64::from(*v)).collect();
        prop_assert_eq!(values_of(&again.0), both);
    }

    /// As above, with keys that make every kind of tree node.
    #[test]
    fn unions_of_64_bits_hold_both_and_survive_their_bytes(
        left in prop::collection::btree_set(any::<u64>(), 0..80),
        right in prop::collection::btree_set(0u64..60_000_000, 0..400),
    ) {
        let decoded = Bitmap64::decode(&bitmap64(&left).encode()).unwrap();
        prop_assert_eq!(values_of(&decoded.0), left.iter().copied().collect::<Vec<_>>());
        let again = Bitmap64::decode(&decoded.union(bitmap64(&right)).encode()).unwrap();
        prop_assert_eq!(values_of(&again.0), left.union(&right).copied().collect::<Vec<_>>());
    }

    /// Any bytes are a bitmap or a typed error.
    #[test]
    fn any_bytes_are_read_or_refused(
        values in values(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
        noise in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let few: BTreeSet<u32> = values.into_iter().take(200).collect();
        let wide = few.iter().map(|v| u64::from(*v).wrapping_mul(0x1_0001_0001)).collect();
        for mut bytes in [bitmap32(&few).encode(), bitmap64(&wide).encode()] {
            let place = at.index(bytes.len());
            bytes[place] = byte;
            bytes.truncate(cut.index(bytes.len() + 1).max(bytes.len() / 2));
            let _: (Result<Bitmap32>, Result<Bitmap64>) = (Bitmap32::decode(&bytes), Bitmap64::decode(&bytes));
        }
        let _: (Result<Bitmap32>, Result<Bitmap64>) = (Bitmap32::decode(&noise), Bitmap64::decode(&noise));
    }
}

#[test]
fn bitmaps_of_java_unite_to_the_bytes_of_java() {
    let unite = |left, right| {
        let decode = |text| Bitmap64::decode(&from_hex(text)).unwrap();
        decode(left).union(decode(right)).encode()
    };
    // {1, 2^32 ...} of the scenario agg-rbm64.
    let head = "010200000000000000000200030000000000010004000000000000000000000000000000000004000000000000010000010000000000000001000000fe02000000";
    let tail = "02000000000000000000000001000000";
    let left = format!("{head}01020100000001000102010000000000{tail}");
    let right = format!("{head}01020100000002000102010000000100{tail}");
    let both = format!("{head}0102020000000100020001020200000000000100{tail}");
    assert_eq!(unite(&left, &right), from_hex(&both));
}

#[test]
fn lengths_in_the_bytes_reserve_nothing() {
    // A tree of one leaf, then an array that claims 2^32 - 1 containers.
    let mut bytes = from_hex(
        &[
            "01",
            "0100000000000000",
            "04000000",
            "000000000000",
            "0000000000000000",
            "01000000",
            "fe",
        ]
        .concat(),
    );
    bytes.extend([0xff; 4]);
    assert!(matches!(
        Bitmap64::decode(&bytes),
        Err(BitmapError::Truncated { .. })
    ));
    let mut bytes = from_hex("3a300000");
    bytes.extend([0xff; 4]);
    assert!(matches!(
        Bitmap32::decode(&bytes),
        Err(BitmapError::Invalid { .. })
    ));
}
