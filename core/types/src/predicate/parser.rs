//! The text form of conditions, a part of SQL.
//!
//! ```text
//!  or        := and { OR and }
//!  and       := not { AND not }
//!  not       := NOT not | primary
//!  primary   := "(" or ")" | TRUE | FALSE | function | condition
//!  function  := ("starts_with" | "ends_with" | "contains") "(" column "," literal ")"
//!  condition := column comparison literal | literal comparison column | column IS [NOT] NULL
//!             | column [NOT] IN "(" [literal {"," literal}] ")" | column [NOT] BETWEEN literal AND literal
//!             | column [NOT] LIKE literal | column (a BOOLEAN one)
//!  literal   := ["+" | "-"] number | 'text' | X'hex' | TRUE | FALSE | NULL | (DATE | TIME | TIMESTAMP) 'text'
//!  column    := name | "name" | `name`
//! ```
//!
//! Keywords are read in any case. A name is looked up as written, then, unless it is quoted, in any case. Text is read
//! as the column's type says, so `d > '2013-01-01'` compares dates.

use super::lexer::{Token, TokenKind, error, tokens};
use super::literal::from_text;
use super::{MAX_PREDICATE_DEPTH, Predicate, PredicateOp};
use crate::data_type::{DataType, TypeKind};
use crate::datum::Datum;
use crate::error::{Result, TypeError};
use crate::row_type::{DataField, RowType};

/// Words that are no column names unless quoted.
pub(super) const RESERVED: [&str; 10] = [
    "and", "or", "not", "in", "is", "like", "between", "null", "true", "false",
];

impl Predicate {
    /// Reads the text form, such as `delay > 30 and carrier in ('AA', 'UA')`, and binds it to the columns of `row`.
    ///
    /// # Errors
    /// [`TypeError::FilterText`] with the position, in bytes, of the word that is wrong: unknown columns, literals that
    /// are no values of their column and conditions nested deeper than [`MAX_PREDICATE_DEPTH`] too.
    pub fn parse_text(text: &str, row: &RowType) -> Result<Self> {
        let mut parser = Parser {
            tokens: tokens(text)?,
            next: 0,
            end: text.len(),
            row,
        };
        let predicate = parser.or(0)?;
        match parser.tokens.get(parser.next) {
            None => Ok(predicate),
            Some(token) => Err(error(
                token.position,
                format!("AND, OR or the end is wanted, not {}", show(token)),
            )),
        }
    }
}

struct Parser<'a> {
    tokens: Vec<Token>,
    next: usize,
    end: usize,
    row: &'a RowType,
}

/// A literal before its column is known.
enum Literal {
    Null,
    Boolean(bool),
    Number(String),
    Text(String),
    Bytes(Vec<u8>),
    Date(String),
    Time(String),
    Timestamp(String),
}

impl<'a> Parser<'a> {
    fn or(&mut self, depth: usize) -> Result<Predicate> {
        let mut parts = vec![self.and(depth)?];
        while self.take_keyword("or") {
            parts.push(self.and(depth)?);
        }
        Ok(Predicate::or(parts))
    }

    fn and(&mut self, depth: usize) -> Result<Predicate> {
        let mut parts = vec![self.not(depth)?];
        while self.take_keyword("and") {
            parts.push(self.not(depth)?);
        }
        Ok(Predicate::and(parts))
    }

    fn not(&mut self, depth: usize) -> Result<Predicate> {
        if depth > MAX_PREDICATE_DEPTH {
            return Err(error(
                self.position(),
                format!("conditions are nested deeper than {MAX_PREDICATE_DEPTH}"),
            ));
        }
        if self.take_keyword("not") {
            return Ok(self.not(depth + 1)?.negate());
        }
        if self.take_symbol("(") {
            let inner = self.or(depth + 1)?;
            self.expect_symbol(")")?;
            return Ok(inner);
        }
        self.condition()
    }

