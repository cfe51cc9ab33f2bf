//! Reads one split: files of one bucket as rows, merged where they overlap.
//!
//! ```text
//!  Raw     file  file  file                                  no key in two files, or an append table
//!  Changes file  file  file                                  a changelog
//!  Merge   files -> sections -> one run:      plain files, the whole filter may prune
//!                            -> several runs: SortMerge says who survives, key filters may prune    section.rs
//! ```
//!
//! Rows in a file's deletion vector are gone before any of this.
//!
//! Every column is read once. Sequence numbers are left alone where runs differ in age as a whole, kinds where a file has no
//! retraction. Nothing depends on the order of rows, so a merge only masks its batches; [`MergeStream`] is the ordered one.
//!
//! Source: spec 02b §4, 02c §4.3, 03 §5.7; Paimon `operation/MergeFileSplitRead.java`, `operation/RawFileSplitRead.java`.

mod columns;
mod feed;
mod merge_stream;
mod output;
mod pieces;
mod section;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use tidewater_files::FilesContext;
use tidewater_format::{DataFileMeta, TableSchema, value_kind_field};
use tidewater_index::DeletionFiles;
use tidewater_merge::{
    FoldEngine, KeyComparator, MergeEngine, MergeMode, Versions, interval_partition,
};
use tidewater_types::arrow_types::to_arrow_field;
use tidewater_types::{DataField, Predicate, SchemaId};

pub use merge_stream::{MergeRequest, MergeStream};

use columns::{Extra, OutputColumn, ReadColumns};
use feed::{FileOpener, FileTask};
use output::RowOutput;
pub(crate) use pieces::PieceStream;
use pieces::{Meeting, PiecePlan, StreamPlan, plan_sections};
use section::MergeRules;

use crate::error::{Result, StoreError};
use crate::key_value::KeyValueLayout;

/// What a scan reads of each split.
#[derive(Debug, Clone)]
pub struct ReadSpec {
    /// The schema and options that rows are read as.
    pub schema: Arc<TableSchema>,
    /// The schemas that the files were written with, by id; that of `schema` may be left out.
    pub schemas: Arc<HashMap<SchemaId, Arc<TableSchema>>>,
    /// Positions in `schema` of the columns of the answer, in this order. Empty: batches say only how many rows there are.
    pub projection: Vec<usize>,
    /// Exactly the rows that match are answered; bound to the row type of `schema`.
    pub filter: Option<Predicate>,
    /// Append a column `_VALUE_KIND` (Int8), and keep rows of kind `-U` and `-D`.
    pub kinds: bool,
    /// Most rows of a batch.
    pub batch_rows: usize,
}

/// Files of one bucket that are read together.
#[derive(Debug, Clone)]
pub struct SplitFiles {
    /// Folder of the bucket; a file with an external path lies there instead.
    pub bucket_path: String,
    /// The files. Their order does not count for [`SplitRead::Merge`].
    pub files: Vec<Arc<DataFileMeta>>,
    /// Where the deletion vectors of the files are; those of other files do not matter.
    pub deletions: Arc<DeletionFiles>,
    /// How they are read.
    pub read: SplitRead,
    /// Parts of each file that are decoded at the same time: one while other splits keep the threads busy.
    pub parallel: usize,
}

/// How the files of a split go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitRead {
    /// File after file, row after row: no key is in two of them. Each row is `+I`, whatever brought it there.
    Raw,
    /// The same where every row counts, with the kind it has (changelog files, the delta of a streaming plan).
    Changes,
    /// The newest row of each key. Rows come in no order. Files of append tables are read as with `Raw`.
    Merge,
}

/// Reads splits of one scan; clones share everything.
#[derive(Debug, Clone)]
pub struct SplitReader {
    scan: Arc<Scan>,
}

/// What all splits of a scan have in common.
#[derive(Debug)]
struct Scan {
    context: FilesContext,
    spec: ReadSpec,
    asked: Vec<OutputColumn>,
    output: Arc<RowOutput>,
    filter: Filter,
    /// Nothing for append tables.
    keyed: Option<Keyed>,
}

#[derive(Debug)]
struct Keyed {
    comparator: KeyComparator,
    rules: Arc<MergeRules>,
}

/// A filter by where it may act.
#[derive(Debug, Default)]
struct Filter {
    /// On rows that meet no other version of their key.
    whole: Option<Predicate>,
    /// On all versions alike: looks at the key only.
    keys: Option<Predicate>,
    /// Columns of `whole`.
    fields: Vec<DataField>,
    /// Columns of what is left to do after a merge.
    merged_columns: Vec<usize>,
}

