//! The fold of a write buffer against the model.

use arrow_array::Int8Array;
use proptest::prelude::*;
use tidewater_types::{DataType, Datum, ErrorKind, RowKind};

use super::*;
use crate::model::{ModelBucket, ModelRow, ModelRules};
use crate::testing::{encode_keys, encode_seq_fields, key_schemas, model_row, raw_row};

fn check_fold(types: &[DataType], rows: &[ModelRow], rules: ModelRules, with_fields: bool) {
    let mut bucket = ModelBucket::new(rules);
    for row in rows {
        let fields = if with_fields {
            row.seq_fields.clone()
        } else {
            Vec::new()
        };
        bucket.write(row.kind, row.key.clone(), fields, row.value);
    }
    let keys: Vec<Vec<Datum>> = rows.iter().map(|row| row.key.clone()).collect();
    let fields: Vec<Vec<Datum>> = rows.iter().map(|row| row.seq_fields.clone()).collect();
    let keys = encode_keys(types, &keys);
    let fields = with_fields.then(|| encode_seq_fields(&fields, rules.descending));
    let kinds = Int8Array::from_iter_values(rows.iter().map(|row| row.kind.as_i8()));
    let input = FoldInput {
        keys: &keys,
        seq_fields: fields.as_ref(),
        kinds: Some(&kinds),
    };
    let engine = MergeEngine::Deduplicate {
        ignore_delete: rules.ignore_delete,
    };
    let folded = sort_fold(input, engine, true).unwrap();
    let values = |rows: &[ModelRow]| rows.iter().map(|row| row.value).collect::<Vec<_>>();
    let picked = |order: &[u32]| {
        order
            .iter()
            .map(|row| rows[*row as usize].value)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        picked(folded.order.as_deref().unwrap()),
        values(&bucket.buffered())
    );
    assert_eq!(picked(&folded.winners), values(&bucket.flush()));
    let without_order = sort_fold(input, engine, false).unwrap();
    assert_eq!(
        without_order,
        FoldedRows {
            order: None,
            winners: folded.winners
        }
    );
    // All versions, for engines that fold, and the oldest of each key, for first-row.
    let buffered = ModelRules {
        descending: rules.descending,
        ignore_delete: false,
    };
    let mut modelled = rows.to_vec();
    for (at, row) in (0_i64..).zip(&mut modelled) {
        row.sequence = at;
        if !with_fields {
            row.seq_fields.clear();
        }
    }
    let versions = buffered.merge_versions(std::slice::from_ref(&modelled));
    let groups = sort_groups(input).unwrap();
    assert_eq!(picked(&groups.order), values(&versions.concat()));
    let ends = versions
        .iter()
        .flat_map(|group| (1..=group.len()).map(|at| at == group.len()));
    assert_eq!(groups.group_ends, BooleanBuffer::from_iter(ends));
    let engine = MergeEngine::FirstRow {
        ignore_delete: true,
    };
    let first: Vec<i64> = versions
        .iter()
        .filter_map(|group| group.iter().find(|row| !row.kind.is_retract()))
        .map(|row| row.value)
        .collect();
    assert_eq!(
        picked(&sort_fold(input, engine, false).unwrap().winners),
        first
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever was buffered, the order and the winners are the model's.
    #[test]
    fn folds_like_the_model(
        schema in 0..key_schemas().len(),
        raw in prop::collection::vec(raw_row(), 0..80),
        ignore_delete in any::<bool>(),
        descending in any::<bool>(),
        with_fields in any::<bool>(),
    ) {
        let types = &key_schemas()[schema];
        let rows: Vec<ModelRow> = (0..).zip(raw).map(|(at, raw)| model_row(types, raw, at)).collect();
        check_fold(types, &rows, ModelRules { ignore_delete, descending }, with_fields);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Sparse and wide keys, where duplicates are many or rare: equal neighbours are found, no more and no fewer.
    #[test]
    fn repeats_are_the_positions_of_equal_neighbours(shift in 0u32..100, wide in any::<bool>(), values in prop::collection::vec((0u128..50, any::<u64>()), 0..1500)) {
        let values: Vec<u128> = values
            .iter()
            .map(|(low, more)| low << shift | 1 << 127 | if wide { u128::from(*more) } else { 0 })
            .collect();
        let mut sorted = values.clone();
        sorted.sort_unstable();
        let expected: Vec<u32> =
            (1u32..).zip(sorted.windows(2)).filter(|(_, pair)| pair[0] == pair[1]).map(|(at, _)| at).collect();
        let keys = Keys::U128(values);
        prop_assert_eq!(repeats(&keys, &sort_indices(&keys)), expected);
    }

    /// Large buffers fold as small ones do.
    #[test]
    fn folds_large_buffers_like_the_model(
        schema in 0..key_schemas().len(),
        raw in prop::collection::vec(raw_row(), 600..1500),
        descending in any::<bool>(),
        with_fields in any::<bool>(),
    ) {
        let types = &key_schemas()[schema];
        let rows: Vec<ModelRow> = (0..).zip(raw).map(|(at, raw)| model_row(types, raw, at)).collect();
        check_fold(types, &rows, ModelRules { ignore_delete: false, descending }, with_fields);
    }
}

/// One flush of rows with key `a` and one INT sequence field; answers the position of the winner.
fn winner_by_field(fields: &[Option<i32>], descending: bool) -> u32 {
    let keys = encode_keys(
        &[DataType::string()],
        &vec![vec![Datum::String("a".into())]; fields.len()],
    );
    let field = |value: &Option<i32>| vec![value.map_or(Datum::Null, Datum::Int), Datum::Null];
    let fields = encode_seq_fields(&fields.iter().map(field).collect::<Vec<_>>(), descending);
    let input = FoldInput {
        keys: &keys,
        seq_fields: Some(&fields),
        kinds: None,
    };
    let folded = sort_fold(
        input,
        MergeEngine::Deduplicate {
            ignore_delete: false,
        },
        false,
    )
    .unwrap();
    assert_eq!(folded.winners.len(), 1);
    folded.winners[0]
}

#[test]
fn a_descending_sequence_field_keeps_the_smallest_value_within_one_flush() {
    assert_eq!(winner_by_field(&[Some(1), Some(3), Some(2)], true), 0);
    assert_eq!(winner_by_field(&[Some(9), Some(5), Some(7)], true), 1);
    assert_eq!(winner_by_field(&[Some(1), Some(3), Some(2)], false), 1);
}

#[test]
fn null_sequence_fields_are_the_oldest_in_both_orders() {
    assert_eq!(winner_by_field(&[Some(-100), None], false), 0);
    assert_eq!(winner_by_field(&[Some(-100), None], true), 0);
    assert_eq!(winner_by_field(&[None, None], true), 1);
}

#[test]
fn equal_sequence_fields_fall_back_to_arrival() {
    assert_eq!(winner_by_field(&[Some(10), Some(10), Some(9)], false), 1);
    assert_eq!(winner_by_field(&[Some(10), Some(10), Some(11)], true), 1);
}

#[test]
fn parts_of_different_length_and_bad_kinds_are_refused() {
    let keys = Keys::U64(vec![1, 2]);
    let engine = MergeEngine::Deduplicate {
        ignore_delete: false,
    };
    let kind = |kinds: Int8Array| {
        let input = FoldInput {
            keys: &keys,
            seq_fields: None,
            kinds: Some(&kinds),
        };
        sort_fold(input, engine, false).unwrap_err().kind()
    };
    assert_eq!(kind(Int8Array::from(vec![0])), ErrorKind::Invalid);
    assert_eq!(kind(Int8Array::from(vec![0, 9])), ErrorKind::Corrupt);
    assert_eq!(
        kind(Int8Array::from(vec![Some(0), None])),
        ErrorKind::Corrupt
    );
    let input = FoldInput {
        keys: &keys,
        seq_fields: Some(&Keys::U64(vec![1])),
        kinds: None,
    };
    assert_eq!(
        sort_fold(input, engine, false).unwrap_err().kind(),
        ErrorKind::Invalid
    );
    let input = FoldInput {
        seq_fields: None,
        ..input
    };
    assert_eq!(
        sort_fold(input, MergeEngine::Aggregation, false)
            .unwrap_err()
            .kind(),
        ErrorKind::Unsupported
    );
}

#[test]
fn a_delete_that_wins_is_written_for_older_levels_to_see() {
    let kinds = Int8Array::from(vec![RowKind::Insert.as_i8(), RowKind::Delete.as_i8()]);
    let input = FoldInput {
        keys: &Keys::U64(vec![7, 7]),
        seq_fields: None,
        kinds: Some(&kinds),
    };
    let folded = sort_fold(
        input,
        MergeEngine::Deduplicate {
            ignore_delete: false,
        },
        true,
    )
    .unwrap();
    assert_eq!(
        folded,
        FoldedRows {
            order: Some(vec![0, 1]),
            winners: vec![1]
        }
    );
}
