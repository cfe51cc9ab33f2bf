//! Columns that data files hold beside those of the table: never in the schema file, always with the same ids.
//! Source: spec 01a §1.1, Paimon `table/SpecialFields.java`.

use tidewater_types::{DataField, DataType};

/// First part of the names of the key copies in keyed files.
pub const KEY_FIELD_PREFIX: &str = "_KEY_";
/// Ids of key copies are those of their columns plus this; a table's own ids stay below it.
pub const SYSTEM_FIELD_ID_START: i32 = i32::MAX / 2;

/// Number that orders the versions of a key.
pub const SEQUENCE_NUMBER_COLUMN: &str = "_SEQUENCE_NUMBER";
/// Kind of a row: 0 +I, 1 −U, 2 +U, 3 −D.
pub const VALUE_KIND_COLUMN: &str = "_VALUE_KIND";
/// Level that a row was found on; never stored.
pub const LEVEL_COLUMN: &str = "_LEVEL";
/// Kind of a row as text, in the audit log.
pub const ROW_KIND_COLUMN: &str = "rowkind";
/// Id of a row, in tables with row tracking.
pub const ROW_ID_COLUMN: &str = "_ROW_ID";

const SEQUENCE_NUMBER_ID: i32 = i32::MAX - 1;
const VALUE_KIND_ID: i32 = i32::MAX - 2;
const LEVEL_ID: i32 = i32::MAX - 3;
const ROW_ID_ID: i32 = i32::MAX - 5;

const SYSTEM_COLUMNS: [&str; 5] = [
    SEQUENCE_NUMBER_COLUMN,
    VALUE_KIND_COLUMN,
    LEVEL_COLUMN,
    ROW_KIND_COLUMN,
    ROW_ID_COLUMN,
];

/// Whether a column of a table may not have this name. Case counts.
pub fn is_system_column(name: &str) -> bool {
    name.starts_with(KEY_FIELD_PREFIX) || SYSTEM_COLUMNS.contains(&name)
}

/// Name of the copy of a key column.
pub fn key_column_name(column: &str) -> String {
    format!("{KEY_FIELD_PREFIX}{column}")
}

/// Id of the copy of the key column with this id.
pub fn key_column_id(column_id: i32) -> i32 {
    column_id.saturating_add(SYSTEM_FIELD_ID_START)
}

/// The copy of a key column.
pub(super) fn key_copy(column: &DataField) -> DataField {
    DataField::new(
        key_column_id(column.id),
        key_column_name(&column.name),
        column.data_type.clone().not_null(),
    )
}

/// `_SEQUENCE_NUMBER BIGINT NOT NULL`.
pub fn sequence_number_field() -> DataField {
    DataField::new(
        SEQUENCE_NUMBER_ID,
        SEQUENCE_NUMBER_COLUMN,
        DataType::big_int().not_null(),
    )
}

/// `_VALUE_KIND TINYINT NOT NULL`.
pub fn value_kind_field() -> DataField {
    DataField::new(
        VALUE_KIND_ID,
        VALUE_KIND_COLUMN,
        DataType::tiny_int().not_null(),
    )
}

/// `_LEVEL INT NOT NULL`.
pub fn level_field() -> DataField {
    DataField::new(LEVEL_ID, LEVEL_COLUMN, DataType::int().not_null())
}

/// `_ROW_ID BIGINT`.
pub fn row_id_field() -> DataField {
    DataField::new(ROW_ID_ID, ROW_ID_COLUMN, DataType::big_int())
}
