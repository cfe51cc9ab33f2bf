//! Files of older schemas read with a newer one: the scenarios recorded from Java, and what it does not have.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use serde_json::{Value, json};
use tidewater_files::{ParquetFileReader, ReadRequest, SchemaMapping};
use tidewater_types::{DataField, DataType, ErrorKind, RowType, TypeKind};

use crate::json_rows::{array_of, cell};
use crate::support::{batch, context, path, read_with, table, vector_path, write};

/// Types as the vectors write them, `ROW<…>` and the like included. Ids of members come from `ids`, by name.
fn parse_type(text: &str, ids: &BTreeMap<&str, i32>) -> DataType {
    let text = text.trim();
    let inside = |prefix: &str| {
        text.strip_prefix(prefix)
            .and_then(|rest| rest.strip_suffix('>'))
    };
    if let Some(inside) = inside("ARRAY<") {
        return DataType::array(parse_type(inside, ids));
    }
    if let Some(inside) = inside("MAP<") {
        let parts = split(inside);
        return DataType::map(
            parse_type(parts[0], ids).not_null(),
            parse_type(parts[1], ids),
        );
    }
    if let Some(inside) = inside("ROW<") {
        let members = split(inside).into_iter().map(|member| {
            let (name, data_type) = member
                .trim()
                .trim_start_matches('`')
                .split_once('`')
                .unwrap();
            DataField::new(ids[name], name, parse_type(data_type, ids))
        });
        return DataType::row(RowType::new(members.collect()));
    }
    DataType::parse_atomic(text).unwrap()
}

