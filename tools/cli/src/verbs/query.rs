//! What `read`, `stream` and `plan` have in common: columns and a filter.

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{Int8Array, RecordBatch};
use clap::Args;
use tidewater_types::{Predicate, RowKind, RowType, TypeError};

use crate::args::{json_argument, projection, unknown_column};
use crate::error::Result;

/// Name of the column that holds each row's kind.
pub(crate) const KIND_COLUMN: &str = "_VALUE_KIND";

/// Which columns and which rows.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct QueryArgs {
    /// Columns to print, in this order [default: all]
    #[arg(long, value_name = "A,B")]
    pub(crate) project: Option<String>,
    /// Only rows for which this holds, as JSON: {"op":"=","field":"id","value":7}, {"op":"and","of":[...]}
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub(crate) filter: Option<String>,
    /// Only rows for which this holds, as text: "amount > 3 and city like 'D%'"
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    pub(crate) condition: Option<String>,
}

/// The columns and the filter, bound to a table's row type.
#[derive(Debug)]
pub(crate) struct Query {
    /// Names of the columns to print, each once.
    pub(crate) columns: Vec<String>,
    /// The type of what is printed.
    pub(crate) row_type: RowType,
    /// The filter, bound to the table's whole row type.
    pub(crate) filter: Option<Predicate>,
}

impl QueryArgs {
    /// Looks the names up in `row_type`.
    ///
    /// # Errors
    /// When a column does not exist or the filter is none.
    pub(crate) fn bind(&self, row_type: &RowType) -> Result<Query> {
        let mut columns: Vec<String> = match &self.project {
            Some(project) => projection(project),
            None => row_type.names().map(str::to_owned).collect(),
        };
        let mut indices = Vec::with_capacity(columns.len());
        let mut seen = std::collections::HashSet::new();
        columns.retain(|name| seen.insert(name.clone()));
        for name in &columns {
            indices.push(
                row_type
                    .index_of(name)
                    .ok_or_else(|| unknown_column(name))?,
            );
        }
        let filter = self
            .filter
            .as_deref()
            .map(|text| filter_of(text, row_type))
            .transpose()?;
        let condition = self
            .condition
            .as_deref()
            .map(|text| Predicate::parse_text(text, row_type))
            .transpose()?;
        let filter = match (filter, condition) {
            (Some(filter), Some(condition)) => Some(Predicate::and([filter, condition])),
            (filter, condition) => filter.or(condition),
        };
        Ok(Query {
            columns,
            row_type: row_type.project(&indices),
            filter,
        })
    }
}

/// The column of a batch that holds each row's kind.
pub(crate) struct KindColumn<'a>(&'a Int8Array);

impl<'a> KindColumn<'a> {
    /// Finds the column.
    ///
    /// # Errors
    /// When the batch has none, which a reader that was asked for kinds does not give.
    pub(crate) fn of(batch: &'a RecordBatch) -> Result<Self> {
        let column = batch
            .column_by_name(KIND_COLUMN)
            .and_then(|column| column.as_primitive_opt::<Int8Type>());
        Ok(Self(column.ok_or_else(|| {
            TypeError::internal("a batch without kinds")
        })?))
    }

    /// The kind of a row.
    ///
    /// # Errors
    /// When the number is no kind.
    pub(crate) fn kind(&self, row: usize) -> Result<RowKind> {
        let number = self.0.values().get(row).copied().unwrap_or(-1);
        Ok(RowKind::from_i8(number)?)
    }
}

fn filter_of(text: &str, row_type: &RowType) -> Result<Predicate> {
    Ok(Predicate::from_json(
        &json_argument("--filter", text)?,
        row_type,
    )?)
}

#[cfg(test)]
mod tests {
    use tidewater_types::DataType;

    use super::*;

    #[test]
    fn columns_come_in_the_order_asked_and_once() {
        let row_type = RowType::of([("a", DataType::int()), ("b", DataType::string())]);
        let query = QueryArgs {
            project: Some("b, a,b".into()),
            ..QueryArgs::default()
        }
        .bind(&row_type)
        .unwrap();
        assert_eq!(query.columns, ["b", "a"]);
        assert_eq!(query.row_type.names().collect::<Vec<_>>(), ["b", "a"]);
        assert!(
            QueryArgs {
                project: Some("c".into()),
                ..QueryArgs::default()
            }
            .bind(&row_type)
            .is_err()
        );
    }
}
