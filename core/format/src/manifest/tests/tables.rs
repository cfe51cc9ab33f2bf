//! Golden tables: every manifest, list and index manifest of Java and pypaimon, decoded and written again.

use serde_json::{Map, Value, json};

use super::*;
use crate::avro::ContainerReader;
use crate::manifest::{index, list};
use crate::test_vectors::{vector, vector_bytes};

const TABLES: [&str; 12] = [
    "append_part",
    "append_rt",
    "append_stats_avro",
    "append_stats_orc",
    "append_stats_parquet",
    "pk_changelog",
    "pk_dv",
    "pk_dyn",
    "pk_part",
    "pk_postpone",
    "py_ap",
    "py_pk",
];

/// A file of a golden table's `manifest` folder: name, bytes, records as another reader saw them.
struct Golden {
    table: &'static str,
    name: String,
    bytes: Vec<u8>,
    records: Vec<Value>,
}

fn golden_files() -> Vec<Golden> {
    let mut files = vec![];
    for table in TABLES {
        let json = vector(&format!("tables/{table}.json"));
        for (name, records) in json["decoded_metadata"].as_object().unwrap() {
            let path = format!("manifest/{name}");
            let file = json["files"]
                .as_array()
                .unwrap()
                .iter()
                .find(|file| file["path"] == path.as_str());
            // Contents of hash index files are listed there too; they lie elsewhere.
            if let (Some(file), Some(records)) = (file, records.as_array()) {
                files.push(Golden {
                    table,
                    name: name.clone(),
                    bytes: base64(file["base64"].as_str().unwrap()),
                    records: records.clone(),
                });
            }
        }
    }
    files
}

fn base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Vec<u32> = text
        .bytes()
        .filter(|byte| *byte != b'=')
        .map(|byte| {
            u32::try_from(ALPHABET.iter().position(|digit| *digit == byte).unwrap()).unwrap()
        })
        .collect();
    let mut out = vec![];
    for group in digits.chunks(4) {
        let word = group
            .iter()
            .enumerate()
            .fold(0, |word, (at, digit)| word | digit << (18 - 6 * at));
        out.extend_from_slice(&word.to_be_bytes()[1..group.len()]);
    }
    out
}

fn hex_of(bytes: &[u8]) -> Value {
    json!({"hex": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()})
}

fn row(row: &BinaryRow) -> Value {
    hex_of(&row.to_serialized())
}

fn stats_json(stats: &SimpleStats) -> Value {
    json!({"_MIN_VALUES": row(&stats.min_values), "_MAX_VALUES": row(&stats.max_values), "_NULL_COUNTS": &stats.null_counts[..]})
}

/// `2026-11-30T02:18:17.301000+00:00`
fn millis_of(text: &str) -> i64 {
    let number = |range: std::ops::Range<usize>| text[range].parse::<i64>().unwrap();
    assert!(text.ends_with("+00:00"), "{text}");
    let (y, m, d) = (number(0..4), number(5..7), number(8..10));
    // Days from 1970-01-01, counted in years that begin in March.
    let y = if m <= 2 { y - 1 } else { y };
    let day_of_year = (153 * (m + if m > 2 { -3 } else { 9 }) + 2) / 5 + d - 1;
    let era = y.div_euclid(400);
    let year_of_era = y.rem_euclid(400);
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100
        + day_of_year
        - 719_468;
    let seconds = days * 86_400 + number(11..13) * 3600 + number(14..16) * 60 + number(17..19);
    let millis = if text.as_bytes()[19] == b'.' {
        number(20..23)
    } else {
        0
    };
    seconds * 1000 + millis
}

