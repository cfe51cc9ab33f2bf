//! Walks over values nobody asked for.
//!
//! A hostile schema may describe values of no bytes (a null, a record of nulls). They are recognised beforehand and passed in
//! no time, so that the work of a walk is bounded by the bytes it passes.

use super::Fault;
use super::cursor::Cursor;
use super::schema::{AvroType, NamedType, WriterSchema};

/// How deep a value may nest. The metadata records nest three deep.
const MAX_DEPTH: usize = 64;

/// How to pass one value.
#[derive(Debug, Clone)]
pub enum Skip {
    /// Nothing is stored.
    Nothing,
    /// A number of any length.
    Varint,
    /// So many bytes.
    Fixed(usize),
    /// Bytes or text.
    LengthPrefixed,
    /// Blocks of items.
    Array(Box<Skip>),
    /// Blocks of keys and values.
    Map(Box<Skip>),
    /// A branch and its value.
    Union(Vec<Skip>),
    /// Index into the table of records.
    Record(usize),
}

/// The records a file's unknown values may consist of.
#[derive(Debug, Clone, Default)]
pub struct SkipTable {
    records: Vec<Vec<Skip>>,
    empty: Vec<bool>,
}

impl SkipTable {
    /// The table of a file's schema.
    pub fn new(schema: &WriterSchema) -> Self {
        let mut table = Self {
            records: vec![],
            empty: empty_types(schema),
        };
        table.records = schema
            .named()
            .iter()
            .map(|named| match named {
                NamedType::Record(fields) => fields
                    .iter()
                    .map(|field| table.compile(schema, &field.data_type))
                    .filter(|skip| !matches!(skip, Skip::Nothing))
                    .collect(),
                NamedType::Fixed(_) | NamedType::Enum => vec![],
            })
            .collect();
        table
    }

    /// How to pass a value of `data_type`.
    pub fn compile(&self, schema: &WriterSchema, data_type: &AvroType) -> Skip {
        match data_type {
            AvroType::Null => Skip::Nothing,
            AvroType::Boolean => Skip::Fixed(1),
            AvroType::Int | AvroType::Long => Skip::Varint,
            AvroType::Float => Skip::Fixed(4),
            AvroType::Double => Skip::Fixed(8),
            AvroType::Bytes | AvroType::String => Skip::LengthPrefixed,
            AvroType::Array(items) => Skip::Array(Box::new(self.compile(schema, items))),
            AvroType::Map(values) => Skip::Map(Box::new(self.compile(schema, values))),
            AvroType::Union(branches) => Skip::Union(
                branches
                    .iter()
                    .map(|branch| self.compile(schema, branch))
                    .collect(),
            ),
            AvroType::Logical(base, _) => self.compile(schema, base),
            AvroType::Named(index) if self.empty.get(*index).copied().unwrap_or(false) => {
                Skip::Nothing
            }
            AvroType::Named(index) => match schema.named().get(*index) {
                Some(NamedType::Fixed(size)) => Skip::Fixed(*size),
                Some(NamedType::Enum) => Skip::Varint,
                Some(NamedType::Record(_)) | None => Skip::Record(*index),
            },
        }
    }

    /// Passes one value.
    ///
    /// # Errors
    /// The bytes end inside it, or it nests too deep.
    pub fn pass(&self, skip: &Skip, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        self.pass_at(skip, cursor, 0)
    }

    fn pass_at(&self, skip: &Skip, cursor: &mut Cursor<'_>, depth: usize) -> Result<(), Fault> {
        if depth > MAX_DEPTH {
            return Err(cursor.invalid("nesting of an unknown field"));
        }
        match skip {
            Skip::Nothing => Ok(()),
            Skip::Varint => cursor.long("unknown field").map(|_| ()),
            Skip::Fixed(size) => cursor.take(*size, "unknown field").map(|_| ()),
            Skip::LengthPrefixed => cursor.bytes("unknown field").map(|_| ()),
            Skip::Array(item) => self.pass_blocks(
                cursor,
                |table, cursor| table.pass_at(item, cursor, depth + 1),
                matches!(**item, Skip::Nothing),
            ),
            Skip::Map(value) => self.pass_blocks(
                cursor,
                |table, cursor| {
                    cursor.bytes("unknown field")?;
                    table.pass_at(value, cursor, depth + 1)
                },
                false,
            ),
            Skip::Union(branches) => {
                let branch = cursor.length("union of an unknown field")?;
                let inner = branches
                    .get(branch)
                    .ok_or_else(|| cursor.invalid("union of an unknown field"))?;
                self.pass_at(inner, cursor, depth + 1)
            }
            Skip::Record(index) => {
                for field in self
                    .records
                    .get(*index)
                    .map(Vec::as_slice)
                    .unwrap_or_default()
                {
                    self.pass_at(field, cursor, depth + 1)?;
                }
                Ok(())
            }
        }
    }

