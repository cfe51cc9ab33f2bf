//! Schemas, snapshots and what they add up to.

use std::collections::{BTreeMap, HashMap, HashSet};

use tidewater_format::{
    CommitKind, FileIdentity, FileKind, ManifestEntry, ManifestFileMeta, Snapshot, TableSchema,
    Tag, parse_hint, versioned_file_number,
};
use tidewater_merge::KeyComparator;
use tidewater_types::{BinaryRow, SchemaId, SnapshotId};

use super::VerifyReport;
use super::index::IndexCheck;
use super::reached::{Reached, read, size};
use crate::error::Result;
use crate::table_log::TableLog;

/// Walks a table's history.
pub(super) struct History<'a> {
    log: &'a TableLog,
    keys: Option<KeyComparator>,
    schemas: HashSet<SchemaId>,
    reached: Reached,
    index: IndexCheck,
    report: VerifyReport,
}

/// The files of one state.
#[derive(Debug, Default)]
struct LiveFiles {
    /// In the order in which they came; those that went are gone.
    entries: Vec<Option<ManifestEntry>>,
    places: HashMap<FileIdentity, usize>,
}

impl LiveFiles {
    fn iter(&self) -> impl Iterator<Item = &ManifestEntry> {
        self.entries.iter().flatten()
    }
}

impl<'a> History<'a> {
    pub(super) fn new(log: &'a TableLog) -> Result<Self> {
        let schema = log.schema();
        Ok(Self {
            keys: schema
                .is_keyed()
                .then(|| KeyComparator::new(schema.key_type().types())),
            schemas: HashSet::new(),
            reached: Reached::new(schema.partition_type()),
            index: IndexCheck::default(),
            report: VerifyReport::default(),
            log,
        })
    }

    /// What was found, and what was reached.
    pub(super) fn into_parts(self) -> (VerifyReport, Reached) {
        (self.report, self.reached)
    }

    pub(super) async fn check(&mut self) -> Result<()> {
        self.check_schemas().await?;
        let snapshots = self.snapshots().await?;
        self.check_hints(&snapshots).await?;
        let mut before: Option<(i64, LiveFiles)> = None;
        for (id, snapshot) in &snapshots {
            let live = self
                .check_snapshot(&format!("snapshot-{id}"), snapshot, true)
                .await?;
            if let Some((before_id, before)) = &before
                && before_id + 1 == *id
            {
                self.check_base(snapshot, before).await?;
            }
            before = Some((*id, live));
        }
        for snapshot in self.tagged().await? {
            if !snapshots.contains_key(&snapshot.id.0) {
                let place = format!("tag of snapshot-{}", snapshot.id);
                self.check_snapshot(&place, &snapshot, false).await?;
            }
        }
        self.check_changelogs().await
    }

    fn fault(&mut self, code: &'static str, place: &str, detail: impl Into<String>) {
        self.report.fault(code, place, detail);
    }

    async fn check_schemas(&mut self) -> Result<()> {
        let mut highest = i32::MIN;
        for id in self.log.schemas().list_ids().await? {
            self.schemas.insert(id);
            let place = format!("schema-{id}");
            let Some(bytes) = read(self.log, &self.log.paths().schema(id)).await? else {
                continue;
            };
            let schema = match TableSchema::from_json(&bytes) {
                Ok(schema) => schema,
                Err(e) => {
                    self.fault("schema-unreadable", &place, e.to_string());
                    continue;
                }
            };
            if schema.id != id {
                self.fault("schema-id", &place, format!("file says {}", schema.id));
            }
            let (said, most) = (
                schema.highest_field_id,
                schema.row_type().highest_field_id(),
            );
            if said < most {
                self.fault(
                    "schema-highest-field-id",
                    &place,
                    format!("{said} < {most}"),
                );
            }
            if said < highest {
                let detail = format!("{said} < {highest}");
                self.fault("schema-highest-field-id-fell", &place, detail);
            }
            highest = said;
            let mut seen = HashSet::new();
            for field in &schema.fields {
                if !seen.insert(field.id) {
                    self.fault("schema-duplicate-field-id", &place, &*field.name);
                }
            }
            for key in &schema.primary_keys {
                if schema.field(key).is_none() {
                    self.fault("schema-primary-key", &place, key);
                }
            }
        }
        Ok(())
    }

