//! Which stored column answers which asked column, and what has to be done to its values.
//!
//! ```text
//!  asked  (read schema)    id 3 "total" BIGINT     id 7 "r" ROW<x, z>        id 9 "new"
//!                               |                      |  by id, at each level    |
//!  stored (file)           id 3 "sum" INT32        id 7 "r" group{x, y}       not there
//!                               |                      |                          |
//!  ColumnMapping           decode, cast            decode leaf x, null z       all null
//! ```
//!
//! A file whose columns carry no ids is matched by the names that the schema it was written with gives to the ids.
//! Source: spec 02a §6.1, 01e §1 (forms of other producers), Paimon `SchemaEvolutionUtil.java`.

mod apply;
mod convert;
mod stored;

use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Schema, SchemaRef, TimeUnit};
use tidewater_types::arrow_types::{to_arrow_field, to_arrow_type};
use tidewater_types::{DataField, DataType, RowType, TypeKind};

use self::convert::Convert;
pub(crate) use self::stored::{StoredNode, StoredSchema};
use crate::error::{FilesError, Result};

/// Ids from here on belong to system columns (`_KEY_*`, `_SEQUENCE_NUMBER`, …).
const SYSTEM_FIELD_ID_START: i32 = i32::MAX / 2;

/// How a file answers a set of asked columns.
#[derive(Debug, Clone)]
pub struct SchemaMapping {
    columns: Vec<ColumnMapping>,
    leaves: Vec<usize>,
    output: SchemaRef,
}

/// How one asked column is made.
#[derive(Debug, Clone)]
pub(crate) struct ColumnMapping {
    pub(crate) asked: DataField,
    /// None if the file does not have the column: it reads as null.
    pub(crate) stored: Option<StoredColumn>,
}

/// The stored side of a column.
#[derive(Debug, Clone)]
pub(crate) struct StoredColumn {
    /// Position among the decoded columns.
    pub(crate) decoded: usize,
    pub(crate) convert: Convert,
    /// The leaf whose statistics speak of the asked values, in the asked type; none if the column is nested or changes its type.
    pub(crate) prunable_leaf: Option<usize>,
}

impl SchemaMapping {
    /// Maps `asked` onto the columns of a file. `file_fields` are those of the schema that the file was written with; system columns
    /// need not be among them. A `whole` file has a column for each of them.
    ///
    /// # Errors
    /// [`FilesError::ColumnType`] if the stored form of a column cannot be read as its type; [`FilesError::CorruptColumn`] if a whole
    /// file lacks a column: its footer, which has no checksum, is damaged, and the column must not be taken for one of nulls.
    pub(crate) fn new(
        path: &str,
        stored: &StoredSchema,
        file_fields: &[DataField],
        whole: bool,
        asked: &[DataField],
    ) -> Result<Self> {
        let whole = whole && !file_fields.is_empty();
        let mut roots = Vec::with_capacity(asked.len());
        let mut leaves = Vec::new();
        for field in asked {
            let file_field = file_field(file_fields, field);
            let place = find(&stored.columns, field, file_field);
            let context = Context {
                path,
                column: &field.name,
                whole,
            };
            let Some((root, node)) = place else {
                context.may_lack(file_field)?;
                roots.push(None);
                continue;
            };
            let plan = context.plan(
                node,
                file_field.map(|field| &field.data_type),
                &field.data_type,
            )?;
            leaves.extend_from_slice(&plan.leaves);
            roots.push(Some((root, plan)));
        }
        leaves.sort_unstable();
        leaves.dedup();
        let mut decoded_roots: Vec<usize> = roots.iter().flatten().map(|(root, _)| *root).collect();
        decoded_roots.sort_unstable();
        decoded_roots.dedup();
        let mut columns = Vec::with_capacity(asked.len());
        let mut output = Vec::with_capacity(asked.len());
        for (field, root) in asked.iter().zip(roots) {
            let file_field = file_field(file_fields, field);
            let may_be_null =
                root.is_none() || file_field.is_some_and(|file| file.data_type.nullable);
            let arrow = to_arrow_field(field);
            output.push(
                arrow
                    .clone()
                    .with_nullable(arrow.is_nullable() || may_be_null),
            );
            let stored = match root {
                None => None,
                Some((root, _)) => {
                    let node = stored.columns.get(root).ok_or_else(|| missing_node(path))?;
                    let context = Context {
                        path,
                        column: &field.name,
                        whole,
                    };
                    let file_type = file_field.map(|field| &field.data_type);
                    let convert = context.convert(node, &leaves, file_type, &field.data_type)?;
                    let same_type = file_type.is_none_or(|file| file.kind == field.data_type.kind);
                    let prunable =
                        node.is_leaf() && same_type && !node.int96 && convert.keeps_values();
                    let decoded = decoded_roots
                        .binary_search(&root)
                        .map_err(|_| missing_node(path))?;
                    Some(StoredColumn {
                        decoded,
                        convert,
                        prunable_leaf: prunable.then_some(node.leaves.start),
                    })
                }
            };
            columns.push(ColumnMapping {
                asked: field.clone(),
                stored,
            });
        }
        Ok(Self {
            columns,
            leaves,
            output: Arc::new(Schema::new(output)),
        })
    }

