//! Exports read back by `load`.

use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex};

use arrow_array::{Int32Array, RecordBatch, StringArray};
use proptest::prelude::*;
use tidewater_types::{DataType, RowType};

use super::{Destination, ExportFormat, ExportWriter};
use crate::json::{RowDecoder, RowEncoder};
use crate::load::{Input, InputFormat, Source, SourceOptions};

fn row_type() -> RowType {
    RowType::of([
        ("b", DataType::boolean()),
        ("i", DataType::big_int()),
        ("f", DataType::float()),
        ("d", DataType::double()),
        ("n", DataType::decimal(12, 2)),
        ("day", DataType::date()),
        ("t", DataType::time(3)),
        ("ts", DataType::timestamp(0)),
        ("tz", DataType::timestamp_ltz(9)),
        ("s", DataType::string()),
        ("x", DataType::bytes()),
        ("v", DataType::new(tidewater_types::TypeKind::Variant)),
        ("l", DataType::array(DataType::string())),
        ("m", DataType::map(DataType::int(), DataType::date())),
        ("r", DataType::row(RowType::of([("p", DataType::string())]))),
    ])
}

const ROWS: [&str; 3] = [
    concat!(
        r#"{"b":true,"i":-9223372036854775808,"f":0.10000000149011612,"d":0.00001,"n":"-12.50","day":"2024-02-29","#,
        r#""t":"12:34:56.789","ts":"2024-02-29T12:34:56","tz":"2024-02-29T12:34:56.000000001Z","s":"a,\"b\"\r\nc","#,
        r#""x":"AAE=","v":"{\"k\":[1,\"x\"]}","l":["a","b\"c",null],"m":[[1,"2024-02-29"]],"r":{"p":"q,\"r"}}"#
    ),
    concat!(
        r#"{"b":false,"i":0,"f":"NaN","d":"-Infinity","n":"0.00","day":"-0044-03-15","t":"00:00:00.000","#,
        r#""ts":"1969-12-31T23:59:59","tz":"1970-01-01T00:00:00.000000000Z","s":"","x":"","v":"\"text\"","l":[],"m":[],"r":{"p":null}}"#
    ),
    concat!(
        r#"{"b":null,"i":null,"f":null,"d":null,"n":null,"day":null,"t":null,"ts":null,"tz":null,"s":null,"#,
        r#""x":null,"v":null,"l":null,"m":null,"r":null}"#
    ),
];

fn batch() -> RecordBatch {
    let mut decoder = RowDecoder::new(&row_type()).unwrap();
    for (number, row) in (1..).zip(ROWS) {
        decoder.bare_row(number, row).unwrap();
    }
    decoder.take().unwrap().unwrap().batch
}

fn load(input: Input, format: Option<InputFormat>) -> Vec<String> {
    let mut options = SourceOptions::new(vec![input]);
    options.format = format;
    let mut source = Source::open(options, &row_type()).unwrap();
    let encoder = RowEncoder::new(&row_type());
    let mut rows = Vec::new();
    while let Some(found) = source.next_batch_blocking().unwrap() {
        let mut bound = encoder.bind(&found.batch).unwrap();
        for row in 0..found.batch.num_rows() {
            let mut line = Vec::new();
            bound.write_row(row, &mut line).unwrap();
            rows.push(String::from_utf8(line).unwrap());
        }
    }
    rows
}

/// A stream that a test can look into.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn every_format_reads_back_to_the_same_rows_from_files_and_streams() {
    let folder = tempfile::tempdir().unwrap();
    for (format, read, name) in [
        (ExportFormat::Csv, InputFormat::Csv, "a.csv"),
        (ExportFormat::Parquet, InputFormat::Parquet, "a.parquet"),
        (ExportFormat::Arrow, InputFormat::Arrow, "a.arrow"),
    ] {
        let path = folder.path().join(name);
        let expected: Vec<String> = ROWS
            .iter()
            .chain(&ROWS)
            .map(|row| (*row).to_owned())
            .collect();
        let stream = Shared::default();
        for destination in [
            Destination::file(&path).unwrap(),
            Destination::stream(stream.clone()),
        ] {
            let mut writer = ExportWriter::new(format, &row_type(), destination).unwrap();
            writer.write(&batch()).unwrap();
            writer.write(&batch()).unwrap();
            assert_eq!(writer.finish().unwrap().rows, 6);
        }
        assert_eq!(load(Input::Path(path), None), expected, "{name}");
        let bytes = std::mem::take(&mut *stream.0.lock().unwrap());
        let input = Input::Stream(Box::new(std::io::Cursor::new(bytes)));
        assert_eq!(load(input, Some(read)), expected, "{name} as a stream");
    }
}

