//! Names of the files below a table's folder: how they are made and what they say.
//!
//! Source: spec 01 §1.1, Paimon `fs/DataFilePathFactory` and `utils/FileStorePathFactory.java`.

/// Codecs whose extension in file names is not their own name.
const COMPRESSION_EXTENSIONS: [(&str, &str); 6] = [
    ("gzip", "gz"),
    ("bzip2", "bz2"),
    ("deflate", "deflate"),
    ("snappy", "snappy"),
    ("lz4", "lz4"),
    ("zstd", "zst"),
];

/// Formats whose files always carry their codec, at the end: it is how their readers find it.
const TEXT_FORMATS: [&str; 3] = ["csv", "json", "text"];

/// What the name of a data or changelog file is made of.
#[derive(Debug, Clone, Copy)]
pub struct DataFileName<'a> {
    /// First part: `data-` or `changelog-` unless options say otherwise.
    pub prefix: &'a str,
    /// Id of the writer: lower case, with dashes.
    pub uuid: &'a str,
    /// Count of the writer's files, data and changelog together.
    pub number: u64,
    /// Format in lower case.
    pub format: &'a str,
    /// Codec, if `file.suffix.include.compression` asks for it in the name. Changelog files name that of data files.
    pub compression: Option<&'a str>,
}

impl std::fmt::Display for DataFileName<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            prefix,
            uuid,
            number,
            format,
            ..
        } = self;
        write!(f, "{prefix}{uuid}-{number}")?;
        match self.compression.and_then(compression_extension) {
            Some(extension) if TEXT_FORMATS.contains(format) => write!(f, ".{format}.{extension}"),
            Some(extension) => write!(f, ".{extension}.{format}"),
            None => write!(f, ".{format}"),
        }
    }
}

fn compression_extension(compression: &str) -> Option<&str> {
    if compression.is_empty() || compression.eq_ignore_ascii_case("none") {
        return None;
    }
    let known = COMPRESSION_EXTENSIONS
        .into_iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(compression));
    Some(known.map_or(compression, |(_, extension)| extension))
}

/// The format of a data file by its name: what follows the last dot, or stands between the last two if the last says
/// how the file is compressed. `None` for a name without a dot.
///
/// Readers choose by this, never by the table's options, which may have changed since.
pub fn data_file_format(name: &str) -> Option<&str> {
    let (stem, last) = name.rsplit_once('.')?;
    let compressed = COMPRESSION_EXTENSIONS
        .into_iter()
        .any(|(_, extension)| extension == last);
    match stem.rsplit_once('.') {
        Some((_, format)) if compressed => Some(format),
        _ => Some(last),
    }
}

/// Name of the file index beside a data file.
pub fn file_index_name(data_file_name: &str) -> String {
    format!("{data_file_name}.index")
}

/// Name of a manifest; each kind of file below counts on its own, from 0 for each opened table.
pub fn manifest_name(uuid: &str, number: u64) -> String {
    format!("manifest-{uuid}-{number}")
}

/// Name of a manifest list.
pub fn manifest_list_name(uuid: &str, number: u64) -> String {
    format!("manifest-list-{uuid}-{number}")
}

/// Name of an index manifest.
pub fn index_manifest_name(uuid: &str, number: u64) -> String {
    format!("index-manifest-{uuid}-{number}")
}

/// Name of an index file.
pub fn index_file_name(uuid: &str, number: u64) -> String {
    format!("index-{uuid}-{number}")
}

/// Name of a statistics file.
pub fn statistics_name(uuid: &str, number: u64) -> String {
    format!("stat-{uuid}-{number}")
}

/// The number in a versioned file's name (`snapshot-7`, `schema-0`, `changelog-3`); `None` for other names, such as
/// hints and temporary files.
pub fn versioned_file_number(name: &str, prefix: &str) -> Option<i64> {
    let digits = name.strip_prefix(prefix)?;
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "9b4d4912-1e14-484c-9fde-6c866ed951ee";

    fn name(format: &str, compression: Option<&str>) -> String {
        DataFileName {
            prefix: "data-",
            uuid: UUID,
            number: 3,
            format,
            compression,
        }
        .to_string()
    }

    #[test]
    fn compression_stands_before_the_format_but_after_text_formats() {
        assert_eq!(name("parquet", None), format!("data-{UUID}-3.parquet"));
        assert_eq!(
            name("parquet", Some("zstd")),
            format!("data-{UUID}-3.zst.parquet")
        );
        assert_eq!(
            name("parquet", Some("SNAPPY")),
            format!("data-{UUID}-3.snappy.parquet")
        );
        assert_eq!(name("orc", Some("none")), format!("data-{UUID}-3.orc"));
        assert_eq!(
            name("avro", Some("brotli")),
            format!("data-{UUID}-3.brotli.avro")
        );
        assert_eq!(name("json", Some("gzip")), format!("data-{UUID}-3.json.gz"));
    }

    #[test]
    fn the_format_is_read_from_the_name() {
        assert_eq!(data_file_format("data-x-0.parquet"), Some("parquet"));
        assert_eq!(data_file_format("data-x-0.zst.parquet"), Some("parquet"));
        assert_eq!(data_file_format("data-x-0.json.gz"), Some("json"));
        assert_eq!(data_file_format("data--u-me-s-0-w-x-0.avro"), Some("avro"));
        assert_eq!(data_file_format("x.gz"), Some("gz"));
        assert_eq!(data_file_format("manifest-x-0"), None);
    }

    #[test]
    fn only_plain_numbers_are_versions() {
        assert_eq!(versioned_file_number("snapshot-12", "snapshot-"), Some(12));
        for other in [
            "snapshot-",
            "snapshot-1.tmp",
            "snapshot-+1",
            "LATEST",
            ".snapshot-4.x.tmp",
            "snapshot-99999999999999999999",
        ] {
            assert_eq!(versioned_file_number(other, "snapshot-"), None, "{other}");
        }
    }
}
