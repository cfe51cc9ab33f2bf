//! A table whose rows are marked deleted by hand: what is left is read, and lists of vectors that are wrong are told of.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use tidewater_files::{FilesContext, ParquetFileReader, ReadRequest};
use tidewater_format::{
    AvroCodec, FileKind, IndexManifestEntry, ManifestEntry, TableSchema, index_manifest,
};
use tidewater_index::{DeletionVector, DvKind, encode_dv_files, write_dv_file};
use tidewater_io::FileIo;
use tidewater_table::{Table, TableError, VerifyOptions, VerifyReport};
use tidewater_types::{ErrorKind, Predicate};

use crate::small::{Kind, ROOT, SmallRow, chain, commit, create, memory, open, read, small_row};

/// A table with several files in each of two partitions, and the rows of each file in their order.
struct Made {
    io: FileIo,
    files: Vec<(ManifestEntry, Vec<SmallRow>)>,
}

impl Made {
    async fn new() -> Self {
        let io = memory();
        let table = create(&io, ROOT, Kind::Append).await;
        for number in 0..3 {
            let rows: Vec<_> = (0..50)
                .map(|key| small_row(key + 100 * number, &format!("value {key}")))
                .collect();
            commit(&table, i64::from(number), &rows).await.unwrap();
        }
        let snapshot = table.latest_snapshot().await.unwrap().unwrap();
        let context = FilesContext::new(io.clone(), table.log().cpu().clone());
        let mut files = Vec::new();
        for entry in table.live_files(&snapshot).await.unwrap() {
            let paths = table.log().paths();
            let partition = table.schema().partition_type();
            let dir = paths.bucket_dir(&entry.partition, entry.bucket, &partition);
            let path = paths.data_file(&dir.unwrap(), &entry.file);
            let reader = ParquetFileReader::open(&context, &path, None)
                .await
                .unwrap();
            let request = ReadRequest::new(table.schema().fields.clone());
            let mut batches = reader.read(request).await.unwrap().batches;
            let mut rows = Vec::new();
            while let Some(batch) = batches.next_batch().await.unwrap() {
                rows.extend(rows_of(&batch));
            }
            files.push((entry, rows));
        }
        assert_eq!(files.len(), 6);
        Self { io, files }
    }

    /// An index file for each data file, with these vectors.
    async fn index(&self, vectors: &[DeletionVector]) -> Vec<IndexManifestEntry> {
        let files = self.files.iter().zip(vectors);
        let mut entries = Vec::new();
        for (entry, vector) in files.map(|((entry, _), vector)| (entry, vector)) {
            let of_file = [(entry.file.file_name.as_str(), vector)];
            let encoded = encode_dv_files(of_file, Some(1)).unwrap().pop().unwrap();
            let name = format!("index-{}", entry.file.file_name);
            let path = format!("{ROOT}/index/{name}");
            entries.push(IndexManifestEntry {
                kind: FileKind::Add,
                partition: entry.partition.clone(),
                bucket: 0,
                file: write_dv_file(&self.io, &path, name, &encoded)
                    .await
                    .unwrap(),
            });
        }
        entries
    }

    /// Makes this index that of the newest snapshot, of a table that allows for it.
    async fn mark(&self, entries: &[IndexManifestEntry]) -> Table {
        let table = open(&self.io, ROOT).await.unwrap();
        let paths = table.log().paths();
        let mut snapshot = table.latest_snapshot().await.unwrap().unwrap();
        let codec = AvroCodec::from_name("zstd", 1).unwrap();
        let bytes = index_manifest::encode(entries, codec).unwrap();
        let path = paths.manifest("index-manifest-made-0");
        self.io.overwrite(&path, bytes.into()).await.unwrap();
        snapshot.index_manifest = Some("index-manifest-made-0".to_owned());
        let path = paths.snapshot(snapshot.id);
        let json = snapshot.to_json();
        self.io.overwrite(&path, json.into()).await.unwrap();
        let mut schema = TableSchema::clone(table.schema());
        let option = "deletion-vectors.enabled".to_owned();
        schema.options.insert(option, "true".to_owned());
        let path = paths.schema(schema.id);
        let json = schema.to_json();
        self.io.overwrite(&path, json.into()).await.unwrap();
        open(&self.io, ROOT).await.unwrap()
    }