#[test]
fn csv_has_a_header_and_the_texts_of_the_contract() {
    let stream = Shared::default();
    let destination = Destination::stream(stream.clone());
    let mut writer = ExportWriter::new(ExportFormat::Csv, &row_type(), destination).unwrap();
    writer.write(&batch()).unwrap();
    writer.finish().unwrap();
    let text = String::from_utf8(stream.0.lock().unwrap().clone()).unwrap();
    assert_eq!(
        text,
        concat!(
            "b,i,f,d,n,day,t,ts,tz,s,x,v,l,m,r\n",
            "true,-9223372036854775808,0.10000000149011612,0.00001,-12.50,2024-02-29,12:34:56.789,2024-02-29T12:34:56,",
            "2024-02-29T12:34:56.000000001Z,\"a,\"\"b\"\"\r\nc\",AAE=,\"{\"\"k\"\":[1,\"\"x\"\"]}\",",
            "\"[\"\"a\"\",\"\"b\\\"\"c\"\",null]\",\"[[1,\"\"2024-02-29\"\"]]\",\"{\"\"p\"\":\"\"q,\\\"\"r\"\"}\"\n",
            "false,0,NaN,-Infinity,0.00,-0044-03-15,00:00:00.000,1969-12-31T23:59:59,1970-01-01T00:00:00.000000000Z,",
            "\"\",\"\",\"\"\"text\"\"\",[],[],\"{\"\"p\"\":null}\"\n",
            ",,,,,,,,,,,,,,\n",
        )
    );
}

#[test]
fn an_export_that_is_not_finished_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    std::fs::write(&path, "before").unwrap();
    for format in [
        ExportFormat::Csv,
        ExportFormat::Parquet,
        ExportFormat::Arrow,
    ] {
        let destination = Destination::file(&path).unwrap();
        let mut writer = ExportWriter::new(format, &row_type(), destination).unwrap();
        writer.write(&batch()).unwrap();
        drop(writer);
        assert_eq!(std::fs::read(&path).unwrap(), b"before");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
    let told = Destination::file(&folder.path().join("no/a.csv")).unwrap_err();
    assert!(told.to_string().ends_with("no/a.csv"), "{told}");
}

#[test]
fn exports_are_readable_by_others_and_know_no_rows_too() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    let destination = Destination::file(&path).unwrap();
    let writer = ExportWriter::new(ExportFormat::Csv, &row_type(), destination).unwrap();
    assert_eq!(writer.finish().unwrap().rows, 0);
    let mode = File::open(&path)
        .unwrap()
        .metadata()
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o644);
    assert!(load(Input::Path(path), None).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever the texts, CSV gives them back, nulls and empty texts apart.
    #[test]
    fn csv_keeps_texts(
        rows in prop::collection::vec((prop::option::of("[a,\"\r\n é]{0,6}"), prop::option::of(any::<i32>())), 0..20)
    ) {
        let row_type = RowType::of([("s", DataType::string()), ("i", DataType::int())]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let texts: StringArray = rows.iter().map(|(text, _)| text.as_deref()).collect();
        let numbers: Int32Array = rows.iter().map(|(_, number)| *number).collect();
        let schema = tidewater_types::arrow_types::to_arrow_schema(&row_type);
        let batch = RecordBatch::try_new(schema, vec![Arc::new(texts), Arc::new(numbers)]).unwrap();
        let destination = Destination::file(&path).unwrap();
        let mut writer = ExportWriter::new(ExportFormat::Csv, &row_type, destination).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let options = SourceOptions::new(vec![Input::Path(path)]);
        let mut source = Source::open(options, &row_type).unwrap();
        let found = source.next_batch_blocking().unwrap();
        prop_assert_eq!(found.is_none(), rows.is_empty());
        if let Some(found) = found {
            prop_assert_eq!(found.batch.columns(), batch.columns());
        }
    }
}
