//! Java's scenarios: each commit flushed and merged, table and changelog compared.
//!
//! Left to the store, which has files: snapshots and file metadata, record-level expiry (`record-expire`), and float keys,
//! of which Java makes several rows (`key-order-double`, `key-order-float`; see spec 02a §1.4).

use super::bucket::{Bucket, Row, Run};
use super::*;
use crate::testing::vector;

const LEFT_TO_THE_STORE: [&str; 3] = ["record-expire", "key-order-double", "key-order-float"];

/// Refused at create here, at the first write in Java.
const REFUSED_EARLIER: [&str; 1] = ["agg-sum-bad-type"];

/// Totals that Java 1.3 lets wrap: here an option must ask for it.
const WRAPS: [&str; 3] = [
    "agg-sum-decimal-overflow",
    "agg-sum-int-overflow",
    "agg-sum-tinyint-overflow",
];

/// The order of what comes out of Java's hash maps means nothing.
const UNORDERED: [&str; 3] = [
    "agg-collect-distinct",
    "agg-merge-map",
    "agg-nested-update-keyed",
];

/// Where we differ from Java on purpose: (scenario, first batch that differs, what the table holds then, why).
fn differs(name: &str, batch: usize, types: &[DataType]) -> Option<Vec<Vec<ModelValue>>> {
    let rows = match (name, batch) {
        // The write buffer of 1.3 sorts the sequence field ascending whatever the option says (spec 02b §2.2).
        ("dedup-sequence-field-descending-same-batch", 0 | 1) => json!([[1, 5, "five"]]),
        // first_non_null_value is the earliest by sequence columns, whatever came when (spec 02b §7).
        ("partial-seqgroup-default-agg-first-non-null", 2) => json!([[1, 10, 7, 2, 3]]),
        ("partial-seqgroup-agg-first-non-null", 2) => json!([[1, 10, 3, null]]),
        _ => return None,
    };
    let rows = rows.as_array().unwrap().iter();
    let row = |row: &Value| -> Vec<ModelValue> {
        let values = row.as_array().unwrap().iter().zip(types);
        values
            .map(|(json, data_type)| value(json, data_type))
            .collect()
    };
    Some(rows.map(row).collect())
}

struct Play {
    producer: String,
    bucket: Bucket,
    types: Vec<DataType>,
    unordered: bool,
    lookup: bool,
    gentle: bool,
    trigger: usize,
    auto_full: bool,
}

#[test]
fn scenarios_give_the_rows_and_the_changelog_of_java() {
    let file = vector("02-merge-engine-scenarios.json");
    let scenarios = file["scenarios"].as_array().unwrap();
    assert_eq!(scenarios.len(), 132);
    let mut played = 0;
    for scenario in scenarios {
        let name = scenario["name"].as_str().unwrap();
        if LEFT_TO_THE_STORE.contains(&name) {
            continue;
        }
        for (producer, result) in scenario["results"].as_object().unwrap() {
            let created = create_table(scenario, producer);
            let refused = result.get("create_error").is_some() || REFUSED_EARLIER.contains(&name);
            assert_eq!(created.is_err(), refused, "{name} {producer}: {created:?}");
            if let Ok(schema) = created {
                play(scenario, producer, schema, result);
                played += 1;
            }
        }
    }
    assert!(played > 300, "{played}");
}

