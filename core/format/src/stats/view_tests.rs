//! Pruning by stored statistics across schema changes.

use std::sync::Arc;

use tidewater_types::{BinaryRow, ColumnStat, DataField, DataType, Datum, SchemaId, StatsSource};

use super::*;
use crate::data_file_meta::{ColumnNames, DataFileMeta};
use crate::manifest::{FileKind, ManifestEntry, ManifestFileMeta};

fn field(id: i32, name: &str, data_type: &str) -> DataField {
    DataField::from_json(&serde_json::json!({"id": id, "name": name, "type": data_type})).unwrap()
}

fn file(columns: &[ColumnStats], fields: &[DataField], dense: bool) -> DataFileMeta {
    let types: Vec<DataType> = fields.iter().map(|field| field.data_type.clone()).collect();
    let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
    let (value_stats, value_stats_cols) =
        stats_from_columns(columns, &types, dense.then_some(names.as_slice())).unwrap();
    DataFileMeta {
        file_name: "f".into(),
        file_size: 1,
        row_count: 10,
        min_key: BinaryRow::empty(),
        max_key: BinaryRow::empty(),
        key_stats: value_stats.clone(),
        value_stats,
        min_sequence_number: 0,
        max_sequence_number: 0,
        schema_id: SchemaId(0),
        level: 0,
        extra_files: vec![],
        creation_time_millis: None,
        delete_row_count: None,
        embedded_file_index: None,
        file_source: None,
        value_stats_cols,
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    }
}

fn known(min: Datum, max: Datum) -> ColumnStats {
    ColumnStats {
        min,
        max,
        null_count: Some(1),
    }
}

fn stat(min: Datum, max: Datum) -> ColumnStat {
    ColumnStat {
        min: Some(min),
        max: Some(max),
        null_count: Some(1),
    }
}

#[test]
fn columns_are_found_by_id_through_renames_reorders_and_dense_storage() {
    let written = [
        field(0, "a", "INT"),
        field(1, "b", "INT"),
        field(2, "c", "INT"),
    ];
    let read = [
        field(2, "renamed", "INT"),
        field(7, "a", "INT"),
        field(1, "b", "INT"),
        field(0, "was_a", "BIGINT NOT NULL"),
    ];
    let columns = [
        known(Datum::Int(1), Datum::Int(2)),
        ColumnStats::unknown(),
        known(Datum::Int(5), Datum::Int(6)),
    ];
    let mapping = StatsMapping::of_values(&written, &read);
    for dense in [true, false] {
        let file = file(&columns, &written, dense);
        assert_eq!(file.value_stats_cols.is_some(), dense);
        let view = mapping.values(&file);
        assert_eq!(view.row_count(), 10);
        assert_eq!(view.column(0, ""), stat(Datum::Int(5), Datum::Int(6)));
        assert_eq!(
            view.column(1, ""),
            ColumnStat::all_null(10),
            "the file lacks the column"
        );
        assert_eq!(view.column(2, ""), ColumnStat::unknown());
        assert_eq!(view.column(3, ""), stat(Datum::BigInt(1), Datum::BigInt(2)));
        assert_eq!(view.column(4, ""), ColumnStat::unknown());
    }
}

#[test]
fn only_changes_that_keep_every_value_keep_the_bounds() {
    let text = |text: &str| Datum::String(text.into());
    let decimal = |unscaled, precision, scale| Datum::Decimal {
        unscaled,
        precision,
        scale,
    };
    let widened = [
        (
            "TINYINT",
            "SMALLINT",
            Datum::TinyInt(-1),
            Datum::SmallInt(-1),
        ),
        ("SMALLINT", "FLOAT", Datum::SmallInt(-7), Datum::Float(-7.0)),
        (
            "INT",
            "DOUBLE",
            Datum::Int(i32::MAX),
            Datum::Double(f64::from(i32::MAX)),
        ),
        ("FLOAT", "DOUBLE", Datum::Float(0.5), Datum::Double(0.5)),
        (
            "DECIMAL(5, 2)",
            "DECIMAL(10, 3)",
            decimal(12_345, 5, 2),
            decimal(123_450, 10, 3),
        ),
        ("VARCHAR(3)", "STRING", text("abc"), text("abc")),
        ("CHAR(3)", "VARCHAR(3)", text("abc"), text("abc")),
        ("INT NOT NULL", "INT", Datum::Int(1), Datum::Int(1)),
    ];
    for (from, to, value, expected) in widened {
        let (written, read) = ([field(0, "a", from)], [field(0, "a", to)]);
        let file = file(&[known(value.clone(), value)], &written, true);
        let mapping = StatsMapping::of_values(&written, &read);
        assert_eq!(
            mapping.values(&file).column(0, "a"),
            stat(expected.clone(), expected),
            "{from} to {to}"
        );
    }
    let lost = [
        ("BIGINT", "INT", Datum::BigInt(1)),
        ("INT", "FLOAT", Datum::Int(1)),
        ("INT", "STRING", Datum::Int(1)),
        ("STRING", "VARCHAR(3)", text("abcd")),
        ("DECIMAL(10, 3)", "DECIMAL(10, 2)", decimal(1, 10, 3)),
        ("DECIMAL(10, 2)", "DECIMAL(10, 3)", decimal(1, 10, 2)),
        ("DATE", "INT", Datum::Date(1)),
    ];
    for (from, to, value) in lost {
        let (written, read) = ([field(0, "a", from)], [field(0, "a", to)]);
        let file = file(&[known(value.clone(), value)], &written, true);
        let mapping = StatsMapping::of_values(&written, &read);
        assert_eq!(
            mapping.values(&file).column(0, "a"),
            ColumnStat::unknown(),
            "{from} to {to}"
        );
    }
}