fn file_json(file: &DataFileMeta) -> Value {
    json!({
        "_FILE_NAME": file.file_name, "_FILE_SIZE": file.file_size, "_ROW_COUNT": file.row_count,
        "_MIN_KEY": row(&file.min_key), "_MAX_KEY": row(&file.max_key),
        "_KEY_STATS": stats_json(&file.key_stats), "_VALUE_STATS": stats_json(&file.value_stats),
        "_MIN_SEQUENCE_NUMBER": file.min_sequence_number, "_MAX_SEQUENCE_NUMBER": file.max_sequence_number,
        "_SCHEMA_ID": file.schema_id.0, "_LEVEL": file.level, "_EXTRA_FILES": file.extra_files,
        "_CREATION_TIME": file.creation_time_millis, "_DELETE_ROW_COUNT": file.delete_row_count,
        "_EMBEDDED_FILE_INDEX": file.embedded_file_index.as_deref().map(hex_of),
        "_FILE_SOURCE": file.file_source.map(FileSource::as_i32),
        "_VALUE_STATS_COLS": file.value_stats_cols.as_deref(), "_EXTERNAL_PATH": file.external_path,
        "_FIRST_ROW_ID": file.first_row_id, "_WRITE_COLS": file.write_cols.as_deref(),
        "_WRITE_COLS_SEQUENCES": file.write_cols_sequences,
    })
}

fn entry_json(entry: &ManifestEntry) -> Value {
    json!({
        "_VERSION": 2, "_KIND": entry.kind.as_i32(), "_PARTITION": row(&entry.partition), "_BUCKET": entry.bucket,
        "_TOTAL_BUCKETS": entry.total_buckets, "_FILE": file_json(&entry.file),
    })
}

fn line_json(line: &ManifestFileMeta) -> Value {
    json!({
        "_VERSION": 2, "_FILE_NAME": line.file_name, "_FILE_SIZE": line.file_size,
        "_NUM_ADDED_FILES": line.num_added_files, "_NUM_DELETED_FILES": line.num_deleted_files,
        "_PARTITION_STATS": stats_json(&line.partition_stats), "_SCHEMA_ID": line.schema_id.0,
        "_MIN_BUCKET": line.min_bucket, "_MAX_BUCKET": line.max_bucket,
        "_MIN_LEVEL": line.min_level, "_MAX_LEVEL": line.max_level,
        "_MIN_ROW_ID": line.min_row_id, "_MAX_ROW_ID": line.max_row_id,
    })
}

fn index_json(entry: &IndexManifestEntry) -> Value {
    let file = &entry.file;
    let vectors = file.deletion_vectors.as_ref().map(|vectors| {
        vectors
            .iter()
            .map(|dv| json!({"f0": dv.data_file_name, "f1": dv.offset, "f2": dv.length, "_CARDINALITY": dv.cardinality}))
            .collect::<Vec<_>>()
    });
    json!({
        "_VERSION": 1, "_KIND": entry.kind.as_i32(), "_PARTITION": row(&entry.partition), "_BUCKET": entry.bucket,
        "_INDEX_TYPE": file.index_type, "_FILE_NAME": file.file_name, "_FILE_SIZE": file.file_size,
        "_ROW_COUNT": file.row_count, "_DELETIONS_VECTORS_RANGES": vectors, "_EXTERNAL_PATH": file.external_path,
    })
}

/// Every field the other reader saw must be among ours with the same value, except those the format says to ignore.
fn assert_agree(ours: &Map<String, Value>, theirs: &Map<String, Value>, place: &str) {
    for (field, value) in theirs {
        let at = format!("{place} {field}");
        match (ours.get(field), value) {
            (Some(Value::Object(ours)), Value::Object(theirs))
                if field.contains("STATS") || field == "_FILE" =>
            {
                assert_agree(ours, theirs, &at);
            }
            (Some(ours), Value::String(text)) if field == "_CREATION_TIME" => {
                assert_eq!(ours, &json!(millis_of(text)), "{at}");
            }
            (Some(ours), theirs) => assert_eq!(ours, theirs, "{at}"),
            (None, _) => assert!(
                place.contains("py_")
                    && ["_TOTAL_BUCKETS", "_EXTRA_FILES"].contains(&field.as_str()),
                "{at} is not decoded"
            ),
        }
    }
}

