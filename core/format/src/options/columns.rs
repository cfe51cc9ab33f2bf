//! Options whose key contains the name of a column, and what they say about it.

use super::{NameList, OptionValue, StatsMode, TableOptions};
use crate::error::{FormatError, Result};
use crate::schema::is_system_column;

/// A family of options whose keys contain a name, as the option list shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PatternDoc {
    /// The key with `<…>` for the part that varies.
    pub pattern: &'static str,
    /// Name of the value's type.
    pub value_type: &'static str,
    /// One sentence.
    pub meaning: &'static str,
    /// Whether only versions after 1.3 know it.
    pub newer: bool,
}

const fn pattern(
    pattern: &'static str,
    value_type: &'static str,
    meaning: &'static str,
) -> PatternDoc {
    PatternDoc {
        pattern,
        value_type,
        meaning,
        newer: false,
    }
}

const fn newer(
    pattern: &'static str,
    value_type: &'static str,
    meaning: &'static str,
) -> PatternDoc {
    PatternDoc {
        pattern,
        value_type,
        meaning,
        newer: true,
    }
}

/// The options that are families of keys.
pub const PATTERNS: &[PatternDoc] = &[
    pattern(
        "fields.<column>.stats-mode",
        "stats-mode",
        "What is kept about the values of the column.",
    ),
    pattern(
        "fields.<column>.aggregate-function",
        "string",
        "How values of the column are folded.",
    ),
    pattern(
        "fields.<column>.ignore-retract",
        "boolean",
        "Whether retracts leave the column as it is.",
    ),
    pattern(
        "fields.<column>.distinct",
        "boolean",
        "Whether collect keeps each element once.",
    ),
    pattern(
        "fields.<column>.listagg.distinct",
        "boolean",
        "Whether listagg keeps each token once; Java 1.3 ignores the option distinct for listagg, so this has a name of its own.",
    ),
    pattern(
        "fields.<column>.sum.fail-on-overflow",
        "boolean",
        "Whether a sum beyond the column's type is an error (the default) or wraps as in Java 1.3.",
    ),
    pattern(
        "fields.<column>.product.fail-on-overflow",
        "boolean",
        "Whether a product beyond the column's type is an error (the default) or wraps as in Java 1.3.",
    ),
    pattern(
        "fields.<column>.list-agg-delimiter",
        "string",
        "What listagg puts between two texts.",
    ),
    pattern(
        "fields.<column>.nested-key",
        "list",
        "Key of the rows that nested_update keeps.",
    ),
    pattern(
        "fields.<column>.count-limit",
        "int",
        "Rows that nested_update keeps.",
    ),
    newer(
        "fields.<column>.nested-sequence-field",
        "list",
        "Which of two nested rows is newer.",
    ),
    newer(
        "fields.<column>.nested-key-null-strategy",
        "enum",
        "What becomes of nested rows without a key.",
    ),
    pattern(
        "fields.<columns>.sequence-group",
        "list",
        "Columns that follow these sequence columns in a partial update.",
    ),
    pattern(
        "file-index.<type>.columns",
        "list",
        "Columns with a file index of this type (bloom-filter, bitmap, bsi, range-bitmap).",
    ),
    pattern(
        "file-index.<type>.<column>.<option>",
        "string",
        "An option of a column's file index.",
    ),
    pattern(
        "parquet.<option>",
        "string",
        "Handed to the Parquet writer; with #column for one column.",
    ),
    pattern("orc.<option>", "string", "Handed to the ORC writer."),
    pattern("avro.<option>", "string", "Handed to the Avro writer."),
    newer("blob.<option>", "string", "BLOB columns."),
    newer(
        "variant.<option>",
        "string",
        "How VARIANT values are shredded.",
    ),
    newer("vector.<option>", "string", "VECTOR columns."),
    newer(
        "global-index.<option>",
        "string",
        "Indexes over many files.",
    ),
    newer(
        "manifest-sort.<option>",
        "string",
        "How manifests are rewritten.",
    ),
    newer(
        "data-evolution.<option>",
        "string",
        "How rows spread over files are merged.",
    ),
];

const FIELDS_PREFIX: &str = "fields.";
const INDEX_PREFIX: &str = "file-index.";

/// Index types whose columns an option names.
pub(crate) const FILE_INDEX_TYPES: [&str; 4] = ["bloom-filter", "bitmap", "bsi", "range-bitmap"];

/// Options (beside `fields.…` and `file-index.…`) whose value is one or more names of columns.
pub(crate) const COLUMN_NAME_OPTIONS: [&str; 9] = [
    "bucket-key",
    "sequence.field",
    "rowkind.field",
    "record-level.time-field",
    "upsert-key",
    "clustering.columns",
    "sink.clustering.by-columns",
    "changelog-producer.row-deduplicate-ignore-fields",
    "partial-update.remove-record-on-sequence-group",
];

/// Suffixes of `fields.<column>` options that this list knows.
const FIELD_SUFFIXES: [&str; 13] = [
    ".stats-mode",
    ".aggregate-function",
    ".ignore-retract",
    ".listagg.distinct",
    ".sum.fail-on-overflow",
    ".product.fail-on-overflow",
    ".distinct",
    ".list-agg-delimiter",
    ".nested-key",
    ".count-limit",
    ".nested-sequence-field",
    ".nested-key-null-strategy",
    ".sequence-group",
];

