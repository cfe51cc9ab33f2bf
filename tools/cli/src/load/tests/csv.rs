//! CSV as it comes.

use std::io::Write;

use tidewater_types::{DataField, DataType, RowType};

use super::super::{BadRow, BadRowPolicy, CsvOptions, DeadLetters, Place, RowFault};
use super::{Folder, batches, error, kinds, lines, plain, rows};

fn id_name() -> RowType {
    RowType::of([
        ("id", DataType::int().not_null()),
        ("name", DataType::string()),
    ])
}

#[test]
fn quotes_line_feeds_and_delimiters_inside_quotes_are_text() {
    let folder = Folder::new();
    let text =
        "id,name\r\n1,\"a \"\"b\"\", c\"\r\n2,\"two\nlines\"\r\n3,5\" pipe\r\n\r\n4,\"\"\"\"";
    assert_eq!(
        rows(folder.source("a.csv", text), &id_name()),
        [
            r#"{"id":1,"name":"a \"b\", c"}"#,
            r#"{"id":2,"name":"two\nlines"}"#,
            r#"{"id":3,"name":"5\" pipe"}"#,
            r#"{"id":4,"name":"\""}"#,
        ]
    );
}

#[test]
fn an_empty_field_is_null_and_a_quoted_one_is_the_empty_text() {
    let folder = Folder::new();
    let text = "\u{feff}name,id\n,1\n\"\",2\nNA,\"3\"\n";
    assert_eq!(
        rows(folder.source("a.csv", text), &id_name()),
        [
            r#"{"id":1,"name":null}"#,
            r#"{"id":2,"name":""}"#,
            r#"{"id":3,"name":"NA"}"#
        ]
    );
    let mut options = folder.source("a.csv", text);
    options.csv.nulls = vec!["NA".to_owned()];
    assert_eq!(
        rows(options, &id_name()),
        [
            r#"{"id":1,"name":""}"#,
            r#"{"id":2,"name":""}"#,
            r#"{"id":3,"name":null}"#
        ]
    );
}

