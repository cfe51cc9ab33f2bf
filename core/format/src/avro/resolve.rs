//! Matches the fields a reader knows with the fields a writer wrote, once per file.
//!
//! ```text
//!  reader: FieldSpec list ("_FILE_SIZE", Long, required) ─┐
//!                                                         ├─> RecordPlan: steps in the writer's order
//!  writer: record of avro.schema ─────────────────────────┘      Read { field, value } | Pass { skip }
//! ```
//!
//! Fields match by name, whatever the record is called and in whatever order they stand. A field only the writer has is passed;
//! a nullable field only the reader has stays null. A union is `[null, X]` or `[X, null]`, or `[X]`.
//! Source: spec 01b §4.2; Avro specification 1.11, "Schema Resolution".

use super::cursor::Cursor;
use super::schema::{AvroType, RecordField, WriterSchema};
use super::skip::{Skip, SkipTable};
use super::{AvroError, Fault};

/// What a reader expects of a field's non-null value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    Int,
    Long,
    /// `string` is taken too.
    Bytes,
    /// `bytes` that are UTF-8 are taken too.
    String,
    IntArray,
    LongArray,
    NullableLongArray,
    StringArray,
    Record,
    /// Records that may be null.
    RecordArray,
}

impl Expect {
    fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Long => "long",
            Self::Bytes => "bytes",
            Self::String => "string",
            Self::IntArray => "an array of int",
            Self::LongArray => "an array of long",
            Self::NullableLongArray => "an array of nullable long",
            Self::StringArray => "an array of string",
            Self::Record => "a record",
            Self::RecordArray => "an array of records",
        }
    }
}

/// A field the reader knows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldSpec<F> {
    pub(crate) id: F,
    pub(crate) name: &'static str,
    pub(crate) expect: Expect,
    /// The schema must have the field. Whether a value may be null is the reader's matter.
    pub(crate) required: bool,
}

/// Shorthand of the tables of fields.
pub(crate) const fn field<F>(id: F, name: &'static str, expect: Expect) -> FieldSpec<F> {
    FieldSpec {
        id,
        name,
        expect,
        required: true,
    }
}

/// Shorthand of the tables of fields, for one that files may lack.
pub(crate) const fn optional_field<F>(id: F, name: &'static str, expect: Expect) -> FieldSpec<F> {
    FieldSpec {
        id,
        name,
        expect,
        required: false,
    }
}

/// Where null stands in the union of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nulls {
    /// The value is not in a union.
    Never,
    /// `[null, X]`.
    First,
    /// `[X, null]`.
    Last,
    /// `[X]`: a branch is written but is always 0.
    OnlyBranch,
    /// `null`, or `[null]`.
    Always { branch_written: bool },
}

/// How one value is written.
#[derive(Debug, Clone)]
pub(crate) struct ValuePlan {
    name: &'static str,
    nulls: Nulls,
    item_nulls: Nulls,
}

/// One field in the writer's order.
#[derive(Debug, Clone)]
pub(crate) enum Step<F> {
    /// The reader knows it.
    Read { field: F, value: ValuePlan },
    /// The reader does not know it. `optional` tells where its union keeps null.
    Pass {
        skip: Skip,
        optional: Option<PassNull>,
    },
}

/// The null branch of a passed union.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PassNull {
    branch: usize,
}

/// How one kind of record is written in one file.
#[derive(Debug, Clone)]
pub(crate) struct RecordPlan<F> {
    pub(crate) steps: Vec<Step<F>>,
}

