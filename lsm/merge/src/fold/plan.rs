//! From schema and options to the function and the set of each column.

use tidewater_format::{
    AggregateFunction, MergeEngine as EngineOption, NameList, TableOptions, TableSchema,
};
use tidewater_types::{DataField, DataType, KeyEncoder, SequenceOrder, TypeKind};

use super::ops::{OnRetract, Rules};
use super::{FoldEngine, PLAIN_SET, SequenceGroup};
use crate::aggregate::{
    CollectOptions, ColumnRules, Function, ListAggOptions, NestedOptions, Overflow,
};
use crate::engine::MergeEngine;
use crate::error::{MergeError, Result};

/// How one column is folded.
#[derive(Debug)]
pub(super) struct ColumnPlan {
    pub(super) name: String,
    pub(super) data_type: DataType,
    pub(super) is_key: bool,
    pub(super) rules: ColumnRules,
    pub(super) function: Function,
    /// The set whose ops it follows: [`PLAIN_SET`], or 1 + the number of its group.
    pub(super) set: usize,
}

/// The columns of a sequence group by name.
struct NamedGroup {
    sequence: NameList,
    members: NameList,
    removes: bool,
}

impl NamedGroup {
    fn leads(&self, column: &str) -> bool {
        self.sequence.names().iter().any(|name| name == column)
    }

    fn holds(&self, column: &str) -> bool {
        self.leads(column) || self.members.names().iter().any(|name| name == column)
    }
}

pub(super) fn build(schema: &TableSchema, columns: &[usize]) -> Result<FoldEngine> {
    let options = schema.options().map_err(|error| MergeError::BadOption {
        key: "of the table".to_owned(),
        problem: error.to_string(),
    })?;
    let planner = Planner {
        schema,
        options: &options,
        engine: MergeEngine::from_table(&options)?,
        groups: named_groups(&options),
    };
    planner.engine(columns)
}

fn named_groups(options: &TableOptions) -> Vec<NamedGroup> {
    if options.merge_engine != EngineOption::PartialUpdate {
        return Vec::new();
    }
    let removing = options
        .partial_update_remove_record_on_sequence_group
        .as_ref();
    let removing: &[String] = removing.map_or(&[], NameList::names);
    let groups = options.sequence_groups().into_iter();
    groups
        .map(|(sequence, members)| NamedGroup {
            removes: sequence.names().iter().any(|name| removing.contains(name)),
            sequence,
            members,
        })
        .collect()
}

struct Planner<'a> {
    schema: &'a TableSchema,
    options: &'a TableOptions,
    engine: MergeEngine,
    groups: Vec<NamedGroup>,
}

