//! Manifests against Java's bytes, Java's tables, a general Avro library and chance.

mod interop;
mod random;
mod tables;
mod vectors;

use std::sync::Arc;

use proptest::prelude::*;
use tidewater_types::{BinaryRow, DataType, Datum, MAX_LENGTH, SchemaId, TypeKind};

use super::*;
use crate::avro::AvroCodec;
use crate::data_file_meta::{ColumnNames, DataFileMeta, FileSource};
use crate::stats::SimpleStats;

pub(super) const CODECS: [AvroCodec; 5] = [
    AvroCodec::Null,
    AvroCodec::Deflate,
    AvroCodec::Snappy,
    AvroCodec::Bzip2,
    AvroCodec::Zstandard { level: 1 },
];

pub(super) fn int_row(value: i32) -> BinaryRow {
    BinaryRow::from_datums(&[Datum::Int(value)], &[DataType::new(TypeKind::Int)]).unwrap()
}

/// An append file with nothing special about it.
pub(super) fn plain_file(name: &str, level: i32) -> DataFileMeta {
    DataFileMeta {
        file_name: name.to_owned(),
        file_size: 1000,
        row_count: 10,
        min_key: BinaryRow::empty(),
        max_key: BinaryRow::empty(),
        key_stats: SimpleStats::empty(),
        value_stats: SimpleStats::empty(),
        min_sequence_number: 0,
        max_sequence_number: 9,
        schema_id: SchemaId(0),
        level,
        extra_files: vec![],
        creation_time_millis: Some(1_718_000_000_000),
        delete_row_count: Some(0),
        embedded_file_index: None,
        file_source: Some(FileSource::Append),
        value_stats_cols: None,
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    }
}

pub(super) fn entry(kind: FileKind, partition: i32, name: &str, level: i32) -> ManifestEntry {
    ManifestEntry {
        kind,
        partition: int_row(partition),
        bucket: 0,
        total_buckets: 1,
        file: Arc::new(plain_file(name, level)),
    }
}

fn rows() -> impl Strategy<Value = BinaryRow> {
    prop_oneof![
        Just(BinaryRow::empty()),
        any::<i32>().prop_map(int_row),
        (any::<Option<i64>>(), "\\PC{0,20}").prop_map(|(number, text)| {
            BinaryRow::from_datums(
                &[
                    number.map_or(Datum::Null, Datum::BigInt),
                    Datum::String(text),
                ],
                &[
                    DataType::new(TypeKind::BigInt),
                    DataType::new(TypeKind::VarChar(MAX_LENGTH)),
                ],
            )
            .unwrap()
        }),
    ]
}

fn stats() -> impl Strategy<Value = SimpleStats> {
    (
        rows(),
        rows(),
        prop::collection::vec(any::<Option<i64>>(), 0..4),
    )
        .prop_map(|(min_values, max_values, null_counts)| SimpleStats {
            min_values,
            max_values,
            null_counts: null_counts.into(),
        })
}

fn names() -> impl Strategy<Value = Option<ColumnNames>> {
    prop::option::of(prop::collection::vec("[a-z]{0,6}", 0..3).prop_map(ColumnNames::from))
}

fn files() -> impl Strategy<Value = DataFileMeta> {
    let sizes = (
        "\\PC{1,40}",
        any::<i64>(),
        any::<i64>(),
        any::<i64>(),
        any::<i64>(),
        any::<i64>(),
        any::<i32>(),
    );
    let keys = (rows(), rows(), stats(), stats());
    let options = (
        prop::collection::vec("[a-z.]{1,9}", 0..3),
        any::<Option<i64>>(),
        any::<Option<i64>>(),
        prop::option::of(prop::collection::vec(any::<u8>(), 0..40)),
        prop::option::of(prop_oneof![
            Just(FileSource::Append),
            Just(FileSource::Compact)
        ]),
        names(),
        prop::option::of("[a-z:/]{1,20}"),
        any::<Option<i64>>(),
        names(),
        prop::option::weighted(0.2, prop::collection::vec(any::<i64>(), 0..3)),
    );
    (sizes, keys, options).prop_map(|(sizes, keys, options)| {
        let (
            file_name,
            file_size,
            row_count,
            min_sequence_number,
            max_sequence_number,
            schema_id,
            level,
        ) = sizes;
        let (min_key, max_key, key_stats, value_stats) = keys;
        let (
            extra_files,
            creation_time_millis,
            delete_row_count,
            embedded_file_index,
            file_source,
            value_stats_cols,
            external_path,
            first_row_id,
            write_cols,
            write_cols_sequences,
        ) = options;
        DataFileMeta {
            file_name,
            file_size,
            row_count,
            min_key,
            max_key,
            key_stats,
            value_stats,
            min_sequence_number,
            max_sequence_number,
            schema_id: SchemaId(schema_id),
            level,
            extra_files,
            creation_time_millis,
            delete_row_count,
            embedded_file_index,
            file_source,
            value_stats_cols,
            external_path,
            first_row_id,
            write_cols,
            write_cols_sequences,
        }
    })
}

/// Entries with every field at random.
pub(super) fn entries() -> impl Strategy<Value = ManifestEntry> {
    (any::<bool>(), rows(), any::<i32>(), any::<i32>(), files()).prop_map(
        |(add, partition, bucket, total_buckets, file)| ManifestEntry {
            kind: if add { FileKind::Add } else { FileKind::Delete },
            partition,
            bucket,
            total_buckets,
            file: Arc::new(file),
        },
    )
}
