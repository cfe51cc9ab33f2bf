//! Manifest bytes to entries, filtered on the way.
//!
//! The writer's schema is turned into a plan once per file; files with exactly Java's schema share one plan.
//! Source: Paimon `manifest/ManifestEntrySerializer.java`; spec 01b §4.2 and §4.4.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use tidewater_types::BinaryRow;

use super::encode::MANIFEST_SCHEMA;
use super::entry::{FileKind, ManifestEntry};
use super::file_record::{FilePlan, FileReader, FileView, LatestArrays, WantedStats};
use super::filter::ManifestFilter;
use super::wire::{RowReader, check_version, root_record};
use crate::avro::{
    ContainerReader, Cursor, Expect, FieldSpec, RecordPlan, SkipTable, Step, WriterSchema,
    expect_block_end, field, pass_unknown,
};
use crate::error::{FormatError, Result};

/// The only version of manifest entries there has been.
pub(super) const ENTRY_VERSION: i32 = 2;

/// The least bytes an entry takes; bounds what is reserved for a block.
const ENTRY_BYTES_MIN: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryField {
    Version,
    Kind,
    Partition,
    Bucket,
    TotalBuckets,
    File,
}

const ENTRY_FIELDS: [FieldSpec<EntryField>; 6] = [
    field(EntryField::Version, "_VERSION", Expect::Int),
    field(EntryField::Kind, "_KIND", Expect::Int),
    field(EntryField::Partition, "_PARTITION", Expect::Bytes),
    field(EntryField::Bucket, "_BUCKET", Expect::Int),
    field(EntryField::TotalBuckets, "_TOTAL_BUCKETS", Expect::Int),
    field(EntryField::File, "_FILE", Expect::Record),
];

/// Records of a file, and whether they said more than this build understands.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded<T> {
    /// The records in file order.
    pub records: Vec<T>,
    /// Some record carried a value in a column this build does not know. Reading is right without it; writing the records
    /// to a new file would lose it.
    pub carries_unknown: bool,
}

struct EntryPlan {
    record: RecordPlan<EntryField>,
    file: FilePlan,
    skips: SkipTable,
}

impl EntryPlan {
    fn of(schema_text: &[u8]) -> Result<Arc<Self>> {
        static JAVA: OnceLock<Arc<EntryPlan>> = OnceLock::new();
        if schema_text != MANIFEST_SCHEMA.as_bytes() {
            return Self::compile(schema_text);
        }
        match JAVA.get() {
            Some(plan) => Ok(Arc::clone(plan)),
            None => {
                let plan = Self::compile(schema_text)?;
                Ok(Arc::clone(JAVA.get_or_init(|| plan)))
            }
        }
    }

    fn compile(schema_text: &[u8]) -> Result<Arc<Self>> {
        let schema = WriterSchema::parse(schema_text)?;
        let skips = SkipTable::new(&schema);
        let root = root_record(&schema)?;
        Ok(Arc::new(Self {
            record: RecordPlan::compile(&schema, &skips, root, &ENTRY_FIELDS)?,
            file: FilePlan::compile(&schema, &skips, root)?,
            skips,
        }))
    }
}

#[derive(Default)]
struct EntryView<'a> {
    version: i32,
    kind: i32,
    partition: &'a [u8],
    bucket: i32,
    total_buckets: i32,
    file: FileView<'a>,
}

impl EntryPlan {
    #[inline]
    fn view<'a>(
        &self,
        cursor: &mut Cursor<'a>,
        latest: &mut LatestArrays,
        carries_unknown: &mut bool,
    ) -> Result<EntryView<'a>> {
        let mut view = EntryView::default();
        for step in &self.record.steps {
            match step {
                Step::Read { field, value } => match field {
                    EntryField::Version => {
                        view.version = value.int(cursor)?;
                        // Checked here because the rest may mean something else in another version.
                        check_version(view.version, ENTRY_VERSION, "manifest entry")?;
                    }
                    EntryField::Kind => view.kind = value.int(cursor)?,
                    EntryField::Partition => view.partition = value.bytes(cursor)?,
                    EntryField::Bucket => view.bucket = value.int(cursor)?,
                    EntryField::TotalBuckets => view.total_buckets = value.int(cursor)?,
                    EntryField::File => {
                        value.require(cursor)?;
                        view.file = self
                            .file
                            .view(&self.skips, cursor, latest, carries_unknown)?;
                    }
                },
                Step::Pass { skip, optional } => {
                    *carries_unknown |= pass_unknown(&self.skips, skip, *optional, cursor)?;
                }
            }
        }
        Ok(view)
    }
}

