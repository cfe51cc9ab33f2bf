//! Valid inputs of each decoder, made of the fixtures that Java Paimon wrote and of a few lines by hand.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tidewater_format::avro::{AvroCodec, AvroError, ContainerWriter};
use tidewater_types::{BinaryRow, DataType, Datum};

type Seeds = Vec<Vec<u8>>;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

fn vector(name: &str) -> Value {
    let text = std::fs::read(fixtures().join("vectors").join(name)).expect("a fixture");
    serde_json::from_slice(&text).expect("a json fixture")
}

/// The files of the example tables whose path holds `part`; a few of each table.
fn table_files(part: &str) -> Seeds {
    let mut found = Seeds::new();
    let mut tables: Vec<_> = std::fs::read_dir(fixtures().join("vectors/tables"))
        .expect("fixtures")
        .map(|entry| entry.expect("a fixture").file_name())
        .collect();
    tables.sort_unstable();
    for table in tables {
        let table = vector(&format!("tables/{}", table.to_string_lossy()));
        let files = table.get("files").and_then(Value::as_array);
        let bytes = files.into_iter().flatten().filter_map(|file| {
            file["path"].as_str().filter(|path| path.contains(part))?;
            match (file["text"].as_str(), file["base64"].as_str()) {
                (Some(text), _) => Some(text.as_bytes().to_vec()),
                (None, Some(text)) => STANDARD.decode(text).ok(),
                (None, None) => None,
            }
        });
        found.extend(bytes.take(4));
    }
    found
}

