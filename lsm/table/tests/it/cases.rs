//! Inputs that broke systems like this one: small tables, and what is right.

use std::collections::BTreeMap;

use arrow_array::{ArrayRef, Int8Array, RecordBatch};
use tidewater_format::{SchemaChange, SchemaDefinition};
use tidewater_io::{FileIo, FileStatus};
use tidewater_table::{
    CommitOptions, Committable, CompactScope, StreamMode, StreamOptions, Table, VerifyOptions,
    WriteOptions,
};
use tidewater_types::arrow_types::to_arrow_schema;
use tidewater_types::text::{format_datum, parse_datum};
use tidewater_types::{
    DataType, Datum, Predicate, PredicateOp, RowKind, RowType, SnapshotId, TypeKind,
    datums_to_array,
};

use crate::small::{environment, memory, open};

const ROOT: &str = "/w/db.db/cases";

/// A table whose rows are given and shown as text; `~` is null.
struct Case {
    io: FileIo,
    table: Table,
    identifier: i64,
}

impl Case {
    async fn new(
        columns: &[(&str, DataType)],
        primary_keys: &[&str],
        partition_keys: &[&str],
        options: &[(&str, &str)],
    ) -> Self {
        let io = memory();
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let definition = SchemaDefinition {
            fields: RowType::of(columns.iter().cloned()).fields,
            primary_keys: names(primary_keys),
            partition_keys: names(partition_keys),
            options: options
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect::<BTreeMap<_, _>>(),
            comment: None,
        };
        let table = Table::create(environment(&io), io.clone(), ROOT, "t", definition);
        let table = table.await.unwrap().unwrap();
        Self {
            io,
            table,
            identifier: 0,
        }
    }

    fn datum(&self, column: usize, text: &str) -> Datum {
        if text == "~" {
            return Datum::Null;
        }
        let data_type = &self.table.schema().fields[column].data_type;
        if data_type.kind.is_bytes() {
            let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
            return Datum::Bytes((0..text.len()).step_by(2).map(byte).collect());
        }
        parse_datum(text, data_type).unwrap()
    }

    /// One commit of rows `KIND value value …`.
    async fn commit(&mut self, rows: &[&[&str]]) {
        let fields = &self.table.schema().fields;
        let columns: Vec<ArrayRef> = (0..fields.len())
            .map(|column| {
                let values: Vec<Datum> = rows
                    .iter()
                    .map(|row| self.datum(column, row[column + 1]))
                    .collect();
                datums_to_array(&fields[column].data_type, &values).unwrap()
            })
            .collect();
        let kinds: Int8Array = rows
            .iter()
            .map(|row| Some(RowKind::from_short(row[0]).unwrap().as_i8()))
            .collect();
        let schema = to_arrow_schema(&self.table.schema().row_type());
        let batch = RecordBatch::try_new(schema, columns).unwrap();
        let mut write = self.table.new_write(WriteOptions::default()).await.unwrap();
        write.write_with_kinds(batch, kinds).await.unwrap();
        self.end(write.prepare_commit(true).await.unwrap()).await;
    }

    async fn compact(&mut self) {
        let mut write = self.table.new_write(WriteOptions::default()).await.unwrap();
        write.compact(&CompactScope::default(), true).await.unwrap();
        self.end(write.prepare_commit(true).await.unwrap()).await;
    }

    async fn end(&mut self, messages: Vec<tidewater_store::CommitMessage>) {
        self.identifier += 1;
        let committable = Committable {
            identifier: self.identifier,
            messages,
            ..Committable::default()
        };
        let commit = self.table.new_commit(CommitOptions::default()).unwrap();
        commit.commit(committable).await.unwrap();
    }

    async fn alter(&mut self, change: SchemaChange) {
        self.table.alter(&[change]).await.unwrap();
        self.table = open(&self.io, ROOT).await.unwrap();
    }

    /// Rows that match, as text, sorted.
    async fn read(&self, filter: &str) -> Vec<String> {
        let row_type = self.table.schema().row_type();
        let mut scan = self.table.new_scan();
        if !filter.is_empty() {
            let filter = Predicate::parse_text(filter, &row_type).unwrap();
            scan = scan.filter(filter).unwrap();
        }
        let mut stream = scan.read().await.unwrap();
        let mut lines = Vec::new();
        while let Some(batch) = stream.next_batch().await.unwrap() {
            lines.extend((0..batch.num_rows()).map(|row| line(&batch, row, &row_type)));
        }
        assert_eq!(scan.count().await.unwrap(), lines.len() as u64);
        lines.sort_unstable();
        lines
    }

    async fn files(&self) -> Vec<FileStatus> {
        self.io.list_recursive(ROOT).await.unwrap()
    }

