//! VARIANT bytes to JSON text.
//!
//! The bytes come from storage, so the walk is our own: the library's checks recurse as deep as the bytes say, and its
//! accessors panic. Here depth, number of values and length of the text are bounded.
//! Source: the Parquet Variant encoding; texts of scalars as Paimon `data/variant/GenericVariant.java` (`toJson`) has them.

use std::fmt::Write;

use arrow_cast::base64::BASE64_STANDARD;

use crate::datum::TimestampValue;
use crate::error::{Result, TypeError};
use crate::text::{format_decimal, format_double, format_float, format_timestamp, iso_date};

/// Deeper values are refused; Java's JSON parser stops at this depth too.
const MAX_DEPTH: usize = 1000;
/// Longer texts are refused: a few bytes of value may name a long field each.
const MAX_TEXT: usize = 256 << 20;

/// The JSON text of a VARIANT: no spaces, fields of objects in the order they are stored (sorted by name).
///
/// Decimals are plain without trailing zeros, floats in Java's form, dates and times quoted (`"2024-06-10 06:13:20.1"`,
/// instants in UTC with `+00:00`), bytes quoted base64, NaN and infinities quoted.
///
/// # Errors
/// [`TypeError::Corrupt`] or [`TypeError::Truncated`] for bytes that are no VARIANT, [`TypeError::Unsupported`] for ones that
/// are nested too deeply or whose text is too long.
pub fn variant_to_json(value: &[u8], metadata: &[u8]) -> Result<String> {
    let mut walk = Walk {
        names: Names::new(metadata)?,
        text: String::new(),
        values_left: value.len(),
    };
    walk.value(value, 0)?;
    Ok(walk.text)
}

/// The names that fields refer to by number.
struct Names<'a> {
    bytes: &'a [u8],
    offset_size: usize,
    count: usize,
}

impl<'a> Names<'a> {
    fn new(metadata: &'a [u8]) -> Result<Self> {
        let header = *part(metadata, "variant metadata", 0, 1)?
            .first()
            .unwrap_or(&0);
        if header & 0x0f != 1 {
            return Err(TypeError::unsupported(format!(
                "variant metadata of version {}",
                header & 0x0f
            )));
        }
        let offset_size = usize::from(header >> 6) + 1;
        let count = number(metadata, "variant names", 1, offset_size)?;
        Ok(Self {
            bytes: metadata,
            offset_size,
            count,
        })
    }

    fn get(&self, id: usize) -> Result<&'a str> {
        if id >= self.count {
            return Err(TypeError::corrupt(
                "variant",
                format!("name {id} of {}", self.count),
            ));
        }
        let offset = |index: usize| {
            number(
                self.bytes,
                "variant names",
                1 + self.offset_size * (1 + index),
                self.offset_size,
            )
        };
        let first = self
            .offset_size
            .checked_mul(self.count + 2)
            .and_then(|size| size.checked_add(1));
        let first = first.ok_or_else(|| TypeError::corrupt("variant", "too many names"))?;
        let (from, to) = (offset(id)?, offset(id + 1)?);
        let length = to
            .checked_sub(from)
            .ok_or_else(|| TypeError::corrupt("variant", "a name that ends before it begins"))?;
        text(part(self.bytes, "variant name", first + from, length)?)
    }
}

struct Walk<'a> {
    names: Names<'a>,
    text: String,
    /// Every value has a byte of its own unless values overlap.
    values_left: usize,
}

