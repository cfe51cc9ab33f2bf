//! Partial update and aggregation row by row, written from spec 02b §6.3 and §6.4 alone.
//!
//! Knows nothing of columns, ops or encodings. Bitmaps and sketches are not modelled: their bytes are opaque here.

use std::cmp::Ordering;

use tidewater_format::{NameList, TableSchema};
use tidewater_types::{DataType, Datum, RowKind};

use super::aggregate::{ModelFault, ModelFunction};
use super::value::ModelValue;
use super::{ModelRules, compare_nulls_first};

/// One version of a key with all its columns.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldRow {
    /// `_VALUE_KIND`.
    pub kind: RowKind,
    /// `_SEQUENCE_NUMBER`.
    pub sequence: i64,
    /// The columns of the table.
    pub values: Vec<ModelValue>,
}

/// The merge function of a table that folds.
#[derive(Debug, Clone)]
pub struct FoldModel {
    partial: bool,
    types: Vec<DataType>,
    functions: Vec<Option<ModelFunction>>,
    /// By column: its group.
    group_of: Vec<Option<usize>>,
    groups: Vec<ModelGroup>,
    ignore_delete: bool,
    remove_on_delete: bool,
    /// `sequence.field`.
    sequence_fields: Vec<usize>,
    rules: ModelRules,
}

#[derive(Debug, Clone)]
struct ModelGroup {
    sequence: Vec<usize>,
    removes: bool,
}

/// A row in the making.
struct State {
    row: Vec<ModelValue>,
    /// By column: whether a first_value function has met its first value.
    met: Vec<bool>,
    /// By column: the sequence columns of the version that gave a first_non_null_value.
    origin: Vec<Option<Vec<ModelValue>>>,
}

impl FoldModel {
    /// The model of a table.
    ///
    /// # Panics
    /// For options that make no sense: the model is for tests.
    #[expect(clippy::panic, reason = "only for tests")]
    pub fn new(schema: &TableSchema) -> Self {
        let option = |key: &str| schema.options.get(key).map(String::as_str);
        let flag = |key: &str| option(key) == Some("true");
        let names: Vec<&str> = schema
            .fields
            .iter()
            .map(|field| field.name.as_str())
            .collect();
        let position = |name: &str| {
            let at = names.iter().position(|known| *known == name);
            at.unwrap_or_else(|| panic!("no column {name}"))
        };
        let columns = |text: &str| -> Vec<usize> {
            let list = NameList::split(text);
            list.names().iter().map(|name| position(name)).collect()
        };
        let partial = match option("merge-engine") {
            Some("partial-update") => true,
            Some("aggregation") => false,
            other => panic!("merge engine {other:?} does not fold"),
        };
        let removing =
            columns(option("partial-update.remove-record-on-sequence-group").unwrap_or(""));
        let mut groups = Vec::new();
        let mut group_of = vec![None; names.len()];
        for (key, members) in schema.options.iter().filter(|_| partial) {
            let Some(sequence) = key
                .strip_prefix("fields.")
                .and_then(|rest| rest.strip_suffix(".sequence-group"))
            else {
                continue;
            };
            let sequence = columns(sequence);
            for column in sequence.iter().chain(&columns(members)) {
                if let Some(place) = group_of.get_mut(*column) {
                    *place = Some(groups.len());
                }
            }
            groups.push(ModelGroup {
                removes: sequence.iter().any(|column| removing.contains(column)),
                sequence,
            });
        }
        let sequence_fields = columns(option("sequence.field").unwrap_or(""));
        let functions = schema.fields.iter().enumerate().map(|(at, field)| {
            let leads = groups.iter().any(|group| group.sequence.contains(&at));
            let by_option = option(&format!("fields.{}.aggregate-function", field.name))
                .or_else(|| option("fields.default-aggregate-function"));
            let name = match partial {
                true if leads => None,
                _ if schema.primary_keys.contains(&field.name) => Some("primary-key"),
                true => by_option,
                false if sequence_fields.contains(&at) => Some("last_value"),
                false => by_option.or(Some("last_non_null_value")),
            };
            name.map(|name| ModelFunction::new(name, field, &schema.options))
        });
        Self {
            partial,
            functions: functions.collect(),
            types: schema
                .fields
                .iter()
                .map(|field| field.data_type.clone())
                .collect(),
            group_of,
            groups,
            ignore_delete: flag("ignore-delete"),
            remove_on_delete: if partial {
                flag("partial-update.remove-record-on-delete")
            } else {
                flag("aggregation.remove-record-on-delete")
            },
            sequence_fields,
            rules: ModelRules {
                ignore_delete: false,
                descending: option("sequence.field.sort-order") == Some("descending"),
            },
        }
    }

