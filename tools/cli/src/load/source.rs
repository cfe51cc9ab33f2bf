//! The inputs of a load as one stream of batches, read ahead on a thread of their own.

use std::collections::VecDeque;
use std::thread::JoinHandle;

use arrow_array::{Int8Array, RecordBatch};
use tidewater_types::RowType;
use tokio::sync::mpsc;

use super::bad_rows::{BadRow, BadRowPolicy};
use super::checkpoint::SourceFile;
use super::csv::{CsvOptions, CsvReader};
use super::error::{LoadError, Result};
use super::guard::guarded;
use super::input::{Input, InputFormat};
use super::ipc::IpcReader;
use super::json_lines::JsonReader;
use super::parquet::ParquetReader;
use super::reader::{PieceSize, RowReader};
use super::target::Target;

/// Batches that wait for the consumer; one more is being decoded.
const QUEUE_BATCHES: usize = 2;

/// A place between two rows of the inputs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Index of the input.
    pub file: usize,
    /// Rows of it that lie before, good or bad.
    pub row: u64,
}

/// What to read and how.
#[derive(Debug)]
pub struct SourceOptions {
    /// The inputs, read in this order.
    pub inputs: Vec<Input>,
    /// What is in them; by their names if none.
    pub format: Option<InputFormat>,
    /// How CSV is written.
    pub csv: CsvOptions,
    /// Whether columns that the table does not have are left out, instead of refused.
    pub ignore_extra_columns: bool,
    /// Column that holds row kinds; all rows are inserts if none.
    pub kind_column: Option<String>,
    /// What becomes of bad rows.
    pub bad_rows: BadRowPolicy,
    /// Rows of a batch at most.
    pub batch_rows: usize,
    /// Bytes of a batch, about: of text, or of arrays.
    pub batch_bytes: usize,
}

impl SourceOptions {
    /// Reads `inputs`, everything else as it is when nothing is said.
    pub fn new(inputs: Vec<Input>) -> Self {
        Self {
            inputs,
            format: None,
            csv: CsvOptions::default(),
            ignore_extra_columns: false,
            kind_column: None,
            bad_rows: BadRowPolicy::default(),
            batch_rows: 1 << 16,
            batch_bytes: 8 << 20,
        }
    }
}

/// Rows for the table.
#[derive(Debug)]
pub struct SourceBatch {
    /// The rows: the table's columns in canonical types. A column with a default value may hold nulls although it is NOT NULL.
    /// There may be none, if all were bad.
    pub batch: RecordBatch,
    /// Their kinds; all are inserts if none.
    pub kinds: Option<Int8Array>,
    /// Where the rows end: what to keep once they are committed.
    pub end: Position,
    /// Rows that were put aside.
    pub bad_rows: Vec<BadRow>,
}

/// The inputs of a load.
///
/// Dropping it stops the thread, at the latest when it has finished the batch at hand.
pub struct Source {
    files: Vec<SourceFile>,
    state: State,
}

enum State {
    Ready(Box<Plan>),
    Running {
        batches: mpsc::Receiver<Result<Message>>,
        thread: JoinHandle<()>,
    },
    Ended,
}

enum Message {
    Batch(SourceBatch),
    End,
}

struct Plan {
    inputs: VecDeque<(Input, InputFormat)>,
    csv: CsvOptions,
    target: Target,
    policy: BadRowPolicy,
    size: PieceSize,
    start: Position,
    bad_rows_before: u64,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source")
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

impl Source {
    /// The rows of the inputs for a table of `row_type`. Looks at names and metadata of files; opens none.
    ///
    /// # Errors
    /// [`LoadError::NoFormat`], [`LoadError::Read`] for a file that is not there, [`LoadError::NoKindColumn`].
    pub fn open(options: SourceOptions, row_type: &RowType) -> Result<Self> {
        let files = options.inputs.iter().map(Input::describe);
        let files = files.collect::<Result<Vec<_>>>()?;
        let inputs = options.inputs.into_iter().map(|input| {
            let format = input.format(options.format)?;
            Ok((input, format))
        });
        let plan = Plan {
            inputs: inputs.collect::<Result<_>>()?,
            csv: options.csv,
            target: Target::new(row_type, options.kind_column, options.ignore_extra_columns),
            policy: options.bad_rows,
            size: PieceSize {
                rows: options.batch_rows.max(1),
                bytes: options.batch_bytes.max(1),
            },
            start: Position::default(),
            bad_rows_before: 0,
        };
        Ok(Self {
            files,
            state: State::Ready(Box::new(plan)),
        })
    }

    /// What identifies the inputs, for the checkpoint.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// Begins behind `position`, of whose rows `bad_rows` were put aside. Before the first batch only.
    ///
    /// # Errors
    /// [`LoadError::Misuse`] after it. That an input is too short comes with the first batch.
    pub fn skip_to(&mut self, position: Position, bad_rows: u64) -> Result<()> {
        match &mut self.state {
            State::Ready(plan) => {
                plan.start = position;
                plan.bad_rows_before = bad_rows;
                Ok(())
            }
            State::Running { .. } | State::Ended => Err(LoadError::Misuse {
                what: "a source that is being read cannot be moved",
            }),
        }
    }

