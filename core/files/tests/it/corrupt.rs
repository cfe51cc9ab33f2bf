//! Damaged files answer with an error that names them; they never panic, hang or take the memory they claim to need.

use std::sync::OnceLock;

use bytes::Bytes;
use proptest::prelude::*;
use tidewater_files::{
    FilesContext, FilesError, ParquetFileReader, ReadRequest, Result, RowChoice,
};
use tidewater_io::IoError;
use tidewater_types::{DataField, DataType, ErrorKind};

use crate::arrays::{Numbers, array, row_of};
use crate::support::{
    batch, context, context_over, local_context, options, path, read, table, vector_path,
    write_with,
};

const PATH: &str = "/t/bucket-0/damaged.parquet";

/// Real files with the fields to read: Java's, and one of ours with every type.
fn samples() -> &'static [(Vec<u8>, Vec<DataField>)] {
    static SAMPLES: OnceLock<Vec<(Vec<u8>, Vec<DataField>)>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let types = vec![
            DataType::int(),
            DataType::string(),
            DataType::decimal(20, 2),
            DataType::timestamp(9),
            DataType::array(DataType::row(row_of(vec![
                DataType::int(),
                DataType::string(),
            ]))),
            DataType::map(DataType::string().not_null(), DataType::timestamp(9)),
            DataType::double(),
            DataType::boolean(),
        ];
        let ours = std::thread::spawn(move || {
            tokio::runtime::Runtime::new().unwrap().block_on(async {
                let schema = table(
                    &row_of(types),
                    &[],
                    &[
                        ("parquet.page.write-checksum.enabled", "false"),
                        ("file.compression", "snappy"),
                    ],
                );
                let mut numbers = Numbers::new(3);
                let columns = schema
                    .fields
                    .iter()
                    .map(|field| array(&field.data_type, 300, &mut numbers))
                    .collect();
                let context = context();
                let rows = batch(&schema.fields, columns);
                let files = write_with(&context, &schema, options(&schema), &[rows])
                    .await
                    .unwrap();
                (
                    context.io().read(&path(&files[0])).await.unwrap().to_vec(),
                    schema.fields.clone(),
                )
            })
        });
        let java = [
            DataField::new(0, "v", DataType::int()),
            DataField::new(1, "k2", DataType::string()),
            DataField::new(3, "d", DataType::decimal(10, 2)),
            DataField::new(5, "arr", DataType::array(DataType::int())),
        ];
        let java_bytes = std::fs::read(vector_path("02-files/pk-level0.parquet")).unwrap();
        vec![ours.join().unwrap(), (java_bytes, java.to_vec())]
    })
}

/// Reads a file of these bytes: fetched from a store, or in place on a disk.
async fn read_bytes(bytes: Vec<u8>, on_disk: bool, fields: &[DataField]) -> (String, Result<()>) {
    if !on_disk {
        let context = context();
        context.io().write(PATH, Bytes::from(bytes)).await.unwrap();
        return (PATH.to_owned(), read_all(&context, PATH, fields).await);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.parquet");
    std::fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap().to_owned();
    let outcome = read_all(&local_context(), &path, fields).await;
    (path, outcome)
}

/// Reads all rows in two ways; the answer is the first error.
async fn read_all(context: &FilesContext, path: &str, fields: &[DataField]) -> Result<()> {
    read(context, path, fields).await?;
    let reader = ParquetFileReader::open(context, path, None).await?;
    let mut request = ReadRequest::new(fields.to_vec());
    request.rows = RowChoice::Ranges(vec![1..2, 100..200]);
    request.unit_bytes = 1;
    request.parallel = 2;
    let mut read = reader.read(request).await?;
    while read.batches.next_batch().await?.is_some() {}
    Ok(())
}

fn is_typed(error: &FilesError) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Corrupt | ErrorKind::Unsupported | ErrorKind::Invalid
    )
}

