//! The general Avro library reads what we write and writes what we read, in every codec.

use apache_avro::types::Value as Avro;
use apache_avro::{
    Bzip2Settings, Codec, DeflateSettings, Reader, Schema, Writer, ZstandardSettings,
};

use super::*;
use crate::manifest::{index, list};
use crate::test_vectors::vector_bytes;

fn codecs() -> [Codec; 5] {
    [
        Codec::Null,
        Codec::Deflate(DeflateSettings::default()),
        Codec::Snappy,
        Codec::Bzip2(Bzip2Settings::default()),
        Codec::Zstandard(ZstandardSettings::default()),
    ]
}

fn read_all(file: &[u8]) -> Vec<Avro> {
    Reader::new(file).unwrap().map(Result::unwrap).collect()
}

fn schema(name: &str) -> Schema {
    Schema::parse_str(std::str::from_utf8(&vector_bytes(name)).unwrap()).unwrap()
}

fn write_all(schema: &Schema, codec: Codec, records: &[Avro]) -> Vec<u8> {
    let mut writer = Writer::with_codec(schema, vec![], codec);
    for record in records {
        writer.append(record.clone()).unwrap();
    }
    writer.into_inner().unwrap()
}

fn field<'a>(record: &'a Avro, name: &str) -> &'a Avro {
    match record {
        Avro::Record(fields) => &fields.iter().find(|(field, _)| field == name).unwrap().1,
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Ours, read by the general library, written by it in every codec, is ours again.
    #[test]
    fn manifests_survive_the_general_library(entries in prop::collection::vec(entries(), 0..20)) {
        let with_sequences = entries.iter().any(|entry| entry.file.write_cols_sequences.is_some());
        let schema = schema(if with_sequences { "manifest-2.1.avsc" } else { "manifest-1.3.1.avsc" });
        for (ours, theirs) in CODECS.into_iter().zip(codecs()) {
            let file = encode_entries(&entries, ours).unwrap();
            let records = read_all(&file);
            prop_assert_eq!(records.len(), entries.len());
            for (record, entry) in records.iter().zip(&entries) {
                prop_assert_eq!(field(record, "_BUCKET"), &Avro::Int(entry.bucket));
                prop_assert_eq!(field(record, "_PARTITION"), &Avro::Bytes(entry.partition.to_serialized()));
                let name = field(field(record, "_FILE"), "_FILE_NAME");
                prop_assert_eq!(name, &Avro::String(entry.file.file_name.clone()));
                let source = match entry.file.file_source {
                    None => Avro::Union(0, Box::new(Avro::Null)),
                    Some(source) => Avro::Union(1, Box::new(Avro::Int(source.as_i32()))),
                };
                prop_assert_eq!(field(field(record, "_FILE"), "_FILE_SOURCE"), &source);
            }
            let again = write_all(&schema, theirs, &records);
            prop_assert_eq!(&decode_entries(&again, &ManifestFilter::all()).unwrap(), &entries);
        }
    }
}

#[test]
fn lists_and_index_manifests_survive_the_general_library() {
    let entries = vec![
        entry(FileKind::Add, 7, "data-1", 0),
        entry(FileKind::Delete, 8, "data-2", 3),
    ];
    let line =
        ManifestFileMeta::summarize("manifest-1", 99, &entries, &[DataType::new(TypeKind::Int)])
            .unwrap();
    let lines = vec![
        line.clone(),
        ManifestFileMeta {
            min_bucket: None,
            max_level: None,
            ..line
        },
    ];
    let index_entries = vec![IndexManifestEntry {
        kind: FileKind::Add,
        partition: int_row(7),
        bucket: 2,
        file: IndexFileMeta {
            index_type: "DELETION_VECTORS".into(),
            file_name: "index-1".into(),
            file_size: 10,
            row_count: 1,
            deletion_vectors: Some(vec![DvMeta {
                data_file_name: "d".into(),
                offset: 1,
                length: 2,
                cardinality: None,
            }]),
            external_path: None,
            global_index: None,
        },
    }];
    for (ours, theirs) in CODECS.into_iter().zip(codecs()) {
        let records = read_all(&list::encode(&lines, ours).unwrap());
        let again = write_all(&schema("manifest-list-1.3.1.avsc"), theirs, &records);
        assert_eq!(list::decode(&again).unwrap(), lines);

        let records = read_all(&index::encode(&index_entries, ours).unwrap());
        let again = write_all(&schema("index-manifest-1.3.1.avsc"), theirs, &records);
        assert_eq!(index::decode(&again).unwrap(), index_entries);
    }
}

/// A schema with the fields in another order, other record names, null last, an unknown column with and without a value, and
/// without the columns that old writers lack.
const FOREIGN: &str = r#"{"type":"record","name":"ManifestEntry","fields":[
    {"name":"_EXTRA","type":["null","string"],"default":null},
    {"name":"_FILE","type":{"type":"record","name":"DataFileMeta","fields":[
        {"name":"_LEVEL","type":"int"},{"name":"_FILE_NAME","type":"string"},{"name":"_FILE_SIZE","type":"int"},
        {"name":"_ROW_COUNT","type":"long"},{"name":"_MIN_KEY","type":"bytes"},{"name":"_MAX_KEY","type":"bytes"},
        {"name":"_KEY_STATS","type":{"type":"record","name":"Stats","fields":[
            {"name":"_NULL_COUNTS","type":[{"type":"array","items":["long","null"]},"null"]},
            {"name":"_MAX_VALUES","type":"bytes"},{"name":"_MIN_VALUES","type":"bytes"}]}},
        {"name":"_VALUE_STATS","type":"Stats"},
        {"name":"_MIN_SEQUENCE_NUMBER","type":"long"},{"name":"_MAX_SEQUENCE_NUMBER","type":"long"},
        {"name":"_SCHEMA_ID","type":"long"},{"name":"_EXTRA_FILES","type":{"type":"array","items":"string"}},
        {"name":"_FILE_SOURCE","type":["int","null"]}]}},
    {"name":"_TOTAL_BUCKETS","type":"int"},{"name":"_BUCKET","type":"int"},{"name":"_PARTITION","type":"bytes"},
    {"name":"_KIND","type":"int"},{"name":"_VERSION","type":"int"}]}"#;

