//! Splits as Java packs them.

use std::collections::BTreeMap;

use tidewater_format::{FileSource, SchemaDefinition, SimpleStats};
use tidewater_types::{DataType, Datum, RowType, SchemaId};

use super::*;

const MIB: i64 = 1 << 20;

fn packer(keyed: bool, bucket: &str) -> SplitPacker {
    packer_with(keyed, bucket, &[])
}

fn packer_with(keyed: bool, bucket: &str, more: &[(&str, &str)]) -> SplitPacker {
    let columns = RowType::of([("k", DataType::int().not_null()), ("v", DataType::string())]);
    let mut options = BTreeMap::from([
        ("bucket".to_owned(), bucket.to_owned()),
        ("source.split.target-size".to_owned(), "8 mb".to_owned()),
    ]);
    let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    options.extend(more.iter().map(own));
    if !keyed && bucket != "-1" {
        options.insert("bucket-key".to_owned(), "k".to_owned());
    }
    let definition = SchemaDefinition {
        fields: columns.fields,
        primary_keys: if keyed {
            vec!["k".to_owned()]
        } else {
            Vec::new()
        },
        partition_keys: Vec::new(),
        options,
        comment: None,
    };
    let schema = TableSchema::create(definition, 0).unwrap();
    let options = schema.options().unwrap();
    SplitPacker::new(&schema, &options).unwrap()
}

fn file(name: &str, level: i32, keys: (i32, i32)) -> DataFileMeta {
    let key = |value| {
        BinaryRow::from_datums(&[Datum::Int(value)], &[DataType::int().not_null()]).unwrap()
    };
    DataFileMeta {
        file_name: name.to_owned(),
        file_size: 100,
        row_count: 10,
        min_key: key(keys.0),
        max_key: key(keys.1),
        key_stats: SimpleStats::empty(),
        value_stats: SimpleStats::empty(),
        min_sequence_number: 0,
        max_sequence_number: 0,
        schema_id: SchemaId(0),
        level,
        extra_files: Vec::new(),
        creation_time_millis: None,
        delete_row_count: Some(0),
        embedded_file_index: None,
        file_source: Some(FileSource::Append),
        value_stats_cols: None,
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    }
}

fn append(name: &str, sequence: i64, bytes: i64) -> DataFileMeta {
    DataFileMeta {
        min_key: BinaryRow::empty(),
        max_key: BinaryRow::empty(),
        min_sequence_number: sequence,
        file_size: bytes,
        ..file(name, 0, (0, 0))
    }
}

fn packed(
    packer: &SplitPacker,
    files: impl IntoIterator<Item = DataFileMeta>,
    purpose: SplitPurpose,
) -> Vec<(String, bool)> {
    let files = files.into_iter().map(Arc::new).collect();
    let splits = packer.pack(files, purpose).unwrap();
    let names = |files: Vec<Arc<DataFileMeta>>| {
        let names: Vec<_> = files.iter().map(|file| file.file_name.as_str()).collect();
        names.join(" ")
    };
    splits
        .into_iter()
        .map(|(files, raw)| (names(files), raw))
        .collect()
}

fn splits(wanted: &[(&str, bool)]) -> Vec<(String, bool)> {
    wanted
        .iter()
        .map(|(names, raw)| ((*names).to_owned(), *raw))
        .collect()
}

/// Spec 03 §5.5, executed with Java: two splits of 4 and 3 files.
#[test]
fn sections_of_overlapping_files_stay_together() {
    let mut delete = file("delete", 0, (5, 5));
    delete.delete_row_count = Some(1);
    let files = [
        file("1", 0, (1, 1)),
        file("2", 0, (2, 2)),
        file("3", 0, (3, 3)),
        file("4", 0, (4, 4)),
        file("5", 0, (5, 5)),
        file("1-2", 0, (1, 2)),
        delete,
    ];
    let counts: Vec<_> = packed(&packer(true, "1"), files, SplitPurpose::State)
        .iter()
        .map(|(names, raw)| (names.split(' ').count(), *raw))
        .collect();
    assert_eq!(counts, [(4, false), (3, false)]);
}

