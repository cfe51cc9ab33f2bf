//! Append tables without buckets: small files of a partition packed into tasks by a coordinator.
//!
//! Source: spec 02a §5.3; Paimon `append/AppendCompactCoordinator.java`.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidewater_format::{DataFileMeta, TableOptions};

use crate::sorted_run::file_size;

/// A file of an append table, with its deletion vector if it has one.
#[derive(Debug, Clone, PartialEq)]
pub struct AppendFile {
    /// The file.
    pub file: Arc<DataFileMeta>,
    /// Its deletion vector.
    pub dv: Option<DvRef>,
}

/// Where a deletion vector is, and how many rows it deletes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DvRef {
    /// Name of the index file that holds it.
    pub index_file: String,
    /// Deleted rows; `None` if the index does not say.
    pub cardinality: Option<u64>,
}

/// Options of the coordinator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnawareOptions {
    /// `target-file-size`.
    pub target_file_size: u64,
    /// `source.split.open-file-cost`, added to the size of each file.
    pub open_file_cost: u64,
    /// `compaction.min.file-num`: files a last, not full bin must have.
    pub min_file_num: usize,
    /// `compaction.delete-ratio-threshold`: share of deleted rows from which a file is rewritten.
    pub delete_ratio_threshold: f64,
}

impl Default for UnawareOptions {
    /// The defaults of the table options.
    fn default() -> Self {
        Self {
            target_file_size: 256 << 20,
            open_file_cost: 4 << 20,
            min_file_num: 5,
            delete_ratio_threshold: 0.2,
        }
    }
}

/// Plans without a task after which all candidates are packed together anyway.
const FORCE_AGE: u32 = 5;

/// Plans without a task after which a partition is forgotten.
const FORGET_AGE: u32 = 10;

/// Files of one partition that wait to be packed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PartitionCandidates {
    /// The candidates.
    files: Vec<AppendFile>,
    /// Plans since the last new file.
    age: u32,
}

impl UnawareOptions {
    /// What the table asks for.
    pub fn from_table(options: &TableOptions) -> Self {
        Self {
            target_file_size: options.target_file_size_bytes(false),
            open_file_cost: options.source_split_open_file_cost.bytes(),
            min_file_num: usize::try_from(options.compaction_min_file_num)
                .unwrap_or_default()
                .max(1),
            delete_ratio_threshold: options.compaction_delete_ratio_threshold,
        }
    }

    /// Whether a file is worth compacting: small, or with many deleted rows.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio against a threshold given as a float"
    )]
    pub fn is_candidate(&self, file: &AppendFile) -> bool {
        if file_size(&file.file) < self.target_file_size / 10 * 7 {
            return true;
        }
        match &file.dv {
            None => false,
            Some(DvRef {
                cardinality: None, ..
            }) => true,
            Some(DvRef {
                cardinality: Some(deleted),
                ..
            }) => *deleted as f64 > self.delete_ratio_threshold * file.file.row_count as f64,
        }
    }
}

impl PartitionCandidates {
    /// Adds new files of the partition; those that are no candidates are left out.
    pub fn add(&mut self, files: impl IntoIterator<Item = AppendFile>, options: &UnawareOptions) {
        let before = self.files.len();
        self.files
            .extend(files.into_iter().filter(|file| options.is_candidate(file)));
        if self.files.len() > before {
            self.age = 0;
        }
    }

    /// The candidates.
    pub fn files(&self) -> &[AppendFile] {
        &self.files
    }

    /// The tasks of one plan: each group of files is compacted by a task of its own, in this order.
    ///
    /// Their files are no longer candidates, the others go on waiting. After a few plans without a task all
    /// candidates form one. `deletion_vectors` tells whether the table has them.
    pub fn plan(
        &mut self,
        deletion_vectors: bool,
        options: &UnawareOptions,
    ) -> Vec<Vec<AppendFile>> {
        if self.files.is_empty() {
            return Vec::new();
        }
        let (tasks, left) = pack(std::mem::take(&mut self.files), deletion_vectors, options);
        self.files = left;
        if !tasks.is_empty() {
            return tasks;
        }
        self.age += 1;
        if self.age > FORCE_AGE && self.files.len() > 1 {
            return vec![std::mem::take(&mut self.files)];
        }
        Vec::new()
    }

    /// Whether the coordinator should drop the partition until new files come.
    pub fn forgotten(&self) -> bool {
        self.files.is_empty() || self.age > FORGET_AGE
    }
}

/// Packs candidates into tasks; answers the tasks and the files that are in none.
fn pack(
    files: Vec<AppendFile>,
    deletion_vectors: bool,
    options: &UnawareOptions,
) -> (Vec<Vec<AppendFile>>, Vec<AppendFile>) {
    if !deletion_vectors {
        return pack_plain(files, options);
    }
    // Files that share an index file stay together, so that one task rewrites it.
    let mut plain = Vec::new();
    let mut by_index: BTreeMap<String, Vec<AppendFile>> = BTreeMap::new();
    for file in files {
        match &file.dv {
            None => plain.push(file),
            Some(dv) => by_index
                .entry(dv.index_file.clone())
                .or_default()
                .push(file),
        }
    }
    let (mut tasks, left) = if plain.len() > 1 {
        pack_plain(plain, options)
    } else {
        (Vec::new(), plain)
    };
    let bytes = |group: &Vec<AppendFile>| {
        group
            .iter()
            .map(|file| file_size(&file.file))
            .fold(0, u64::saturating_add)
    };
    let mut groups: Vec<Vec<AppendFile>> = by_index.into_values().collect();
    groups.sort_by_key(bytes);
    let mut bins = Bins::new(options);
    for group in groups {
        bins.add(group);
    }
    if !bins.open.is_empty() {
        bins.close();
    }
    tasks.append(&mut bins.closed);
    (tasks, left)
}

/// Bins of files without deletion vectors, smallest files first.
fn pack_plain(
    mut files: Vec<AppendFile>,
    options: &UnawareOptions,
) -> (Vec<Vec<AppendFile>>, Vec<AppendFile>) {
    files.sort_by_key(|file| file_size(&file.file));
    let mut bins = Bins::new(options);
    for file in files {
        bins.add(vec![file]);
    }
    if bins.open.len() >= options.min_file_num {
        bins.close();
    }
    (bins.closed, bins.open)
}

/// Fills one bin after the other.
struct Bins<'a> {
    options: &'a UnawareOptions,
    open: Vec<AppendFile>,
    weight: u64,
    closed: Vec<Vec<AppendFile>>,
}

impl<'a> Bins<'a> {
    fn new(options: &'a UnawareOptions) -> Self {
        Self {
            options,
            open: Vec::new(),
            weight: 0,
            closed: Vec::new(),
        }
    }

    fn add(&mut self, files: Vec<AppendFile>) {
        for file in &files {
            let weight = file_size(&file.file).saturating_add(self.options.open_file_cost);
            self.weight = self.weight.saturating_add(weight);
        }
        self.open.extend(files);
        if self.open.len() > 1 && self.weight >= self.options.target_file_size.saturating_mul(2) {
            self.close();
        }
    }

    fn close(&mut self) {
        self.closed.push(std::mem::take(&mut self.open));
        self.weight = 0;
    }
}