    /// Every snapshot that can be read, by id.
    async fn snapshots(&mut self) -> Result<BTreeMap<i64, Snapshot>> {
        let mut snapshots = BTreeMap::new();
        let mut before: Option<SnapshotId> = None;
        for id in self.log.snapshots().list_ids().await? {
            if let Some(before) = before
                && id.0 != before.0.saturating_add(1)
            {
                let detail = format!("follows snapshot-{before}");
                self.fault("snapshot-gap", &format!("snapshot-{id}"), detail);
            }
            before = Some(id);
            let Some(snapshot) = self.snapshot_file(&self.log.paths().snapshot(id)).await? else {
                continue;
            };
            if snapshot.id != id {
                let detail = format!("file says {}", snapshot.id);
                self.fault("snapshot-id", &format!("snapshot-{id}"), detail);
            }
            snapshots.insert(id.0, snapshot);
        }
        Ok(snapshots)
    }

    /// The snapshot in a file; nothing if it is missing or damaged.
    async fn snapshot_file(&mut self, path: &str) -> Result<Option<Snapshot>> {
        let Some(bytes) = read(self.log, path).await? else {
            return Ok(None);
        };
        match Snapshot::from_json(&bytes) {
            Ok(snapshot) => Ok(Some(snapshot)),
            Err(e) => {
                let name = path.rsplit('/').next().unwrap_or(path);
                self.fault("snapshot-unreadable", name, e.to_string());
                Ok(None)
            }
        }
    }

    async fn check_hints(&mut self, snapshots: &BTreeMap<i64, Snapshot>) -> Result<()> {
        let last = snapshots.keys().next_back().copied().unwrap_or(0);
        let paths = self.log.paths();
        for (hint, path) in [
            ("LATEST", paths.latest_hint()),
            ("EARLIEST", paths.earliest_hint()),
        ] {
            let Some(bytes) = read(self.log, &path).await? else {
                continue;
            };
            match parse_hint(&bytes) {
                Some(id) if (1..=last).contains(&id) => {}
                Some(id) => {
                    let detail = format!("{id} beyond the last snapshot {last}");
                    self.fault("hint", hint, detail);
                }
                None => {
                    let detail = format!("not a number: {}", String::from_utf8_lossy(&bytes));
                    self.fault("hint", hint, detail);
                }
            }
        }
        Ok(())
    }

    /// Snapshots of tags, each once.
    async fn tagged(&mut self) -> Result<Vec<Snapshot>> {
        let mut tagged: BTreeMap<i64, Snapshot> = BTreeMap::new();
        for file in self.log.io().list(&self.log.paths().tag_dir()).await? {
            if file.is_dir || !file.name.starts_with("tag-") {
                continue;
            }
            let Some(bytes) = read(self.log, &file.path).await? else {
                continue;
            };
            match Tag::from_json(&bytes) {
                Ok(tag) => {
                    tagged.insert(tag.snapshot.id.0, tag.snapshot);
                }
                Err(e) => self.fault("tag-unreadable", &file.name, e.to_string()),
            }
        }
        Ok(tagged.into_values().collect())
    }

    async fn check_changelogs(&mut self) -> Result<()> {
        for file in self
            .log
            .io()
            .list(&self.log.paths().changelog_dir())
            .await?
        {
            if file.is_dir || versioned_file_number(&file.name, "changelog-").is_none() {
                continue;
            }
            self.report.snapshots += 1;
            let Some(changelog) = self.snapshot_file(&file.path).await? else {
                continue;
            };
            self.check_changelog(&file.name, &changelog).await?;
            // Without changelog files the delta is kept in their place.
            let kept = self.log.paths().manifest(&changelog.delta_manifest_list);
            if changelog.commit_kind == CommitKind::Append && size(self.log, &kept).await?.is_some()
            {
                self.name_delta(&file.name, &changelog).await?;
            }
        }
        Ok(())
    }

