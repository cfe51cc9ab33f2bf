//! What schemas say of their tables, and how refusals read.

use tidewater_types::{DataType, ErrorKind, SchemaId, TypeKind};

use super::*;
use crate::unsupported::{
    ensure_readable, ensure_writable, unsupported_for_read, unsupported_for_write,
};

#[test]
fn keyed_files_hold_key_copies_system_columns_and_all_columns() {
    let schema = TableSchema::create(
        definition(r#"{"fields":[{"name":"v","type":"INT"},{"name":"k2","type":"STRING"},{"name":"k1","type":"INT"},{"name":"pt","type":"DATE"}],"primaryKeys":["pt","k1","k2"],"partitionKeys":["pt"],"options":{"bucket":"1"}}"#),
        0,
    )
    .unwrap();
    let columns = |thin| {
        let fields = schema.key_value_type(thin).fields;
        fields
            .iter()
            .map(|field| (field.id, field.name.clone(), field.data_type.to_string()))
            .collect::<Vec<_>>()
    };
    let expected = [
        (1_073_741_825, "_KEY_k1", "INT NOT NULL"),
        (1_073_741_824, "_KEY_k2", "STRING NOT NULL"),
        (2_147_483_646, "_SEQUENCE_NUMBER", "BIGINT NOT NULL"),
        (2_147_483_645, "_VALUE_KIND", "TINYINT NOT NULL"),
        (0, "v", "INT"),
        (1, "k2", "STRING NOT NULL"),
        (2, "k1", "INT NOT NULL"),
        (3, "pt", "DATE NOT NULL"),
    ]
    .map(|(id, name, data_type)| (id, name.to_owned(), data_type.to_owned()));
    assert_eq!(columns(false), expected);
    assert_eq!(columns(true), expected[2..]);
    assert_eq!(schema.trimmed_primary_keys(), ["k1", "k2"]);
    assert_eq!(schema.partition_type().names().collect::<Vec<_>>(), ["pt"]);
    assert_eq!(
        (level_field().id, row_id_field().id),
        (2_147_483_644, 2_147_483_642)
    );
}

#[test]
fn bucket_modes_follow_bucket_and_keys() {
    let mode = |schema: Result<TableSchema>| schema.unwrap().bucket_mode().unwrap();
    assert_eq!(mode(keyed(&[])), BucketMode::Fixed(2));
    assert_eq!(mode(keyed(&[("bucket", "-1")])), BucketMode::Dynamic);
    assert_eq!(
        mode(keyed(&[("bucket", "-1"), ("partition", "pt")])),
        BucketMode::KeyDynamic
    );
    assert_eq!(mode(keyed(&[("bucket", "-2")])), BucketMode::Postpone);
    assert_eq!(mode(append(&[])), BucketMode::Unaware);
    assert_eq!(
        mode(append(&[("bucket", "3"), ("bucket-key", "k")])),
        BucketMode::Fixed(3)
    );
    assert_eq!(BucketMode::Fixed(3).total_buckets(), 3);
    assert_eq!(BucketMode::Postpone.total_buckets(), -2);
}

#[test]
fn blanks_in_lists_of_columns_do_not_count_and_are_not_stored() {
    let schema = keyed(&[("sequence.field", " n , v "), ("bucket-key", " k ")]).unwrap();
    assert_eq!(schema.options["sequence.field"], "n,v");
    assert_eq!(schema.options["bucket-key"], "k");
    let next = schema
        .apply(
            &[change(
                r#"{"op":"set-option","key":"sequence.field","value":" v ,n"}"#,
            )],
            true,
            0,
        )
        .unwrap();
    assert_eq!(next.options["sequence.field"], "v,n");
}

#[test]
fn refusals_name_the_thing_and_say_what_to_do() {
    let refusal = |schema: Result<TableSchema>| {
        let error = schema.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        error.to_string()
    };
    assert_eq!(
        refusal(append(&[("bucket", "2")])),
        "option 'bucket' is refused: a table without primary key does not know which columns to hash; set bucket-key, or bucket to -1"
    );
    assert_eq!(
        refusal(keyed(&[("bucket", "0")])),
        "option 'bucket' cannot be \"0\": expected a positive number, -1 (dynamic) or -2 (postpone)"
    );
    assert_eq!(
        refusal(keyed(&[("sequence.field", "x")])),
        "option 'sequence.field' names column \"x\", which the table does not have; correct the name"
    );
    assert_eq!(
        refusal(keyed(&[
            ("merge-engine", "partial-update"),
            ("fields.n.aggregate-function", "sum")
        ])),
        "option 'fields.n.aggregate-function' is refused: column \"n\" with function sum is in no sequence group; put the column into a fields.<columns>.sequence-group"
    );
    let change = |json: &str, has_snapshots| {
        keyed(&[])
            .unwrap()
            .apply(&[super::change(json)], has_snapshots, 0)
    };
    assert_eq!(
        refusal(change(
            r#"{"op":"set-option","key":"merge-engine","value":"first-row"}"#,
            true
        )),
        "option 'merge-engine' cannot change once the table has snapshots: files were written by it; make a new table with the other value"
    );
    assert_eq!(
        refusal(change(
            r#"{"op":"add-column","column":"c","type":"INT NOT NULL"}"#,
            true
        )),
        "column \"c\" is refused: a new column cannot be NOT NULL, because old rows have no value for it; add it as nullable"
    );
    let missing = change(r#"{"op":"drop-column","column":["v","x"]}"#, true).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    assert_eq!(
        missing.to_string(),
        "there is no column \"v.x\"; v is VARCHAR, which has no columns"
    );
}

#[test]
fn bad_requests_say_what_is_missing() {
    for (json, reason) in [
        (
            "[]",
            "cannot read the table definition: a json object is expected, not an array",
        ),
        (
            "{}",
            "cannot read the table definition: the member \"fields\" is missing",
        ),
        (
            r#"{"fields":[],"primaryKey":["k"]}"#,
            "cannot read the table definition: \"primaryKey\" is none of its members (fields, primaryKeys, partitionKeys, options, comment)",
        ),
        (
            r#"{"fields":[],"options":{"a":null}}"#,
            "cannot read the table definition: option 'a' is text, not null",
        ),
    ] {
        assert_eq!(
            SchemaDefinition::from_json(json.as_bytes())
                .unwrap_err()
                .to_string(),
            reason
        );
    }
    for (json, reason) in [
        (
            r#"{"op":"fly"}"#,
            "cannot read the schema change: there is no op \"fly\"",
        ),
        (
            r#"{"op":"drop-column"}"#,
            "cannot read the schema change: op \"drop-column\" needs column",
        ),
        (
            r#"{"op":"drop-column","column":"a","to":"b"}"#,
            "cannot read the schema change: \"to\" means nothing to op \"drop-column\"",
        ),
        (
            r#"{"op":"move-column","column":"a","first":true,"last":true}"#,
            "cannot read the schema change: a column has one place: first, last, after or before",
        ),
        (
            r#"{"op":"move-column","column":["a","b"],"first":true}"#,
            "cannot read the schema change: only columns of the table move, not \"a.b\"",
        ),
    ] {
        assert_eq!(
            SchemaChange::from_json(json.as_bytes())
                .unwrap_err()
                .to_string(),
            reason
        );
    }
}

#[test]
fn options_in_a_definition_may_be_numbers_and_booleans() {
    let schema = TableSchema::create(
        definition(
            r#"{"fields":[{"name":"k","type":"INT"}],"primaryKeys":["k"],"options":{"bucket":4,"write-only":true}}"#,
        ),
        0,
    );
    assert_eq!(
        schema.unwrap().options,
        text_map(&[("bucket", "4"), ("write-only", "true")])
    );
}

#[test]
fn a_job_may_override_options_except_those_that_files_depend_on() {
    let schema = keyed(&[("write.compaction-skip", "true")]).unwrap();
    let job = schema
        .with_job_options(&text_map(&[("write-only", "false"), ("my.own", "x")]))
        .unwrap();
    assert!(!job.options().unwrap().write_only);
    assert_eq!(job.options["my.own"], "x");
    assert_eq!(job.id, SchemaId(0));
    for (key, value) in [
        ("bucket", "4"),
        ("merge-engine", "first-row"),
        ("path", "/x"),
        ("write-buffer-size", "lots"),
    ] {
        assert!(
            schema.with_job_options(&text_map(&[(key, value)])).is_err(),
            "{key}"
        );
    }
    assert!(
        schema
            .with_job_options(&text_map(&[("bucket", "2")]))
            .is_ok()
    );
}

#[test]
fn changing_between_read_rules_needs_an_empty_table() {
    let aggregation = keyed(&[("merge-engine", "aggregation")]).unwrap();
    for (key, value) in [
        ("changelog-producer", "lookup"),
        ("deletion-vectors.enabled", "true"),
    ] {
        let set = [SchemaChange::SetOption {
            key: key.to_owned(),
            value: value.to_owned(),
        }];
        assert!(aggregation.apply(&set, false, 0).is_ok());
        let error = aggregation.apply(&set, true, 0).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with(&format!("option '{key}' cannot change")),
            "{error}"
        );
        // Deduplication gives the same rows either way.
        assert!(keyed(&[]).unwrap().apply(&set, true, 0).is_ok());
    }
    let input = change(r#"{"op":"set-option","key":"changelog-producer","value":"input"}"#);
    assert!(aggregation.apply(&[input], true, 0).is_ok());
}

#[test]
fn setting_an_option_replaces_its_former_key() {
    let schema = keyed(&[("write.compaction-skip", "true")]).unwrap();
    let next = schema
        .apply(
            &[change(
                r#"{"op":"set-option","key":"write-only","value":"false"}"#,
            )],
            true,
            0,
        )
        .unwrap();
    assert_eq!(
        next.options,
        text_map(&[("bucket", "2"), ("write-only", "false")])
    );
}

#[test]
fn options_follow_a_renamed_column() {
    let schema = append(&[
        ("clustering.columns", "n, v"),
        ("file-index.bloom-filter.columns", "v,n"),
        ("file-index.bloom-filter.v.items", "10"),
        ("fields.v.stats-mode", "none"),
        ("upsert-key", "v"),
    ])
    .unwrap();
    let next = schema
        .apply(
            &[change(r#"{"op":"rename-column","column":"v","to":"w"}"#)],
            true,
            0,
        )
        .unwrap();
    let expected = [
        ("clustering.columns", "n,w"),
        ("file-index.bloom-filter.columns", "w,n"),
        ("file-index.bloom-filter.w.items", "10"),
        ("fields.w.stats-mode", "none"),
        ("upsert-key", "w"),
    ];
    assert_eq!(next.options, text_map(&expected));
    let swap = r#"[{"op":"rename-column","column":"v","to":"t"},{"op":"rename-column","column":"n","to":"v"},{"op":"rename-column","column":"t","to":"n"}]"#;
    let swapped = schema
        .apply(
            &SchemaChange::list_from_json(swap.as_bytes()).unwrap(),
            true,
            0,
        )
        .unwrap();
    assert_eq!(swapped.options["file-index.bloom-filter.columns"], "n,v");
    assert_eq!(swapped.options["fields.n.stats-mode"], "none");
}

#[test]
fn floating_point_keys_are_warned_of() {
    let json = r#"{"fields":[{"name":"k","type":"DOUBLE"},{"name":"f","type":"FLOAT"}],"primaryKeys":["k"],"options":{"bucket":"1"}}"#;
    let schema = TableSchema::create(definition(json), 0).unwrap();
    assert_eq!(
        schema.warnings(),
        [SchemaWarning::FloatKey {
            column: "k".to_owned()
        }]
    );
    assert!(keyed(&[]).unwrap().warnings().is_empty());
}

#[test]
fn what_this_build_lacks_is_refused_by_name() {
    let lacks = |options: &[(&str, &str)]| {
        let schema = keyed(options).unwrap();
        let texts = |missing: Result<Vec<crate::Unsupported>>| {
            missing
                .unwrap()
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        (
            texts(unsupported_for_read(&schema)),
            texts(unsupported_for_write(&schema)),
        )
    };
    let none: Vec<String> = vec![];
    for supported in [
        &[][..],
        &[
            ("sequence.field", "n"),
            ("sequence.field.sort-order", "descending"),
        ],
        &[
            ("changelog-producer", "input"),
            ("ignore-delete", "true"),
            ("ignore-update-before", "true"),
        ],
        &[
            ("rowkind.field", "v"),
            ("bucket-function.type", "hive"),
            ("data-file.thin-mode", "true"),
        ],
        &[("merge-engine", "aggregation")],
        &[
            ("merge-engine", "partial-update"),
            ("changelog-producer", "input"),
        ],
        &[
            ("data-file.external-paths", "file:///x"),
            ("data-file.external-paths.strategy", "round-robin"),
        ],
        &[
            ("data-file.path-directory", "d"),
            ("file.suffix.include.compression", "true"),
            ("file.format", "PARQUET"),
        ],
    ] {
        assert_eq!(
            lacks(supported),
            (none.clone(), none.clone()),
            "{supported:?}"
        );
    }
    for (key, value, what) in [
        (
            "bucket",
            "-2",
            "not supported yet: postpone buckets (bucket = -2) (issue 4)",
        ),
        (
            "manifest.format",
            "orc",
            "not supported yet: manifest.format orc",
        ),
        (
            "query-auth.enabled",
            "true",
            "not supported yet: query-auth.enabled = true",
        ),
    ] {
        assert_eq!(
            lacks(&[(key, value)]),
            (vec![what.to_owned()], vec![what.to_owned()]),
            "{key}"
        );
    }
    for (key, value) in [
        ("bucket", "-1"),
        ("file.format", "orc"),
        ("file.format.per.level", "0:orc"),
        ("changelog-file.format", "orc"),
        ("file-index.bloom-filter.columns", "v"),
        ("deletion-vectors.enabled", "true"),
        ("changelog-producer", "lookup"),
        ("changelog-producer", "full-compaction"),
        ("force-lookup", "true"),
        ("merge-engine", "first-row"),
    ] {
        let (read, write) = lacks(&[(key, value)]);
        assert!(
            read.is_empty() && write.len() == 1,
            "{key}: {read:?} {write:?}"
        );
    }
    let (read, write) = lacks(&[("scan.tag-name", "t")]);
    assert_eq!((read.len(), write.len()), (1, 0));
    let dynamic = keyed(&[("bucket", "-1")]).unwrap();
    assert!(ensure_readable(&dynamic).is_ok());
    let error = ensure_writable(&dynamic).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    // Merge engines say nothing about append tables.
    assert!(ensure_writable(&append(&[("merge-engine", "aggregation")]).unwrap()).is_ok());
}

#[test]
fn what_avro_files_cannot_hold_is_refused_wherever_avro_is_asked_for() {
    let of = |name: &str, data_type: DataType, key: &str, value: &str| {
        let fields = vec![
            DataField::new(0, "k", DataType::int().not_null()),
            DataField::new(1, name, data_type),
        ];
        let options = [("bucket", "1"), (key, value)];
        TableSchema::create(
            SchemaDefinition {
                fields,
                primary_keys: vec!["k".to_owned()],
                partition_keys: vec![],
                options: options
                    .iter()
                    .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                    .collect(),
                comment: None,
            },
            0,
        )
    };
    let row = |name: &str| DataType::row(RowType::of([(name, DataType::int())]));
    for (key, value) in [
        ("file.format", "AVRO"),
        ("file.format.per.level", "0:avro"),
        ("changelog-file.format", "avro"),
    ] {
        for data_type in [
            DataType::time(4),
            DataType::timestamp(7),
            DataType::array(DataType::timestamp_ltz(9)),
            DataType::new(TypeKind::Variant),
            row("a-b"),
        ] {
            let error = of("c", data_type.clone(), key, value).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid, "{key} {data_type}");
        }
        for name in ["a-b", "1a", "a.b", "é"] {
            assert!(of(name, DataType::int(), key, value).is_err(), "{name}");
        }
        for data_type in [
            DataType::time(3),
            DataType::timestamp(6),
            DataType::multiset(DataType::string().not_null()),
            DataType::map(DataType::int().not_null(), DataType::date()),
            row("a_b1"),
        ] {
            let made = of("_c", data_type.clone(), key, value).unwrap();
            assert!(ensure_writable(&made).is_ok(), "{key} {data_type}");
        }
    }
    assert!(of("a-b", DataType::time(9), "file.format", "parquet").is_ok());
}

#[test]
fn schema_files_that_contradict_themselves_are_corrupt() {
    let file = |fields: &str, partition: &str, primary: &str| {
        let json = format!(
            r#"{{"version":3,"id":0,"fields":[{fields}],"highestFieldId":1,"partitionKeys":[{partition}],"primaryKeys":[{primary}],"options":{{}}}}"#
        );
        TableSchema::from_json(json.as_bytes())
    };
    let (a, b) = (
        r#"{"id":0,"name":"a","type":"INT"}"#,
        r#"{"id":1,"name":"b","type":"INT"}"#,
    );
    assert!(file(&format!("{a},{b}"), "", r#""a""#).is_ok());
    for (fields, partition, primary, reason) in [
        (
            format!("{a},{a}"),
            "",
            "",
            "corrupt schema file: column \"a\" (id 0) occurs twice",
        ),
        (
            a.to_owned(),
            "",
            r#""b""#,
            "corrupt schema file: key column \"b\" is no column",
        ),
        (
            a.to_owned(),
            r#""a""#,
            r#""a""#,
            "corrupt schema file: the primary key has only partition columns",
        ),
    ] {
        let error = file(&fields, partition, primary).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::Corrupt, reason)
        );
    }
    let newer = TableSchema::from_json(br#"{"version":4}"#).unwrap_err();
    assert_eq!(newer.kind(), ErrorKind::Unsupported);
    let missing = TableSchema::from_json(br#"{"version":3,"id":0}"#).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "corrupt schema file: member \"fields\" is missing"
    );
}

#[test]
fn unknown_members_of_a_schema_file_are_written_back() {
    let json = br#"{"version":3,"id":0,"fields":[{"id":0,"name":"a","type":"INT"}],"highestFieldId":0,"partitionKeys":[],"primaryKeys":[],"options":{"b":"1","a":"2"},"timeMillis":5,"future":[1]}"#;
    let schema = TableSchema::from_json(json).unwrap();
    assert_eq!(schema.to_json_value().to_string().as_bytes(), json);
    let set = change(r#"{"op":"set-option","key":"aa","value":"3"}"#);
    let next = schema.apply(&[set], true, 6).unwrap();
    let options = next.to_json_value()["options"].to_string();
    assert_eq!(options, r#"{"b":"1","a":"2","aa":"3"}"#);
    assert!(
        next.field("a")
            .is_some_and(|field| field.data_type == DataType::int())
    );
}