#[test]
fn columns_go_by_name_and_missing_ones_are_null_or_refused() {
    let folder = Folder::new();
    assert_eq!(
        rows(folder.source("a.csv", "id\n7\n"), &id_name()),
        [r#"{"id":7,"name":null}"#]
    );
    let told = error(folder.source("a.csv", "name\nx\n"), &id_name());
    assert_eq!(
        plain(&told, &folder),
        "a.csv: no column id, which is NOT NULL in the table"
    );
    let told = error(folder.source("a.csv", "id,x,y\n1,2,3\n"), &id_name());
    assert_eq!(
        plain(&told, &folder),
        "a.csv: the table has no column x, y (--ignore-extra-columns leaves them out)"
    );
    let mut options = folder.source("a.csv", "x,id,y\n1,2,3\n");
    options.ignore_extra_columns = true;
    assert_eq!(rows(options, &id_name()), [r#"{"id":2,"name":null}"#]);
    let told = error(folder.source("a.csv", "id,id\n1,2\n"), &id_name());
    assert_eq!(plain(&told, &folder), "a.csv: two columns are named \"id\"");
}

#[test]
fn a_column_with_a_default_value_takes_nulls() {
    let folder = Folder::new();
    let mut field = DataField::new(0, "id", DataType::int().not_null());
    field.default_value = Some("5".to_owned());
    let row_type = RowType::new(vec![field]);
    assert_eq!(
        rows(folder.source("a.csv", "id\n1\n\n3\n"), &row_type),
        [r#"{"id":1}"#, r#"{"id":null}"#, r#"{"id":3}"#]
    );
}

#[test]
fn a_file_without_a_header_has_the_columns_of_the_table_or_those_said() {
    let folder = Folder::new();
    let mut options = folder.source("a.tsv", "1\ta\n2\t\n");
    options.csv.header = false;
    assert_eq!(
        rows(options, &id_name()),
        [r#"{"id":1,"name":"a"}"#, r#"{"id":2,"name":null}"#]
    );
    let mut options = folder.source("a.csv", "a;1");
    options.csv = CsvOptions {
        header: false,
        delimiter: Some(b';'),
        columns: vec!["name".to_owned(), "id".to_owned()],
        ..CsvOptions::default()
    };
    assert_eq!(rows(options, &id_name()), [r#"{"id":1,"name":"a"}"#]);
}

#[test]
fn every_type_is_read_from_its_text() {
    let folder = Folder::new();
    let row_type = RowType::of([
        ("b", DataType::boolean()),
        ("i8", DataType::tiny_int()),
        ("i64", DataType::big_int()),
        ("f", DataType::float()),
        ("d", DataType::double()),
        ("n", DataType::decimal(10, 2)),
        ("day", DataType::date()),
        ("t", DataType::time(3)),
        ("ts", DataType::timestamp(6)),
        ("tz", DataType::timestamp_ltz(3)),
        ("x", DataType::bytes()),
        ("l", DataType::array(DataType::int())),
        ("m", DataType::map(DataType::string(), DataType::int())),
        ("r", DataType::row(RowType::of([("p", DataType::int())]))),
    ]);
    let text = concat!(
        "b,i8,i64,f,d,n,day,t,ts,tz,x,l,m,r\n",
        "true,-128,-9223372036854775808,0.5,1e3,-12.5,2024-02-29,12:34:56.789,2024-02-29 12:34:56.123456,",
        "2024-02-29T12:34:56+02:00,AAE=,\"[1,null]\",\"[[\"\"k\"\",1]]\",\"{\"\"p\"\":3}\"\n",
        "F, 7 ,\"9223372036854775807\",NaN,-Infinity,3,-0044-03-15,00:00,1969-12-31,1970-01-01Z,\"\",[],[],\"{}\"\n",
        ",,,,,,,,,,,,,\n",
    );
    // Bytes of nothing: quoted, so not null.
    assert_eq!(
        rows(
            folder.source("a.csv", text.replace("1970-01-01Z", "1970-01-01 00:00Z")),
            &row_type
        ),
        [
            concat!(
                r#"{"b":true,"i8":-128,"i64":-9223372036854775808,"f":0.5,"d":1000.0,"n":"-12.50","day":"2024-02-29","#,
                r#""t":"12:34:56.789","ts":"2024-02-29T12:34:56.123456","tz":"2024-02-29T10:34:56.000Z","x":"AAE=","#,
                r#""l":[1,null],"m":[["k",1]],"r":{"p":3}}"#
            ),
            concat!(
                r#"{"b":false,"i8":7,"i64":9223372036854775807,"f":"NaN","d":"-Infinity","n":"3.00","day":"-0044-03-15","#,
                r#""t":"00:00:00.000","ts":"1969-12-31T00:00:00.000000","tz":"1970-01-01T00:00:00.000Z","x":"","#,
                r#""l":[],"m":[],"r":{"p":null}}"#
            ),
            concat!(
                r#"{"b":null,"i8":null,"i64":null,"f":null,"d":null,"n":null,"day":null,"t":null,"ts":null,"#,
                r#""tz":null,"x":null,"l":null,"m":null,"r":null}"#
            ),
        ]
    );
}

#[test]
fn values_that_do_not_fit_are_named_with_line_column_value_and_type() {
    let folder = Folder::new();
    for (data_type, value, expected) in [
        (
            DataType::tiny_int(),
            "128",
            "column v: \"128\" is not TINYINT",
        ),
        (DataType::int(), "1.0", "column v: \"1.0\" is not INT"),
        (DataType::double(), "inf", "column v: \"inf\" is not DOUBLE"),
        (
            DataType::decimal(4, 2),
            "123.00",
            "column v: \"123.00\" is not DECIMAL(4, 2)",
        ),
        (
            DataType::date(),
            "2023-02-29",
            "column v: \"2023-02-29\" is not DATE",
        ),
        (
            DataType::timestamp(3),
            "2023-01-01 00:00:00.0001",
            "column v: \"2023-01-01 00:00:00.0001\" is not TIMESTAMP(3)",
        ),
        (
            DataType::bytes(),
            "A",
            "column v: \"A\" is not base64 with padding",
        ),
        (
            DataType::array(DataType::int()),
            "[x]",
            "column v: \"[x]\" is not ARRAY<INT> as JSON (character 2: expected a value)",
        ),
        (
            DataType::int().not_null(),
            "\"\"",
            "column v: null, but the column is NOT NULL",
        ),
    ] {
        let row_type = RowType::of([("k", DataType::string()), ("v", data_type)]);
        let text = format!("k,v\n\"a\nb\",\nx,{value}\n").replace("b\",\n", "b\",0\n");
        // The first row holds a value that every type but some takes; those fail there.
        let told = plain(&error(folder.source("a.csv", text), &row_type), &folder);
        let told = told.split_once(", ").unwrap().1.split_once(", ").unwrap();
        assert!(
            told.0 == "line 2" || told == ("line 4", expected),
            "{told:?} for {value}"
        );
        let text = format!("k,v\nx,{value}\n");
        let told = plain(&error(folder.source("a.csv", text), &row_type), &folder);
        assert_eq!(told, format!("a.csv, line 2, {expected}"));
    }
}

#[test]
fn a_bad_number_in_row_70000_is_found_at_its_line() {
    let folder = Folder::new();
    let mut text = String::from("id,name\n");
    for id in 0..80_000 {
        if id == 69_999 {
            text.push_str("7o,bad\n");
        } else {
            text.push_str(&format!("{id},n{id}\n"));
        }
    }
    let told = error(folder.source("a.csv", &text), &id_name());
    assert_eq!(
        plain(&told, &folder),
        "a.csv, line 70001, column id: \"7o\" is not INT NOT NULL"
    );
    let mut options = folder.source("a.csv", &text);
    options.bad_rows = BadRowPolicy::HandOver { max: None };
    let found = batches(options, &id_name()).unwrap();
    let good: usize = found.iter().map(|batch| batch.batch.num_rows()).sum();
    assert_eq!(good, 79_999);
    let bad: Vec<&BadRow> = found.iter().flat_map(|batch| &batch.bad_rows).collect();
    assert_eq!(bad.len(), 1);
    assert_eq!(
        (bad[0].place, bad[0].text.as_deref()),
        (Place::Line(70_001), Some("7o,bad"))
    );
    assert_eq!(found.last().unwrap().end.row, 80_000);
}

#[test]
fn bad_rows_of_every_sort_are_put_aside_in_order_and_the_rest_is_loaded() {
    let folder = Folder::new();
    let text = b"id,name\n1,a\n2\n3,b,c\n\"4\"x,d\n,e\n5,\xff\n6,f\n7,\"never closed\n8,g\n";
    let mut options = folder.source("a.csv", text);
    options.bad_rows = BadRowPolicy::HandOver { max: Some(6) };
    let found = batches(options, &id_name()).unwrap();
    assert_eq!(
        lines(&found, &id_name()),
        [
            r#"{"id":1,"name":"a"}"#,
            r#"{"id":6,"name":"f"}"#,
            r#"{"id":8,"name":"g"}"#
        ]
    );
    let bad: Vec<(Place, String)> = found
        .iter()
        .flat_map(|batch| &batch.bad_rows)
        .map(|bad| (bad.place, bad.fault.to_string()))
        .collect();
    assert_eq!(
        bad,
        [
            (Place::Line(3), "1 fields, but the header has 2".to_owned()),
            (Place::Line(4), "3 fields, but the header has 2".to_owned()),
            (Place::Line(5), "text follows a closing quote".to_owned()),
            (
                Place::Line(6),
                "column id: null, but the column is NOT NULL".to_owned()
            ),
            (
                Place::Line(7),
                "column name: \"\u{fffd}\" is not UTF-8 text".to_owned()
            ),
            (
                Place::Line(9),
                "a quote is opened and never closed".to_owned()
            ),
        ]
    );
    let mut options = folder.source("a.csv", text);
    options.bad_rows = BadRowPolicy::HandOver { max: Some(2) };
    assert_eq!(
        plain(&error(options, &id_name()), &folder),
        "more than 2 bad rows, the last: a.csv, line 5, text follows a closing quote"
    );
}

#[test]
fn dead_letters_are_json_lines_and_keep_what_was_committed() {
    let folder = Folder::new();
    let row = |line| BadRow {
        file: "a.csv".to_owned(),
        place: Place::Line(line),
        fault: RowFault::Null {
            column: "id".to_owned(),
        },
        text: Some(",\"x\"".to_owned()),
    };
    let path = folder.path("bad.json");
    let mut letters = DeadLetters::open(&path, 0).unwrap();
    letters.write(&[row(2), row(3)]).unwrap();
    letters.sync().unwrap();
    drop(letters);
    // The second was written, but the commit that knows of it never came.
    let mut letters = DeadLetters::open(&path, 1).unwrap();
    letters.write(&[row(9)]).unwrap();
    letters.sync().unwrap();
    assert_eq!(letters.lines(), 2);
    let text = std::fs::read_to_string(&path).unwrap();
    let reason = r#""reason":"column id: null, but the column is NOT NULL","text":",\"x\"""#;
    assert_eq!(
        text,
        format!(
            "{{\"file\":\"a.csv\",\"line\":2,{reason}}}\n{{\"file\":\"a.csv\",\"line\":9,{reason}}}\n"
        )
    );
    assert!(DeadLetters::open(&path, 3).is_err());
}

#[test]
fn kinds_come_from_a_column_that_is_the_tables_or_not() {
    let folder = Folder::new();
    let text = "op,id,name\n+I,1,a\n delete ,2,\nU,3,c\n-u,4,d\nD,5,e\nInsert,6,f\n";
    let mut options = folder.source("a.csv", text);
    options.kind_column = Some("op".to_owned());
    let found = batches(options, &id_name()).unwrap();
    assert_eq!(kinds(&found), ["+I", "-D", "+U", "-U", "-D", "+I"]);
    assert_eq!(lines(&found, &id_name())[1], r#"{"id":2,"name":null}"#);
    let with_op = RowType::of([("op", DataType::string()), ("id", DataType::int())]);
    let mut options = folder.source("a.csv", "id,op\n1,delete\n");
    options.kind_column = Some("op".to_owned());
    let found = batches(options, &with_op).unwrap();
    assert_eq!(lines(&found, &with_op), [r#"{"op":"delete","id":1}"#]);
    assert_eq!(kinds(&found), ["-D"]);
    let mut options = folder.source("a.csv", "op,id\n+I,1\nmerge,2\n");
    options.kind_column = Some("op".to_owned());
    assert_eq!(
        plain(&error(options, &id_name()), &folder),
        "a.csv, line 3, column op: \"merge\" is not a row kind (+I, -U, +U, -D, I, U, D, insert, update, upsert or delete)"
    );
    let mut options = folder.source("a.csv", "id\n1\n");
    options.kind_column = Some("op".to_owned());
    assert_eq!(
        plain(&error(options, &id_name()), &folder),
        "a.csv: no column op to take row kinds from"
    );
}

#[test]
fn packed_files_are_unpacked_and_broken_ones_named() {
    let folder = Folder::new();
    let text = b"id,name\n1,a\n";
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text).unwrap();
    let gz = gz.finish().unwrap();
    let expected = [r#"{"id":1,"name":"a"}"#];
    assert_eq!(rows(folder.source("a.csv.gz", &gz), &id_name()), expected);
    let zst = zstd::encode_all(&text[..], 1).unwrap();
    assert_eq!(rows(folder.source("a.csv.zst", zst), &id_name()), expected);
    let torn = &gz[..gz.len() - 6];
    let told = batches(folder.source("b.csv.gz", torn), &id_name()).unwrap_err();
    assert_eq!(plain(&told.to_string(), &folder), "cannot read b.csv.gz");
    assert_eq!(told.kind(), tidewater_types::ErrorKind::Corrupt);
}

#[test]
fn what_is_no_csv_of_rows_is_refused() {
    let folder = Folder::new();
    let told = error(folder.source("a.csv", ""), &id_name());
    assert_eq!(plain(&told, &folder), "a.csv: empty, without even a header");
    let told = error(folder.source("a.csv", b"\xff\xfei\0d\0"), &id_name());
    assert_eq!(
        plain(&told, &folder),
        "a.csv: the text is UTF-16; convert it to UTF-8"
    );
    let told = error(folder.source("a.csv", "id,,name\n"), &id_name());
    assert_eq!(
        plain(&told, &folder),
        "a.csv: field 2 of the header has no name"
    );
    assert!(rows(folder.source("a.csv", "id,name\n"), &id_name()).is_empty());
    let told = error(folder.source("a.txt", "id\n1\n"), &id_name());
    assert_eq!(
        plain(&told, &folder),
        "cannot tell the format of a.txt by its name: give it with --format"
    );
    let told = error(folder.named("gone.csv"), &id_name());
    assert_eq!(plain(&told, &folder), "cannot read gone.csv");
}

#[test]
fn a_record_longer_than_what_is_read_at_once_is_whole() {
    let folder = Folder::new();
    let long = "x\n\"\"".repeat(200_000);
    let text = format!("id,name\n1,\"{long}\"\n2,b\n");
    let found = rows(folder.source("a.csv", text), &id_name());
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].len(), r#"{"id":1,"name":""}"#.len() + 200_000 * 5);
    assert_eq!(found[1], r#"{"id":2,"name":"b"}"#);
}

#[test]
fn batches_are_bounded_by_rows_and_by_bytes() {
    let folder = Folder::new();
    let text: String = (0..100).map(|id| format!("{id},name{id:04}\n")).collect();
    let text = format!("id,name\n{text}");
    let mut options = folder.source("a.csv", &text);
    options.batch_rows = 30;
    let sizes = |found: Vec<super::SourceBatch>| -> Vec<usize> {
        found.iter().map(|batch| batch.batch.num_rows()).collect()
    };
    assert_eq!(
        sizes(batches(options, &id_name()).unwrap()),
        [30, 30, 30, 10]
    );
    let mut options = folder.source("a.csv", &text);
    options.batch_bytes = 300;
    assert!(sizes(batches(options, &id_name()).unwrap()).len() > 3);
}

#[test]
fn where_reading_stops_in_between_makes_no_difference() {
    let folder = Folder::new();
    for shift in 0..12 {
        let mut text = format!("id,name\r\n0,{}\r\n", "x".repeat(shift));
        for id in 1..40_000 {
            text.push_str(&format!("{id},\"a\"\"\r\nb\"\r\n"));
        }
        let found = rows(folder.source("a.csv", &text), &id_name());
        assert_eq!(found.len(), 40_000);
        for (id, row) in found.iter().enumerate().skip(1) {
            assert_eq!(
                *row,
                format!(r#"{{"id":{id},"name":"a\"\r\nb"}}"#),
                "shift {shift}"
            );
        }
    }
}