    /// Names what the delta of a kept changelog reaches, as far as it is there.
    async fn name_delta(&mut self, place: &str, changelog: &Snapshot) -> Result<()> {
        let metas = self
            .list(place, &changelog.delta_manifest_list, None)
            .await?;
        for meta in metas {
            let path = self.log.paths().manifest(&meta.file_name);
            if size(self.log, &path).await?.is_some() {
                self.manifest(place, &meta).await?;
            }
        }
        Ok(())
    }

    async fn check_snapshot(
        &mut self,
        place: &str,
        snapshot: &Snapshot,
        with_changes: bool,
    ) -> Result<LiveFiles> {
        self.report.snapshots += 1;
        if !self.schemas.contains(&snapshot.schema_id) {
            let detail = format!("schema-{}", snapshot.schema_id);
            self.fault("schema-missing", place, detail);
        }
        let (base, base_size) = (
            &snapshot.base_manifest_list,
            snapshot.base_manifest_list_size,
        );
        let base = self.list(place, base, base_size).await?;
        let (delta, delta_size) = (
            &snapshot.delta_manifest_list,
            snapshot.delta_manifest_list_size,
        );
        let delta = self.list(place, delta, delta_size).await?;
        let mut live = LiveFiles::default();
        self.merge(place, &base, &mut live).await?;
        self.merge(place, &delta, &mut live).await?;
        let total = live.iter().map(|entry| entry.file.row_count).sum::<i64>();
        if let Some(said) = snapshot.total_record_count
            && said != total
        {
            let detail = format!("says {said}, files hold {total}");
            self.fault("total-record-count", place, detail);
        }
        if with_changes {
            let mut changed = 0_i64;
            for meta in &delta {
                for entry in self.manifest(place, meta).await?.iter() {
                    changed = match entry.kind {
                        FileKind::Add => changed.saturating_add(entry.file.row_count),
                        FileKind::Delete => changed.saturating_sub(entry.file.row_count),
                    };
                }
            }
            if let Some(said) = snapshot.delta_record_count
                && said != changed
            {
                let detail = format!("says {said}, entries hold {changed}");
                self.fault("delta-record-count", place, detail);
            }
            self.check_changelog(place, snapshot).await?;
        }
        for entry in live.iter() {
            self.reached
                .data_file(self.log, &mut self.report, place, entry, false);
        }
        self.check_levels(place, &live);
        self.index
            .check(
                self.log,
                &mut self.reached,
                &mut self.report,
                place,
                snapshot,
                live.iter(),
            )
            .await?;
        self.check_statistics(place, snapshot).await?;
        Ok(live)
    }

    async fn check_changelog(&mut self, place: &str, snapshot: &Snapshot) -> Result<()> {
        let said = snapshot.changelog_record_count;
        let Some(name) = &snapshot.changelog_manifest_list else {
            if let Some(said) = said.filter(|said| *said != 0) {
                let detail = format!("says {said} and has no list");
                self.fault("changelog-record-count", place, detail);
            }
            return Ok(());
        };
        let mut rows = 0_i64;
        let metas = self
            .list(place, name, snapshot.changelog_manifest_list_size)
            .await?;
        for meta in &metas {
            for entry in self.manifest(place, meta).await?.iter() {
                if entry.kind != FileKind::Add {
                    let name = entry.file.file_name.as_str();
                    self.fault("changelog-delete-entry", place, name);
                }
                rows = rows.saturating_add(entry.file.row_count);
                self.reached
                    .data_file(self.log, &mut self.report, place, entry, true);
            }
        }
        if let Some(said) = said
            && said != rows
        {
            let detail = format!("says {said}, files hold {rows}");
            self.fault("changelog-record-count", place, detail);
        }
        Ok(())
    }

