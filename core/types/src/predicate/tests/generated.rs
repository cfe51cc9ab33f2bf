//! Predicates and rows made at random, held against a row-by-row model.

use proptest::prelude::*;

use super::*;

fn value_of(name: &'static str) -> BoxedStrategy<Datum> {
    match name {
        "id" => (-3_i32..4).prop_map(Datum::Int).boxed(),
        "d" => proptest::sample::select(vec![-0.0, 0.0, 1.5, -7.0, f64::NAN, f64::INFINITY, 1e-30])
            .prop_map(Datum::Double)
            .boxed(),
        "f" => proptest::sample::select(vec![-0.0_f32, 0.1, f32::NAN, 1e20])
            .prop_map(Datum::Float)
            .boxed(),
        "name" => "[a%_\\\\'é]{0,3}".prop_map(Datum::String).boxed(),
        "raw" => {
            proptest::collection::vec(proptest::sample::select(vec![0, 0x7f, 0x80, 0xff]), 0..3)
                .prop_map(Datum::Bytes)
                .boxed()
        }
        "price" => (-300_i128..300)
            .prop_map(|unscaled| decimal(unscaled, 2))
            .boxed(),
        "day" => (-2_i32..3).prop_map(Datum::Date).boxed(),
        "clock" => (0_i32..3)
            .prop_map(|hours| Datum::Time(hours * 3_600_000 + 1))
            .boxed(),
        "ts6" => (-3_i64..3).prop_map(micros).boxed(),
        "flag" => any::<bool>().prop_map(Datum::Boolean).boxed(),
        other => panic!("{other}"),
    }
}

const COLUMNS: [&str; 10] = [
    "id", "d", "f", "name", "raw", "price", "day", "clock", "ts6", "flag",
];

fn literal(name: &'static str) -> BoxedStrategy<Datum> {
    let other_digits = match name {
        "price" => (-3000_i128..3000)
            .prop_map(|unscaled| decimal(unscaled, 3))
            .boxed(),
        "ts6" => (-3_000_i64..3_000)
            .prop_map(|nanos| Datum::Timestamp(TimestampValue::from_nanos(nanos)))
            .boxed(),
        name => value_of(name),
    };
    prop_oneof![1 => Just(Datum::Null), 6 => value_of(name), 3 => other_digits].boxed()
}

fn leaf() -> impl Strategy<Value = Predicate> {
    use PredicateOp::*;
    (proptest::sample::select(COLUMNS.to_vec()), 0_usize..15).prop_flat_map(|(name, op)| {
        let ops = [
            Eq, NotEq, Lt, LtEq, Gt, GtEq, IsNull, IsNotNull, In, NotIn, Between, StartsWith,
            EndsWith, Contains, Like,
        ];
        let op = match (name, ops[op]) {
            ("name", op) => op,
            ("raw", Like) => Eq,
            ("raw", op) => op,
            (_, StartsWith | EndsWith | Contains | Like) => NotEq,
            (_, op) => op,
        };
        let count = match op {
            IsNull | IsNotNull => 0..1,
            In | NotIn => 0..8,
            Between => 2..3,
            _ => 1..2,
        };
        proptest::collection::vec(literal(name), count)
            .prop_filter_map("a pattern that is none", move |literals| {
                Predicate::leaf(&row_type(), name, op, literals).ok()
            })
    })
}

fn predicate() -> impl Strategy<Value = Predicate> {
    leaf().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Predicate::and),
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Predicate::or),
            inner.prop_map(|part| part.negate()),
        ]
    })
}

fn rows() -> impl Strategy<Value = Vec<Vec<Datum>>> {
    let row: Vec<_> = COLUMNS
        .iter()
        .map(|name| prop_oneof![1 => Just(Datum::Null), 4 => value_of(name)].boxed())
        .collect();
    proptest::collection::vec(row, 1..8)
}

