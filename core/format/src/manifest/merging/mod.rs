//! Merges the manifests of a snapshot before a commit lists them as its base.
//!
//! Without IO: the caller reads and stores when told to, so it can do so on any runtime, several files at a time.
//!
//! ```text
//!  new(inputs) ─> step() ─┬─ Read(indexes)   ─> supply(index, bytes) for each ─┐
//!                         ├─ Write(manifest) ─> store it, stored(name) ────────┤ step() again
//!                         └─ Done(output)                                      │
//!                 ^───────────────────────────────────────────────────────────┘
//! ```
//!
//! Full compaction first: drop every DELETE together with its ADD, keep large manifests nothing was deleted from. If it does
//! not pay, minor compaction: join small neighbours, keep a DELETE whose ADD is elsewhere.
//!
//! A manifest with values in columns this build does not know is never rewritten: its minor unit is kept as it is, and a full
//! compaction that meets one gives way to the minor one.
//! Source: Paimon `operation/ManifestFileMerger.java`; spec 01d §7.

mod plan;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use tidewater_types::DataType;

pub use plan::{FullSplit, ManifestMergeOptions, MergeUnit, plan_minor, split_full, wants_full};

use super::decode::{Decoded, decode_manifest};
use super::entry::{FileIdentity, FileKind, ManifestEntry};
use super::error::ManifestError;
use super::file_meta::ManifestFileMeta;
use super::filter::ManifestFilter;
use super::merge::merge_entries;
use super::rolling::{EncodedManifest, RollingManifestWriter};
use crate::avro::AvroCodec;
use crate::error::Result;

/// Manifests asked for at once; with their sizes it bounds what a merge holds.
const READ_FILES_MAX: usize = 8;

/// What the caller does next.
#[derive(Debug)]
pub enum MergeStep {
    /// Read the inputs with these indexes, give their bytes to [`ManifestMerge::supply`], call `step` again.
    Read(Vec<usize>),
    /// Store this manifest under a new name, tell the name to [`ManifestMerge::stored`], call `step` again.
    Write(EncodedManifest),
    /// The merge is over.
    Done(ManifestMergeOutput),
}

/// What came of a merge.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifestMergeOutput {
    /// The manifests that hold the merged entries, in the order in which they apply.
    pub manifests: Vec<ManifestFileMeta>,
    /// Names among them that this merge stored; to be deleted if the commit fails.
    pub new_files: Vec<String>,
    /// Names that were stored but are not used.
    pub abandoned_files: Vec<String>,
    /// Whether the set of manifests differs from the inputs.
    pub changed: bool,
}

enum State {
    Start,
    /// Collects the identities of all DELETE entries.
    Deletes {
        left: VecDeque<usize>,
        deleted: HashSet<FileIdentity>,
    },
    /// Streams the affected manifests without what was deleted.
    Full {
        left: VecDeque<usize>,
        deleted: HashSet<FileIdentity>,
        writer: Box<RollingManifestWriter>,
    },
    /// Writes the last manifests of a full compaction.
    FullEnd,
    Minor {
        left: VecDeque<MergeUnit>,
    },
    Done,
}

/// A merge in progress.
pub struct ManifestMerge {
    inputs: Vec<ManifestFileMeta>,
    options: ManifestMergeOptions,
    partition_types: Arc<[DataType]>,
    codec: AvroCodec,
    state: State,
    asked: Vec<usize>,
    supplied: BTreeMap<usize, Bytes>,
    to_write: VecDeque<EncodedManifest>,
    writing: Option<EncodedManifest>,
    kept: Vec<ManifestFileMeta>,
    /// Stored manifests that go behind the kept ones (full compaction).
    created: Vec<ManifestFileMeta>,
    new_files: Vec<String>,
    abandoned: Vec<String>,
}

impl ManifestMerge {
    /// Prepares the merge of `inputs`: the latest snapshot's base list followed by its delta list.
    pub fn new(
        inputs: Vec<ManifestFileMeta>,
        options: ManifestMergeOptions,
        partition_types: Arc<[DataType]>,
        codec: AvroCodec,
    ) -> Self {
        Self {
            inputs,
            options,
            partition_types,
            codec,
            state: State::Start,
            asked: vec![],
            supplied: BTreeMap::new(),
            to_write: VecDeque::new(),
            writing: None,
            kept: vec![],
            created: vec![],
            new_files: vec![],
            abandoned: vec![],
        }
    }

    /// The input with this index.
    pub fn input(&self, index: usize) -> Option<&ManifestFileMeta> {
        self.inputs.get(index)
    }

    /// Takes the bytes of an input that was asked for.
    pub fn supply(&mut self, index: usize, bytes: Bytes) {
        self.supplied.insert(index, bytes);
    }

