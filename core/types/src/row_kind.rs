//! What a row of a changelog says about its key: came, left, or one half of an update.

use crate::error::{Result, TypeError};

/// Kind of a change. The numbers are those of `_VALUE_KIND` in files and of the header byte of a BinaryRow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i8)]
pub enum RowKind {
    /// `+I`: a new row.
    Insert = 0,
    /// `-U`: the row before an update; a retraction.
    UpdateBefore = 1,
    /// `+U`: the row after an update.
    UpdateAfter = 2,
    /// `-D`: the row is gone; a retraction.
    Delete = 3,
}

impl RowKind {
    /// The kind with this number.
    ///
    /// # Errors
    /// [`TypeError::Corrupt`] for numbers other than 0..=3.
    pub fn from_i8(value: i8) -> Result<Self> {
        match value {
            0 => Ok(Self::Insert),
            1 => Ok(Self::UpdateBefore),
            2 => Ok(Self::UpdateAfter),
            3 => Ok(Self::Delete),
            other => Err(TypeError::corrupt(
                "row kind",
                format!("no kind has number {other}"),
            )),
        }
    }

    /// The number stored for this kind.
    pub fn as_i8(self) -> i8 {
        match self {
            Self::Insert => 0,
            Self::UpdateBefore => 1,
            Self::UpdateAfter => 2,
            Self::Delete => 3,
        }
    }

    /// The two-letter text: `+I`, `-U`, `+U` or `-D`.
    pub fn short(self) -> &'static str {
        match self {
            Self::Insert => "+I",
            Self::UpdateBefore => "-U",
            Self::UpdateAfter => "+U",
            Self::Delete => "-D",
        }
    }

    /// The kind with this two-letter text.
    ///
    /// # Errors
    /// [`TypeError::Invalid`] for any other text.
    pub fn from_short(text: &str) -> Result<Self> {
        match text {
            "+I" => Ok(Self::Insert),
            "-U" => Ok(Self::UpdateBefore),
            "+U" => Ok(Self::UpdateAfter),
            "-D" => Ok(Self::Delete),
            other => Err(TypeError::invalid(format!(
                "{other:?} is not a row kind (+I, -U, +U or -D)"
            ))),
        }
    }

    /// Whether the change takes a row away (`-U`, `-D`).
    pub fn is_retract(self) -> bool {
        matches!(self, Self::UpdateBefore | Self::Delete)
    }
}

impl std::fmt::Display for RowKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.short())
    }
}