impl Planner<'_> {
    fn engine(&self, columns: &[usize]) -> Result<FoldEngine> {
        let rules = self.rules()?;
        let positions = self.with_sequence_columns(columns)?;
        let fields: Vec<&DataField> = positions
            .iter()
            .filter_map(|at| self.schema.fields.get(*at))
            .collect();
        let plans: Result<Vec<ColumnPlan>> = fields.iter().map(|field| self.plan(field)).collect();
        let groups: Result<Vec<SequenceGroup>> = self
            .groups
            .iter()
            .map(|group| sequence_group(group, &fields))
            .collect();
        Ok(FoldEngine {
            engine: self.engine,
            columns: plans?,
            positions,
            groups: groups?,
            rules,
        })
    }

    fn rules(&self) -> Result<Rules> {
        let options = self.options;
        let on_retract = match self.engine {
            MergeEngine::Aggregation => OnRetract::Fold {
                remove_on_delete: options.aggregation_remove_record_on_delete,
            },
            MergeEngine::PartialUpdate if options.ignore_delete => OnRetract::Ignore,
            MergeEngine::PartialUpdate if !self.groups.is_empty() => OnRetract::Groups,
            MergeEngine::PartialUpdate if options.partial_update_remove_record_on_delete => {
                OnRetract::Remove
            }
            MergeEngine::PartialUpdate => OnRetract::Refuse,
            picks => {
                return Err(MergeError::Unsupported {
                    what: format!("folding with merge-engine={}", picks.name()),
                });
            }
        };
        Ok(Rules { on_retract })
    }

    /// The columns and the sequence columns that they need.
    fn with_sequence_columns(&self, columns: &[usize]) -> Result<Vec<usize>> {
        let mut positions = columns.to_vec();
        let mut asked = Vec::with_capacity(columns.len());
        for at in columns {
            let field = self.schema.fields.get(*at);
            asked.push(field.ok_or_else(|| MergeError::BadOption {
                key: "columns".to_owned(),
                problem: format!("there is no column {at}"),
            })?);
        }
        for group in &self.groups {
            let needed = group.removes || asked.iter().any(|field| group.holds(&field.name));
            if !needed {
                continue;
            }
            for (at, field) in self.schema.fields.iter().enumerate() {
                if group.leads(&field.name) && !positions.contains(&at) {
                    positions.push(at);
                }
            }
        }
        Ok(positions)
    }

    fn plan(&self, field: &DataField) -> Result<ColumnPlan> {
        let name = field.name.as_str();
        let is_key = self.schema.primary_keys.contains(&field.name);
        let group = self.groups.iter().position(|group| group.holds(name));
        let leads = self.groups.iter().any(|group| group.leads(name));
        let function = if is_key {
            Function::Key
        } else if leads {
            Function::Sequence
        } else {
            self.function(field, group.is_some())?
        };
        Ok(ColumnPlan {
            name: field.name.clone(),
            data_type: field.data_type.clone(),
            is_key,
            rules: ColumnRules {
                not_null: !field.data_type.nullable,
                ignore_retract: self.options.column_flag(name, "ignore-retract", false),
            },
            function,
            set: group.map_or(PLAIN_SET, |group| group + 1),
        })
    }

    /// The function of a column that is neither key nor leads a group.
    fn function(&self, field: &DataField, grouped: bool) -> Result<Function> {
        let name = field.name.as_str();
        let by_option = match self.options.aggregate_function(name) {
            None => None,
            Some(text) => {
                Some(
                    AggregateFunction::parse(text).ok_or_else(|| MergeError::Unsupported {
                        what: format!("aggregate function {text} of column {name:?}"),
                    })?,
                )
            }
        };
        if self.engine == MergeEngine::PartialUpdate {
            return match by_option {
                Some(function) if grouped => self.aggregate(function, field),
                _ if grouped => Ok(Function::Follow),
                None | Some(AggregateFunction::LastNonNullValue) => Ok(Function::Overwrite {
                    refuse_null: self.groups.is_empty(),
                }),
                // A sequence field orders the versions and is folded like any other column.
                Some(_) if self.is_sequence_field(name) => Ok(Function::Overwrite {
                    refuse_null: self.groups.is_empty(),
                }),
                Some(function) => Err(MergeError::BadOption {
                    key: format!("fields.{name}.aggregate-function"),
                    problem: format!(
                        "column {name:?} with function {} is in no sequence group",
                        function.name()
                    ),
                }),
            };
        }
        if self.is_sequence_field(name) {
            return Ok(Function::LastValue);
        }
        self.aggregate(
            by_option.unwrap_or(AggregateFunction::LastNonNullValue),
            field,
        )
    }

    fn is_sequence_field(&self, column: &str) -> bool {
        let sequence = self.options.sequence_field.as_ref();
        sequence.is_some_and(|names| names.names().iter().any(|name| name == column))
    }

    fn aggregate(&self, function: AggregateFunction, field: &DataField) -> Result<Function> {
        if !function.accepts(&field.data_type) {
            return Err(MergeError::WrongType {
                column: field.name.clone(),
                function: function.name(),
                expected: function.expected_type(),
                found: field.data_type.to_string(),
            });
        }
        let name = field.name.as_str();
        let flag = |suffix| self.options.column_flag(name, suffix, false);
        let overflow = |suffix| {
            if self.options.column_flag(name, suffix, true) {
                Overflow::Fail
            } else {
                Overflow::Wrap
            }
        };
        Ok(match function {
            AggregateFunction::PrimaryKey => Function::Given,
            AggregateFunction::Sum => Function::Sum(overflow("sum.fail-on-overflow")),
            AggregateFunction::Product => Function::Product(overflow("product.fail-on-overflow")),
            AggregateFunction::Max => Function::Max,
            AggregateFunction::Min => Function::Min,
            AggregateFunction::LastValue => Function::LastValue,
            AggregateFunction::LastNonNullValue => Function::LastNonNullValue,
            AggregateFunction::FirstValue => Function::FirstValue,
            AggregateFunction::FirstNonNullValue => Function::FirstNonNullValue,
            AggregateFunction::ListAgg => Function::ListAgg(ListAggOptions {
                delimiter: self
                    .options
                    .column_option(name, "list-agg-delimiter")
                    .unwrap_or(",")
                    .to_owned(),
                distinct: flag("listagg.distinct"),
            }),
            AggregateFunction::BoolAnd => Function::BoolAnd,
            AggregateFunction::BoolOr => Function::BoolOr,
            AggregateFunction::Collect => Function::Collect(CollectOptions {
                distinct: flag("distinct"),
            }),
            AggregateFunction::MergeMap => Function::MergeMap,
            AggregateFunction::NestedUpdate => Function::NestedUpdate(self.nested(field)?),
            AggregateFunction::Rbm32 => Function::Rbm32,
            AggregateFunction::Rbm64 => Function::Rbm64,
            AggregateFunction::HllSketch => Function::HllSketch,
            AggregateFunction::ThetaSketch => Function::ThetaSketch,
        })
    }

    fn nested(&self, field: &DataField) -> Result<NestedOptions> {
        let option = |suffix| self.options.column_option(&field.name, suffix);
        for newer in ["nested-sequence-field", "nested-key-null-strategy"] {
            if option(newer).is_some() {
                return Err(MergeError::Unsupported {
                    what: format!("fields.{}.{newer}", field.name),
                });
            }
        }
        let bad = |suffix: &str, problem: String| MergeError::BadOption {
            key: format!("fields.{}.{suffix}", field.name),
            problem,
        };
        let mut key = Vec::new();
        for name in NameList::split(option("nested-key").unwrap_or_default()).names() {
            let at = nested_fields(&field.data_type)
                .iter()
                .position(|nested| nested.name == *name);
            key.push(at.ok_or_else(|| bad("nested-key", format!("there is no field {name:?}")))?);
        }
        let count_limit = match option("count-limit") {
            None => usize::MAX,
            Some(text) => {
                let limit: i32 = text
                    .trim()
                    .parse()
                    .map_err(|_| bad("count-limit", format!("{text:?} is no number")))?;
                usize::try_from(limit).unwrap_or_default()
            }
        };
        Ok(NestedOptions { key, count_limit })
    }
}

fn nested_fields(data_type: &DataType) -> &[DataField] {
    match &data_type.kind {
        TypeKind::Array(element) => match &element.kind {
            TypeKind::Row(row) => &row.fields,
            _ => &[],
        },
        _ => &[],
    }
}

/// The group over the columns that are read; a group none of whose columns are read has no sequence columns.
fn sequence_group(group: &NamedGroup, fields: &[&DataField]) -> Result<SequenceGroup> {
    let mut columns = Vec::new();
    let mut types = Vec::new();
    // The order of the option decides, not that of the table.
    for name in group.sequence.names() {
        if let Some(at) = fields.iter().position(|field| field.name == *name) {
            columns.push(at);
            types.extend(fields.get(at).map(|field| field.data_type.clone()));
        }
    }
    Ok(SequenceGroup {
        not_null: types.iter().map(|data_type| !data_type.nullable).collect(),
        encoder: KeyEncoder::for_sequence(&types, SequenceOrder::Ascending)?,
        columns,
        removes: group.removes,
    })
}
