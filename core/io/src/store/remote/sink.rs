//! An object written piece by piece: parts go out while the next one fills.
//!
//! An object smaller than a part is one plain put. A larger one becomes visible only when its upload is completed; an upload that
//! is dropped is aborted as well as that goes, and a bucket's lifecycle rule takes what a crash leaves.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use object_store::path::Path as Key;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload};
use tokio::task::{JoinError, JoinSet};

use super::super::Sink;
use crate::{IoError, IoOptions};

pub(super) struct RemoteSink {
    objects: Arc<dyn ObjectStore>,
    key: Key,
    address: String,
    pending: Vec<Bytes>,
    pending_bytes: usize,
    written_bytes: u64,
    part_bytes: usize,
    parts_in_flight: usize,
    upload: Option<Box<dyn MultipartUpload>>,
    parts: JoinSet<object_store::Result<()>>,
    /// Finished, aborted, or broken by an error that the caller has seen.
    closed: bool,
    /// The store was told to make the object visible, whatever it answered.
    published: bool,
}

impl RemoteSink {
    pub(super) fn new(
        objects: Arc<dyn ObjectStore>,
        key: Key,
        address: String,
        options: &IoOptions,
    ) -> Self {
        Self {
            objects,
            key,
            address,
            pending: Vec::new(),
            pending_bytes: 0,
            written_bytes: 0,
            part_bytes: options.remote_part_bytes,
            parts_in_flight: options.remote_parts_in_flight,
            upload: None,
            parts: JoinSet::new(),
            closed: false,
            published: false,
        }
    }

    fn failed(&self, error: object_store::Error) -> IoError {
        IoError::from_object_store("write", self.address.as_str(), error)
    }

    fn part_ended(
        &self,
        ended: Result<object_store::Result<()>, JoinError>,
    ) -> Result<(), IoError> {
        match ended {
            Ok(sent) => sent.map_err(|error| self.failed(error)),
            Err(error) if error.is_panic() => Err(IoError::TaskPanicked {
                message: error.to_string(),
            }),
            Err(_) => Err(IoError::TaskCancelled),
        }
    }

    fn ensure_open(&self) -> Result<(), IoError> {
        if self.closed {
            Err(IoError::SinkFailed {
                path: self.address.clone(),
            })
        } else {
            Ok(())
        }
    }

    async fn write_pieces(&mut self, mut bytes: Bytes) -> Result<(), IoError> {
        while !bytes.is_empty() {
            let room = self.part_bytes.saturating_sub(self.pending_bytes);
            let piece = bytes.split_to(room.min(bytes.len()));
            self.pending_bytes += piece.len();
            self.written_bytes += piece.len() as u64;
            self.pending.push(piece);
            if self.pending_bytes >= self.part_bytes {
                self.send_part().await?;
            }
        }
        Ok(())
    }

    /// Waits for a free slot, then lets the gathered part go.
    async fn send_part(&mut self) -> Result<(), IoError> {
        while self.parts.len() >= self.parts_in_flight {
            if let Some(ended) = self.parts.join_next().await {
                self.part_ended(ended)?;
            }
        }
        let upload = match &mut self.upload {
            Some(upload) => upload,
            none => {
                let started = self.objects.put_multipart(&self.key).await;
                let started = started.map_err(|error| {
                    IoError::from_object_store("write", self.address.as_str(), error)
                })?;
                none.insert(started)
            }
        };
        self.pending_bytes = 0;
        let payload: PutPayload = std::mem::take(&mut self.pending).into_iter().collect();
        self.parts.spawn(upload.put_part(payload));
        Ok(())
    }

    async fn complete(&mut self) -> Result<(), IoError> {
        if self.upload.is_none() {
            self.published = true;
            let payload: PutPayload = std::mem::take(&mut self.pending).into_iter().collect();
            let put = self.objects.put(&self.key, payload).await;
            return put.map(drop).map_err(|error| self.failed(error));
        }
        if !self.pending.is_empty() {
            self.send_part().await?;
        }
        while let Some(ended) = self.parts.join_next().await {
            self.part_ended(ended)?;
        }
        self.published = true;
        match &mut self.upload {
            Some(upload) => {
                let completed = upload.complete().await.map(drop);
                completed.map_err(|error| self.failed(error))?;
                self.upload = None;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

#[async_trait]
impl Sink for RemoteSink {
    async fn write(&mut self, bytes: Bytes) -> Result<(), IoError> {
        self.ensure_open()?;
        let written = self.write_pieces(bytes).await;
        self.closed = written.is_err();
        written
    }

    async fn finish(&mut self) -> Result<u64, IoError> {
        self.ensure_open()?;
        self.closed = true;
        self.complete().await?;
        Ok(self.written_bytes)
    }

    async fn abort(&mut self) -> Result<(), IoError> {
        self.closed = true;
        self.pending.clear();
        self.parts.shutdown().await;
        if self.published {
            missing_is_fine(self.objects.delete(&self.key).await)
                .map_err(|error| self.failed(error))?;
        }
        match self.upload.take() {
            Some(mut upload) => {
                missing_is_fine(upload.abort().await).map_err(|error| self.failed(error))
            }
            None => Ok(()),
        }
    }

    fn discard(&mut self) {
        self.parts.abort_all();
        let Some(mut upload) = self.upload.take() else {
            return;
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let address = self.address.clone();
            drop(runtime.spawn(async move {
                if let Err(error) = upload.abort().await {
                    tracing::debug!(path = address, %error, "left the parts of an upload behind");
                }
            }));
        }
    }
}

/// An upload that was completed after all, or an object that never came to be, needs no removal.
fn missing_is_fine(removed: object_store::Result<()>) -> object_store::Result<()> {
    match removed {
        Err(object_store::Error::NotFound { .. }) => Ok(()),
        other => other,
    }
}
