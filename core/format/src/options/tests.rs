//! Options against Java's list and Java's parsers.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::test_vectors::java_answers;

fn options(pairs: &[(&str, &str)]) -> TableOptions {
    TableOptions::from_map(&text_map(pairs)).unwrap()
}

fn text_map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

#[test]
fn every_option_of_java_is_declared_as_java_declares_it() {
    // Types that are narrower or wider here, and why.
    let wider = BTreeSet::from([
        // A number in Java's declaration, yet "true" and "false" are what its Parquet writer reads.
        "parquet.enable.dictionary",
    ]);
    for option in java_answers("option_list.json")["options"]
        .as_array()
        .unwrap()
    {
        let key = option["key"].as_str().unwrap();
        let doc = TableOptions::doc(key).unwrap_or_else(|| panic!("{key} is not declared"));
        assert_eq!(doc.key, key);
        assert!(!doc.newer, "{key}");
        assert_eq!(
            doc.immutable,
            option["immutable"].as_bool().unwrap(),
            "{key}"
        );
        let fallback: Vec<_> = option["fallback_keys"]
            .as_array()
            .unwrap()
            .iter()
            .map(|key| key.as_str().unwrap())
            .collect();
        assert_eq!(doc.aliases, fallback, "{key}");

        let java_type = option["type"].as_str().unwrap();
        let words: Vec<_> = option["words"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| word.as_str().unwrap())
            .collect();
        let fits = match java_type {
            "Integer" => doc.value_type == "int",
            "Long" => doc.value_type == "long",
            "Boolean" => doc.value_type == "boolean",
            "Float" | "Double" => doc.value_type == "double",
            "Duration" => doc.value_type == "duration",
            "MemorySize" => doc.value_type == "memory",
            "Map" => doc.value_type == "map",
            "String" => matches!(doc.value_type, "string" | "list" | "enum" | "stats-mode"),
            _ => doc.value_type == "enum",
        };
        assert!(
            fits || wider.contains(key),
            "{key}: {java_type} is {}",
            doc.value_type
        );
        for word in words {
            assert!(TableOptions::check(key, word).is_ok(), "{key} = {word}");
        }

        let default = option["default"].as_str();
        match (doc.value_type, default) {
            (_, None) => assert_eq!(doc.default, None, "{key}"),
            ("duration", Some(text)) => {
                assert_eq!(
                    parse_duration(doc.default.as_deref().unwrap()),
                    parse_iso_duration(text),
                    "{key}"
                );
            }
            ("memory", Some(text)) => {
                assert_eq!(
                    MemorySize::parse(doc.default.as_deref().unwrap()),
                    MemorySize::parse(text),
                    "{key}"
                );
            }
            ("map", Some(text)) => {
                assert_eq!((doc.default.as_deref(), text), (None, "{}"), "{key}")
            }
            ("enum", Some(text)) => {
                assert!(
                    doc.default.as_deref().unwrap().eq_ignore_ascii_case(text),
                    "{key}: {text}"
                );
            }
            ("double", Some(text)) => {
                assert_eq!(
                    doc.default.as_deref().unwrap().parse::<f64>(),
                    text.parse(),
                    "{key}"
                );
            }
            (_, Some(text)) => assert_eq!(doc.default.as_deref(), Some(text), "{key}"),
        }
    }
}

