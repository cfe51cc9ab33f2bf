//! Gives fields their ids.
//!
//! One counter serves a table for ever. A column takes its id before the fields inside its type; a member of a nested
//! ROW takes its id after the fields inside its own. Source: spec 01a §4, Paimon `types/ReassignFieldId.java`.

use tidewater_types::{DataField, DataType, TypeKind};

use super::system_columns::SYSTEM_FIELD_ID_START;
use crate::error::{FormatError, Result};

/// Counts up from the largest id given so far.
#[derive(Debug)]
pub(super) struct FieldIdCounter {
    highest: i32,
}

impl FieldIdCounter {
    /// Goes on after `highest`; -1 if no id was given yet.
    pub(super) fn after(highest: i32) -> Self {
        Self { highest }
    }

    /// The largest id given.
    pub(super) fn highest(&self) -> i32 {
        self.highest
    }

    fn next(&mut self) -> Result<i32> {
        let next = self
            .highest
            .checked_add(1)
            .filter(|id| *id < SYSTEM_FIELD_ID_START);
        self.highest = next.ok_or_else(|| FormatError::Request {
            what: "columns",
            reason: "the table has used up all field ids; create it anew".to_owned(),
        })?;
        Ok(self.highest)
    }

    /// Numbers a column and everything inside it, whatever ids it came with.
    pub(super) fn number_column(&mut self, column: &mut DataField) -> Result<()> {
        column.id = self.next()?;
        self.number_inside(&mut column.data_type)
    }

    fn number_inside(&mut self, data_type: &mut DataType) -> Result<()> {
        match &mut data_type.kind {
            TypeKind::Row(row) => {
                for member in &mut row.fields {
                    self.number_inside(&mut member.data_type)?;
                    member.id = self.next()?;
                }
                Ok(())
            }
            TypeKind::Array(element) | TypeKind::Multiset(element) => self.number_inside(element),
            TypeKind::Map(key, value) => {
                self.number_inside(key)?;
                self.number_inside(value)
            }
            _ => Ok(()),
        }
    }
}
