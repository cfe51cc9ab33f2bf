//! Atomic data types from text: the grammar of spec 01a §2.
//!
//! ```text
//! type := base nullability [ ("ARRAY" | "MULTISET") nullability ]
//! ```
//!
//! Keywords in any case, any white space between tokens. Constructed types as text (`ARRAY<INT>`) are refused, as in Java.
//! Source: Paimon `types/DataTypeJsonParser.java` (its token parser).

use super::{DataType, MAX_LENGTH, TypeKind};
use crate::error::{Result, TypeError};

/// Types that exist in the format's 2.x versions only.
const NEWER_TYPES: [&str; 4] = ["BLOB", "VECTOR", "GEOMETRY", "GEOGRAPHY"];

impl DataType {
    /// Reads an atomic type (or `<atomic> ARRAY`, `<atomic> MULTISET`) from text such as `DECIMAL(5, 2) NOT NULL`.
    ///
    /// # Errors
    /// [`TypeError::TypeText`] with the position of what was not understood, [`TypeError::ParameterRange`] for lengths and
    /// precisions out of range, [`TypeError::Unsupported`] for types of newer versions.
    pub fn parse_atomic(text: &str) -> Result<Self> {
        let mut parser = Parser {
            text,
            tokens: tokens(text)?,
            next: 0,
        };
        let mut data_type = DataType {
            kind: parser.base()?,
            nullable: true,
        };
        data_type.nullable = parser.nullability()?;
        data_type.validate()?;
        if parser.word("ARRAY") {
            data_type = DataType::array(data_type).with_nullable(parser.nullability()?);
        } else if parser.word("MULTISET") {
            data_type = DataType::multiset(data_type).with_nullable(parser.nullability()?);
        }
        match parser.tokens.get(parser.next) {
            None => Ok(data_type),
            Some(_) => Err(parser.error("unexpected text after the type")),
        }
    }
}

#[derive(Debug, PartialEq)]
enum TokenKind {
    /// A keyword, in upper case.
    Word(String),
    Number(u32),
    /// Any other character.
    Sign(char),
}

struct Token {
    at: usize,
    kind: TokenKind,
}

fn tokens(text: &str) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, first)) = chars.next() {
        if first.is_whitespace() {
            continue;
        }
        let is_word = first.is_alphabetic() || first == '_';
        if !is_word && !first.is_ascii_digit() {
            tokens.push(Token {
                at,
                kind: TokenKind::Sign(first),
            });
            continue;
        }
        let mut run = String::from(first);
        while let Some(&(_, c)) = chars.peek() {
            let goes_on = if is_word {
                c.is_alphanumeric() || c == '_'
            } else {
                c.is_ascii_digit()
            };
            if !goes_on {
                break;
            }
            run.push(c);
            chars.next();
        }
        let kind = if is_word {
            TokenKind::Word(run.to_uppercase())
        } else {
            let number = run
                .parse::<u32>()
                .ok()
                .filter(|&number| number <= MAX_LENGTH);
            TokenKind::Number(number.ok_or_else(|| TypeError::TypeText {
                text: text.to_owned(),
                position: at,
                reason: format!("{run} is larger than {MAX_LENGTH}"),
            })?)
        };
        tokens.push(Token { at, kind });
    }
    Ok(tokens)
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
}

