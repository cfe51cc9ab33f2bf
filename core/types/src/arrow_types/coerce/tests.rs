//! Batches of other programs: what fits, and what is refused by column, row and value.

use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    BinaryViewArray, BooleanArray, Date64Array, Decimal32Array, Decimal64Array, Decimal256Array,
    DictionaryArray, FixedSizeBinaryArray, FixedSizeListArray, Float64Array, Int32Array,
    Int64Array, LargeBinaryArray, LargeListArray, LargeStringArray, NullArray, RunArray,
    StringArray, StringViewArray, Time32SecondArray, Time64MicrosecondArray, Time64NanosecondArray,
    TimestampMicrosecondArray, TimestampNanosecondArray, TimestampSecondArray, UInt8Array,
    UInt16Array, UInt64Array,
};
use arrow_buffer::i256;
use arrow_schema::{Field, IntervalUnit, Schema, TimeUnit};
use proptest::prelude::*;

use super::*;
use crate::arrow_types::from_arrow_schema;
use crate::datum::{Datum, TimestampValue};
use crate::test_vectors::{any_types, array_of, columns_of};
use crate::variant::variant_to_json;
use crate::{ErrorKind, RowType};

fn batch_of(array: ArrayRef) -> RecordBatch {
    let field = Field::new("c", array.data_type().clone(), true);
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).unwrap()
}

fn coerced(array: impl Array + 'static, data_type: DataType) -> Result<ArrayRef> {
    coerce_batch(&batch_of(Arc::new(array)), &RowType::of([("c", data_type)]))
        .map(|batch| Arc::clone(batch.column(0)))
}

/// The values after a coercion.
fn values(array: impl Array + 'static, data_type: DataType) -> Vec<Datum> {
    let array = coerced(array, data_type.clone()).unwrap();
    (0..array.len())
        .map(|row| Datum::from_array(&array, row, &data_type).unwrap())
        .collect()
}