    /// The rows that are left.
    fn left(&self, vectors: &[DeletionVector]) -> Vec<SmallRow> {
        let files = self.files.iter().zip(vectors);
        let mut left: Vec<SmallRow> = files
            .flat_map(|((_, rows), vector)| {
                let live = (0..).zip(rows).filter(|(at, _)| !vector.contains(*at));
                live.map(|(_, row)| row.clone())
            })
            .collect();
        left.sort_unstable();
        left
    }
}

fn rows_of(batch: &RecordBatch) -> Vec<SmallRow> {
    let keys = batch.column(0).as_primitive::<Int32Type>();
    let text =
        |column: usize, at: usize| batch.column(column).as_string::<i32>().value(at).to_owned();
    let rows = 0..batch.num_rows();
    rows.map(|at| (keys.value(at), text(1, at), text(2, at)))
        .collect()
}

fn vector(kind: DvKind, rows: impl IntoIterator<Item = u64>) -> DeletionVector {
    DeletionVector::of(kind, rows).unwrap()
}

/// Of the files: nothing, one row, every third, all but one, all, a stretch.
fn vectors() -> Vec<DeletionVector> {
    vec![
        vector(DvKind::Bits32, []),
        vector(DvKind::Bits64, [24]),
        vector(DvKind::Bits32, (0..25).step_by(3)),
        vector(DvKind::Bits64, 0..24),
        vector(DvKind::Bits32, 0..25),
        vector(DvKind::Bits64, 5..20),
    ]
}

async fn report(table: &Table) -> VerifyReport {
    table
        .verify(VerifyOptions { orphans: false })
        .await
        .unwrap()
}

#[tokio::test]
async fn rows_that_are_marked_are_gone_from_every_kind_of_read() {
    let made = Made::new().await;
    let vectors = vectors();
    let table = made.mark(&made.index(&vectors).await).await;
    let left = made.left(&vectors);
    assert_eq!(read(&table.new_scan()).await.unwrap(), left);
    let plan = table.new_scan().plan().await.unwrap();
    assert_eq!(plan.exact_row_count(), Some(left.len() as u64));
    assert_eq!(report(&table).await.faults, Vec::new());
    let row_type = table.schema().row_type();
    for text in [
        "k > 120",
        "p = 'p1'",
        "v = 'value 20' or k < 7",
        "p = 'p0' and k between 90 and 130",
    ] {
        let filter = Predicate::parse_text(text, &row_type).unwrap();
        let scan = table.new_scan().filter(filter).unwrap();
        let want: Vec<SmallRow> = left
            .iter()
            .filter(|row| match text {
                "k > 120" => row.0 > 120,
                "p = 'p1'" => row.1 == "p1",
                "v = 'value 20' or k < 7" => row.2 == "value 20" || row.0 < 7,
                _ => row.1 == "p0" && (90..=130).contains(&row.0),
            })
            .cloned()
            .collect();
        assert_eq!(read(&scan).await.unwrap(), want, "{text}");
        assert_eq!(scan.count().await.unwrap(), want.len() as u64, "{text}");
    }
    for limit in [0, 1, 7, 1000] {
        let rows = read(&table.new_scan().limit(limit)).await.unwrap();
        assert_eq!(rows.len(), limit.min(left.len()));
        assert!(rows.iter().all(|row| left.contains(row)));
    }
    // Snapshots before know nothing of it.
    let before = tidewater_types::SnapshotId(2);
    assert_eq!(
        table.new_scan().snapshot(before).count().await.unwrap(),
        100
    );
}

#[tokio::test]
async fn cardinalities_that_old_writers_left_out_are_counted_by_reading() {
    let made = Made::new().await;
    let vectors = vectors();
    let mut entries = made.index(&vectors).await;
    for entry in &mut entries {
        for range in entry.file.deletion_vectors.iter_mut().flatten() {
            range.cardinality = None;
        }
    }
    let table = made.mark(&entries).await;
    let scan = table.new_scan();
    assert_eq!(scan.plan().await.unwrap().exact_row_count(), None);
    assert_eq!(
        scan.count().await.unwrap(),
        made.left(&vectors).len() as u64
    );
    assert_eq!(report(&table).await.faults, Vec::new());
}

/// What a wrong list leads to.
struct Wrong {
    what: &'static str,
    change: fn(&mut Vec<IndexManifestEntry>),
    /// The fault that `verify` tells; nothing if only a note.
    fault: Option<&'static str>,
    /// Whether reading refuses.
    refused: bool,
}