    fn condition(&mut self) -> Result<Predicate> {
        // TRUE and FALSE alone are conditions, before a comparison they are literals.
        if let Some(value) = self.peek_boolean()
            && self.comparison_at(self.next + 1).is_none()
        {
            self.next += 1;
            return Ok(if value {
                Predicate::AlwaysTrue
            } else {
                Predicate::AlwaysFalse
            });
        }
        if let Some(op) = self.peek_function() {
            self.next += 2;
            let field = self.column()?;
            self.expect_symbol(",")?;
            let literal = self.literal_of(field)?;
            self.expect_symbol(")")?;
            return self.leaf(field, op, vec![literal]);
        }
        let start = self.position();
        if let Some(literal) = self.literal()? {
            let Some(op) = self.comparison_at(self.next) else {
                return Err(self.wanted("a comparison"));
            };
            self.next += 1;
            let field = self.column()?;
            let literal = typed(literal, field, start)?;
            return self.leaf(field, flipped(op), vec![literal]);
        }
        let field = self.column()?;
        self.condition_on(field)
    }

    fn condition_on(&mut self, field: &'a DataField) -> Result<Predicate> {
        if let Some(op) = self.comparison_at(self.next) {
            self.next += 1;
            let literal = self.literal_of(field)?;
            return self.leaf(field, op, vec![literal]);
        }
        if self.take_keyword("is") {
            let op = if self.take_keyword("not") {
                PredicateOp::IsNotNull
            } else {
                PredicateOp::IsNull
            };
            self.expect_keyword("null")?;
            return self.leaf(field, op, Vec::new());
        }
        let negated = self.take_keyword("not");
        let condition = if self.take_keyword("in") {
            self.expect_symbol("(")?;
            let mut literals = Vec::new();
            while !self.take_symbol(")") {
                if !literals.is_empty() {
                    self.expect_symbol(",")?;
                }
                literals.push(self.literal_of(field)?);
            }
            self.leaf(field, PredicateOp::In, literals)?
        } else if self.take_keyword("between") {
            let low = self.literal_of(field)?;
            self.expect_keyword("and")?;
            let high = self.literal_of(field)?;
            self.leaf(field, PredicateOp::Between, vec![low, high])?
        } else if self.take_keyword("like") {
            let pattern = self.literal_of(field)?;
            self.leaf(field, PredicateOp::Like, vec![pattern])?
        } else if negated || field.data_type.kind != TypeKind::Boolean {
            return Err(self.wanted("a comparison, IS, IN, BETWEEN or LIKE"));
        } else {
            self.leaf(field, PredicateOp::Eq, vec![Datum::Boolean(true)])?
        };
        Ok(if negated {
            condition.negate()
        } else {
            condition
        })
    }

    fn leaf(&self, field: &DataField, op: PredicateOp, literals: Vec<Datum>) -> Result<Predicate> {
        let before = self
            .tokens
            .get(self.next.saturating_sub(1))
            .map_or(self.end, |token| token.position);
        Predicate::leaf(self.row, &field.name, op, literals).map_err(|problem| at(before, &problem))
    }

