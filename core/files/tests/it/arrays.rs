//! Random types and random arrays of them.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int8Array, Int16Array, Int32Array, Int64Array, ListArray, MapArray, StringArray, StructArray,
    Time32MillisecondArray, TimestampMicrosecondArray, TimestampMillisecondArray,
    TimestampNanosecondArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType as ArrowType, Fields};
use proptest::prelude::*;
use tidewater_types::arrow_types::to_arrow_type;
use tidewater_types::{DataField, DataType, RowType, TypeKind};

/// A small source of numbers, so that arrays follow from a seed.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Edges more often than chance would have them.
    fn i64(&mut self) -> i64 {
        match self.below(8) {
            0 => i64::MAX,
            1 => i64::MIN,
            2 => 0,
            3 => -1,
            _ => (self.next() >> self.below(64)).cast_signed(),
        }
    }

    fn text(&mut self) -> String {
        let length = self.below(12);
        (0..length)
            .map(|_| {
                ['a', 'Z', '0', ' ', 'é', '中', '😀', '\u{0}']
                    [usize::try_from(self.below(8)).unwrap()]
            })
            .collect()
    }
}

/// Any type that files hold; `depth` bounds nesting. Field ids are given later by [`row_of`].
pub(crate) fn any_type(depth: u32) -> impl Strategy<Value = DataType> {
    let leaf = prop_oneof![
        Just(DataType::boolean()),
        Just(DataType::tiny_int()),
        Just(DataType::small_int()),
        Just(DataType::int()),
        Just(DataType::big_int()),
        Just(DataType::float()),
        Just(DataType::double()),
        Just(DataType::string()),
        Just(DataType::new(TypeKind::Char(5))),
        Just(DataType::new(TypeKind::VarChar(9))),
        Just(DataType::bytes()),
        Just(DataType::new(TypeKind::Binary(4))),
        (1_u8..=38, 0_u8..=38)
            .prop_map(|(precision, scale)| DataType::decimal(precision, scale.min(precision))),
        Just(DataType::date()),
        (0_u8..=9).prop_map(DataType::time),
        (0_u8..=9).prop_map(DataType::timestamp),
        (0_u8..=9).prop_map(DataType::timestamp_ltz),
        Just(DataType::new(TypeKind::Variant)),
    ];
    let nullable = |data_type: BoxedStrategy<DataType>| {
        (data_type, any::<bool>())
            .prop_map(|(data_type, nullable)| data_type.with_nullable(nullable))
            .boxed()
    };
    nullable(leaf.boxed()).prop_recursive(depth, 12, 3, move |inner| {
        let member = inner.clone();
        let nested = prop_oneof![
            inner.clone().prop_map(DataType::array),
            (inner.clone(), inner.clone())
                .prop_map(|(key, value)| DataType::map(key.not_null(), value)),
            inner.prop_map(|element| DataType::multiset(element.not_null())),
            prop::collection::vec(member, 1..4).prop_map(|members| {
                let fields = members.into_iter().enumerate();
                DataType::row(RowType::new(
                    fields
                        .map(|(index, data_type)| DataField::new(0, format!("m{index}"), data_type))
                        .collect(),
                ))
            }),
        ];
        nullable(nested.boxed())
    })
}

/// A row of columns `c0`, `c1`, … with ids that are unique at all depths.
pub(crate) fn row_of(types: Vec<DataType>) -> RowType {
    fn number(data_type: &mut DataType, next: &mut i32) {
        match &mut data_type.kind {
            TypeKind::Array(element) | TypeKind::Multiset(element) => number(element, next),
            TypeKind::Map(key, value) => {
                number(key, next);
                number(value, next);
            }
            TypeKind::Row(row) => {
                for field in &mut row.fields {
                    number(&mut field.data_type, next);
                    field.id = *next;
                    *next += 1;
                }
            }
            _ => {}
        }
    }
    let mut next = i32::try_from(types.len()).unwrap();
    let fields = types.into_iter().zip(0..).map(|(mut data_type, id)| {
        number(&mut data_type, &mut next);
        DataField::new(id, format!("c{id}"), data_type)
    });
    RowType::new(fields.collect())
}

