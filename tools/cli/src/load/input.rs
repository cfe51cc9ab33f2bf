//! Files and standard input as bytes, and what is in them.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::checkpoint::SourceFile;
use super::error::{LoadError, Result};

/// Bytes read from a file at once.
const READ_BYTES: usize = 256 << 10;

/// A stream that hands over less than this at once has no more at the moment.
const DRY_BYTES: usize = 16 << 10;

/// What an input holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InputFormat {
    /// Comma-separated values, or with another delimiter
    Csv,
    /// One JSON object a line
    #[value(alias = "jsonl", alias = "ndjson")]
    Json,
    /// Parquet
    Parquet,
    /// Arrow IPC, file or stream
    #[value(alias = "ipc", alias = "feather")]
    Arrow,
}

impl InputFormat {
    /// By the extension, with `.gz` or `.zst` behind it or not.
    fn of_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = ["gz", "zst", "zstd"]
            .iter()
            .find_map(|packed| name.strip_suffix(packed)?.strip_suffix('.'))
            .unwrap_or(&name);
        Some(match name.rsplit_once('.')?.1 {
            "csv" | "tsv" | "psv" => Self::Csv,
            "json" | "jsonl" | "ndjson" => Self::Json,
            "parquet" | "pq" => Self::Parquet,
            "arrow" | "arrows" | "ipc" | "feather" => Self::Arrow,
            _ => return None,
        })
    }
}

/// One of the inputs of a load.
pub enum Input {
    /// A file.
    Path(PathBuf),
    /// Bytes that can be read once, as standard input is; shown as `-`.
    Stream(Box<dyn Read + Send>),
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

impl Input {
    /// As it was named on the command line.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Stream(_) => "-".to_owned(),
        }
    }

    /// What is in it: as asked, or by its name.
    ///
    /// # Errors
    /// [`LoadError::NoFormat`] if neither tells.
    pub(super) fn format(&self, asked: Option<InputFormat>) -> Result<InputFormat> {
        let named = match self {
            Self::Path(path) => InputFormat::of_path(path),
            Self::Stream(_) => None,
        };
        asked
            .or(named)
            .ok_or_else(|| LoadError::NoFormat { input: self.name() })
    }

    /// The delimiter that the extension `.tsv` or `.psv` says.
    pub(super) fn delimiter(&self) -> Option<u8> {
        let name = self.name().to_ascii_lowercase();
        if name.contains(".tsv") {
            Some(b'\t')
        } else if name.contains(".psv") {
            Some(b'|')
        } else {
            None
        }
    }

    /// What identifies it across runs; reads the file's metadata.
    pub(super) fn describe(&self) -> Result<SourceFile> {
        let Self::Path(path) = self else {
            return Ok(SourceFile {
                name: self.name(),
                bytes: None,
                modified_millis: None,
            });
        };
        let read = |source| LoadError::Read {
            file: self.name(),
            source,
        };
        let metadata = std::fs::metadata(path).map_err(read)?;
        if metadata.is_dir() {
            return Err(read(std::io::Error::from(std::io::ErrorKind::IsADirectory)));
        }
        let full = std::fs::canonicalize(path).map_err(read)?;
        let modified = metadata
            .modified()
            .ok()
            .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
            .and_then(|since| i64::try_from(since.as_millis()).ok());
        // A pipe has no length that means anything.
        let bytes = metadata.is_file().then_some(metadata.len());
        Ok(SourceFile {
            name: full.display().to_string(),
            bytes,
            modified_millis: modified.filter(|_| metadata.is_file()),
        })
    }

    /// Its bytes in order, unpacked if the name ends in `.gz` or `.zst`.
    pub(super) fn bytes(self) -> Result<ByteSource> {
        let name = self.name();
        let read = |source| LoadError::Read {
            file: name.clone(),
            source,
        };
        let path = match self {
            Self::Stream(bytes) => {
                return Ok(ByteSource {
                    bytes,
                    is_stream: true,
                    ran_dry: false,
                });
            }
            Self::Path(path) => path,
        };
        let file = File::open(&path).map_err(read)?;
        let lower = name.to_ascii_lowercase();
        if lower.ends_with(".gz") {
            let packed = BufReader::with_capacity(READ_BYTES, file);
            // Files of several members, as `cat a.gz b.gz` makes them, are one text.
            let unpacked = flate2::bufread::MultiGzDecoder::new(packed);
            return Ok(ByteSource::whole(unpacked));
        }
        if lower.ends_with(".zst") || lower.ends_with(".zstd") {
            return Ok(ByteSource::whole(zstd::Decoder::new(file).map_err(read)?));
        }
        Ok(ByteSource::whole(file))
    }

    /// A file that can be read at any place; a stream is written to a temporary one first.
    pub(super) fn file(self) -> Result<File> {
        let name = self.name();
        let opened = match self {
            Self::Path(path) => File::open(path),
            Self::Stream(mut stream) => tempfile::tempfile().and_then(|mut file| {
                std::io::copy(&mut stream, &mut file)?;
                std::io::Seek::rewind(&mut file)?;
                Ok(file)
            }),
        };
        opened.map_err(|source| LoadError::Read { file: name, source })
    }
}

/// The bytes of an input, which tells whether the next ones must be waited for: rows that are there are not held back until then.
pub(super) struct ByteSource {
    bytes: Box<dyn Read + Send>,
    is_stream: bool,
    ran_dry: bool,
}

impl ByteSource {
    fn whole(bytes: impl Read + Send + 'static) -> Self {
        Self {
            bytes: Box::new(bytes),
            is_stream: false,
            ran_dry: false,
        }
    }

    /// Whether a stream seemed to have no more when it was read last.
    pub(super) fn ran_dry(&self) -> bool {
        self.ran_dry
    }
}

impl Read for ByteSource {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        self.ran_dry = self.is_stream && read < buffer.len().min(DRY_BYTES);
        Ok(read)
    }
}