impl Walk<'_> {
    fn value(&mut self, value: &[u8], depth: usize) -> Result<()> {
        self.values_left = self
            .values_left
            .checked_sub(1)
            .ok_or_else(|| TypeError::corrupt("variant", "its values overlap"))?;
        if depth > MAX_DEPTH {
            return Err(TypeError::unsupported(format!(
                "a variant nested more than {MAX_DEPTH} levels"
            )));
        }
        if self.text.len() > MAX_TEXT {
            return Err(TypeError::unsupported(format!(
                "a variant whose JSON is longer than {MAX_TEXT} bytes"
            )));
        }
        let header = *part(value, "variant", 0, 1)?.first().unwrap_or(&0);
        let (kind, info) = (header & 3, usize::from(header >> 2));
        match kind {
            0 => self.primitive(info, value),
            1 => {
                let short = text(part(value, "variant text", 1, info)?)?;
                self.quoted(short)
            }
            2 => self.object(info, value, depth),
            _ => self.array(info, value, depth),
        }
    }

    fn object(&mut self, info: usize, value: &[u8], depth: usize) -> Result<()> {
        let (offset_size, id_size, large) =
            ((info & 3) + 1, (info >> 2 & 3) + 1, info >> 4 & 1 == 1);
        let (count, ids) = count(value, large)?;
        let offsets = end_of_table(ids, count, id_size, value)?;
        let data = end_of_table(offsets, count + 1, offset_size, value)?;
        self.text.push('{');
        for index in 0..count {
            if index > 0 {
                self.text.push(',');
            }
            let id = number(value, "variant field", ids + index * id_size, id_size)?;
            let name = self.names.get(id)?;
            self.quoted(name)?;
            self.text.push(':');
            let offset = number(
                value,
                "variant field",
                offsets + index * offset_size,
                offset_size,
            )?;
            self.value(rest(value, data, offset)?, depth + 1)?;
        }
        self.text.push('}');
        Ok(())
    }

    fn array(&mut self, info: usize, value: &[u8], depth: usize) -> Result<()> {
        let (offset_size, large) = ((info & 3) + 1, info >> 2 & 1 == 1);
        let (count, offsets) = count(value, large)?;
        let data = end_of_table(offsets, count + 1, offset_size, value)?;
        self.text.push('[');
        for index in 0..count {
            if index > 0 {
                self.text.push(',');
            }
            let offset = number(
                value,
                "variant element",
                offsets + index * offset_size,
                offset_size,
            )?;
            self.value(rest(value, data, offset)?, depth + 1)?;
        }
        self.text.push(']');
        Ok(())
    }

    fn primitive(&mut self, kind: usize, value: &[u8]) -> Result<()> {
        match kind {
            0 => self.text.push_str("null"),
            1 => self.text.push_str("true"),
            2 => self.text.push_str("false"),
            3 => self.plain(&i8::from_le_bytes(fixed(value, 1)?).to_string()),
            4 => self.plain(&i16::from_le_bytes(fixed(value, 1)?).to_string()),
            5 => self.plain(&i32::from_le_bytes(fixed(value, 1)?).to_string()),
            6 => self.plain(&i64::from_le_bytes(fixed(value, 1)?).to_string()),
            7 => {
                let double = f64::from_le_bytes(fixed(value, 1)?);
                self.float(double.is_finite(), &format_double(double))?;
            }
            8 => self.decimal(i128::from(i32::from_le_bytes(fixed(value, 2)?)), value)?,
            9 => self.decimal(i128::from(i64::from_le_bytes(fixed(value, 2)?)), value)?,
            10 => self.decimal(i128::from_le_bytes(fixed(value, 2)?), value)?,
            11 => self.quoted(&iso_date(i32::from_le_bytes(fixed(value, 1)?)))?,
            12 | 13 => self.timestamp(
                TimestampValue::from_micros(i64::from_le_bytes(fixed(value, 1)?)),
                kind == 12,
            )?,
            14 => {
                let float = f32::from_le_bytes(fixed(value, 1)?);
                self.float(float.is_finite(), &format_float(float))?;
            }
            15 => {
                let encoded = arrow_cast::base64::Engine::encode(&BASE64_STANDARD, long(value)?);
                self.quoted(&encoded)?;
            }
            16 => self.quoted(text(long(value)?)?)?,
            17 => {
                let micros = i64::from_le_bytes(fixed(value, 1)?);
                if !(0..86_400_000_000).contains(&micros) {
                    return Err(TypeError::corrupt(
                        "variant",
                        format!("{micros} microseconds of the day"),
                    ));
                }
                // A timestamp of the first day: what follows the date is the time.
                let stamp = format_timestamp(TimestampValue::from_micros(micros), 0);
                self.quoted(
                    stamp
                        .split_once(' ')
                        .map_or(stamp.as_str(), |(_, time)| time),
                )?;
            }
            18 | 19 => self.timestamp(
                TimestampValue::from_nanos(i64::from_le_bytes(fixed(value, 1)?)),
                kind == 18,
            )?,
            20 => {
                let uuid: [u8; 16] = fixed(value, 1)?;
                let mut written = String::with_capacity(36);
                for (index, byte) in uuid.iter().enumerate() {
                    if matches!(index, 4 | 6 | 8 | 10) {
                        written.push('-');
                    }
                    // Infallible: a String takes all that is written.
                    let _ = write!(written, "{byte:02x}");
                }
                self.quoted(&written)?;
            }
            other => {
                return Err(TypeError::unsupported(format!(
                    "a variant value of primitive type {other}"
                )));
            }
        }
        Ok(())
    }

    fn plain(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn float(&mut self, finite: bool, text: &str) -> Result<()> {
        if finite {
            self.plain(text);
            Ok(())
        } else {
            self.quoted(text)
        }
    }

    fn decimal(&mut self, unscaled: i128, value: &[u8]) -> Result<()> {
        let [scale] = fixed::<1>(value, 1)?;
        if scale > 38 {
            return Err(TypeError::corrupt(
                "variant",
                format!("a decimal of scale {scale}"),
            ));
        }
        let written = format_decimal(unscaled, scale);
        let stripped = if scale > 0 {
            written.trim_end_matches('0').trim_end_matches('.')
        } else {
            &written
        };
        self.plain(stripped);
        Ok(())
    }

    fn timestamp(&mut self, value: TimestampValue, instant: bool) -> Result<()> {
        let mut written = format_timestamp(value, 0);
        if instant {
            written.push_str("+00:00");
        }
        self.quoted(&written)
    }

    fn quoted(&mut self, text: &str) -> Result<()> {
        let quoted =
            serde_json::to_string(text).map_err(|error| TypeError::internal(error.to_string()))?;
        self.text.push_str(&quoted);
        Ok(())
    }
}