/// `rows` values of a type.
pub(crate) fn array(data_type: &DataType, rows: usize, numbers: &mut Numbers) -> ArrayRef {
    let arrow = to_arrow_type(data_type);
    let valid: Vec<bool> = (0..rows)
        .map(|_| !data_type.nullable || numbers.below(4) > 0)
        .collect();
    let nulls = data_type.nullable.then(|| NullBuffer::from(valid));
    macro_rules! made {
        ($array:ty, $value:expr) => {{
            let values: Vec<_> = (0..rows).map(|_| $value).collect();
            Arc::new(<$array>::new(values.into(), nulls)) as ArrayRef
        }};
    }
    #[expect(clippy::cast_possible_truncation, reason = "any bits will do")]
    match &data_type.kind {
        TypeKind::Boolean => {
            let values: Vec<bool> = (0..rows).map(|_| numbers.below(2) == 0).collect();
            Arc::new(BooleanArray::new(values.into(), nulls))
        }
        TypeKind::TinyInt => made!(Int8Array, numbers.i64() as i8),
        TypeKind::SmallInt => made!(Int16Array, numbers.i64() as i16),
        TypeKind::Int => made!(Int32Array, numbers.i64() as i32),
        TypeKind::BigInt => made!(Int64Array, numbers.i64()),
        TypeKind::Float => made!(Float32Array, f32::from_bits(numbers.next() as u32)),
        TypeKind::Double => made!(Float64Array, f64::from_bits(numbers.next())),
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            let values: Vec<String> = (0..rows).map(|_| numbers.text()).collect();
            let plain = StringArray::from_iter_values(&values);
            Arc::new(StringArray::new(
                plain.offsets().clone(),
                plain.values().clone(),
                nulls,
            ))
        }
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
            let values: Vec<Vec<u8>> = (0..rows)
                .map(|_| numbers.next().to_le_bytes()[..numbers.below(9) as usize].to_vec())
                .collect();
            let plain = BinaryArray::from_iter_values(&values);
            Arc::new(BinaryArray::new(
                plain.offsets().clone(),
                plain.values().clone(),
                nulls,
            ))
        }
        TypeKind::Decimal { precision, .. } => {
            let bound = 10_i128.pow(u32::from(*precision));
            let value = |numbers: &mut Numbers| match numbers.below(4) {
                0 => bound - 1,
                1 => 1 - bound,
                _ => (i128::from(numbers.i64()) * i128::from(numbers.i64())) % bound,
            };
            let values: Vec<i128> = (0..rows).map(|_| value(numbers)).collect();
            Arc::new(Decimal128Array::new(values.into(), nulls).with_data_type(arrow))
        }
        TypeKind::Date => made!(Date32Array, numbers.i64() as i32),
        TypeKind::Time(_) => made!(Time32MillisecondArray, numbers.below(86_400_000) as i32),
        TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_) => {
            let values: Vec<i64> = (0..rows).map(|_| numbers.i64()).collect();
            match &arrow {
                ArrowType::Timestamp(arrow_schema::TimeUnit::Millisecond, _) => Arc::new(
                    TimestampMillisecondArray::new(values.into(), nulls).with_data_type(arrow),
                ),
                ArrowType::Timestamp(arrow_schema::TimeUnit::Microsecond, _) => Arc::new(
                    TimestampMicrosecondArray::new(values.into(), nulls).with_data_type(arrow),
                ),
                _ => Arc::new(
                    TimestampNanosecondArray::new(values.into(), nulls).with_data_type(arrow),
                ),
            }
        }
        TypeKind::Variant => {
            let part = DataType::bytes().not_null();
            let columns = vec![array(&part, rows, numbers), array(&part, rows, numbers)];
            Arc::new(StructArray::new(fields_of(&arrow), columns, nulls))
        }
        TypeKind::Row(row) => {
            let columns = row
                .fields
                .iter()
                .map(|field| array(&field.data_type, rows, numbers))
                .collect();
            Arc::new(StructArray::new(fields_of(&arrow), columns, nulls))
        }
        TypeKind::Array(element) => {
            let (offsets, items) = offsets(rows, nulls.as_ref(), numbers);
            let ArrowType::List(field) = arrow else {
                unreachable!()
            };
            Arc::new(ListArray::new(
                field,
                offsets,
                array(element, items, numbers),
                nulls,
            ))
        }
        TypeKind::Map(key, value) => map(&arrow, [key, value], rows, nulls, numbers),
        TypeKind::Multiset(element) => map(
            &arrow,
            [element, &DataType::int().not_null()],
            rows,
            nulls,
            numbers,
        ),
    }
}

fn map(
    arrow: &ArrowType,
    parts: [&DataType; 2],
    rows: usize,
    nulls: Option<NullBuffer>,
    numbers: &mut Numbers,
) -> ArrayRef {
    let (offsets, items) = offsets(rows, nulls.as_ref(), numbers);
    let ArrowType::Map(entries, _) = arrow else {
        unreachable!()
    };
    let columns = parts
        .into_iter()
        .map(|part| array(part, items, numbers))
        .collect();
    let structs = StructArray::new(fields_of(entries.data_type()), columns, None);
    Arc::new(MapArray::new(
        Arc::clone(entries),
        offsets,
        structs,
        nulls,
        false,
    ))
}

/// Null lists are empty, as a reader makes them.
fn offsets(
    rows: usize,
    nulls: Option<&NullBuffer>,
    numbers: &mut Numbers,
) -> (OffsetBuffer<i32>, usize) {
    let lengths: Vec<usize> = (0..rows)
        .map(|row| {
            if nulls.is_some_and(|nulls| nulls.is_null(row)) {
                0
            } else {
                usize::try_from(numbers.below(4)).unwrap()
            }
        })
        .collect();
    let items = lengths.iter().sum();
    (OffsetBuffer::from_lengths(lengths), items)
}

fn fields_of(arrow: &ArrowType) -> Fields {
    match arrow {
        ArrowType::Struct(fields) => fields.clone(),
        _ => unreachable!(),
    }
}