    fn pass_blocks(
        &self,
        cursor: &mut Cursor<'_>,
        item: impl Fn(&Self, &mut Cursor<'_>) -> Result<(), Fault>,
        items_are_empty: bool,
    ) -> Result<(), Fault> {
        while let Some(block) = cursor.array_block("unknown field")? {
            match block.byte_length {
                Some(length) => {
                    cursor.take(length, "unknown field")?;
                }
                None if items_are_empty => {}
                None => {
                    for _ in 0..block.count {
                        item(self, cursor)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Which named types take no bytes. A record does when all its fields do; a record that holds itself directly is
/// left out, since no value of it exists.
fn empty_types(schema: &WriterSchema) -> Vec<bool> {
    fn is_empty(data_type: &AvroType, empty: &[bool]) -> bool {
        match data_type {
            AvroType::Null => true,
            AvroType::Logical(base, _) => is_empty(base, empty),
            AvroType::Named(index) => empty.get(*index).copied().unwrap_or(false),
            _ => false,
        }
    }
    let mut empty = vec![false; schema.named().len()];
    // Definitions may refer forward only to themselves' enclosing records, so a few rounds settle; the loop ends when none changes.
    loop {
        let mut changed = false;
        for (index, named) in schema.named().iter().enumerate() {
            let now = match named {
                NamedType::Fixed(size) => *size == 0,
                NamedType::Enum => false,
                NamedType::Record(fields) => fields
                    .iter()
                    .all(|field| is_empty(&field.data_type, &empty)),
            };
            if let Some(slot) = empty.get_mut(index)
                && now
                && !*slot
            {
                *slot = true;
                changed = true;
            }
        }
        if !changed {
            return empty;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::avro::AvroError;
    use crate::avro::put;

    fn pass(schema: &str, bytes: &[u8]) -> Result<usize, Fault> {
        let schema = WriterSchema::parse(schema.as_bytes()).unwrap();
        let table = SkipTable::new(&schema);
        let skip = table.compile(&schema, schema.root());
        let mut cursor = Cursor::new(bytes);
        table.pass(&skip, &mut cursor)?;
        Ok(cursor.offset())
    }

    #[test]
    fn every_type_is_passed_to_its_last_byte() {
        let schema = r#"{"type":"record","name":"r","fields":[
            {"name":"a","type":"boolean"},{"name":"b","type":"float"},{"name":"c","type":"double"},
            {"name":"d","type":{"type":"map","values":"string"}},{"name":"e","type":{"type":"enum","name":"n","symbols":["x"]}},
            {"name":"f","type":["null",{"type":"fixed","name":"f","size":3}]},{"name":"g","type":"null"},
            {"name":"h","type":{"type":"array","items":{"type":"record","name":"s","fields":[{"name":"i","type":"long"}]}}}]}"#;
        let mut bytes = vec![1];
        bytes.extend_from_slice(&[0; 12]);
        put::long(&mut bytes, 1);
        put::string(&mut bytes, "k");
        put::string(&mut bytes, "v");
        bytes.push(0);
        put::long(&mut bytes, 0);
        put::long(&mut bytes, 1);
        bytes.extend_from_slice(&[0; 3]);
        // One array block that tells its size, one that does not.
        put::long(&mut bytes, -2);
        put::long(&mut bytes, 2);
        bytes.extend_from_slice(&[2, 2]);
        put::long(&mut bytes, 1);
        put::long(&mut bytes, 1_000_000);
        bytes.push(0);
        assert_eq!(pass(schema, &bytes).unwrap(), bytes.len());
        for cut in 0..bytes.len() {
            assert!(pass(schema, &bytes[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn values_without_bytes_cost_no_time() {
        let schema = r#"{"type":"array","items":{"type":"record","name":"r","fields":[{"name":"n","type":"null"}]}}"#;
        let mut bytes = vec![];
        put::long(&mut bytes, i64::MAX);
        bytes.push(0);
        assert_eq!(pass(schema, &bytes).unwrap(), bytes.len());

        let mut fields =
            String::from(r#"{"name":"r0","type":{"type":"record","name":"R0","fields":[]}}"#);
        for level in 1..60 {
            let below = level - 1;
            fields += &format!(
                r#",{{"name":"r{level}","type":{{"type":"record","name":"R{level}","fields":[
                    {{"name":"a","type":"R{below}"}},{{"name":"b","type":"R{below}"}}]}}}}"#
            );
        }
        assert_eq!(
            pass(
                &format!(r#"{{"type":"record","name":"top","fields":[{fields}]}}"#),
                &[]
            )
            .unwrap(),
            0
        );
    }

    #[test]
    fn a_record_that_never_ends_is_refused() {
        let endless = r#"{"type":"record","name":"r","fields":[{"name":"a","type":"r"},{"name":"b","type":"r"}]}"#;
        assert!(matches!(
            pass(endless, &[0; 8]),
            Err(error) if matches!(*error, AvroError::Invalid { .. })
        ));
        let deep = r#"{"type":"record","name":"r","fields":[{"name":"a","type":["null","r"]}]}"#;
        assert!(matches!(
            pass(deep, &[2; 200]),
            Err(error) if matches!(*error, AvroError::Invalid { .. })
        ));
        assert_eq!(pass(deep, &[2, 2, 2, 0]).unwrap(), 4);
    }
}
