//! One column of all contested keys at once: its aggregate function over the versions of each.
//!
//! ```text
//!  rows      k1 k1 k1 | k2 | k3 k3        contested: k1 and k3, each a range of rows, oldest first
//!  ops       A  R  A  |    | A  A         what each row does to this set of columns (see fold/ops.rs)
//!  picks     row, or none, per key        select.rs: the result is one of the values, or null
//!  values    an array, one per key        the others: the result is a new value
//! ```
//!
//! Functions see one column and nothing of keys, sequence numbers or row kinds. A fault names the row; the caller
//! knows column and key. Source: spec 02b §7, Paimon `mergetree/compact/aggregate/Field*Agg.java`.

mod arithmetic;
mod bitmap;
mod boolean;
mod collect;
mod decimal;
mod elements;
mod extreme;
mod list_agg;
mod merge_map;
mod nested_update;
mod select;
mod sketch;

use std::ops::Range;

use arrow_array::ArrayRef;
use tidewater_format::AggregateFunction;
use tidewater_types::Keys;

pub(crate) use arithmetic::Overflow;
pub(crate) use collect::CollectOptions;
pub(crate) use list_agg::ListAggOptions;
pub(crate) use nested_update::NestedOptions;

/// What a version does to a set of columns that stand or fall together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// Nothing.
    Skip,
    /// Forgets what was: NOT NULL columns take the version's value, the others become null.
    Start,
    /// [`Op::Start`] and then [`Op::Retract`] of the same version.
    StartRetract,
    /// The version is newer than what was.
    Add,
    /// The version is older than what was, by the sequence columns of its group.
    AddOlder,
    /// Takes the version back; it is newer than what was.
    Retract,
    /// Takes back a version that is older than what was.
    RetractOlder,
}

/// What a function is asked to do with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The value becomes the row's.
    Set,
    /// The value becomes null.
    Clear,
    Add,
    AddOlder,
    Retract,
    RetractOlder,
}

/// The keys with several versions, and what the versions do to one set of columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contested<'a> {
    /// Rows of each key, oldest first.
    pub(crate) keys: &'a [Range<usize>],
    /// By row; rows outside `keys` mean nothing.
    pub(crate) ops: &'a [Op],
    /// Sequence columns of the set, if it has some.
    pub(crate) sequence: Option<&'a Keys>,
}

impl Contested<'_> {
    /// The steps of one key for a column.
    #[inline]
    pub(crate) fn steps(
        &self,
        key: &Range<usize>,
        rules: ColumnRules,
        mut step: impl FnMut(usize, Step) -> Result<()>,
    ) -> Result<()> {
        let start = if rules.not_null {
            Step::Set
        } else {
            Step::Clear
        };
        let ops = self.ops.get(key.clone()).unwrap_or_default();
        for (row, op) in key.clone().zip(ops) {
            let retract = match op {
                Op::Skip => continue,
                Op::Start => {
                    step(row, start)?;
                    continue;
                }
                Op::Add => {
                    step(row, Step::Add)?;
                    continue;
                }
                Op::AddOlder => {
                    step(row, Step::AddOlder)?;
                    continue;
                }
                Op::StartRetract => {
                    step(row, start)?;
                    Step::Retract
                }
                Op::Retract => Step::Retract,
                Op::RetractOlder => Step::RetractOlder,
            };
            if !rules.ignore_retract {
                step(row, retract)?;
            }
        }
        Ok(())
    }

    /// Whether a row takes something back.
    pub(crate) fn any_retract(&self, rules: ColumnRules) -> bool {
        let retracts = |op: &Op| matches!(op, Op::StartRetract | Op::Retract | Op::RetractOlder);
        let in_key = |key: &Range<usize>| {
            let ops = self.ops.get(key.clone()).unwrap_or_default();
            ops.iter().any(retracts)
        };
        !rules.ignore_retract && self.keys.iter().any(in_key)
    }
}

/// What holds for a column whatever its function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnRules {
    /// The column is NOT NULL.
    pub(crate) not_null: bool,
    /// `fields.<column>.ignore-retract`.
    pub(crate) ignore_retract: bool,
}

/// A function with its options, as made once per table and column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Function {
    /// A column of the primary key.
    Key,
    /// A sequence column of a group: follows what is newer.
    Sequence,
    /// Partial update, in a group without function: follows what is newer, null included; a retraction makes it null.
    Follow,
    /// Partial update, outside groups: what is not null overwrites, retractions do nothing.
    Overwrite {
        /// Whether a null for a NOT NULL column is an error rather than no change.
        refuse_null: bool,
    },
    /// `primary-key` asked for by name.
    Given,
    LastValue,
    LastNonNullValue,
    FirstValue,
    FirstNonNullValue,
    Max,
    Min,
    Sum(Overflow),
    Product(Overflow),
    BoolAnd,
    BoolOr,
    ListAgg(ListAggOptions),
    Collect(CollectOptions),
    MergeMap,
    NestedUpdate(NestedOptions),
    Rbm32,
    Rbm64,
    HllSketch,
    ThetaSketch,
}