    /// The next batch; none at the end. May be dropped while it waits, without losing a batch.
    ///
    /// # Errors
    /// What is wrong with an input or a row; nothing comes after an error.
    pub async fn next_batch(&mut self) -> Result<Option<SourceBatch>> {
        let received = match self.batches()? {
            Some(batches) => batches.recv().await,
            None => return Ok(None),
        };
        self.receive(received)
    }

    /// As [`Source::next_batch`], for callers outside a runtime.
    ///
    /// # Errors
    /// As [`Source::next_batch`].
    pub fn next_batch_blocking(&mut self) -> Result<Option<SourceBatch>> {
        let received = match self.batches()? {
            Some(batches) => batches.blocking_recv(),
            None => return Ok(None),
        };
        self.receive(received)
    }

    /// The queue; starts the thread at the first call.
    fn batches(&mut self) -> Result<Option<&mut mpsc::Receiver<Result<Message>>>> {
        if let State::Ready(_) = self.state
            && let State::Ready(plan) = std::mem::replace(&mut self.state, State::Ended)
        {
            let (sender, batches) = mpsc::channel(QUEUE_BATCHES);
            let name = self.files.first().map_or("-", |file| file.name.as_str());
            let thread = std::thread::Builder::new()
                .name("load-source".to_owned())
                .spawn(move || {
                    let outcome = plan.read(&sender);
                    // Without a receiver nobody wants to know.
                    drop(sender.blocking_send(outcome.map(|()| Message::End)));
                })
                .map_err(|source| LoadError::Read {
                    file: name.to_owned(),
                    source,
                })?;
            self.state = State::Running { batches, thread };
        }
        Ok(match &mut self.state {
            State::Running { batches, .. } => Some(batches),
            State::Ready(_) | State::Ended => None,
        })
    }

    fn receive(&mut self, received: Option<Result<Message>>) -> Result<Option<SourceBatch>> {
        match received {
            Some(Ok(Message::Batch(batch))) => return Ok(Some(batch)),
            Some(Ok(Message::End)) => self.state = State::Ended,
            Some(Err(error)) => {
                self.state = State::Ended;
                return Err(error);
            }
            None => {
                if let State::Running { thread, .. } =
                    std::mem::replace(&mut self.state, State::Ended)
                {
                    // It has ended already: its half of the queue is gone.
                    drop(thread.join());
                }
                let file = self.files.first().map_or("-", |file| file.name.as_str());
                return Err(LoadError::ReaderStopped {
                    file: file.to_owned(),
                });
            }
        }
        Ok(None)
    }
}

impl Plan {
    /// Reads all inputs; ends early without an error when nobody listens.
    fn read(mut self, sender: &mpsc::Sender<Result<Message>>) -> Result<()> {
        let mut bad = self.bad_rows_before;
        let mut index = 0;
        while let Some((input, format)) = self.inputs.pop_front() {
            let mut position = Position {
                file: index,
                row: 0,
            };
            index += 1;
            if position.file < self.start.file {
                continue;
            }
            let name = input.name();
            let mut reader = guarded(&name, || self.reader(input, format))?;
            if position.file == self.start.file && self.start.row > 0 {
                position.row = guarded(&name, || reader.skip(self.start.row))?;
                if position.row < self.start.row {
                    return Err(LoadError::Shorter {
                        file: name,
                        found: position.row,
                        done: self.start.row,
                    });
                }
            }
            while let Some(piece) = guarded(&name, || reader.next_piece())? {
                position.row += piece.rows_read;
                let mut bad_rows = piece.bad_rows;
                bad += u64::try_from(bad_rows.len()).unwrap_or_default();
                match self.policy {
                    BadRowPolicy::Refuse if !bad_rows.is_empty() => {
                        return Err(LoadError::BadRow(Box::new(bad_rows.swap_remove(0))));
                    }
                    BadRowPolicy::HandOver { max: Some(limit) } if bad > limit => {
                        // The row that passes the limit, not the last of the piece.
                        let beyond = usize::try_from(bad - limit).unwrap_or(1);
                        let at = bad_rows.len().saturating_sub(beyond);
                        let last = Box::new(bad_rows.swap_remove(at));
                        return Err(LoadError::TooManyBadRows { limit, last });
                    }
                    BadRowPolicy::Refuse | BadRowPolicy::HandOver { .. } => {}
                }
                let batch = SourceBatch {
                    batch: piece.batch,
                    kinds: piece.kinds,
                    end: position,
                    bad_rows,
                };
                if sender.blocking_send(Ok(Message::Batch(batch))).is_err() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn reader(&self, input: Input, format: InputFormat) -> Result<Box<dyn RowReader>> {
        let target = self.target.clone();
        Ok(match format {
            InputFormat::Csv => Box::new(CsvReader::open(input, &self.csv, target, self.size)?),
            InputFormat::Json => Box::new(JsonReader::open(input, target, self.size)?),
            InputFormat::Parquet => Box::new(ParquetReader::open(input, target, self.size)?),
            InputFormat::Arrow => Box::new(IpcReader::open(input, target, self.size)?),
        })
    }
}