    async fn verify(&self) {
        let options = VerifyOptions { orphans: true };
        let report = self.table.verify(options).await.unwrap();
        assert_eq!((report.faults, report.orphans), (vec![], vec![]));
    }
}

fn line(batch: &RecordBatch, row: usize, row_type: &RowType) -> String {
    let values = row_type.fields.iter().zip(batch.columns());
    let texts: Vec<String> = values
        .map(
            |(field, column)| match Datum::from_array(column, row, &field.data_type).unwrap() {
                Datum::Null => "~".to_owned(),
                Datum::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
                value => format_datum(&value, &field.data_type),
            },
        )
        .collect();
    texts.join(" ")
}

#[tokio::test]
async fn a_descending_sequence_keeps_the_smallest_in_the_buffer_and_in_the_reader() {
    let rows: [&[&str]; 3] = [
        &["+I", "1", "b", "1"],
        &["+I", "1", "d", "3"],
        &["+I", "1", "e", "2"],
    ];
    for key in [DataType::string().not_null(), DataType::int().not_null()] {
        for commits in [1, 3] {
            let columns = [
                ("k", key.clone()),
                ("v", DataType::string()),
                ("c", DataType::int()),
            ];
            let options = [
                ("bucket", "1"),
                ("sequence.field", "c"),
                ("sequence.field.sort-order", "descending"),
            ];
            let mut case = Case::new(&columns, &["k"], &[], &options).await;
            for commit in rows.chunks(rows.len() / commits) {
                case.commit(commit).await;
            }
            assert_eq!(case.read("").await, ["1 b 1"], "{commits} commits");
            case.compact().await;
            assert_eq!(
                case.read("").await,
                ["1 b 1"],
                "{commits} commits, compacted"
            );
        }
    }
}

#[tokio::test]
async fn blanks_around_sequence_fields_mean_nothing() {
    for fields in ["s0,s1", " s0 , s1 "] {
        let columns = [
            ("k", DataType::int().not_null()),
            ("s0", DataType::int()),
            ("s1", DataType::int()),
        ];
        let options = [("bucket", "1"), ("sequence.field", fields)];
        let mut case = Case::new(&columns, &["k"], &[], &options).await;
        case.commit(&[&["+I", "1", "1", "5"], &["+I", "1", "1", "4"]])
            .await;
        case.commit(&[&["+I", "1", "~", "9"], &["+I", "1", "0", "9"]])
            .await;
        assert_eq!(case.read("").await, ["1 1 5"], "{fields:?}");
    }
}

#[tokio::test]
async fn deletes_told_by_a_kind_column_are_ignored_too() {
    let columns = [
        ("k", DataType::int().not_null()),
        ("v", DataType::string()),
        ("kind", DataType::string()),
    ];
    let options = [
        ("bucket", "1"),
        ("rowkind.field", "kind"),
        ("ignore-delete", "true"),
    ];
    let mut case = Case::new(&columns, &["k"], &[], &options).await;
    case.commit(&[&["+I", "1", "A", "+I"]]).await;
    case.commit(&[&["+I", "1", "A", "-D"]]).await;
    assert_eq!(case.read("").await, ["1 A +I"]);
    case.commit(&[&["+I", "1", "B", "+I"]]).await;
    assert_eq!(case.read("").await, ["1 B +I"]);
}

#[tokio::test]
async fn a_condition_on_a_value_does_not_hide_the_newest_version_of_a_key() {
    let columns = [
        ("p", DataType::int().not_null()),
        ("k", DataType::int().not_null()),
        ("v", DataType::int()),
    ];
    for partitioned in [false, true] {
        let partitions: &[&str] = if partitioned { &["p"] } else { &[] };
        let mut case = Case::new(&columns, &["p", "k"], partitions, &[("bucket", "1")]).await;
        case.commit(&[&["+I", "1", "1", "1"], &["+I", "1", "2", "1"]])
            .await;
        case.commit(&[&["+I", "1", "1", "3"]]).await;
        case.commit(&[&["-D", "1", "2", "9"]]).await;
        for compacted in [false, true] {
            assert_eq!(case.read("v = 3").await, ["1 1 3"], "{compacted}");
            assert!(case.read("v = 1").await.is_empty(), "{compacted}");
            assert!(case.read("v = 9").await.is_empty(), "{compacted}");
            case.compact().await;
        }
    }
}

