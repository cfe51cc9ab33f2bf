//! Casts of nested types.

use arrow_array::builder::{Int32Builder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::{Float64Array, Int32Array, ListArray, StructArray, new_null_array};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::DataType as ArrowType;

use super::*;
use crate::row_type::{DataField, RowType};

#[test]
fn nested_values_have_the_text_forms_of_java() {
    let mut lists = ListBuilder::new(Int32Builder::new()).with_field(arrow_schema::Field::new(
        "element",
        ArrowType::Int32,
        true,
    ));
    lists.append_value([Some(1), None, Some(3)]);
    lists.append_null();
    lists.append_value([]);
    let lists = Arc::new(lists.finish()) as ArrayRef;
    let list_type = DataType::array(DataType::int());
    let expected = [Some("[1, null, 3]".to_owned()), None, Some("[]".to_owned())];
    assert_eq!(as_text(Arc::clone(&lists), &list_type), expected);
    // A slice does not start at offset 0.
    assert_eq!(as_text(lists.slice(1, 2), &list_type), expected[1..]);

    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    maps.keys().append_value("a");
    maps.values().append_value(1);
    maps.keys().append_value("b");
    maps.values().append_null();
    maps.append(true).unwrap();
    let maps = Arc::new(maps.finish()) as ArrayRef;
    assert_eq!(
        as_text(maps, &DataType::map(DataType::string(), DataType::int())),
        [Some("{a -> 1, b -> null}".to_owned())]
    );

    let row_type = RowType::of([("l", list_type.clone()), ("d", DataType::double())]);
    let ArrowType::Struct(fields) = to_arrow_type(&DataType::row(row_type.clone())) else {
        panic!("a row")
    };
    let doubles = Arc::new(Float64Array::from(vec![1e20, 0.5, 2.0])) as ArrayRef;
    let rows = StructArray::new(
        fields,
        vec![lists, doubles],
        Some(NullBuffer::from(vec![true, false, true])),
    );
    assert_eq!(
        as_text(Arc::new(rows), &DataType::row(row_type)),
        [
            Some("{[1, null, 3], 1.0E20}".to_owned()),
            None,
            Some("{[], 2.0}".to_owned())
        ]
    );
}

#[test]
fn members_of_rows_follow_their_ids_and_nulls_hide_what_lies_under_them() {
    let old = RowType::new(vec![
        DataField::new(1, "x", DataType::string()),
        DataField::new(2, "gone", DataType::int()),
    ]);
    let new = RowType::new(vec![
        DataField::new(5, "added", DataType::date()),
        DataField::new(1, "renamed", DataType::int()),
    ]);
    let ArrowType::Struct(fields) = to_arrow_type(&DataType::row(old.clone())) else {
        panic!("a row")
    };
    let ArrowType::Struct(new_fields) = to_arrow_type(&DataType::row(new.clone())) else {
        panic!("a row")
    };
    // The text under the null row is no number.
    let columns = vec![
        text_array(&["1", "junk"]),
        Arc::new(Int32Array::from(vec![7, 8])) as ArrayRef,
    ];
    let rows = Arc::new(StructArray::new(
        fields,
        columns,
        Some(NullBuffer::from(vec![true, false])),
    )) as ArrayRef;
    let cast = cast_array(
        &rows,
        &DataType::row(old.clone()),
        &DataType::row(new.clone()),
    )
    .unwrap();
    let expected = StructArray::new(
        new_fields,
        vec![
            new_null_array(&ArrowType::Date32, 2),
            Arc::new(Int32Array::from(vec![Some(1), None])) as ArrayRef,
        ],
        Some(NullBuffer::from(vec![true, false])),
    );
    assert_eq!(cast.as_ref(), &expected as &dyn Array);

    // The same inside an array whose first element lies before the slice.
    let (old, new) = (
        DataType::array(DataType::row(old)),
        DataType::array(DataType::row(new)),
    );
    let ArrowType::List(field) = to_arrow_type(&old) else {
        panic!("a list")
    };
    let lists = Arc::new(ListArray::new(
        field,
        OffsetBuffer::from_lengths([1, 1]),
        rows,
        None,
    )) as ArrayRef;
    let cast = cast_array(&lists.slice(1, 1), &old, &new).unwrap();
    assert_eq!(*cast.data_type(), to_arrow_type(&new));
    assert_eq!(cast.len(), 1);
}
