//! How wide text is on a terminal, and text cut to a width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that `text` takes.
pub(super) fn width_of(text: &str) -> usize {
    text.width()
}

/// Appends `text`, cut with `…` if it is wider than `width`; the answer is how many columns it took.
pub(super) fn push_cut(out: &mut String, text: &str, width: usize) -> usize {
    let whole = width_of(text);
    if whole <= width {
        out.push_str(text);
        return whole;
    }
    let mut taken = 0;
    for character in text.chars() {
        let columns = character.width().unwrap_or(0);
        if taken + columns + 1 > width {
            break;
        }
        out.push(character);
        taken += columns;
    }
    if width > 0 {
        out.push('…');
        taken += 1;
    }
    taken
}

/// `text` without what would move the cursor: control characters are shown as their pictures.
pub(super) fn printable(text: &str) -> String {
    text.chars()
        .map(|character| match u32::from(character) {
            code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
            0x7f => '\u{2421}',
            0x80..0xa0 => '\u{fffd}',
            _ => character,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, width: usize) -> (String, usize) {
        let mut out = String::new();
        let taken = push_cut(&mut out, text, width);
        (out, taken)
    }

    #[test]
    fn wide_characters_count_double() {
        assert_eq!(width_of("日本"), 4);
        assert_eq!(cut("日本語", 6), ("日本語".into(), 6));
        assert_eq!(cut("日本語", 5), ("日本…".into(), 5));
        assert_eq!(cut("日本語", 4), ("日…".into(), 3));
        assert_eq!(cut("abc", 1), ("…".into(), 1));
        assert_eq!(cut("abc", 0), (String::new(), 0));
    }

    #[test]
    fn control_characters_cannot_move_the_cursor() {
        assert_eq!(printable("a\tb\n\u{1b}[2J\u{7f}"), "a␉b␊␛[2J␡");
    }
}