fn columns(rows: &[Vec<Datum>]) -> RecordBatch {
    let row = row_type();
    let positions = row.indices_of(&COLUMNS).unwrap();
    let row = row.project(&positions);
    let arrays = row.fields.iter().enumerate().map(|(at, field)| {
        let values: Vec<_> = rows.iter().map(|row| row[at].clone()).collect();
        datums_to_array(&field.data_type, &values).unwrap()
    });
    RecordBatch::try_new(to_arrow_schema(&row), arrays.collect()).unwrap()
}

/// The slow truth: SQL's three values, one row, one leaf at a time. Patterns go by recursion over characters.
fn truth(predicate: &Predicate, row: &[Datum]) -> Option<bool> {
    match predicate {
        Predicate::AlwaysTrue => Some(true),
        Predicate::AlwaysFalse => Some(false),
        Predicate::And(parts) => {
            let parts: Vec<_> = parts.iter().map(|part| truth(part, row)).collect();
            if parts.contains(&Some(false)) {
                Some(false)
            } else {
                parts.into_iter().collect::<Option<Vec<_>>>().map(|_| true)
            }
        }
        Predicate::Or(parts) => {
            let parts: Vec<_> = parts.iter().map(|part| truth(part, row)).collect();
            if parts.contains(&Some(true)) {
                Some(true)
            } else {
                parts.into_iter().collect::<Option<Vec<_>>>().map(|_| false)
            }
        }
        Predicate::Not(part) => truth(part, row).map(|truth| !truth),
        Predicate::Leaf {
            name, op, literals, ..
        } => {
            let value = &row[COLUMNS.iter().position(|column| column == name).unwrap()];
            let order = |at: usize| value.compare(&literals[at]);
            let one_of = || {
                let answers: Vec<_> = literals
                    .iter()
                    .map(|literal| value.compare(literal).map(|o| o.is_eq()))
                    .collect();
                if value.is_null() {
                    None
                } else if answers.contains(&Some(true)) {
                    Some(true)
                } else {
                    answers
                        .into_iter()
                        .collect::<Option<Vec<_>>>()
                        .map(|_| false)
                }
            };
            let bytes = |datum: &Datum| match datum {
                Datum::String(text) => Some(text.clone().into_bytes()),
                Datum::Bytes(bytes) => Some(bytes.clone()),
                _ => None,
            };
            let parts =
                |test: fn(&[u8], &[u8]) -> bool| Some(test(&bytes(value)?, &bytes(&literals[0])?));
            match op {
                PredicateOp::Eq => order(0).map(|o| o.is_eq()),
                PredicateOp::NotEq => order(0).map(|o| o.is_ne()),
                PredicateOp::Lt => order(0).map(|o| o.is_lt()),
                PredicateOp::LtEq => order(0).map(|o| o.is_le()),
                PredicateOp::Gt => order(0).map(|o| o.is_gt()),
                PredicateOp::GtEq => order(0).map(|o| o.is_ge()),
                PredicateOp::IsNull => Some(value.is_null()),
                PredicateOp::IsNotNull => Some(!value.is_null()),
                PredicateOp::In => one_of(),
                PredicateOp::NotIn => one_of().map(|truth| !truth),
                PredicateOp::Between => {
                    match (order(0).map(|o| o.is_ge()), order(1).map(|o| o.is_le())) {
                        (Some(false), _) | (_, Some(false)) => Some(false),
                        (low, high) => low.zip(high).map(|_| true),
                    }
                }
                PredicateOp::StartsWith => parts(<[u8]>::starts_with),
                PredicateOp::EndsWith => parts(<[u8]>::ends_with),
                PredicateOp::Contains => parts(|value, wanted| {
                    (0..=value.len()).any(|at| value[at..].starts_with(wanted))
                }),
                PredicateOp::Like => match (value, &literals[0]) {
                    (Datum::String(text), Datum::String(pattern)) => {
                        let (text, pattern): (Vec<char>, Vec<char>) =
                            (text.chars().collect(), pattern.chars().collect());
                        Some(like(&text, &pattern))
                    }
                    _ => None,
                },
            }
        }
    }
}

fn like(text: &[char], pattern: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['%', rest @ ..] => (0..=text.len()).any(|at| like(&text[at..], rest)),
        ['_', rest @ ..] => !text.is_empty() && like(&text[1..], rest),
        ['\\', c, rest @ ..] | [c, rest @ ..] => text.first() == Some(c) && like(&text[1..], rest),
    }
}