impl Function {
    /// The option value that names it.
    pub(crate) fn name(&self) -> &'static str {
        let function = match self {
            Self::Key | Self::Given => AggregateFunction::PrimaryKey,
            Self::Sequence | Self::Follow | Self::LastValue => AggregateFunction::LastValue,
            Self::Overwrite { .. } | Self::LastNonNullValue => AggregateFunction::LastNonNullValue,
            Self::FirstValue => AggregateFunction::FirstValue,
            Self::FirstNonNullValue => AggregateFunction::FirstNonNullValue,
            Self::Max => AggregateFunction::Max,
            Self::Min => AggregateFunction::Min,
            Self::Sum(_) => AggregateFunction::Sum,
            Self::Product(_) => AggregateFunction::Product,
            Self::BoolAnd => AggregateFunction::BoolAnd,
            Self::BoolOr => AggregateFunction::BoolOr,
            Self::ListAgg(_) => AggregateFunction::ListAgg,
            Self::Collect(_) => AggregateFunction::Collect,
            Self::MergeMap => AggregateFunction::MergeMap,
            Self::NestedUpdate(_) => AggregateFunction::NestedUpdate,
            Self::Rbm32 => AggregateFunction::Rbm32,
            Self::Rbm64 => AggregateFunction::Rbm64,
            Self::HllSketch => AggregateFunction::HllSketch,
            Self::ThetaSketch => AggregateFunction::ThetaSketch,
        };
        function.name()
    }

    /// Folds a column over the contested keys.
    pub(crate) fn fold(
        &self,
        column: &ArrayRef,
        contested: Contested<'_>,
        rules: ColumnRules,
    ) -> Result<Folding> {
        match self {
            Self::Key => Ok(select::key(contested)),
            Self::Sequence => select::sequence(contested, rules),
            Self::Follow => select::follow(contested, rules),
            Self::Overwrite { refuse_null } => {
                select::overwrite(column, contested, rules, *refuse_null)
            }
            Self::Given => select::given(contested, rules),
            Self::LastValue => select::last_value(contested, rules),
            Self::LastNonNullValue => select::last_non_null_value(column, contested, rules),
            Self::FirstValue => select::first_value(contested, rules),
            Self::FirstNonNullValue => select::first_non_null_value(column, contested, rules),
            Self::Max => extreme::fold(column, contested, rules, extreme::Extreme::Max),
            Self::Min => extreme::fold(column, contested, rules, extreme::Extreme::Min),
            Self::Sum(overflow) => arithmetic::sum(column, contested, rules, *overflow),
            Self::Product(overflow) => arithmetic::product(column, contested, rules, *overflow),
            Self::BoolAnd => boolean::fold(column, contested, rules, |a, b| a & b),
            Self::BoolOr => boolean::fold(column, contested, rules, |a, b| a | b),
            Self::ListAgg(options) => list_agg::fold(column, contested, rules, options),
            Self::Collect(options) => collect::fold(column, contested, rules, *options),
            Self::MergeMap => merge_map::fold(column, contested, rules),
            Self::NestedUpdate(options) => nested_update::fold(column, contested, rules, options),
            Self::Rbm32 => bitmap::fold::<crate::roaring::Bitmap32>(column, contested, rules),
            Self::Rbm64 => bitmap::fold::<crate::roaring::Bitmap64>(column, contested, rules),
            Self::HllSketch => sketch::fold::<sketch::Hll>(column, contested, rules),
            Self::ThetaSketch => sketch::fold::<sketch::Theta>(column, contested, rules),
        }
    }
}

/// The results of one column, one per contested key.
#[derive(Debug)]
pub(crate) enum Folding {
    /// The row whose value it is, [`NO_ROW`] for null.
    Picks(Vec<u32>),
    /// New values.
    Values {
        values: ArrayRef,
        /// Keys whose total wrapped, where that is allowed.
        wraps: u64,
    },
}

/// A pick of nothing.
pub(crate) const NO_ROW: u32 = u32::MAX;

impl Folding {
    fn values(values: impl arrow_array::Array + 'static) -> Self {
        Self::Values {
            values: std::sync::Arc::new(values),
            wraps: 0,
        }
    }
}

/// What is wrong with the value of a row.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The function takes nothing back.
    Retract,
    /// The total leaves the type's range.
    Overflow,
    /// A factor of zero is taken back.
    DivisionByZero,
    /// The quotient has endless digits.
    EndlessQuotient,
    /// A null in a NOT NULL column.
    Null,
    /// The result is longer than a column's values can be.
    TooLong,
    /// The bytes are not what they should be.
    Bytes { what: &'static str, problem: String },
}

/// Why a column cannot be folded.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The value of this row.
    At(usize, Fault),
    /// The array has another type than the function was made for.
    Type,
    /// Arrow refused to build the result.
    Arrow(arrow_schema::ArrowError),
}

impl From<arrow_schema::ArrowError> for Failure {
    fn from(error: arrow_schema::ArrowError) -> Self {
        Self::Arrow(error)
    }
}

type Result<T, E = Failure> = std::result::Result<T, E>;

/// The end of a function that takes nothing back.
fn no_retract<T>(row: usize) -> Result<T> {
    Err(Failure::At(row, Fault::Retract))
}
