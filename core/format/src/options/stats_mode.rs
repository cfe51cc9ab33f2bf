//! How much is kept about the values of a column.

use std::fmt;

use super::value::OptionValue;

/// Which statistics of a column are collected (spec 01c §5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StatsMode {
    /// Nothing.
    None,
    /// Only the number of nulls.
    Counts,
    /// Nulls, and bounds cut to this many code points of text; other types exact.
    Truncate(usize),
    /// Nulls and exact bounds.
    Full,
}

impl StatsMode {
    /// Mode of key columns, of system columns, and of key columns in thin files.
    pub const KEY: Self = Self::Truncate(128);
}

impl fmt::Display for StatsMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Counts => f.write_str("counts"),
            Self::Truncate(length) => write!(f, "truncate({length})"),
            Self::Full => f.write_str("full"),
        }
    }
}

impl OptionValue for StatsMode {
    const TYPE: &'static str = "stats-mode";

    fn parse(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "none" => Some(Self::None),
            "counts" => Some(Self::Counts),
            "full" => Some(Self::Full),
            other => {
                let length = other.strip_prefix("truncate(")?.strip_suffix(')')?;
                let length: i32 = length.parse().ok()?;
                let length = usize::try_from(length).ok().filter(|length| *length > 0)?;
                Some(Self::Truncate(length))
            }
        }
    }

    fn text(&self) -> Option<String> {
        Some(self.to_string())
    }

    fn expected() -> String {
        "none, counts, truncate(n) or full".to_owned()
    }
}
