//! A random table, the rows to write into it, and what it must hold in the end; all from one seed.
//!
//! Tables are append tables (with and without buckets) and keyed deduplicate tables; types, partitions, options and the key space come
//! from the seed. The model is a map by key, or a list for append tables; with a sequence field the table decides, so there is none.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::canonical::canonical;
use crate::random::SeededRandom;
use crate::values::ValueGen;

const KEY_TYPES: &[&str] = &[
    "INT",
    "BIGINT",
    "STRING",
    "VARCHAR(30)",
    "DATE",
    "SMALLINT",
    "DECIMAL(12, 2)",
    "TIMESTAMP(3)",
    "TIMESTAMP(6)",
    "BOOLEAN",
];
const VALUE_TYPES: &[&str] = &[
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(9, 3)",
    "DECIMAL(18, 0)",
    "DECIMAL(38, 10)",
    "CHAR(12)",
    "STRING",
    "VARCHAR(20)",
    "BYTES",
    "BINARY(4)",
    "VARBINARY(9)",
    "DATE",
    "TIMESTAMP(0)",
    "TIMESTAMP(3)",
    "TIMESTAMP(6)",
    "TIMESTAMP(9)",
    "TIMESTAMP(3) WITH LOCAL TIME ZONE",
    "TIMESTAMP(6) WITH LOCAL TIME ZONE",
    "TIME(3)",
];
const SEQUENCE_TYPES: &[&str] = &["INT", "BIGINT", "DATE", "SMALLINT", "TIMESTAMP(3)"];

fn nested_types() -> Vec<Value> {
    vec![
        json!({"type": "ARRAY", "element": "INT"}),
        json!({"type": "ARRAY", "element": "STRING"}),
        json!({"type": "MAP", "key": "STRING NOT NULL", "value": "INT"}),
        json!({"type": "MAP", "key": "INT NOT NULL", "value": {"type": "ARRAY", "element": "DOUBLE"}}),
        json!({"type": "MULTISET", "element": "STRING NOT NULL"}),
        json!({"type": "ROW", "fields": [{"name": "a", "type": "INT"}, {"name": "b", "type": "STRING"}]}),
        json!({"type": "ROW", "fields": [{"name": "x", "type": "DECIMAL(10, 2)"},
            {"name": "y", "type": {"type": "ARRAY", "element": {"type": "ROW", "fields": [{"name": "z", "type": "TIMESTAMP(3)"}]}}}]}),
    ]
}

/// What random tables may use.
#[derive(Debug, Clone)]
pub struct WorkloadOptions {
    /// Values of `changelog-producer` to choose from.
    pub changelog_producers: Vec<&'static str>,
    /// Whether some keyed tables order rows of a key by a column.
    pub sequence_fields: bool,
    /// Whether rows are deleted from keyed tables.
    pub deletes: bool,
}

impl Default for WorkloadOptions {
    fn default() -> Self {
        Self {
            changelog_producers: vec!["none", "none", "input"],
            sequence_fields: true,
            deletes: true,
        }
    }
}

/// Whether rows have a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    /// No primary key.
    Append,
    /// A primary key; the newest row of a key wins.
    Keyed,
}

/// A row to write.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// `+I` or `-D`.
    pub kind: &'static str,
    /// The row, complete.
    pub row: Value,
}

impl Change {
    /// The input line of `write`.
    pub fn to_line(&self) -> Value {
        json!({"kind": self.kind, "row": self.row})
    }
}

/// A random table and its rows.
#[derive(Debug)]
pub struct Workload {
    /// Whether rows have a key.
    pub kind: TableKind,
    /// The table as the `create` command takes it.
    pub schema: Value,
    /// Primary key columns.
    pub primary_keys: Vec<String>,
    seed: u64,
    fields: Vec<Value>,
    random: SeededRandom,
    values: ValueGen,
    key_space: usize,
    fixed: Vec<Fixed>,
    deletes: bool,
    modelled: bool,
    live: BTreeMap<String, Value>,
    appended: Vec<Value>,
}

/// A partition column and the few values it takes.
#[derive(Debug)]
struct Fixed {
    name: String,
    values: Vec<Value>,
}