impl<F: Copy + PartialEq> RecordPlan<F> {
    /// Matches `record`, the writer's fields, with `known`.
    ///
    /// # Errors
    /// A field has a type the reader cannot take, stands twice, or is required and absent.
    pub(crate) fn compile(
        schema: &WriterSchema,
        skips: &SkipTable,
        record: &[RecordField],
        known: &[FieldSpec<F>],
    ) -> Result<Self, AvroError> {
        let mut seen = vec![false; known.len()];
        let mut steps = Vec::with_capacity(record.len());
        for written in record {
            let found = known
                .iter()
                .zip(&mut seen)
                .find(|(spec, _)| spec.name == written.name);
            let Some((spec, seen)) = found else {
                let skip = skips.compile(schema, &written.data_type);
                steps.push(Step::Pass {
                    optional: match &written.data_type {
                        AvroType::Union(branches) => branches
                            .iter()
                            .position(|branch| *branch == AvroType::Null)
                            .map(|branch| PassNull { branch }),
                        _ => None,
                    },
                    skip,
                });
                continue;
            };
            if std::mem::replace(seen, true) {
                return Err(AvroError::Schema {
                    reason: format!("field {:?} stands twice", spec.name),
                });
            }
            steps.push(Step::Read {
                field: spec.id,
                value: ValuePlan::compile(schema, &written.data_type, spec)?,
            });
        }
        match known
            .iter()
            .zip(&seen)
            .find(|(spec, seen)| spec.required && !**seen)
        {
            Some((spec, _)) => Err(AvroError::MissingField { field: spec.name }),
            None => Ok(Self { steps }),
        }
    }

    /// How `field` is written, if it is.
    pub(crate) fn value(&self, field: F) -> Option<&ValuePlan> {
        self.steps.iter().find_map(|step| match step {
            Step::Read {
                field: found,
                value,
            } if *found == field => Some(value),
            _ => None,
        })
    }
}

/// Passes a field nobody asked for; tells whether it carried a value.
pub(crate) fn pass_unknown(
    skips: &SkipTable,
    skip: &Skip,
    optional: Option<PassNull>,
    cursor: &mut Cursor<'_>,
) -> Result<bool, Fault> {
    let carries = match optional {
        Some(null) => cursor.clone().length("union of an unknown field")? != null.branch,
        None => !matches!(skip, Skip::Nothing),
    };
    skips.pass(skip, cursor)?;
    Ok(carries)
}

/// The type of a field's values without the union around them, and where null stands.
fn strip_union(data_type: &AvroType) -> Option<(&AvroType, Nulls)> {
    match data_type {
        AvroType::Union(branches) => match branches.as_slice() {
            [AvroType::Null] => Some((
                &AvroType::Null,
                Nulls::Always {
                    branch_written: true,
                },
            )),
            [only] => Some((only, Nulls::OnlyBranch)),
            [AvroType::Null, value] => Some((value, Nulls::First)),
            [value, AvroType::Null] => Some((value, Nulls::Last)),
            _ => None,
        },
        AvroType::Null => Some((
            &AvroType::Null,
            Nulls::Always {
                branch_written: false,
            },
        )),
        other => Some((other, Nulls::Never)),
    }
}

/// The record behind a field of type record, array of records, or a union of one.
pub(crate) fn nested_record<'s>(
    schema: &'s WriterSchema,
    record: &'s [RecordField],
    name: &str,
) -> Option<&'s [RecordField]> {
    let written = record.iter().find(|field| field.name == name)?;
    let (value, _) = strip_union(&written.data_type)?;
    match value {
        AvroType::Array(items) => schema.record(strip_union(items)?.0),
        other => schema.record(other),
    }
}

