//! LIKE patterns.
//!
//! `%` stands for any characters, `_` for one, `\` before `%`, `_` or `\` takes that character for itself. Patterns are
//! taken apart into tokens first, so that an escaped `%` at the end is never mistaken for a wildcard.

use crate::error::{Result, TypeError};

/// A pattern ready to match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LikePattern {
    /// No wildcard.
    Exact(String),
    /// `abc%`.
    Prefix(String),
    /// `%abc`.
    Suffix(String),
    /// `%abc%`, also `%` alone.
    Infix(String),
    /// Anything else.
    General(Vec<Token>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    Char(char),
    One,
    Many,
}

impl LikePattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`TypeError::Invalid`] for a `\` at the end or before an ordinary character.
    pub(super) fn parse(pattern: &str) -> Result<Self> {
        let tokens = tokens(pattern)?;
        let literal = |tokens: &[Token]| -> Option<String> {
            tokens
                .iter()
                .map(|token| {
                    if let Token::Char(c) = token {
                        Some(*c)
                    } else {
                        None
                    }
                })
                .collect()
        };
        let simple = match tokens.as_slice() {
            [Token::Many] => Some(Self::Infix(String::new())),
            [Token::Many, inner @ .., Token::Many] => literal(inner).map(Self::Infix),
            [Token::Many, rest @ ..] => literal(rest).map(Self::Suffix),
            [rest @ .., Token::Many] => literal(rest).map(Self::Prefix),
            all => literal(all).map(Self::Exact),
        };
        Ok(simple.unwrap_or(Self::General(tokens)))
    }

    /// Whether the text matches as a whole.
    pub(super) fn matches(&self, text: &str) -> bool {
        match self {
            Self::Exact(wanted) => text == wanted,
            Self::Prefix(prefix) => text.starts_with(prefix.as_str()),
            Self::Suffix(suffix) => text.ends_with(suffix.as_str()),
            Self::Infix(infix) => text.contains(infix.as_str()),
            Self::General(tokens) => matches_tokens(tokens, text),
        }
    }

    /// What every match begins with.
    pub(super) fn prefix(&self) -> String {
        match self {
            Self::Exact(text) | Self::Prefix(text) => text.clone(),
            Self::Suffix(_) | Self::Infix(_) => String::new(),
            Self::General(tokens) => tokens
                .iter()
                .map_while(|token| {
                    if let Token::Char(c) = token {
                        Some(*c)
                    } else {
                        None
                    }
                })
                .collect(),
        }
    }
}

fn tokens(pattern: &str) -> Result<Vec<Token>> {
    let mut tokens: Vec<Token> = Vec::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        tokens.push(match c {
            '%' if tokens.last() == Some(&Token::Many) => continue,
            '%' => Token::Many,
            '_' => Token::One,
            '\\' => match chars.next() {
                Some(escaped @ ('%' | '_' | '\\')) => Token::Char(escaped),
                _ => {
                    let what = format!("pattern {pattern:?}: a \\ must stand before %, _ or \\");
                    return Err(TypeError::invalid(what));
                }
            },
            c => Token::Char(c),
        });
    }
    Ok(tokens)
}

/// Goes on greedily; on a mismatch the last `%` takes one character more.
fn matches_tokens(tokens: &[Token], text: &str) -> bool {
    let mut pattern = tokens.iter();
    let mut rest = text.chars();
    let mut retry = None;
    loop {
        let mut ahead = rest.clone();
        let matched = match pattern.next() {
            None => {
                if rest.as_str().is_empty() {
                    return true;
                }
                false
            }
            Some(Token::Many) => {
                retry = Some((pattern.clone(), rest.clone()));
                ahead = rest.clone();
                true
            }
            Some(Token::One) => ahead.next().is_some(),
            Some(Token::Char(c)) => ahead.next() == Some(*c),
        };
        if matched {
            rest = ahead;
            continue;
        }
        let Some((after_many, taken)) = &mut retry else {
            return false;
        };
        if taken.next().is_none() {
            return false;
        }
        pattern = after_many.clone();
        rest = taken.clone();
    }
}