    /// Orders versions of one key, older first (spec 02b §4.2).
    pub fn compare_age(&self, left: &FoldRow, right: &FoldRow) -> Ordering {
        for column in &self.sequence_fields {
            let datum = |row: &FoldRow| match row.values.get(*column) {
                Some(ModelValue::Atom(datum)) => datum.clone(),
                _ => Datum::Null,
            };
            let (left, right) = (datum(left), datum(right));
            let order = compare_nulls_first(&left, &right);
            let both = !left.is_null() && !right.is_null();
            let order = if self.rules.descending && both {
                order.reverse()
            } else {
                order
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        let retracts = |row: &FoldRow| row.kind.is_retract();
        left.sequence
            .cmp(&right.sequence)
            .then(retracts(right).cmp(&retracts(left)))
    }

    /// The result of versions, oldest first. One version is its own result unless `always_call`.
    ///
    /// # Errors
    /// What the merge function refuses.
    pub fn fold(&self, versions: &[FoldRow], always_call: bool) -> Result<FoldRow, ModelFault> {
        match versions {
            [only] if !always_call => Ok(only.clone()),
            _ if self.partial => self.partial_update(versions),
            _ => self.aggregate(versions),
        }
    }

    fn fresh(&self) -> State {
        State {
            row: vec![ModelValue::Null; self.types.len()],
            met: vec![false; self.types.len()],
            origin: vec![None; self.types.len()],
        }
    }

    /// NOT NULL columns from the record, the others null.
    fn reset(&self, record: &FoldRow) -> State {
        let mut state = self.fresh();
        for (at, data_type) in self.types.iter().enumerate() {
            if !data_type.nullable {
                state.row[at] = record.values[at].clone();
                state.met[at] = true;
                state.origin[at] = self.group_of[at].map(|group| self.tuple(group, &record.values));
            }
        }
        state
    }

    fn aggregate(&self, versions: &[FoldRow]) -> Result<FoldRow, ModelFault> {
        let mut state = self.fresh();
        let mut deleted = false;
        let mut sequence = 0;
        for record in versions {
            sequence = record.sequence;
            deleted = self.remove_on_delete && record.kind == RowKind::Delete;
            if deleted {
                state = self.reset(record);
                continue;
            }
            for at in 0..self.types.len() {
                self.apply(&mut state, at, record, true)?;
            }
        }
        self.result(state, deleted, sequence)
    }

    /// Feeds a value to the column's function.
    fn apply(
        &self,
        state: &mut State,
        at: usize,
        record: &FoldRow,
        newer: bool,
    ) -> Result<(), ModelFault> {
        let Some(function) = &self.functions[at] else {
            return Ok(());
        };
        let value = record.values[at].clone();
        let acc = std::mem::replace(&mut state.row[at], ModelValue::Null);
        let retract = record.kind.is_retract();
        let origin = self.group_of[at].map(|group| self.tuple(group, &record.values));
        state.row[at] = match function.name.as_str() {
            "first_value" if !retract => {
                let keep = newer && state.met[at];
                state.met[at] = true;
                if keep { acc } else { value }
            }
            "first_non_null_value" | "first_not_null_value" if !retract => {
                let earlier = match (&state.origin[at], &origin) {
                    (Some(first), Some(this)) => self.compare_tuples(this, first).is_lt(),
                    _ => false,
                };
                if !value.is_null() && (acc.is_null() || earlier) {
                    state.origin[at] = origin;
                    value
                } else {
                    acc
                }
            }
            _ if retract => function.retract(acc, value)?,
            "collect" => function.agg(acc, value)?,
            _ if newer => function.agg(acc, value)?,
            _ => function.agg(value, acc)?,
        };
        Ok(())
    }

    fn partial_update(&self, versions: &[FoldRow]) -> Result<FoldRow, ModelFault> {
        let mut state = self.fresh();
        let mut any_add = false;
        let mut deleted = false;
        let mut sequence = versions.last().map_or(0, |last| last.sequence);
        for (at, record) in versions.iter().enumerate() {
            deleted = false;
            if record.kind.is_retract() {
                if at == 0 {
                    state = self.reset(record);
                }
                if self.ignore_delete {
                    continue;
                }
                sequence = record.sequence;
                if !self.groups.is_empty() {
                    deleted = self.retract_groups(&mut state, record)?;
                } else if self.remove_on_delete {
                    if record.kind == RowKind::Delete {
                        state = self.reset(record);
                        deleted = true;
                    }
                } else {
                    return Err(ModelFault::Refused);
                }
                continue;
            }
            sequence = record.sequence;
            any_add = true;
            self.add(&mut state, record)?;
        }
        self.result(state, deleted || !any_add, sequence)
    }

    fn add(&self, state: &mut State, record: &FoldRow) -> Result<(), ModelFault> {
        // Whether a group's columns are newer is settled before any of them moves.
        let newer: Vec<Option<bool>> = (0..self.groups.len())
            .map(|group| self.newer(group, record, state))
            .collect();
        for at in 0..self.types.len() {
            let value = &record.values[at];
            match self.group_of[at] {
                None if value.is_null() => {
                    if self.groups.is_empty() && !self.types[at].nullable {
                        return Err(ModelFault::Null);
                    }
                }
                None => state.row[at] = value.clone(),
                Some(group) => {
                    let Some(newer) = newer[group] else { continue };
                    if self.functions[at].is_some() {
                        self.apply(state, at, record, newer)?;
                    } else if newer {
                        state.row[at] = value.clone();
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a record is newer than the row in a group; `None` if it does not touch the group.
    fn newer(&self, group: usize, record: &FoldRow, state: &State) -> Option<bool> {
        let tuple = self.tuple(group, &record.values);
        if tuple.iter().all(ModelValue::is_null) {
            return None;
        }
        Some(
            self.compare_tuples(&tuple, &self.tuple(group, &state.row))
                .is_ge(),
        )
    }

    fn tuple(&self, group: usize, row: &[ModelValue]) -> Vec<ModelValue> {
        let columns = self.groups[group].sequence.iter();
        columns.map(|at| row[*at].clone()).collect()
    }

    fn compare_tuples(&self, left: &[ModelValue], right: &[ModelValue]) -> Ordering {
        let datum = |value: &ModelValue| match value {
            ModelValue::Atom(datum) => datum.clone(),
            _ => Datum::Null,
        };
        let orders = left
            .iter()
            .zip(right)
            .map(|(left, right)| compare_nulls_first(&datum(left), &datum(right)));
        orders.fold(Ordering::Equal, Ordering::then)
    }

    /// Answers whether the record removed the row.
    fn retract_groups(&self, state: &mut State, record: &FoldRow) -> Result<bool, ModelFault> {
        let newer: Vec<Option<bool>> = (0..self.groups.len())
            .map(|group| self.newer(group, record, state))
            .collect();
        let removed = (0..self.groups.len())
            .any(|group| self.groups[group].removes && newer[group] == Some(true));
        if removed && record.kind == RowKind::Delete {
            *state = self.reset(record);
            return Ok(true);
        }
        for at in 0..self.types.len() {
            let Some(group) = self.group_of[at] else {
                continue;
            };
            let Some(newer) = newer[group] else { continue };
            if self.groups[group].sequence.contains(&at) {
                if newer {
                    state.row[at] = record.values[at].clone();
                }
            } else if self.functions[at].is_some() {
                self.apply(state, at, record, newer)?;
            } else if newer {
                state.row[at] = ModelValue::Null;
            }
        }
        Ok(false)
    }

    fn result(&self, state: State, deleted: bool, sequence: i64) -> Result<FoldRow, ModelFault> {
        let misses =
            |(data_type, value): (&DataType, &ModelValue)| !data_type.nullable && value.is_null();
        if self.types.iter().zip(&state.row).any(misses) {
            return Err(ModelFault::Null);
        }
        Ok(FoldRow {
            kind: if deleted {
                RowKind::Delete
            } else {
                RowKind::Insert
            },
            sequence,
            values: state.row,
        })
    }
}