impl ValuePlan {
    fn compile<F>(
        schema: &WriterSchema,
        written: &AvroType,
        spec: &FieldSpec<F>,
    ) -> Result<Self, AvroError> {
        let mismatch = || AvroError::FieldType {
            field: spec.name,
            expected: spec.expect.name(),
            found: schema.describe(written),
        };
        let (value, nulls) = strip_union(written).ok_or_else(mismatch)?;
        let mut item_nulls = Nulls::Never;
        let fits = match (spec.expect, value) {
            (_, AvroType::Null) => true,
            // A long that holds only values of 32 bits is taken for an int; each value is checked.
            (Expect::Int | Expect::Long, AvroType::Int | AvroType::Long) => true,
            (Expect::Bytes | Expect::String, AvroType::Bytes | AvroType::String) => true,
            (Expect::Record, other) => schema.record(other).is_some(),
            (
                Expect::IntArray
                | Expect::LongArray
                | Expect::NullableLongArray
                | Expect::StringArray
                | Expect::RecordArray,
                AvroType::Array(items),
            ) => {
                let (item, nulls) = strip_union(items).ok_or_else(mismatch)?;
                item_nulls = nulls;
                match spec.expect {
                    Expect::StringArray => matches!(item, AvroType::String | AvroType::Bytes),
                    Expect::RecordArray => schema.record(item).is_some(),
                    _ => matches!(item, AvroType::Int | AvroType::Long),
                }
            }
            _ => false,
        };
        if !fits {
            return Err(mismatch());
        }
        Ok(Self {
            name: spec.name,
            nulls,
            item_nulls,
        })
    }

    /// Whether a value follows; reads the union's branch if there is one.
    #[inline]
    pub(crate) fn present(&self, cursor: &mut Cursor<'_>) -> Result<bool, Fault> {
        present(self.nulls, self.name, cursor)
    }

    /// Like [`Self::present`], where null is an error.
    #[inline]
    pub(crate) fn require(&self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        if self.present(cursor)? {
            Ok(())
        } else {
            Err(cursor.invalid(self.name))
        }
    }

    #[inline]
    pub(crate) fn int(&self, cursor: &mut Cursor<'_>) -> Result<i32, Fault> {
        self.require(cursor)?;
        cursor.int(self.name)
    }

    #[inline]
    pub(crate) fn long(&self, cursor: &mut Cursor<'_>) -> Result<i64, Fault> {
        self.require(cursor)?;
        cursor.long(self.name)
    }

