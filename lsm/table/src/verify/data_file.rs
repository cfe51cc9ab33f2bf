//! Each data file once: is it there, whole, and what its manifest says?

use std::sync::Arc;

use futures::StreamExt;
use tidewater_files::{DataFileReader, FilesContext, ReadRequest};
use tidewater_format::{BucketMode, TableSchema, Unsupported, data_file_format, extra_file_path};
use tidewater_types::{BucketFunction, ErrorKind};

use super::content::ContentCheck;
use super::reached::{Reached, ReachedFile, size};
use super::{Fault, VerifyReport, fault};
use crate::error::{Result, TableError};
use crate::scan::bucket_function;
use crate::table_log::TableLog;

/// Checks all files, some at the same time; the faults come in the order of the files.
pub(super) async fn check_all(
    log: &TableLog,
    context: &FilesContext,
    reached: &Reached,
    report: &mut VerifyReport,
) -> Result<()> {
    let function = match log.schema().bucket_mode()? {
        BucketMode::Fixed(_) => Some(bucket_function(&log.schema().options()?)?),
        _ => None,
    };
    let checks = reached
        .files
        .iter()
        .map(|file| check(log, context, file, function));
    let parallel = context.cpu().threads().saturating_add(1);
    let mut checked = futures::stream::iter(checks).buffered(parallel);
    while let Some(found) = checked.next().await {
        let (faults, rows) = found?;
        report.faults.extend(faults);
        report.rows = report.rows.saturating_add(rows);
    }
    report.data_files = reached.files.len() as u64;
    Ok(())
}

/// The faults of one file and the rows that were read.
async fn check(
    log: &TableLog,
    context: &FilesContext,
    file: &ReachedFile,
    function: Option<BucketFunction>,
) -> Result<(Vec<Fault>, u64)> {
    let mut faults = Vec::new();
    let (place, meta) = (&file.place, &file.entry.file);
    let bytes = match size(log, &file.path).await {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            faults.push(fault("data-file-missing", place, &file.path));
            return Ok((faults, 0));
        }
        Err(e) if e.kind() == ErrorKind::Unavailable => return Err(e),
        // A folder has its name.
        Err(e) => {
            faults.push(fault("data-file-unreadable", place, e.to_string()));
            return Ok((faults, 0));
        }
    };
    if u64::try_from(meta.file_size).ok() != Some(bytes) {
        let detail = format!("manifest says {}, is {bytes}", meta.file_size);
        faults.push(fault("data-file-size", place, detail));
    }
    for extra in &meta.extra_files {
        if size(log, &extra_file_path(&file.path, extra))
            .await?
            .is_none()
        {
            faults.push(fault("extra-file-missing", place, extra));
        }
    }
    let schema = match log.schemas().read(meta.schema_id).await {
        Ok(schema) => schema,
        Err(TableError::SchemaNotFound { id, .. }) => {
            let detail = format!("schema-{id}");
            faults.push(fault("data-file-schema-missing", place, detail));
            return Ok((faults, 0));
        }
        // Told where schemas are looked at.
        Err(e) if e.kind() == ErrorKind::Corrupt => return Ok((faults, 0)),
        Err(e) => return Err(e),
    };
    let format = data_file_format(&meta.file_name).unwrap_or_default();
    if !["parquet", "avro"].contains(&format) {
        let what = format!("data files of format {format:?}");
        return Err(TableError::Format(Unsupported::other(what).into()));
    }
    match content(context, file, &schema, bytes, function).await {
        Ok((found, rows)) => {
            faults.extend(found);
            Ok((faults, rows))
        }
        Err(e) if e.kind() == ErrorKind::Unavailable => Err(e),
        Err(e) => {
            let mut detail = e.to_string();
            let mut source = std::error::Error::source(&e);
            while let Some(cause) = source {
                detail = format!("{detail}: {cause}");
                source = cause.source();
            }
            faults.push(fault("data-file-unreadable", place, detail));
            Ok((faults, 0))
        }
    }
}

async fn content(
    context: &FilesContext,
    file: &ReachedFile,
    schema: &Arc<TableSchema>,
    bytes: u64,
    function: Option<BucketFunction>,
) -> Result<(Vec<Fault>, u64)> {
    let mut check = ContentCheck::new(file.entry.clone(), schema, file.changelog, function)?;
    let reader = DataFileReader::open(context, &file.path, Some(bytes)).await?;
    let request = ReadRequest {
        file_fields: schema.fields.clone(),
        whole: file.entry.file.write_cols.is_none(),
        ..ReadRequest::new(check.columns(schema))
    };
    let mut batches = reader.read(request).await?;
    while let Some(batch) = batches.next_batch().await? {
        let taken = context.cpu().run(move || {
            check.batch(&batch)?;
            Ok::<_, TableError>(check)
        });
        check = taken.await??;
    }
    let rows = check.rows();
    Ok((check.finish(&file.place), rows))
}