/// Number of fields or elements, and where the table behind it begins.
fn count(value: &[u8], large: bool) -> Result<(usize, usize)> {
    let size = if large { 4 } else { 1 };
    Ok((number(value, "variant size", 1, size)?, 1 + size))
}

/// Where a table of `count` numbers ends; checks that it lies inside the value, so that loops over it are bounded.
fn end_of_table(from: usize, count: usize, size: usize, value: &[u8]) -> Result<usize> {
    let bytes = count.saturating_mul(size);
    part(value, "variant table", from, bytes)?;
    Ok(from + bytes)
}

fn rest(value: &[u8], data: usize, offset: usize) -> Result<&[u8]> {
    let at = data.checked_add(offset).and_then(|from| value.get(from..));
    at.ok_or_else(|| {
        TypeError::corrupt(
            "variant",
            format!("a value at offset {offset} past the end"),
        )
    })
}

/// The bytes of a BINARY or STRING: a 4-byte length in front.
fn long(value: &[u8]) -> Result<&[u8]> {
    let length = number(value, "variant length", 1, 4)?;
    part(value, "variant bytes", 5, length)
}

fn fixed<const N: usize>(value: &[u8], at: usize) -> Result<[u8; N]> {
    let bytes = part(value, "variant scalar", at, N)?;
    bytes
        .first_chunk::<N>()
        .copied()
        .ok_or_else(|| TypeError::internal("a part of another size"))
}

/// An unsigned little-endian number of 1 to 4 bytes.
fn number(bytes: &[u8], what: &'static str, at: usize, size: usize) -> Result<usize> {
    let bytes = part(bytes, what, at, size)?;
    Ok(bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

fn part<'a>(bytes: &'a [u8], what: &'static str, offset: usize, length: usize) -> Result<&'a [u8]> {
    let end = offset.checked_add(length);
    end.and_then(|end| bytes.get(offset..end))
        .ok_or(TypeError::Truncated {
            what,
            offset,
            needed: length,
            available: bytes.len(),
        })
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes)
        .map_err(|error| TypeError::corrupt("variant text", error.to_string()))
}