impl Workload {
    /// The table that belongs to `seed`.
    pub fn new(seed: u64, options: &WorkloadOptions) -> Self {
        let mut random = SeededRandom::labelled(seed, "table");
        let kind = if random.chance(60) {
            TableKind::Keyed
        } else {
            TableKind::Append
        };
        let keyed = kind == TableKind::Keyed;
        let mut columns: Vec<(String, Value)> = Vec::new();
        let mut primary_keys = Vec::new();
        if keyed {
            for index in 0..random.choose(&[1_usize, 1, 2, 3]) {
                // The last type, BOOLEAN, makes a key of two values: never alone.
                let types = if index == 0 {
                    KEY_TYPES.split_last().map_or(KEY_TYPES, |(_, rest)| rest)
                } else {
                    KEY_TYPES
                };
                columns.push((
                    format!("k{index}"),
                    Value::from(random.choose(types).to_owned() + " NOT NULL"),
                ));
            }
        }
        let mut partition_keys = Vec::new();
        for index in 0..random.choose(&[0_usize, 0, 1, 2]) {
            let name = format!("p{index}");
            let data_type = random.choose(&["INT", "STRING", "DATE"]).to_owned()
                + if keyed { " NOT NULL" } else { "" };
            columns.push((name.clone(), Value::from(data_type)));
            partition_keys.push(name);
        }
        let nested = nested_types();
        for index in 0..random.between(1, 7) {
            let data_type = if random.chance(20) {
                random.choose(&nested)
            } else {
                Value::from(random.choose(VALUE_TYPES))
            };
            columns.push((format!("v{index}"), data_type));
        }
        random.shuffle(&mut columns);
        if keyed {
            primary_keys = columns
                .iter()
                .filter(|(name, _)| !name.starts_with('v'))
                .map(|(name, _)| name.clone())
                .collect();
        }
        let table_options = table_options(&mut random, kind, &columns, options);
        let fixed = partition_values(seed, keyed, &columns, &partition_keys);
        let fields: Vec<Value> = columns
            .iter()
            .map(|(name, data_type)| json!({"name": name, "type": data_type}))
            .collect();
        let modelled = !table_options.contains_key("sequence.field");
        let schema = json!({
            "fields": fields, "primaryKeys": primary_keys, "partitionKeys": partition_keys, "options": table_options,
        });
        let null_percent = random.choose(&[0, 10, 40]);
        let key_space = random.choose(&[8, 30, 150]);
        Self {
            kind,
            schema,
            primary_keys,
            seed,
            fields,
            values: ValueGen::new(SeededRandom::labelled(seed, "values"), 12, null_percent),
            random,
            key_space,
            fixed,
            deletes: keyed && options.deletes,
            modelled,
            live: BTreeMap::new(),
            appended: Vec::new(),
        }
    }

    /// The next `count` rows; the model takes them in as written in this order.
    pub fn rows(&mut self, count: usize) -> Vec<Change> {
        (0..count).map(|_| self.next_row()).collect()
    }

    /// What the table must hold after all rows handed out so far, as `{"row":…}` lines; none where the model cannot tell.
    pub fn expected(&self) -> Option<Vec<Value>> {
        let rows: Vec<&Value> = match self.kind {
            TableKind::Keyed => self.live.values().collect(),
            TableKind::Append => self.appended.iter().collect(),
        };
        self.modelled
            .then(|| rows.into_iter().map(|row| json!({"row": row})).collect())
    }

    /// The source of further choices about this table, such as who writes next.
    pub fn random(&mut self) -> &mut SeededRandom {
        &mut self.random
    }

    fn next_row(&mut self) -> Change {
        let mut row = self.values.row(&self.fields);
        let index = self.random.below(self.key_space);
        let given = match self.kind {
            TableKind::Keyed => self.key_row(index),
            TableKind::Append => self
                .fixed
                .iter()
                .map(|column| (column.name.clone(), self.random.choose(&column.values)))
                .collect(),
        };
        if let Value::Object(members) = &mut row {
            members.extend(given);
        }
        if self.kind == TableKind::Append {
            self.appended.push(row.clone());
            return Change { kind: "+I", row };
        }
        let key = self
            .primary_keys
            .iter()
            .map(|key| canonical(row.get(key).unwrap_or(&Value::Null)))
            .collect::<Vec<_>>()
            .join(",");
        if self.deletes && self.random.chance(18) {
            let row = self.live.remove(&key).unwrap_or(row);
            return Change { kind: "-D", row };
        }
        self.live.insert(key, row.clone());
        Change { kind: "+I", row }
    }