    /// The schema of the batches: the asked columns in canonical types.
    ///
    /// A column asked for as NOT NULL is nullable here when the file cannot promise that: it lacks the column, or was written when the
    /// column was nullable.
    pub fn output_schema(&self) -> &SchemaRef {
        &self.output
    }

    /// Leaves of the file that are read, sorted.
    pub(crate) fn leaves(&self) -> &[usize] {
        &self.leaves
    }

    pub(crate) fn columns(&self) -> &[ColumnMapping] {
        &self.columns
    }

    /// The asked columns that the file does not have.
    pub fn missing(&self) -> impl Iterator<Item = &DataField> {
        self.columns
            .iter()
            .filter(|column| column.stored.is_none())
            .map(|column| &column.asked)
    }
}

fn missing_node(path: &str) -> FilesError {
    FilesError::Internal {
        what: format!("a column of {path} was mapped to no stored column"),
    }
}

/// The asked field as the file's schema has it. Without a schema the file is taken to be of the asked one.
fn file_field<'a>(file_fields: &'a [DataField], asked: &'a DataField) -> Option<&'a DataField> {
    if file_fields.is_empty() {
        Some(asked)
    } else {
        file_fields.iter().find(|file| file.id == asked.id)
    }
}

/// Finds the stored part for an asked field: by id if any of the parts has one, else by its name in the file's schema, in which system
/// columns need not be.
fn find<'a>(
    nodes: &'a [StoredNode],
    asked: &DataField,
    file_field: Option<&DataField>,
) -> Option<(usize, &'a StoredNode)> {
    let mut nodes_in_order = nodes.iter().enumerate();
    if nodes.iter().any(|node| node.id.is_some()) {
        return nodes_in_order.find(|(_, node)| node.id == Some(asked.id));
    }
    let system_name = (asked.id >= SYSTEM_FIELD_ID_START).then_some(&asked.name);
    let name = file_field.map(|file| &file.name).or(system_name)?;
    nodes_in_order.find(|(_, node)| node.field.name() == name)
}

/// Leaves that answer a node.
struct Plan {
    leaves: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Context<'a> {
    path: &'a str,
    column: &'a str,
    /// The file has all columns of its schema.
    whole: bool,
}