    #[inline]
    pub(crate) fn bytes<'a>(&self, cursor: &mut Cursor<'a>) -> Result<&'a [u8], Fault> {
        self.require(cursor)?;
        cursor.bytes(self.name)
    }

    #[inline]
    pub(crate) fn string<'a>(&self, cursor: &mut Cursor<'a>) -> Result<&'a str, Fault> {
        self.require(cursor)?;
        cursor.string(self.name)
    }

    #[inline]
    pub(crate) fn optional_int(&self, cursor: &mut Cursor<'_>) -> Result<Option<i32>, Fault> {
        self.present(cursor)?
            .then(|| cursor.int(self.name))
            .transpose()
    }

    #[inline]
    pub(crate) fn optional_long(&self, cursor: &mut Cursor<'_>) -> Result<Option<i64>, Fault> {
        self.present(cursor)?
            .then(|| cursor.long(self.name))
            .transpose()
    }

    #[inline]
    pub(crate) fn optional_bytes<'a>(
        &self,
        cursor: &mut Cursor<'a>,
    ) -> Result<Option<&'a [u8]>, Fault> {
        self.present(cursor)?
            .then(|| cursor.bytes(self.name))
            .transpose()
    }

    #[inline]
    pub(crate) fn optional_string<'a>(
        &self,
        cursor: &mut Cursor<'a>,
    ) -> Result<Option<&'a str>, Fault> {
        self.present(cursor)?
            .then(|| cursor.string(self.name))
            .transpose()
    }

    /// Calls `item` for each element of an array that [`Self::present`] announced. `item` must read the element.
    #[inline]
    pub(crate) fn each<'a>(
        &self,
        cursor: &mut Cursor<'a>,
        mut item: impl FnMut(&mut Cursor<'a>, bool) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        while let Some(block) = cursor.array_block(self.name)? {
            for _ in 0..block.count {
                let present = present(self.item_nulls, self.name, cursor)?;
                // Each element takes a byte at least, or the count is a lie that would keep us busy for ages.
                if !present
                    && self.item_nulls
                        == (Nulls::Always {
                            branch_written: false,
                        })
                {
                    return Err(cursor.invalid(self.name));
                }
                item(cursor, present)?;
            }
        }
        Ok(())
    }

    /// An array of long whose elements may be null.
    pub(crate) fn nullable_longs(
        &self,
        cursor: &mut Cursor<'_>,
        out: &mut Vec<Option<i64>>,
    ) -> Result<(), Fault> {
        let name = self.name;
        self.each(cursor, |cursor, present| {
            out.push(if present {
                Some(cursor.long(name)?)
            } else {
                None
            });
            Ok(())
        })
    }

    /// An array of long without nulls.
    pub(crate) fn longs(&self, cursor: &mut Cursor<'_>) -> Result<Vec<i64>, Fault> {
        let name = self.name;
        let mut out = vec![];
        self.each(cursor, |cursor, present| {
            if !present {
                return Err(cursor.invalid(name));
            }
            out.push(cursor.long(name)?);
            Ok(())
        })?;
        Ok(out)
    }

    /// An array of int without nulls.
    pub(crate) fn ints(&self, cursor: &mut Cursor<'_>) -> Result<Vec<i32>, Fault> {
        let name = self.name;
        let mut out = vec![];
        self.each(cursor, |cursor, present| {
            if !present {
                return Err(cursor.invalid(name));
            }
            out.push(cursor.int(name)?);
            Ok(())
        })?;
        Ok(out)
    }

    /// An array of string without nulls.
    pub(crate) fn strings(&self, cursor: &mut Cursor<'_>) -> Result<Vec<String>, Fault> {
        let name = self.name;
        let mut out = vec![];
        self.each(cursor, |cursor, present| {
            if !present {
                return Err(cursor.invalid(name));
            }
            out.push(cursor.string(name)?.to_owned());
            Ok(())
        })?;
        Ok(out)
    }

    /// Walks over an array that [`Self::present`] announced and returns its bytes.
    ///
    /// `latest` is the array walked over before in this field: most records repeat it, and an array ends where the same bytes
    /// ended it before.
    #[inline]
    pub(crate) fn raw_array<'a>(
        &self,
        cursor: &mut Cursor<'a>,
        items: RawItems,
        latest: &mut Vec<u8>,
    ) -> Result<&'a [u8], Fault> {
        if !latest.is_empty()
            && let Some(raw) = cursor.take_equal(latest)
        {
            return Ok(raw);
        }
        self.walk_array(cursor, items, latest)
    }

    fn walk_array<'a>(
        &self,
        cursor: &mut Cursor<'a>,
        items: RawItems,
        latest: &mut Vec<u8>,
    ) -> Result<&'a [u8], Fault> {
        let start = cursor.offset();
        let name = self.name;
        self.each(cursor, |cursor, present| {
            if present {
                match items {
                    RawItems::Varints => cursor.long(name).map(|_| ())?,
                    RawItems::LengthPrefixed => cursor.bytes(name).map(|_| ())?,
                }
            }
            Ok(())
        })?;
        let raw = cursor.since(start);
        latest.clear();
        latest.extend_from_slice(raw);
        Ok(raw)
    }
}

/// What the elements of an array consist of, when only its extent matters.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RawItems {
    Varints,
    LengthPrefixed,
}

#[inline]
fn present(nulls: Nulls, name: &'static str, cursor: &mut Cursor<'_>) -> Result<bool, Fault> {
    let (value_branch, null_branch) = match nulls {
        Nulls::Never => return Ok(true),
        Nulls::Always {
            branch_written: false,
        } => return Ok(false),
        Nulls::First => (1, 0),
        Nulls::Last => (0, 1),
        Nulls::OnlyBranch => (0, -1),
        Nulls::Always {
            branch_written: true,
        } => (-1, 0),
    };
    let branch = cursor.long(name)?;
    if branch == value_branch && branch >= 0 {
        Ok(true)
    } else if branch == null_branch && branch >= 0 {
        Ok(false)
    } else {
        Err(cursor.invalid(name))
    }
}
