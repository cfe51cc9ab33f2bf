//! Partial update and aggregation: which function folds which column, and whether it can.
//!
//! Java refuses some of this only at the first write or the first comparison; a table that cannot be written is not
//! created here. Source: spec 02b §6.3, §6.4, §7; Paimon `schema/SchemaValidation.java`,
//! `mergetree/compact/PartialUpdateMergeFunction.java`, `AggregateMergeFunction.java`.

use std::collections::BTreeMap;

use tidewater_types::{DataField, TypeKind};

use super::Checked;
use crate::error::{FormatError, Result};
use crate::options::{AggregateFunction, NameList};

impl Checked<'_> {
    /// A column belongs to one group, and is folded by a function only inside a group: outside, order would decide.
    pub(super) fn partial_update(&self) -> Result<()> {
        let groups = self.options.sequence_groups();
        let mut group_of = BTreeMap::new();
        for (index, (sequence, members)) in groups.iter().enumerate() {
            let key = format!("fields.{sequence}.sequence-group");
            for column in members.names().iter().chain(sequence.names()) {
                self.option_column(&key, column)?;
                let first = *group_of.entry(column.as_str()).or_insert(index);
                if first != index {
                    return Err(FormatError::option_conflict(
                        key,
                        format!("column {column:?} belongs to another group too"),
                        "put it into one group",
                    ));
                }
            }
            self.ordered_sequence(&key, sequence)?;
        }
        let leads = |name: &String| {
            let leads = |(sequence, _): &(NameList, NameList)| sequence.names().contains(name);
            groups.iter().any(leads)
        };
        for field in &self.schema.fields {
            if self.is_key_or_sequence(field) || leads(&field.name) {
                continue;
            }
            let Some((key, function)) = self.function_of(field) else {
                continue;
            };
            let grouped = group_of.contains_key(field.name.as_str());
            if !grouped && function != AggregateFunction::LastNonNullValue {
                let (column, function) = (&field.name, function.name());
                return Err(FormatError::option_conflict(
                    key,
                    format!("column {column:?} with function {function} is in no sequence group"),
                    "put the column into a fields.<columns>.sequence-group",
                ));
            }
            self.function_fits(&key, function, field)?;
        }
        Ok(())
    }

    /// The columns that tell which version of a group is newer must have an order.
    fn ordered_sequence(&self, key: &str, sequence: &NameList) -> Result<()> {
        for column in sequence.names() {
            let field = self.option_column(key, column)?;
            if !field.data_type.kind.is_ordered() {
                let kind = field.data_type.kind.name();
                return Err(FormatError::option_conflict(
                    key,
                    format!("column {column:?} is {kind}, whose values have no order"),
                    "use columns of atomic types",
                ));
            }
        }
        Ok(())
    }

    /// Every column outside the key has a function that takes its type.
    pub(super) fn aggregation(&self) -> Result<()> {
        const ON_DELETE: &str = "aggregation.remove-record-on-delete";
        for field in &self.schema.fields {
            if self.options.aggregation_remove_record_on_delete
                && self
                    .options
                    .column_flag(&field.name, "ignore-retract", false)
            {
                return Err(FormatError::option_conflict(
                    ON_DELETE,
                    format!("it contradicts fields.{}.ignore-retract", field.name),
                    "remove one of the two",
                ));
            }
            if self.is_key_or_sequence(field) {
                continue;
            }
            if let Some((key, function)) = self.function_of(field) {
                self.function_fits(&key, function, field)?;
            }
        }
        Ok(())
    }

    fn is_key_or_sequence(&self, field: &DataField) -> bool {
        let sequence = self.options.sequence_field.as_ref();
        self.schema.primary_keys.contains(&field.name)
            || sequence.is_some_and(|names| names.names().contains(&field.name))
    }

    /// The option that gives a column its function, and the function.
    fn function_of(&self, field: &DataField) -> Option<(String, AggregateFunction)> {
        let own = self
            .options
            .column_option(&field.name, "aggregate-function");
        let key = if own.is_some() {
            format!("fields.{}.aggregate-function", field.name)
        } else {
            "fields.default-aggregate-function".to_owned()
        };
        let function = AggregateFunction::parse(self.options.aggregate_function(&field.name)?)?;
        Some((key, function))
    }

    fn function_fits(
        &self,
        key: &str,
        function: AggregateFunction,
        field: &DataField,
    ) -> Result<()> {
        if !function.accepts(&field.data_type) {
            return Err(FormatError::option_conflict(
                key,
                format!(
                    "function {} takes {}, and column {:?} is {}",
                    function.name(),
                    function.expected_type(),
                    field.name,
                    field.data_type
                ),
                "choose another function, or give the column one of its own",
            ));
        }
        if function == AggregateFunction::NestedUpdate {
            self.nested_key(field)?;
        }
        Ok(())
    }

    /// `nested-key` names fields of the nested row.
    fn nested_key(&self, field: &DataField) -> Result<()> {
        let Some(names) = self.options.column_option(&field.name, "nested-key") else {
            return Ok(());
        };
        let TypeKind::Array(element) = &field.data_type.kind else {
            return Ok(());
        };
        let TypeKind::Row(row) = &element.kind else {
            return Ok(());
        };
        let names = NameList::split(names);
        match names
            .names()
            .iter()
            .find(|name| !row.fields.iter().any(|nested| nested.name == **name))
        {
            None => Ok(()),
            Some(name) => Err(FormatError::option_conflict(
                format!("fields.{}.nested-key", field.name),
                format!("the rows of column {:?} have no field {name:?}", field.name),
                "correct the name",
            )),
        }
    }
}
