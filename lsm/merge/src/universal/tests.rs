//! Picks against the vectors of both Paimon versions, and text cases.

use std::sync::Arc;

use serde_json::Value;

use super::*;
use crate::directives::{Directives, run_cases};
use crate::sorted_run::SortedRun;
use crate::testing::{file, names, vector};

const NOON: PickContext = PickContext {
    now_millis: 1_000_000_000,
    local_hour: 12,
};

/// One file per run, named by its position.
fn runs(level_size: &[(i32, i64)]) -> Vec<LevelSortedRun> {
    let run = |(place, (level, size)): (usize, &(i32, i64))| {
        let place = i32::try_from(place).unwrap();
        LevelSortedRun {
            level: *level,
            run: SortedRun::single(Arc::new(file(
                &place.to_string(),
                *level,
                *size,
                place,
                place,
            ))),
        }
    };
    level_size.iter().enumerate().map(run).collect()
}

fn runs_of(value: &Value) -> Vec<LevelSortedRun> {
    let pair = |run: &Value| {
        (
            i32::try_from(run[0].as_i64().unwrap()).unwrap(),
            run[1].as_i64().unwrap(),
        )
    };
    runs(
        &value
            .as_array()
            .unwrap()
            .iter()
            .map(pair)
            .collect::<Vec<_>>(),
    )
}

fn int(value: &Value) -> i64 {
    value.as_i64().unwrap()
}

fn options_of(set: &Value, rule: PickRule) -> (UniversalOptions, i32) {
    let ratio = u32::try_from(int(&set["compaction.offpeak-ratio(0..24h)"])).unwrap();
    let options = UniversalOptions {
        trigger_runs: usize::try_from(int(&set["num-sorted-run.compaction-trigger"])).unwrap(),
        max_size_amplification_percent: u32::try_from(int(
            &set["compaction.max-size-amplification-percent"],
        ))
        .unwrap(),
        size_ratio_percent: u32::try_from(int(&set["compaction.size-ratio"])).unwrap(),
        off_peak: (ratio > 0).then_some(OffPeak {
            start_hour: 0,
            end_hour: 24,
            extra_ratio_percent: ratio,
        }),
        total_size_threshold: set["compaction.total-size-threshold"].as_u64(),
        rule,
        ..UniversalOptions::default()
    };
    (options, i32::try_from(int(&set["num-levels"])).unwrap() - 1)
}

/// The unit in the words of the vector; a discarded one is what `pick` does not give.
fn expected(unit: &Value) -> Option<(i64, Vec<String>)> {
    if unit.is_null() || unit["discarded_by_manager"].as_bool().unwrap() {
        return None;
    }
    let indexes = unit["run_indexes"].as_array().unwrap();
    Some((
        int(&unit["output_level"]),
        indexes.iter().map(Value::to_string).collect(),
    ))
}

fn shown(unit: Option<CompactionUnit>) -> Option<(i64, Vec<String>)> {
    let unit = unit?;
    assert_eq!(unit.kind, UnitKind::Compact);
    Some((
        unit.output_level.into(),
        names(&unit.files).into_iter().map(str::to_owned).collect(),
    ))
}

#[test]
fn picks_equal_those_of_both_java_versions() {
    let vectors = vector("02-universal-compaction.json");
    let sets = vectors["option_sets"].as_array().unwrap();
    let picks = vectors["picks"].as_array().unwrap();
    assert_eq!(picks.len(), 240);
    for case in picks {
        let set = sets
            .iter()
            .find(|set| set["name"] == case["options"])
            .unwrap();
        let runs = runs_of(&case["runs_level_size"]);
        for (column, rule, force_up_level0) in [
            ("v1_3_1", PickRule::V1, ForceUpLevel0::Never),
            ("v2_1_snapshot", PickRule::V2, ForceUpLevel0::Never),
            (
                "force_up_level0_v1_3_1",
                PickRule::V1,
                ForceUpLevel0::Radical,
            ),
        ] {
            let (options, top_level) = options_of(set, rule);
            let mut strategy = UniversalCompaction::new(UniversalOptions {
                force_up_level0,
                ..options
            });
            let picked = shown(strategy.pick(&runs, top_level, NOON));
            assert_eq!(picked, expected(&case[column]), "{column} of {case}");
        }
    }
}