fn texts(texts: &[&str]) -> Seeds {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(crate) fn snapshots() -> Seeds {
    table_files("snapshot/snapshot-")
}

pub(crate) fn tags() -> Seeds {
    table_files("tag/tag-")
}

pub(crate) fn consumers() -> Seeds {
    let mut seeds = table_files("consumer/consumer-");
    seeds.extend(texts(&["{\"nextSnapshot\":7}"]));
    seeds
}

pub(crate) fn hints() -> Seeds {
    texts(&["1", " 42\n", "9223372036854775807", "-1", "0x1"])
}

pub(crate) fn schemas() -> Seeds {
    table_files("schema/schema-")
}

pub(crate) fn manifests() -> Seeds {
    let mut seeds = table_files("manifest/manifest-");
    seeds.retain(|bytes| !holds(bytes, b"_NUM_ADDED_FILES"));
    seeds
}

pub(crate) fn manifest_lists() -> Seeds {
    table_files("manifest/manifest-list-")
}

pub(crate) fn index_manifests() -> Seeds {
    table_files("manifest/index-manifest-")
}

pub(crate) fn deletion_vector_files() -> Seeds {
    let vectors = vector("02-deletion-vectors.json");
    let hex = |json: &Value, name: &str| {
        let mut found = Seeds::new();
        collect_hex(&json[name], &mut found);
        found
    };
    let files = vectors["files"].as_array().into_iter().flatten();
    let mut seeds: Seeds = files.flat_map(|file| hex(file, "file_hex")).collect();
    // An entry alone makes a file behind the first byte.
    let entries = vectors["entries"].as_array().into_iter().flatten();
    let entries = entries.flat_map(|entry| hex(entry, "entry_hex"));
    seeds.extend(entries.map(|entry| [&[1], &entry[..]].concat()));
    seeds
}

pub(crate) fn hash_files() -> Seeds {
    let vectors = vector("02-hash-index.json");
    let mut seeds = Seeds::new();
    collect_hex(&vectors["files"], &mut seeds);
    seeds
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

pub(crate) fn schema_requests() -> Seeds {
    let definition = r#"{"fields":[{"name":"k","type":"INT NOT NULL"},{"name":"p","type":"STRING NOT NULL"},{"name":"r","type":{"type":"ROW","fields":[{"id":3,"name":"a","type":"INT"}]}},{"name":"v","type":{"type":"ARRAY","element":"DECIMAL(10, 2)"}}],"primaryKeys":["k","p"],"partitionKeys":["p"],"options":{"bucket":"2","merge-engine":"deduplicate"},"comment":"c"}"#;
    let changes = [
        r#"{"op":"add-column","column":"n","type":"BIGINT","after":"k"}"#,
        r#"[{"op":"rename-column","column":"v","to":"w"},{"op":"drop-column","column":["r","a"]}]"#,
        r#"{"op":"update-column-type","column":"k","type":"BIGINT"}"#,
        r#"{"op":"set-option","key":"snapshot.num-retained.max","value":"9"}"#,
        r#"{"op":"update-column-nullability","column":["v","element"],"nullable":false}"#,
        r#"{"op":"update-column-position","column":"v","first":true}"#,
    ];
    changes
        .iter()
        .map(|change| format!("{definition}\0{change}").into_bytes())
        .collect()
}

pub(crate) fn options() -> Seeds {
    texts(&[
        "bucket=4\ntarget-file-size=128 mb\nsnapshot.time-retained=1 h\nchangelog-producer=input",
        "fields.v.stats-mode=truncate(3)\nmetadata.stats-mode=full\nfile.compression.per.level=0:lz4,1:zstd",
        "scan.mode=from-snapshot\nscan.snapshot-id=3\nsequence.field=a,b\nscan.timestamp-millis=1",
        "write-buffer-size=1kb\ncommit.min-retry-wait=10 ms\nnum-levels=3\nlookup-wait=true",
    ])
}

pub(crate) fn data_types() -> Seeds {
    let mut seeds = texts(&[
        "INT NOT NULL",
        "DECIMAL(38, 18)",
        "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        "VARCHAR(2147483647)",
        "BINARY(3) NOT NULL",
    ]);
    let vectors = vector("data_types.json");
    for group in ["round_trip", "object_parse"] {
        let cases = vectors[group].as_array().cloned().unwrap_or_default();
        seeds.extend(cases.iter().take(60).map(|case| {
            let json = case.get("json").unwrap_or(case);
            json.as_str()
                .map_or_else(|| json.to_string(), str::to_owned)
                .into_bytes()
        }));
    }
    seeds
}

pub(crate) fn predicates_json() -> Seeds {
    texts(&[
        r#"{"op":"=","field":"c0","literal":3}"#,
        r#"{"op":"and","children":[{"op":"<","field":"c10","literal":"2024-02-29"},{"op":"isNull","field":"c1"}]}"#,
        r#"{"op":"or","children":[{"op":"in","field":"c1","literals":["a","b"]},{"op":"not","child":{"op":"like","field":"c1","literal":"a\\%%"}}]}"#,
        r#"{"op":"between","field":"c8","literals":["1.10","2.20"]}"#,
        r#"{"op":"startsWith","field":"c1","literal":"x"}"#,
    ])
}

pub(crate) fn predicates_text() -> Seeds {
    texts(&[
        "c0 = 3 and c1 is not null",
        "c1 like 'a\\%%' or not (c10 < '2024-02-29')",
        "c0 in (1, 2, 3) and c8 between 1.10 and 2.20",
        "c12 >= '2024-02-29 12:34:56.123' and c2 = true",
        "\"c1\" <> 'it''s' or (c6 > -1.5e3 and c15 = x'00ff')",
    ])
}

pub(crate) fn values() -> Seeds {
    texts(&[
        "1",
        "-2147483648",
        "1.50",
        "1e10",
        "NaN",
        "-Infinity",
        "true",
        "2024-02-29",
        "0001-01-01 00:00:00.000000001",
        "12:34:56.789",
        "-0001-12-31",
        "AAEC",
        "9999-12-31 23:59:59.999",
    ])
}

pub(crate) fn partition_paths() -> Seeds {
    texts(&[
        "a=1/b=2",
        "dt=2024-02-29/h=__DEFAULT_PARTITION__/",
        "p=a%2Fb%3D%25",
        "%zz%4",
        "=/=",
        "bucket-0",
    ])
}

pub(crate) fn positions() -> Seeds {
    texts(&["{\"nextSnapshot\":7}", "{\"nextSnapshot\":null}"])
}

pub(crate) fn binary_rows() -> Seeds {
    let mut seeds = Seeds::new();
    let rows: [(&[Datum], &[DataType]); 3] = [
        (
            &[
                Datum::Int(7),
                Datum::String("a long text that is not inlined".to_owned()),
            ],
            &[DataType::int(), DataType::string()],
        ),
        (
            &[Datum::Null, Datum::String("x".to_owned())],
            &[DataType::int(), DataType::string()],
        ),
        (&[Datum::Double(1.5)], &[DataType::double()]),
    ];
    for (values, types) in rows {
        let row = BinaryRow::from_datums(values, types).expect("values of these types");
        seeds.push(row.to_serialized());
        seeds.push(row.as_bytes().to_vec());
    }
    let vectors = vector("binary_row.json");
    let mut found = Vec::new();
    collect_hex(&vectors, &mut found);
    seeds.extend(found.into_iter().filter(|bytes| bytes.len() > 8).take(120));
    seeds
}

/// Every text of the fixture that is written in hexadecimal digits.
fn collect_hex(json: &Value, into: &mut Seeds) {
    match json {
        Value::String(text) => {
            let digits = text.as_bytes();
            let hex = digits.len() >= 16 && digits.len().is_multiple_of(2);
            if hex && digits.iter().all(u8::is_ascii_hexdigit) {
                let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("digits");
                into.push((0..digits.len()).step_by(2).map(byte).collect());
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_hex(item, into)),
        Value::Object(members) => members.values().for_each(|item| collect_hex(item, into)),
        _ => {}
    }
}

const VARIANTS: &[&str] = &[
    "null",
    "true",
    "1",
    "-12345678901",
    "1.25",
    "1e300",
    "\"text\"",
    "[]",
    "{}",
    r#"{"a":1,"b":[true,null,"x"],"c":{"d":1.5}}"#,
    r#"[[1,2],[3.25,"a longer text than sixty-three bytes needs a length of its own, this one"]]"#,
    "12345678901234567890123456789012345678",
];

pub(crate) fn variants() -> Seeds {
    let seed = |json: &&str| {
        let (value, metadata) = tidewater_types::variant::json_to_variant(json).expect("json");
        let mut bytes = vec![u8::try_from(metadata.len()).expect("short metadata")];
        bytes.extend(metadata);
        bytes.extend(value);
        bytes
    };
    VARIANTS.iter().map(seed).collect()
}

pub(crate) fn variant_texts() -> Seeds {
    texts(VARIANTS)
}

pub(crate) fn parquet() -> Seeds {
    [
        "append",
        "pk-changelog-input",
        "pk-compacted",
        "pk-level0-thin",
        "pk-level0",
    ]
    .iter()
    .map(|name| std::fs::read(fixtures().join(format!("vectors/02-files/{name}.parquet"))))
    .map(|bytes| bytes.expect("a fixture"))
    .collect()
}

/// Files of Java's, and one of ours with every type and blocks that are not compressed.
pub(crate) fn avro_data_files() -> Seeds {
    let mut seeds: Seeds = ["pk-avro", "pk-postpone"]
        .iter()
        .map(|name| std::fs::read(fixtures().join(format!("vectors/02-files/{name}.avro"))))
        .map(|bytes| bytes.expect("a fixture"))
        .collect();
    let schema = r#"{"type":"record","name":"record","namespace":"org.apache.paimon.avro.generated","fields":[
        {"name":"k","type":["null","int"],"default":null},{"name":"v","type":["null","string"],"default":null},
        {"name":"d","type":["null",{"type":"bytes","logicalType":"decimal","precision":10,"scale":2}],"default":null},
        {"name":"c","type":["null",{"type":"array","items":["null",{"type":"record","name":"record_c","fields":[
            {"name":"x","type":"double"},{"name":"y","type":["null","boolean"]}]}]}],"default":null},
        {"name":"m","type":["null",{"type":"array","items":{"type":"record","name":"record_m","fields":[
            {"name":"key","type":"int"},{"name":"value","type":["null","bytes"]}]},"logicalType":"map"}],"default":null},
        {"name":"t","type":{"type":"long","logicalType":"timestamp-micros"}}]}"#;
    for codec in [AvroCodec::Null, AvroCodec::Snappy, AvroCodec::Xz] {
        let mut file = ContainerWriter::new(schema, codec).expect("a codec");
        for row in 0..20_u8 {
            let record = [
                &[2, row * 2, 2, 4, b'a', b'b', 2, 4, 1, row][..],
                &[2, 4, 0, 2, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 2, 1, 0],
                &[2, 2, row, 2, 2, 7, 0, row * 2],
            ]
            .concat();
            let appended = file.try_append(|out| {
                out.extend_from_slice(&record);
                Ok::<_, AvroError>(())
            });
            appended.expect("a small record");
        }
        seeds.push(file.finish().expect("a codec"));
    }
    seeds
}

pub(crate) fn arrow() -> Seeds {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("c0", Arc::new(Int32Array::from(vec![1, 2, 3]))),
        (
            "c1",
            Arc::new(StringArray::from(vec![Some("a"), None, Some("c")])),
        ),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("equal lengths");
    let mut stream =
        arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).expect("memory");
    stream.write(&batch).expect("memory");
    let mut file =
        arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).expect("memory");
    file.write(&batch).expect("memory");
    vec![
        stream.into_inner().expect("memory"),
        file.into_inner().expect("memory"),
    ]
}