#[test]
fn a_foreign_schema_is_resolved_by_names() {
    let schema = Schema::parse_str(FOREIGN).unwrap();
    let row = int_row(3).to_serialized();
    let stats = Avro::Record(vec![
        (
            "_NULL_COUNTS".into(),
            Avro::Union(
                0,
                Box::new(Avro::Array(vec![
                    Avro::Union(0, Box::new(Avro::Long(4))),
                    Avro::Union(1, Box::new(Avro::Null)),
                ])),
            ),
        ),
        ("_MAX_VALUES".into(), Avro::Bytes(row.clone())),
        ("_MIN_VALUES".into(), Avro::Bytes(row.clone())),
    ]);
    let record = |extra: Avro| {
        Avro::Record(vec![
            ("_EXTRA".into(), extra),
            (
                "_FILE".into(),
                Avro::Record(vec![
                    ("_LEVEL".into(), Avro::Int(5)),
                    ("_FILE_NAME".into(), Avro::String("data-9".into())),
                    ("_FILE_SIZE".into(), Avro::Int(77)),
                    ("_ROW_COUNT".into(), Avro::Long(8)),
                    ("_MIN_KEY".into(), Avro::Bytes(row.clone())),
                    ("_MAX_KEY".into(), Avro::Bytes(row.clone())),
                    ("_KEY_STATS".into(), stats.clone()),
                    ("_VALUE_STATS".into(), stats.clone()),
                    ("_MIN_SEQUENCE_NUMBER".into(), Avro::Long(1)),
                    ("_MAX_SEQUENCE_NUMBER".into(), Avro::Long(2)),
                    ("_SCHEMA_ID".into(), Avro::Long(3)),
                    (
                        "_EXTRA_FILES".into(),
                        Avro::Array(vec![Avro::String("e".into())]),
                    ),
                    (
                        "_FILE_SOURCE".into(),
                        Avro::Union(0, Box::new(Avro::Int(1))),
                    ),
                ]),
            ),
            ("_TOTAL_BUCKETS".into(), Avro::Int(4)),
            ("_BUCKET".into(), Avro::Int(2)),
            ("_PARTITION".into(), Avro::Bytes(row.clone())),
            ("_KIND".into(), Avro::Int(0)),
            ("_VERSION".into(), Avro::Int(2)),
        ])
    };
    let none = Avro::Union(0, Box::new(Avro::Null));
    let some = Avro::Union(1, Box::new(Avro::String("?".into())));
    let expected_stats = SimpleStats {
        min_values: int_row(3),
        max_values: int_row(3),
        null_counts: [Some(4), None].into(),
    };
    let expected = ManifestEntry {
        kind: FileKind::Add,
        partition: int_row(3),
        bucket: 2,
        total_buckets: 4,
        file: Arc::new(DataFileMeta {
            file_name: "data-9".into(),
            file_size: 77,
            row_count: 8,
            min_key: int_row(3),
            max_key: int_row(3),
            key_stats: expected_stats.clone(),
            value_stats: expected_stats,
            min_sequence_number: 1,
            max_sequence_number: 2,
            schema_id: SchemaId(3),
            level: 5,
            extra_files: vec!["e".into()],
            creation_time_millis: None,
            delete_row_count: None,
            file_source: Some(FileSource::Compact),
            ..plain_file("", 0)
        }),
    };
    for (extra, carries_unknown) in [(none, false), (some, true)] {
        let file = write_all(
            &schema,
            Codec::Null,
            &[record(extra.clone()), record(extra)],
        );
        let decoded = decode_manifest(&file, &ManifestFilter::all()).unwrap();
        assert_eq!(
            decoded,
            Decoded {
                records: vec![expected.clone(), expected.clone()],
                carries_unknown
            }
        );
        // Filters do not depend on the order of the fields either.
        let none = decode_entries(
            &file,
            &ManifestFilter::all().with_bucket(|bucket, _| bucket == 3),
        )
        .unwrap();
        assert_eq!(none, vec![]);
    }
}

#[test]
fn a_schema_of_something_else_is_refused_by_the_name_of_the_field() {
    for (from, to, what) in [
        (
            r#"{"name":"_BUCKET","type":"int"}"#,
            r#"{"name":"_BUCKET","type":"string"}"#,
            "_BUCKET",
        ),
        (
            r#"{"name":"_BUCKET","type":"int"}"#,
            r#"{"name":"_OTHER","type":"int"}"#,
            "_BUCKET",
        ),
        (r#"{"name":"_LEVEL","type":"int"},"#, "", "_LEVEL"),
        (
            r#"{"name":"_LEVEL","type":"int"}"#,
            r#"{"name":"_LEVEL","type":["null","int","long"]}"#,
            "_LEVEL",
        ),
    ] {
        let text = FOREIGN.replace(from, to);
        assert_ne!(text, FOREIGN);
        let file = write_all(&Schema::parse_str(&text).unwrap(), Codec::Null, &[]);
        let error = decode_entries(&file, &ManifestFilter::all()).unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
        assert_eq!(error.kind(), tidewater_types::ErrorKind::Corrupt);
    }
}
