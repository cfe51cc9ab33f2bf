//! A table schema, a store in memory and the short way to write and read a file.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int8Array, Int64Array, RecordBatch};
use arrow_schema::{Field, Schema};
use arrow_select::concat::concat_batches;
use tidewater_files::{
    DataFileReader, FileDirectory, FileNames, FileWriterOptions, FilesContext, ReadRequest, Result,
    RollingFileWriter,
};
use tidewater_format::{DataFileMeta, FileSource, SchemaDefinition, TableSchema};
use tidewater_io::{CpuPool, Env, FileIo};
use tidewater_types::arrow_types::to_arrow_field;
use tidewater_types::{DataField, RowType};

pub(crate) const DIR: &str = "/t/bucket-0";

/// A store in memory, two threads and a clock that stands still.
pub(crate) fn context() -> FilesContext {
    FilesContext::new(FileIo::memory().with_env(Env::seeded(7)), CpuPool::new(2))
}

/// The same store with an empty footer cache: for files that a test writes twice under one name.
pub(crate) fn context_over(context: &FilesContext) -> FilesContext {
    FilesContext::new(context.io().clone(), context.cpu().clone())
}

/// Files of this machine.
pub(crate) fn local_context() -> FilesContext {
    FilesContext::new(FileIo::local(), CpuPool::new(2))
}

/// The schema of a table with these columns.
pub(crate) fn table(
    row: &RowType,
    primary_keys: &[&str],
    options: &[(&str, &str)],
) -> Arc<TableSchema> {
    let own = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    let options: BTreeMap<String, String> = options
        .iter()
        .map(|&(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    let definition = SchemaDefinition {
        fields: row.fields.clone(),
        primary_keys: own(primary_keys),
        partition_keys: Vec::new(),
        options,
        comment: None,
    };
    Arc::new(TableSchema::create(definition, 0).unwrap())
}

/// A batch of these columns.
pub(crate) fn batch(fields: &[DataField], columns: Vec<ArrayRef>) -> RecordBatch {
    let fields: Vec<Field> = fields.iter().map(to_arrow_field).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// The batch with `_SEQUENCE_NUMBER` (rising from `first`) and `_VALUE_KIND` in front.
pub(crate) fn keyed(batch: &RecordBatch, first: i64, kinds: Vec<i8>) -> RecordBatch {
    let sequence = Int64Array::from_iter_values(first..first + i64::try_from(kinds.len()).unwrap());
    let mut fields = vec![
        Arc::new(to_arrow_field(&tidewater_format::sequence_number_field())),
        Arc::new(to_arrow_field(&tidewater_format::value_kind_field())),
    ];
    fields.extend(batch.schema().fields().iter().cloned());
    let mut columns: Vec<ArrayRef> = vec![Arc::new(sequence), Arc::new(Int8Array::from(kinds))];
    columns.extend(batch.columns().iter().cloned());
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

pub(crate) fn options(schema: &TableSchema) -> FileWriterOptions {
    FileWriterOptions::data(schema, 0, FileSource::Append).unwrap()
}

/// Writes the batches with these settings.
pub(crate) async fn write_with(
    context: &FilesContext,
    schema: &Arc<TableSchema>,
    options: FileWriterOptions,
    batches: &[RecordBatch],
) -> Result<Vec<DataFileMeta>> {
    let names = FileNames::new(context.env());
    let mut writer = RollingFileWriter::new(
        context,
        names,
        FileDirectory::of_bucket(DIR),
        Arc::clone(schema),
        options,
    )?;
    for batch in batches {
        if let Err(error) = writer.write(batch).await {
            writer.abort().await.unwrap();
            return Err(error);
        }
    }
    writer.finish().await
}

/// Writes the batches with the table's settings.
pub(crate) async fn write(
    context: &FilesContext,
    schema: &Arc<TableSchema>,
    batches: &[RecordBatch],
) -> Result<Vec<DataFileMeta>> {
    write_with(context, schema, options(schema), batches).await
}

pub(crate) fn path(file: &DataFileMeta) -> String {
    format!("{DIR}/{}", file.file_name)
}

/// All batches of a read, as one.
pub(crate) async fn read_with(
    context: &FilesContext,
    path: &str,
    request: ReadRequest,
) -> Result<RecordBatch> {
    let reader = DataFileReader::open(context, path, None).await?;
    let mut read = reader.read(request).await?;
    let schema = read.schema();
    let mut batches = Vec::new();
    while let Some(batch) = read.next_batch().await? {
        assert_eq!(batch.schema(), schema);
        batches.push(batch);
    }
    Ok(concat_batches(&schema, &batches).unwrap())
}

/// These columns of a file whose schema is the read schema.
pub(crate) async fn read(
    context: &FilesContext,
    path: &str,
    columns: &[DataField],
) -> Result<RecordBatch> {
    read_with(context, path, ReadRequest::new(columns.to_vec())).await
}

/// The bytes of a vector, from the copies in this repository.
pub(crate) fn vector_path(name: &str) -> String {
    format!(
        "{}/../../tests/fixtures/vectors/{name}",
        env!("CARGO_MANIFEST_DIR")
    )
}