impl Context<'_> {
    /// Whether a column, or a part of one, that is not stored may be taken for nulls.
    fn may_lack(self, file_field: Option<&DataField>) -> Result<()> {
        let Some(field) = file_field.filter(|_| self.whole) else {
            return Ok(());
        };
        Err(FilesError::CorruptColumn {
            path: self.path.to_owned(),
            column: self.column.to_owned(),
            reason: format!(
                "field {} {:?} of the schema that the file was written with is not in it",
                field.id, field.name
            ),
        })
    }

    fn mismatch(self, node: &StoredNode, expected: &DataType) -> FilesError {
        FilesError::ColumnType {
            path: self.path.to_owned(),
            column: self.column.to_owned(),
            expected: expected.to_string(),
            found: node.field.data_type().to_string(),
        }
    }

    /// Chooses the leaves that are needed for `asked`.
    fn plan(self, node: &StoredNode, file: Option<&DataType>, asked: &DataType) -> Result<Plan> {
        let mut leaves = Vec::new();
        self.collect(node, file, asked, &mut leaves)?;
        Ok(Plan { leaves })
    }

    fn collect(
        self,
        node: &StoredNode,
        file: Option<&DataType>,
        asked: &DataType,
        leaves: &mut Vec<usize>,
    ) -> Result<()> {
        let file = file.unwrap_or(asked);
        match (&file.kind, &asked.kind, node.children.as_slice()) {
            (TypeKind::Row(file_row), TypeKind::Row(asked_row), children)
                if !children.is_empty() =>
            {
                let before = leaves.len();
                for (field, file_field) in members(file_row, asked_row) {
                    if let Some((_, child)) = find(children, field, file_field) {
                        self.collect(
                            child,
                            file_field.map(|field| &field.data_type),
                            &field.data_type,
                            leaves,
                        )?;
                    }
                }
                if leaves.len() == before {
                    // Nothing of the row is stored that was asked for: any leaf tells which rows are null.
                    leaves.extend(cheapest_leaf(node));
                }
                Ok(())
            }
            (TypeKind::Array(file), TypeKind::Array(asked), [element]) => {
                self.collect(element, Some(file), asked, leaves)
            }
            (
                TypeKind::Map(file_key, file_value),
                TypeKind::Map(key, value),
                [stored_key, stored_value],
            ) => {
                self.collect(stored_key, Some(file_key), key, leaves)?;
                self.collect(stored_value, Some(file_value), value, leaves)
            }
            _ => {
                leaves.extend(node.leaves.clone());
                Ok(())
            }
        }
    }

    /// What turns the decoded form of `node`, of which `leaves` are read, into `asked`.
    fn convert(
        self,
        node: &StoredNode,
        leaves: &[usize],
        file: Option<&DataType>,
        asked: &DataType,
    ) -> Result<Convert> {
        let target = to_arrow_type(asked);
        if node.decoded_type(leaves).as_ref() == Some(&target)
            && file.is_none_or(|file| file.kind == asked.kind)
        {
            return Ok(Convert::Keep);
        }
        let file = file.unwrap_or(asked);
        match (&file.kind, &asked.kind) {
            (TypeKind::Row(file_row), TypeKind::Row(asked_row)) => {
                self.convert_row(node, leaves, file_row, asked_row, &target)
            }
            (TypeKind::Array(file), TypeKind::Array(asked)) => {
                match (node.children.as_slice(), &target) {
                    ([element], ArrowType::List(field))
                        if matches!(node.field.data_type(), ArrowType::List(_)) =>
                    {
                        let item = Box::new(self.convert(element, leaves, Some(file), asked)?);
                        Ok(Convert::List {
                            field: Arc::clone(field),
                            item,
                        })
                    }
                    _ => Err(self.mismatch(node, &DataType::array(asked.as_ref().clone()))),
                }
            }
            (TypeKind::Map(file_key, file_value), TypeKind::Map(key, value)) => self.convert_map(
                node,
                leaves,
                [(file_key, key), (file_value, value)],
                &target,
                asked,
            ),
            (TypeKind::Multiset(file), TypeKind::Multiset(element)) => {
                let count = DataType::int().not_null();
                self.convert_map(
                    node,
                    leaves,
                    [(file, element), (&count, &count)],
                    &target,
                    asked,
                )
            }
            (TypeKind::Variant, TypeKind::Variant) => self.convert_variant(node, &target, asked),
            (file_kind, asked_kind) if file_kind == asked_kind => self.convert_leaf(node, asked),
            _ => {
                let stored = self.convert(node, leaves, Some(file), file)?;
                Ok(Convert::Cast {
                    stored: Box::new(stored),
                    from: file.clone(),
                    to: asked.clone(),
                })
            }
        }
    }

    fn convert_row(
        self,
        node: &StoredNode,
        leaves: &[usize],
        file_row: &RowType,
        asked_row: &RowType,
        target: &ArrowType,
    ) -> Result<Convert> {
        let (ArrowType::Struct(_), ArrowType::Struct(fields)) = (node.field.data_type(), target)
        else {
            return Err(self.mismatch(node, &DataType::row(asked_row.clone())));
        };
        let decoded: Vec<&StoredNode> = node
            .children
            .iter()
            .filter(|child| child.decoded_type(leaves).is_some())
            .collect();
        let mut children = Vec::with_capacity(asked_row.len());
        for (field, file_field) in members(file_row, asked_row) {
            let child = match find(&node.children, field, file_field) {
                None => {
                    self.may_lack(file_field)?;
                    None
                }
                Some((_, child)) => {
                    let file = file_field.map(|field| &field.data_type);
                    let position = decoded
                        .iter()
                        .position(|decoded| decoded.leaves == child.leaves);
                    let convert = self.convert(child, leaves, file, &field.data_type)?;
                    position.map(|position| (position, convert))
                }
            };
            children.push(child);
        }
        Ok(Convert::Struct {
            fields: fields.clone(),
            children,
        })
    }

    fn convert_map(
        self,
        node: &StoredNode,
        leaves: &[usize],
        [key, value]: [(&DataType, &DataType); 2],
        target: &ArrowType,
        asked: &DataType,
    ) -> Result<Convert> {
        let (ArrowType::Map(..), ArrowType::Map(entries, _)) = (node.field.data_type(), target)
        else {
            return Err(self.mismatch(node, asked));
        };
        let [stored_key, stored_value] = node.children.as_slice() else {
            return Err(self.mismatch(node, asked));
        };
        Ok(Convert::Map {
            entries: Arc::clone(entries),
            key: Box::new(self.convert(stored_key, leaves, Some(key.0), key.1)?),
            value: Box::new(self.convert(stored_value, leaves, Some(value.0), value.1)?),
        })
    }

    /// VARIANT is a group of `value` and `metadata`, found by name. A shredded one has a third part.
    fn convert_variant(
        self,
        node: &StoredNode,
        target: &ArrowType,
        asked: &DataType,
    ) -> Result<Convert> {
        let (ArrowType::Struct(_), ArrowType::Struct(fields)) = (node.field.data_type(), target)
        else {
            return Err(self.mismatch(node, asked));
        };
        let find = |name: &str| {
            node.children
                .iter()
                .position(|child| child.field.name() == name)
        };
        if find("typed_value").is_some() {
            let what = format!(
                "shredded VARIANT (column {:?} of {})",
                self.column, self.path
            );
            return Err(FilesError::Unsupported { what });
        }
        let mut children = Vec::with_capacity(fields.len());
        for field in fields {
            let position = find(field.name()).ok_or_else(|| self.mismatch(node, asked))?;
            let child = node
                .children
                .get(position)
                .ok_or_else(|| self.mismatch(node, asked))?;
            children.push(Some((
                position,
                self.convert_leaf(child, &DataType::bytes().not_null())?,
            )));
        }
        Ok(Convert::Struct {
            fields: fields.clone(),
            children,
        })
    }

    /// A leaf in one of the forms that producers use for `asked`.
    fn convert_leaf(self, node: &StoredNode, asked: &DataType) -> Result<Convert> {
        let (stored, target) = (node.field.data_type(), to_arrow_type(asked));
        if !node.is_leaf() {
            return Err(self.mismatch(node, asked));
        }
        let convert = match (stored, &target) {
            (ArrowType::FixedSizeBinary(_), ArrowType::Timestamp(..)) if node.int96 => {
                Convert::Int96(target)
            }
            _ if node.int96 => return Err(self.mismatch(node, asked)),
            (stored, target) if stored == target => Convert::Keep,
            (ArrowType::Null, _) => Convert::Null(target),
            (
                ArrowType::Binary | ArrowType::FixedSizeBinary(_) | ArrowType::Utf8,
                ArrowType::Binary,
            )
            | (ArrowType::Binary, ArrowType::Utf8)
            | (ArrowType::Float32, ArrowType::Float64) => Convert::Arrow(target),
            (stored, target) if stored.is_integer() && target.is_integer() => {
                Convert::Arrow(target.clone())
            }
            (ArrowType::Timestamp(..), ArrowType::Timestamp(..))
            | (
                ArrowType::Time64(TimeUnit::Microsecond | TimeUnit::Nanosecond),
                ArrowType::Time32(TimeUnit::Millisecond),
            ) => Convert::Rescale(target),
            (ArrowType::Decimal128(precision, scale), ArrowType::Decimal128(..)) => {
                let scale = u8::try_from(*scale).map_err(|_| self.mismatch(node, asked))?;
                let from = DataType::decimal(*precision, scale);
                Convert::Cast {
                    stored: Box::new(Convert::Keep),
                    from,
                    to: asked.clone(),
                }
            }
            _ => return Err(self.mismatch(node, asked)),
        };
        Ok(convert)
    }
}

/// The members of `asked` with the fields of the same ids in the file's row.
fn members<'a>(
    file: &'a RowType,
    asked: &'a RowType,
) -> impl Iterator<Item = (&'a DataField, Option<&'a DataField>)> {
    asked
        .fields
        .iter()
        .map(|field| (field, file.field_by_id(field.id)))
}

/// A leaf that is cheap to decode: the first of fixed width outside lists, else the first.
fn cheapest_leaf(node: &StoredNode) -> Option<usize> {
    let fixed = node
        .children
        .iter()
        .find(|child| child.is_leaf() && child.field.data_type().is_primitive());
    fixed
        .map(|child| child.leaves.start)
        .or_else(|| node.leaves.clone().next())
}