#[test]
fn options_java_does_not_declare_are_of_newer_versions_or_of_other_programs() {
    let answers = java_answers("option_list.json");
    let java: BTreeSet<_> = answers["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| option["key"].as_str().unwrap())
        .collect();
    for doc in TableOptions::all() {
        assert_eq!(
            java.contains(doc.key),
            !(doc.newer || doc.foreign && !java.contains(doc.key)),
            "{}",
            doc.key
        );
    }
}

#[test]
fn each_key_is_declared_once_with_a_meaning() {
    let mut keys = BTreeSet::new();
    for doc in TableOptions::all() {
        for key in std::iter::once(&doc.key).chain(doc.aliases) {
            assert!(keys.insert(*key), "{key}");
        }
        assert!(doc.meaning.ends_with('.'), "{}: {}", doc.key, doc.meaning);
        assert!(doc.meaning.len() < 200, "{}", doc.key);
    }
    for pattern in PATTERNS {
        assert!(
            pattern.meaning.ends_with('.') && pattern.pattern.contains('<'),
            "{}",
            pattern.pattern
        );
    }
}

#[test]
fn defaults_read_back_to_themselves() {
    for doc in TableOptions::all() {
        if let Some(text) = &doc.default {
            let values = text_map(&[(doc.key, text)]);
            let mut read = TableOptions::from_map(&values).unwrap();
            read.values = BTreeMap::new();
            assert_eq!(read, options(&[]), "{} = {text}", doc.key);
        }
    }
}

#[test]
fn durations_and_memory_sizes_read_as_in_java() {
    let answers = java_answers("option_values.json");
    for case in answers["durations"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        let expected = case["seconds"].as_u64().map(|seconds| {
            Duration::new(
                seconds,
                u32::try_from(case["nanos"].as_u64().unwrap()).unwrap(),
            )
        });
        let iso = text.trim_start().to_ascii_uppercase().starts_with('P');
        if iso {
            // Read here, because newer writers may store it; never stored by us, because Java 1.3 fails on it.
            assert!(
                expected.is_none() && TableOptions::check("commit.timeout", text).is_err(),
                "{text:?}"
            );
        } else {
            assert_eq!(parse_duration(text), expected, "{text:?}");
        }
    }
    for case in answers["memory"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        assert_eq!(
            MemorySize::parse(text).map(MemorySize::bytes),
            case["bytes"].as_u64(),
            "{text:?}"
        );
    }
}

#[test]
fn iso_durations_are_read() {
    let seconds = |text| parse_duration(text).map(|duration| duration.as_secs_f64());
    assert_eq!(seconds("PT1H"), Some(3600.0));
    assert_eq!(seconds("p1dt1h30m0.5s"), Some(91_800.5));
    assert_eq!(seconds("P2D"), Some(172_800.0));
    for text in [
        "P",
        "PT",
        "-PT1H",
        "PT-1H",
        "PT1.5H",
        "PT1S1H",
        "P1H",
        "PT1H1",
        "PT0.1234567890S",
        "PTS",
        "PT99999999999999999999S",
    ] {
        assert_eq!(parse_duration(text), None, "{text}");
    }
}

#[test]
fn values_that_are_none_are_refused_by_name() {
    for (key, value, message) in [
        (
            "bucket",
            "abc",
            "option 'bucket' cannot be \"abc\": expected a whole number of 32 bits",
        ),
        (
            "merge-engine",
            "merge",
            "option 'merge-engine' cannot be \"merge\": expected one of deduplicate, partial-update, aggregation, first-row",
        ),
        (
            "write-only",
            "yes",
            "option 'write-only' cannot be \"yes\": expected true or false",
        ),
        (
            "snapshot.time-retained",
            "soon",
            "option 'snapshot.time-retained' cannot be \"soon\": expected a duration such as '10 s' (units ns, µs, ms, s, min, h, d)",
        ),
        (
            "fields.a.stats-mode",
            "some",
            "option 'fields.a.stats-mode' cannot be \"some\": expected none, counts, truncate(n) or full",
        ),
    ] {
        assert_eq!(
            TableOptions::check(key, value).unwrap_err().to_string(),
            message
        );
    }
    assert!(TableOptions::from_map(&text_map(&[("bucket", "abc")])).is_err());
    assert!(TableOptions::check("num-levels", "1").is_err());
    assert!(TableOptions::check("target-file-size", "0 b").is_err());
    assert!(TableOptions::check("no.such.option", "x").is_ok());
}

#[test]
fn a_strange_value_of_another_programs_option_does_no_harm() {
    let read = options(&[
        ("scan.split-enumerator.mode", "psychic"),
        ("metadata.iceberg.storage", "moon"),
    ]);
    assert_eq!(read.scan_split_enumerator_mode, SplitEnumeratorMode::Fair);
    assert_eq!(read.metadata_iceberg_storage, IcebergStorage::Disabled);
    assert_eq!(read.values().len(), 2);
}

#[test]
fn former_keys_work_and_the_key_itself_goes_first() {
    assert!(options(&[("write.compaction-skip", "true")]).write_only);
    assert!(!options(&[("write.compaction-skip", "true"), ("write-only", "false")]).write_only);
    assert!(options(&[("partial-update.ignore-delete", "true")]).ignore_delete);
    assert!(options(&[("write.compaction-skip", "true")]).is_set("write-only"));
}

#[test]
fn maps_are_read_whole_or_entry_by_entry() {
    let whole = options(&[("file.format.per.level", "0:avro, 5 : orc")]);
    let entries = options(&[
        ("file.format.per.level.0", "avro"),
        ("file.format.per.level.5", "orc"),
    ]);
    assert_eq!(whole.file_format_per_level, entries.file_format_per_level);
    assert_eq!(whole.data_file_format(0), "avro");
    assert_eq!(whole.data_file_format(1), "parquet");
    for text in ["0-avro", "x:avro", "-1:avro", "0:avro,"] {
        assert!(
            TableOptions::check("file.format.per.level", text).is_err(),
            "{text}"
        );
    }
}

#[test]
fn enums_do_not_look_at_case_or_kind_of_dash() {
    assert_eq!(
        options(&[("merge-engine", "PARTIAL_UPDATE")]).merge_engine,
        MergeEngine::PartialUpdate
    );
    assert_eq!(
        options(&[("tag.period-formatter", "without-dashes")]).tag_period_formatter,
        TagPeriodFormatter::WithoutDashes
    );
    assert_eq!(
        options(&[("lookup-compact", "gentle")]).lookup_compact,
        LookupCompactMode::Gentle
    );
}

#[test]
fn defaults_follow_other_options() {
    let plain = options(&[]);
    assert_eq!(plain.target_file_size_bytes(true), 128 << 20);
    assert_eq!(plain.target_file_size_bytes(false), 256 << 20);
    assert_eq!(
        (
            plain.compaction_trigger(),
            plain.stop_trigger(),
            plain.level_count(),
            plain.max_level()
        ),
        (5, 8, 6, 5)
    );
    assert_eq!(
        (plain.merge_run_limit(), plain.lookup_compact_interval()),
        (9, 10)
    );
    let low = options(&[
        ("num-sorted-run.compaction-trigger", "7"),
        ("num-sorted-run.stop-trigger", "2"),
        ("lookup-compact.max-interval", "3"),
    ]);
    assert_eq!(
        (
            low.stop_trigger(),
            low.level_count(),
            low.lookup_compact_interval()
        ),
        (7, 8, 7)
    );
    // Nonsense that Java stores is not a reason to fail.
    let nonsense = options(&[
        ("num-sorted-run.compaction-trigger", "0"),
        ("num-levels", "0"),
        ("commit.max-retries", "-1"),
    ]);
    assert_eq!(
        (
            nonsense.compaction_trigger(),
            nonsense.stop_trigger(),
            nonsense.level_count(),
            nonsense.commit_retries()
        ),
        (1, 4, 2, 0)
    );
    let huge = options(&[("num-sorted-run.compaction-trigger", "2147483647")]);
    assert_eq!(
        (huge.stop_trigger(), huge.level_count()),
        (i32::MAX, i32::MAX)
    );
}

#[test]
fn the_wait_between_commit_attempts_doubles_up_to_its_limit() {
    let waits: Vec<_> = [0, 1, 5, 10, 40, 1000]
        .map(|attempt| options(&[]).commit_retry_wait(attempt).as_millis())
        .into();
    assert_eq!(waits, [10, 20, 320, 10_000, 10_000, 10_000]);
}

#[test]
fn changelog_files_are_written_as_data_files_unless_options_say_otherwise() {
    let plain = options(&[
        ("file.compression.per.level", "0:lz4"),
        ("file.format", "ORC"),
    ]);
    assert_eq!(
        (
            plain.changelog_format(0).as_str(),
            plain.changelog_compression(0),
            plain.changelog_compression(1)
        ),
        ("orc", "lz4", "zstd")
    );
    let own = options(&[
        ("changelog-file.format", "avro"),
        ("changelog-file.compression", "snappy"),
    ]);
    assert_eq!(
        (
            own.changelog_format(3).as_str(),
            own.changelog_compression(3)
        ),
        ("avro", "snappy")
    );
}

#[test]
fn external_paths_go_by_their_strategy() {
    let paths = ("data-file.external-paths", "file:///a/, s3://b ,oss://c");
    assert!(options(&[paths]).external_paths().is_empty());
    let all = options(&[paths, ("data-file.external-paths.strategy", "round-robin")]);
    assert_eq!(all.external_paths(), ["file:///a", "s3://b", "oss://c"]);
    let one = options(&[
        paths,
        ("data-file.external-paths.strategy", "specific-fs"),
        ("data-file.external-paths.specific-fs", "S3"),
    ]);
    assert_eq!(one.external_paths(), ["s3://b"]);
}

/// The answers of `StatsCollectorFactories` of 1.3.1 for columns a to d of a keyed file with the table's mode `counts`.
#[test]
fn statistics_modes_of_columns_are_those_of_java() {
    use StatsMode::{Counts, Full, None};
    const KEY: StatsMode = StatsMode::KEY;
    let columns = [
        "_KEY_a",
        "_SEQUENCE_NUMBER",
        "_VALUE_KIND",
        "a",
        "b",
        "c",
        "d",
    ];
    let modes = |first: &str, column: (&str, &str), thin: &[&str]| {
        let read = options(&[
            ("metadata.stats-mode", "counts"),
            ("metadata.stats-keep-first-n-columns", first),
            column,
        ]);
        let thin: Vec<_> = thin.iter().map(|name| (*name).to_owned()).collect();
        read.stats_modes(&columns, StatsTarget::Data { level: 0 }, &thin)
            .unwrap()
    };
    let unset = ("x", "y");
    assert_eq!(
        modes("-1", unset, &[]),
        [KEY, KEY, KEY, Counts, Counts, Counts, Counts]
    );
    assert_eq!(
        modes("0", unset, &[]),
        [KEY, KEY, KEY, None, None, None, None]
    );
    assert_eq!(
        modes("2", unset, &[]),
        [KEY, KEY, KEY, Counts, Counts, None, None]
    );
    assert_eq!(
        modes("2", unset, &["c"]),
        [KEY, KEY, KEY, Counts, Counts, KEY, None]
    );
    assert_eq!(
        modes("2", unset, &["a"]),
        [KEY, KEY, KEY, KEY, Counts, Counts, None]
    );
    assert_eq!(
        modes("2", ("fields.a.stats-mode", "full"), &["a"]),
        [KEY, KEY, KEY, Full, Counts, None, None]
    );
    assert_eq!(
        modes("2", ("fields.d.stats-mode", "full"), &[]),
        [KEY, KEY, KEY, Counts, Counts, None, Full]
    );
}

#[test]
fn statistics_modes_go_by_level_and_kind_of_file() {
    let read = options(&[
        ("metadata.stats-mode.per.level", "0:none,5:full"),
        ("changelog-file.stats-mode", "counts"),
    ]);
    let mode = |read: &TableOptions, target| read.stats_modes(&["a"], target, &[]).unwrap()[0];
    assert_eq!(mode(&read, StatsTarget::Data { level: 0 }), StatsMode::None);
    assert_eq!(
        mode(&read, StatsTarget::Data { level: 3 }),
        StatsMode::Truncate(16)
    );
    assert_eq!(mode(&read, StatsTarget::Data { level: 5 }), StatsMode::Full);
    assert_eq!(
        mode(&read, StatsTarget::Changelog { level: 0 }),
        StatsMode::Counts
    );
    let plain = options(&[("metadata.stats-mode.per.level", "0:none")]);
    assert_eq!(
        mode(&plain, StatsTarget::Changelog { level: 0 }),
        StatsMode::None
    );
}

#[test]
fn sequence_groups_and_file_indexes_are_read_from_their_keys() {
    let read = options(&[
        ("fields.s1, s2.sequence-group", " a , b"),
        ("fields.a.aggregate-function", "sum"),
        ("fields.default-aggregate-function", "last_value"),
        ("file-index.bloom-filter.columns", "a, m[k]"),
        ("file-index.bloom-filter.a.items", "100"),
        ("file-index.read.enabled", "false"),
    ]);
    let groups: Vec<_> = read
        .sequence_groups()
        .iter()
        .map(|(sequence, members)| format!("{sequence} -> {members}"))
        .collect();
    assert_eq!(groups, ["s1,s2 -> a,b"]);
    assert_eq!(
        (read.aggregate_function("a"), read.aggregate_function("b")),
        (Some("sum"), Some("last_value"))
    );
    let indexes: Vec<_> = read
        .file_index_columns()
        .iter()
        .map(|(index_type, columns)| format!("{index_type}: {columns}"))
        .collect();
    assert_eq!(indexes, ["bloom-filter: a,m[k]"]);
    assert_eq!(
        read.with_prefix("file-index.bloom-filter.a.")
            .collect::<Vec<_>>(),
        [("file-index.bloom-filter.a.items", "100")]
    );
}

#[test]
fn the_startup_mode_follows_the_starting_point() {
    let mode = |pairs: &[(&str, &str)]| options(pairs).startup_mode();
    assert_eq!(mode(&[]), StartupMode::LatestFull);
    assert_eq!(mode(&[("scan.mode", "full")]), StartupMode::LatestFull);
    assert_eq!(
        mode(&[("scan.snapshot-id", "1")]),
        StartupMode::FromSnapshot
    );
    assert_eq!(
        mode(&[("scan.timestamp-millis", "1")]),
        StartupMode::FromTimestamp
    );
    assert_eq!(
        mode(&[("log.scan.timestamp-millis", "1")]),
        StartupMode::FromTimestamp
    );
    assert_eq!(
        mode(&[("incremental-between", "1,2")]),
        StartupMode::Incremental
    );
    assert!(
        validate_startup(&options(&[
            ("scan.mode", "latest"),
            ("scan.snapshot-id", "1")
        ]))
        .is_err()
    );
    assert!(
        validate_startup(&options(&[
            ("scan.mode", "from-snapshot-full"),
            ("scan.snapshot-id", "1")
        ]))
        .is_ok()
    );
}

proptest! {
    /// What a duration prints as reads back to it.
    #[test]
    fn durations_survive_their_text(seconds in 0_u64..1 << 60, nanos in prop_oneof![Just(0_u32), 0_u32..1_000_000_000]) {
        let seconds = if nanos == 0 { seconds } else { seconds % 9_000_000_000 };
        let duration = Duration::new(seconds, nanos);
        prop_assert_eq!(parse_duration(&format_duration(duration)), Some(duration));
    }

    /// What a memory size prints as reads back to it.
    #[test]
    fn memory_sizes_survive_their_text(bytes in 0_u64..=i64::MAX as u64, shift in 0_u32..50) {
        let size = MemorySize::from_bytes((bytes >> shift) << shift);
        prop_assert_eq!(MemorySize::parse(&size.to_string()), Some(size));
    }

    /// No text makes a parser panic, whatever the option.
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,12}|[0-9pPtThHmMsSdD .:,-]{0,16}") {
        for doc in TableOptions::all() {
            let checked = TableOptions::check(doc.key, &text);
            let read = TableOptions::from_map(&text_map(&[(doc.key, &text)]));
            // What may be stored can be read.
            prop_assert!(checked.is_err() || read.is_ok(), "{} = {:?}", doc.key, text);
        }
    }

    /// A number and a unit mean the number times the unit, with any blanks around.
    #[test]
    fn blanks_around_number_and_unit_do_not_count(number in 0_u64..1_000_000, front in " {0,2}", middle in "[ \t]{0,2}", end in " {0,2}") {
        prop_assert_eq!(parse_duration(&format!("{front}{number}{middle}min{end}")), Some(Duration::from_secs(number * 60)));
        prop_assert_eq!(MemorySize::parse(&format!("{front}{number}{middle}kb{end}")), Some(MemorySize::from_kib(number)));
    }
}
