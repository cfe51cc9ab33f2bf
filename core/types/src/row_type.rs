//! Fields with ids, and the rows they make up.
//!
//! Ids, not names, tie a column of a data file to a column of the read schema (spec 01a §4).

use std::fmt;

use crate::data_type::{DataType, TypeKind, field_from_json, field_to_json, fields_from_json};
use crate::error::{Result, TypeError};

/// One column, or one member of a nested ROW.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DataField {
    /// Id, unique in the whole schema at all depths, never used again after a drop.
    pub id: i32,
    /// Name, unique in its row.
    pub name: String,
    /// Type.
    pub data_type: DataType,
    /// Comment of the column.
    pub description: Option<String>,
    /// Text of the value that writers put in when none is given; readers do not apply it.
    pub default_value: Option<String>,
}

impl DataField {
    /// A field without description and default value.
    pub fn new(id: i32, name: impl Into<String>, data_type: DataType) -> Self {
        Self {
            id,
            name: name.into(),
            data_type,
            description: None,
            default_value: None,
        }
    }

    /// Reads a field of a schema file; missing ids are counted from 0 in reading order.
    ///
    /// # Errors
    /// As [`DataType::from_json`]; also when some fields inside have ids and some have none.
    pub fn from_json(json: &serde_json::Value) -> Result<Self> {
        field_from_json(json)
    }

    /// The field as in schema files: absent description and default value are left out.
    pub fn to_json(&self) -> serde_json::Value {
        field_to_json(self)
    }
}

impl fmt::Display for DataField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.name.replace('`', "``"), self.data_type)?;
        if let Some(description) = self.description.as_deref().filter(|text| !text.is_empty()) {
            write!(f, " COMMENT '{}'", description.replace('\'', "''"))?;
        }
        if let Some(default_value) = &self.default_value {
            write!(f, " DEFAULT {default_value}")?;
        }
        Ok(())
    }
}

/// Fields of a row, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RowType {
    /// The fields.
    pub fields: Vec<DataField>,
}

impl RowType {
    /// A row of these fields.
    pub fn new(fields: Vec<DataField>) -> Self {
        Self { fields }
    }

    /// A row of columns with ids 0, 1, 2… in order.
    pub fn of<N: Into<String>>(columns: impl IntoIterator<Item = (N, DataType)>) -> Self {
        let fields = columns
            .into_iter()
            .zip(0..)
            .map(|((name, data_type), id)| DataField::new(id, name, data_type))
            .collect();
        Self { fields }
    }

    /// Reads the array of fields of a schema file. If no field at any depth has an id, ids are counted from 0 in
    /// reading order, parents before children.
    ///
    /// # Errors
    /// As [`DataType::from_json`]; also when some fields have ids and some have none.
    pub fn from_fields_json(json: &serde_json::Value) -> Result<Self> {
        Ok(Self {
            fields: fields_from_json(json)?,
        })
    }

    /// The array of fields as in schema files.
    pub fn fields_to_json(&self) -> serde_json::Value {
        self.fields.iter().map(field_to_json).collect()
    }

    /// Number of fields.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Position of the field with this name.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// The field with this name.
    pub fn field(&self, name: &str) -> Option<&DataField> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The field with this id, at this level only.
    pub fn field_by_id(&self, id: i32) -> Option<&DataField> {
        self.fields.iter().find(|field| field.id == id)
    }

    /// Positions of the fields with these names, in the order of the names.
    ///
    /// # Errors
    /// [`TypeError::UnknownColumn`] for the first name that is not there.
    pub fn indices_of<S: AsRef<str>>(&self, names: &[S]) -> Result<Vec<usize>> {
        names
            .iter()
            .map(|name| {
                let name = name.as_ref();
                self.index_of(name).ok_or_else(|| TypeError::UnknownColumn {
                    name: name.to_owned(),
                })
            })
            .collect()
    }

    /// The row of the fields at these positions, in the order given; positions past the end are left out.
    #[must_use]
    pub fn project(&self, indices: &[usize]) -> Self {
        let fields = indices
            .iter()
            .filter_map(|&index| self.fields.get(index))
            .cloned()
            .collect();
        Self { fields }
    }

    /// The names, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }

    /// The types, in order.
    pub fn types(&self) -> Vec<DataType> {
        self.fields
            .iter()
            .map(|field| field.data_type.clone())
            .collect()
    }

    /// The largest field id at any depth; -1 without fields.
    pub fn highest_field_id(&self) -> i32 {
        fn inside(data_type: &DataType) -> i32 {
            match &data_type.kind {
                TypeKind::Row(row) => row.highest_field_id(),
                TypeKind::Array(element) | TypeKind::Multiset(element) => inside(element),
                TypeKind::Map(key, value) => inside(key).max(inside(value)),
                _ => -1,
            }
        }
        let ids = self
            .fields
            .iter()
            .map(|field| field.id.max(inside(&field.data_type)));
        ids.max().unwrap_or(-1)
    }
}
