//! Bounds of text cut to a number of code points.
//!
//! Source: Paimon `format/SimpleColStats`, `statistics/TruncateSimpleColStatsCollector.java`; spec 01c §5.3.

/// The first `code_points` code points: a lower bound of everything `text` is a lower bound of.
pub fn truncate_min(text: &str, code_points: usize) -> &str {
    match text.char_indices().nth(code_points) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

/// A text of at most `code_points` code points that is not less than `text`; `None` if there is none.
///
/// `text` itself if it is short enough. Otherwise the last of the kept code points that has a successor is replaced by it, and
/// what follows is dropped. The successor of U+D7FF is U+E000: Java writes an unpaired surrogate there, which is no bound.
pub fn truncate_max(text: &str, code_points: usize) -> Option<String> {
    let kept = truncate_min(text, code_points);
    if kept.len() == text.len() {
        return Some(text.to_owned());
    }
    kept.char_indices().rev().find_map(|(start, last)| {
        let next = successor(last)?;
        let mut bound = String::with_capacity(start + next.len_utf8());
        bound.push_str(kept.get(..start)?);
        bound.push(next);
        Some(bound)
    })
}

fn successor(c: char) -> Option<char> {
    match c {
        '\u{D7FF}' => Some('\u{E000}'),
        _ => char::from_u32(u32::from(c) + 1),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_successor_of_the_last_code_point_before_the_surrogates_is_after_them() {
        assert_eq!(truncate_max("\u{D7FF}zz", 1).unwrap(), "\u{E000}");
        assert_eq!(truncate_max("\u{10FFFF}\u{10FFFF}z", 2), None);
        assert_eq!(truncate_max("a\u{10FFFF}z", 2).unwrap(), "b");
    }

    proptest! {
        /// min ≤ text ≤ max in byte order, and both are short.
        #[test]
        fn truncated_bounds_are_bounds(text in "[a\u{7f}é\u{D7FF}\u{E000}\u{FFFF}\u{10000}\u{10FFFF}]{0,8}", length in 1usize..6) {
            let min = truncate_min(&text, length);
            prop_assert!(min.as_bytes() <= text.as_bytes());
            prop_assert!(min.chars().count() <= length);
            if let Some(max) = truncate_max(&text, length) {
                prop_assert!(max.as_bytes() >= text.as_bytes());
                prop_assert!(max.chars().count() <= length);
            } else {
                let without_successor = text.chars().take(length).all(|c| c == char::MAX);
                prop_assert!(without_successor);
            }
        }
    }
}