fn assert_all_agree(ours: &[Value], golden: &Golden) {
    assert_eq!(
        ours.len(),
        golden.records.len(),
        "{} {}",
        golden.table,
        golden.name
    );
    for (ours, theirs) in ours.iter().zip(&golden.records) {
        let place = format!("{} {}", golden.table, golden.name);
        assert_agree(
            ours.as_object().unwrap(),
            theirs.as_object().unwrap(),
            &place,
        );
    }
}

#[test]
fn every_manifest_file_of_the_golden_tables_is_read_and_written_again() {
    let (mut manifests, mut lists, mut indexes) = (0, 0, 0);
    for golden in golden_files() {
        if golden.name.starts_with("manifest-list-") {
            let lines = list::decode(&golden.bytes).unwrap();
            assert_all_agree(&lines.iter().map(line_json).collect::<Vec<_>>(), &golden);
            for codec in CODECS {
                assert_eq!(
                    list::decode(&list::encode(&lines, codec).unwrap()).unwrap(),
                    lines
                );
            }
            lists += 1;
        } else if golden.name.starts_with("index-manifest-") {
            let decoded = index::decode_for_rewrite(&golden.bytes).unwrap();
            assert!(!decoded.carries_unknown);
            let entries = decoded.records;
            assert_all_agree(&entries.iter().map(index_json).collect::<Vec<_>>(), &golden);
            for codec in CODECS {
                assert_eq!(
                    index::decode(&index::encode(&entries, codec).unwrap()).unwrap(),
                    entries
                );
            }
            indexes += 1;
        } else {
            let decoded = decode_manifest(&golden.bytes, &ManifestFilter::all()).unwrap();
            assert!(!decoded.carries_unknown, "{} {}", golden.table, golden.name);
            let entries = decoded.records;
            assert_all_agree(&entries.iter().map(entry_json).collect::<Vec<_>>(), &golden);
            for codec in CODECS {
                let encoded = encode_entries(&entries, codec).unwrap();
                assert_eq!(
                    decode_entries(&encoded, &ManifestFilter::all()).unwrap(),
                    entries
                );
            }
            manifests += 1;
        }
    }
    assert_eq!((manifests, lists, indexes), (30, 52, 2));
}

#[test]
fn java_files_carry_the_schema_and_the_records_we_write() {
    for golden in golden_files()
        .into_iter()
        .filter(|golden| !golden.table.starts_with("py_"))
    {
        let ours = if golden.name.starts_with("manifest-list-") {
            list::encode(&list::decode(&golden.bytes).unwrap(), AvroCodec::default())
        } else if golden.name.starts_with("index-manifest-") {
            index::encode(&index::decode(&golden.bytes).unwrap(), AvroCodec::default())
        } else {
            encode_entries(
                &decode_entries(&golden.bytes, &ManifestFilter::all()).unwrap(),
                AvroCodec::default(),
            )
        }
        .unwrap();
        let (mut theirs, mut ours) = (
            ContainerReader::open(&golden.bytes).unwrap(),
            ContainerReader::open(&ours).unwrap(),
        );
        assert_eq!(theirs.schema_text(), ours.schema_text());
        let (mut their_block, mut our_block) = (vec![], vec![]);
        loop {
            let counts = (
                theirs.next_block(&mut their_block).unwrap(),
                ours.next_block(&mut our_block).unwrap(),
            );
            assert_eq!(counts.0, counts.1);
            if counts.0.is_none() {
                break;
            }
            assert_eq!(their_block, our_block, "{} {}", golden.table, golden.name);
        }
    }
}