/// The columns and the suffix of a key `fields.<columns>.<suffix>`; `None` for other keys.
///
/// A known suffix is cut from the end, so that names with dots work; otherwise the first dot ends the names.
pub(crate) fn split_fields_key(key: &str) -> Option<(NameList, &str)> {
    let rest = key.strip_prefix(FIELDS_PREFIX)?;
    if rest == "default-aggregate-function" {
        return None;
    }
    let known = FIELD_SUFFIXES
        .into_iter()
        .find_map(|suffix| Some((rest.strip_suffix(suffix)?, suffix.get(1..)?)));
    let (names, suffix) = known.or_else(|| rest.split_once('.')).unwrap_or((rest, ""));
    Some((NameList::split(names), suffix))
}

/// The index type of a key `file-index.<type>.columns`; `None` for other keys.
pub(crate) fn split_index_columns_key(key: &str) -> Option<&str> {
    key.strip_prefix(INDEX_PREFIX)?.strip_suffix(".columns")
}

/// The column in front of the bracket of `map[key]`, which asks for an index on one key of a MAP column.
pub(crate) fn index_column(name: &str) -> &str {
    match name.split_once('[') {
        Some((column, key)) if key.ends_with(']') => column,
        _ => name,
    }
}

/// Checks the text of an option with a name in its key.
pub(super) fn check_pattern(key: &str, text: &str) -> Result<()> {
    fn check<T: OptionValue>(key: &str, text: &str) -> Result<()> {
        match T::parse(text) {
            Some(_) => Ok(()),
            None => Err(FormatError::InvalidOption {
                key: key.to_owned(),
                value: text.to_owned(),
                expected: T::expected(),
            }),
        }
    }
    match split_fields_key(key) {
        Some((_, "stats-mode")) => check::<StatsMode>(key, text),
        Some((
            _,
            "ignore-retract"
            | "distinct"
            | "listagg.distinct"
            | "sum.fail-on-overflow"
            | "product.fail-on-overflow",
        )) => check::<bool>(key, text),
        Some((_, "count-limit")) => check::<i32>(key, text),
        _ => Ok(()),
    }
}

/// Which kind of file statistics are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatsTarget {
    /// A data file of this level; append files are of level 0.
    Data {
        /// The level.
        level: i32,
    },
    /// A changelog file of this level.
    Changelog {
        /// The level.
        level: i32,
    },
}

impl TableOptions {
    /// An option of one column, `fields.<column>.<suffix>`.
    pub fn column_option(&self, column: &str, suffix: &str) -> Option<&str> {
        self.values
            .get(&format!("{FIELDS_PREFIX}{column}.{suffix}"))
            .map(String::as_str)
    }

    /// What is kept about the values of each column of a file.
    ///
    /// `columns` are all columns of the file, system columns included; the answer has one mode for each, in order.
    /// `thin_key` names the key columns if the file leaves out their copies: their statistics stand in for those of the key.
    /// Source: spec 01c §5.2, Paimon `utils/StatsCollectorFactories.java`.
    ///
    /// # Errors
    /// [`FormatError::InvalidOption`] for a mode of a column that is none.
    pub fn stats_modes(
        &self,
        columns: &[&str],
        target: StatsTarget,
        thin_key: &[String],
    ) -> Result<Vec<StatsMode>> {
        let of_level = |level| {
            let mode = self.metadata_stats_mode_per_level.get(level).copied();
            mode.unwrap_or(self.metadata_stats_mode)
        };
        let file_mode = match target {
            StatsTarget::Data { level } => of_level(level),
            StatsTarget::Changelog { level } => self
                .changelog_file_stats_mode
                .unwrap_or_else(|| of_level(level)),
        };
        let keep_first = usize::try_from(self.metadata_stats_keep_first_n_columns).ok();
        let mut counted = 0;
        columns
            .iter()
            .map(|column| {
                if let Some(text) = self.column_option(column, "stats-mode") {
                    counted += 1;
                    return StatsMode::parse(text).ok_or_else(|| FormatError::InvalidOption {
                        key: format!("{FIELDS_PREFIX}{column}.stats-mode"),
                        value: text.to_owned(),
                        expected: StatsMode::expected(),
                    });
                }
                if is_system_column(column) || thin_key.iter().any(|key| key == column) {
                    return Ok(StatsMode::KEY);
                }
                let beyond = keep_first.is_some_and(|keep_first| counted >= keep_first);
                counted += 1;
                Ok(if beyond { StatsMode::None } else { file_mode })
            })
            .collect()
    }

    /// A yes-or-no option of one column, `fields.<column>.<suffix>`; `default` if it is not set.
    pub fn column_flag(&self, column: &str, suffix: &str, default: bool) -> bool {
        self.column_option(column, suffix)
            .and_then(bool::parse)
            .unwrap_or(default)
    }

    /// The aggregate function of a column: its own, or the table's default.
    pub fn aggregate_function(&self, column: &str) -> Option<&str> {
        self.column_option(column, "aggregate-function")
            .or(self.fields_default_aggregate_function.as_deref())
    }

    /// Sequence groups of a partial update: the sequence columns and the columns that follow them, in order of the keys.
    pub fn sequence_groups(&self) -> Vec<(NameList, NameList)> {
        let groups =
            self.with_prefix(FIELDS_PREFIX)
                .filter_map(|(key, text)| match split_fields_key(key) {
                    Some((columns, "sequence-group")) => Some((columns, NameList::split(text))),
                    _ => None,
                });
        groups.collect()
    }

    /// Columns with a file index: the index type and its columns, in order of the keys.
    pub fn file_index_columns(&self) -> Vec<(&str, NameList)> {
        let indexes = self.with_prefix(INDEX_PREFIX).filter_map(|(key, text)| {
            let index_type = split_index_columns_key(key)?;
            let columns = NameList::split(text);
            (!columns.is_empty()).then_some((index_type, columns))
        });
        indexes.collect()
    }
}