/// The row and the shown value of a value that does not fit.
fn misfit(array: impl Array + 'static, data_type: DataType) -> (usize, String) {
    match coerced(array, data_type) {
        Err(TypeError::ColumnValue {
            column, row, value, ..
        }) => {
            assert_eq!(column, "c");
            (row, value)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn integers_of_any_width_and_sign_fit_if_the_value_does() {
    assert_eq!(
        values(UInt8Array::from(vec![255]), DataType::small_int()),
        [Datum::SmallInt(255)]
    );
    assert_eq!(
        values(UInt64Array::from(vec![Some(7), None]), DataType::tiny_int()),
        [Datum::TinyInt(7), Datum::Null]
    );
    assert_eq!(
        values(Int64Array::from(vec![-5]), DataType::int()),
        [Datum::Int(-5)]
    );
    assert_eq!(
        misfit(UInt64Array::from(vec![1, u64::MAX]), DataType::big_int()),
        (1, u64::MAX.to_string())
    );
    assert_eq!(
        misfit(Int32Array::from(vec![0, 0, -129]), DataType::tiny_int()),
        (2, "-129".to_owned())
    );
    let whole = Decimal64Array::from(vec![1200])
        .with_precision_and_scale(10, 2)
        .unwrap();
    assert_eq!(values(whole, DataType::int()), [Datum::Int(12)]);
    let broken = Decimal64Array::from(vec![1250])
        .with_precision_and_scale(10, 2)
        .unwrap();
    assert_eq!(misfit(broken, DataType::int()), (0, "12.50".to_owned()));
}

#[test]
fn floats_are_narrowed_only_if_they_come_back() {
    assert_eq!(
        values(
            Float64Array::from(vec![1.5, f64::INFINITY]),
            DataType::float()
        ),
        [Datum::Float(1.5), Datum::Float(f32::INFINITY)]
    );
    assert!(
        matches!(values(Float64Array::from(vec![f64::NAN]), DataType::float())[..], [Datum::Float(v)] if v.is_nan())
    );
    assert_eq!(
        misfit(Float64Array::from(vec![0.1]), DataType::float()).0,
        0
    );
    assert_eq!(
        values(Int64Array::from(vec![1 << 53]), DataType::double()),
        [Datum::Double(9_007_199_254_740_992.0)]
    );
    assert_eq!(
        misfit(Int64Array::from(vec![(1 << 53) + 1]), DataType::double()).0,
        0
    );
    assert_eq!(
        misfit(Int64Array::from(vec![i64::MAX]), DataType::float()).0,
        0
    );
}

#[test]
fn decimals_of_any_width_are_rescaled_without_rounding() {
    let decimal = |unscaled| Datum::Decimal {
        unscaled,
        precision: 10,
        scale: 2,
    };
    let target = || DataType::decimal(10, 2);
    let small = Decimal32Array::from(vec![15])
        .with_precision_and_scale(3, 1)
        .unwrap();
    assert_eq!(values(small, target()), [decimal(150)]);
    let big = Decimal256Array::from(vec![i256::from_i128(12_000)])
        .with_precision_and_scale(60, 3)
        .unwrap();
    assert_eq!(values(big, target()), [decimal(1200)]);
    let lossy = Decimal256Array::from(vec![i256::from_i128(12_001)])
        .with_precision_and_scale(60, 3)
        .unwrap();
    assert_eq!(misfit(lossy, target()), (0, "12.001".to_owned()));
    let huge = Decimal256Array::from(vec![i256::MAX])
        .with_precision_and_scale(76, 0)
        .unwrap();
    assert_eq!(misfit(huge, target()).0, 0);
    let negative_scale = Decimal64Array::from(vec![12])
        .with_precision_and_scale(10, -2)
        .unwrap();
    assert_eq!(values(negative_scale, target()), [decimal(120_000)]);
    assert_eq!(
        values(UInt64Array::from(vec![12]), target()),
        [decimal(1200)]
    );
    assert_eq!(misfit(UInt64Array::from(vec![100_000_000]), target()).0, 0);
    assert!(coerced(Float64Array::from(vec![1.0]), target()).is_err());
}

#[test]
fn timestamps_of_any_unit_and_zone_keep_their_instant() {
    let millis = |millis| Datum::Timestamp(TimestampValue::from_millis(millis));
    assert_eq!(
        values(TimestampSecondArray::from(vec![-1]), DataType::timestamp(9)),
        [millis(-1000)]
    );
    let berlin = TimestampMicrosecondArray::from(vec![-1_000]).with_timezone("Europe/Berlin");
    assert_eq!(
        values(berlin.clone(), DataType::timestamp_ltz(3)),
        [millis(-1)]
    );
    assert!(matches!(
        coerced(berlin, DataType::timestamp(3)).unwrap_err(),
        TypeError::Column { .. }
    ));
    let utc = TimestampMicrosecondArray::from(vec![1_000]).with_timezone("+00:00");
    assert_eq!(values(utc, DataType::timestamp(3)), [millis(1)]);
    assert_eq!(
        misfit(
            TimestampMicrosecondArray::from(vec![0, 1]),
            DataType::timestamp(3)
        )
        .0,
        1
    );
    assert_eq!(
        misfit(
            TimestampNanosecondArray::from(vec![-1]),
            DataType::timestamp(6)
        )
        .0,
        0
    );
    assert_eq!(
        misfit(
            TimestampSecondArray::from(vec![0, i64::MAX / 1000]),
            DataType::timestamp(9)
        )
        .0,
        1
    );
    assert_eq!(
        values(Date64Array::from(vec![-86_400_000]), DataType::date()),
        [Datum::Date(-1)]
    );
    assert_eq!(misfit(Date64Array::from(vec![1]), DataType::date()).0, 0);
}

#[test]
fn times_must_be_whole_milliseconds_of_a_day() {
    assert_eq!(
        values(Time32SecondArray::from(vec![1]), DataType::time(0)),
        [Datum::Time(1000)]
    );
    assert_eq!(
        values(Time64MicrosecondArray::from(vec![5_000]), DataType::time(3)),
        [Datum::Time(5)]
    );
    assert_eq!(
        misfit(Time64NanosecondArray::from(vec![1]), DataType::time(9)).0,
        0
    );
    assert_eq!(
        misfit(Time32SecondArray::from(vec![86_400]), DataType::time(0)).0,
        0
    );
}

#[test]
fn layouts_of_text_and_bytes_leave_no_trace() {
    let text = |text: &str| Datum::String(text.to_owned());
    assert_eq!(
        values(LargeStringArray::from(vec!["a"]), DataType::string()),
        [text("a")]
    );
    assert_eq!(
        values(
            StringViewArray::from(vec!["a longer text than fits a view"]),
            DataType::string()
        ),
        [text("a longer text than fits a view")]
    );
    let dictionary: DictionaryArray<Int8Type> =
        vec![Some("x"), None, Some("x")].into_iter().collect();
    assert_eq!(
        values(dictionary, DataType::string()),
        [text("x"), Datum::Null, text("x")]
    );
    let runs: RunArray<Int32Type> = vec![Some("r"), Some("r"), None].into_iter().collect();
    assert_eq!(
        values(runs, DataType::string()),
        [text("r"), text("r"), Datum::Null]
    );
    let bytes = Datum::Bytes(vec![0xff, 1]);
    assert_eq!(
        values(
            LargeBinaryArray::from(vec![&[0xff, 1][..]]),
            DataType::bytes()
        ),
        [Datum::Bytes(vec![0xff, 1])]
    );
    assert_eq!(
        values(
            BinaryViewArray::from(vec![&[0xff, 1][..]]),
            DataType::bytes()
        ),
        [Datum::Bytes(vec![0xff, 1])]
    );
    let fixed = FixedSizeBinaryArray::try_from_iter([[0xff, 1]].iter()).unwrap();
    assert_eq!(values(fixed, DataType::new(TypeKind::Binary(2))), [bytes]);
    assert_eq!(
        misfit(
            LargeBinaryArray::from(vec![&b"a"[..], &[0xff]]),
            DataType::string()
        )
        .0,
        1
    );
    assert_eq!(
        values(NullArray::new(2), DataType::int()),
        [Datum::Null, Datum::Null]
    );
}

#[test]
fn text_is_read_as_the_type_says() {
    let read = |text: &str, data_type: DataType| {
        values(StringArray::from(vec![text]), data_type).remove(0)
    };
    assert_eq!(
        read("12.5", DataType::decimal(5, 2)),
        Datum::Decimal {
            unscaled: 1250,
            precision: 5,
            scale: 2
        }
    );
    assert_eq!(read("2024-02-29", DataType::date()), Datum::Date(19_782));
    assert_eq!(read("true", DataType::boolean()), Datum::Boolean(true));
    assert_eq!(
        misfit(StringArray::from(vec!["1", "x"]), DataType::int()),
        (1, "x".to_owned())
    );
    let far = StringArray::from(vec![
        Some("2024-01-01 00:00"),
        None,
        Some("9999-01-01 00:00"),
    ]);
    assert_eq!(
        misfit(far, DataType::timestamp(9)),
        (2, "9999-01-01 00:00".to_owned())
    );
    let array = coerced(
        StringArray::from(vec![Some("{\"b\":1,\"a\":[true]}"), None]),
        DataType::new(TypeKind::Variant),
    )
    .unwrap();
    let parts = array.as_struct();
    let json = variant_to_json(
        parts.column(0).as_binary::<i32>().value(0),
        parts.column(1).as_binary::<i32>().value(0),
    );
    assert_eq!(json.unwrap(), "{\"a\":[true],\"b\":1}");
    assert!(array.is_null(1));
    assert_eq!(
        misfit(
            StringArray::from(vec!["{"]),
            DataType::new(TypeKind::Variant)
        )
        .0,
        0
    );
}

#[test]
fn columns_are_matched_by_name_and_missing_ones_are_null() {
    let schema = Schema::new(vec![
        Field::new("b", ArrowType::Int32, true),
        Field::new("a", ArrowType::Boolean, true),
    ]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![1])),
        Arc::new(BooleanArray::from(vec![true])),
    ];
    let batch = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
    let row = RowType::of([
        ("a", DataType::boolean()),
        ("b", DataType::big_int()),
        ("c", DataType::string()),
    ]);
    let coerced = coerce_batch(&batch, &row).unwrap();
    assert_eq!(coerced.schema(), to_arrow_schema(&row));
    assert_eq!(
        coerced
            .column(1)
            .as_primitive::<arrow_array::types::Int64Type>()
            .values(),
        &[1]
    );
    assert!(coerced.column(2).is_null(0));
    let strict = RowType::of([
        ("a", DataType::boolean()),
        ("b", DataType::int()),
        ("c", DataType::string().not_null()),
    ]);
    let error = coerce_batch(&batch, &strict).unwrap_err();
    assert!(matches!(error, TypeError::ColumnNull { column, row: 0 } if column == "c"));
    let error = coerce_batch(&batch, &RowType::of([("a", DataType::boolean())])).unwrap_err();
    assert!(matches!(error, TypeError::Column { column, .. } if column == "b"));
    let empty = RecordBatch::try_new_with_options(
        Arc::new(Schema::empty()),
        vec![],
        &RecordBatchOptions::new().with_row_count(Some(3)),
    );
    assert_eq!(
        coerce_batch(&empty.unwrap(), &RowType::default())
            .unwrap()
            .num_rows(),
        3
    );
}

#[test]
fn misfits_inside_nested_values_name_the_path_and_the_outer_row() {
    let longs = DataType::array(DataType::row(RowType::of([("x", DataType::big_int())])));
    let ints = DataType::array(DataType::row(RowType::of([("x", DataType::int())])));
    let array = array_of(
        &[
            serde_json::json!([["1"]]),
            serde_json::json!([["2"], ["5000000000"]]),
        ],
        &longs,
    );
    match coerce_batch(
        &batch_of(Arc::clone(&array)),
        &RowType::of([("c", ints.clone())]),
    ) {
        Err(TypeError::ColumnValue {
            column, row, value, ..
        }) => {
            assert_eq!(
                (column.as_str(), row, value.as_str()),
                ("c.element.x", 1, "5000000000")
            );
        }
        other => panic!("{other:?}"),
    }
    // Elements that no row shows are not looked at.
    let shown = array.slice(0, 1);
    let expected = array_of(&[serde_json::json!([[1]])], &ints);
    assert_eq!(
        &coerced(
            arrow_array::make_array(shown.to_data())
                .as_list::<i32>()
                .clone(),
            ints.clone()
        )
        .unwrap(),
        &expected
    );
    let hidden = ListArray::new(
        match array.data_type() {
            ArrowType::List(field) => Arc::clone(field),
            other => panic!("{other}"),
        },
        array.as_list::<i32>().offsets().clone(),
        Arc::clone(array.as_list::<i32>().values()),
        Some(NullBuffer::from(vec![true, false])),
    );
    let expected = array_of(&[serde_json::json!([[1]]), serde_json::Value::Null], &ints);
    assert_eq!(&coerced(hidden, ints).unwrap(), &expected);
}

#[test]
fn nulls_in_parts_that_are_not_null_are_refused() {
    let source = DataType::array(DataType::int());
    let target = DataType::array(DataType::int().not_null());
    let array = array_of(
        &[serde_json::json!([1]), serde_json::json!([1, null])],
        &source,
    );
    let error = coerce_batch(&batch_of(array), &RowType::of([("c", target)])).unwrap_err();
    assert!(matches!(error, TypeError::ColumnNull { column, row: 1 } if column == "c.element"));
    let row = |inner: DataType| DataType::row(RowType::of([("x", inner)]));
    let array = array_of(
        &[serde_json::json!([1]), serde_json::Value::Null],
        &row(DataType::int()),
    );
    let strict = row(DataType::int().not_null());
    let expected = array_of(&[serde_json::json!([1]), serde_json::Value::Null], &strict);
    assert_eq!(
        coerce_batch(&batch_of(array), &RowType::of([("c", strict)]))
            .unwrap()
            .column(0),
        &expected
    );
}

#[test]
fn lists_of_other_layouts_become_lists() {
    let element = Arc::new(Field::new("item", ArrowType::UInt16, true));
    let numbers: ArrayRef = Arc::new(UInt16Array::from(vec![1, 2, 3, 4]));
    let large = LargeListArray::new(
        Arc::clone(&element),
        OffsetBuffer::from_lengths([3, 1]),
        Arc::clone(&numbers),
        None,
    );
    let target = DataType::array(DataType::int());
    let expected = array_of(
        &[serde_json::json!([1, 2, 3]), serde_json::json!([4])],
        &target,
    );
    assert_eq!(&coerced(large, target.clone()).unwrap(), &expected);
    let fixed = FixedSizeListArray::new(element, 2, numbers, None);
    let expected = array_of(
        &[serde_json::json!([1, 2]), serde_json::json!([3, 4])],
        &target,
    );
    assert_eq!(&coerced(fixed, target).unwrap(), &expected);
}

#[test]
fn schemas_of_other_programs_become_row_types_wide_enough() {
    let schema = Schema::new(vec![
        Field::new("u32", ArrowType::UInt32, false),
        Field::new("u64", ArrowType::UInt64, true),
        Field::new(
            "text",
            ArrowType::Dictionary(Box::new(ArrowType::Int8), Box::new(ArrowType::LargeUtf8)),
            true,
        ),
        Field::new(
            "at",
            ArrowType::Timestamp(TimeUnit::Nanosecond, Some("Asia/Tokyo".into())),
            true,
        ),
        Field::new("amount", ArrowType::Decimal256(38, -0), true),
        Field::new("thousands", ArrowType::Decimal64(5, -3), true),
        Field::new(
            "nested",
            ArrowType::LargeList(Arc::new(Field::new(
                "item",
                ArrowType::Struct(Fields::from(vec![Field::new(
                    "x",
                    ArrowType::Float16,
                    false,
                )])),
                true,
            ))),
            true,
        ),
        Field::new("last", ArrowType::FixedSizeBinary(4), true),
    ]);
    let row = from_arrow_schema(&schema).unwrap();
    let types: Vec<_> = row
        .fields
        .iter()
        .map(|field| (field.id, field.data_type.to_string()))
        .collect();
    let expected = [
        (0, "BIGINT NOT NULL"),
        (1, "DECIMAL(20, 0)"),
        (2, "STRING"),
        (3, "TIMESTAMP(9) WITH LOCAL TIME ZONE"),
        (4, "DECIMAL(38, 0)"),
        (5, "DECIMAL(8, 0)"),
        (6, "ARRAY<ROW<`x` FLOAT NOT NULL>>"),
        (8, "BINARY(4)"),
    ];
    assert_eq!(types, expected.map(|(id, text)| (id, text.to_owned())));
    for refused in [
        ArrowType::Interval(IntervalUnit::DayTime),
        ArrowType::Duration(TimeUnit::Second),
        ArrowType::Decimal256(39, 0),
    ] {
        let error =
            from_arrow_schema(&Schema::new(vec![Field::new("odd", refused, true)])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("odd"));
    }
}

proptest! {
    /// Canonical schemas are read as the types they came from, lengths and MULTISET aside, and their batches pass unchanged.
    #[test]
    fn canonical_batches_pass_unchanged((types, columns) in columns_of(any_types(), 1..4, 0..5)) {
        let row = RowType::of(types.into_iter().enumerate().map(|(index, t)| (format!("c{index}"), t)));
        let schema = to_arrow_schema(&row);
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
        prop_assert_eq!(&coerce_batch(&batch, &row).unwrap(), &batch);
        let inferred = from_arrow_schema(&schema).unwrap();
        let again = coerce_batch(&batch, &inferred).unwrap();
        prop_assert_eq!(&coerce_batch(&again, &row).unwrap(), &batch);
    }
}