    /// Takes the name under which the manifest of the last [`MergeStep::Write`] was stored.
    ///
    /// # Errors
    /// Nothing was to be stored.
    pub fn stored(&mut self, name: impl Into<String>) -> Result<()> {
        let manifest = self.writing.take().ok_or(ManifestError::MergeProtocol {
            what: "a manifest was stored that was not asked for",
        })?;
        let name = name.into();
        let meta = manifest.meta(name.clone())?;
        self.new_files.push(name);
        match self.state {
            State::Full { .. } | State::FullEnd => self.created.push(meta),
            _ => self.kept.push(meta),
        }
        Ok(())
    }

    /// Does what can be done without IO and tells what IO is next. Decodes and encodes: it belongs on a CPU thread.
    ///
    /// # Errors
    /// A manifest is corrupt, or its entries do not add up; the caller did not do what the last step asked for.
    pub fn step(&mut self) -> Result<MergeStep> {
        if self.writing.is_some() {
            return Err(protocol("the name of a stored manifest is missing"));
        }
        if self
            .asked
            .iter()
            .any(|index| !self.supplied.contains_key(index))
        {
            return Err(protocol("an input that was asked for is missing"));
        }
        loop {
            if let Some(manifest) = self.to_write.pop_front() {
                // The rest is needed when the name is known.
                self.writing = Some(manifest.without_bytes());
                return Ok(MergeStep::Write(manifest));
            }
            match std::mem::replace(&mut self.state, State::Done) {
                State::Start => self.start(),
                State::Deletes { left, deleted } => {
                    if let Some(step) = self.collect_deletes(left, deleted)? {
                        return Ok(step);
                    }
                }
                State::Full {
                    left,
                    deleted,
                    writer,
                } => {
                    if let Some(step) = self.full(left, deleted, writer)? {
                        return Ok(step);
                    }
                }
                State::FullEnd => {
                    self.kept.append(&mut self.created);
                    self.state = State::Done;
                }
                State::Minor { left } => {
                    if let Some(step) = self.minor(left)? {
                        return Ok(step);
                    }
                }
                State::Done => return Ok(MergeStep::Done(self.output())),
            }
        }
    }

    fn start(&mut self) {
        self.state = if wants_full(&self.inputs, &self.options) {
            State::Deletes {
                left: self.indexes_where(|manifest| manifest.num_deleted_files > 0),
                deleted: HashSet::new(),
            }
        } else {
            self.minor_state()
        };
    }

    fn minor_state(&self) -> State {
        State::Minor {
            left: plan_minor(&self.inputs, &self.options).into(),
        }
    }

    fn indexes_where(&self, test: impl Fn(&ManifestFileMeta) -> bool) -> VecDeque<usize> {
        self.inputs
            .iter()
            .enumerate()
            .filter(|(_, manifest)| test(manifest))
            .map(|(index, _)| index)
            .collect()
    }

    /// The bytes of the first of `left`, or the step that asks for the next few.
    fn take_or_ask(&mut self, left: &VecDeque<usize>) -> Result<Bytes, Box<MergeStep>> {
        if let Some(first) = left.front()
            && let Some(bytes) = self.supplied.remove(first)
        {
            self.asked.retain(|index| index != first);
            return Ok(bytes);
        }
        Err(Box::new(
            self.ask(left.iter().copied().take(READ_FILES_MAX).collect()),
        ))
    }

    fn ask(&mut self, indexes: Vec<usize>) -> MergeStep {
        self.asked.clone_from(&indexes);
        MergeStep::Read(indexes)
    }

    fn collect_deletes(
        &mut self,
        mut left: VecDeque<usize>,
        mut deleted: HashSet<FileIdentity>,
    ) -> Result<Option<MergeStep>> {
        // Identities do not need statistics.
        let filter = ManifestFilter::all()
            .without_key_stats()
            .without_value_stats();
        while !left.is_empty() {
            let bytes = match self.take_or_ask(&left) {
                Ok(bytes) => bytes,
                Err(step) => {
                    self.state = State::Deletes { left, deleted };
                    return Ok(Some(*step));
                }
            };
            left.pop_front();
            let decoded = decode_manifest(&bytes, &filter)?;
            let deletes = decoded
                .records
                .iter()
                .filter(|entry| entry.kind == FileKind::Delete);
            deleted.extend(deletes.map(ManifestEntry::identity));
        }
        let partitions = deleted
            .iter()
            .map(|identity| identity.partition().clone())
            .collect();
        self.state = match split_full(
            &self.inputs,
            &self.options,
            &partitions,
            &self.partition_types,
        )? {
            None => self.minor_state(),
            Some(split) => {
                self.kept = split
                    .keep
                    .iter()
                    .filter_map(|index| self.inputs.get(*index).cloned())
                    .collect();
                State::Full {
                    left: split.read.into(),
                    deleted,
                    writer: Box::new(self.rolling_writer()),
                }
            }
        };
        Ok(None)
    }

    fn rolling_writer(&self) -> RollingManifestWriter {
        RollingManifestWriter::new(
            self.codec,
            self.options.target_file_size,
            Arc::clone(&self.partition_types),
        )
    }