#[tokio::test]
async fn decimals_of_all_widths_are_pruned_by_value_and_so_after_a_change_of_scale() {
    let columns = [
        ("a", DataType::decimal(9, 2)),
        ("b", DataType::decimal(18, 2)),
        ("c", DataType::decimal(38, 18)),
    ];
    let mut case = Case::new(&columns, &[], &[], &[("bucket", "-1")]).await;
    case.commit(&[&["+I", "1.10", "1.10", "-0.000000000000000001"]])
        .await;
    case.commit(&[&["+I", "-7.25", "-7.25", "12345678901234567890.5"]])
        .await;
    let first = "1.10 1.10 -0.000000000000000001";
    for filter in ["a = 1.10", "b = 1.1", "c < 0", "a > 0 and b >= 1.10"] {
        assert_eq!(case.read(filter).await, [first], "{filter}");
    }
    case.alter(SchemaChange::ChangeType {
        path: vec!["a".to_owned()],
        data_type: DataType::decimal(20, 4),
        keep_nullability: false,
    })
    .await;
    case.commit(&[&["+I", "1.1001", "0.00", "~"]]).await;
    let first = "1.1000 1.10 -0.000000000000000001";
    assert_eq!(case.read("a = 1.10").await, [first]);
    assert_eq!(case.read("a > 1.10").await, ["1.1001 0.00 ~"]);
    assert_eq!(case.read("a < -7.2499 and c > 1").await.len(), 1);
}

#[tokio::test]
async fn bytes_are_ordered_without_a_sign_as_values_keys_and_bounds() {
    for kind in [TypeKind::VarBinary(8), TypeKind::Binary(1)] {
        let columns = [
            ("b", DataType::new(kind.clone()).not_null()),
            ("v", DataType::new(kind)),
        ];
        for keys in [&[][..], &["b"]] {
            let bucket = if keys.is_empty() { "-1" } else { "1" };
            let mut case = Case::new(&columns, keys, &[], &[("bucket", bucket)]).await;
            for byte in ["80", "7e", "01", "ff"] {
                case.commit(&[&["+I", byte, byte]]).await;
            }
            case.compact().await;
            let row_type = case.table.schema().row_type();
            for column in ["b", "v"] {
                let bound = vec![Datum::Bytes(vec![0x7f])];
                let filter = Predicate::leaf(&row_type, column, PredicateOp::Gt, bound).unwrap();
                let scan = case.table.new_scan().filter(filter).unwrap();
                assert_eq!(scan.count().await.unwrap(), 2, "{column}");
            }
            case.verify().await;
        }
    }
}

#[tokio::test]
async fn a_largest_timestamp_is_not_hidden_by_the_grain_of_its_bound() {
    for precision in [3, 6, 9] {
        let columns = [
            ("t", DataType::timestamp(precision)),
            ("v", DataType::int()),
        ];
        let mut case = Case::new(&columns, &[], &[], &[("bucket", "-1")]).await;
        let late = [
            "2024-01-01 12:00:00.001",
            "2024-01-01 12:00:00.000700",
            "2024-01-01 12:00:00.000000001",
        ][usize::from(precision) / 3 - 1];
        case.commit(&[&["+I", "2024-01-01 12:00:00", "1"], &["+I", late, "2"]])
            .await;
        case.commit(&[&["+I", "1969-12-31 23:59:59.999", "3"]])
            .await;
        let found = case.read("t > '2024-01-01 12:00:00'").await;
        assert_eq!(found.len(), 1, "{precision}");
        assert!(found[0].ends_with(" 2"));
        assert_eq!(case.read("t < '1970-01-01 00:00:00'").await.len(), 1);
    }
}

#[tokio::test]
async fn like_takes_escaped_wildcards_for_themselves_in_files_too() {
    let mut case = Case::new(&[("s", DataType::string())], &[], &[], &[("bucket", "-1")]).await;
    for text in ["a%", "a\\anything", "a_", "ab", "a\\"] {
        case.commit(&[&["+I", text]]).await;
    }
    assert_eq!(case.read(r"s like 'a\%'").await, ["a%"]);
    assert_eq!(case.read(r"s like 'a\_'").await, ["a_"]);
    assert_eq!(case.read(r"s like 'a\\%'").await, ["a\\", "a\\anything"]);
    assert_eq!(case.read("s like 'a_'").await, ["a%", "a\\", "a_", "ab"]);
}

#[tokio::test]
async fn an_empty_bucket_key_and_a_null_one_stay_apart_and_are_found() {
    let columns = [("s", DataType::string()), ("v", DataType::int())];
    let options = [("bucket", "2"), ("bucket-key", "s")];
    let mut case = Case::new(&columns, &[], &[], &options).await;
    case.commit(&[&["+I", "", "1"], &["+I", "~", "2"], &["+I", "\0", "3"]])
        .await;
    case.commit(&[&["+I", "", "4"]]).await;
    assert_eq!(case.read("s = ''").await, [" 1", " 4"]);
    assert_eq!(case.read("s is null").await, ["~ 2"]);
    assert_eq!(case.read("s in ('', 'x')").await, [" 1", " 4"]);
    case.compact().await;
    assert_eq!(case.read("s = ''").await, [" 1", " 4"]);
    case.verify().await;
}