fn create_table(scenario: &Value, producer: &str) -> tidewater_format::Result<TableSchema> {
    let name = scenario["name"].as_str().unwrap();
    let fields: Vec<(&str, Value)> = scenario["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|field| (field[0].as_str().unwrap(), field[1].clone()))
        .collect();
    let key: Vec<&str> = scenario["pk"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    let mut options: Vec<(&str, &str)> = scenario["options"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str().unwrap()))
        .collect();
    options.push(("changelog-producer", producer));
    if WRAPS.contains(&name) {
        options.push(("fields.v.sum.fail-on-overflow", "false"));
    }
    create(&fields, &key, &options)
}

fn play(scenario: &Value, producer: &str, schema: TableSchema, result: &Value) {
    let name = scenario["name"].as_str().unwrap();
    let types: Vec<DataType> = schema
        .fields
        .iter()
        .map(|field| field.data_type.clone())
        .collect();
    let bucket = Bucket::new(schema).unwrap();
    let lookup = producer == "lookup"
        || bucket.options.deletion_vectors_enabled
        || bucket.options.force_lookup
        || matches!(bucket.engine, MergeEngine::FirstRow { .. });
    let option = |key: &str| scenario["options"].get(key).and_then(Value::as_str);
    let mut play = Play {
        producer: producer.to_owned(),
        types,
        unordered: UNORDERED.iter().any(|start| name.starts_with(start)),
        lookup,
        gentle: option("lookup-compact") == Some("gentle"),
        trigger: option("num-sorted-run.compaction-trigger")
            .map_or(5, |text| text.parse().unwrap()),
        auto_full: scenario.get("no_auto_full").is_none(),
        bucket,
    };
    let batches = scenario["batches"].as_array().unwrap();
    let expected = result["batches"].as_array().unwrap();
    let mut differed = false;
    for (at, (batch, expected)) in batches.iter().zip(expected).enumerate() {
        let place = format!("{name} {producer} batch {at}");
        let saved = (play.bucket.level0.clone(), play.bucket.base.clone());
        let log = play.commit(batch.as_array().unwrap());
        let fails = expected.get("write_error").is_some();
        assert_eq!(log.is_err(), fails, "{place}: {log:?}");
        let Ok(log) = log else {
            (play.bucket.level0, play.bucket.base) = saved;
            continue;
        };
        let merged = play.scan();
        let read_fails = expected.get("read_error").is_some();
        assert_eq!(merged.is_err(), read_fails, "{place}: {merged:?}");
        if let Ok(merged) = merged {
            let ours = differs(name, at, &play.types);
            differed |= ours.is_some();
            let wanted = ours.unwrap_or_else(|| {
                let rows = expected["merged"].as_array().unwrap().iter();
                rows.map(|row| play.row(row.as_array().unwrap())).collect()
            });
            assert_eq!(play.sorted(merged), play.sorted(wanted), "{place}");
        }
        if !differed {
            play.compare_log(log, &expected["changelog"], &place);
        }
    }
    if !differed
        && !play.lookup
        && let Some(wanted) = result.get("merged_after_full_compaction")
    {
        play.full_compaction().unwrap();
        let wanted = wanted.as_array().unwrap().iter();
        let wanted = wanted
            .map(|row| play.row(row.as_array().unwrap()))
            .collect();
        let merged = play.scan().unwrap();
        assert_eq!(
            play.sorted(merged),
            play.sorted(wanted),
            "{name} {producer}"
        );
    }
}

impl Play {
    fn row(&self, json: &[Value]) -> Vec<ModelValue> {
        let values = json.iter().zip(&self.types);
        values
            .map(|(json, data_type)| value(json, data_type))
            .collect()
    }

    /// Writes a batch and compacts as the table would. Answers the changelog.
    fn commit(&mut self, batch: &[Value]) -> Result<Vec<Row>> {
        let row_kind_field = self.bucket.options.rowkind_field.clone();
        let row_kind_field = row_kind_field.and_then(|name| {
            let mut fields = self.bucket.schema.fields.iter();
            fields.position(|field| field.name == name)
        });
        let written: Vec<Row> = batch
            .iter()
            .filter_map(Value::as_array)
            .map(|record| {
                let kind = row_kind_field.map_or(&record[0], |at| &record[at + 1]);
                let kind = RowKind::from_short(kind.as_str().unwrap()).unwrap();
                (kind, self.row(&record[1..]))
            })
            .collect();
        let asked = batch.iter().any(Value::is_string);
        let (raw, merged) = self.bucket.flush(&written)?;
        let mut log = match self.producer.as_str() {
            "input" => raw,
            "none" => merged,
            _ => Vec::new(),
        };
        let level0 = self.bucket.level0.len();
        let runs = level0 + usize::from(self.bucket.base.is_some());
        let full = asked || (self.producer == "full-compaction" && self.auto_full);
        if self.lookup && level0 > 0 && (!self.gentle || runs >= self.trigger) {
            let changes = self.lookup_compaction()?;
            if self.producer == "lookup" {
                log = changes;
            }
        } else if full {
            let changes = self.full_compaction()?;
            if self.producer == "full-compaction" {
                log = changes;
            }
        }
        Ok(log)
    }

    fn lookup_compaction(&mut self) -> Result<Vec<Row>> {
        let bucket = &self.bucket;
        let before = bucket.by_key(
            bucket
                .base
                .iter()
                .flat_map(|run| bucket.rows_of(run))
                .collect(),
        );
        let merged = bucket.merge(&bucket.runs(), true)?;
        let touched: Vec<String> = bucket
            .level0
            .iter()
            .flat_map(|run| bucket.rows_of(run))
            .map(|(_, row)| bucket.key_of(&row))
            .collect();
        // A single level-0 file without retractions only changes its level (spec 02b §5.4).
        let upgrades = match bucket.level0.as_slice() {
            [only] if bucket.base.is_none() => only.kinds.values().iter().all(|kind| kind & 1 == 0),
            _ => false,
        };
        let first_row = matches!(bucket.engine, MergeEngine::FirstRow { .. });
        let mut log = Vec::new();
        for after in bucket.rows_of(&merged) {
            let key = bucket.key_of(&after.1);
            if !touched.contains(&key) {
                continue;
            }
            match before.get(&key) {
                Some(_) if first_row => {}
                None if first_row => log.push(after),
                before => self.transition(before, after, &mut log),
            }
        }
        let run: Run = if upgrades {
            bucket.level0[0].clone()
        } else {
            merged
        };
        self.bucket.store(&run);
        Ok(log)
    }

    fn full_compaction(&mut self) -> Result<Vec<Row>> {
        let bucket = &self.bucket;
        let before = bucket.by_key(
            bucket
                .base
                .iter()
                .flat_map(|run| bucket.rows_of(run))
                .collect(),
        );
        let touched: Vec<String> = bucket
            .level0
            .iter()
            .flat_map(|run| bucket.rows_of(run))
            .map(|(_, row)| bucket.key_of(&row))
            .collect();
        let merged = bucket.merge(&bucket.runs(), false)?;
        let mut log = Vec::new();
        for after in bucket.rows_of(&merged) {
            let key = bucket.key_of(&after.1);
            if touched.contains(&key) {
                self.transition(before.get(&key), after, &mut log);
            }
        }
        self.bucket.store(&merged);
        Ok(log)
    }

    /// Spec 02b §9.3.
    fn transition(&self, before: Option<&Row>, after: Row, log: &mut Vec<Row>) {
        let gone = after.0.is_retract();
        match before.filter(|(kind, _)| !kind.is_retract()) {
            None if gone => {}
            None => log.push((RowKind::Insert, after.1)),
            Some((_, before)) if gone => log.push((RowKind::Delete, before.clone())),
            Some((_, before)) if self.same(before, &after.1) => {}
            Some((_, before)) => {
                log.push((RowKind::UpdateBefore, before.clone()));
                log.push((RowKind::UpdateAfter, after.1));
            }
        }
    }

    fn same(&self, left: &[ModelValue], right: &[ModelValue]) -> bool {
        let options = &self.bucket.options;
        let ignored = options
            .changelog_producer_row_deduplicate_ignore_fields
            .as_ref();
        let ignored = ignored.map_or(&[][..], |names| names.names());
        let fields = self.bucket.schema.fields.iter();
        options.changelog_producer_row_deduplicate
            && fields
                .zip(left.iter().zip(right))
                .all(|(field, (left, right))| left == right || ignored.contains(&field.name))
    }

    fn scan(&self) -> Result<Vec<Vec<ModelValue>>> {
        let level0_hidden = self.bucket.options.deletion_vectors_enabled
            || matches!(self.bucket.engine, MergeEngine::FirstRow { .. });
        if level0_hidden {
            let base = self.bucket.base.iter();
            let rows = base.flat_map(|run| self.bucket.rows_of(run));
            return Ok(rows.map(|(_, row)| row).collect());
        }
        self.bucket.visible()
    }

    fn sorted(&self, rows: Vec<Vec<ModelValue>>) -> Vec<String> {
        let mut shown: Vec<String> = rows.into_iter().map(|row| self.shown(row)).collect();
        shown.sort();
        shown
    }

    fn shown(&self, row: Vec<ModelValue>) -> String {
        let row: Vec<ModelValue> = if self.unordered {
            row.into_iter().map(in_any_order).collect()
        } else {
            row
        };
        format!("{row:?}")
    }

    fn compare_log(&self, log: Vec<Row>, wanted: &Value, place: &str) {
        let wanted = wanted.as_array().unwrap().iter();
        let wanted = wanted.map(|record| {
            let record = record.as_array().unwrap();
            let kind = RowKind::from_short(record[0].as_str().unwrap()).unwrap();
            (kind, self.row(&record[1..]))
        });
        // Order counts inside a key only.
        let shown = |log: Vec<Row>| {
            let mut shown: Vec<(String, String)> = log
                .into_iter()
                .map(|(kind, row)| {
                    let key = self.bucket.key_of(&row);
                    (key, format!("{} {}", kind.short(), self.shown(row)))
                })
                .collect();
            shown.sort_by(|left, right| left.0.cmp(&right.0));
            shown
        };
        assert_eq!(shown(log), shown(wanted.collect()), "{place} changelog");
    }
}

fn in_any_order(value: ModelValue) -> ModelValue {
    match value {
        ModelValue::List(mut elements) => {
            elements.sort_by_key(|element| format!("{element:?}"));
            ModelValue::List(elements)
        }
        ModelValue::Map(mut entries) => {
            entries.sort_by_key(|entry| format!("{entry:?}"));
            ModelValue::Map(entries)
        }
        other => other,
    }
}
