//! A compaction that runs beside its writer.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::CompactionResult;
use crate::error::{Result, StoreError};

/// A compaction under way. Dropping it stops the work at its next wait; files it had finished are then orphans.
#[derive(Debug)]
pub(crate) struct Running {
    task: JoinHandle<Result<CompactionResult>>,
}

impl Running {
    /// Starts `work` once one of `permits` is free.
    pub(crate) fn start<F>(permits: &Arc<Semaphore>, work: F) -> Self
    where
        F: Future<Output = Result<CompactionResult>> + Send + 'static,
    {
        let permits = Arc::clone(permits);
        let task = tokio::spawn(async move {
            let _permit = permits.acquire_owned().await.map_err(|_| StoreError::Bug {
                what: "the permits of compactions are closed",
            })?;
            work.await
        });
        Self { task }
    }

    /// Whether the result can be had without waiting.
    pub(crate) fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// Waits for the result.
    pub(crate) async fn result(mut self) -> Result<CompactionResult> {
        match (&mut self.task).await {
            Ok(result) => result,
            Err(error) => Err(StoreError::CompactionLost {
                reason: error.to_string(),
            }),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}
