//! A table's options: text in the schema file, typed values here.
//!
//! ```text
//!  options of schema-N (text) --TableOptions::from_map--> one typed field per option, unknown ones kept as text
//!                     ^
//!                     +-- check_option (create, alter): only text that we and Java can read is stored
//! ```
//!
//! Options that contain a column's name (`fields.<column>.…`) are read by the methods in `columns`; defaults that depend
//! on other options or on the kind of table are the methods in `derived`.
//! Source: spec 02d and 03 §21, Paimon `CoreOptions.java`.

mod aggregate;
mod columns;
mod derived;
mod duration;
mod enums;
mod list;
mod memory;
mod scan_mode;
mod spec;
mod stats_mode;
mod value;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

pub use aggregate::AggregateFunction;
pub use columns::{PATTERNS, PatternDoc, StatsTarget};
pub use duration::{format_duration, parse_duration};
pub use enums::*;
pub use memory::MemorySize;
pub use spec::OptionDoc;
pub use stats_mode::StatsMode;
pub use value::{NameList, OptionValue, PerLevel};

pub(crate) use columns::{
    COLUMN_NAME_OPTIONS, FILE_INDEX_TYPES, index_column, split_fields_key, split_index_columns_key,
};
pub(crate) use duration::parse_iso_duration;
pub(crate) use scan_mode::validate_startup;

use crate::error::Result;
use list::{
    commit_options, compaction_options, file_options, merge_options, other_system_options,
    partition_options, scan_options, table_shape_options, writer_options,
};
use spec::{OptionSpec, check_text, read_option};

/// The default of an option: what its declaration says, or "not set".
macro_rules! default_or_unset {
    ($type:ty) => {
        Option::None
    };
    ($type:ty, $default:expr) => {
        $default
    };
}

/// The fixed part of a declaration, promoted to a static.
macro_rules! option_spec {
    ($key:literal $(, $flag:ident($($arg:expr),*))*) => {{
        static SPEC: OptionSpec = OptionSpec::new($key)$(.$flag($($arg),*))*;
        &SPEC
    }};
}

/// Makes the struct, its parser and the option list from the declarations.
macro_rules! table_options {
    ($(
        $(#[doc = $doc:literal])+
        $field:ident: $type:ty = $key:literal $(, default $default:expr)? $(, [$($flag:ident($($arg:expr),*)),*])?;
    )*) => {
        /// Every option of a table as a typed value: what is set, or the default.
        ///
        /// Field names are the keys with `_` for `.` and `-`. Options that are not set and have no default are `None`;
        /// see the methods for defaults that depend on the table.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub struct TableOptions {
            $($(#[doc = $doc])+ pub $field: $type,)*
            values: BTreeMap<String, String>,
        }

        impl TableOptions {
            /// Reads the options. Keys that are not in the list are kept as they are, see [`TableOptions::values`].
            ///
            /// # Errors
            /// [`FormatError::InvalidOption`](crate::FormatError::InvalidOption) for the first value that is none of its
            /// option's type; values of options that concern only other programs are not judged.
            pub fn from_map(values: &BTreeMap<String, String>) -> Result<Self> {
                Ok(Self {
                    $($field: read_option::<$type>(
                        values,
                        option_spec!($key $($(, $flag($($arg),*))*)?),
                        default_or_unset!($type $(, $default)?),
                    )?,)*
                    values: values.clone(),
                })
            }
        }

        fn declare_options() -> Vec<OptionDoc> {
            vec![$({
                let spec = option_spec!($key $($(, $flag($($arg),*))*)?);
                let default: $type = default_or_unset!($type $(, $default)?);
                OptionDoc {
                    key: spec.key,
                    value_type: <$type as OptionValue>::TYPE,
                    default: default.text(),
                    meaning: concat!($($doc),+).trim_ascii(),
                    immutable: spec.immutable,
                    aliases: spec.aliases,
                    newer: spec.newer,
                    foreign: spec.foreign,
                    check: check_text::<$type>,
                    spec,
                }
            },)*]
        }
    };
}

/// Takes the entries of one group after the other, then declares them all.
macro_rules! join_groups {
    ([[$($entries:tt)*] []] { $($last:tt)* }) => {
        table_options! { $($entries)* $($last)* }
    };
    ([[$($entries:tt)*] [$next:ident $($rest:ident)*]] { $($group:tt)* }) => {
        $next! { join_groups [[$($entries)* $($group)*] [$($rest)*]] }
    };
}

table_shape_options! {
    join_groups [[] [
        file_options writer_options compaction_options merge_options commit_options scan_options
        partition_options other_system_options
    ]]
}

static ALL: LazyLock<Vec<OptionDoc>> = LazyLock::new(declare_options);

/// Keys and former keys to their place in the list.
static BY_KEY: LazyLock<BTreeMap<&'static str, usize>> = LazyLock::new(|| {
    let keys = ALL.iter().enumerate().flat_map(|(index, doc)| {
        std::iter::once(doc.key)
            .chain(doc.aliases.iter().copied())
            .map(move |key| (key, index))
    });
    keys.collect()
});

impl TableOptions {
    /// The option list, in groups. Options with a column's name in their key are in [`PATTERNS`].
    pub fn all() -> &'static [OptionDoc] {
        &ALL
    }

    /// The entry of a key or former key.
    pub fn doc(key: &str) -> Option<&'static OptionDoc> {
        BY_KEY.get(key).and_then(|index| ALL.get(*index))
    }

    /// All options as text, unknown ones included.
    pub fn values(&self) -> &BTreeMap<String, String> {
        &self.values
    }

    /// Whether the option is set, under its key or a former one.
    pub fn is_set(&self, key: &str) -> bool {
        self.values.contains_key(key)
            || Self::doc(key).is_some_and(|doc| {
                std::iter::once(&doc.key)
                    .chain(doc.aliases)
                    .any(|key| self.values.contains_key(*key))
            })
    }

    /// The options of one file format, with the prefix: `parquet.`, `orc.` or `avro.`.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.values
            .range(prefix.to_owned()..)
            .take_while(move |(key, _)| key.starts_with(prefix))
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Checks one option that is about to be stored with a table. Unknown keys are fine: they may be another program's.
    ///
    /// # Errors
    /// [`FormatError::InvalidOption`](crate::FormatError::InvalidOption) for text that is no value of the option's type,
    /// that Java 1.3 cannot read, or that is below the least useful value.
    pub fn check(key: &str, text: &str) -> Result<()> {
        match Self::doc(key) {
            Some(doc) => (doc.check)(doc.spec, text),
            None => columns::check_pattern(key, text),
        }
    }
}