#[test]
fn a_lone_file_on_its_output_level_is_no_work() {
    let unit = |level, files| CompactionUnit {
        files: (0..files)
            .map(|n| Arc::new(file(&n.to_string(), level, 1, n, n)))
            .collect(),
        output_level: 5,
        kind: UnitKind::Compact,
    };
    assert!(!unit(5, 1).has_work());
    assert!(unit(5, 2).has_work());
    assert!(unit(4, 1).has_work());
}

#[test]
fn counters_behave_as_recorded_over_several_triggers() {
    let vectors = vector("02-universal-compaction.json");
    let sequences = vectors["sequences"].as_array().unwrap();
    let hour = 3_600_000;
    let check = |sequence: &Value,
                 mut strategy: UniversalCompaction,
                 calls: &dyn Fn(usize) -> Vec<LevelSortedRun>| {
        for (call, result) in sequence["results"].as_array().unwrap().iter().enumerate() {
            let picked = shown(strategy.pick(&calls(call), 5, NOON));
            assert_eq!(picked, expected(result), "call {call} of {sequence}");
        }
    };
    let gentle = UniversalOptions {
        force_up_level0: ForceUpLevel0::Gentle { interval: 3 },
        rule: PickRule::V1,
        ..UniversalOptions::default()
    };
    let interval = UniversalOptions {
        optimization_interval_millis: Some(hour),
        rule: PickRule::V1,
        ..UniversalOptions::default()
    };
    let [first, second, third] = sequences.as_slice() else {
        unreachable!("three sequences")
    };
    check(first, UniversalCompaction::new(gentle), &|_| {
        runs_of(&first["each_call_runs"])
    });
    check(second, UniversalCompaction::new(interval.clone()), &|_| {
        runs_of(&second["each_call_runs"])
    });
    assert_eq!(third["each_call_runs"], "[[0,1]] then [[0,1],[0,1]]");
    check(third, UniversalCompaction::new(interval), &|call| {
        runs(&[(0, 1); 2][..=call])
    });
}

#[test]
fn full_compactions_equal_the_recorded_ones() {
    let vectors = vector("02-universal-compaction.json");
    let cases = vectors["full_compaction"].as_array().unwrap();
    assert_eq!(cases.len(), 12);
    for case in cases {
        let options = FullPickOptions {
            force_rewrite_all_files: case["compaction.force-rewrite-all-files"]
                .as_bool()
                .unwrap(),
            needs_rewrite: &|_| false,
        };
        let top_level = i32::try_from(int(&case["num_levels"])).unwrap() - 1;
        let unit = full_pick(&runs_of(&case["runs_level_size"]), top_level, &options);
        let shown = unit.map(|unit| {
            (
                i64::from(unit.output_level),
                unit.files.len(),
                unit.kind == UnitKind::RewriteEachFile,
            )
        });
        let unit = &case["unit"];
        let expected = (!unit.is_null()).then(|| {
            let files = usize::try_from(int(&unit["files"])).unwrap();
            (
                int(&unit["output_level"]),
                files,
                unit["file_rewrite"].as_bool().unwrap(),
            )
        });
        assert_eq!(shown, expected, "{case}");
    }
}

#[test]
fn a_single_top_run_is_rewritten_only_where_a_file_needs_it() {
    let mut files = vec![file("a", 5, 10, 1, 2), file("b", 5, 10, 3, 4)];
    files.iter_mut().for_each(|file| file.level = 5);
    let runs = [LevelSortedRun {
        level: 5,
        run: SortedRun::from_sorted(files.into_iter().map(Arc::new).collect()),
    }];
    let options = FullPickOptions {
        force_rewrite_all_files: false,
        needs_rewrite: &|file| file.file_name == "b",
    };
    let unit = full_pick(&runs, 5, &options).unwrap();
    assert_eq!(
        (names(&unit.files), unit.kind),
        (vec!["b"], UnitKind::RewriteEachFile)
    );
}

