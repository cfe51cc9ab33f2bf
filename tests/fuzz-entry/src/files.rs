//! Files of rows: a table's own Parquet, and what `load` and `write` take.

use std::io::Cursor;

use bytes::Bytes;
use tidewater_cli::json::RowDecoder;
use tidewater_cli::load::{
    BadRowPolicy, CsvOptions, InferOptions, Input, InputFormat, Source, SourceOptions, infer_schema,
};
use tidewater_files::{AvroFileReader, FilesContext, ParquetFileReader, ReadRequest, RowChoice};
use tidewater_io::{CpuPool, Env, FileIo};
use tidewater_types::{DataField, DataType, Datum, Predicate, PredicateOp, RowType};

use crate::requests::all_types;

fn in_runtime<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(work)
}

/// Fields of the fixtures' files, and some that they lack or store as another type.
fn asked() -> Vec<Vec<DataField>> {
    let fixture = RowType::of([
        ("k", DataType::int()),
        ("v", DataType::string()),
        ("d", DataType::decimal(10, 2)),
    ]);
    let everything = all_types();
    vec![fixture.fields, everything.fields]
}

/// The path that scans of a table take, with a condition and without.
pub(crate) fn parquet(bytes: &[u8]) {
    in_runtime(async {
        let io = FileIo::memory().with_env(Env::seeded(1));
        let path = "/t/bucket-0/data-0.parquet";
        io.write(path, Bytes::copy_from_slice(bytes))
            .await
            .expect("memory");
        let context = FilesContext::new(io, CpuPool::inline());
        let Ok(reader) = ParquetFileReader::open(&context, path, None).await else {
            return;
        };
        let _ = reader.row_count();
        for fields in asked() {
            let row = RowType::new(fields.clone());
            let first = row.fields[0].name.clone();
            let filter = Predicate::leaf(&row, &first, PredicateOp::Gt, vec![Datum::Int(1)]);
            for filter in [None, filter.ok()] {
                let request = ReadRequest {
                    filter_columns: if filter.is_some() {
                        fields.clone()
                    } else {
                        Vec::new()
                    },
                    exact_filter: filter.is_some(),
                    filter,
                    ..ReadRequest::new(fields.clone())
                };
                let Ok(mut read) = reader.read(request).await else {
                    continue;
                };
                let mut batches = 0;
                while let Ok(Some(_)) = read.batches.next_batch().await {
                    batches += 1;
                    if batches > 50 {
                        break;
                    }
                }
            }
        }
    });
}

/// The path that scans of a table take, with a choice of rows and in small pieces too.
pub(crate) fn avro(bytes: &[u8]) {
    in_runtime(async {
        let io = FileIo::memory().with_env(Env::seeded(1));
        let path = "/t/bucket-0/data-0.avro";
        io.write(path, Bytes::copy_from_slice(bytes))
            .await
            .expect("memory");
        let context = FilesContext::new(io, CpuPool::inline());
        let Ok(reader) = AvroFileReader::open(&context, path, None).await else {
            return;
        };
        let row = RowType::of([("x", DataType::double()), ("y", DataType::boolean())]);
        let seeds = RowType::of([
            ("k", DataType::int()),
            ("v", DataType::string()),
            ("d", DataType::decimal(10, 2)),
            ("c", DataType::array(DataType::row(row))),
            (
                "m",
                DataType::map(DataType::int().not_null(), DataType::bytes()),
            ),
            ("t", DataType::timestamp(3)),
        ]);
        let mut asked = asked();
        asked.push(seeds.fields);
        for (fields, rows) in asked.into_iter().flat_map(|fields| {
            let some = RowChoice::Ranges(vec![1..3, 7..8, 15..1000]);
            [(fields.clone(), RowChoice::All), (fields, some)]
        }) {
            let request = ReadRequest {
                unit_bytes: if matches!(rows, RowChoice::All) {
                    1 << 20
                } else {
                    64
                },
                rows,
                batch_rows: 5,
                ..ReadRequest::new(fields)
            };
            let Ok(mut batches) = reader.read(request).await else {
                continue;
            };
            let mut read = 0;
            while let Ok(Some(_)) = batches.next_batch().await {
                read += 1;
                if read > 50 {
                    break;
                }
            }
        }
    });
}

fn load(bytes: &[u8], format: InputFormat, row: &RowType, csv: CsvOptions) {
    let input = |bytes: &[u8]| Input::Stream(Box::new(Cursor::new(bytes.to_vec())));
    let infer = InferOptions {
        format: Some(format),
        csv: csv.clone(),
        sample_rows: 100,
        primary_key: Vec::new(),
        partition_by: Vec::new(),
        options: std::collections::BTreeMap::new(),
    };
    let inferred = infer_schema(input(bytes), &infer);
    let mut rows = vec![row.clone()];
    rows.extend(
        inferred
            .ok()
            .map(|definition| RowType::new(definition.fields)),
    );
    for row in rows {
        let options = SourceOptions {
            format: Some(format),
            csv: csv.clone(),
            ignore_extra_columns: bytes.len().is_multiple_of(2),
            bad_rows: BadRowPolicy::HandOver { max: None },
            batch_rows: 16,
            ..SourceOptions::new(vec![input(bytes)])
        };
        let Ok(mut source) = Source::open(options, &row) else {
            continue;
        };
        let mut batches = 0;
        while let Ok(Some(_)) = source.next_batch_blocking() {
            batches += 1;
            if batches > 50 {
                break;
            }
        }
    }
}

pub(crate) fn load_parquet(bytes: &[u8]) {
    load(
        bytes,
        InputFormat::Parquet,
        &all_types(),
        CsvOptions::default(),
    );
}

pub(crate) fn load_arrow(bytes: &[u8]) {
    load(
        bytes,
        InputFormat::Arrow,
        &all_types(),
        CsvOptions::default(),
    );
}

pub(crate) fn load_csv(bytes: &[u8]) {
    load(bytes, InputFormat::Csv, &all_types(), CsvOptions::default());
    let bare = CsvOptions {
        delimiter: Some(b'|'),
        quote: None,
        header: false,
        ..CsvOptions::default()
    };
    load(bytes, InputFormat::Csv, &all_types(), bare);
}

pub(crate) fn load_json(bytes: &[u8]) {
    load(
        bytes,
        InputFormat::Json,
        &all_types(),
        CsvOptions::default(),
    );
}

/// Lines as `write` takes them, and bare rows.
pub(crate) fn row_lines(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let row = all_types();
    for bare in [false, true] {
        let decoder = RowDecoder::new(&row).expect("all types can be decoded");
        let mut decoder = decoder.ignoring_unknown_members(bare);
        for (number, line) in (1..).zip(text.lines()) {
            let read = if bare {
                decoder.bare_row(number, line)
            } else {
                decoder.line(number, line).map(drop)
            };
            if read.is_err() {
                break;
            }
        }
        if let Ok(Some(rows)) = decoder.take() {
            let _ = rows;
        }
    }
}