pub(crate) fn csv() -> Seeds {
    texts(&[
        "c0,c1,c10\n1,a,2024-02-29\n2,\"quoted, \"\"text\"\"\nover lines\",\n",
        "c0|c1\n1|x\r\n2|\r\n",
        "\u{feff}c0,c1\n007,+1\n,\n",
        "1,a\n2,b\n",
    ])
}

pub(crate) fn json_rows() -> Seeds {
    texts(&[
        "{\"c0\":1,\"c1\":\"a\",\"c18\":[\"x\",null],\"c19\":{\"a\":1},\"c20\":{\"a\":1,\"b\":\"t\"}}\n{\"c0\":2}\n",
        "{\"c0\":1,\"c10\":\"2024-02-29\",\"c12\":\"2024-02-29T12:34:56.123\",\"c15\":\"AAEC\",\"c8\":\"1.50\",\"c2\":true}",
        "{\"c0\":3,\"c21\":{\"any\":[1,2]},\"c22\":{\"x\":2}}\r\n\r\n{\"c0\":1e2}",
    ])
}

pub(crate) fn row_lines() -> Seeds {
    texts(&[
        "{\"row\":{\"c0\":1,\"c1\":\"a\"}}\n{\"kind\":\"-D\",\"row\":{\"c0\":1}}\n",
        "{\"c0\":1,\"c7\":\"NaN\",\"c6\":1.5,\"c18\":[\"x\"],\"c19\":[[\"a\",1]]}",
        "{\"kind\":\"+U\",\"row\":{\"c0\":1,\"c9\":\"1.000000000000000001\",\"c13\":\"2024-02-29T12:34:56.123456789\"}}",
    ])
}