fn number<T: std::str::FromStr>(text: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    text.parse().unwrap()
}

fn option(
    options: &mut UniversalOptions,
    context: &mut PickContext,
    top_level: &mut i32,
    setting: &str,
) {
    let (key, value) = setting.split_once('=').unwrap();
    match key {
        "trigger" => options.trigger_runs = number(value),
        "amplification" => options.max_size_amplification_percent = number(value),
        "ratio" => options.size_ratio_percent = number(value),
        "offpeak" => {
            let parts: Vec<&str> = value.split(['-', ':']).collect();
            options.off_peak = Some(OffPeak {
                start_hour: number(parts[0]),
                end_hour: number(parts[1]),
                extra_ratio_percent: number(parts[2]),
            });
        }
        "interval" => options.optimization_interval_millis = Some(number(value)),
        "total" => options.total_size_threshold = Some(number(value)),
        "incremental" => options.incremental_size_threshold = Some(number(value)),
        "force" => {
            options.force_up_level0 = match value {
                "radical" => ForceUpLevel0::Radical,
                gentle => ForceUpLevel0::Gentle {
                    interval: number(gentle.strip_prefix("gentle:").unwrap()),
                },
            };
        }
        "rule" => {
            options.rule = if value == "v1" {
                PickRule::V1
            } else {
                PickRule::V2
            }
        }
        "top" => *top_level = number(value),
        "hour" => context.local_hour = number(value),
        "now" => context.now_millis = number(value),
        other => unreachable!("unknown option {other}"),
    }
}

/// Directives: `options k=v…`, `runs level:size[@creation]…`, `at k=v…` (now, hour), `pick`, `full [force]`.
fn run(directives: &Directives<'_>) -> String {
    let (mut options, mut context, mut top_level) = (UniversalOptions::default(), NOON, 5);
    let mut current: Vec<LevelSortedRun> = Vec::new();
    let mut strategy: Option<UniversalCompaction> = None;
    let mut output = String::new();
    for (word, arguments) in directives {
        match *word {
            "options" | "at" => {
                for setting in arguments {
                    option(&mut options, &mut context, &mut top_level, setting);
                }
            }
            "runs" => {
                current = runs(
                    &arguments
                        .iter()
                        .map(|run| {
                            let (level, size) = run.split_once(':').unwrap();
                            (number(level), number(size.split('@').next().unwrap()))
                        })
                        .collect::<Vec<_>>(),
                );
                for (run, argument) in current.iter_mut().zip(arguments) {
                    if let Some((_, creation)) = argument.split_once('@') {
                        let mut file = run.run.files()[0].as_ref().clone();
                        file.creation_time_millis = Some(number(creation));
                        run.run = SortedRun::single(Arc::new(file));
                    }
                }
            }
            "pick" | "full" => {
                let unit = if *word == "full" {
                    let full = FullPickOptions {
                        force_rewrite_all_files: arguments.contains(&"force"),
                        needs_rewrite: &|_| false,
                    };
                    full_pick(&current, top_level, &full)
                } else {
                    let strategy =
                        strategy.get_or_insert_with(|| UniversalCompaction::new(options.clone()));
                    strategy.pick(&current, top_level, context)
                };
                output.push_str(&match unit {
                    None => "nothing\n".to_owned(),
                    Some(unit) => format!(
                        "{} -> {}\n",
                        names(&unit.files).join(" "),
                        unit.output_level
                    ),
                });
            }
            other => unreachable!("unknown directive {other}"),
        }
    }
    output
}

#[test]
fn universal_text_cases() {
    run_cases(include_str!("../../tests/picking/universal.txt"), run);
}
