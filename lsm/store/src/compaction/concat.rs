//! Compaction of append files: their rows one after the other into larger files.

use std::sync::Arc;

use tidewater_files::RollingFileWriter;
use tidewater_format::{DataFileMeta, FileSource};

use super::CompactionResult;
use crate::bucket_writer::{BucketPlace, CHUNK_ROWS, FileMaker, SchemasById, WriterContext};
use crate::commit_message::{CommitMessage, CompactIncrement, DataIncrement};
use crate::error::{Result, StoreError};
use crate::split_reader::{PieceStream, ReadSpec, SplitFiles, SplitRead, SplitReader};

/// Rewrites `files` of one bucket, in this order, and says what to commit. The new files go on counting where the first began.
///
/// Source: spec 02a §5.2, §5.3.
///
/// # Errors
/// Files that cannot be read, a store that cannot be written; what was written is then removed.
pub async fn concat_files(
    context: Arc<WriterContext>,
    place: BucketPlace,
    schemas: SchemasById,
    files: Vec<Arc<DataFileMeta>>,
) -> Result<CommitMessage> {
    let maker = FileMaker::new(context, place);
    let result = run_concat(maker.clone(), schemas, files).await?;
    Ok(CommitMessage {
        partition: maker.place.partition,
        bucket: maker.place.bucket,
        total_buckets: maker.place.total_buckets,
        data: DataIncrement::default(),
        compact: CompactIncrement {
            before: result.before,
            after: result.after,
            changelog_files: Vec::new(),
        },
    })
}

pub(crate) async fn run_concat(
    maker: FileMaker,
    schemas: SchemasById,
    files: Vec<Arc<DataFileMeta>>,
) -> Result<CompactionResult> {
    let first_sequence = files.first().map_or(0, |file| file.min_sequence_number);
    let context = &maker.context;
    let reader = SplitReader::new(
        context.files.clone(),
        ReadSpec {
            schema: Arc::clone(&context.schema),
            schemas,
            projection: (0..context.schema.fields.len()).collect(),
            filter: None,
            kinds: false,
            batch_rows: CHUNK_ROWS,
        },
    )?;
    let mut rows = reader
        .read(SplitFiles {
            bucket_path: maker.place.path.clone(),
            files: files.clone(),
            deletions: Arc::default(),
            read: SplitRead::Raw,
            parallel: 1,
        })
        .await?;
    let writer = maker.data(0, FileSource::Compact, first_sequence)?;
    Ok(CompactionResult {
        after: write_all(rows.pieces(), writer).await?,
        before: files,
    })
}

/// Writes all rows: the next ones are read and merged while the last are encoded.
pub(super) async fn write_all(
    rows: &mut PieceStream,
    mut writer: RollingFileWriter,
) -> Result<Vec<Arc<DataFileMeta>>> {
    let copied = async {
        let mut batch = rows.next().await?;
        while let Some(current) = batch {
            let (written, following) = tokio::join!(writer.write(&current), rows.next());
            written?;
            batch = following?;
        }
        Ok(())
    }
    .await;
    finish_files(writer, copied).await
}

/// Ends a writer whose rows came through, removes its files otherwise.
pub(crate) async fn finish_files(
    writer: RollingFileWriter,
    outcome: Result<()>,
) -> Result<Vec<Arc<DataFileMeta>>> {
    match outcome {
        Ok(()) => Ok(writer.finish().await?.into_iter().map(Arc::new).collect()),
        Err(error) => {
            abort_files(writer).await;
            Err(error)
        }
    }
}

/// Removes what a writer wrote. The fault that led here is the one to report.
pub(crate) async fn abort_files(writer: RollingFileWriter) {
    if let Err(error) = writer.abort().await {
        let error = StoreError::from(error);
        tracing::debug!(%error, "files of a failed writer stay until orphans are cleaned");
    }
}
