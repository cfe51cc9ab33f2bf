//! The end of a Parquet file: what it holds and where.
//!
//! One ranged read fetches the tail; a second one follows if the footer is longer, or if page indexes are wanted that lie before it.
//! Nothing in it is trusted: lengths and depths are checked before the library decodes it, places of pages after.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use parquet::DecodeResult;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::{
    PageIndexPolicy, ParquetMetaData, ParquetMetaDataPushDecoder, ParquetMetaDataReader,
};

use super::int96::int96_leaves;
use super::shadow::shadow_metadata;
use super::stored::stored_schema;
use super::thrift_guard::{check_footer, check_struct};
use crate::context::FilesContext;
use crate::error::{FilesError, Result};
use crate::mapping::StoredSchema;

/// Bytes read from the end of a file at first.
const TAIL_BYTES: u64 = 64 << 10;
/// Length of the footer and the magic number behind it.
const TRAILER_BYTES: u64 = 8;
const MAGIC: &[u8] = b"PAR1";
/// A footer this long is taken for damage before memory is given to it.
const FOOTER_BYTES_MAX: u64 = 256 << 20;

/// Whether page indexes are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageIndex {
    Leave,
    Load,
}

/// The decoded end of one file.
#[derive(Debug)]
pub(crate) struct Footer {
    path: String,
    file_bytes: u64,
    stored: StoredSchema,
    reader: ArrowReaderMetadata,
    has_page_index: bool,
    memory_bytes: usize,
}

impl Footer {
    /// Reads the footer of a file, or takes it from the cache.
    ///
    /// # Errors
    /// [`FilesError::CorruptFile`] if the file is no whole Parquet file, otherwise the store's.
    pub(crate) async fn open(
        context: &FilesContext,
        path: &str,
        size: Option<u64>,
        page_index: PageIndex,
    ) -> Result<Arc<Self>> {
        if let Some(footer) = context.footers.get(path, size) {
            if page_index == PageIndex::Leave || footer.has_page_index {
                return Ok(footer);
            }
            return footer.load_page_index(context, None).await;
        }
        let size = match size {
            Some(size) => size,
            None => context.io.size(path).await?,
        };
        let tail_start = size.saturating_sub(TAIL_BYTES);
        let tail = read_range(context, path, tail_start..size).await?;
        let footer = footer_range(path, size, &tail)?;
        let footer_bytes = if footer.start < tail_start {
            read_range(context, path, footer.clone()).await?
        } else {
            slice(&tail, tail_start, &footer)
                .ok_or_else(|| FilesError::corrupt(path, "the footer is cut off"))?
        };
        let decode = {
            let path = path.to_owned();
            move || Self::decode(path, size, footer.start, &footer_bytes)
        };
        let made = context
            .cpu
            .run(decode)
            .await
            .map_err(|error| FilesError::from_decoder(path, error))??;
        let made = Arc::new(made);
        context.footers.put(&made);
        match page_index {
            PageIndex::Leave => Ok(made),
            PageIndex::Load => {
                made.load_page_index(context, Some((tail_start, tail)))
                    .await
            }
        }
    }

    fn decode(path: String, file_bytes: u64, data_end: u64, footer: &[u8]) -> Result<Self> {
        check_footer(footer)
            .map_err(|reason| FilesError::corrupt(&path, format!("footer: {reason}")))?;
        let metadata = ParquetMetaDataReader::decode_metadata(footer)
            .map_err(|error| FilesError::corrupt(&path, error))?;
        check_chunks(&metadata, data_end).map_err(|reason| FilesError::corrupt(&path, reason))?;
        let int96 = int96_leaves(metadata.file_metadata().schema_descr());
        let shadow =
            shadow_metadata(metadata, &int96).map_err(|error| FilesError::corrupt(&path, error))?;
        let stored = stored_schema(shadow.file_metadata().schema_descr(), &int96)
            .map_err(|error| FilesError::corrupt(&path, error))?;
        Self::of(path, file_bytes, stored, shadow, false)
    }

    fn of(
        path: String,
        file_bytes: u64,
        stored: StoredSchema,
        metadata: ParquetMetaData,
        has_page_index: bool,
    ) -> Result<Self> {
        let memory_bytes = metadata.memory_size() * 2;
        // Java writes none; others describe Arrow types in which the columns are not wanted.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let reader = ArrowReaderMetadata::try_new(Arc::new(metadata), options)
            .map_err(|error| FilesError::corrupt(&path, error))?;
        Ok(Self {
            path,
            file_bytes,
            stored,
            reader,
            has_page_index,
            memory_bytes,
        })
    }

