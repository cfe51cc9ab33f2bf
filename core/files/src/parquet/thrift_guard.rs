//! A look over Thrift bytes before the library decodes them.
//!
//! The library reserves memory for some lists by their declared length, and recurses into schemas as deep as they say. Both come from
//! the file, and running out of memory or stack ends the process, so lengths, depths and child counts are checked here first.
//! Source: Thrift compact protocol; `parquet.thrift` for the numbers of the schema's fields.

/// Deepest nesting of Thrift values; Parquet's own structures need less than ten.
const VALUE_DEPTH_MAX: usize = 32;
/// Deepest nesting of columns.
const SCHEMA_DEPTH_MAX: usize = 200;
/// `FileMetaData.schema`, and in a `SchemaElement` the number of children.
const SCHEMA_FIELD: i64 = 2;
const NUM_CHILDREN_FIELD: i64 = 5;

/// Checks a `FileMetaData`.
///
/// # Errors
/// A sentence that says what is wrong.
pub(crate) fn check_footer(bytes: &[u8]) -> Result<(), String> {
    let mut walk = Walk {
        bytes,
        at: 0,
        children: Vec::new(),
    };
    walk.fields(VALUE_DEPTH_MAX, Place::Footer)?;
    check_children(&walk.children)
}

/// Checks a column index or an offset index.
///
/// # Errors
/// As [`check_footer`].
pub(crate) fn check_struct(bytes: &[u8]) -> Result<(), String> {
    Walk {
        bytes,
        at: 0,
        children: Vec::new(),
    }
    .fields(VALUE_DEPTH_MAX, Place::Other)
}

