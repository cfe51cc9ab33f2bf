//! The complete tables among the vectors of spec 01, read at each snapshot to the rows that Java read.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use base64::Engine;
use serde_json::{Value, json};
use tidewater_files::FilesContext;
use tidewater_io::{CpuPool, FileIo};
use tidewater_table::{ScanBuilder, TableLog, VerifyOptions, verify};
use tidewater_types::{DataType, Datum, SnapshotId, TypeKind};

/// Tables whose features are built; the others need ORC data files, deletion vectors, dynamic or postponed buckets.
const TABLES: &[&str] = &[
    "append_part",
    "append_rt",
    "append_stats_avro",
    "append_stats_parquet",
    "pk_changelog",
    "pk_dyn",
    "pk_part",
    "py_ap",
    "py_pk",
];

/// A value in the notation of the vectors.
fn noted(array: &ArrayRef, row: usize, data_type: &DataType) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    match &data_type.kind {
        TypeKind::TinyInt => json!(array.as_primitive::<Int8Type>().value(row)),
        TypeKind::SmallInt => json!(array.as_primitive::<Int16Type>().value(row)),
        TypeKind::Int => json!(array.as_primitive::<Int32Type>().value(row)),
        TypeKind::BigInt => json!(array.as_primitive::<Int64Type>().value(row).to_string()),
        TypeKind::Array(element) => {
            let items = array.as_list::<i32>().value(row);
            (0..items.len())
                .map(|item| noted(&items, item, element))
                .collect()
        }
        TypeKind::Row(fields) => {
            let columns = array.as_struct().columns();
            let members = columns.iter().zip(&fields.fields);
            members
                .map(|(column, field)| noted(column, row, &field.data_type))
                .collect()
        }
        _ => match Datum::from_array(array, row, data_type).unwrap() {
            Datum::Boolean(value) => json!(value),
            Datum::String(value) => json!(value),
            Datum::Date(days) => json!(days),
            Datum::Bytes(bytes) => {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                json!({ "hex": hex })
            }
            Datum::Timestamp(value) => {
                json!({"ms": value.millis.to_string(), "nanoOfMs": value.nano_of_milli})
            }
            value @ Datum::Decimal { .. } => {
                json!(tidewater_types::text::format_datum(&value, data_type))
            }
            other => panic!("{other:?}"),
        },
    }
}

fn unpack(table: &Value, folder: &Path) {
    for file in table["files"].as_array().unwrap() {
        let path = folder.join(file["path"].as_str().unwrap());
        let bytes = match file["text"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => base64::engine::general_purpose::STANDARD
                .decode(file["base64"].as_str().unwrap())
                .unwrap(),
        };
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

#[tokio::test]
async fn complete_tables_read_as_java_reads_them_at_every_snapshot() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/vectors/tables");
    for name in TABLES {
        let bytes = std::fs::read(vectors.join(format!("{name}.json"))).unwrap();
        let vector: Value = serde_json::from_slice(&bytes).unwrap();
        let folder = tempfile::tempdir().unwrap();
        unpack(&vector, folder.path());
        let cpu = CpuPool::new(2);
        let root = folder.path().to_str().unwrap();
        let log = TableLog::open(FileIo::local(), cpu.clone(), root)
            .await
            .unwrap();
        let context = FilesContext::new(FileIo::local(), cpu);
        let expected = vector["expected"]["batch_read_by_snapshot"]
            .as_object()
            .unwrap();
        assert!(!expected.is_empty());
        for (id, expected) in expected {
            let snapshot = SnapshotId(id.parse().unwrap());
            let scan = ScanBuilder::new(log.clone(), context.clone()).snapshot(snapshot);
            let row_type = scan.row_type().await.unwrap();
            let columns: Vec<&str> = row_type.names().collect();
            assert_eq!(json!(columns), expected["columns"], "{name} {id}");
            let mut rows: Vec<String> = Vec::new();
            let mut stream = scan.read().await.unwrap();
            while let Some(batch) = stream.next_batch().await.unwrap() {
                for row in 0..batch.num_rows() {
                    let cells = batch.columns().iter().zip(&row_type.fields);
                    let cells: Value = cells
                        .map(|(column, field)| noted(column, row, &field.data_type))
                        .collect();
                    rows.push(cells.to_string());
                }
            }
            let wanted = expected["rows"].as_array().unwrap().iter();
            let mut wanted: Vec<String> = wanted.map(Value::to_string).collect();
            rows.sort();
            wanted.sort();
            assert_eq!(rows, wanted, "{name} at snapshot {id}");
        }
        let report = verify(&log, &context, VerifyOptions { orphans: false })
            .await
            .unwrap();
        assert!(report.faults.is_empty(), "{name}: {:?}", report.faults);
    }
}