/// The exact statistics of rows.
struct Exact<'a>(&'a [Vec<Datum>]);

impl StatsSource for Exact<'_> {
    fn row_count(&self) -> i64 {
        i64::try_from(self.0.len()).unwrap()
    }

    fn column(&self, _field: usize, name: &str) -> ColumnStat {
        let at = COLUMNS.iter().position(|column| *column == name).unwrap();
        let values = self.0.iter().map(|row| &row[at]);
        let known = || values.clone().filter(|value| !value.is_null());
        ColumnStat {
            min: known().min_by(|a, b| a.compare(b).unwrap()).cloned(),
            max: known().max_by(|a, b| a.compare(b).unwrap()).cloned(),
            null_count: Some(
                i64::try_from(values.clone().filter(|value| value.is_null()).count()).unwrap(),
            ),
        }
    }
}

proptest! {
    /// Evaluation of columns equals the model row by row; so does that of the negation; and statistics never drop a
    /// file with a match.
    #[test]
    fn evaluation_agrees_with_the_model(predicate in predicate(), rows in rows()) {
        let batch = columns(&rows);
        let expected: Vec<_> = rows.iter().map(|row| truth(&predicate, row)).collect();
        let positions = |wanted: bool| -> Vec<usize> {
            (0..rows.len()).filter(|row| expected[*row] == Some(wanted)).collect()
        };
        prop_assert_eq!(matching(&predicate, &batch), positions(true), "{}", &predicate);
        prop_assert_eq!(matching(&predicate.negate(), &batch), positions(false), "{}", &predicate);
        let stats = Exact(&rows);
        prop_assert!(predicate.may_match(&stats) || positions(true).is_empty(), "{} drops a match", &predicate);
        prop_assert!(predicate.negate().may_match(&stats) || positions(false).is_empty(), "{} drops a match", &predicate);
    }

    /// Every match has one of the combinations of values; conjuncts of some columns hold wherever the whole does.
    #[test]
    fn rewritten_predicates_hold_where_the_whole_does(predicate in predicate(), rows in rows()) {
        let batch = columns(&rows);
        let found = matching(&predicate, &batch);
        let part = predicate.project_to(|name| ["id", "name", "price"].contains(&name));
        let part_found = matching(&part, &batch);
        prop_assert!(found.iter().all(|row| part_found.contains(row)));
        for names in [&["id"][..], &["price", "flag"]] {
            let Some(combinations) = predicate.equality_values(names) else { continue };
            for row in &found {
                let key: Vec<_> = names.iter().map(|name| {
                    rows[*row][COLUMNS.iter().position(|column| column == name).unwrap()].clone()
                }).collect();
                prop_assert!(combinations.contains(&key), "{}: {:?}", &predicate, key);
            }
        }
    }

    /// A predicate reads back from its text.
    #[test]
    fn text_reads_back(predicate in predicate()) {
        let written = predicate.to_string();
        let read = Predicate::parse_text(&written, &row_type());
        prop_assert!(read.is_ok(), "{}: {:?}", &written, read);
        prop_assert_eq!(read.unwrap(), predicate, "{}", written);
    }

    /// No text makes the reader panic, whatever it is made of.
    #[test]
    fn any_text_is_read_or_refused(
        garbage in "\\PC*",
        words in proptest::collection::vec(proptest::sample::select(vec![
            "id", "name", "`a b`", "\"d", "'", "'x'", "X'", "X'0f'", "(", ")", ",", "and", "or", "not", "in", "is", "null",
            "between", "like", "date", "'2024-01-01'", "=", "<", "<>", "-", "+", "1", "1e", "1e999999999", ".", ".5", "é",
            "starts_with", "true", "flag", "price", "ts9", "9999999999999999999999999999999999999999999",
        ]), 0..20),
        glue in "[ ]{0,1}",
    ) {
        let _ = Predicate::parse_text(&garbage, &row_type());
        let _ = Predicate::parse_text(&words.join(&glue), &row_type());
    }
}
