//! Changes of columns.

use tidewater_types::{DataField, DataType, can_cast};

use super::Evolution;
use super::path::{field_of, position_of, row_of, type_of};
use crate::error::{FormatError, Result};
use crate::schema::ColumnPosition;
use crate::schema::validate::check_default_value;

impl Evolution<'_> {
    pub(super) fn add_column(
        &mut self,
        path: &[String],
        data_type: &DataType,
        description: Option<&str>,
        position: Option<&ColumnPosition>,
    ) -> Result<()> {
        if !data_type.nullable {
            return Err(FormatError::invalid_column(
                path.join("."),
                "a new column cannot be NOT NULL, because old rows have no value for it",
                "add it as nullable",
            ));
        }
        let (row, name) = row_of(&mut self.schema.fields, path)?;
        if row.iter().any(|field| field.name == name) {
            return Err(FormatError::ColumnExists {
                column: path.join("."),
            });
        }
        let mut column = DataField::new(0, name, data_type.clone());
        column.description = description.map(str::to_owned);
        self.ids.number_column(&mut column)?;
        let index = match position {
            None | Some(ColumnPosition::Last) => row.len(),
            Some(ColumnPosition::First) => 0,
            Some(ColumnPosition::After(other)) => beside(row, other, path)? + 1,
            Some(ColumnPosition::Before(other)) => beside(row, other, path)?,
        };
        row.insert(index, column);
        Ok(())
    }

    pub(super) fn rename_column(&mut self, path: &[String], to: &str) -> Result<()> {
        if let [column] = path {
            self.refuse_partition_key(column, "cannot be renamed: directories carry its name")?;
        }
        let (row, name) = row_of(&mut self.schema.fields, path)?;
        let index = position_of(row, name, path)?;
        if row.iter().any(|field| field.name == to) {
            return Err(FormatError::ColumnExists {
                column: to.to_owned(),
            });
        }
        if let Some(field) = row.get_mut(index) {
            to.clone_into(&mut field.name);
        }
        if let [column] = path {
            for key in &mut self.schema.primary_keys {
                if key == column {
                    to.clone_into(key);
                }
            }
            self.renames.push((column.clone(), to.to_owned()));
        }
        Ok(())
    }

    pub(super) fn drop_column(&mut self, path: &[String]) -> Result<()> {
        if let [column] = path {
            self.refuse_partition_key(column, "cannot be dropped")?;
            self.refuse_primary_key(column, "cannot be dropped")?;
        }
        let (row, name) = row_of(&mut self.schema.fields, path)?;
        let index = position_of(row, name, path)?;
        if row.len() == 1 {
            return Err(FormatError::invalid_column(
                path.join("."),
                "it is the only one",
                "add another column first, or drop what contains it",
            ));
        }
        row.remove(index);
        Ok(())
    }

    pub(super) fn change_type(
        &mut self,
        path: &[String],
        data_type: &DataType,
        keep_nullability: bool,
    ) -> Result<()> {
        if let [column] = path {
            let problem = "cannot change its type: directories carry its values";
            self.refuse_partition_key(column, problem)?;
            let problem = "cannot change its type: files are sorted and bucketed by it";
            self.refuse_primary_key(column, problem)?;
        }
        let explicit = !self.before_options.disable_explicit_type_casting;
        let null_guard = self.before_options.alter_column_null_to_not_null_disabled;
        let current = type_of(&mut self.schema.fields, path)?;
        let nullable = if keep_nullability {
            current.nullable
        } else {
            data_type.nullable
        };
        // Parts of nested types change by their own paths: a new nested type would bring fields without ids.
        if data_type.is_nested() || !can_cast(current, data_type, explicit) {
            return Err(FormatError::TypeChange {
                column: path.join("."),
                from: current.to_string(),
                to: data_type.to_string(),
            });
        }
        check_null_guard(path, current.nullable, nullable, null_guard)?;
        *current = data_type.clone().with_nullable(nullable);
        Ok(())
    }

    pub(super) fn change_nullability(&mut self, path: &[String], nullable: bool) -> Result<()> {
        if let [column] = path
            && nullable
        {
            self.refuse_primary_key(column, "is NOT NULL always")?;
        }
        let null_guard = self.before_options.alter_column_null_to_not_null_disabled;
        let current = type_of(&mut self.schema.fields, path)?;
        check_null_guard(path, current.nullable, nullable, null_guard)?;
        current.nullable = nullable;
        Ok(())
    }

    pub(super) fn change_comment(&mut self, path: &[String], comment: Option<&str>) -> Result<()> {
        field_of(&mut self.schema.fields, path)?.description = comment.map(str::to_owned);
        Ok(())
    }

    pub(super) fn change_default(&mut self, path: &[String], value: Option<&str>) -> Result<()> {
        let field = field_of(&mut self.schema.fields, path)?;
        field.default_value = value.map(str::to_owned);
        check_default_value(&path.join("."), field)
    }

    /// Moves a column; a move that leaves it at the first, the last, or beside itself is refused, as Java does.
    pub(super) fn move_column(&mut self, column: &str, position: &ColumnPosition) -> Result<()> {
        let fields = &mut self.schema.fields;
        let path = [column.to_owned()];
        let from = position_of(fields, column, &path)?;
        let itself = match position {
            ColumnPosition::First => from == 0,
            ColumnPosition::Last => from + 1 == fields.len(),
            ColumnPosition::After(other) | ColumnPosition::Before(other) => other == column,
        };
        if itself {
            return Err(FormatError::invalid_column(
                column,
                "it is there already",
                "leave the move out",
            ));
        }
        // Found before the column is taken out, so that a wrong name changes nothing.
        if let ColumnPosition::After(other) | ColumnPosition::Before(other) = position {
            beside(fields, other, &path)?;
        }
        let moved = fields.remove(from);
        let to = match position {
            ColumnPosition::First => 0,
            ColumnPosition::Last => fields.len(),
            ColumnPosition::After(other) => beside(fields, other, &path)? + 1,
            ColumnPosition::Before(other) => beside(fields, other, &path)?,
        };
        fields.insert(to, moved);
        Ok(())
    }

    fn refuse_partition_key(&self, column: &str, problem: &str) -> Result<()> {
        if self.schema.partition_keys.iter().any(|key| key == column) {
            return Err(FormatError::invalid_column(
                column,
                format!("a partition column {problem}"),
                "make a new table",
            ));
        }
        Ok(())
    }

    fn refuse_primary_key(&self, column: &str, problem: &str) -> Result<()> {
        if self.schema.primary_keys.iter().any(|key| key == column) {
            return Err(FormatError::invalid_column(
                column,
                format!("a primary key column {problem}"),
                "make a new table",
            ));
        }
        Ok(())
    }
}

/// Position of a column that another is put beside.
fn beside(row: &[DataField], other: &str, path: &[String]) -> Result<usize> {
    let mut sibling = path.to_vec();
    if let Some(last) = sibling.last_mut() {
        other.clone_into(last);
    }
    position_of(row, other, &sibling)
}

fn check_null_guard(path: &[String], from: bool, to: bool, guard: bool) -> Result<()> {
    if guard && from && !to {
        return Err(FormatError::invalid_column(
            path.join("."),
            "a nullable column cannot become NOT NULL: rows with null may exist",
            "set alter-column-null-to-not-null.disabled to false if there are none",
        ));
    }
    Ok(())
}