    /// Works through the manifests of a full compaction until one must be read or written.
    fn full(
        &mut self,
        mut left: VecDeque<usize>,
        deleted: HashSet<FileIdentity>,
        mut writer: Box<RollingManifestWriter>,
    ) -> Result<Option<MergeStep>> {
        while let Some(index) = left.front().copied() {
            let bytes = match self.take_or_ask(&left) {
                Ok(bytes) => bytes,
                Err(step) => {
                    self.state = State::Full {
                        left,
                        deleted,
                        writer,
                    };
                    return Ok(Some(*step));
                }
            };
            left.pop_front();
            let Decoded {
                mut records,
                carries_unknown,
            } = decode_manifest(&bytes, &ManifestFilter::all())?;
            let before = records.len();
            records.retain(|entry| {
                entry.kind == FileKind::Add && !deleted.contains(&entry.identity())
            });
            let Some(input) = self.inputs.get(index) else {
                continue;
            };
            if records.len() == before && !plan::must_change(input, &self.options) {
                self.kept.push(input.clone());
                continue;
            }
            if carries_unknown {
                self.give_way_to_minor();
                return Ok(None);
            }
            for entry in &records {
                writer.write(entry)?;
            }
            self.to_write.extend(writer.take_finished());
            if !self.to_write.is_empty() {
                self.state = State::Full {
                    left,
                    deleted,
                    writer,
                };
                return Ok(None);
            }
        }
        self.to_write.extend(writer.finish()?);
        self.state = State::FullEnd;
        Ok(None)
    }

    fn give_way_to_minor(&mut self) {
        self.kept.clear();
        self.created.clear();
        self.to_write.clear();
        self.supplied.clear();
        self.asked.clear();
        self.abandoned.append(&mut self.new_files);
        self.state = self.minor_state();
    }

    /// Works through the units of a minor compaction until one must be read or written.
    fn minor(&mut self, mut left: VecDeque<MergeUnit>) -> Result<Option<MergeStep>> {
        while let Some(unit) = left.front() {
            match unit {
                MergeUnit::Keep(index) => self.kept.extend(self.inputs.get(*index).cloned()),
                MergeUnit::Merge(indexes) => {
                    // A unit's manifests together are little more than one target size.
                    if indexes
                        .iter()
                        .any(|index| !self.supplied.contains_key(index))
                    {
                        let indexes = indexes.clone();
                        self.state = State::Minor { left };
                        return Ok(Some(self.ask(indexes)));
                    }
                    self.merge_unit(&indexes.clone())?;
                }
            }
            left.pop_front();
            if !self.to_write.is_empty() {
                self.state = State::Minor { left };
                return Ok(None);
            }
        }
        Ok(None)
    }

    fn merge_unit(&mut self, indexes: &[usize]) -> Result<()> {
        let mut entries = Vec::new();
        let mut carries_unknown = false;
        for index in indexes {
            let bytes = self.supplied.remove(index).unwrap_or_default();
            let decoded = decode_manifest(&bytes, &ManifestFilter::all())?;
            carries_unknown |= decoded.carries_unknown;
            entries.extend(decoded.records);
        }
        self.asked.clear();
        if carries_unknown {
            self.kept.extend(
                indexes
                    .iter()
                    .filter_map(|index| self.inputs.get(*index).cloned()),
            );
            return Ok(());
        }
        let mut writer = self.rolling_writer();
        for entry in &merge_entries(entries)? {
            writer.write(entry)?;
        }
        self.to_write.extend(writer.finish()?);
        Ok(())
    }

    fn output(&mut self) -> ManifestMergeOutput {
        let manifests = std::mem::take(&mut self.kept);
        let changed = manifests.len() != self.inputs.len()
            || manifests
                .iter()
                .zip(&self.inputs)
                .any(|(output, input)| output.file_name != input.file_name);
        ManifestMergeOutput {
            manifests,
            new_files: std::mem::take(&mut self.new_files),
            abandoned_files: std::mem::take(&mut self.abandoned),
            changed,
        }
    }

    /// Runs the merge to its end with blocking IO.
    ///
    /// # Errors
    /// What `read` and `store` answer, and as [`Self::step`].
    pub fn run<E: From<crate::error::FormatError>>(
        mut self,
        mut read: impl FnMut(&ManifestFileMeta) -> Result<Bytes, E>,
        mut store: impl FnMut(Vec<u8>) -> Result<String, E>,
    ) -> Result<ManifestMergeOutput, E> {
        loop {
            match self.step()? {
                MergeStep::Read(indexes) => {
                    for index in indexes {
                        if let Some(input) = self.inputs.get(index) {
                            let bytes = read(input)?;
                            self.supply(index, bytes);
                        }
                    }
                }
                MergeStep::Write(manifest) => {
                    let name = store(manifest.bytes)?;
                    self.stored(name)?;
                }
                MergeStep::Done(output) => return Ok(output),
            }
        }
    }
}

fn protocol(what: &'static str) -> crate::error::FormatError {
    ManifestError::MergeProtocol { what }.into()
}