fn quietly<T>(work: impl FnOnce() -> T) -> T {
    // Panics of the decoder are caught on the worker threads; their reports would fill the log.
    static QUIET: OnceLock<()> = OnceLock::new();
    QUIET.get_or_init(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let worker = std::thread::current()
                .name()
                .is_some_and(|name| name.starts_with("tidewater-cpu"));
            if !worker {
                usual(info);
            }
        }));
    });
    work()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any bytes of a real file changed: rows or a typed error, and damage is named with the file.
    #[test]
    fn changed_bytes_give_rows_or_a_typed_error(
        sample in 0_usize..2,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        near_the_end in any::<bool>(),
        on_disk in any::<bool>(),
    ) {
        let (bytes, fields) = &samples()[sample];
        let mut bytes = bytes.clone();
        for (at, value) in changes {
            let length = bytes.len();
            // Footers are small and matter most.
            let at = if near_the_end { length - 1 - at.index(length.min(3000)) } else { at.index(length) };
            bytes[at] = value;
        }
        let (path, outcome) = quietly(|| runtime().block_on(read_bytes(bytes, on_disk, fields)));
        if let Err(error) = outcome {
            prop_assert!(is_typed(&error), "{error:?}");
            if error.kind() == ErrorKind::Corrupt {
                prop_assert!(error.to_string().contains(&path), "{error}");
            }
        }
    }

    /// A file that is cut anywhere is refused.
    #[test]
    fn a_cut_file_is_refused(sample in 0_usize..2, at in any::<prop::sample::Index>(), on_disk in any::<bool>()) {
        let (bytes, fields) = &samples()[sample];
        let cut = bytes[..at.index(bytes.len())].to_vec();
        let (path, outcome) = quietly(|| runtime().block_on(read_bytes(cut, on_disk, fields)));
        let error = outcome.unwrap_err();
        prop_assert_eq!(error.kind(), ErrorKind::Corrupt);
        prop_assert!(error.to_string().contains(&path), "{}", error);
    }

    /// Bytes that are no file at all.
    #[test]
    fn noise_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), magic in any::<bool>()) {
        let mut bytes = bytes;
        if magic {
            bytes.extend_from_slice(&40_u32.to_le_bytes());
            bytes.extend_from_slice(b"PAR1");
        }
        let error = quietly(|| runtime().block_on(async {
            let context = context();
            context.io().write(PATH, Bytes::from(bytes)).await.unwrap();
            read_all(&context, PATH, &[]).await.unwrap_err()
        }));
        prop_assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
}

#[tokio::test]
async fn a_missing_file_is_not_found() {
    let context = context();
    let error = ParquetFileReader::open(&context, PATH, None)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let error = ParquetFileReader::open(&context, PATH, Some(1000))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn a_file_whose_size_is_not_the_recorded_one_is_damage() {
    let (bytes, _) = &samples()[1];
    let context = context();
    context
        .io()
        .write(PATH, Bytes::from(bytes.clone()))
        .await
        .unwrap();
    for size in [bytes.len() as u64 - 1, bytes.len() as u64 + 1] {
        let error = ParquetFileReader::open(&context_over(&context), PATH, Some(size))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    }
}

#[tokio::test]
async fn a_file_cut_while_it_is_open_says_what_is_missing() {
    let (bytes, fields) = &samples()[1];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.parquet");
    std::fs::write(&path, bytes).unwrap();
    let reader = ParquetFileReader::open(&local_context(), path.to_str().unwrap(), None)
        .await
        .unwrap();
    let mut read = reader.read(ReadRequest::new(fields.clone())).await.unwrap();
    std::fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(100)
        .unwrap();
    let error = read.batches.next_batch().await.unwrap_err();
    assert!(
        matches!(&error, FilesError::Io(IoError::ShortRead { path, .. }) if path.ends_with("cut.parquet")),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_store_that_is_gone_between_footer_and_data_says_so() {
    let (bytes, fields) = &samples()[1];
    let context = context();
    context
        .io()
        .write(PATH, Bytes::from(bytes.clone()))
        .await
        .unwrap();
    let reader = ParquetFileReader::open(&context, PATH, None).await.unwrap();
    context.io().delete(PATH).await.unwrap();
    let mut read = reader.read(ReadRequest::new(fields.clone())).await.unwrap();
    let error = read.batches.next_batch().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(
        read.batches.next_batch().await.unwrap().is_none(),
        "the stream has ended"
    );
}