#[test]
fn append_files_are_packed_by_age() {
    let files =
        || [4, 0, 2, 1, 3].map(|sequence: i64| append(&sequence.to_string(), sequence * 10, 100));
    let wanted = splits(&[("0 1", true), ("2 3", true), ("4", true)]);
    assert_eq!(
        packed(&packer(false, "-1"), files(), SplitPurpose::State),
        wanted
    );
    assert_eq!(
        packed(&packer(false, "-1"), files(), SplitPurpose::Changes),
        wanted
    );
    assert_eq!(
        packed(&packer(false, "1"), files(), SplitPurpose::State),
        wanted
    );
    // The changes of a bucket are one split.
    assert_eq!(
        packed(&packer(false, "1"), files(), SplitPurpose::Changes),
        splits(&[("4 0 2 1 3", true)])
    );
}

#[test]
fn a_file_beyond_the_target_is_a_split_of_its_own() {
    let files = [
        append("a", 0, MIB),
        append("b", 1, 9 * MIB),
        append("c", 2, MIB),
    ];
    assert_eq!(
        packed(&packer(false, "-1"), files, SplitPurpose::State),
        splits(&[("a", true), ("b", true), ("c", true)])
    );
}

#[test]
fn files_of_one_level_without_deletes_are_read_raw() {
    let level = |level| [file("a", level, (1, 2)), file("b", level, (3, 4))];
    let keyed = packer(true, "1");
    assert_eq!(
        packed(&keyed, level(3), SplitPurpose::State),
        splits(&[("a b", true)])
    );
    assert_eq!(
        packed(&keyed, level(0), SplitPurpose::State),
        splits(&[("a b", false)])
    );
    let mut with_delete = level(3);
    with_delete[1].delete_row_count = Some(1);
    assert_eq!(
        packed(&keyed, with_delete, SplitPurpose::State),
        splits(&[("a b", false)])
    );
    let two_levels = [file("a", 1, (1, 2)), file("b", 2, (3, 4))];
    assert_eq!(
        packed(&keyed, two_levels, SplitPurpose::State),
        splits(&[("a b", false)])
    );
}

/// Spec 03 §5.5: with deletion vectors, or in first-row tables, a key has one live version above level 0.
#[test]
fn levels_above_zero_are_read_raw_where_each_key_lives_once() {
    for option in [
        ("deletion-vectors.enabled", "true"),
        ("merge-engine", "first-row"),
    ] {
        let keyed = packer_with(true, "1", &[option]);
        let raw = |files: [DataFileMeta; 2]| packed(&keyed, files, SplitPurpose::State);
        let two_levels = || [file("a", 1, (1, 3)), file("b", 2, (2, 4))];
        assert_eq!(raw(two_levels()), splits(&[("a b", true)]), "{option:?}");
        let with_zero = [file("a", 0, (1, 3)), file("b", 2, (2, 4))];
        assert_eq!(raw(with_zero), splits(&[("a b", false)]), "{option:?}");
        let mut with_delete = two_levels();
        with_delete[0].delete_row_count = Some(1);
        assert_eq!(raw(with_delete), splits(&[("a b", false)]), "{option:?}");
    }
}

#[test]
fn a_lone_file_without_deletes_is_read_raw_even_at_level_0() {
    let keyed = packer(true, "1");
    let lone = |deletes| {
        let mut file = file("a", 0, (1, 2));
        file.delete_row_count = deletes;
        [file]
    };
    let raw = |deletes| packed(&keyed, lone(deletes), SplitPurpose::State);
    assert_eq!(raw(Some(0)), splits(&[("a", true)]));
    assert_eq!(raw(None), splits(&[("a", true)]));
    assert_eq!(raw(Some(1)), splits(&[("a", false)]));
}

#[test]
fn changes_of_a_keyed_bucket_are_one_split_in_manifest_order() {
    let files = [file("b", 0, (1, 2)), file("a", 0, (1, 2))];
    assert_eq!(
        packed(&packer(true, "1"), files, SplitPurpose::Changes),
        splits(&[("b a", true)])
    );
}
