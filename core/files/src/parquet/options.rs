//! How Parquet files are written: codec, page and row group sizes, and the `parquet.*` options of the table.
//!
//! Defaults are those of Java's writer (spec 02a §2.1), with one bound more: a row group ends early when its encoded pages fill
//! [`ROW_GROUP_MEMORY_BYTES`], because they wait in memory until it ends.
//! Keys may end in `#column`. Unknown `parquet.*` keys are accepted, as in Java, where they reach a configuration that nobody reads.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion,
};
use parquet::schema::types::ColumnPath;

use crate::error::{FilesError, Result};

/// Prefix of the options that reach the writer.
pub(crate) const OPTION_PREFIX: &str = "parquet.";
/// Most bytes of encoded pages that wait for their row group to end.
const ROW_GROUP_MEMORY_BYTES: usize = 64 << 20;
/// Statistics of chunks with more bytes than this are left out, as in Java (`ParquetMetadataConverter.MAX_STATS_SIZE`).
pub(crate) const STATISTICS_BYTES_MAX: usize = 4096;
/// Values that are encoded before the size of a page is looked at.
const WRITE_BATCH_ROWS: usize = 4096;

/// Settings of the Parquet writer.
#[derive(Debug, Clone)]
pub struct ParquetWriteOptions {
    compression: Compression,
    row_group_bytes: usize,
    page_checksum: bool,
    /// `(key without the column, column or none, value)`, general settings before those of columns.
    settings: Vec<(Setting, Option<String>, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Setting {
    PageBytes,
    PageRows,
    DictionaryBytes,
    Dictionary,
    WriterVersion,
    BloomFilter,
    BloomFilterNdv,
    BloomFilterFpp,
    Statistics,
    ColumnIndexTruncate,
    StatisticsTruncate,
}

impl Setting {
    fn of(key: &str) -> Option<Self> {
        Some(match key {
            "parquet.page.size" => Self::PageBytes,
            "parquet.page.row.count.limit" => Self::PageRows,
            "parquet.dictionary.page.size" => Self::DictionaryBytes,
            "parquet.enable.dictionary" => Self::Dictionary,
            "parquet.writer.version" => Self::WriterVersion,
            "parquet.bloom.filter.enabled" => Self::BloomFilter,
            "parquet.bloom.filter.expected.ndv" => Self::BloomFilterNdv,
            "parquet.bloom.filter.fpp" => Self::BloomFilterFpp,
            "parquet.column.statistics.enabled" => Self::Statistics,
            "parquet.columnindex.truncate.length" => Self::ColumnIndexTruncate,
            "parquet.statistics.truncate.length" => Self::StatisticsTruncate,
            _ => return None,
        })
    }
}

impl ParquetWriteOptions {
    /// Reads the options of a table.
    ///
    /// `compression` and `zstd_level` are the resolved `file.compression` and `file.compression.zstd-level`, `block_bytes` the
    /// `file.block-size`; `options` is looked through for `parquet.*`.
    ///
    /// # Errors
    /// [`FilesError::Option`] for a value that cannot be used, also of a codec that Java refuses for Parquet (`none`).
    pub fn new(
        compression: &str,
        zstd_level: i32,
        block_bytes: Option<u64>,
        options: &BTreeMap<String, String>,
    ) -> Result<Self> {
        const ZSTD_LEVEL: &str = "parquet.compression.codec.zstd.level";
        const BLOCK_SIZE: &str = "parquet.block.size";
        const CHECKSUM: &str = "parquet.page.write-checksum.enabled";
        let zstd_level = match options.get(ZSTD_LEVEL) {
            Some(value) => parse(ZSTD_LEVEL, value)?,
            None => zstd_level,
        };
        let block_bytes = match (block_bytes, options.get(BLOCK_SIZE)) {
            (Some(bytes), _) => usize::try_from(bytes).unwrap_or(usize::MAX),
            (None, Some(value)) => positive(BLOCK_SIZE, value)?,
            (None, None) => ROW_GROUP_MEMORY_BYTES,
        };
        let page_checksum = options
            .get(CHECKSUM)
            .map_or(Ok(true), |value| boolean(CHECKSUM, value))?;
        let mut settings = Vec::new();
        for (key, value) in options
            .iter()
            .filter(|(key, _)| key.starts_with(OPTION_PREFIX))
        {
            let (name, column) = match key.split_once('#') {
                Some((name, column)) => (name, Some(column.to_owned())),
                None => (key.as_str(), None),
            };
            if let Some(setting) = Setting::of(name) {
                settings.push((setting, column, value.clone()));
            }
        }
        settings.sort_by(|left, right| {
            (left.1.is_some(), left.0, &left.1).cmp(&(right.1.is_some(), right.0, &right.1))
        });
        let made = Self {
            compression: codec(compression, zstd_level)?,
            row_group_bytes: block_bytes.clamp(1, ROW_GROUP_MEMORY_BYTES),
            page_checksum,
            settings,
        };
        made.writer_properties()?;
        Ok(made)
    }

    /// Encoded bytes at which a row group ends.
    pub fn row_group_bytes(&self) -> usize {
        self.row_group_bytes
    }

    /// Whether pages carry a checksum.
    pub(crate) fn page_checksum(&self) -> bool {
        self.page_checksum
    }

    /// Whether a column has settings of its own.
    pub(crate) fn names_column(&self, column: &str) -> bool {
        self.settings
            .iter()
            .any(|(_, named, _)| named.as_deref() == Some(column))
    }

    /// The settings in the form of the encoder.
    pub(crate) fn writer_properties(&self) -> Result<WriterProperties> {
        let mut properties = WriterProperties::builder()
            .set_created_by(format!("tidewater version {}", env!("CARGO_PKG_VERSION")))
            .set_compression(self.compression)
            .set_writer_version(WriterVersion::PARQUET_1_0)
            .set_write_batch_size(WRITE_BATCH_ROWS)
            .set_data_page_size_limit(1 << 20)
            .set_data_page_row_count_limit(20_000)
            .set_dictionary_page_size_limit(1 << 20)
            .set_dictionary_enabled(true)
            .set_statistics_enabled(EnabledStatistics::Page)
            .set_statistics_truncate_length(None)
            .set_max_row_group_row_count(None);
        for (setting, column, value) in &self.settings {
            properties = apply(properties, *setting, column.as_deref(), value)?;
        }
        Ok(properties.build())
    }
}

fn apply(
    properties: WriterPropertiesBuilder,
    setting: Setting,
    column: Option<&str>,
    value: &str,
) -> Result<WriterPropertiesBuilder> {
    let path = column.map(|column| ColumnPath::new(column.split('.').map(str::to_owned).collect()));
    Ok(match (setting, path) {
        (Setting::PageBytes, None) => {
            properties.set_data_page_size_limit(positive("parquet.page.size", value)?)
        }
        (Setting::PageBytes, Some(path)) => {
            properties.set_column_data_page_size_limit(path, positive("parquet.page.size", value)?)
        }
        (Setting::PageRows, _) => {
            let rows = positive("parquet.page.row.count.limit", value)?;
            // The encoder looks at the limit only between two write batches.
            properties
                .set_data_page_row_count_limit(rows)
                .set_write_batch_size(rows.min(WRITE_BATCH_ROWS))
        }
        (Setting::DictionaryBytes, None) => properties
            .set_dictionary_page_size_limit(positive("parquet.dictionary.page.size", value)?),
        (Setting::DictionaryBytes, Some(path)) => properties.set_column_dictionary_page_size_limit(
            path,
            positive("parquet.dictionary.page.size", value)?,
        ),
        (Setting::Dictionary, None) => {
            properties.set_dictionary_enabled(boolean("parquet.enable.dictionary", value)?)
        }
        (Setting::Dictionary, Some(path)) => properties
            .set_column_dictionary_enabled(path, boolean("parquet.enable.dictionary", value)?),
        (Setting::WriterVersion, _) => properties.set_writer_version(writer_version(value)?),
        (Setting::BloomFilter, None) => {
            properties.set_bloom_filter_enabled(boolean("parquet.bloom.filter.enabled", value)?)
        }
        (Setting::BloomFilter, Some(path)) => properties
            .set_column_bloom_filter_enabled(path, boolean("parquet.bloom.filter.enabled", value)?),
        // Java takes the expected number only for named columns; a general one has no effect there.
        (Setting::BloomFilterNdv, None) => properties,
        (Setting::BloomFilterNdv, Some(path)) => {
            let ndv: usize = positive("parquet.bloom.filter.expected.ndv", value)?;
            properties.set_column_bloom_filter_max_ndv(path, ndv as u64)
        }
        (Setting::BloomFilterFpp, None) => properties.set_bloom_filter_fpp(probability(value)?),
        (Setting::BloomFilterFpp, Some(path)) => {
            properties.set_column_bloom_filter_fpp(path, probability(value)?)
        }
        (Setting::Statistics, None) => properties.set_statistics_enabled(statistics(value)?),
        (Setting::Statistics, Some(path)) => {
            properties.set_column_statistics_enabled(path, statistics(value)?)
        }
        (Setting::ColumnIndexTruncate, _) => properties.set_column_index_truncate_length(Some(
            positive("parquet.columnindex.truncate.length", value)?,
        )),
        (Setting::StatisticsTruncate, _) => properties.set_statistics_truncate_length(Some(
            positive("parquet.statistics.truncate.length", value)?,
        )),
    })
}

/// A codec by the name that `file.compression` gives it.
fn codec(name: &str, zstd_level: i32) -> Result<Compression> {
    let refused = |reason: &str| FilesError::Option {
        key: "file.compression".to_owned(),
        value: name.to_owned(),
        reason: reason.to_owned(),
    };
    Ok(match name.to_ascii_lowercase().as_str() {
        "uncompressed" => Compression::UNCOMPRESSED,
        "snappy" => Compression::SNAPPY,
        "gzip" => Compression::GZIP(GzipLevel::default()),
        "brotli" => Compression::BROTLI(BrotliLevel::default()),
        "lz4" => Compression::LZ4,
        "lz4_raw" => Compression::LZ4_RAW,
        "zstd" => {
            let level = ZstdLevel::try_new(zstd_level).map_err(|error| FilesError::Option {
                key: "file.compression.zstd-level".to_owned(),
                value: zstd_level.to_string(),
                reason: error.to_string(),
            })?;
            Compression::ZSTD(level)
        }
        "none" => return Err(refused("parquet names it uncompressed")),
        "lzo" => {
            return Err(FilesError::Unsupported {
                what: "lzo compression in parquet".to_owned(),
            });
        }
        _ => {
            return Err(refused(
                "parquet has uncompressed, snappy, gzip, brotli, lz4, lz4_raw and zstd",
            ));
        }
    })
}

fn writer_version(value: &str) -> Result<WriterVersion> {
    match value.to_ascii_uppercase().as_str() {
        "PARQUET_1_0" | "V1" => Ok(WriterVersion::PARQUET_1_0),
        "PARQUET_2_0" | "V2" => Ok(WriterVersion::PARQUET_2_0),
        _ => Err(invalid(
            "parquet.writer.version",
            value,
            "expected PARQUET_1_0 or PARQUET_2_0",
        )),
    }
}

fn statistics(value: &str) -> Result<EnabledStatistics> {
    let enabled = boolean("parquet.column.statistics.enabled", value)?;
    Ok(if enabled {
        EnabledStatistics::Page
    } else {
        EnabledStatistics::None
    })
}

fn probability(value: &str) -> Result<f64> {
    let key = "parquet.bloom.filter.fpp";
    let fpp: f64 = parse(key, value)?;
    if fpp > 0.0 && fpp < 1.0 {
        Ok(fpp)
    } else {
        Err(invalid(key, value, "expected a number between 0 and 1"))
    }
}

fn positive(key: &str, value: &str) -> Result<usize> {
    let number: i32 = parse(key, value)?;
    let positive = usize::try_from(number).ok().filter(|&number| number > 0);
    positive.ok_or_else(|| invalid(key, value, "expected a number above 0"))
}

/// Java's `Boolean.valueOf` takes anything for false; a misspelt value is refused here.
fn boolean(key: &str, value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(invalid(key, value, "expected true or false")),
    }
}

fn parse<T: FromStr>(key: &str, value: &str) -> Result<T>
where
    T::Err: Display,
{
    value
        .trim()
        .parse()
        .map_err(|error: T::Err| invalid(key, value, &error.to_string()))
}

fn invalid(key: &str, value: &str, reason: &str) -> FilesError {
    FilesError::Option {
        key: key.to_owned(),
        value: value.to_owned(),
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use tidewater_types::ErrorKind;

    use super::*;

    fn options(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|&(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    }

    fn made(pairs: &[(&str, &str)]) -> Result<ParquetWriteOptions> {
        ParquetWriteOptions::new("zstd", 1, None, &options(pairs))
    }

    #[test]
    fn defaults_are_those_of_java_with_smaller_row_groups() {
        let made = made(&[]).unwrap();
        let properties = made.writer_properties().unwrap();
        let column = ColumnPath::from("a");
        assert_eq!(
            properties.compression(&column),
            Compression::ZSTD(ZstdLevel::try_new(1).unwrap())
        );
        assert_eq!(properties.data_page_size_limit(), 1 << 20);
        assert_eq!(properties.data_page_row_count_limit(), 20_000);
        assert_eq!(properties.dictionary_page_size_limit(), 1 << 20);
        assert!(properties.dictionary_enabled(&column));
        assert_eq!(properties.writer_version(), WriterVersion::PARQUET_1_0);
        assert!(made.page_checksum());
        assert_eq!(made.row_group_bytes(), 64 << 20);
        assert!(properties.created_by().starts_with("tidewater version "));
    }

    #[test]
    fn a_setting_of_a_column_wins_over_the_general_one() {
        let made = made(&[
            ("parquet.enable.dictionary", "false"),
            ("parquet.enable.dictionary#a", "true"),
        ])
        .unwrap();
        let properties = made.writer_properties().unwrap();
        assert!(properties.dictionary_enabled(&ColumnPath::from("a")));
        assert!(!properties.dictionary_enabled(&ColumnPath::from("b")));
        assert!(made.names_column("a") && !made.names_column("b"));
    }

    #[test]
    fn unknown_keys_pass_and_bad_values_are_refused() {
        made(&[("parquet.no.such.key", "whatever")]).unwrap();
        for (key, value) in [
            ("parquet.page.size", "64kb"),
            ("parquet.page.size", "0"),
            ("parquet.enable.dictionary#a", "yes"),
            ("parquet.writer.version", "PARQUET_3_0"),
            ("parquet.block.size", "-1"),
            ("parquet.bloom.filter.fpp", "1"),
            ("parquet.compression.codec.zstd.level", "99"),
        ] {
            assert_eq!(
                made(&[(key, value)]).unwrap_err().kind(),
                ErrorKind::Invalid,
                "{key}={value}"
            );
        }
    }

    #[test]
    fn codecs_are_named_as_java_names_them() {
        let none = BTreeMap::new();
        for name in [
            "uncompressed",
            "snappy",
            "gzip",
            "brotli",
            "lz4",
            "lz4_raw",
            "zstd",
            "ZSTD",
        ] {
            ParquetWriteOptions::new(name, 1, None, &none).unwrap();
        }
        assert_eq!(
            ParquetWriteOptions::new("none", 1, None, &none)
                .unwrap_err()
                .kind(),
            ErrorKind::Invalid
        );
        assert_eq!(
            ParquetWriteOptions::new("lzo", 1, None, &none)
                .unwrap_err()
                .kind(),
            ErrorKind::Unsupported
        );
    }

    #[test]
    fn the_block_size_bounds_a_row_group_up_to_the_memory_limit() {
        let none = BTreeMap::new();
        let bytes = |block| {
            ParquetWriteOptions::new("zstd", 1, block, &none)
                .unwrap()
                .row_group_bytes()
        };
        assert_eq!(bytes(Some(1 << 20)), 1 << 20);
        assert_eq!(bytes(Some(1 << 40)), 64 << 20);
        assert_eq!(
            made(&[("parquet.block.size", "4096")])
                .unwrap()
                .row_group_bytes(),
            4096
        );
    }
}