    fn column(&mut self) -> Result<&'a DataField> {
        let token = self.tokens.get(self.next);
        let (name, quoted) = match token.map(|token| &token.kind) {
            Some(TokenKind::Word(name)) if !is_reserved(name) => (name, false),
            Some(TokenKind::Quoted(name)) => (name, true),
            _ => return Err(self.wanted("a column")),
        };
        let found = self.row.field(name).or_else(|| {
            let mut alike = self
                .row
                .fields
                .iter()
                .filter(|field| field.name.to_lowercase() == name.to_lowercase());
            match (quoted, alike.next(), alike.next()) {
                (false, Some(only), None) => Some(only),
                _ => None,
            }
        });
        let found =
            found.ok_or_else(|| error(self.position(), format!("no column is named {name:?}")))?;
        self.next += 1;
        Ok(found)
    }

    fn literal_of(&mut self, field: &DataField) -> Result<Datum> {
        let position = self.position();
        let literal = self.literal()?.ok_or_else(|| self.wanted("a value"))?;
        typed(literal, field, position)
    }

    /// The literal here, or nothing if something else is.
    fn literal(&mut self) -> Result<Option<Literal>> {
        let Some(token) = self.tokens.get(self.next) else {
            return Ok(None);
        };
        let text_after = match self.tokens.get(self.next + 1).map(|token| &token.kind) {
            Some(TokenKind::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let (literal, length) = match (&token.kind, text_after) {
            (TokenKind::Number(number), _) => (Literal::Number(number.clone()), 1),
            (TokenKind::Text(text), _) => (Literal::Text(text.clone()), 1),
            (TokenKind::Bytes(bytes), _) => (Literal::Bytes(bytes.clone()), 1),
            (TokenKind::Symbol(sign @ ("+" | "-")), _) => {
                let Some(TokenKind::Number(number)) =
                    self.tokens.get(self.next + 1).map(|token| &token.kind)
                else {
                    return Err(error(token.position, "a number is wanted after the sign"));
                };
                (Literal::Number(format!("{sign}{number}")), 2)
            }
            (TokenKind::Word(word), text) => match (word.to_ascii_lowercase().as_str(), text) {
                ("null", _) => (Literal::Null, 1),
                ("true", _) => (Literal::Boolean(true), 1),
                ("false", _) => (Literal::Boolean(false), 1),
                ("date", Some(text)) => (Literal::Date(text), 2),
                ("time", Some(text)) => (Literal::Time(text), 2),
                ("timestamp", Some(text)) => (Literal::Timestamp(text), 2),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        self.next += length;
        Ok(Some(literal))
    }

    fn peek_boolean(&self) -> Option<bool> {
        match self.tokens.get(self.next).map(|token| &token.kind) {
            Some(TokenKind::Word(word)) if word.eq_ignore_ascii_case("true") => Some(true),
            Some(TokenKind::Word(word)) if word.eq_ignore_ascii_case("false") => Some(false),
            _ => None,
        }
    }

    fn peek_function(&self) -> Option<PredicateOp> {
        let Some(TokenKind::Word(name)) = self.tokens.get(self.next).map(|token| &token.kind)
        else {
            return None;
        };
        let opens = self.tokens.get(self.next + 1).map(|token| &token.kind)
            == Some(&TokenKind::Symbol("("));
        match name.to_ascii_lowercase().as_str() {
            "starts_with" if opens => Some(PredicateOp::StartsWith),
            "ends_with" if opens => Some(PredicateOp::EndsWith),
            "contains" if opens => Some(PredicateOp::Contains),
            _ => None,
        }
    }

    fn comparison_at(&self, index: usize) -> Option<PredicateOp> {
        let TokenKind::Symbol(symbol) = self.tokens.get(index)?.kind else {
            return None;
        };
        Some(match symbol {
            "=" | "==" => PredicateOp::Eq,
            "!=" | "<>" => PredicateOp::NotEq,
            "<" => PredicateOp::Lt,
            "<=" => PredicateOp::LtEq,
            ">" => PredicateOp::Gt,
            ">=" => PredicateOp::GtEq,
            _ => return None,
        })
    }

    fn take_keyword(&mut self, keyword: &str) -> bool {
        let found = matches!(self.tokens.get(self.next).map(|token| &token.kind),
            Some(TokenKind::Word(word)) if word.eq_ignore_ascii_case(keyword));
        self.next += usize::from(found);
        found
    }

    fn expect_keyword(&mut self, keyword: &str) -> Result<()> {
        if self.take_keyword(keyword) {
            Ok(())
        } else {
            Err(self.wanted(&keyword.to_uppercase()))
        }
    }

    fn take_symbol(&mut self, symbol: &str) -> bool {
        let found = matches!(self.tokens.get(self.next).map(|token| &token.kind),
            Some(TokenKind::Symbol(found)) if *found == symbol);
        self.next += usize::from(found);
        found
    }

    fn expect_symbol(&mut self, symbol: &str) -> Result<()> {
        if self.take_symbol(symbol) {
            Ok(())
        } else {
            Err(self.wanted(symbol))
        }
    }

    fn position(&self) -> usize {
        self.tokens
            .get(self.next)
            .map_or(self.end, |token| token.position)
    }

    fn wanted(&self, what: &str) -> TypeError {
        let found = self
            .tokens
            .get(self.next)
            .map_or("the end".to_owned(), show);
        error(self.position(), format!("{what} is wanted, not {found}"))
    }
}

fn show(token: &Token) -> String {
    match &token.kind {
        TokenKind::Word(text) | TokenKind::Quoted(text) | TokenKind::Number(text) => {
            format!("{text:?}")
        }
        TokenKind::Text(text) => format!("the text {text:?}"),
        TokenKind::Bytes(_) => "bytes".to_owned(),
        TokenKind::Symbol(symbol) => format!("{symbol:?}"),
    }
}

pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED
        .iter()
        .any(|reserved| word.eq_ignore_ascii_case(reserved))
}

/// The same comparison with its sides changed.
fn flipped(op: PredicateOp) -> PredicateOp {
    match op {
        PredicateOp::Lt => PredicateOp::Gt,
        PredicateOp::LtEq => PredicateOp::GtEq,
        PredicateOp::Gt => PredicateOp::Lt,
        PredicateOp::GtEq => PredicateOp::LtEq,
        same => same,
    }
}

fn at(position: usize, problem: &TypeError) -> TypeError {
    // The column is in the text; what is behind it says what is wrong.
    match problem {
        TypeError::Column { column, source } => {
            error(position, format!("column {column:?}: {source}"))
        }
        problem => error(position, problem.to_string()),
    }
}

fn typed(literal: Literal, field: &DataField, position: usize) -> Result<Datum> {
    let data_type = &field.data_type;
    let kind = &data_type.kind;
    let is_number = kind.is_integer()
        || matches!(
            kind,
            TypeKind::Float | TypeKind::Double | TypeKind::Decimal { .. }
        );
    let datum = match literal {
        Literal::Null => Ok(Datum::Null),
        Literal::Boolean(value) if *kind == TypeKind::Boolean => Ok(Datum::Boolean(value)),
        Literal::Bytes(bytes) if kind.is_bytes() => Ok(Datum::Bytes(bytes)),
        Literal::Number(text) if is_number => from_text(&text, data_type),
        Literal::Text(text) => from_text(&text, data_type),
        Literal::Date(text) if *kind == TypeKind::Date => from_text(&text, data_type),
        // A date is the midnight it begins with.
        Literal::Date(text) if kind.is_timestamp() => {
            from_text(&text, &DataType::date()).and_then(|_| from_text(&text, data_type))
        }
        Literal::Time(text) if matches!(kind, TypeKind::Time(_)) => from_text(&text, data_type),
        Literal::Timestamp(text) if kind.is_timestamp() => from_text(&text, data_type),
        literal => Err(TypeError::mismatch(data_type, kind_of(&literal))),
    };
    datum.map_err(|problem| at(position, &problem.in_column(&field.name)))
}

fn kind_of(literal: &Literal) -> &'static str {
    match literal {
        Literal::Null => "NULL",
        Literal::Boolean(_) => "a boolean",
        Literal::Number(_) => "a number",
        Literal::Text(_) => "a text",
        Literal::Bytes(_) => "bytes",
        Literal::Date(_) => "a date",
        Literal::Time(_) => "a time",
        Literal::Timestamp(_) => "a timestamp",
    }
}
