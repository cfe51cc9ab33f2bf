//! The words of the text form of conditions.

use crate::error::TypeError;

/// A word and where it begins, in bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) position: usize,
    pub(super) kind: TokenKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    /// Name or keyword, as written.
    Word(String),
    /// Name in double quotes or backticks, without them.
    Quoted(String),
    /// Text in single quotes, without them.
    Text(String),
    /// Unsigned number, as written.
    Number(String),
    /// `X'…'`.
    Bytes(Vec<u8>),
    /// Operator or punctuation.
    Symbol(&'static str),
}

/// Two-character symbols first, so that the longest one is found.
const SYMBOLS: [&str; 14] = [
    "<=", ">=", "<>", "!=", "==", "<", ">", "=", "(", ")", ",", "-", "+", ".",
];

pub(super) fn error(position: usize, reason: impl Into<String>) -> TypeError {
    TypeError::FilterText {
        position,
        reason: reason.into(),
    }
}

/// Cuts the text into words.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, TypeError> {
    let mut tokens = Vec::new();
    let mut position = 0;
    while let Some(rest) = text.get(position..).filter(|rest| !rest.is_empty()) {
        let Some(first) = rest.chars().next() else {
            break;
        };
        if first.is_whitespace() {
            position += first.len_utf8();
            continue;
        }
        let (kind, length) = token(rest, first, position)?;
        tokens.push(Token { position, kind });
        position += length;
    }
    Ok(tokens)
}

/// The word at the beginning of `rest`, which is not blank, and its length in bytes.
fn token(rest: &str, first: char, position: usize) -> Result<(TokenKind, usize), TypeError> {
    if let Some(hex) = rest.strip_prefix(['x', 'X'])
        && hex.starts_with('\'')
    {
        let (digits, length) = quoted(hex, '\'', position)?;
        return Ok((TokenKind::Bytes(bytes(&digits, position)?), length + 1));
    }
    match first {
        '\'' => quoted(rest, first, position).map(|(text, length)| (TokenKind::Text(text), length)),
        '"' | '`' => {
            quoted(rest, first, position).map(|(name, length)| (TokenKind::Quoted(name), length))
        }
        _ if first.is_alphabetic() || first == '_' => {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
            let word = end.and_then(|end| rest.get(..end)).unwrap_or(rest);
            Ok((TokenKind::Word(word.to_owned()), word.len()))
        }
        _ if first.is_ascii_digit() || first == '.' => {
            let number = number(rest);
            if number.bytes().any(|byte| byte.is_ascii_digit()) {
                Ok((TokenKind::Number(number.to_owned()), number.len()))
            } else {
                symbol(rest, first, position)
            }
        }
        _ => symbol(rest, first, position),
    }
}

fn symbol(rest: &str, first: char, position: usize) -> Result<(TokenKind, usize), TypeError> {
    let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
    let symbol = symbol.ok_or_else(|| error(position, format!("{first:?} has no meaning here")))?;
    Ok((TokenKind::Symbol(symbol), symbol.len()))
}

/// What stands between the quotes `rest` begins with, doubled quotes made single, and the length with quotes.
fn quoted(rest: &str, quote: char, position: usize) -> Result<(String, usize), TypeError> {
    let mut content = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c != quote {
            content.push(c);
        } else if chars.peek().is_some_and(|(_, next)| *next == quote) {
            content.push(quote);
            chars.next();
        } else {
            return Ok((content, at + 1));
        }
    }
    Err(error(position, format!("the closing {quote} is missing")))
}

/// `digits[.digits][e[+-]digits]`; an `e` without digits after it does not belong to the number.
fn number(rest: &str) -> &str {
    let bytes = rest.as_bytes();
    let digits_from = |start: usize| {
        let rest = bytes.get(start..).unwrap_or_default();
        start + rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut end = digits_from(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits_from(end + 1);
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent_end = digits_from(end + 1 + sign);
        if exponent_end > end + 1 + sign {
            end = exponent_end;
        }
    }
    rest.get(..end).unwrap_or(rest)
}

fn bytes(digits: &str, position: usize) -> Result<Vec<u8>, TypeError> {
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair: &[u8]| {
        let [high, low] = pair else { return None };
        let value = |digit: u8| {
            char::from(digit)
                .to_digit(16)
                .and_then(|value| u8::try_from(value).ok())
        };
        Some(value(*high)? << 4 | value(*low)?)
    };
    let bytes: Option<Vec<u8>> = pairs.map(byte).collect();
    bytes.ok_or_else(|| {
        error(
            position,
            "bytes are written as pairs of hexadecimal digits: X'0aff'",
        )
    })
}