#[tokio::test]
async fn a_null_partition_is_a_folder_of_its_own_and_is_asked_for_as_null() {
    let columns = [("pt", DataType::string()), ("v", DataType::int())];
    let mut case = Case::new(&columns, &[], &["pt"], &[("bucket", "-1")]).await;
    let rows: Vec<Vec<String>> = (0..100)
        .map(|v| vec!["+I".to_owned(), "~".to_owned(), v.to_string()])
        .collect();
    let rows: Vec<Vec<&str>> = rows
        .iter()
        .map(|row| row.iter().map(String::as_str).collect())
        .collect();
    let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
    case.commit(&rows).await;
    case.commit(&[&["+I", "x", "1"]]).await;
    assert_eq!(case.read("pt is null").await.len(), 100);
    assert_eq!(case.read("pt is not null").await, ["x 1"]);
    assert_eq!(case.read("").await.len(), 101);
    let default = "/pt=__DEFAULT_PARTITION__/";
    assert!(
        case.files()
            .await
            .iter()
            .any(|file| file.path.contains(default))
    );
    case.compact().await;
    assert_eq!(case.read("pt is null").await.len(), 100);
    case.verify().await;
}

#[tokio::test]
async fn partitions_of_any_type_and_text_are_written_found_and_listed_in_both_namings() {
    let columns = [
        ("d", DataType::date()),
        ("b", DataType::boolean()),
        ("n", DataType::decimal(6, 2)),
        ("s", DataType::string()),
        ("t", DataType::timestamp(3)),
        ("v", DataType::int()),
    ];
    for (legacy, day) in [("true", "d=19782"), ("false", "d=2024-02-29")] {
        let options = [("bucket", "-1"), ("partition.legacy-name", legacy)];
        let mut case = Case::new(&columns, &[], &["d", "b", "n", "s", "t"], &options).await;
        let texts = ["a b", "100%", "k=v", "x/y", "c:d", "+", "\u{1F30A}"];
        for (number, text) in texts.iter().enumerate() {
            let row: [&str; 7] = [
                "+I",
                "2024-02-29",
                "true",
                "-1.50",
                text,
                "2022-01-01 04:00:00",
                &number.to_string(),
            ];
            case.commit(&[&row]).await;
        }
        let folders = case.files().await;
        assert!(
            folders.iter().any(|file| file.path.contains(day)),
            "{legacy}"
        );
        for (number, text) in texts.iter().enumerate() {
            let found = case.read(&format!("s = '{text}'")).await;
            assert_eq!(found.len(), 1, "{legacy} {text}");
            assert!(found[0].ends_with(&format!(" {number}")), "{found:?}");
        }
        let all = "d = '2024-02-29' and b = true and n = -1.5 and t = '2022-01-01 04:00:00'";
        assert_eq!(case.read(all).await.len(), texts.len(), "{legacy}");
        assert!(case.read("d < '2024-02-29'").await.is_empty());
        case.verify().await;
    }
}

#[tokio::test]
async fn compactions_are_no_changes_to_a_follower() {
    for producer in ["none", "input"] {
        let columns = [("k", DataType::int().not_null()), ("v", DataType::int())];
        let options = [("bucket", "1"), ("changelog-producer", producer)];
        let mut case = Case::new(&columns, &["k"], &[], &options).await;
        case.commit(&[&["+I", "1", "1"]]).await;
        case.compact().await;
        case.commit(&[&["+U", "1", "2"]]).await;
        case.compact().await;
        let mode = StreamMode::FromSnapshot(SnapshotId(1));
        let options = StreamOptions {
            mode,
            ..StreamOptions::default()
        };
        let mut stream = case.table.new_stream(options).unwrap();
        let mut shown = Vec::new();
        while let Some(plan) = stream.plan_next().await.unwrap() {
            let snapshot = plan.snapshot.0;
            let mut rows = stream.read(plan).await.unwrap();
            while let Some(batch) = rows.next_batch().await.unwrap() {
                let row_type = case.table.schema().row_type();
                shown.extend(
                    (0..batch.num_rows()).map(|row| (snapshot, line(&batch, row, &row_type))),
                );
            }
        }
        let rows: Vec<&str> = shown.iter().map(|(_, row)| row.as_str()).collect();
        assert_eq!(rows, ["1 1", "1 2"], "{producer}: {shown:?}");
    }
}
