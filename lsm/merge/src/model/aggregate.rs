//! The aggregate functions value by value, written from the table of spec 02b §7 alone.

use std::collections::BTreeMap;

use tidewater_format::NameList;
use tidewater_types::{DataField, DataType, Datum, TypeKind};

use super::value::ModelValue;

/// What the model refuses. Which of several is told does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelFault {
    /// A retraction where none may be.
    Refused,
    /// A total out of range.
    Overflow,
    /// A division that has no result.
    Division,
    /// A null in a NOT NULL column.
    Null,
}

/// A function with the options of its column.
#[derive(Debug, Clone)]
pub(super) struct ModelFunction {
    pub(super) name: String,
    data_type: DataType,
    ignore_retract: bool,
    distinct: bool,
    tokens_once: bool,
    delimiter: String,
    nested_key: Vec<usize>,
    count_limit: usize,
    wraps: bool,
}

type Fallible<T> = Result<T, ModelFault>;

impl ModelFunction {
    pub(super) fn new(name: &str, field: &DataField, options: &BTreeMap<String, String>) -> Self {
        let option = |suffix: &str| options.get(&format!("fields.{}.{suffix}", field.name));
        let flag = |suffix: &str| option(suffix).is_some_and(|text| text == "true");
        let nested_fields: Vec<&str> = match &field.data_type.kind {
            TypeKind::Array(element) => match &element.kind {
                TypeKind::Row(row) => row.names().collect(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let nested_key = option("nested-key").map(|text| NameList::split(text));
        let nested_key = nested_key.unwrap_or_default();
        let at = |name: &String| nested_fields.iter().position(|field| field == name);
        Self {
            name: name.to_owned(),
            data_type: field.data_type.clone(),
            ignore_retract: flag("ignore-retract"),
            distinct: flag("distinct"),
            tokens_once: flag("listagg.distinct"),
            delimiter: option("list-agg-delimiter")
                .map_or(",", String::as_str)
                .to_owned(),
            nested_key: nested_key.names().iter().filter_map(at).collect(),
            count_limit: option("count-limit")
                .and_then(|text| text.parse().ok())
                .unwrap_or(usize::MAX),
            wraps: option(&format!("{name}.fail-on-overflow")).is_some_and(|text| text == "false"),
        }
    }

    /// The accumulator after a value.
    pub(super) fn agg(&self, acc: ModelValue, value: ModelValue) -> Fallible<ModelValue> {
        match self.name.as_str() {
            "last_value" | "primary-key" => return Ok(value),
            "last_non_null_value" => return Ok(if value.is_null() { acc } else { value }),
            "collect" => return Ok(self.collect(acc, value)),
            _ => {}
        }
        if acc.is_null() || value.is_null() {
            let one = if acc.is_null() { value } else { acc };
            let blank = self.name == "listagg" && self.tokens_once && is_blank(&one);
            return Ok(if blank { ModelValue::Null } else { one });
        }
        match self.name.as_str() {
            "sum" => self.numbers(&acc, &value, i128::checked_add, |a, b| a + b),
            "product" => self.product(&acc, &value),
            "max" | "min" => {
                let better = match (&acc, &value) {
                    (ModelValue::Atom(acc), ModelValue::Atom(value)) => value.compare(acc),
                    _ => None,
                };
                let wanted = if self.name == "max" {
                    std::cmp::Ordering::Greater
                } else {
                    std::cmp::Ordering::Less
                };
                Ok(if better == Some(wanted) { value } else { acc })
            }
            "bool_and" => Ok(boolean(as_bool(&acc) && as_bool(&value))),
            "bool_or" => Ok(boolean(as_bool(&acc) || as_bool(&value))),
            "listagg" => Ok(self.list_agg(&as_text(&acc), &as_text(&value))),
            "merge_map" => Ok(merge_map(acc, value)),
            "nested_update" => Ok(self.nested_update(acc, value)),
            other => unreachable!("{other} is not modelled"),
        }
    }

    /// The accumulator after a value was taken back.
    pub(super) fn retract(&self, acc: ModelValue, value: ModelValue) -> Fallible<ModelValue> {
        if self.ignore_retract {
            return Ok(acc);
        }
        match self.name.as_str() {
            "primary-key" => return Ok(value),
            "last_value" => return Ok(ModelValue::Null),
            "last_non_null_value" => {
                return Ok(if value.is_null() {
                    acc
                } else {
                    ModelValue::Null
                });
            }
            "sum" | "product" | "collect" | "merge_map" | "nested_update" => {}
            _ => return Err(ModelFault::Refused),
        }
        if value.is_null() || (acc.is_null() && self.name != "sum") {
            return Ok(acc);
        }
        match self.name.as_str() {
            "sum" => {
                let acc = if acc.is_null() { self.zero() } else { acc };
                self.numbers(&acc, &value, i128::checked_sub, |a, b| a - b)
            }
            "product" => self.quotient(&acc, &value),
            "collect" => {
                let mut gone = elements(value);
                let mut left = elements(acc);
                left.retain(|element| match gone.iter().position(|one| one == element) {
                    Some(at) => {
                        gone.remove(at);
                        false
                    }
                    None => true,
                });
                Ok(ModelValue::List(left))
            }
            "merge_map" => {
                let gone = entries(value);
                let mut left = entries(acc);
                left.retain(|(key, _)| !gone.iter().any(|(one, _)| one == key));
                Ok(ModelValue::Map(left))
            }
            _ => {
                let gone = elements(value);
                let gone: Vec<Vec<ModelValue>> = gone
                    .iter()
                    .filter(|row| !row.is_null())
                    .map(|row| self.identity(row))
                    .collect();
                let rows = elements(acc).into_iter().filter(|row| !row.is_null());
                let mut left = if self.nested_key.is_empty() {
                    rows.collect()
                } else {
                    self.by_key(rows)
                };
                left.retain(|row| !gone.contains(&self.identity(row)));
                Ok(ModelValue::List(left))
            }
        }
    }

    fn zero(&self) -> ModelValue {
        ModelValue::Atom(match &self.data_type.kind {
            TypeKind::Float => Datum::Float(0.0),
            TypeKind::Double => Datum::Double(0.0),
            _ => self.whole(0),
        })
    }

    /// An integer or unscaled decimal as a value of the column.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "wrapping is what is modelled"
    )]
    fn whole(&self, value: i128) -> Datum {
        match &self.data_type.kind {
            TypeKind::TinyInt => Datum::TinyInt(value as i8),
            TypeKind::SmallInt => Datum::SmallInt(value as i16),
            TypeKind::Int => Datum::Int(value as i32),
            TypeKind::BigInt => Datum::BigInt(value as i64),
            TypeKind::Decimal { precision, scale } => Datum::Decimal {
                unscaled: value,
                precision: *precision,
                scale: *scale,
            },
            other => unreachable!("{other:?} is no number"),
        }
    }

    /// The value if it is in range; what the options say if not.
    fn in_range(&self, exact: i128, is_sum: bool) -> Fallible<ModelValue> {
        let datum = self.whole(exact);
        let fits = match &datum {
            Datum::Decimal { precision, .. } => {
                exact.unsigned_abs() < 10_u128.pow(u32::from(*precision))
            }
            other => as_whole(other) == Some(exact),
        };
        match &datum {
            _ if fits => Ok(ModelValue::Atom(datum)),
            _ if !self.wraps => Err(ModelFault::Overflow),
            Datum::Decimal { precision, .. } if !is_sum || *precision > 18 => Ok(ModelValue::Null),
            _ => Ok(ModelValue::Atom(datum)),
        }
    }

    fn numbers(
        &self,
        acc: &ModelValue,
        value: &ModelValue,
        whole: impl Fn(i128, i128) -> Option<i128>,
        float: impl Fn(f64, f64) -> f64,
    ) -> Fallible<ModelValue> {
        let (ModelValue::Atom(acc), ModelValue::Atom(value)) = (acc, value) else {
            return Err(ModelFault::Overflow);
        };
        if let Some(floats) = floats(acc, value, &float) {
            return Ok(ModelValue::Atom(floats));
        }
        let pair = as_whole(acc).zip(as_whole(value));
        let exact = pair.and_then(|(acc, value)| whole(acc, value));
        self.in_range(exact.ok_or(ModelFault::Overflow)?, true)
    }

    fn product(&self, acc: &ModelValue, value: &ModelValue) -> Fallible<ModelValue> {
        let (ModelValue::Atom(a), ModelValue::Atom(b)) = (acc, value) else {
            return Err(ModelFault::Overflow);
        };
        if let Some(floats) = floats(a, b, |a, b| a * b) {
            return Ok(ModelValue::Atom(floats));
        }
        let pair = as_whole(a).zip(as_whole(b));
        let exact = pair.and_then(|(a, b)| a.checked_mul(b));
        let exact = exact.ok_or(ModelFault::Overflow)?;
        self.in_range(half_up(exact, self.unit()), false)
    }

    fn quotient(&self, acc: &ModelValue, value: &ModelValue) -> Fallible<ModelValue> {
        let (ModelValue::Atom(a), ModelValue::Atom(b)) = (acc, value) else {
            return Err(ModelFault::Division);
        };
        if let Some(floats) = floats(a, b, |a, b| a / b) {
            return Ok(ModelValue::Atom(floats));
        }
        let (a, b) = as_whole(a).zip(as_whole(b)).ok_or(ModelFault::Division)?;
        if b == 0 {
            return Err(ModelFault::Division);
        }
        if !matches!(self.data_type.kind, TypeKind::Decimal { .. }) {
            return self.in_range(a / b, false);
        }
        // Finite if some power of ten times a is divisible by b; 40 digits are more than the tests use.
        let mut rest = a % b;
        for _ in 0..40 {
            rest = rest * 10 % b;
        }
        if rest != 0 {
            return Err(ModelFault::Division);
        }
        self.in_range(half_up(a * self.unit(), b), false)
    }

    fn unit(&self) -> i128 {
        match &self.data_type.kind {
            TypeKind::Decimal { scale, .. } => 10_i128.pow(u32::from(*scale)),
            _ => 1,
        }
    }

    fn list_agg(&self, acc: &str, value: &str) -> ModelValue {
        if !self.tokens_once {
            return text(format!("{acc}{}{value}", self.delimiter));
        }
        if value.trim().is_empty() {
            return text(acc.to_owned());
        }
        if acc.trim().is_empty() {
            return text(value.to_owned());
        }
        let mut joined = acc.to_owned();
        let mut tokens: Vec<&str> = acc.split(&self.delimiter).collect();
        for token in value.split(&self.delimiter) {
            if !token.trim().is_empty() && !tokens.contains(&token) {
                tokens.push(token);
                joined = format!("{joined}{}{token}", self.delimiter);
            }
        }
        text(joined)
    }

    fn collect(&self, acc: ModelValue, value: ModelValue) -> ModelValue {
        if acc.is_null() && value.is_null() {
            return ModelValue::Null;
        }
        if !self.distinct && (acc.is_null() || value.is_null()) {
            return if acc.is_null() { value } else { acc };
        }
        let mut collected: Vec<ModelValue> = Vec::new();
        for element in elements(acc).into_iter().chain(elements(value)) {
            // Bytes are compared by identity in Java 1.3.
            let bytes = matches!(element, ModelValue::Atom(Datum::Bytes(_)));
            if !self.distinct || bytes || !collected.contains(&element) {
                collected.push(element);
            }
        }
        ModelValue::List(collected)
    }

    fn identity(&self, row: &ModelValue) -> Vec<ModelValue> {
        match row {
            ModelValue::Row(values) if !self.nested_key.is_empty() => {
                let key = self.nested_key.iter();
                key.filter_map(|at| values.get(*at)).cloned().collect()
            }
            ModelValue::Row(values) => values.clone(),
            _ => Vec::new(),
        }
    }

    fn by_key(&self, rows: impl Iterator<Item = ModelValue>) -> Vec<ModelValue> {
        let mut kept: Vec<ModelValue> = Vec::new();
        for row in rows {
            let same = |other: &&mut ModelValue| self.identity(other) == self.identity(&row);
            match kept.iter_mut().find(same) {
                Some(older) => *older = row,
                None => kept.push(row),
            }
        }
        kept
    }

    fn nested_update(&self, acc: ModelValue, value: ModelValue) -> ModelValue {
        let (acc, value) = (elements(acc), elements(value));
        if acc.len() >= self.count_limit {
            return ModelValue::List(acc);
        }
        let room = self.count_limit - acc.len();
        let present = |row: &ModelValue| !row.is_null();
        let rows = acc
            .into_iter()
            .filter(present)
            .chain(value.into_iter().filter(present).take(room));
        ModelValue::List(if self.nested_key.is_empty() {
            rows.collect()
        } else {
            self.by_key(rows)
        })
    }
}

fn merge_map(acc: ModelValue, value: ModelValue) -> ModelValue {
    let mut merged: Vec<(ModelValue, ModelValue)> = Vec::new();
    for (key, item) in entries(acc).into_iter().chain(entries(value)) {
        match merged.iter_mut().find(|(known, _)| *known == key) {
            Some(entry) => entry.1 = item,
            None => merged.push((key, item)),
        }
    }
    ModelValue::Map(merged)
}

fn elements(value: ModelValue) -> Vec<ModelValue> {
    match value {
        ModelValue::List(elements) => elements,
        _ => Vec::new(),
    }
}

fn entries(value: ModelValue) -> Vec<(ModelValue, ModelValue)> {
    match value {
        ModelValue::Map(entries) => entries,
        _ => Vec::new(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "FLOAT is computed as in Java"
)]
fn floats(a: &Datum, b: &Datum, compute: impl Fn(f64, f64) -> f64) -> Option<Datum> {
    match (a, b) {
        // One operation on two f32 in f64, rounded once, is the f32 operation.
        (Datum::Float(a), Datum::Float(b)) => {
            Some(Datum::Float(compute(f64::from(*a), f64::from(*b)) as f32))
        }
        (Datum::Double(a), Datum::Double(b)) => Some(Datum::Double(compute(*a, *b))),
        _ => None,
    }
}

fn as_whole(datum: &Datum) -> Option<i128> {
    Some(match datum {
        Datum::TinyInt(value) => i128::from(*value),
        Datum::SmallInt(value) => i128::from(*value),
        Datum::Int(value) => i128::from(*value),
        Datum::BigInt(value) => i128::from(*value),
        Datum::Decimal { unscaled, .. } => *unscaled,
        _ => return None,
    })
}

fn half_up(a: i128, b: i128) -> i128 {
    let (quotient, rest) = (a / b, a % b);
    if rest.unsigned_abs() * 2 < b.unsigned_abs() {
        quotient
    } else if (a < 0) == (b < 0) {
        quotient + 1
    } else {
        quotient - 1
    }
}

fn boolean(value: bool) -> ModelValue {
    ModelValue::Atom(Datum::Boolean(value))
}

fn as_bool(value: &ModelValue) -> bool {
    *value == boolean(true)
}

fn text(value: String) -> ModelValue {
    ModelValue::Atom(Datum::String(value))
}

fn as_text(value: &ModelValue) -> String {
    match value {
        ModelValue::Atom(Datum::String(text)) => text.clone(),
        _ => String::new(),
    }
}

fn is_blank(value: &ModelValue) -> bool {
    !value.is_null() && as_text(value).trim().is_empty()
}