#[test]
fn lines_of_lists_are_what_we_would_summarize() {
    let mut compared = 0;
    for table in TABLES.into_iter().filter(|table| !table.starts_with("py_")) {
        let files: Vec<Golden> = golden_files()
            .into_iter()
            .filter(|golden| golden.table == table)
            .collect();
        let types = partition_types(table);
        for golden in files
            .iter()
            .filter(|golden| golden.name.starts_with("manifest-list-"))
        {
            for line in list::decode(&golden.bytes).unwrap() {
                let manifest = files.iter().find(|golden| golden.name == line.file_name);
                let Some(manifest) = manifest else { continue };
                let entries = decode_entries(&manifest.bytes, &ManifestFilter::all()).unwrap();
                let size = i64::try_from(manifest.bytes.len()).unwrap();
                let ours =
                    ManifestFileMeta::summarize(line.file_name.clone(), size, &entries, &types)
                        .unwrap();
                assert_eq!(ours, line, "{table}");
                compared += 1;
            }
        }
    }
    assert!(compared > 30, "{compared}");
}

/// The partition columns' types, from the table's first schema file.
fn partition_types(table: &str) -> Vec<DataType> {
    let json = vector(&format!("tables/{table}.json"));
    let schema = json["files"]
        .as_array()
        .unwrap()
        .iter()
        .find(|file| file["path"] == "schema/schema-0")
        .unwrap();
    let schema: Value = match schema["text"].as_str() {
        Some(text) => serde_json::from_str(text).unwrap(),
        None => serde_json::from_slice(&base64(schema["base64"].as_str().unwrap())).unwrap(),
    };
    let fields = schema["fields"].as_array().unwrap();
    schema["partitionKeys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|key| {
            DataType::from_json(&fields.iter().find(|field| field["name"] == *key).unwrap()["type"])
                .unwrap()
        })
        .collect()
}

#[test]
fn the_vectors_are_there() {
    assert!(
        TABLES
            .iter()
            .all(|table| !vector_bytes(&format!("tables/{table}.json")).is_empty())
    );
}

/// The manifest folders of the golden warehouses: (case, path, bytes).
fn golden_warehouses() -> Vec<(String, String, Vec<u8>)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/golden");
    let mut files = vec![];
    for case in std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        let Ok(packed) = std::fs::File::open(case.join("warehouse.tar.zst")) else {
            continue;
        };
        let mut archive = tar::Archive::new(zstd::stream::read::Decoder::new(packed).unwrap());
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().to_string_lossy().into_owned();
            if path.contains("/manifest/") && !path.ends_with('/') {
                let mut bytes = vec![];
                std::io::Read::read_to_end(&mut entry, &mut bytes).unwrap();
                files.push((
                    case.file_name().unwrap().to_string_lossy().into_owned(),
                    path,
                    bytes,
                ));
            }
        }
    }
    files
}

#[test]
fn every_manifest_file_of_the_golden_warehouses_keeps_its_records() {
    let mut read = 0;
    for (case, path, bytes) in golden_warehouses() {
        // Some tables keep their manifests in ORC; a file that is no Avro is refused as such.
        if !bytes.starts_with(b"Obj\x01") {
            let error = decode_entries(&bytes, &ManifestFilter::all()).unwrap_err();
            assert!(error.to_string().contains("not an avro file"), "{error}");
            continue;
        }
        let name = path.rsplit('/').next().unwrap();
        let again = if name.starts_with("manifest-list-") {
            list::encode(&list::decode(&bytes).unwrap(), AvroCodec::default())
        } else if name.starts_with("index-manifest-") {
            index::encode(&index::decode(&bytes).unwrap(), AvroCodec::default())
        } else {
            let decoded = decode_manifest(&bytes, &ManifestFilter::all()).unwrap();
            assert!(!decoded.carries_unknown);
            encode_entries(&decoded.records, AvroCodec::default())
        }
        .unwrap();
        let records = |file: &[u8]| {
            let mut reader = ContainerReader::open(file).unwrap();
            let (mut block, mut all) = (vec![], vec![]);
            while reader.next_block(&mut block).unwrap().is_some() {
                all.extend_from_slice(&block);
            }
            (reader.schema_text().to_vec(), all)
        };
        assert_eq!(records(&bytes), records(&again), "{case} {path}");
        read += 1;
    }
    assert!(read > 500, "{read}");
}
