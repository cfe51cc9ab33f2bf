//! Strings as JSON: only what JSON demands is escaped.

/// Appends `text` as a JSON string. `"`, `\` and characters below U+0020 are escaped, nothing else.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let run = rest
            .iter()
            .position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\')
            .unwrap_or(rest.len());
        let (plain, special) = rest.split_at(run);
        out.extend_from_slice(plain);
        let Some((&byte, after)) = special.split_first() else {
            break;
        };
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => {
                out.extend_from_slice(b"\\u00");
                out.push(hex_digit(byte >> 4));
                out.push(hex_digit(byte & 0xf));
            }
        }
        rest = after;
    }
    out.push(b'"');
}

fn hex_digit(nibble: u8) -> u8 {
    if nibble < 10 {
        b'0' + nibble
    } else {
        b'a' + nibble - 10
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_json_demands_and_nothing_else() {
        let mut out = Vec::new();
        write_string(&mut out, "a\"b\\c\n\r\t\u{0}\u{8}\u{1f}\u{7f}/ü\u{1F30A}");
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "\"a\\\"b\\\\c\\n\\r\\t\\u0000\\u0008\\u001f\u{7f}/ü\u{1F30A}\""
        );
    }
}
