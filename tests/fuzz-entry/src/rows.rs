//! Rows, arrays and maps in binary form, statistics made of them, and variants.

use tidewater_format::{SimpleStats, StatsBounds};
use tidewater_types::variant::{json_to_variant, variant_to_json};
use tidewater_types::{ArrayView, BinaryRow, DataType, MapView, RowType, RowView, decode_rows};

use crate::requests::all_types;

/// Types for a row of this many fields.
fn types(arity: usize, turn: usize) -> Vec<DataType> {
    let all = all_types().types();
    (0..arity)
        .map(|at| all[(at + turn) % all.len()].clone())
        .collect()
}

pub(crate) fn binary_row(bytes: &[u8]) {
    if let Ok(row) = BinaryRow::from_serialized(bytes) {
        assert_eq!(
            BinaryRow::from_serialized(&row.to_serialized()).expect("its own bytes"),
            row
        );
        let _ = (row.row_kind(), row.hash());
        for turn in 0..all_types().len() {
            let types = types(row.arity().min(64), turn);
            let _ = row.to_datums(&types);
            let _ = decode_rows(&[row.view(), row.view()], &types);
            for (at, data_type) in types.iter().enumerate() {
                let _ = row.get(at, data_type);
                let _ = row.is_null(at);
            }
        }
    }
    for arity in [1, 3, 23] {
        if let Ok(row) = RowView::new(bytes, arity) {
            let _ = decode_rows(&[row], &types(arity, 0));
        }
    }
    let string = DataType::string();
    for data_type in all_types().types() {
        if let Ok(array) = ArrayView::new(bytes, &data_type) {
            for at in 0..array.len().min(100) {
                if let Ok(Some(slot)) = array.slot(at) {
                    let _ = (
                        slot.datum(&data_type),
                        slot.bytes(),
                        slot.item(),
                        slot.variant(),
                    );
                }
            }
        }
        let _ = MapView::new(bytes, &string, &data_type);
        let _ = MapView::new(bytes, &data_type, &string);
    }
    let nested = DataType::row(RowType::of([
        ("a", DataType::array(DataType::array(DataType::int()))),
        (
            "m",
            DataType::map(DataType::int().not_null(), DataType::bytes()),
        ),
    ]));
    if let Ok(row) = RowView::new(bytes, 2) {
        let _ = decode_rows(&[row], &[nested.clone(), nested]);
    }
}

pub(crate) fn simple_stats(bytes: &[u8]) {
    let half = bytes.len() / 2;
    let (Ok(min_values), Ok(max_values)) = (
        BinaryRow::from_serialized(bytes),
        BinaryRow::from_serialized(&bytes[half..]).or_else(|_| BinaryRow::from_serialized(bytes)),
    ) else {
        return;
    };
    let counts: Vec<Option<i64>> = bytes.iter().take(9).map(|b| Some(i64::from(*b))).collect();
    let stats = SimpleStats {
        min_values,
        max_values,
        null_counts: counts.into(),
    };
    for arity in [0, 1, 2, 7, 23] {
        if let Ok(bounds) = StatsBounds::of(&stats, &types(arity, bytes.len() % 23)) {
            let _ = bounds.columns().len();
        }
    }
}

/// The first byte says where the metadata ends.
pub(crate) fn variant(bytes: &[u8]) {
    let Some((cut, rest)) = bytes.split_first() else {
        return;
    };
    let cut = usize::from(*cut).min(rest.len());
    let (metadata, value) = rest.split_at(cut);
    if let Ok(json) = variant_to_json(value, metadata) {
        let made = json_to_variant(&json);
        if let Ok((value, metadata)) = made {
            variant_to_json(&value, &metadata).expect("its own bytes");
        }
    }
}

pub(crate) fn variant_json(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok((value, metadata)) = json_to_variant(text)
    {
        // A double shows as 1000.0, which is a decimal when read again, and shows as 1000: from there on nothing changes.
        let again = |text: &str| {
            let (value, metadata) = json_to_variant(text).expect("its own text");
            variant_to_json(&value, &metadata).expect("its own bytes")
        };
        let shown = variant_to_json(&value, &metadata).expect("its own bytes");
        let settled = again(&again(&shown));
        assert_eq!(again(&settled), settled);
    }
}