    /// The same footer with page indexes, as far as the file has them. `tail` is a read end of the file and where it starts.
    async fn load_page_index(
        self: Arc<Self>,
        context: &FilesContext,
        tail: Option<(u64, Bytes)>,
    ) -> Result<Arc<Self>> {
        let Some(range) = index_range(self.metadata()) else {
            let metadata = ParquetMetaData::clone(self.metadata());
            let same = Self::of(
                self.path.clone(),
                self.file_bytes,
                self.stored.clone(),
                metadata,
                true,
            )?;
            return Ok(Arc::new(same));
        };
        if range.end > self.file_bytes || range.start > range.end {
            return Err(FilesError::corrupt(
                &self.path,
                "page indexes lie outside the file",
            ));
        }
        let known = tail.and_then(|(start, tail)| slice(&tail, start, &range));
        let bytes = match known {
            Some(bytes) => bytes,
            None => read_range(context, &self.path, range.clone()).await?,
        };
        let footer = Arc::clone(&self);
        let job = move || footer.with_page_index(range, bytes);
        let made = context
            .cpu
            .run(job)
            .await
            .map_err(|error| FilesError::from_decoder(&self.path, error))??;
        let made = Arc::new(made);
        context.footers.put(&made);
        Ok(made)
    }

    fn with_page_index(&self, range: Range<u64>, bytes: Bytes) -> Result<Self> {
        let corrupt =
            |reason: String| FilesError::corrupt(&self.path, format!("page index: {reason}"));
        for (at, length) in index_places(self.metadata()) {
            let index = u64::try_from(at).ok().zip(u64::try_from(length).ok());
            let index = index.and_then(|(at, length)| {
                slice(&bytes, range.start, &(at..at.checked_add(length)?))
            });
            check_struct(&index.ok_or_else(|| corrupt("outside the file".to_owned()))?)
                .map_err(|fault| corrupt(fault.to_string()))?;
        }
        let metadata = ParquetMetaData::clone(self.metadata());
        let mut decoder =
            ParquetMetaDataPushDecoder::try_new_with_metadata(self.file_bytes, metadata)
                .map_err(|error| corrupt(error.to_string()))?
                .with_page_index_policy(PageIndexPolicy::Optional);
        decoder
            .push_range(range, bytes)
            .map_err(|error| corrupt(error.to_string()))?;
        let metadata = match decoder
            .try_decode()
            .map_err(|error| corrupt(error.to_string()))?
        {
            DecodeResult::Data(metadata) => metadata,
            DecodeResult::NeedsData(_) | DecodeResult::Finished => {
                return Err(corrupt("incomplete".to_owned()));
            }
        };
        check_pages(&metadata).map_err(corrupt)?;
        Self::of(
            self.path.clone(),
            self.file_bytes,
            self.stored.clone(),
            metadata,
            true,
        )
    }

    /// Path of the file.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Length of the file.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// The footer as the decoder sees it.
    pub(crate) fn metadata(&self) -> &Arc<ParquetMetaData> {
        self.reader.metadata()
    }

    /// What the decoder is made from.
    pub(crate) fn reader(&self) -> &ArrowReaderMetadata {
        &self.reader
    }

    /// The columns of the file.
    pub(crate) fn stored(&self) -> &StoredSchema {
        &self.stored
    }

    /// Memory the footer takes, roughly.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory_bytes + self.path.len() + size_of::<Self>()
    }
}

async fn read_range(context: &FilesContext, path: &str, range: Range<u64>) -> Result<Bytes> {
    let mut bytes = context
        .io
        .read_ranges(path, std::slice::from_ref(&range))
        .await?;
    bytes.pop().ok_or_else(|| FilesError::Internal {
        what: "the store answered no range".to_owned(),
    })
}

/// The part of `bytes`, which start at `start` of the file, that covers `range`.
fn slice(bytes: &Bytes, start: u64, range: &Range<u64>) -> Option<Bytes> {
    let from = usize::try_from(range.start.checked_sub(start)?).ok()?;
    let to = usize::try_from(range.end.checked_sub(start)?).ok()?;
    (from <= to && to <= bytes.len()).then(|| bytes.slice(from..to))
}