/// Parts between commas that are in no brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, character) in text.char_indices() {
        match character {
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn fields(schema: &Value, ids: &BTreeMap<&str, i32>) -> Vec<DataField> {
    let field = |field: &Value| {
        let id = i32::try_from(field["id"].as_i64().unwrap()).unwrap();
        DataField::new(
            id,
            field["name"].as_str().unwrap(),
            parse_type(field["type"].as_str().unwrap(), ids),
        )
    };
    schema.as_array().unwrap().iter().map(field).collect()
}

fn batch_of(fields: &[DataField], rows: &Value) -> RecordBatch {
    let rows = rows.as_array().unwrap();
    let columns = fields.iter().enumerate().map(|(index, field)| {
        let values: Vec<Value> = rows.iter().map(|row| row[index].clone()).collect();
        array_of(&values, &field.data_type)
    });
    batch(fields, columns.collect())
}

/// Values as in the vectors: members of rows by position.
fn positional(value: Value, data_type: &DataType) -> Value {
    match (&data_type.kind, value) {
        (TypeKind::Row(row), Value::Object(members)) => row
            .fields
            .iter()
            .map(|field| positional(members[&field.name].clone(), &field.data_type))
            .collect(),
        (TypeKind::Array(element), Value::Array(items)) => items
            .into_iter()
            .map(|item| positional(item, element))
            .collect(),
        (TypeKind::Map(_, element), Value::Array(pairs)) => pairs
            .into_iter()
            .map(|pair| json!([pair[0], positional(pair[1].clone(), element)]))
            .collect(),
        (_, value) => value,
    }
}

fn rows_of(batch: &RecordBatch, fields: &[DataField]) -> Value {
    let row = |row: usize| -> Value {
        let cells = fields.iter().zip(batch.columns());
        cells
            .map(|(field, array)| positional(cell(array, row, &field.data_type), &field.data_type))
            .collect()
    };
    (0..batch.num_rows()).map(row).collect()
}

#[tokio::test]
async fn old_files_read_as_in_java() {
    let vectors: Value = serde_json::from_slice(
        &std::fs::read(vector_path("02-schema-evolution-read.json")).unwrap(),
    )
    .unwrap();
    let mut checked = 0;
    for scenario in vectors["scenarios"].as_array().unwrap() {
        let name = scenario["name"].as_str().unwrap();
        // Defaults are the write path's; a refused change has nothing to read.
        if name == "default-value-at-create" || !scenario["alter_error"].is_null() {
            continue;
        }
        let dropped = name == "nested-drop-then-add-same-name";
        let before_ids = BTreeMap::from([("x", 2), ("y", 3)]);
        let after_ids = BTreeMap::from([
            ("x", if dropped { 4 } else { 2 }),
            ("xx", 2),
            ("y", 3),
            ("z", 4),
        ]);
        let before = fields(&scenario["schema_before"], &before_ids);
        let after = fields(&scenario["schema_after"], &after_ids);
        let context = context();
        let schema = table(&RowType::new(before.clone()), &[], &[]);
        let rows = batch_of(&schema.fields, &scenario["rows_written_before"]);
        let files = write(&context, &schema, &[rows]).await.unwrap();
        let mut request = ReadRequest::new(after.clone());
        request.file_fields = before;
        let read = read_with(&context, &path(&files[0]), request)
            .await
            .unwrap();
        assert_eq!(
            rows_of(&read, &after),
            scenario["read_after_alter"],
            "{name}"
        );
        checked += 1;
    }
    assert_eq!(checked, 16);
}

/// ROW<x INT, y STRING> with ids 1, 2 in column 0.
fn row_column(members: &[(i32, &str, DataType)]) -> DataField {
    let members = members
        .iter()
        .map(|(id, name, data_type)| DataField::new(*id, *name, data_type.clone()));
    DataField::new(0, "r", DataType::row(RowType::new(members.collect())))
}

#[tokio::test]
async fn a_row_none_of_whose_asked_members_is_stored_keeps_its_nulls() {
    let context = context();
    let stored = row_column(&[(1, "x", DataType::int()), (2, "y", DataType::string())]);
    let schema = table(&RowType::new(vec![stored]), &[], &[]);
    let rows = batch_of(&schema.fields, &json!([[[1, "a"]], [null], [[null, null]]]));
    let files = write(&context, &schema, &[rows]).await.unwrap();
    let asked = row_column(&[(9, "new", DataType::double())]);
    let mut request = ReadRequest::new(vec![asked.clone()]);
    request.file_fields = schema.fields.clone();
    let read = read_with(&context, &path(&files[0]), request)
        .await
        .unwrap();
    assert_eq!(
        rows_of(&read, &[asked]),
        json!([[[null]], [null], [[null]]])
    );
}

#[tokio::test]
async fn members_of_rows_inside_lists_and_maps_are_read_by_id() {
    let context = context();
    let member = |id, name: &str, data_type| DataField::new(id, name, data_type);
    // Ids as a table gives them: column, then its members, then the next column.
    let stored = |id: i32| {
        DataType::row(RowType::new(vec![
            member(id + 1, "x", DataType::int()),
            member(id + 2, "y", DataType::string()),
        ]))
    };
    let asked = |id: i32| {
        DataType::row(RowType::new(vec![
            member(90 + id, "new", DataType::big_int()),
            member(id + 2, "renamed", DataType::string()),
            member(id + 1, "x", DataType::big_int()),
        ]))
    };
    let columns = |row: &dyn Fn(i32) -> DataType| {
        vec![
            DataField::new(0, "l", DataType::array(row(0))),
            DataField::new(
                3,
                "m",
                DataType::map(DataType::string().not_null(), DataType::array(row(3))),
            ),
        ]
    };
    let schema = table(&RowType::new(columns(&stored)), &[], &[]);
    assert_eq!(schema.fields, columns(&stored));
    let rows = json!([[[[1, "a"], null], [["k", [[2, null]]]]], [null, []]]);
    let files = write(&context, &schema, &[batch_of(&schema.fields, &rows)])
        .await
        .unwrap();
    let fields = columns(&asked);
    let mut request = ReadRequest::new(fields.clone());
    request.file_fields = columns(&stored);
    let read = read_with(&context, &path(&files[0]), request)
        .await
        .unwrap();
    let expected = json!([
        [[[null, "a", 1], null], [["k", [[null, null, 2]]]]],
        [null, []]
    ]);
    assert_eq!(rows_of(&read, &fields), expected);
}

#[tokio::test]
async fn a_not_null_column_that_the_file_lacks_reads_as_null() {
    let context = context();
    let schema = table(&RowType::of([("a", DataType::int())]), &[], &[]);
    let files = write(
        &context,
        &schema,
        &[batch_of(&schema.fields, &json!([[1], [2]]))],
    )
    .await
    .unwrap();
    let asked = vec![
        schema.fields[0].clone(),
        DataField::new(5, "b", DataType::int().not_null()),
    ];
    let mut request = ReadRequest::new(asked.clone());
    request.file_fields = schema.fields.clone();
    let read = read_with(&context, &path(&files[0]), request)
        .await
        .unwrap();
    assert!(read.schema().field(1).is_nullable());
    assert_eq!(rows_of(&read, &asked), json!([[1, null], [2, null]]));
    let reader = ParquetFileReader::open(&context, &path(&files[0]), None)
        .await
        .unwrap();
    let mapping: SchemaMapping = reader.mapping(&schema.fields, &asked).unwrap();
    assert_eq!(
        mapping.missing().map(|field| field.id).collect::<Vec<_>>(),
        [5]
    );
}

/// A footer has no checksum: a bit of a column's id that flipped must not turn its values into nulls.
#[tokio::test]
async fn a_whole_file_that_lacks_a_column_of_its_schema_is_damaged() {
    let context = context();
    let row = RowType::of([("x", DataType::int())]);
    let schema = table(
        &RowType::of([("a", DataType::int()), ("r", DataType::row(row))]),
        &[],
        &[],
    );
    let rows = json!([[1, [3]], [2, null]]);
    let files = write(&context, &schema, &[batch_of(&schema.fields, &rows)])
        .await
        .unwrap();
    // The schema the file says it was written with has more than the file: a column, or a part of one.
    let mut more = schema.fields.clone();
    more.push(DataField::new(90, "b", DataType::int()));
    let mut deeper = schema.fields.clone();
    if let TypeKind::Row(row) = &mut deeper[1].data_type.kind {
        row.fields.push(DataField::new(91, "y", DataType::int()));
    }
    for fields in [more, deeper] {
        for whole in [false, true] {
            let mut request = ReadRequest::new(fields.clone());
            (request.file_fields, request.whole) = (fields.clone(), whole);
            let read = read_with(&context, &path(&files[0]), request).await;
            if whole {
                let error = read.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
                assert!(error.to_string().contains(&path(&files[0])), "{error}");
            } else {
                assert_eq!(read.unwrap().num_rows(), 2);
            }
        }
    }
}

#[tokio::test]
async fn text_that_is_no_number_names_file_and_column() {
    let context = context();
    let schema = table(&RowType::of([("a", DataType::string())]), &[], &[]);
    let files = write(
        &context,
        &schema,
        &[batch_of(&schema.fields, &json!([["12"], ["x"]]))],
    )
    .await
    .unwrap();
    let mut request = ReadRequest::new(vec![DataField::new(0, "a", DataType::int())]);
    request.file_fields = schema.fields.clone();
    let error = read_with(&context, &path(&files[0]), request)
        .await
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains(&files[0].file_name) && text.contains("\"a\""),
        "{text}"
    );
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn a_column_that_cannot_be_the_asked_type_is_refused_with_its_name() {
    let context = context();
    let schema = table(&RowType::of([("a", DataType::int())]), &[], &[]);
    let files = write(
        &context,
        &schema,
        &[batch_of(&schema.fields, &json!([[1]]))],
    )
    .await
    .unwrap();
    // The caller claims that the file was written with another type.
    let request = ReadRequest::new(vec![DataField::new(
        0,
        "a",
        DataType::array(DataType::int()),
    )]);
    let error = read_with(&context, &path(&files[0]), request)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let text = error.to_string();
    assert!(
        text.contains("\"a\"") && text.contains("Int32") && text.contains("ARRAY<INT>"),
        "{text}"
    );
}

#[tokio::test]
async fn a_cut_text_type_cuts_on_reading() {
    let context = context();
    let schema = table(&RowType::of([("a", DataType::string())]), &[], &[]);
    let files = write(
        &context,
        &schema,
        &[batch_of(&schema.fields, &json!([["abc"], [null]]))],
    )
    .await
    .unwrap();
    let mut request = ReadRequest::new(vec![DataField::new(
        0,
        "a",
        DataType::new(TypeKind::VarChar(2)),
    )]);
    request.file_fields = schema.fields.clone();
    let read = read_with(&context, &path(&files[0]), request)
        .await
        .unwrap();
    let column = read.column(0).as_string::<i32>();
    assert_eq!((column.value(0), column.is_null(1)), ("ab", true));
}
