//! A store with trouble on order: delays, refusals, and answers that get lost.
//!
//! ```text
//!  FileIo --retries--> FaultyStore --(rule? dice?)--> the real store
//!                          |- refuse        nothing happens, a transient error
//!                          |- fail          nothing happens, an error that no retry cures
//!                          |- lose answer   it happens, the caller hears of a timeout (put_if_absent: Unknown)
//!                          '- delay         it happens later, by the Env's clock
//! ```
//!
//! Files are never torn: an effect is whole or absent. Dice come from the [`Env`] of the wrapped [`FileIo`], so a seed repeats.

mod rules;

use std::ops::Range;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;

pub use self::rules::{Fault, FaultHandle, FaultRates, FaultRule};
use self::rules::{State, lock};
use super::{Depth, FileStatus, PutOutcome, RangeHabits, Sink, Sought, Store};
use crate::metrics::IoOperation;
use crate::{Env, FileIo, IoError};

/// Makes stores faulty.
#[derive(Debug)]
pub struct FaultyStore {
    inner: Arc<dyn Store>,
    shared: Shared,
}

/// What the store and its sinks share.
#[derive(Debug, Clone)]
struct Shared {
    state: Arc<Mutex<State>>,
    env: Env,
}

impl FaultyStore {
    /// The same files as `io`, with faults at the given rates; the handle changes them later.
    ///
    /// Only the store of `io` is faulty, not the stores of full addresses elsewhere.
    pub fn wrap(io: &FileIo, rates: FaultRates) -> (FileIo, FaultHandle) {
        let state = Arc::new(Mutex::new(State::with_rates(rates)));
        let handle = FaultHandle {
            state: Arc::clone(&state),
        };
        let faulty = io.with_store(|inner, env| {
            Arc::new(Self {
                inner,
                shared: Shared {
                    state,
                    env: env.clone(),
                },
            })
        });
        (faulty, handle)
    }
}

impl Shared {
    /// Decides about a request. No lock is held while waiting.
    fn fault(&self, operation: IoOperation, path: &str) -> Option<Fault> {
        lock(&self.state).decide(operation, path, &self.env)
    }

    /// Runs `effect` with the trouble that the request meets.
    async fn meet<T>(
        &self,
        operation: IoOperation,
        path: &str,
        effect: impl Future<Output = Result<T, IoError>> + Send,
    ) -> Result<T, IoError> {
        match self.fault(operation, path) {
            None => effect.await,
            Some(Fault::Delay(wait)) => {
                self.env.sleep(wait).await;
                effect.await
            }
            Some(Fault::LoseAnswer) => {
                effect.await?;
                Err(transient(operation, path, "the answer was lost"))
            }
            Some(Fault::LoseRequest) => Err(transient(operation, path, "the request was lost")),
            Some(fault) => Err(refusal(fault, operation, path)),
        }
    }
}

fn transient(operation: IoOperation, path: &str, why: &str) -> IoError {
    IoError::Transient {
        operation: operation.name(),
        path: path.to_owned(),
        source: why.into(),
    }
}

fn refusal(fault: Fault, operation: IoOperation, path: &str) -> IoError {
    let (operation_name, path_text) = (operation.name(), path.to_owned());
    match fault {
        Fault::DiskFull => IoError::DiskFull { path: path_text },
        Fault::Refuse => transient(operation, path, "refused on order"),
        _ => IoError::Failed {
            operation: operation_name,
            path: path_text,
            source: "failed on order".into(),
        },
    }
}

#[async_trait]
impl Store for FaultyStore {
    fn address(&self, path: &str) -> String {
        self.inner.address(path)
    }

    fn is_local(&self) -> bool {
        self.inner.is_local()
    }

    fn range_habits(&self) -> RangeHabits {
        self.inner.range_habits()
    }

    async fn read(&self, path: &str) -> Result<Bytes, IoError> {
        self.shared
            .meet(IoOperation::Read, path, self.inner.read(path))
            .await
    }

