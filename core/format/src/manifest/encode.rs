//! Entries to manifest bytes, field for field as Java 1.3.1 writes them.
//!
//! If an entry carries `write_cols_sequences` (2.x), the file gets 2.1's schema, which has one column more; 1.3.1 reads it too.
//! Source: Paimon `manifest/ManifestFile.java`; spec 01b §4.2 and §4.4.

use super::decode::ENTRY_VERSION;
use super::entry::ManifestEntry;
use super::file_record::put_file;
use super::wire::put_row;
use crate::avro::{AvroCodec, AvroError, ContainerWriter, put};
use crate::error::Result;

/// The schema Java 1.3.1 writes to manifests.
pub(super) const MANIFEST_SCHEMA: &str = include_str!("schema/manifest-1.3.1.json");
/// The same and `_WRITE_COLS_SEQUENCES`.
pub(super) const MANIFEST_SCHEMA_2_1: &str = include_str!("schema/manifest-2.1.json");

/// Writes one manifest with these entries, in this order.
///
/// # Errors
/// The codec failed.
pub fn encode_entries(entries: &[ManifestEntry], codec: AvroCodec) -> Result<Vec<u8>> {
    let mut writer = EntryWriter::new(codec, entries.iter().any(needs_sequences))?;
    for entry in entries {
        writer.append(entry)?;
    }
    Ok(writer.finish()?)
}

/// Whether 1.3.1's schema has no place for something in the entry.
pub(super) fn needs_sequences(entry: &ManifestEntry) -> bool {
    entry.file.write_cols_sequences.is_some()
}

/// Writes entries one by one.
pub(super) struct EntryWriter {
    container: ContainerWriter,
    with_sequences: bool,
}

impl EntryWriter {
    pub(super) fn new(codec: AvroCodec, with_sequences: bool) -> Result<Self, AvroError> {
        let schema = if with_sequences {
            MANIFEST_SCHEMA_2_1
        } else {
            MANIFEST_SCHEMA
        };
        Ok(Self {
            container: ContainerWriter::new(schema, codec)?,
            with_sequences,
        })
    }

    pub(super) fn with_sequences(&self) -> bool {
        self.with_sequences
    }

    pub(super) fn append(&mut self, entry: &ManifestEntry) -> Result<(), AvroError> {
        let with_sequences = self.with_sequences;
        self.container
            .append(|out| put_entry(out, entry, with_sequences))
    }

    /// Bytes so far, without the open block.
    pub(super) fn written_bytes(&self) -> usize {
        self.container.written_bytes()
    }

    pub(super) fn finish(self) -> Result<Vec<u8>, AvroError> {
        self.container.finish()
    }
}

/// Writes the fields of one entry.
pub(super) fn put_entry(out: &mut Vec<u8>, entry: &ManifestEntry, with_sequences: bool) {
    put::int(out, ENTRY_VERSION);
    put::int(out, entry.kind.as_i32());
    put_row(out, &entry.partition);
    put::int(out, entry.bucket);
    put::int(out, entry.total_buckets);
    put_file(out, &entry.file, with_sequences);
}