impl SplitReader {
    /// Prepares a scan.
    ///
    /// # Errors
    /// Columns that the schema does not have, options that are not valid.
    pub fn new(context: FilesContext, spec: ReadSpec) -> Result<Self> {
        let schema = &spec.schema;
        let mut asked: Vec<OutputColumn> = Vec::with_capacity(spec.projection.len() + 1);
        asked.extend(
            spec.projection
                .iter()
                .map(|index| OutputColumn::Table(*index)),
        );
        if spec.kinds {
            asked.push(OutputColumn::Kind);
        }
        // Checks the positions.
        ReadColumns::new(schema, &asked, Extra::default())?;
        let (filter, merged_filter) = Filter::new(&spec)?;
        let keyed = if schema.is_keyed() {
            let options = schema.options()?;
            let engine = MergeEngine::from_table(&options)?;
            let fold = if engine.folds() {
                let mut columns = spec.projection.clone();
                columns.extend_from_slice(&filter.merged_columns);
                let mut seen = HashSet::new();
                columns.retain(|column| seen.insert(*column));
                Some(FoldEngine::for_columns(schema, &columns)?)
            } else {
                None
            };
            let rules = MergeRules {
                layout: Arc::new(KeyValueLayout::new(schema)?),
                engine,
                mode: match &fold {
                    Some(_) => MergeMode::Picks {
                        chunk_rows: spec.batch_rows.max(1),
                        versions: Versions::Groups,
                    },
                    None => MergeMode::Mask,
                },
                levels_are_complete: fold.is_some() && options.needs_lookup(),
                fold,
                filter: merged_filter,
            };
            Some(Keyed {
                comparator: KeyComparator::new(schema.key_type().types()),
                rules: Arc::new(rules),
            })
        } else {
            None
        };
        let output = RowOutput {
            schema: answer_schema(&spec),
            drop_retractions: !spec.kinds,
        };
        let scan = Scan {
            output: Arc::new(output),
            context,
            asked,
            filter,
            keyed,
            spec,
        };
        Ok(Self {
            scan: Arc::new(scan),
        })
    }

    /// The schema of all batches.
    ///
    /// A NOT NULL column is nullable here if it was nullable in one of the schemas that files were written with.
    pub fn schema(&self) -> &SchemaRef {
        &self.scan.output.schema
    }

    /// Plans a split and begins to open its first files; needs a tokio runtime.
    ///
    /// # Errors
    /// A merge engine that is not built, a file of an unknown schema or format, keys that do not decode.
    pub async fn read(&self, split: SplitFiles) -> Result<SplitStream> {
        let scan = Arc::clone(&self.scan);
        let (files, deletions, read) = (split.files, split.deletions, split.read);
        let job = move || scan.pieces(files, &deletions, read);
        let pieces = self.scan.context.cpu().run(job).await??;
        let spec = &self.scan.spec;
        let opener = FileOpener {
            context: self.scan.context.clone(),
            bucket_path: split.bucket_path,
            schema: Arc::clone(&spec.schema),
            schemas: Arc::clone(&spec.schemas),
            filter_fields: self.scan.filter.fields.clone(),
            batch_rows: spec.batch_rows.max(1),
            parallel: split.parallel,
        };
        let plan = StreamPlan {
            opener: Arc::new(opener),
            output: Arc::clone(&self.scan.output),
            rules: self
                .scan
                .keyed
                .as_ref()
                .map(|keyed| Arc::clone(&keyed.rules)),
        };
        Ok(SplitStream {
            pieces: PieceStream::start(plan, pieces)?,
        })
    }
}

impl Scan {
    fn pieces(
        &self,
        files: Vec<Arc<DataFileMeta>>,
        deletions: &DeletionFiles,
        read: SplitRead,
    ) -> Result<VecDeque<PiecePlan>> {
        if self.filter.whole == Some(Predicate::AlwaysFalse) || files.is_empty() {
            return Ok(VecDeque::new());
        }
        match (&self.keyed, read) {
            (Some(keyed), SplitRead::Merge) => {
                let sections = interval_partition(&files, &keyed.comparator)?;
                plan_sections(sections, |file, meeting| {
                    self.task(file, deletions, meeting)
                })
            }
            (None, _) | (_, SplitRead::Raw | SplitRead::Changes) => {
                let meeting = Meeting::Alone {
                    as_stored: read == SplitRead::Changes,
                };
                let task = |file| self.task(file, deletions, meeting);
                let tasks = files.iter().map(task);
                let tasks = tasks.collect::<Result<Vec<_>>>()?;
                Ok(VecDeque::from([PiecePlan::Files(tasks)]))
            }
        }
    }

