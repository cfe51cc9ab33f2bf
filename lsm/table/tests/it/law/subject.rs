//! A table beside its model.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::Int8Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use proptest::prelude::*;
use tidewater_format::{SchemaChange, SchemaDefinition, VALUE_KIND_COLUMN};
use tidewater_io::{CpuPool, Env, FileIo, MemoryBudget};
use tidewater_table::{
    CommitOptions, Committable, CompactScope, ScanBuilder, StreamMode, StreamOptions, Table,
    TableCommit, TableEnv, TableWrite, VerifyOptions, WriteOptions,
};
use tidewater_types::{
    DataField, DataType, Datum, Predicate, PredicateOp, RowKind, RowType, SnapshotId, TypeKind,
};

use super::model::{
    Change, Row, Rules, State, batch_of, holds, key_text, rows_of, seen_as, sorted, value_of, wider,
};
use super::{Act, Choice, Shape};

type Checked = Result<(), TestCaseError>;

/// What the model knows of a snapshot.
struct Moment {
    fields: Vec<DataField>,
    rows: Vec<Row>,
    /// What the snapshot's writer wrote; nothing for a compaction.
    written: Vec<Change>,
}

pub(super) struct Subject {
    shape: Shape,
    rules: Rules,
    table: Table,
    write: Option<TableWrite>,
    commit: TableCommit,
    state: State,
    pending: Vec<Change>,
    moments: BTreeMap<i64, Moment>,
    /// Files that writers left when they died.
    left: BTreeSet<String>,
    identifier: i64,
    names: u32,
    latest_fields: Vec<DataField>,
    _scratch: tempfile::TempDir,
}

fn definition(shape: &Shape) -> SchemaDefinition {
    let mut columns = vec![
        ("s", DataType::new(TypeKind::VarChar(12))),
        ("k", DataType::int().with_nullable(!shape.keyed)),
        ("p", DataType::string().with_nullable(!shape.keyed)),
        ("q", DataType::int()),
        ("v", DataType::int()),
        ("f", DataType::new(TypeKind::Float)),
        ("d", DataType::decimal(6, 2)),
        ("t", DataType::timestamp(3)),
        ("w", DataType::string()),
    ];
    if !shape.partitioned {
        columns.retain(|(name, _)| *name != "p");
    }
    let mut options = BTreeMap::new();
    let mut set = |key: &str, value: String| options.insert(key.to_owned(), value);
    set("bucket", shape.buckets.to_string());
    if !shape.keyed && shape.buckets > 0 {
        set("bucket-key", "k".to_owned());
    }
    if shape.changelog_input {
        set("changelog-producer", "input".to_owned());
    }
    if shape.sequence {
        set("sequence.field", "q".to_owned());
    }
    if shape.ignore_delete {
        set("ignore-delete", "true".to_owned());
    }
    if shape.thin {
        set("data-file.thin-mode", "true".to_owned());
    }
    if shape.write_only {
        set("write-only", "true".to_owned());
    }
    set("write-buffer-spillable", shape.spillable.to_string());
    set(
        "num-sorted-run.compaction-trigger",
        shape.trigger.to_string(),
    );
    set("compaction.min.file-num", "2".to_owned());
    set("target-file-size", format!("{} kb", shape.target_file_kib));
    set("source.split.target-size", "6 kb".to_owned());
    set("source.split.open-file-cost", "1 kb".to_owned());
    set("manifest.merge-min-count", "3".to_owned());
    set("manifest.target-file-size", "3 kb".to_owned());
    set("metadata.stats-mode", shape.stats.to_owned());
    set("read.batch-size", "7".to_owned());
    SchemaDefinition {
        fields: RowType::of(columns).fields,
        primary_keys: match (shape.keyed, shape.partitioned) {
            (false, _) => Vec::new(),
            (true, false) => vec!["k".to_owned()],
            (true, true) => vec!["k".to_owned(), "p".to_owned()],
        },
        partition_keys: if shape.partitioned {
            vec!["p".to_owned()]
        } else {
            Vec::new()
        },
        options,
        comment: None,
    }
}

