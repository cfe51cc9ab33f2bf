//! What statistics may rule out.

use super::*;

/// Statistics of one file by column name; what is not listed is unknown.
struct Stats {
    rows: i64,
    columns: Vec<(&'static str, ColumnStat)>,
}

impl StatsSource for Stats {
    fn row_count(&self) -> i64 {
        self.rows
    }

    fn column(&self, field: usize, name: &str) -> ColumnStat {
        assert_eq!(row_type().index_of(name), Some(field));
        let found = self.columns.iter().find(|(column, _)| *column == name);
        found.map_or(ColumnStat::unknown(), |(_, stat)| stat.clone())
    }
}

fn stat(min: Datum, max: Datum, null_count: i64) -> ColumnStat {
    ColumnStat {
        min: Some(min),
        max: Some(max),
        null_count: Some(null_count),
    }
}

fn kept(predicate: &str, stats: &Stats) -> bool {
    text(predicate).may_match(stats)
}

#[test]
fn each_question_is_answered_from_bounds_and_null_counts() {
    let stats = Stats {
        rows: 10,
        columns: vec![
            ("id", stat(Datum::Int(10), Datum::Int(20), 3)),
            ("big", stat(Datum::BigInt(7), Datum::BigInt(7), 0)),
            ("small", ColumnStat::all_null(10)),
            (
                "tiny",
                ColumnStat {
                    null_count: Some(2),
                    ..ColumnStat::unknown()
                },
            ),
        ],
    };
    for predicate in [
        "id = 9",
        "id = 21",
        "id < 10",
        "id <= 9",
        "id > 20",
        "id >= 21",
        "id in (9, 21, null)",
        "id in ()",
        "id between 21 and 30",
        "id between 0 and 9",
        "id between 19 and 11",
        "id = null",
        "id not in (1, null)",
        "id <> null",
        "id < null",
        "big <> 7",
        "big not in (1, 7)",
        "big is null",
        "small = 1",
        "small <> 1",
        "small not in (1)",
        "small is not null",
        "small > 0",
        "id = 15 and id = 9",
        "id = 9 or big = 8",
        "false",
        "not (id > 9)",
        "not (small = 1)",
    ] {
        assert!(!kept(predicate, &stats), "{predicate} must be dropped");
    }
    for predicate in [
        "id = 10",
        "id = 20",
        "id < 11",
        "id <= 10",
        "id > 19",
        "id >= 20",
        "id in (9, 15)",
        "id between 20 and 30",
        "id is null",
        "id is not null",
        "id <> 15",
        "id not in (10, 20)",
        "big = 7",
        "big <> 8",
        "big is not null",
        "small is null",
        "tiny = 100",
        "tiny <> 1",
        "tiny is null",
        "tiny is not null",
        "d > 5",
        "d is null",
        "d is not null",
        "not (id > 10)",
        "id = 9 or big = 7",
        "true",
        "not (d = 5)",
    ] {
        assert!(kept(predicate, &stats), "{predicate} must be kept");
    }
}

#[test]
fn prefixes_reach_between_truncated_bounds() {
    let stats = Stats {
        rows: 4,
        columns: vec![
            ("name", stat(string("ab"), string("ad"), 1)),
            ("code", ColumnStat::all_null(4)),
        ],
    };
    for predicate in [
        "name like 'b%'",
        "name like 'aa%'",
        "name like 'ae%'",
        "starts_with(name, 'aa')",
        "name like 'zz'",
        "starts_with(name, null)",
        "code like '%a'",
        "not (code like '%a')",
        "ends_with(code, 'x')",
        "not starts_with(name, null)",
    ] {
        assert!(!kept(predicate, &stats), "{predicate} must be dropped");
    }
    for predicate in [
        "name like 'a%'",
        "name like 'ab%'",
        "name like 'abc%'",
        "name like 'ac_%'",
        "name like '%z'",
        "name like 'ac'",
        "starts_with(name, 'ad')",
        "starts_with(name, '')",
        "contains(name, 'zz')",
        "ends_with(name, 'zz')",
        "not starts_with(name, 'a')",
        "name like '_z'",
    ] {
        assert!(kept(predicate, &stats), "{predicate} must be kept");
    }
    // One value, a pattern with an escape at the end: the literal `a%`, not everything that begins with `a`.
    let one = Stats {
        rows: 1,
        columns: vec![("name", stat(string("ax"), string("ax"), 0))],
    };
    assert!(!kept("name like 'a\\%'", &one));
}

#[test]
fn blanks_that_fill_up_a_lower_bound_do_not_hide_the_value() {
    let stats = Stats {
        rows: 1,
        columns: vec![("code", stat(string("a  "), string("a  "), 0))],
    };
    assert!(kept("code = 'a'", &stats));
    assert!(kept("code <> 'a'", &stats));
    assert!(kept("code < 'a '", &stats));
    assert!(!kept("code = 'b'", &stats));
}

#[test]
fn decimals_and_instants_of_other_digits_are_compared_by_value() {
    let stats = Stats {
        rows: 1,
        columns: vec![
            ("price", stat(decimal(110, 2), decimal(120, 2), 0)),
            ("ts6", stat(micros(0), micros(700), 0)),
        ],
    };
    assert!(kept("price > 1.1999", &stats));
    assert!(!kept("price > 1.2001", &stats));
    assert!(!kept("price = 1.0999", &stats));
    assert!(kept("ts6 > '1970-01-01 00:00:00.0006'", &stats));
    assert!(!kept("ts6 > '1970-01-01 00:00:00.0007'", &stats));
}

#[test]
fn bounds_of_another_type_say_nothing() {
    let stats = Stats {
        rows: 1,
        columns: vec![("id", stat(Datum::BigInt(1), Datum::BigInt(2), 0))],
    };
    for predicate in [
        "id = 5",
        "id > 5",
        "id <> 1",
        "id between 5 and 6",
        "id in (5)",
    ] {
        assert!(kept(predicate, &stats), "{predicate}");
    }
    let stats = Stats {
        rows: 1,
        columns: vec![("name", stat(Datum::Int(1), Datum::Int(2), 0))],
    };
    assert!(kept("name like 'a%'", &stats));
}