    fn task(
        &self,
        file: &Arc<DataFileMeta>,
        deletions: &DeletionFiles,
        meeting: Meeting,
    ) -> Result<FileTask> {
        let layout = self.keyed.as_ref().map(|keyed| keyed.rules.layout.as_ref());
        // An unknown number of retractions may be any.
        let may_retract = file.delete_row_count != Some(0);
        let asked = self.spec.kinds && meeting != Meeting::Alone { as_stored: false };
        let fold = self
            .keyed
            .as_ref()
            .and_then(|keyed| keyed.rules.fold.as_ref());
        // Versions that are gathered have the same columns in every file.
        let gathered = fold.is_some() && matches!(meeting, Meeting::Merged { .. });
        let kind = layout.is_some() && (asked || may_retract || gathered);
        let (extra, filter) = match meeting {
            Meeting::Alone { .. } => (
                Extra {
                    kind,
                    ..Extra::default()
                },
                &self.filter.whole,
            ),
            Meeting::Merged { by_run } => (
                Extra {
                    sequence: !by_run,
                    kind,
                    merged: layout,
                    filter: &self.filter.merged_columns,
                    fold: fold.map(FoldEngine::columns).unwrap_or_default(),
                },
                &self.filter.keys,
            ),
        };
        Ok(FileTask {
            file: Arc::clone(file),
            columns: Arc::new(ReadColumns::new(&self.spec.schema, &self.asked, extra)?),
            filter: filter.clone(),
            deletion: deletions.get(&file.file_name).cloned(),
        })
    }
}

impl Filter {
    /// Splits the filter of a scan; the second part of the answer is what merged rows must match.
    fn new(spec: &ReadSpec) -> Result<(Self, Option<Predicate>)> {
        let Some(filter) = &spec.filter else {
            return Ok((Self::default(), None));
        };
        let index_of = |column: &str| {
            let fields = &spec.schema.fields;
            let found = fields.iter().position(|field| field.name == column);
            found.ok_or_else(|| StoreError::UnknownColumn {
                column: column.to_owned(),
            })
        };
        let columns = |predicate: &Predicate| -> Result<Vec<usize>> {
            predicate.columns().into_iter().map(index_of).collect()
        };
        // A partition column of the key is the same in the whole bucket.
        let is_key = |column: &str| spec.schema.primary_keys.iter().any(|key| key == column);
        let on_keys = |part: &&Predicate| part.columns().into_iter().all(is_key);
        let (keys, others): (Vec<_>, Vec<_>) = filter.split_and().into_iter().partition(on_keys);
        let all = |parts: Vec<&Predicate>| {
            let all = Predicate::and(parts.into_iter().cloned());
            (all != Predicate::AlwaysTrue).then_some(all)
        };
        let (keys, others) = (all(keys), all(others));
        let fields = &spec.schema.fields;
        let filter = Self {
            whole: all(vec![filter]),
            keys,
            fields: columns(filter)?
                .into_iter()
                .filter_map(|index| fields.get(index).cloned())
                .collect(),
            merged_columns: match &others {
                Some(others) => columns(others)?,
                None => Vec::new(),
            },
        };
        Ok((filter, others))
    }
}

/// The schema of the answer's batches.
fn answer_schema(spec: &ReadSpec) -> SchemaRef {
    let was_nullable = |id: i32| {
        let mut fields = spec.schemas.values().flat_map(|schema| &schema.fields);
        fields.any(|field| field.id == id && field.data_type.nullable)
    };
    let asked = spec
        .projection
        .iter()
        .filter_map(|index| spec.schema.fields.get(*index));
    let mut fields: Vec<Field> = asked
        .map(|field| {
            let arrow = to_arrow_field(field);
            let nullable = arrow.is_nullable() || was_nullable(field.id);
            arrow.with_nullable(nullable)
        })
        .collect();
    if spec.kinds {
        fields.push(to_arrow_field(&value_kind_field()));
    }
    Arc::new(Schema::new(fields))
}

/// The rows of one split.
pub struct SplitStream {
    pieces: PieceStream,
}

impl SplitStream {
    /// The schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.pieces.output().schema
    }

    pub(crate) fn pieces(&mut self) -> &mut PieceStream {
        &mut self.pieces
    }

    /// The next rows, at least one; none at the end and after an error.
    ///
    /// # Errors
    /// Damaged or lost files; [`StoreError::ReadCancelled`] after a call that was dropped while it waited.
    pub async fn next(&mut self) -> Result<Option<RecordBatch>> {
        self.pieces.next().await
    }
}

impl fmt::Debug for SplitStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SplitStream").finish_non_exhaustive()
    }
}