fn range(entries: &mut [IndexManifestEntry], file: usize) -> &mut tidewater_format::DvMeta {
    &mut entries[file].file.deletion_vectors.as_mut().unwrap()[0]
}

const WRONG: &[Wrong] = &[
    Wrong {
        what: "a number of rows that is not the vector's",
        change: |entries| range(entries, 2).cardinality = Some(10),
        fault: Some("dv-cardinality"),
        refused: true,
    },
    Wrong {
        what: "a length that is not the vector's",
        change: |entries| range(entries, 2).length -= 1,
        fault: Some("dv-length"),
        refused: true,
    },
    Wrong {
        what: "a place where no vector begins",
        change: |entries| range(entries, 2).offset = 2,
        fault: Some("dv-layout"),
        refused: true,
    },
    Wrong {
        what: "a place before the file",
        change: |entries| range(entries, 2).offset = -1,
        fault: Some("dv-layout"),
        refused: true,
    },
    Wrong {
        what: "another number of vectors than the file has",
        change: |entries| entries[2].file.row_count = 2,
        fault: Some("dv-count"),
        refused: false,
    },
    Wrong {
        what: "no list at all",
        change: |entries| entries[2].file.deletion_vectors = None,
        fault: Some("dv-ranges"),
        refused: true,
    },
    Wrong {
        what: "two vectors of one data file",
        change: |entries| {
            let again = entries[2].clone();
            entries.push(again);
        },
        fault: Some("dv-twice"),
        refused: true,
    },
    Wrong {
        what: "a vector of a file that is gone",
        change: |entries| range(entries, 2).data_file_name = "data-gone-0.parquet".to_owned(),
        fault: None,
        refused: false,
    },
    Wrong {
        what: "another size than the file has",
        change: |entries| entries[2].file.file_size += 1,
        fault: Some("index-file-size"),
        refused: false,
    },
    Wrong {
        what: "a file that is not there",
        change: |entries| entries[2].file.file_name = "index-gone".to_owned(),
        fault: Some("index-file-missing"),
        refused: true,
    },
];

#[tokio::test]
async fn lists_that_are_wrong_are_told_and_nothing_is_read_by_them() {
    for wrong in WRONG {
        let made = Made::new().await;
        let mut entries = made.index(&vectors()).await;
        (wrong.change)(&mut entries);
        let table = made.mark(&entries).await;
        let report = report(&table).await;
        let codes: Vec<_> = report.faults.iter().map(|fault| fault.code).collect();
        let expected: Vec<_> = wrong.fault.into_iter().collect();
        assert!(
            codes.iter().all(|code| expected.contains(code))
                && codes.is_empty() == expected.is_empty(),
            "{}: {:?}",
            wrong.what,
            report.faults
        );
        let notes: Vec<_> = report.notes.iter().map(|note| note.code).collect();
        assert_eq!(
            notes.contains(&"dv-of-unknown-file"),
            wrong.fault.is_none(),
            "{}",
            wrong.what
        );
        match read(&table.new_scan()).await {
            Ok(_) => assert!(!wrong.refused, "{}", wrong.what),
            Err(error) => {
                assert!(wrong.refused, "{}: {}", wrong.what, chain(&error));
                let fits = matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::NotFound);
                assert!(fits, "{}: {:?} {}", wrong.what, error.kind(), chain(&error));
            }
        }
    }
}

#[tokio::test]
async fn a_vector_with_rows_that_its_file_lacks_is_refused_and_told() {
    let made = Made::new().await;
    let mut vectors = vectors();
    vectors[2] = vector(DvKind::Bits32, [3, 25]);
    let table = made.mark(&made.index(&vectors).await).await;
    let error = read(&table.new_scan()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let name = &made.files[2].0.file.file_name;
    assert!(chain(&error).contains(name.as_str()), "{}", chain(&error));
    let faults = report(&table).await.faults;
    let codes: Vec<_> = faults.iter().map(|fault| fault.code).collect();
    assert_eq!(codes, ["dv-position"]);
}

#[tokio::test]
async fn a_table_that_may_have_vectors_is_not_written_yet() {
    let made = Made::new().await;
    let table = made.mark(&[]).await;
    let refused = Arc::new(table)
        .new_write(tidewater_table::WriteOptions::default())
        .await;
    let error: TableError = refused.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}