/// The partitions of one manifest: each is read and tested once.
struct Partitions<'f> {
    filter: &'f ManifestFilter,
    reader: RowReader,
    known: HashMap<Vec<u8>, usize>,
    rows: Vec<(BinaryRow, bool)>,
    last: Option<usize>,
    last_bytes: Vec<u8>,
}

impl<'f> Partitions<'f> {
    fn new(filter: &'f ManifestFilter) -> Self {
        Self {
            filter,
            reader: RowReader::new(),
            known: HashMap::new(),
            rows: vec![],
            last: None,
            last_bytes: vec![],
        }
    }

    /// The row, if entries of it are wanted.
    #[inline]
    fn wanted(&mut self, bytes: &[u8]) -> Result<Option<&BinaryRow>> {
        let index = match self.last {
            Some(index) if self.last_bytes == bytes => index,
            _ => self.look_up(bytes)?,
        };
        Ok(self
            .rows
            .get(index)
            .and_then(|(row, wanted)| wanted.then_some(row)))
    }

    fn look_up(&mut self, bytes: &[u8]) -> Result<usize> {
        let index = match self.known.get(bytes) {
            Some(index) => *index,
            None => {
                let row = self.reader.read(bytes)?;
                let wanted = self.filter.wants_partition(&row);
                self.rows.push((row, wanted));
                self.known.insert(bytes.to_vec(), self.rows.len() - 1);
                self.rows.len() - 1
            }
        };
        self.last = Some(index);
        self.last_bytes.clear();
        self.last_bytes.extend_from_slice(bytes);
        Ok(index)
    }
}

/// Reads the entries of a manifest that pass `filter`, in file order.
///
/// # Errors
/// The bytes are no manifest of version 2, or are torn.
pub fn decode_entries(bytes: &[u8], filter: &ManifestFilter) -> Result<Vec<ManifestEntry>> {
    Ok(decode_manifest(bytes, filter)?.records)
}

/// Like [`decode_entries`], and tells whether the file says more than the entries do. For callers that write the entries
/// to another manifest.
///
/// # Errors
/// As [`decode_entries`].
pub fn decode_manifest(bytes: &[u8], filter: &ManifestFilter) -> Result<Decoded<ManifestEntry>> {
    let mut reader = ContainerReader::open(bytes)?;
    let plan = EntryPlan::of(reader.schema_text())?;
    let wanted = WantedStats {
        key: filter.wants_key_stats(),
        value: filter.wants_value_stats(),
    };
    let mut partitions = Partitions::new(filter);
    let mut files = FileReader::new();
    let mut latest = LatestArrays::default();
    let mut block = Vec::new();
    let mut records = Vec::new();
    let mut carries_unknown = false;
    while let Some(count) = reader.next_block(&mut block)? {
        let mut cursor = Cursor::new(&block);
        records.reserve(count.min(block.len() / ENTRY_BYTES_MIN));
        for _ in 0..count {
            let view = plan.view(&mut cursor, &mut latest, &mut carries_unknown)?;
            let Some(partition) = partitions.wanted(view.partition)? else {
                continue;
            };
            if !filter.wants_bucket(view.bucket, view.total_buckets)
                || !filter.wants_level(view.file.level)
            {
                continue;
            }
            let kind = FileKind::from_i32(view.kind).ok_or_else(|| {
                FormatError::corrupt("manifest entry", format!("its kind is {}", view.kind))
            })?;
            records.push(ManifestEntry {
                kind,
                partition: partition.clone(),
                bucket: view.bucket,
                total_buckets: view.total_buckets,
                file: Arc::new(files.read(&plan.file, &view.file, wanted)?),
            });
        }
        expect_block_end(&cursor)?;
    }
    Ok(Decoded {
        records,
        carries_unknown,
    })
}