    /// Whether the base of a snapshot is the state of the one before it.
    async fn check_base(&mut self, snapshot: &Snapshot, before: &LiveFiles) -> Result<()> {
        let place = format!("snapshot-{} base", snapshot.id);
        let metas = self
            .list(&place, &snapshot.base_manifest_list, None)
            .await?;
        let mut base = LiveFiles::default();
        let faults = self.report.faults.len();
        self.merge(&place, &metas, &mut base).await?;
        // The state it is part of has told them.
        self.report.faults.truncate(faults);
        let beyond = |of: &LiveFiles, other: &LiveFiles| {
            let lacks = |identity: &&FileIdentity| !other.places.contains_key(*identity);
            of.places.keys().filter(lacks).count()
        };
        let (more, fewer) = (beyond(&base, before), beyond(before, &base));
        if more + fewer > 0 {
            let detail = format!("against the snapshot before: +{more} -{fewer}");
            self.fault("base-differs", &place, detail);
        }
        Ok(())
    }

    async fn merge(
        &mut self,
        place: &str,
        metas: &[ManifestFileMeta],
        into: &mut LiveFiles,
    ) -> Result<()> {
        for meta in metas {
            for entry in self.manifest(place, meta).await?.iter() {
                let name = entry.file.file_name.as_str();
                match entry.kind {
                    FileKind::Add if into.places.contains_key(&entry.identity()) => {
                        self.fault("file-added-twice", place, name);
                    }
                    FileKind::Add => {
                        into.places.insert(entry.identity(), into.entries.len());
                        into.entries.push(Some(entry.clone()));
                    }
                    FileKind::Delete => match into.places.remove(&entry.identity()) {
                        None => self.fault("file-deleted-unknown", place, name),
                        Some(gone) => {
                            if let Some(gone) = into.entries.get_mut(gone) {
                                *gone = None;
                            }
                        }
                    },
                }
            }
        }
        Ok(())
    }

    /// Whether files of one level above 0 overlap.
    fn check_levels(&mut self, place: &str, live: &LiveFiles) {
        let Some(keys) = self.keys.clone().filter(KeyComparator::trusts_ranges) else {
            return;
        };
        let mut levels: BTreeMap<(&BinaryRow, i32, i32), Vec<&ManifestEntry>> = BTreeMap::new();
        for entry in live.iter().filter(|entry| entry.file.level > 0) {
            let level = (&entry.partition, entry.bucket, entry.file.level);
            levels.entry(level).or_default().push(entry);
        }
        for ((_, bucket, level), mut entries) in levels {
            let mut failed = None;
            entries.sort_by(|left, right| {
                keys.compare(&left.file.min_key, &right.file.min_key)
                    .unwrap_or_else(|e| {
                        failed = Some(e.to_string());
                        std::cmp::Ordering::Equal
                    })
            });
            for pair in entries.windows(2) {
                let [left, right] = pair else { continue };
                match keys.compare(&left.file.max_key, &right.file.min_key) {
                    Ok(order) if order.is_lt() => {}
                    Ok(_) => {
                        let place = format!("{place} bucket {bucket} level {level}");
                        let (left, right) = (&left.file.file_name, &right.file.file_name);
                        self.fault("level-overlap", &place, format!("{left} and {right}"));
                    }
                    Err(e) => failed = Some(e.to_string()),
                }
            }
            if let Some(detail) = failed {
                self.fault("key-unreadable", place, detail);
            }
        }
    }

    async fn check_statistics(&mut self, place: &str, snapshot: &Snapshot) -> Result<()> {
        let Some(name) = &snapshot.statistics else {
            return Ok(());
        };
        let path = self.log.paths().statistics(name);
        self.reached.name(path.clone());
        match read(self.log, &path).await? {
            None => self.fault("statistics-missing", place, name),
            Some(bytes) => {
                if let Err(e) = serde_json::from_slice::<serde_json::Value>(&bytes) {
                    self.fault("statistics-unreadable", place, format!("{name}: {e}"));
                }
            }
        }
        Ok(())
    }

    async fn list(
        &mut self,
        place: &str,
        name: &str,
        size: Option<i64>,
    ) -> Result<Vec<ManifestFileMeta>> {
        self.reached
            .list(self.log, &mut self.report, place, name, size)
            .await
    }

    async fn manifest(
        &mut self,
        place: &str,
        meta: &ManifestFileMeta,
    ) -> Result<std::sync::Arc<[ManifestEntry]>> {
        self.reached
            .manifest(self.log, &mut self.report, place, meta)
            .await
    }
}