impl Subject {
    pub(super) async fn create(shape: &Shape) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let env = Env::seeded(3);
        let env = TableEnv {
            env: env.clone(),
            cpu: CpuPool::inline(),
            memory: MemoryBudget::new(256 << 20),
            scratch: scratch.path().to_owned(),
        };
        let io = FileIo::memory().with_env(env.env.clone());
        let table = Table::create(env, io, "/w/db.db/t", "db.t", definition(shape))
            .await
            .unwrap()
            .unwrap();
        let fields = table.schema().fields.clone();
        let id = |name: &str| fields.iter().find(|field| field.name == name).unwrap().id;
        let rules = Rules {
            key: table
                .schema()
                .primary_keys
                .iter()
                .map(|name| id(name))
                .collect(),
            sequence: shape.sequence.then(|| id("q")),
        };
        let options = CommitOptions {
            user: "law".to_owned(),
        };
        Self {
            shape: shape.clone(),
            rules,
            write: None,
            commit: table.new_commit(options).unwrap(),
            state: State::default(),
            pending: Vec::new(),
            moments: BTreeMap::new(),
            left: BTreeSet::new(),
            identifier: 0,
            names: 0,
            latest_fields: fields,
            table,
            _scratch: scratch,
        }
    }

    pub(super) async fn perform(&mut self, act: &Act) -> Checked {
        match act {
            Act::Write(choices) => self.write(choices).await,
            Act::Commit { wait } => self.commit(*wait).await?,
            Act::Compact { full } => self.compact(*full).await?,
            Act::Reopen => {
                self.commit(true).await?;
                self.end_writer().await;
                self.table = self.table.reload().await.unwrap();
            }
            Act::Abandon { in_order } => self.abandon(*in_order).await,
            Act::AddColumn(seed) => {
                let types = [
                    DataType::int(),
                    DataType::string(),
                    DataType::double(),
                    DataType::timestamp(6),
                    DataType::boolean(),
                ];
                let change = SchemaChange::AddColumn {
                    path: vec![self.new_name()],
                    data_type: types[usize::from(*seed) % types.len()].clone(),
                    description: None,
                    position: None,
                };
                self.alter(change).await;
            }
            Act::Rename(seed) => {
                if let Some(field) = self.free_field(*seed, |_| true) {
                    let to = self.new_name();
                    let path = vec![field.name];
                    self.alter(SchemaChange::RenameColumn { path, to }).await;
                }
            }
            Act::Widen(seed) => {
                if let Some(field) =
                    self.free_field(*seed, |field| wider(&field.data_type).is_some())
                {
                    let change = SchemaChange::ChangeType {
                        path: vec![field.name],
                        data_type: wider(&field.data_type).unwrap(),
                        keep_nullability: false,
                    };
                    self.alter(change).await;
                }
            }
            Act::DropColumn(seed) => {
                if let Some(field) = self.free_field(*seed, |_| true) {
                    self.alter(SchemaChange::DropColumn {
                        path: vec![field.name],
                    })
                    .await;
                }
            }
            Act::Ask {
                column,
                op,
                seed,
                limit,
            } => self.ask(*column, *op, *seed, *limit).await?,
        }
        Ok(())
    }

    fn new_name(&mut self) -> String {
        self.names += 1;
        format!("n{}", self.names)
    }

    /// A column that may be changed: no key, no sequence, not the last one.
    fn free_field(&self, seed: u8, fits: impl Fn(&DataField) -> bool) -> Option<DataField> {
        let fixed = ["k", "p", "q"];
        let free: Vec<&DataField> = self
            .latest_fields
            .iter()
            .filter(|field| !fixed.contains(&field.name.as_str()) && fits(field))
            .collect();
        let at = usize::from(seed).checked_rem(free.len())?;
        (free.len() > 1).then(|| free[at].clone())
    }

    async fn alter(&mut self, change: SchemaChange) {
        let schema = self.table.alter(&[change]).await.unwrap();
        self.latest_fields = schema.fields.clone();
    }

    async fn writer(&mut self) -> &mut TableWrite {
        if self.write.is_none() {
            let options = WriteOptions {
                memory_bytes: Some(self.shape.memory_bytes),
            };
            self.write = Some(self.table.new_write(options).await.unwrap());
        }
        self.write.as_mut().unwrap()
    }

    async fn end_writer(&mut self) {
        if let Some(writer) = self.write.take() {
            writer.abort().await.unwrap();
        }
        self.pending.clear();
    }

    async fn abandon(&mut self, in_order: bool) {
        if in_order {
            self.end_writer().await;
            return;
        }
        self.write = None;
        self.pending.clear();
        // Compactions under way end by themselves.
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
        let report = self.table.verify(VerifyOptions { orphans: true }).await;
        self.left.extend(report.unwrap().orphans);
    }

    fn change(&self, state: &State, choice: &Choice, number: usize) -> Change {
        let kind = match choice.kind {
            _ if !self.shape.keyed => RowKind::Insert,
            0 | 1 => RowKind::Delete,
            2 => RowKind::UpdateBefore,
            3 => RowKind::UpdateAfter,
            _ => RowKind::Insert,
        };
        let mut row = Row::new();
        for (at, field) in self.table.schema().fields.iter().enumerate() {
            let seed = choice.seeds[at % 4].rotate_left(u32::try_from(at).unwrap());
            let value = match field.name.as_str() {
                "k" if !self.shape.keyed && choice.key == 0 => Datum::Null,
                "k" => Datum::Int(i32::from(choice.key) * 3 - 9),
                "p" => partition(choice.partition, self.shape.keyed),
                "q" => match seed % 8 {
                    0 => Datum::Null,
                    seed => Datum::Int(i32::from(seed)),
                },
                _ => value_of(&field.data_type, seed),
            };
            row.insert(field.id, value);
        }
        // A late row after a delete depends on whether a compaction has dropped the delete: not asked here.
        if let Some(sequence) = self.rules.sequence
            && state.is_deleted(&self.rules, &row)
        {
            let later = i32::try_from(1_000 + self.moments.len() * 1_000 + number).unwrap();
            row.insert(sequence, Datum::Int(later));
        }
        Change { kind, row }
    }

    async fn write(&mut self, choices: &[Choice]) {
        let fields = self.table.schema().fields.clone();
        let mut seen = self.state.clone();
        for change in &self.pending {
            seen.apply(&self.rules, change);
        }
        let mut changes = Vec::new();
        for choice in choices {
            let change = self.change(&seen, choice, self.pending.len() + changes.len());
            if !(self.shape.ignore_delete && change.kind.is_retract()) {
                seen.apply(&self.rules, &change);
            }
            changes.push(change);
        }
        let rows: Vec<&Row> = changes.iter().map(|change| &change.row).collect();
        let batch = batch_of(&fields, &rows);
        let kinds: Int8Array = changes
            .iter()
            .map(|change| Some(change.kind.as_i8()))
            .collect();
        let keyed = self.shape.keyed;
        let writer = self.writer().await;
        if keyed {
            writer.write_with_kinds(batch, kinds).await.unwrap();
        } else {
            writer.write(batch).await.unwrap();
        }
        if self.shape.ignore_delete {
            changes.retain(|change| !change.kind.is_retract());
        }
        self.pending.append(&mut changes);
    }

    async fn commit(&mut self, wait: bool) -> Checked {
        let messages = self.writer().await.prepare_commit(wait).await.unwrap();
        self.identifier += 1;
        let committable = Committable {
            identifier: self.identifier,
            messages,
            ..Committable::default()
        };
        let made = self.commit.commit(committable).await.unwrap();
        let mut written = std::mem::take(&mut self.pending);
        for change in &written {
            self.state.apply(&self.rules, change);
        }
        let rows: Vec<Row> = self.state.rows().into_iter().cloned().collect();
        for made in &made {
            let moment = Moment {
                fields: self.latest_fields.clone(),
                rows: rows.clone(),
                written: std::mem::take(&mut written),
            };
            self.moments.insert(made.id.0, moment);
        }
        for made in &made {
            self.check_snapshot(made.id).await?;
        }
        Ok(())
    }

    async fn compact(&mut self, full: bool) -> Checked {
        if self.shape.buckets < 0 || self.shape.write_only {
            self.commit(true).await?;
        }
        let writer = self.writer().await;
        writer
            .compact(&CompactScope::default(), full)
            .await
            .unwrap();
        self.commit(true).await
    }

    fn scan(&self, snapshot: i64) -> ScanBuilder {
        self.table.new_scan().snapshot(SnapshotId(snapshot))
    }

    async fn check_snapshot(&self, id: SnapshotId) -> Checked {
        let moment = &self.moments[&id.0];
        let scan = self.scan(id.0);
        let fields = scan.row_type().await.unwrap().fields;
        prop_assert_eq!(&fields, &moment.fields, "columns of snapshot {}", id);
        let got = sorted(read(&scan, &fields).await);
        let want = sorted(moment.rows.iter().map(|row| seen_as(row, &fields)));
        prop_assert_eq!(got, want, "rows of snapshot {}", id);
        let count = scan.count().await.unwrap();
        prop_assert_eq!(count, moment.rows.len() as u64, "count of snapshot {}", id);
        Ok(())
    }

    async fn ask(&self, column: u8, op: u8, seed: u16, limit: u8) -> Checked {
        let Some((id, moment)) = self
            .moments
            .iter()
            .nth_back(usize::from(seed % 3).min(self.moments.len().saturating_sub(1)))
        else {
            return Ok(());
        };
        let row_type = RowType::new(moment.fields.clone());
        let all: Vec<Vec<Datum>> = moment
            .rows
            .iter()
            .map(|row| seen_as(row, &row_type.fields))
            .collect();
        let first = self.leaf(&row_type, &all, column, op, seed);
        let second = self.leaf(&row_type, &all, column / 3, op / 2, seed / 5);
        let filter = match op % 3 {
            0 => Predicate::and([first, second]),
            1 => Predicate::or([first, second]),
            _ => first,
        };
        let matching: Vec<&Vec<Datum>> = all
            .iter()
            .filter(|row| holds(&filter, row) == Some(true))
            .collect();
        let kept: Vec<usize> = (0..row_type.len())
            .filter(|at| (seed >> (at % 13)) & 1 == 1)
            .rev()
            .collect();
        let projected = row_type.project(&kept).fields;
        let names: Vec<&str> = projected.iter().map(|field| field.name.as_str()).collect();
        let scan = self
            .scan(*id)
            .filter(filter.clone())
            .unwrap()
            .project(&names)
            .unwrap();
        let pick = |row: &Vec<Datum>| kept.iter().map(|at| row[*at].clone()).collect::<Vec<_>>();
        let want = sorted(matching.iter().map(|row| pick(row)));
        let got = sorted(read(&scan, &projected).await);
        prop_assert_eq!(&got, &want, "{:?} of snapshot {}", &filter, id);
        prop_assert_eq!(scan.count().await.unwrap(), want.len() as u64);
        let limit = usize::from(limit);
        let limited = scan.limit(limit);
        let some = sorted(read(&limited, &projected).await);
        prop_assert_eq!(
            some.len(),
            limit.min(want.len()),
            "limit {} of {:?}",
            limit,
            &filter
        );
        let mut left = want.clone();
        for row in some {
            let at = left.iter().position(|there| *there == row);
            prop_assert!(at.is_some(), "a limit makes up {}", row);
            left.swap_remove(at.unwrap());
        }
        prop_assert_eq!(limited.count().await.unwrap(), limit.min(want.len()) as u64);
        Ok(())
    }

    fn leaf(
        &self,
        row_type: &RowType,
        all: &[Vec<Datum>],
        column: u8,
        op: u8,
        seed: u16,
    ) -> Predicate {
        let at = usize::from(column) % row_type.len();
        let field = &row_type.fields[at];
        let known = |seed: u16| {
            let row = usize::from(seed).checked_rem(all.len());
            let value = match row {
                Some(row) if seed % 4 != 3 => all[row][at].clone(),
                _ => value_of(&field.data_type, seed),
            };
            match value {
                Datum::Null => value_of(&field.data_type.clone().not_null(), seed),
                value => value,
            }
        };
        let (op, literals) = match op % 9 {
            0 => (PredicateOp::Eq, vec![known(seed)]),
            1 => (PredicateOp::NotEq, vec![known(seed)]),
            2 => (PredicateOp::Lt, vec![known(seed)]),
            3 => (PredicateOp::LtEq, vec![known(seed)]),
            4 => (PredicateOp::Gt, vec![known(seed)]),
            5 => (PredicateOp::GtEq, vec![known(seed)]),
            6 => (
                PredicateOp::In,
                vec![known(seed), known(seed / 2), known(seed / 3)],
            ),
            7 => (PredicateOp::Between, vec![known(seed), known(seed / 2)]),
            _ if seed.is_multiple_of(2) => (PredicateOp::IsNull, Vec::new()),
            _ => (PredicateOp::IsNotNull, Vec::new()),
        };
        Predicate::leaf(row_type, &field.name, op, literals).unwrap()
    }

    /// Every snapshot once more, with the newest schema's handle; then what a follower sees; then every byte.
    pub(super) async fn check_whole_history(&mut self) -> Checked {
        self.end_writer().await;
        self.table = self.table.reload().await.unwrap();
        let ids: Vec<i64> = self.moments.keys().copied().collect();
        let there = self.table.log().snapshots().list_ids().await.unwrap();
        prop_assert_eq!(&ids, &there.iter().map(|id| id.0).collect::<Vec<_>>());
        for id in ids {
            self.check_snapshot(SnapshotId(id)).await?;
        }
        self.check_stream().await?;
        let report = self.table.verify(VerifyOptions { orphans: true }).await;
        let report = report.unwrap();
        prop_assert_eq!(&report.faults, &[]);
        let orphans: Vec<&String> = report
            .orphans
            .iter()
            .filter(|orphan| !self.left.contains(*orphan))
            .collect();
        prop_assert!(orphans.is_empty(), "orphans {:?}", orphans);
        Ok(())
    }

    async fn check_stream(&self) -> Checked {
        let options = StreamOptions {
            mode: StreamMode::FromSnapshot(SnapshotId(1)),
            ..StreamOptions::default()
        };
        let mut stream = self.table.new_stream(options).unwrap();
        let fields = self.table.schema().fields.clone();
        let mut shown: BTreeMap<i64, Vec<(RowKind, Vec<Datum>)>> = BTreeMap::new();
        while let Some(plan) = stream.plan_next().await.unwrap() {
            let into = shown.entry(plan.snapshot.0).or_default();
            let mut rows = stream.read(plan).await.unwrap();
            while let Some(batch) = rows.next_batch().await.unwrap() {
                let kinds = batch.column_by_name(VALUE_KIND_COLUMN).unwrap();
                let kinds = kinds.as_primitive::<Int8Type>().values().to_vec();
                for (kind, row) in kinds.into_iter().zip(rows_of(&batch, &fields)) {
                    into.push((RowKind::from_i8(kind).unwrap(), row));
                }
            }
        }
        let mut replayed = State::default();
        for (id, moment) in &self.moments {
            let shown = shown.remove(id).unwrap_or_default();
            let written: Vec<(RowKind, Vec<Datum>)> = moment
                .written
                .iter()
                .map(|change| (change.kind, seen_as(&change.row, &fields)))
                .collect();
            if !self.shape.keyed || self.shape.changelog_input {
                prop_assert_eq!(texts(&shown), texts(&written), "changes of snapshot {}", id);
            } else {
                let written = texts(&written);
                for row in texts(&shown) {
                    prop_assert!(written.contains(&row), "snapshot {} shows {}", id, row);
                }
            }
            let by_id =
                |row: Vec<Datum>| -> Row { fields.iter().map(|field| field.id).zip(row).collect() };
            let changes: Vec<Change> = shown
                .into_iter()
                .map(|(kind, row)| Change {
                    kind,
                    row: by_id(row),
                })
                .collect();
            self.check_folded(*id, moment, &changes)?;
            for change in &changes {
                replayed.apply(&self.rules, change);
            }
            let got = sorted(replayed.rows().into_iter().map(|row| seen_as(row, &fields)));
            let want = sorted(moment.rows.iter().map(|row| seen_as(row, &fields)));
            prop_assert_eq!(got, want, "the replay up to snapshot {}", id);
        }
        prop_assert!(shown.is_empty(), "changes of unknown snapshots {:?}", shown);
        Ok(())
    }

    /// The changes shown of one snapshot fold to what was written folds to, key by key.
    fn check_folded(&self, id: i64, moment: &Moment, changes: &[Change]) -> Checked {
        if !self.shape.keyed {
            return Ok(());
        }
        let fields = &self.table.schema().fields;
        let fold = |changes: &[Change]| {
            let mut state = State::default();
            for change in changes {
                state.apply(&self.rules, change);
            }
            let newest = state.newest().values().map(|change| {
                let key = key_text(&self.rules, &change.row);
                format!("{key} {:?} {:?}", change.kind, seen_as(&change.row, fields))
            });
            newest.collect::<Vec<_>>()
        };
        prop_assert_eq!(
            fold(changes),
            fold(&moment.written),
            "the fold of snapshot {}",
            id
        );
        Ok(())
    }
}

fn partition(choice: u8, keyed: bool) -> Datum {
    match choice {
        0 => Datum::String("a b/%=ü".to_owned()),
        1 if keyed => Datum::String(String::from("x")),
        1 => Datum::Null,
        _ => Datum::String("2024-02-29".to_owned()),
    }
}

fn texts(rows: &[(RowKind, Vec<Datum>)]) -> Vec<String> {
    let mut texts: Vec<String> = rows
        .iter()
        .map(|(kind, row)| format!("{kind:?} {row:?}"))
        .collect();
    texts.sort_unstable();
    texts
}

async fn read(scan: &ScanBuilder, fields: &[DataField]) -> Vec<Vec<Datum>> {
    let mut stream = scan.read().await.unwrap();
    let mut rows = Vec::new();
    while let Some(batch) = stream.next_batch().await.unwrap() {
        rows.extend(rows_of(&batch, fields));
    }
    rows
}
