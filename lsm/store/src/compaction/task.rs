//! Compaction of a primary-key bucket: plan, rewrite, upgrade.

use std::sync::Arc;

use tidewater_format::{DataFileMeta, FileSource};
use tidewater_merge::{
    CompactionTaskPlan, CompactionUnit, Section, TaskPlanOptions, TaskStep, small_file_size,
};

use super::CompactionResult;
use super::concat::write_all;
use super::expiry::RecordExpiry;
use crate::bucket_writer::{CHUNK_ROWS, FileMaker, SchemasById};
use crate::error::Result;
use crate::split_reader::{MergeRequest, MergeStream};

/// A unit that was picked, and what its rewriting needs to know.
#[derive(Debug)]
pub(crate) struct KeyedTask {
    pub(crate) unit: CompactionUnit,
    pub(crate) top_level: i32,
    /// Whether retractions have nothing left to hide.
    pub(crate) drop_deletes: bool,
    /// What has expired, in tables whose rows do.
    pub(crate) expiry: Option<RecordExpiry>,
}

/// Runs a task to its end. What it had written is removed when it fails. Source: spec 02b §3.4 to §3.7.
pub(crate) async fn run_keyed(
    maker: FileMaker,
    schemas: SchemasById,
    task: KeyedTask,
) -> Result<CompactionResult> {
    let context = Arc::clone(&maker.context);
    let has_expired_rows = |file: &DataFileMeta| {
        let expiry = task.expiry.as_ref();
        expiry.is_some_and(|expiry| expiry.is_in(file, &context.schema, &schemas))
    };
    let plan = CompactionTaskPlan::new(
        &task.unit,
        &TaskPlanOptions {
            top_level: task.top_level,
            small_file_size: small_file_size(&context.options, true),
            force_rewrite_all_files: context.options.compaction_force_rewrite_all_files,
            has_expired_rows: &has_expired_rows,
        },
        &context.keyed()?.keys,
    )?;
    let mut result = CompactionResult::default();
    let mut made: Vec<Arc<DataFileMeta>> = Vec::new();
    for step in plan.steps {
        match step {
            TaskStep::Upgrade(file) => {
                result
                    .after
                    .push(Arc::new(file.upgraded(plan.output_level)));
                result.before.push(file);
            }
            TaskStep::Rewrite(sections) => {
                let inputs: Vec<Arc<DataFileMeta>> =
                    sections.iter().flat_map(Section::files).cloned().collect();
                let rewritten = rewrite(&maker, &schemas, sections, plan.output_level, &task).await;
                match rewritten {
                    Ok(files) => {
                        made.extend(files.iter().cloned());
                        result.before.extend(inputs);
                        result.after.extend(files);
                    }
                    Err(error) => {
                        maker.delete(&made).await;
                        return Err(error);
                    }
                }
            }
        }
    }
    Ok(result)
}

/// Merges sections, in key order, into files of `level`.
async fn rewrite(
    maker: &FileMaker,
    schemas: &SchemasById,
    sections: Vec<Section>,
    level: i32,
    task: &KeyedTask,
) -> Result<Vec<Arc<DataFileMeta>>> {
    let mut rows = MergeStream::open(
        &maker.context.files,
        MergeRequest {
            schema: Arc::clone(&maker.context.schema),
            schemas: Arc::clone(schemas),
            bucket_path: maker.place.path.clone(),
            sections,
            deletions: Arc::default(),
            keep: task.expiry.as_ref().map(|expiry| expiry.kept().clone()),
            drop_deletes: task.drop_deletes,
            batch_rows: CHUNK_ROWS,
        },
    )?;
    let writer = maker.data(level, FileSource::Compact, 0)?;
    write_all(rows.pieces(), writer).await
}
