//! `avro_datums.json`: single records as Java writes them.

use super::*;
use crate::avro::{ContainerReader, ContainerWriter};
use crate::manifest::{index, list};
use crate::test_vectors::{hex, vector, vector_bytes};

/// A file with Java's schema and these records in one block.
fn container(schema: &'static str, datums: &[Vec<u8>]) -> Vec<u8> {
    let mut writer = ContainerWriter::new(schema, AvroCodec::Null).unwrap();
    for datum in datums {
        writer.append(|out| out.extend_from_slice(datum)).unwrap();
    }
    writer.finish().unwrap()
}

fn first_block(file: &[u8]) -> (Vec<u8>, usize) {
    let mut reader = ContainerReader::open(file).unwrap();
    let mut block = vec![];
    let count = reader.next_block(&mut block).unwrap().unwrap();
    (block, count)
}

fn datums(record: &str) -> Vec<Vec<u8>> {
    let vectors = vector("avro_datums.json");
    let cases = vectors["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["record"] == record);
    cases
        .map(|case| hex(case["datum_hex"].as_str().unwrap()))
        .collect()
}

#[test]
fn manifest_entries_have_the_bytes_of_java() {
    let datums = datums("ManifestEntry");
    assert_eq!(datums.len(), 3);
    for datum in &datums {
        let file = container(
            crate::manifest::encode::MANIFEST_SCHEMA,
            std::slice::from_ref(datum),
        );
        let entries = decode_entries(&file, &ManifestFilter::all()).unwrap();
        assert_eq!(entries.len(), 1);
        let encoded = encode_entries(&entries, AvroCodec::Null).unwrap();
        assert_eq!(first_block(&encoded), (datum.clone(), 1));
    }
    let full = container(crate::manifest::encode::MANIFEST_SCHEMA, &datums[1..2]);
    let full = decode_entries(&full, &ManifestFilter::all())
        .unwrap()
        .remove(0);
    assert_eq!(full.kind, FileKind::Delete);
    assert_eq!(full.file.file_name, "data-2.orc");
    assert_eq!(full.file.extra_files, vec!["data-2.orc.index".to_owned()]);
    assert_eq!(full.file.file_source, Some(FileSource::Compact));
    assert_eq!(
        full.file.write_cols.as_deref().map(<[String]>::len),
        Some(3)
    );
}

#[test]
fn manifest_list_lines_have_the_bytes_of_java() {
    let datums = datums("ManifestFileMeta");
    assert_eq!(datums.len(), 2);
    let file = container(crate::manifest::list::LIST_SCHEMA, &datums);
    let lines = list::decode(&file).unwrap();
    assert_eq!(lines[0].file_name, "manifest-u-0");
    assert_eq!((lines[1].min_bucket, lines[1].max_level), (None, None));
    let encoded = list::encode(&lines, AvroCodec::Null).unwrap();
    assert_eq!(first_block(&encoded), (datums.concat(), 2));
}

#[test]
fn index_manifest_entries_have_the_bytes_of_java() {
    let datums = datums("IndexManifestEntry");
    assert_eq!(datums.len(), 2);
    let file = container(crate::manifest::index::INDEX_SCHEMA, &datums);
    let decoded = index::decode_for_rewrite(&file).unwrap();
    assert!(!decoded.carries_unknown);
    assert_eq!(decoded.records[0].file.index_type, "HASH");
    assert_eq!(
        decoded.records[1]
            .file
            .deletion_vectors
            .as_ref()
            .unwrap()
            .len(),
        2
    );
    let encoded = index::encode(&decoded.records, AvroCodec::Null).unwrap();
    assert_eq!(first_block(&encoded), (datums.concat(), 2));
}

#[test]
fn the_schemas_are_those_of_the_vectors() {
    let same = |ours: &str, name: &str| {
        let ours: serde_json::Value = serde_json::from_str(ours).unwrap();
        let theirs: serde_json::Value = serde_json::from_slice(&vector_bytes(name)).unwrap();
        assert_eq!(ours, theirs, "{name}");
    };
    same(
        crate::manifest::encode::MANIFEST_SCHEMA,
        "manifest-1.3.1.avsc",
    );
    same(
        crate::manifest::encode::MANIFEST_SCHEMA_2_1,
        "manifest-2.1.avsc",
    );
    same(
        crate::manifest::list::LIST_SCHEMA,
        "manifest-list-1.3.1.avsc",
    );
    same(
        crate::manifest::list::LIST_SCHEMA_2_1,
        "manifest-list-2.1.avsc",
    );
    same(
        crate::manifest::index::INDEX_SCHEMA,
        "index-manifest-1.3.1.avsc",
    );
    same(
        crate::manifest::index::INDEX_SCHEMA_2_1,
        "index-manifest-2.1.avsc",
    );
}

#[test]
fn an_empty_list_is_as_long_as_the_one_of_java() {
    let file = list::encode(&[], AvroCodec::default()).unwrap();
    assert_eq!(file.len(), 884);
    assert_eq!(list::decode(&file).unwrap(), vec![]);
}

#[test]
fn columns_of_2_x_are_kept() {
    let mut file = plain_file("data-1", 0);
    file.write_cols_sequences = Some(vec![3, 4]);
    let with = ManifestEntry {
        file: Arc::new(file),
        ..entry(FileKind::Add, 1, "x", 0)
    };
    let without = entry(FileKind::Add, 2, "data-2", 0);
    let entries = vec![without, with];
    let encoded = encode_entries(&entries, AvroCodec::default()).unwrap();
    assert_eq!(
        decode_entries(&encoded, &ManifestFilter::all()).unwrap(),
        entries
    );

    let mut line =
        ManifestFileMeta::summarize("m", 9, &entries, &[DataType::new(TypeKind::Int)]).unwrap();
    line.min_row_id = Some(5);
    line.max_row_id = Some(6);
    let lines = vec![line];
    assert_eq!(
        list::decode(&list::encode(&lines, AvroCodec::default()).unwrap()).unwrap(),
        lines
    );

    let global = IndexManifestEntry {
        kind: FileKind::Add,
        partition: int_row(1),
        bucket: 0,
        file: IndexFileMeta {
            index_type: "some later type".into(),
            file_name: "index-1".into(),
            file_size: 1,
            row_count: 2,
            deletion_vectors: None,
            external_path: None,
            global_index: Some(GlobalIndexMeta {
                row_range_start: 1,
                row_range_end: 2,
                index_field_id: 3,
                extra_field_ids: Some(vec![4]),
                index_meta: Some(vec![5]),
                source_meta: None,
            }),
        },
    };
    let global = vec![global];
    assert_eq!(
        index::decode(&index::encode(&global, AvroCodec::default()).unwrap()).unwrap(),
        global
    );
}

#[test]
fn other_versions_are_refused() {
    let mut bytes = datums("ManifestEntry").remove(0);
    for (version, kind) in [
        (0u8, tidewater_types::ErrorKind::Corrupt),
        (6, tidewater_types::ErrorKind::Unsupported),
    ] {
        bytes[0] = version;
        let file = container(
            crate::manifest::encode::MANIFEST_SCHEMA,
            std::slice::from_ref(&bytes),
        );
        assert_eq!(
            decode_entries(&file, &ManifestFilter::all())
                .unwrap_err()
                .kind(),
            kind
        );
    }
    let mut line = datums("ManifestFileMeta").remove(0);
    line[0] = 2;
    let file = container(crate::manifest::list::LIST_SCHEMA, &[line]);
    assert_eq!(
        list::decode(&file).unwrap_err().kind(),
        tidewater_types::ErrorKind::Corrupt
    );
    let mut index_entry = datums("IndexManifestEntry").remove(0);
    index_entry[0] = 4;
    let file = container(crate::manifest::index::INDEX_SCHEMA, &[index_entry]);
    assert_eq!(
        index::decode(&file).unwrap_err().kind(),
        tidewater_types::ErrorKind::Unsupported
    );
}
