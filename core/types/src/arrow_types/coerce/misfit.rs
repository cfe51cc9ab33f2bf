//! Where a value that does not fit was met, found out from the inside to the outside.

use arrow_schema::ArrowError;

use crate::data_type::DataType;
use crate::error::TypeError;

/// What does not fit, before it is known which column it is in.
pub(super) struct Misfit {
    /// Names of the parts inside the column, innermost first.
    path: Vec<String>,
    what: What,
}

enum What {
    Value {
        row: usize,
        value: String,
        data_type: String,
    },
    Null {
        row: usize,
    },
    Other(TypeError),
}

impl Misfit {
    pub(super) fn value(row: usize, value: impl Into<String>, data_type: &DataType) -> Self {
        Self {
            path: Vec::new(),
            what: What::Value {
                row,
                value: value.into(),
                data_type: data_type.kind.to_string(),
            },
        }
    }

    pub(super) fn null(row: usize) -> Self {
        Self {
            path: Vec::new(),
            what: What::Null { row },
        }
    }

    /// The same, seen from the array around it: `outer_row` tells its row for one inside.
    pub(super) fn inside(mut self, name: &str, outer_row: impl FnOnce(usize) -> usize) -> Self {
        self.path.push(name.to_owned());
        match &mut self.what {
            What::Value { row, .. } | What::Null { row } => *row = outer_row(*row),
            What::Other(_) => {}
        }
        self
    }

    pub(super) fn into_error(self, column: &str) -> TypeError {
        let mut name = column.to_owned();
        for part in self.path.iter().rev() {
            name.push('.');
            name.push_str(part);
        }
        match self.what {
            What::Value {
                row,
                value,
                data_type,
            } => TypeError::ColumnValue {
                column: name,
                row,
                value,
                data_type,
            },
            What::Null { row } => TypeError::ColumnNull { column: name, row },
            What::Other(error) => error.in_column(&name),
        }
    }
}

impl From<TypeError> for Misfit {
    fn from(error: TypeError) -> Self {
        Self {
            path: Vec::new(),
            what: What::Other(error),
        }
    }
}

impl From<ArrowError> for Misfit {
    fn from(error: ArrowError) -> Self {
        TypeError::from(error).into()
    }
}