/// The schema is a tree in depth-first order; each element tells how many children follow it.
fn check_children(children: &[i64]) -> Result<(), String> {
    let mut open: Vec<i64> = Vec::new();
    for (index, &count) in children.iter().enumerate() {
        if let Some(left) = open.last_mut() {
            *left -= 1;
        } else if index > 0 {
            return Err("the schema has elements behind its end".to_owned());
        }
        let following = children.len() - index - 1;
        if count < 0 || usize::try_from(count).is_ok_and(|count| count > following) {
            return Err(format!(
                "a schema element has {count} children, and {following} elements follow"
            ));
        }
        if count > 0 {
            open.push(count);
        }
        while open.last() == Some(&0) {
            open.pop();
        }
        if open.len() > SCHEMA_DEPTH_MAX {
            return Err(format!("columns are nested deeper than {SCHEMA_DEPTH_MAX}"));
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err("the schema ends early".to_owned())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Footer,
    SchemaElement,
    Other,
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Per schema element its number of children.
    children: Vec<i64>,
}

impl Walk<'_> {
    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn byte(&mut self) -> Result<u8, String> {
        let byte = self
            .bytes
            .get(self.at)
            .copied()
            .ok_or_else(|| format!("it ends at byte {}", self.at))?;
        self.at += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u64, String> {
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
            shift += 7;
            if shift > 63 {
                return Err(format!("a number at byte {} has no end", self.at));
            }
        }
    }

    fn zigzag(&mut self) -> Result<i64, String> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn skip(&mut self, count: u64) -> Result<(), String> {
        match usize::try_from(count) {
            Ok(count) if count <= self.left() => {
                self.at += count;
                Ok(())
            }
            _ => Err(format!(
                "{count} bytes are announced at byte {}, {} are left",
                self.at,
                self.left()
            )),
        }
    }

    fn fields(&mut self, depth: usize, place: Place) -> Result<(), String> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err("values are nested too deep".to_owned());
        };
        let (mut id, mut children) = (0_i64, 0);
        loop {
            let header = self.byte()?;
            if header == 0 {
                break;
            }
            id = match header >> 4 {
                0 => self.zigzag()?,
                delta => id.saturating_add(delta.into()),
            };
            let kind = header & 0x0f;
            if place == Place::SchemaElement && id == NUM_CHILDREN_FIELD && kind == 5 {
                children = self.zigzag()?;
            } else {
                let inner = if place == Place::Footer && id == SCHEMA_FIELD {
                    Place::SchemaElement
                } else {
                    Place::Other
                };
                self.value(kind, depth, inner, false)?;
            }
        }
        if place == Place::SchemaElement {
            self.children.push(children);
        }
        Ok(())
    }

    fn value(&mut self, kind: u8, depth: usize, inner: Place, in_list: bool) -> Result<(), String> {
        match kind {
            1 | 2 if in_list => self.skip(1),
            1 | 2 => Ok(()),
            3 => self.skip(1),
            4..=6 => self.varint().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => self.list(depth, inner),
            11 => self.map(depth),
            12 => self.fields(depth, inner),
            13 => self.skip(16),
            other => Err(format!("type {other} at byte {} is unknown", self.at)),
        }
    }

    fn list(&mut self, depth: usize, inner: Place) -> Result<(), String> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err("values are nested too deep".to_owned());
        };
        let header = self.byte()?;
        let count = match header >> 4 {
            15 => self.varint()?,
            short => short.into(),
        };
        // Every element takes a byte at least.
        if count > self.left() as u64 {
            return Err(format!(
                "a list of {count} at byte {}, {} bytes are left",
                self.at,
                self.left()
            ));
        }
        for _ in 0..count {
            self.value(header & 0x0f, depth, inner, true)?;
        }
        Ok(())
    }

    fn map(&mut self, depth: usize) -> Result<(), String> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err("values are nested too deep".to_owned());
        };
        let count = self.varint()?;
        if count == 0 {
            return Ok(());
        }
        if count > self.left() as u64 {
            return Err(format!(
                "a map of {count} at byte {}, {} bytes are left",
                self.at,
                self.left()
            ));
        }
        let kinds = self.byte()?;
        for _ in 0..count {
            self.value(kinds >> 4, depth, Place::Other, true)?;
            self.value(kinds & 0x0f, depth, Place::Other, true)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer whose schema has these child counts: field 2, a list of structs with field 5.
    fn footer(children: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x29, 0xfc, u8::try_from(children.len()).unwrap()];
        for &count in children {
            bytes.extend([0x55, count << 1, 0]);
        }
        bytes.push(0);
        bytes
    }

    #[test]
    fn a_tree_that_fits_passes() {
        check_footer(&footer(&[2, 0, 1, 0])).unwrap();
        check_footer(&footer(&[0])).unwrap();
    }

    #[test]
    fn child_counts_must_add_up() {
        for children in [&[2, 0][..], &[60, 0, 0], &[1, 0, 0], &[0, 0]] {
            check_footer(&footer(children)).unwrap_err();
        }
    }

    #[test]
    fn a_list_longer_than_the_bytes_is_refused() {
        // Field 4, list of structs with 2^31 elements.
        let error = check_footer(&[0x49, 0xfc, 0x80, 0x80, 0x80, 0x80, 0x08, 0]).unwrap_err();
        assert!(error.contains("a list of 2147483648"), "{error}");
        check_struct(&[0x19, 0xfc, 0x80, 0x80, 0x80, 0x80, 0x08, 0]).unwrap_err();
    }

    #[test]
    fn deep_values_and_deep_schemas_are_refused() {
        check_struct(&[0x1c; 100]).unwrap_err();
        let mut deep = vec![1_u8; 255];
        deep[254] = 0;
        let mut bytes = vec![0x29, 0xfc, 255, 1];
        for count in deep {
            bytes.extend([0x55, count << 1, 0]);
        }
        bytes.push(0);
        let error = check_footer(&bytes).unwrap_err();
        assert!(error.contains("deeper"), "{error}");
    }

    #[test]
    fn text_longer_than_the_bytes_is_refused() {
        check_struct(&[0x18, 0x7f, b'a', 0]).unwrap_err();
        check_struct(&[0x18, 1, b'a', 0]).unwrap();
    }
}
