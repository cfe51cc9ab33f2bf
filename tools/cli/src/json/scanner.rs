//! A pull reader over the text of one JSON value.
//!
//! `serde_json` would build a tree, or turn numbers into doubles, before we know the column a value is for. This hands out the raw text of
//! numbers and borrowed strings instead, so a 64-bit integer or a 38-digit decimal is read exactly and a row costs no tree. The grammar is
//! RFC 8259; the property tests hold it against `serde_json`.

use std::borrow::Cow;

use super::error::Fault;

/// Deepest nesting that is skipped or read; types of tables are far shallower.
const DEPTH_MAX: usize = 200;

/// What kind of value comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

/// A place in the text of a JSON value.
#[derive(Debug, Clone)]
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn fault<T>(&self, expected: &'static str) -> Result<T, Fault> {
        Err(Fault::Syntax {
            at: self.at,
            expected,
        })
    }

    /// The text from `start` to here.
    fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// What comes next; consumes only blanks.
    pub(super) fn next(&mut self) -> Result<Next, Fault> {
        self.skip_blanks();
        match self.byte() {
            Some(b'n') => Ok(Next::Null),
            Some(b't' | b'f') => Ok(Next::Boolean),
            Some(b'-' | b'0'..=b'9') => Ok(Next::Number),
            Some(b'"') => Ok(Next::String),
            Some(b'[') => Ok(Next::Array),
            Some(b'{') => Ok(Next::Object),
            _ => self.fault("a value"),
        }
    }

    fn word(&mut self, word: &'static str, expected: &'static str) -> Result<(), Fault> {
        if self
            .text
            .get(self.at..)
            .is_some_and(|rest| rest.starts_with(word))
        {
            self.at += word.len();
            return Ok(());
        }
        self.fault(expected)
    }

    /// Takes `null`.
    pub(super) fn null(&mut self) -> Result<(), Fault> {
        self.word("null", "null")
    }

    /// Takes `true` or `false`.
    pub(super) fn boolean(&mut self) -> Result<bool, Fault> {
        if self.byte() == Some(b't') {
            return self.word("true", "true").map(|()| true);
        }
        self.word("false", "false").map(|()| false)
    }

    fn digits(&mut self) -> Result<(), Fault> {
        if !matches!(self.byte(), Some(b'0'..=b'9')) {
            return self.fault("a digit");
        }
        while matches!(self.byte(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    /// Takes a number and gives its text.
    pub(super) fn number(&mut self) -> Result<&'a str, Fault> {
        let start = self.at;
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        if self.byte() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.byte(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(self.since(start))
    }

    /// Takes a string; borrowed when nothing in it was escaped.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        if self.byte() != Some(b'"') {
            return self.fault("a string");
        }
        self.at += 1;
        let start = self.at;
        self.plain_run();
        if self.byte() == Some(b'"') {
            let text = self.since(start);
            self.at += 1;
            return Ok(Cow::Borrowed(text));
        }
        let mut text = self.since(start).to_owned();
        loop {
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => {
                    self.at += 1;
                    text.push(self.escape()?);
                }
                Some(_) => return self.fault("no bare control character"),
                None => return self.fault("the end of a string"),
            }
            let start = self.at;
            self.plain_run();
            text.push_str(self.since(start));
        }
    }

    /// Goes on to the next quote, backslash or control character.
    fn plain_run(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let run = rest
            .iter()
            .position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\');
        self.at += run.unwrap_or(rest.len());
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let escaped = self.byte();
        self.at += 1;
        match escaped {
            Some(b'"') => Ok('"'),
            Some(b'\\') => Ok('\\'),
            Some(b'/') => Ok('/'),
            Some(b'b') => Ok('\u{8}'),
            Some(b'f') => Ok('\u{c}'),
            Some(b'n') => Ok('\n'),
            Some(b'r') => Ok('\r'),
            Some(b't') => Ok('\t'),
            Some(b'u') => self.unicode(),
            _ => {
                self.at -= 1;
                self.fault("an escape")
            }
        }
    }

    fn unicode(&mut self) -> Result<char, Fault> {
        let first = self.hex()?;
        let code = if (0xd800..0xdc00).contains(&first) {
            self.word("\\u", "the second half of a surrogate pair")?;
            let second = self.hex()?;
            if !(0xdc00..0xe000).contains(&second) {
                return self.fault("the second half of a surrogate pair");
            }
            0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)
        } else {
            first
        };
        match char::from_u32(code) {
            Some(character) => Ok(character),
            None => self.fault("a character, not half a surrogate pair"),
        }
    }

    fn hex(&mut self) -> Result<u32, Fault> {
        let digits = self
            .text
            .get(self.at..self.at + 4)
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
            Some(code) => {
                self.at += 4;
                Ok(code)
            }
            None => self.fault("four hexadecimal digits"),
        }
    }

    /// Takes the bracket that opens an array or an object.
    pub(super) fn open(&mut self, bracket: u8) -> Result<(), Fault> {
        self.skip_blanks();
        if self.byte() == Some(bracket) {
            self.at += 1;
            return Ok(());
        }
        self.fault(if bracket == b'{' {
            "an object"
        } else {
            "an array"
        })
    }

    /// In an array: whether another element follows. Takes the comma or the closing bracket.
    pub(super) fn element(&mut self, first: &mut bool) -> Result<bool, Fault> {
        self.item(first, b']')
    }

    /// In an object: the name of the next member, or none at its end. Takes everything up to the member's value.
    pub(super) fn member(&mut self, first: &mut bool) -> Result<Option<Cow<'a, str>>, Fault> {
        if !self.item(first, b'}')? {
            return Ok(None);
        }
        let name = self.string()?;
        self.skip_blanks();
        if self.byte() != Some(b':') {
            return self.fault("a colon");
        }
        self.at += 1;
        Ok(Some(name))
    }

    fn item(&mut self, first: &mut bool, close: u8) -> Result<bool, Fault> {
        self.skip_blanks();
        let is_first = std::mem::replace(first, false);
        match self.byte() {
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            Some(b',') if !is_first => {
                self.at += 1;
                self.skip_blanks();
                if self.byte() == Some(close) {
                    return self.fault("a value after the comma");
                }
                Ok(true)
            }
            Some(_) if is_first => Ok(true),
            _ => self.fault(if close == b']' {
                "a comma or ]"
            } else {
                "a comma or }"
            }),
        }
    }

    /// Takes any value and gives its text.
    pub(super) fn skip(&mut self) -> Result<&'a str, Fault> {
        self.skip_blanks();
        let start = self.at;
        self.skip_nested(0)?;
        Ok(self.since(start))
    }

    fn skip_nested(&mut self, depth: usize) -> Result<(), Fault> {
        if depth > DEPTH_MAX {
            return self.fault("less nesting");
        }
        match self.next()? {
            Next::Null => self.null(),
            Next::Boolean => self.boolean().map(drop),
            Next::Number => self.number().map(drop),
            Next::String => self.string().map(drop),
            Next::Array => {
                self.open(b'[')?;
                let mut first = true;
                while self.element(&mut first)? {
                    self.skip_nested(depth + 1)?;
                }
                Ok(())
            }
            Next::Object => {
                self.open(b'{')?;
                let mut first = true;
                while self.member(&mut first)?.is_some() {
                    self.skip_nested(depth + 1)?;
                }
                Ok(())
            }
        }
    }

    /// Checks that only blanks are left.
    pub(super) fn end(&mut self) -> Result<(), Fault> {
        self.skip_blanks();
        if self.at == self.text.len() {
            Ok(())
        } else {
            self.fault("the end of the line")
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn accepts(text: &str) -> bool {
        let mut scanner = Scanner::new(text);
        scanner.skip().and_then(|_| scanner.end()).is_ok()
    }

    #[test]
    fn strings_are_borrowed_unless_escaped() {
        assert!(matches!(
            Scanner::new("\"a b\"").string(),
            Ok(Cow::Borrowed("a b"))
        ));
        let text = Scanner::new(r#""\u00fc\ud83c\udf0a\n\/""#)
            .string()
            .unwrap();
        assert_eq!(text, "ü\u{1F30A}\n/");
        assert!(Scanner::new(r#""\ud83c""#).string().is_err());
        assert!(Scanner::new(r#""\udf0a""#).string().is_err());
        assert!(Scanner::new("\"a\nb\"").string().is_err());
    }

    #[test]
    fn grammar_is_that_of_json() {
        for good in [
            "0",
            "-0.5e+9",
            "[]",
            "{}",
            " [1 , {\"a\" : [true,null]}] ",
            "\"\"",
        ] {
            assert!(accepts(good), "{good}");
        }
        for bad in [
            "",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "[1,]",
            "[,1]",
            "{\"a\"}",
            "{\"a\":1,}",
            "nul",
            "[1 2]",
            "{a:1}",
            "\"",
            "1 1",
        ] {
            assert!(!accepts(bad), "{bad}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_not_a_crash() {
        assert!(!accepts(&"[".repeat(100_000)));
    }

    proptest! {
        /// What serde_json takes or refuses, so do we.
        #[test]
        fn agrees_with_serde_json(text in r#"[\[\]\{\},:"\\a-bu0-9eE.+\- tfn]{0,24}"#) {
            prop_assert_eq!(accepts(&text), serde_json::from_str::<serde_json::Value>(&text).is_ok());
        }
    }
}