fn footer_range(path: &str, size: u64, tail: &[u8]) -> Result<Range<u64>> {
    let corrupt = |reason: &str| FilesError::corrupt(path, reason);
    if size < TRAILER_BYTES + MAGIC.len() as u64 {
        return Err(corrupt("the file is too short for a parquet file"));
    }
    let (rest, magic) = tail
        .split_last_chunk::<4>()
        .ok_or_else(|| corrupt("the file ends early"))?;
    let (_, length) = rest
        .split_last_chunk::<4>()
        .ok_or_else(|| corrupt("the file ends early"))?;
    match magic.as_slice() {
        MAGIC => {}
        b"PARE" => {
            return Err(FilesError::Unsupported {
                what: format!("encrypted parquet files ({path})"),
            });
        }
        _ => {
            return Err(corrupt(
                "it does not end as a parquet file does; it may be cut off",
            ));
        }
    }
    let length = u64::from(u32::from_le_bytes(*length));
    let end = size - TRAILER_BYTES;
    let start = end
        .checked_sub(length)
        .filter(|&start| start >= MAGIC.len() as u64);
    match start {
        Some(start) if length <= FOOTER_BYTES_MAX => Ok(start..end),
        _ => Err(corrupt("the footer is longer than the file")),
    }
}

/// All column chunks must lie between the magic number and the footer.
fn check_chunks(metadata: &ParquetMetaData, data_end: u64) -> Result<(), String> {
    for (group, row_group) in metadata.row_groups().iter().enumerate() {
        if row_group.num_rows() < 0 {
            return Err(format!(
                "row group {group} has {} rows",
                row_group.num_rows()
            ));
        }
        for column in row_group.columns() {
            let start = column
                .dictionary_page_offset()
                .unwrap_or_else(|| column.data_page_offset());
            let range = u64::try_from(start)
                .ok()
                .zip(u64::try_from(column.compressed_size()).ok());
            let inside = range
                .and_then(|(start, length)| start.checked_add(length))
                .is_some_and(|end| end <= data_end);
            if !inside || column.num_values() < 0 || column.uncompressed_size() < 0 {
                return Err(format!(
                    "column {} of row group {group} lies outside the file",
                    column.column_path().string()
                ));
            }
        }
    }
    Ok(())
}

/// Pages must lie in their chunk, one behind the other, and begin at rising rows from 0.
fn check_pages(metadata: &ParquetMetaData) -> Result<(), String> {
    let Some(offset_index) = metadata.offset_index() else {
        return Ok(());
    };
    for (row_group, columns) in metadata.row_groups().iter().zip(offset_index) {
        for (column, index) in row_group.columns().iter().zip(columns) {
            let (start, length) = column.byte_range();
            let (mut at, mut row) = (i64::try_from(start).unwrap_or(i64::MAX), -1);
            let end = at.saturating_add(i64::try_from(length).unwrap_or(i64::MAX));
            for (page, location) in index.page_locations().iter().enumerate() {
                let page_end = location
                    .offset
                    .checked_add(location.compressed_page_size.into());
                let first_is_zero = page > 0 || location.first_row_index == 0;
                let rows_rise = location.first_row_index > row
                    && location.first_row_index < row_group.num_rows().max(1);
                if location.compressed_page_size <= 0
                    || location.offset < at
                    || page_end.is_none_or(|page_end| page_end > end)
                    || !first_is_zero
                    || !rows_rise
                {
                    return Err(format!(
                        "page {page} of column {} is misplaced",
                        column.column_path().string()
                    ));
                }
                (at, row) = (page_end.unwrap_or(end), location.first_row_index);
            }
        }
    }
    Ok(())
}

/// Places of all page indexes: offset and length.
fn index_places(metadata: &ParquetMetaData) -> impl Iterator<Item = (i64, i32)> + '_ {
    metadata
        .row_groups()
        .iter()
        .flat_map(|row_group| row_group.columns())
        .flat_map(|column| {
            let column_index = column
                .column_index_offset()
                .zip(column.column_index_length());
            let offset_index = column
                .offset_index_offset()
                .zip(column.offset_index_length());
            [column_index, offset_index].into_iter().flatten()
        })
}

/// One range that covers all page indexes; none if there are none.
fn index_range(metadata: &ParquetMetaData) -> Option<Range<u64>> {
    index_places(metadata).fold(None, |range: Option<Range<u64>>, (at, length)| {
        let start = u64::try_from(at).unwrap_or(u64::MAX);
        let end = start.saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
        Some(match range {
            None => start..end,
            Some(range) => range.start.min(start)..range.end.max(end),
        })
    })
}
