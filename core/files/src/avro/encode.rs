//! Rows of arrays as Avro records.
//!
//! The arrays of a batch are opened once; each row then asks them for its values in the order of the columns.
//! Source: spec 01e §2; Paimon `format/avro/FieldWriterFactory.java`.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType,
};
use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType as ArrowType, TimeUnit};
use tidewater_format::avro::put;
use tidewater_types::{DataType, TypeKind};

use super::schema::is_text;

/// The values of one column.
pub(super) struct Column<'a> {
    name: &'a str,
    nullable: bool,
    nulls: Option<&'a NullBuffer>,
    values: Values<'a>,
}

enum Values<'a> {
    Boolean(&'a BooleanArray),
    TinyInt(&'a [i8]),
    SmallInt(&'a [i16]),
    Int(&'a [i32]),
    Long(&'a [i64]),
    Float(&'a [f32]),
    Double(&'a [f64]),
    Text(&'a StringArray),
    Bytes(&'a BinaryArray),
    Decimal(&'a [i128]),
    List {
        offsets: &'a [i32],
        item: Box<Column<'a>>,
    },
    /// In Avro a map, or an array of records: both are a count and pairs.
    Map {
        offsets: &'a [i32],
        parts: Box<[Column<'a>; 2]>,
    },
    Struct(Vec<Column<'a>>),
}

impl<'a> Column<'a> {
    /// A column of canonical type; none if the array is of another.
    pub(super) fn new(name: &'a str, array: &'a ArrayRef, data_type: &'a DataType) -> Option<Self> {
        let values = match (&data_type.kind, array.data_type()) {
            (TypeKind::Boolean, _) => Values::Boolean(array.as_boolean_opt()?),
            (TypeKind::TinyInt, _) => {
                Values::TinyInt(array.as_primitive_opt::<Int8Type>()?.values())
            }
            (TypeKind::SmallInt, _) => {
                Values::SmallInt(array.as_primitive_opt::<Int16Type>()?.values())
            }
            (TypeKind::Int, _) => Values::Int(array.as_primitive_opt::<Int32Type>()?.values()),
            (TypeKind::Date, _) => Values::Int(array.as_primitive_opt::<Date32Type>()?.values()),
            (TypeKind::Time(_), _) => {
                Values::Int(array.as_primitive_opt::<Time32MillisecondType>()?.values())
            }
            (TypeKind::BigInt, _) => Values::Long(array.as_primitive_opt::<Int64Type>()?.values()),
            (
                TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_),
                ArrowType::Timestamp(TimeUnit::Millisecond, _),
            ) => Values::Long(
                array
                    .as_primitive_opt::<TimestampMillisecondType>()?
                    .values(),
            ),
            (TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_), _) => Values::Long(
                array
                    .as_primitive_opt::<TimestampMicrosecondType>()?
                    .values(),
            ),
            (TypeKind::Float, _) => {
                Values::Float(array.as_primitive_opt::<Float32Type>()?.values())
            }
            (TypeKind::Double, _) => {
                Values::Double(array.as_primitive_opt::<Float64Type>()?.values())
            }
            (TypeKind::Char(_) | TypeKind::VarChar(_), _) => Values::Text(array.as_string_opt()?),
            (TypeKind::Binary(_) | TypeKind::VarBinary(_), _) => {
                Values::Bytes(array.as_binary_opt()?)
            }
            (TypeKind::Decimal { .. }, _) => {
                Values::Decimal(array.as_primitive_opt::<Decimal128Type>()?.values())
            }
            (TypeKind::Array(element), _) => {
                let list = array.as_list_opt::<i32>()?;
                Values::List {
                    offsets: list.value_offsets(),
                    item: Box::new(Self::new(name, list.values(), element)?),
                }
            }
            (TypeKind::Map(key, value), _) => Self::map(name, array, key, value)?,
            (TypeKind::Multiset(element), _) => Self::map(name, array, element, &COUNT)?,
            (TypeKind::Row(row), _) => {
                let structs = array.as_struct_opt()?;
                let members = structs.columns().iter().zip(&row.fields);
                let members =
                    members.map(|(array, field)| Self::new(&field.name, array, &field.data_type));
                Values::Struct(members.collect::<Option<_>>()?)
            }
            (TypeKind::Variant, _) => return None,
        };
        Some(Self {
            name,
            nullable: data_type.nullable,
            nulls: array.nulls(),
            values,
        })
    }

    fn map(
        name: &'a str,
        array: &'a ArrayRef,
        key: &'a DataType,
        value: &'a DataType,
    ) -> Option<Values<'a>> {
        let map = array.as_map_opt()?;
        let mut keys = Self::new(name, map.keys(), key)?;
        // A map of Avro has bare keys; a record has them as its schema says.
        keys.nullable &= !is_text(key);
        let parts = Box::new([keys, Self::new(name, map.values(), value)?]);
        Some(Values::Map {
            offsets: map.value_offsets(),
            parts,
        })
    }

    /// Appends the value of a row.
    ///
    /// # Errors
    /// The name of the column, or of the member of it, that is null and must not be.
    pub(super) fn put(&self, row: usize, out: &mut Vec<u8>) -> Result<(), &'a str> {
        let null = self.nulls.is_some_and(|nulls| nulls.is_null(row));
        match (self.nullable, null) {
            (true, true) => {
                out.push(0);
                return Ok(());
            }
            (true, false) => out.push(2),
            (false, true) => return Err(self.name),
            (false, false) => {}
        }
        match &self.values {
            Values::Boolean(values) => out.push(u8::from(values.value(row))),
            Values::TinyInt(values) => put::int(out, at(values, row).into()),
            Values::SmallInt(values) => put::int(out, at(values, row).into()),
            Values::Int(values) => put::int(out, at(values, row)),
            Values::Long(values) => put::long(out, at(values, row)),
            Values::Float(values) => out.extend_from_slice(&at(values, row).to_le_bytes()),
            Values::Double(values) => out.extend_from_slice(&at(values, row).to_le_bytes()),
            Values::Text(values) => put::string(out, values.value(row)),
            Values::Bytes(values) => put::bytes(out, values.value(row)),
            Values::Decimal(values) => {
                let bytes = at(values, row).to_be_bytes();
                put::bytes(out, minimal(&bytes));
            }
            Values::List { offsets, item } => {
                let (start, end) = items(offsets, row);
                if start < end {
                    put::length(out, end - start);
                    (start..end).try_for_each(|at| item.put(at, out))?;
                }
                out.push(0);
            }
            Values::Map { offsets, parts } => {
                let (start, end) = items(offsets, row);
                if start < end {
                    put::length(out, end - start);
                    for at in start..end {
                        parts.iter().try_for_each(|part| part.put(at, out))?;
                    }
                }
                out.push(0);
            }
            Values::Struct(members) => {
                members.iter().try_for_each(|member| member.put(row, out))?
            }
        }
        Ok(())
    }
}

/// Counts of a multiset: 1.3.1 has them as nullable.
static COUNT: DataType = DataType {
    kind: TypeKind::Int,
    nullable: true,
};

fn at<T: Copy + Default>(values: &[T], row: usize) -> T {
    values.get(row).copied().unwrap_or_default()
}

fn items(offsets: &[i32], row: usize) -> (usize, usize) {
    let place = |index: usize| usize::try_from(at(offsets, index)).unwrap_or(0);
    (place(row), place(row + 1))
}

/// The same number in as few bytes as keep its sign, at least one.
fn minimal(bytes: &[u8; 16]) -> &[u8] {
    let mut rest: &[u8] = bytes;
    while let [first @ (0 | 0xff), tail @ ..] = rest {
        let sign = tail
            .first()
            .is_some_and(|&next| (next >= 0x80) == (*first == 0xff));
        if !sign {
            break;
        }
        rest = tail;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_have_as_few_bytes_as_their_sign_allows() {
        let encoded = |value: i128| minimal(&value.to_be_bytes()).to_vec();
        assert_eq!(encoded(0), [0]);
        assert_eq!(encoded(-1), [0xff]);
        assert_eq!(encoded(127), [0x7f]);
        assert_eq!(encoded(128), [0, 0x80]);
        assert_eq!(encoded(-128), [0x80]);
        assert_eq!(encoded(-129), [0xff, 0x7f]);
        assert_eq!(encoded(i128::MAX), i128::MAX.to_be_bytes());
    }
}
