//! The JSON form of conditions: `{"op":"and","of":[…]}`, `{"op":"=","field":"a","value":1}` and so on.
//!
//! Source: the command-line contract §7 (conditions) and §2 (values). Beyond it `not` (with one condition in `of`),
//! `like`, and the lone values `true` and `false` are read.

use base64::Engine;
use serde_json::{Map, Value};

use super::literal::from_text;
use super::{MAX_PREDICATE_DEPTH, Predicate, PredicateOp};
use crate::data_type::{DataType, TypeKind};
use crate::datum::Datum;
use crate::error::{Result, TypeError};
use crate::row_type::RowType;

impl Predicate {
    /// Reads the JSON form and binds it to the columns of `row`; values are read as the columns' types say.
    ///
    /// # Errors
    /// [`TypeError::UnknownColumn`] for a field that is no column. Inside [`TypeError::Column`], which names the field:
    /// [`TypeError::ValueText`] and [`TypeError::DoesNotFit`], which show the value, and what [`Predicate::leaf`]
    /// refuses. [`TypeError::Invalid`] for JSON of another shape, or nested deeper than [`MAX_PREDICATE_DEPTH`].
    pub fn from_json(json: &Value, row: &RowType) -> Result<Self> {
        read(json, row, 0)
    }
}

fn read(json: &Value, row: &RowType, depth: usize) -> Result<Predicate> {
    if depth > MAX_PREDICATE_DEPTH {
        return Err(TypeError::invalid(format!(
            "a filter nested deeper than {MAX_PREDICATE_DEPTH}"
        )));
    }
    let object = match json {
        Value::Bool(true) => return Ok(Predicate::AlwaysTrue),
        Value::Bool(false) => return Ok(Predicate::AlwaysFalse),
        Value::Object(object) => object,
        other => {
            return Err(TypeError::invalid(format!(
                "a filter is a JSON object, not {other}"
            )));
        }
    };
    let op = object.get("op").and_then(Value::as_str);
    let op = op.ok_or_else(|| TypeError::invalid(format!("a filter without \"op\": {json}")))?;
    let of = |name: &str| {
        let parts = object.get("of").and_then(Value::as_array);
        let parts = parts.ok_or_else(|| {
            TypeError::invalid(format!("filter {name:?} without an array \"of\""))
        })?;
        parts
            .iter()
            .map(|part| read(part, row, depth + 1))
            .collect::<Result<Vec<_>>>()
    };
    match op {
        "and" => return of(op).map(Predicate::and),
        "or" => return of(op).map(Predicate::or),
        "not" => {
            let parts = match object.get("of") {
                Some(part @ Value::Object(_)) => vec![read(part, row, depth + 1)?],
                _ => of(op)?,
            };
            return match parts.as_slice() {
                [part] => Ok(part.negate()),
                _ => Err(TypeError::invalid(
                    "filter \"not\" wants one condition in \"of\"",
                )),
            };
        }
        _ => {}
    }
    let (op, members): (_, &[&str]) = match op {
        "=" => (PredicateOp::Eq, &["value"]),
        "!=" => (PredicateOp::NotEq, &["value"]),
        "<" => (PredicateOp::Lt, &["value"]),
        "<=" => (PredicateOp::LtEq, &["value"]),
        ">" => (PredicateOp::Gt, &["value"]),
        ">=" => (PredicateOp::GtEq, &["value"]),
        "startsWith" => (PredicateOp::StartsWith, &["value"]),
        "endsWith" => (PredicateOp::EndsWith, &["value"]),
        "contains" => (PredicateOp::Contains, &["value"]),
        "like" => (PredicateOp::Like, &["value"]),
        "between" => (PredicateOp::Between, &["low", "high"]),
        "isNull" => (PredicateOp::IsNull, &[]),
        "isNotNull" => (PredicateOp::IsNotNull, &[]),
        "in" => (PredicateOp::In, &["values"]),
        "notIn" => (PredicateOp::NotIn, &["values"]),
        other => {
            return Err(TypeError::invalid(format!(
                "filter operation {other:?} is not known"
            )));
        }
    };
    leaf(object, row, op, members)
}

fn leaf(
    object: &Map<String, Value>,
    row: &RowType,
    op: PredicateOp,
    members: &[&str],
) -> Result<Predicate> {
    let name = object.get("field").and_then(Value::as_str);
    let name = name
        .ok_or_else(|| TypeError::invalid(format!("filter {:?} without \"field\"", op.name())))?;
    let field = row.field(name).ok_or_else(|| TypeError::UnknownColumn {
        name: name.to_owned(),
    })?;
    let mut literals = Vec::new();
    for member in members {
        let missing = || {
            TypeError::invalid(format!("filter {:?} without {member:?}", op.name())).in_column(name)
        };
        let json = object.get(*member).ok_or_else(missing)?;
        let values = match op {
            PredicateOp::In | PredicateOp::NotIn => {
                json.as_array().map(Vec::as_slice).ok_or_else(missing)?
            }
            _ => std::slice::from_ref(json),
        };
        for value in values {
            literals.push(datum(value, &field.data_type).map_err(|error| error.in_column(name))?);
        }
    }
    Predicate::leaf(row, name, op, literals)
}

fn datum(value: &Value, data_type: &DataType) -> Result<Datum> {
    let refuse = |reason: &'static str| TypeError::ValueText {
        text: value.to_string(),
        data_type: data_type.to_string(),
        reason,
    };
    Ok(match (value, &data_type.kind) {
        (Value::Null, _) => Datum::Null,
        (Value::Bool(value), TypeKind::Boolean) => Datum::Boolean(*value),
        (
            Value::Number(number),
            TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::Int
            | TypeKind::BigInt
            | TypeKind::Float
            | TypeKind::Double
            | TypeKind::Decimal { .. },
        ) => from_text(&number.to_string(), data_type)?,
        (Value::String(text), TypeKind::Float | TypeKind::Double) => match text.as_str() {
            "NaN" | "Infinity" | "-Infinity" => from_text(text, data_type)?,
            _ => return Err(refuse("a JSON number is wanted")),
        },
        (Value::String(text), TypeKind::Binary(_) | TypeKind::VarBinary(_)) => {
            let bytes = base64::engine::general_purpose::STANDARD.decode(text);
            Datum::Bytes(bytes.map_err(|_| refuse("not base64"))?)
        }
        (
            Value::String(text),
            TypeKind::Char(_)
            | TypeKind::VarChar(_)
            | TypeKind::Decimal { .. }
            | TypeKind::Date
            | TypeKind::Time(_)
            | TypeKind::Timestamp(_)
            | TypeKind::TimestampLtz(_),
        ) => from_text(text, data_type)?,
        (_, TypeKind::Boolean) => return Err(refuse("true or false is wanted")),
        (
            _,
            TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::Int
            | TypeKind::BigInt
            | TypeKind::Float
            | TypeKind::Double,
        ) => {
            return Err(refuse("a JSON number is wanted"));
        }
        (
            _,
            TypeKind::Variant
            | TypeKind::Array(_)
            | TypeKind::Map(..)
            | TypeKind::Multiset(_)
            | TypeKind::Row(_),
        ) => {
            return Err(TypeError::unsupported(format!(
                "comparing values of type {data_type}"
            )));
        }
        _ => return Err(refuse("a JSON string is wanted")),
    })
}
