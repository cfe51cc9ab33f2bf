//! Sections of a bucket, one after the other, with the next one's files opened ahead.
//!
//! ```text
//!  sections   [run]  [run]  [run run run]  [run]
//!  pieces     files--------  merge--------  files        neighbours without overlap are read as plain files
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::RecordBatch;
use tidewater_format::DataFileMeta;
use tidewater_merge::Section;

use super::feed::{FileFeed, FileOpener, FileTask};
use super::output::RowOutput;
use super::section::{MergeRules, SectionMerge};
use crate::error::{Result, StoreError};

/// What a file's rows meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meeting {
    /// No other version of any of its keys. Its rows have the kinds they were stored with, or all are `+I`.
    Alone { as_stored: bool },
    /// Versions in other runs; they differ in age as a whole if `by_run`.
    Merged { by_run: bool },
}

/// Files that are read together.
#[derive(Debug)]
pub(super) enum PiecePlan {
    /// One after the other.
    Files(Vec<FileTask>),
    /// Run by run, newest first, with the rows that each is expected to have.
    Merge {
        runs: Vec<Vec<FileTask>>,
        expected_rows: Vec<u64>,
    },
}

/// Plans sections, which are in key order.
pub(super) fn plan_sections(
    sections: Vec<Section>,
    task: impl Fn(&Arc<DataFileMeta>, Meeting) -> Result<FileTask>,
) -> Result<VecDeque<PiecePlan>> {
    let mut pieces = VecDeque::new();
    for mut section in sections {
        if section.runs.len() < 2 {
            let alone = Meeting::Alone { as_stored: true };
            let files = section.files().map(|file| task(file, alone));
            let files = files.collect::<Result<Vec<_>>>()?;
            match pieces.back_mut() {
                Some(PiecePlan::Files(before)) => before.extend(files),
                _ => pieces.push_back(PiecePlan::Files(files)),
            }
            continue;
        }
        let by_run = section.newest_first();
        let expected_rows = section.expected_rows();
        let runs = section.runs.iter().map(|run| {
            let files = run.files().iter();
            files
                .map(|file| task(file, Meeting::Merged { by_run }))
                .collect()
        });
        pieces.push_back(PiecePlan::Merge {
            runs: runs.collect::<Result<_>>()?,
            expected_rows,
        });
    }
    Ok(pieces)
}

/// What the pieces of a stream have in common.
#[derive(Debug)]
pub(super) struct StreamPlan {
    pub(super) opener: Arc<FileOpener>,
    pub(super) output: Arc<RowOutput>,
    /// Nothing if no piece is a merge.
    pub(super) rules: Option<Arc<MergeRules>>,
}

/// The rows of all pieces.
pub(crate) struct PieceStream {
    plan: StreamPlan,
    waiting: VecDeque<PiecePlan>,
    ahead: Option<Piece>,
    current: Option<Piece>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    /// A caller waits, or went away while it did.
    Busy,
    Over,
}

enum Piece {
    Files(Box<FileFeed>),
    Merge(SectionMerge),
}

impl PieceStream {
    /// Begins to open the files of the first piece; needs a tokio runtime.
    pub(super) fn start(plan: StreamPlan, waiting: VecDeque<PiecePlan>) -> Result<Self> {
        let mut stream = Self {
            plan,
            waiting,
            ahead: None,
            current: None,
            state: State::Idle,
        };
        stream.open_ahead()?;
        Ok(stream)
    }

    pub(super) fn output(&self) -> &RowOutput {
        &self.plan.output
    }

    /// The next rows, which are at least one; none at the end and after an error.
    pub(crate) async fn next(&mut self) -> Result<Option<RecordBatch>> {
        match self.state {
            State::Over => return Ok(None),
            // What a dropped call had taken out of the stream is lost.
            State::Busy => return Err(StoreError::ReadCancelled),
            State::Idle => self.state = State::Busy,
        }
        let outcome = self.advance().await;
        self.state = match &outcome {
            Ok(Some(_)) => State::Idle,
            Ok(None) | Err(_) => State::Over,
        };
        if self.state == State::Over {
            self.waiting.clear();
            (self.ahead, self.current) = (None, None);
        }
        outcome
    }

    async fn advance(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let batch = match &mut self.current {
                None => match self.ahead.take() {
                    None => return Ok(None),
                    next => {
                        self.current = next;
                        self.open_ahead()?;
                        continue;
                    }
                },
                Some(Piece::Merge(merge)) => merge.next().await?,
                Some(Piece::Files(feed)) => match feed.next().await? {
                    None => None,
                    Some(batch) => {
                        let output = Arc::clone(&self.plan.output);
                        let columns = Arc::clone(&batch.columns);
                        // Without kinds nothing is computed.
                        let rows = if columns.has_kinds() {
                            let job = move || output.unmerged_rows(&columns, &batch.rows);
                            self.plan.opener.context.cpu().run(job).await??
                        } else {
                            output.unmerged_rows(&columns, &batch.rows)?
                        };
                        match rows {
                            Some(rows) => Some(rows),
                            None => continue,
                        }
                    }
                },
            };
            match batch {
                Some(batch) => return Ok(Some(batch)),
                None => self.current = None,
            }
        }
    }

    fn open_ahead(&mut self) -> Result<()> {
        self.ahead = match self.waiting.pop_front() {
            None => None,
            Some(plan) => Some(self.open(plan)?),
        };
        Ok(())
    }

    fn open(&self, piece: PiecePlan) -> Result<Piece> {
        let opener = &self.plan.opener;
        match piece {
            PiecePlan::Files(files) => {
                let feed = FileFeed::start(opener, files, opener.unit_bytes(1))?;
                Ok(Piece::Files(Box::new(feed)))
            }
            PiecePlan::Merge {
                runs,
                expected_rows,
            } => {
                let rules = self.plan.rules.as_ref().ok_or(StoreError::Bug {
                    what: "files without keys were to be merged",
                })?;
                let unit_bytes = opener.unit_bytes(runs.len());
                let feeds = runs
                    .into_iter()
                    .map(|files| FileFeed::start(opener, files, unit_bytes));
                Ok(Piece::Merge(SectionMerge::start(
                    opener.context.cpu().clone(),
                    Arc::clone(rules),
                    Arc::clone(&self.plan.output),
                    feeds.collect::<Result<_>>()?,
                    &expected_rows,
                )?))
            }
        }
    }
}
