//! Writes entries to as many manifests as their target size asks for.
//!
//! Java looks at the size every 1000 records, we look whenever a block of some 64 kB is closed, so a file exceeds its target by
//! one block at most.
//! Source: Paimon `manifest/ManifestFile.ManifestEntryWriter`, `io/RollingFileWriter.java`; spec 01d §2 and §7.

use std::sync::Arc;

use tidewater_types::DataType;

use super::encode::{EntryWriter, needs_sequences};
use super::entry::ManifestEntry;
use super::file_meta::{ManifestFileMeta, ManifestSummary};
use crate::avro::AvroCodec;
use crate::error::Result;

/// A manifest that has bytes but no name yet.
#[derive(Debug, Clone)]
pub struct EncodedManifest {
    /// The file.
    pub bytes: Vec<u8>,
    size: i64,
    summary: ManifestSummary,
    partition_types: Arc<[DataType]>,
}

impl EncodedManifest {
    /// The manifest list's line for this manifest once it is stored as `name`.
    ///
    /// # Errors
    /// A partition does not have the writer's partition types.
    pub fn meta(&self, name: impl Into<String>) -> Result<ManifestFileMeta> {
        self.summary
            .clone()
            .into_meta(name.into(), self.size, &self.partition_types)
    }

    /// The same without the bytes, for whoever needs [`Self::meta`] after the bytes went elsewhere.
    pub(super) fn without_bytes(&self) -> Self {
        Self {
            bytes: vec![],
            size: self.size,
            summary: self.summary.clone(),
            partition_types: Arc::clone(&self.partition_types),
        }
    }
}

/// Entries in, manifests out.
pub struct RollingManifestWriter {
    codec: AvroCodec,
    target_file_size: u64,
    partition_types: Arc<[DataType]>,
    open: Option<(EntryWriter, ManifestSummary)>,
    finished: Vec<EncodedManifest>,
}

impl RollingManifestWriter {
    /// A writer of manifests of about `target_file_size` bytes (option `manifest.target-file-size`).
    pub fn new(codec: AvroCodec, target_file_size: u64, partition_types: Arc<[DataType]>) -> Self {
        Self {
            codec,
            target_file_size,
            partition_types,
            open: None,
            finished: vec![],
        }
    }

    /// Adds one entry.
    ///
    /// # Errors
    /// The codec failed.
    pub fn write(&mut self, entry: &ManifestEntry) -> Result<()> {
        let with_sequences = needs_sequences(entry);
        if let Some((writer, _)) = &self.open
            && with_sequences
            && !writer.with_sequences()
        {
            self.close()?;
        }
        let (writer, summary) = match &mut self.open {
            Some(open) => open,
            None => self.open.insert((
                EntryWriter::new(self.codec, with_sequences)?,
                ManifestSummary::new(),
            )),
        };
        writer.append(entry)?;
        summary.add(entry);
        let written = writer.written_bytes() as u64;
        if written > 0 && written >= self.target_file_size {
            self.close()?;
        }
        Ok(())
    }

    /// The manifests that are complete and were not taken before.
    pub fn take_finished(&mut self) -> Vec<EncodedManifest> {
        std::mem::take(&mut self.finished)
    }

    /// Completes the last manifest and returns all that were not taken before. No entries give no manifest.
    ///
    /// # Errors
    /// The codec failed.
    pub fn finish(mut self) -> Result<Vec<EncodedManifest>> {
        self.close()?;
        Ok(self.finished)
    }

    fn close(&mut self) -> Result<()> {
        if let Some((writer, summary)) = self.open.take() {
            let bytes = writer.finish()?;
            self.finished.push(EncodedManifest {
                size: i64::try_from(bytes.len()).unwrap_or(i64::MAX),
                bytes,
                summary,
                partition_types: Arc::clone(&self.partition_types),
            });
        }
        Ok(())
    }
}