impl Parser<'_> {
    fn base(&mut self) -> Result<TypeKind> {
        let Some(Token {
            kind: TokenKind::Word(word),
            ..
        }) = self.tokens.get(self.next)
        else {
            return Err(self.error("a type name was expected"));
        };
        let word = word.clone();
        let start = self.next;
        self.next += 1;
        Ok(match word.as_str() {
            "BOOLEAN" => TypeKind::Boolean,
            "TINYINT" => TypeKind::TinyInt,
            "SMALLINT" => TypeKind::SmallInt,
            "INT" | "INTEGER" => TypeKind::Int,
            "BIGINT" => TypeKind::BigInt,
            "FLOAT" => TypeKind::Float,
            "DOUBLE" => {
                self.word("PRECISION");
                TypeKind::Double
            }
            "STRING" => TypeKind::VarChar(MAX_LENGTH),
            "BYTES" => TypeKind::VarBinary(MAX_LENGTH),
            "CHAR" => TypeKind::Char(self.parameter()?.unwrap_or(1)),
            "VARCHAR" => TypeKind::VarChar(self.parameter()?.unwrap_or(1)),
            "BINARY" => TypeKind::Binary(self.parameter()?.unwrap_or(1)),
            "VARBINARY" => TypeKind::VarBinary(self.parameter()?.unwrap_or(1)),
            "DECIMAL" | "NUMERIC" | "DEC" => self.decimal()?,
            "DATE" => TypeKind::Date,
            "VARIANT" => TypeKind::Variant,
            "TIME" => {
                let precision = self.precision("TIME precision", 0)?;
                if self.word("WITHOUT") {
                    self.expect_words(&["TIME", "ZONE"])?;
                }
                TypeKind::Time(precision)
            }
            "TIMESTAMP" => {
                let precision = self.precision("TIMESTAMP precision", 6)?;
                if self.word("WITHOUT") {
                    self.expect_words(&["TIME", "ZONE"])?;
                    TypeKind::Timestamp(precision)
                } else if self.word("WITH") {
                    self.expect_words(&["LOCAL", "TIME", "ZONE"])?;
                    TypeKind::TimestampLtz(precision)
                } else {
                    TypeKind::Timestamp(precision)
                }
            }
            "TIMESTAMP_LTZ" => {
                TypeKind::TimestampLtz(self.precision("TIMESTAMP_LTZ precision", 6)?)
            }
            newer if NEWER_TYPES.contains(&newer) => {
                return Err(TypeError::unsupported(format!(
                    "data type {newer} of a newer table format"
                )));
            }
            _ => {
                self.next = start;
                return Err(self.error(format!("{word} is no atomic type")));
            }
        })
    }

    fn decimal(&mut self) -> Result<TypeKind> {
        if !self.sign('(') {
            return Ok(TypeKind::Decimal {
                precision: 10,
                scale: 0,
            });
        }
        let precision = self.number()?;
        let scale = if self.sign(',') { self.number()? } else { 0 };
        self.expect_sign(')')?;
        Ok(TypeKind::Decimal {
            precision: small("DECIMAL precision", 1, 38, precision)?,
            scale: small("DECIMAL scale", 0, i64::from(precision), scale)?,
        })
    }

    fn precision(&mut self, what: &'static str, default: u8) -> Result<u8> {
        match self.parameter()? {
            Some(precision) => small(what, 0, 9, precision),
            None => Ok(default),
        }
    }

    /// `[ "(" int ")" ]`
    fn parameter(&mut self) -> Result<Option<u32>> {
        if !self.sign('(') {
            return Ok(None);
        }
        let number = self.number()?;
        self.expect_sign(')')?;
        Ok(Some(number))
    }

    /// `"NOT" "NULL" | "NULL" | <nothing>`; true is nullable.
    fn nullability(&mut self) -> Result<bool> {
        if self.word("NULL") {
            return Ok(true);
        }
        if self.word("NOT") {
            self.expect_words(&["NULL"])?;
            return Ok(false);
        }
        Ok(true)
    }

    fn accept(&mut self, wanted: &TokenKind) -> bool {
        let found = self
            .tokens
            .get(self.next)
            .is_some_and(|token| token.kind == *wanted);
        if found {
            self.next += 1;
        }
        found
    }

    fn word(&mut self, word: &str) -> bool {
        self.accept(&TokenKind::Word(word.to_owned()))
    }

    fn sign(&mut self, sign: char) -> bool {
        self.accept(&TokenKind::Sign(sign))
    }

    fn expect_words(&mut self, words: &[&str]) -> Result<()> {
        for word in words {
            if !self.word(word) {
                return Err(self.error(format!("{word} was expected")));
            }
        }
        Ok(())
    }

    fn expect_sign(&mut self, sign: char) -> Result<()> {
        if self.sign(sign) {
            Ok(())
        } else {
            Err(self.error(format!("'{sign}' was expected")))
        }
    }

    fn number(&mut self) -> Result<u32> {
        match self.tokens.get(self.next) {
            Some(Token {
                kind: TokenKind::Number(number),
                ..
            }) => {
                let number = *number;
                self.next += 1;
                Ok(number)
            }
            _ => Err(self.error("a number was expected")),
        }
    }

    fn error(&self, reason: impl Into<String>) -> TypeError {
        TypeError::TypeText {
            text: self.text.to_owned(),
            position: self
                .tokens
                .get(self.next)
                .map_or(self.text.len(), |token| token.at),
            reason: reason.into(),
        }
    }
}

fn small(what: &'static str, min: i64, max: i64, found: u32) -> Result<u8> {
    let error = || TypeError::ParameterRange {
        what,
        min,
        max,
        found: i64::from(found),
    };
    if !(min..=max).contains(&i64::from(found)) {
        return Err(error());
    }
    u8::try_from(found).map_err(|_| error())
}