    /// Key and partition values of the key with this number; the same each time.
    fn key_row(&self, index: usize) -> Map<String, Value> {
        let mut values = ValueGen::new(
            SeededRandom::labelled(self.seed, &format!("key {index}")),
            10,
            0,
        );
        let mut random = SeededRandom::labelled(self.seed, &format!("partition {index}"));
        self.fields
            .iter()
            .filter_map(|field| {
                let name = field.get("name")?.as_str()?;
                if !self.primary_keys.iter().any(|key| key == name) {
                    return None;
                }
                let value = match self.fixed.iter().find(|column| column.name == name) {
                    Some(column) => random.choose(&column.values),
                    None => values.value(field.get("type")?),
                };
                Some((name.to_owned(), value))
            })
            .collect()
    }
}

fn table_options(
    random: &mut SeededRandom,
    kind: TableKind,
    columns: &[(String, Value)],
    options: &WorkloadOptions,
) -> Map<String, Value> {
    let mut chosen = Map::new();
    let mut set = |key: &str, value: &str| chosen.insert(key.to_owned(), Value::from(value));
    set("file.format", "parquet");
    let values_of = |types: &[&str]| {
        columns
            .iter()
            .filter(|(name, data_type)| {
                name.starts_with('v')
                    && data_type.as_str().is_some_and(|text| types.contains(&text))
            })
            .map(|(name, _)| name.clone())
            .collect::<Vec<_>>()
    };
    match kind {
        TableKind::Keyed => {
            set("bucket", random.choose(&["1", "1", "2", "4"]));
            let producer = random.choose(&options.changelog_producers);
            if !matches!(producer, "" | "none") {
                set("changelog-producer", producer);
            }
            let ordered = values_of(SEQUENCE_TYPES);
            if options.sequence_fields && !ordered.is_empty() && random.chance(20) {
                set("sequence.field", &random.choose(&ordered));
            }
            if random.chance(50) {
                set(
                    "num-sorted-run.compaction-trigger",
                    random.choose(&["2", "3", "4"]),
                );
            }
            if random.chance(40) {
                set("target-file-size", random.choose(&["2kb", "8kb", "40kb"]));
            }
        }
        TableKind::Append => {
            let bucket_keys = values_of(&["INT", "STRING", "DATE"]);
            if !bucket_keys.is_empty() && random.chance(40) {
                set("bucket", random.choose(&["1", "2", "3"]));
                set("bucket-key", &random.choose(&bucket_keys));
            }
            set("compaction.min.file-num", "2");
        }
    }
    if random.chance(50) {
        set(
            "file.compression",
            random.choose(&["zstd", "snappy", "gzip", "lz4"]),
        );
    }
    chosen
}

/// Three values, short enough for a folder name, of each partition column.
fn partition_values(
    seed: u64,
    keyed: bool,
    columns: &[(String, Value)],
    partition_keys: &[String],
) -> Vec<Fixed> {
    let null_percent = if keyed { 0 } else { 10 };
    partition_keys
        .iter()
        .map(|name| {
            let mut values = ValueGen::new(SeededRandom::labelled(seed, name), 10, null_percent);
            let data_type = columns
                .iter()
                .find(|(column, _)| column == name)
                .map_or(&Value::Null, |(_, data_type)| data_type);
            let values = (0..3)
                .map(|_| match values.value(data_type) {
                    Value::String(text) if text.len() >= 60 => {
                        Value::from(text.chars().take(15).collect::<String>())
                    }
                    value => value,
                })
                .collect();
            Fixed {
                name: name.clone(),
                values,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_table_and_rows() {
        let make = |seed| {
            let mut workload = Workload::new(seed, &WorkloadOptions::default());
            let rows = workload.rows(40);
            (workload.schema.clone(), rows, workload.expected())
        };
        for seed in 0..40 {
            assert_eq!(make(seed), make(seed));
        }
    }

    #[test]
    fn keyed_tables_hold_one_row_a_key_and_keys_stay_in_their_partition() {
        let mut seen = 0;
        for seed in 0..60 {
            let mut workload = Workload::new(seed, &WorkloadOptions::default());
            if workload.kind == TableKind::Append {
                continue;
            }
            seen += 1;
            let rows = workload.rows(100);
            let key = |row: &Value| {
                workload
                    .primary_keys
                    .iter()
                    .map(|name| canonical(&row[name]))
                    .collect::<Vec<_>>()
            };
            let mut model = BTreeMap::new();
            for change in &rows {
                match change.kind {
                    "-D" => model.remove(&key(&change.row)),
                    _ => model.insert(key(&change.row), change.row.clone()),
                };
            }
            if let Some(expected) = workload.expected() {
                assert_eq!(expected.len(), model.len());
            }
        }
        assert!(seen > 10);
    }
}