#[test]
fn statistics_of_nothing_say_nothing() {
    let fields = [field(0, "a", "INT"), field(1, "b", "INT")];
    let mapping = StatsMapping::of_values(&fields, &fields);
    let mut file = file(
        &[
            known(Datum::Int(1), Datum::Int(2)),
            known(Datum::Int(3), Datum::Int(4)),
        ],
        &fields,
        true,
    );
    assert_eq!(file.value_stats_cols, None);
    // Dropped statistics, and old files whose empty statistics carry no list.
    for cols in [Some(ColumnNames::from([])), None] {
        let dropped = DataFileMeta {
            value_stats: SimpleStats::empty(),
            value_stats_cols: cols,
            ..file.clone()
        };
        assert_eq!(
            mapping.values(&dropped).column(0, "a"),
            ColumnStat::unknown()
        );
    }
    // With data evolution the list of written columns numbers the statistics.
    file.write_cols = Some(ColumnNames::from(["b".to_owned(), "a".to_owned()]));
    assert_eq!(
        mapping.values(&file).column(0, "a"),
        stat(Datum::Int(3), Datum::Int(4))
    );
    let wider = [field(0, "a", "INT"), field(9, "z", "INT")];
    let mapping = StatsMapping::of_values(&fields, &wider);
    assert_eq!(
        mapping.values(&file).column(1, "z"),
        ColumnStat::unknown(),
        "another file may hold it"
    );
}

#[test]
fn key_statistics_are_silent_about_other_columns() {
    let key = [field(3, "k", "INT")];
    let read = [field(1, "v", "INT"), field(3, "k", "INT")];
    let file = file(&[known(Datum::Int(1), Datum::Int(2))], &key, false);
    let mapping = StatsMapping::of_keys(&key, &read);
    let view = mapping.keys(&file);
    assert_eq!(view.column(0, "v"), ColumnStat::unknown());
    assert_eq!(view.column(1, "k"), stat(Datum::Int(1), Datum::Int(2)));
}

#[test]
fn bounds_that_are_corrupt_are_no_bounds() {
    let fields = [field(0, "s", "STRING")];
    let mut file = file(
        &[known(
            Datum::String("a long enough text".into()),
            Datum::String("b".into()),
        )],
        &fields,
        true,
    );
    let mut bytes = file.value_stats.min_values.to_serialized();
    bytes[12..20].copy_from_slice(&[255, 255, 255, 127, 255, 255, 0, 0]);
    file.value_stats.min_values = BinaryRow::from_serialized(&bytes).unwrap();
    let mapping = StatsMapping::of_values(&fields, &fields);
    let stat = mapping.values(&file).column(0, "s");
    assert_eq!(
        stat,
        ColumnStat {
            min: None,
            max: Some(Datum::String("b".into())),
            null_count: Some(1)
        }
    );
}

#[test]
fn partitions_are_asked_by_list_and_by_value() {
    let types = [DataType::new(tidewater_types::TypeKind::Int)];
    let row = |value: Option<i32>| {
        BinaryRow::from_datums(&[value.map_or(Datum::Null, Datum::Int)], &types).unwrap()
    };
    let fields = [field(0, "a", "INT")];
    let entries: Vec<ManifestEntry> = [Some(4), None, Some(2), Some(4)]
        .into_iter()
        .map(|value| ManifestEntry {
            kind: FileKind::Add,
            partition: row(value),
            bucket: 0,
            total_buckets: 1,
            file: Arc::new(file(&[ColumnStats::unknown()], &fields, true)),
        })
        .collect();
    let line = ManifestFileMeta::summarize("m", 1, &entries, &types).unwrap();
    let view = PartitionStatsView::new(&line, &types);
    assert_eq!(view.row_count(), 4);
    assert_eq!(view.column(0, "p"), stat(Datum::Int(2), Datum::Int(4)));
    assert_eq!(view.column(1, "q"), ColumnStat::unknown());

    let exact = PartitionValues::new(&row(Some(4)), &types).unwrap();
    assert_eq!(exact.values(), [Datum::Int(4)]);
    assert_eq!(
        exact.column(0, "p"),
        ColumnStat {
            null_count: Some(0),
            ..stat(Datum::Int(4), Datum::Int(4))
        }
    );
    let null = PartitionValues::new(&row(None), &types).unwrap();
    assert_eq!(
        (null.row_count(), null.column(0, "p")),
        (1, ColumnStat::all_null(1))
    );
}