    async fn read_ranges(&self, path: &str, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, IoError> {
        self.shared
            .meet(
                IoOperation::ReadRanges,
                path,
                self.inner.read_ranges(path, ranges),
            )
            .await
    }

    async fn size(&self, path: &str) -> Result<u64, IoError> {
        self.shared
            .meet(IoOperation::Size, path, self.inner.size(path))
            .await
    }

    async fn exists(&self, path: &str, sought: Sought) -> Result<bool, IoError> {
        self.shared
            .meet(IoOperation::Exists, path, self.inner.exists(path, sought))
            .await
    }

    async fn list(&self, dir: &str, depth: Depth) -> Result<Vec<FileStatus>, IoError> {
        self.shared
            .meet(IoOperation::List, dir, self.inner.list(dir, depth))
            .await
    }

    async fn write(&self, path: &str, bytes: Bytes) -> Result<(), IoError> {
        self.shared
            .meet(IoOperation::Write, path, self.inner.write(path, bytes))
            .await
    }

    async fn overwrite(&self, path: &str, bytes: Bytes, staging_id: &str) -> Result<(), IoError> {
        self.shared
            .meet(
                IoOperation::Overwrite,
                path,
                self.inner.overwrite(path, bytes, staging_id),
            )
            .await
    }

    /// Here a lost answer is an outcome and not an error.
    async fn put_if_absent(
        &self,
        path: &str,
        bytes: Bytes,
        staging_id: &str,
    ) -> Result<PutOutcome, IoError> {
        let put = self.inner.put_if_absent(path, bytes, staging_id);
        match self.shared.fault(IoOperation::PutIfAbsent, path) {
            None => put.await,
            Some(Fault::Delay(wait)) => {
                self.shared.env.sleep(wait).await;
                put.await
            }
            Some(Fault::LoseAnswer) => put.await.map(|_| PutOutcome::Unknown),
            Some(Fault::LoseRequest) => Ok(PutOutcome::Unknown),
            Some(fault) => Err(refusal(fault, IoOperation::PutIfAbsent, path)),
        }
    }

    async fn open_write(&self, path: &str) -> Result<Box<dyn Sink>, IoError> {
        let inner = self
            .shared
            .meet(IoOperation::OpenWrite, path, self.inner.open_write(path))
            .await?;
        Ok(Box::new(FaultySink {
            inner,
            path: path.to_owned(),
            shared: self.shared.clone(),
        }))
    }

    async fn delete(&self, path: &str) -> Result<(), IoError> {
        self.shared
            .meet(IoOperation::Delete, path, self.inner.delete(path))
            .await
    }

    async fn delete_dir(&self, dir: &str) -> Result<(), IoError> {
        self.shared
            .meet(IoOperation::DeleteDir, dir, self.inner.delete_dir(dir))
            .await
    }

    async fn rename_dir(&self, from: &str, to: &str) -> Result<(), IoError> {
        self.shared
            .meet(
                IoOperation::RenameDir,
                from,
                self.inner.rename_dir(from, to),
            )
            .await
    }

    async fn create_dir(&self, dir: &str) -> Result<(), IoError> {
        self.shared
            .meet(IoOperation::CreateDir, dir, self.inner.create_dir(dir))
            .await
    }
}

/// A sink whose pieces and end may meet trouble. Removal does not: a halted store keeps what is there, as a killed process would.
struct FaultySink {
    inner: Box<dyn Sink>,
    path: String,
    shared: Shared,
}

#[async_trait]
impl Sink for FaultySink {
    async fn write(&mut self, bytes: Bytes) -> Result<(), IoError> {
        self.shared
            .meet(IoOperation::SinkWrite, &self.path, self.inner.write(bytes))
            .await
    }

    async fn finish(&mut self) -> Result<u64, IoError> {
        self.shared
            .meet(IoOperation::SinkFinish, &self.path, self.inner.finish())
            .await
    }

    async fn abort(&mut self) -> Result<(), IoError> {
        if lock(&self.shared.state).halted {
            return Err(refusal(Fault::Fail, IoOperation::Delete, &self.path));
        }
        self.inner.abort().await
    }

    fn discard(&mut self) {
        if !lock(&self.shared.state).halted {
            self.inner.discard();
        }
    }
}

#[cfg(test)]
mod tests;
