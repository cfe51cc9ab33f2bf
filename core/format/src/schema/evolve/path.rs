//! Finds what a path names inside a schema: the row that a column is in, or a part of its type.

use tidewater_types::{DataField, DataType, TypeKind};

use crate::error::{FormatError, Result};
use crate::schema::names_for_message;

const ARRAY_STEP: &str = "element";
const MAP_STEP: &str = "value";

/// The fields of the row that holds the last name of `path`, and that name.
pub(super) fn row_of<'a, 'p>(
    fields: &'a mut Vec<DataField>,
    path: &'p [String],
) -> Result<(&'a mut Vec<DataField>, &'p str)> {
    let Some((last, parents)) = path.split_last() else {
        return Err(no_such_path(path, "name it".to_owned()));
    };
    if parents.is_empty() {
        return Ok((fields, last));
    }
    let parent = type_of(fields, parents)?;
    match &mut parent.kind {
        TypeKind::Row(row) => Ok((&mut row.fields, last)),
        kind => {
            let name = kind.name();
            Err(no_such_path(
                path,
                format!("{} is {name}, which has no columns", parents.join(".")),
            ))
        }
    }
}

/// The type that `path` leads to: that of a column, of a member, of elements, or of values.
pub(super) fn type_of<'a>(
    fields: &'a mut [DataField],
    path: &[String],
) -> Result<&'a mut DataType> {
    let Some((first, rest)) = path.split_first() else {
        return Err(no_such_path(path, "name it".to_owned()));
    };
    let mut data_type = &mut member(fields, first, path)?.data_type;
    for step in rest {
        let name = data_type.kind.name();
        data_type = match &mut data_type.kind {
            TypeKind::Row(row) => &mut member(&mut row.fields, step, path)?.data_type,
            TypeKind::Array(element) if step == ARRAY_STEP => element,
            TypeKind::Map(_, value) if step == MAP_STEP => value,
            TypeKind::Array(_) => {
                return Err(no_such_path(
                    path,
                    "an array has the part \"element\"".to_owned(),
                ));
            }
            TypeKind::Map(..) => {
                return Err(no_such_path(
                    path,
                    "a map has the part \"value\"".to_owned(),
                ));
            }
            _ => return Err(no_such_path(path, format!("{name} has no parts"))),
        };
    }
    Ok(data_type)
}

/// The column or member itself. Elements and values have no name, comment or default of their own.
pub(super) fn field_of<'a>(
    fields: &'a mut Vec<DataField>,
    path: &[String],
) -> Result<&'a mut DataField> {
    let (row, name) = row_of(fields, path)?;
    member(row, name, path)
}

/// Position of a name in a row; `path` is for the message.
pub(super) fn position_of(fields: &[DataField], name: &str, path: &[String]) -> Result<usize> {
    let position = fields.iter().position(|field| field.name == name);
    position.ok_or_else(|| {
        no_such_path(
            path,
            format!("the columns are {}", names_for_message(fields)),
        )
    })
}

fn member<'a>(
    fields: &'a mut [DataField],
    name: &str,
    path: &[String],
) -> Result<&'a mut DataField> {
    let position = position_of(fields, name, path)?;
    fields
        .get_mut(position)
        .ok_or_else(|| no_such_path(path, "name it".to_owned()))
}

fn no_such_path(path: &[String], hint: String) -> FormatError {
    FormatError::NoSuchColumn {
        column: path.join("."),
        hint,
    }
}
