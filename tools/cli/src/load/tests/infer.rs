//! Tables made for files.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, StringArray, UInt64Array};
use tidewater_format::SchemaDefinition;

use super::super::{CsvOptions, InferOptions, Input, infer_schema};
use super::columnar::{batch, write_ipc, write_parquet};
use super::{Folder, plain, rows};

fn options() -> InferOptions {
    InferOptions {
        format: None,
        csv: CsvOptions::default(),
        sample_rows: 10_000,
        primary_key: Vec::new(),
        partition_by: Vec::new(),
        options: BTreeMap::new(),
    }
}

fn infer(folder: &Folder, name: &str, options: &InferOptions) -> SchemaDefinition {
    infer_schema(Input::Path(folder.path(name)), options).unwrap()
}

fn refused(folder: &Folder, name: &str, options: &InferOptions) -> String {
    let error = infer_schema(Input::Path(folder.path(name)), options).unwrap_err();
    plain(&error.to_string(), folder)
}

fn columns(definition: &SchemaDefinition) -> Vec<String> {
    let fields = definition.fields.iter();
    fields
        .map(|field| format!("{} {}", field.name, field.data_type))
        .collect()
}

#[test]
fn csv_columns_get_the_narrowest_type_that_all_values_are_written_as() {
    let folder = Folder::new();
    folder.source(
        "a.csv",
        concat!(
            "i,l,huge,zip,plus,d,mixed,b,day,ts3,ts6,tz,both,text,none,mac\n",
            "1,1,1,01234,+4,1,1,true,2024-02-29,2024-02-29 10:00:00,2024-02-29T10:00:00.123456,2024-02-29T10:00:00Z,2024-02-29,a,,1\n",
            "-2,3000000000,99999999999999999999,99999,5,2.5,x,FALSE,1969-12-31,2024-02-29 10:00:00.5,2024-02-29T10:00:00,2024-02-29T10:00:00+02:00,2024-02-29 01:00:00,1,,x1\n",
        ),
    );
    let definition = infer(&folder, "a.csv", &options());
    assert_eq!(
        columns(&definition),
        [
            "i INT",
            "l BIGINT",
            "huge STRING",
            "zip STRING",
            "plus STRING",
            "d DOUBLE",
            "mixed STRING",
            "b BOOLEAN",
            "day DATE",
            "ts3 TIMESTAMP(3)",
            "ts6 TIMESTAMP(6)",
            "tz TIMESTAMP(3) WITH LOCAL TIME ZONE",
            "both TIMESTAMP(3)",
            "text STRING",
            "none STRING",
            "mac STRING"
        ]
    );
    let row_type = tidewater_types::RowType::new(definition.fields);
    assert_eq!(rows(folder.named("a.csv"), &row_type).len(), 2);
}

#[test]
fn keys_are_not_null_and_buckets_four_unless_told() {
    let folder = Folder::new();
    folder.source("a.csv", "a,b,c\n1,2,3\n");
    let mut asked = options();
    asked.primary_key = vec!["a".to_owned(), "b".to_owned()];
    asked.partition_by = vec!["b".to_owned()];
    let definition = infer(&folder, "a.csv", &asked);
    assert_eq!(
        columns(&definition),
        ["a INT NOT NULL", "b INT NOT NULL", "c INT"]
    );
    assert_eq!(
        definition.options,
        BTreeMap::from([("bucket".to_owned(), "4".to_owned())])
    );
    assert_eq!(definition.partition_keys, ["b"]);
    asked.options = BTreeMap::from([("bucket".to_owned(), "1".to_owned())]);
    assert_eq!(infer(&folder, "a.csv", &asked).options["bucket"], "1");
    asked.primary_key = vec!["z".to_owned()];
    assert_eq!(
        refused(&folder, "a.csv", &asked),
        "a.csv: no column \"z\" to be a key; there are a, b, c"
    );
    assert!(infer(&folder, "a.csv", &options()).options.is_empty());
}

#[test]
fn only_the_sample_is_looked_at() {
    let folder = Folder::new();
    folder.source("a.csv", "a\n1\n2\nx\n");
    let mut asked = options();
    asked.sample_rows = 2;
    assert_eq!(columns(&infer(&folder, "a.csv", &asked)), ["a INT"]);
    asked.csv.header = false;
    assert_eq!(columns(&infer(&folder, "a.csv", &asked)), ["c1 STRING"]);
    folder.source("b.csv", "a,b\n1\n");
    assert_eq!(
        refused(&folder, "b.csv", &options()),
        "b.csv, line 2, 1 fields, but the header has 2"
    );
    folder.source("c.csv", "a,b\n");
    assert_eq!(
        columns(&infer(&folder, "c.csv", &options())),
        ["a STRING", "b STRING"]
    );
}

#[test]
fn json_members_get_types_at_any_depth() {
    let folder = Folder::new();
    folder.source(
        "a.json",
        concat!(
            r#"{"id":1,"big":3000000000,"huge":99999999999999999999,"d":1,"s":"x","day":"2024-02-29","ts":"2024-02-29T01:02:03.5Z","a":[],"r":{"p":1},"n":null}"#,
            "\n",
            r#"{"id":null,"d":2.5,"late":true,"a":[{"q":[1.5]}],"r":{"o":"2024-02-29 00:00:00.1234567","p":null}}"#,
            "\n",
        ),
    );
    let definition = infer(&folder, "a.json", &options());
    assert_eq!(
        columns(&definition),
        [
            "id INT",
            "big BIGINT",
            "huge DECIMAL(38, 0)",
            "d DOUBLE",
            "s STRING",
            "day DATE",
            "ts TIMESTAMP(3) WITH LOCAL TIME ZONE",
            "a ARRAY<ROW<`q` ARRAY<DOUBLE>>>",
            "r ROW<`p` INT, `o` TIMESTAMP(9)>",
            "n STRING",
            "late BOOLEAN"
        ]
    );
    let row_type = tidewater_types::RowType::new(definition.fields);
    assert_eq!(rows(folder.named("a.json"), &row_type).len(), 2);
    folder.source("b.json", "{\"a\":1}\n{\"a\":\"x\"}\n");
    assert_eq!(
        refused(&folder, "b.json", &options()),
        "b.json: a holds numbers and strings, which no type takes from JSON; say the columns with --schema"
    );
    folder.source("c.json", "{\"a\":1}\nx\n");
    assert!(refused(&folder, "c.json", &options()).starts_with("c.json, line 2, not json"));
    folder.source("d.json", "");
    assert_eq!(
        refused(&folder, "d.json", &options()),
        "d.json: there are no columns"
    );
}

#[test]
fn parquet_and_arrow_files_say_their_types() {
    let folder = Folder::new();
    let columns_of: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(vec![1]))),
        ("u", Arc::new(UInt64Array::from(vec![1]))),
        ("s", Arc::new(StringArray::from(vec!["x"]))),
    ];
    let rows = batch(columns_of);
    write_parquet(&folder, "a.parquet", &rows);
    write_ipc(&folder, "a.arrow", &rows, false);
    let mut asked = options();
    asked.primary_key = vec!["id".to_owned()];
    for name in ["a.parquet", "a.arrow"] {
        assert_eq!(
            columns(&infer(&folder, name, &asked)),
            ["id BIGINT NOT NULL", "u DECIMAL(20, 0)", "s STRING"]
        );
    }
}
