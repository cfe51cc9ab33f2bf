//! Hint files LATEST and EARLIEST: one decimal id.
//!
//! A hint may be behind, ahead, torn or absent; whoever reads one must check that the snapshot it names exists and that
//! none comes after it (spec 01b §3).

/// Longest text that can be an id: 19 digits and some line breaks.
const MAX_HINT_BYTES: usize = 64;

/// The id in a hint file. `None` for anything that is no positive number; line breaks are let pass, other blanks are not.
pub fn parse_hint(bytes: &[u8]) -> Option<i64> {
    if bytes.len() > MAX_HINT_BYTES {
        return None;
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let digits: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|id| *id > 0)
}

/// The bytes of a hint file: the digits, no line break.
pub fn format_hint(id: i64) -> Vec<u8> {
    id.to_string().into_bytes()
}
