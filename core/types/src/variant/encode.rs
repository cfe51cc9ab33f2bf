//! JSON text to VARIANT bytes.

use std::collections::HashSet;
use std::fmt;

use parquet_variant::{
    ObjectFieldBuilder, Variant, VariantBuilder, VariantBuilderExt, VariantDecimal4,
    VariantDecimal8, VariantDecimal16,
};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

use crate::error::{Result, TypeError};

/// Most digits, and most fraction digits, of a decimal; larger numbers are doubles.
const MAX_DIGITS: usize = 38;

/// Marks the names of the metadata as sorted. Java never sets it.
const SORTED: u8 = 0x10;

/// Value bytes and metadata bytes of a JSON text.
///
/// Fields of objects are ordered by the UTF-8 bytes of their names, as the Parquet encoding wants it (Java's order differs
/// for characters beyond U+FFFF only). Numbers that no double holds become infinite, as in Java.
///
/// # Errors
/// [`TypeError::ValueText`] for text that is no JSON, that names a field of an object twice, or that is nested more than
/// 128 levels.
pub fn json_to_variant(json: &str) -> Result<(Vec<u8>, Vec<u8>)> {
    let error = |reason| TypeError::ValueText {
        text: json.to_owned(),
        data_type: "VARIANT".to_owned(),
        reason,
    };
    let value: Value =
        serde_json::from_str(json).map_err(|_| error("not JSON, or nested too deeply"))?;
    serde_json::from_str::<UniqueNames>(json)
        .map_err(|_| error("an object names a field twice"))?;
    let mut builder = VariantBuilder::new();
    append(&value, &mut builder)?;
    let (mut metadata, value) = builder.try_finish()?;
    if let Some(header) = metadata.first_mut() {
        *header &= !SORTED;
    }
    Ok((value, metadata))
}

fn append(json: &Value, builder: &mut impl VariantBuilderExt) -> Result<()> {
    match json {
        Value::Null => builder.append_value(Variant::Null),
        Value::Bool(value) => builder.append_value(*value),
        Value::Number(number) => builder.append_value(number_to_variant(number)?),
        Value::String(text) => builder.append_value(text.as_str()),
        Value::Array(elements) => {
            let mut list = builder.try_new_list()?;
            for element in elements {
                append(element, &mut list)?;
            }
            list.finish();
        }
        Value::Object(members) => {
            let mut object = builder.try_new_object()?;
            for (name, member) in members {
                append(member, &mut ObjectFieldBuilder::new(name, &mut object))?;
            }
            object.finish();
        }
    }
    Ok(())
}

fn number_to_variant(number: &Number) -> Result<Variant<'static, 'static>> {
    let text = number.to_string();
    if let Ok(whole) = text.parse::<i64>() {
        return Ok(smallest_integer(whole));
    }
    if let Some(decimal) = decimal(&text)? {
        return Ok(decimal);
    }
    // JSON numbers are a subset of what the standard parser takes.
    let double = text.parse::<f64>();
    double
        .map(Variant::from)
        .map_err(|_| TypeError::internal(format!("{text} is no number")))
}

fn smallest_integer(whole: i64) -> Variant<'static, 'static> {
    if let Ok(whole) = i8::try_from(whole) {
        whole.into()
    } else if let Ok(whole) = i16::try_from(whole) {
        whole.into()
    } else if let Ok(whole) = i32::try_from(whole) {
        whole.into()
    } else {
        whole.into()
    }
}

/// A decimal, if the text has no exponent and few enough digits; 4, 8 or 16 bytes by both counts of digits.
fn decimal(text: &str) -> Result<Option<Variant<'static, 'static>>> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = || whole.bytes().chain(fraction.bytes());
    if !all().all(|digit| digit.is_ascii_digit()) {
        return Ok(None);
    }
    let precision = all().skip_while(|digit| *digit == b'0').count();
    let Some(scale) = u8::try_from(fraction.len())
        .ok()
        .filter(|scale| usize::from(*scale) <= MAX_DIGITS)
    else {
        return Ok(None);
    };
    if precision > MAX_DIGITS {
        return Ok(None);
    }
    // Proven above: at most 38 digits, which 128 bits hold.
    let unscaled = all().fold(0_i128, |value, digit| value * 10 + i128::from(digit - b'0'));
    let unscaled = if negative { -unscaled } else { unscaled };
    let digits = precision.max(usize::from(scale));
    let narrow = |_| TypeError::internal(format!("{text} does not fit its digits"));
    Ok(Some(match digits {
        0..=9 => VariantDecimal4::try_new(i32::try_from(unscaled).map_err(narrow)?, scale)?.into(),
        10..=18 => {
            VariantDecimal8::try_new(i64::try_from(unscaled).map_err(narrow)?, scale)?.into()
        }
        _ => VariantDecimal16::try_new(unscaled, scale)?.into(),
    }))
}

/// Any JSON in which no object names a field twice. The tree of `serde_json` keeps the last of two and says nothing.
struct UniqueNames;

impl<'de> Deserialize<'de> for UniqueNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueNamesVisitor)
    }
}

struct UniqueNamesVisitor;

impl<'de> Visitor<'de> for UniqueNamesVisitor {
    type Value = UniqueNames;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> std::result::Result<UniqueNames, E> {
        Ok(UniqueNames)
    }

    fn visit_bool<E>(self, _: bool) -> std::result::Result<UniqueNames, E> {
        Ok(UniqueNames)
    }

    fn visit_i64<E>(self, _: i64) -> std::result::Result<UniqueNames, E> {
        Ok(UniqueNames)
    }

    fn visit_u64<E>(self, _: u64) -> std::result::Result<UniqueNames, E> {
        Ok(UniqueNames)
    }

    fn visit_f64<E>(self, _: f64) -> std::result::Result<UniqueNames, E> {
        Ok(UniqueNames)
    }

    fn visit_str<E>(self, _: &str) -> std::result::Result<UniqueNames, E> {
        Ok(UniqueNames)
    }

    fn visit_seq<A: SeqAccess<'de>>(
        self,
        mut elements: A,
    ) -> std::result::Result<UniqueNames, A::Error> {
        while elements.next_element::<UniqueNames>()?.is_some() {}
        Ok(UniqueNames)
    }

    fn visit_map<A: MapAccess<'de>>(
        self,
        mut members: A,
    ) -> std::result::Result<UniqueNames, A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            members.next_value::<UniqueNames>()?;
            if !names.insert(name) {
                return Err(A::Error::custom("duplicate name"));
            }
        }
        Ok(UniqueNames)
    }
}
