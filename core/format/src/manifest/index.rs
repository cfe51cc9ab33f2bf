//! Index manifests: the complete set of index files of a snapshot (dynamic-bucket hashes, deletion vectors).
//!
//! Written with the columns of 1.3.1; if an entry carries a global index (2.x), with 2.1's. Types a reader does not know are
//! kept: they are text here.
//! Source: Paimon `manifest/IndexManifestEntrySerializer.java`, `index/IndexFileMeta.java`; spec 01b §4.5.

use tidewater_types::BinaryRow;

use super::decode::Decoded;
use super::entry::FileKind;
use super::wire::{RowReader, check_version, put_row, root_record};
use crate::avro::{
    AvroCodec, ContainerReader, ContainerWriter, Cursor, Expect, Fault, FieldSpec, RecordPlan,
    SkipTable, Step, ValuePlan, WriterSchema, expect_block_end, field, nested_record,
    optional_field, pass_unknown, put,
};
use crate::error::{FormatError, Result};

const INDEX_VERSION: i32 = 1;
const WHAT: &str = "index manifest entry";

pub(super) const INDEX_SCHEMA: &str = include_str!("schema/index-manifest-1.3.1.json");
pub(super) const INDEX_SCHEMA_2_1: &str = include_str!("schema/index-manifest-2.1.json");

/// An index file of one bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexManifestEntry {
    /// ADD in every stored file; DELETE only in changes on their way to one.
    pub kind: FileKind,
    /// Values of the partition columns.
    pub partition: BinaryRow,
    /// Bucket number; 0 for deletion vectors of unaware buckets.
    pub bucket: i32,
    /// The file.
    pub file: IndexFileMeta,
}

/// An index file and what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexFileMeta {
    /// `HASH`, `DELETION_VECTORS`, or a type of a later version.
    pub index_type: String,
    /// Name in `index/`.
    pub file_name: String,
    /// Size in bytes.
    pub file_size: i64,
    /// Hashes of a `HASH` file, vectors of a `DELETION_VECTORS` file.
    pub row_count: i64,
    /// Where each data file's vector is; `None` for other types.
    pub deletion_vectors: Option<Vec<DvMeta>>,
    /// Full URI if the file is elsewhere.
    pub external_path: Option<String>,
    /// What a global index covers (2.x).
    pub global_index: Option<GlobalIndexMeta>,
}

/// Where in an index file the deletion vector of one data file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DvMeta {
    /// The data file whose rows it deletes.
    pub data_file_name: String,
    /// First byte.
    pub offset: i32,
    /// Bytes.
    pub length: i32,
    /// Rows it deletes; `None` in old files.
    pub cardinality: Option<i64>,
}

/// What a global index covers (2.x). Kept and written back, not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalIndexMeta {
    /// First row id.
    pub row_range_start: i64,
    /// Last row id.
    pub row_range_end: i64,
    /// Id of the indexed column.
    pub index_field_id: i32,
    /// Ids of further columns in it.
    pub extra_field_ids: Option<Vec<i32>>,
    /// What the index type keeps for itself.
    pub index_meta: Option<Vec<u8>>,
    /// What the index was made from.
    pub source_meta: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IndexField {
    Version,
    Kind,
    Partition,
    Bucket,
    IndexType,
    FileName,
    FileSize,
    RowCount,
    DvRanges,
    ExternalPath,
    GlobalIndex,
}

const INDEX_FIELDS: [FieldSpec<IndexField>; 11] = [
    field(IndexField::Version, "_VERSION", Expect::Int),
    field(IndexField::Kind, "_KIND", Expect::Int),
    field(IndexField::Partition, "_PARTITION", Expect::Bytes),
    field(IndexField::Bucket, "_BUCKET", Expect::Int),
    field(IndexField::IndexType, "_INDEX_TYPE", Expect::String),
    field(IndexField::FileName, "_FILE_NAME", Expect::String),
    field(IndexField::FileSize, "_FILE_SIZE", Expect::Long),
    field(IndexField::RowCount, "_ROW_COUNT", Expect::Long),
    optional_field(
        IndexField::DvRanges,
        "_DELETIONS_VECTORS_RANGES",
        Expect::RecordArray,
    ),
    optional_field(IndexField::ExternalPath, "_EXTERNAL_PATH", Expect::String),
    optional_field(IndexField::GlobalIndex, "_GLOBAL_INDEX", Expect::Record),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DvField {
    DataFile,
    Offset,
    Length,
    Cardinality,
}

const DV_FIELDS: [FieldSpec<DvField>; 4] = [
    field(DvField::DataFile, "f0", Expect::String),
    field(DvField::Offset, "f1", Expect::Int),
    field(DvField::Length, "f2", Expect::Int),
    optional_field(DvField::Cardinality, "_CARDINALITY", Expect::Long),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GlobalField {
    Start,
    End,
    FieldId,
    ExtraFieldIds,
    IndexMeta,
    SourceMeta,
}

const GLOBAL_FIELDS: [FieldSpec<GlobalField>; 6] = [
    field(GlobalField::Start, "_ROW_RANGE_START", Expect::Long),
    field(GlobalField::End, "_ROW_RANGE_END", Expect::Long),
    field(GlobalField::FieldId, "_INDEX_FIELD_ID", Expect::Int),
    optional_field(
        GlobalField::ExtraFieldIds,
        "_EXTRA_FIELD_IDS",
        Expect::IntArray,
    ),
    optional_field(GlobalField::IndexMeta, "_INDEX_META", Expect::Bytes),
    optional_field(GlobalField::SourceMeta, "_SOURCE_META", Expect::Bytes),
];

/// Writes an index manifest.
///
/// # Errors
/// The codec failed.
pub fn encode(entries: &[IndexManifestEntry], codec: AvroCodec) -> Result<Vec<u8>> {
    let with_global = entries
        .iter()
        .any(|entry| entry.file.global_index.is_some());
    let mut writer = ContainerWriter::new(
        if with_global {
            INDEX_SCHEMA_2_1
        } else {
            INDEX_SCHEMA
        },
        codec,
    )?;
    for entry in entries {
        writer.append(|out| put_entry(out, entry, with_global))?;
    }
    Ok(writer.finish()?)
}

fn put_entry(out: &mut Vec<u8>, entry: &IndexManifestEntry, with_global: bool) {
    let file = &entry.file;
    put::int(out, INDEX_VERSION);
    put::int(out, entry.kind.as_i32());
    put_row(out, &entry.partition);
    put::int(out, entry.bucket);
    put::string(out, &file.index_type);
    put::string(out, &file.file_name);
    put::long(out, file.file_size);
    put::long(out, file.row_count);
    put::optional(out, file.deletion_vectors.as_deref(), |out, vectors| {
        put::array(out, vectors.iter(), |out, vector| {
            put::optional(out, Some(vector), |out, vector| {
                put::string(out, &vector.data_file_name);
                put::int(out, vector.offset);
                put::int(out, vector.length);
                put::optional(out, vector.cardinality, put::long);
            });
        });
    });
    put::optional(out, file.external_path.as_deref(), put::string);
    if with_global {
        put::optional(out, file.global_index.as_ref(), |out, global| {
            put::long(out, global.row_range_start);
            put::long(out, global.row_range_end);
            put::int(out, global.index_field_id);
            put::optional(out, global.extra_field_ids.as_deref(), |out, ids| {
                put::array(out, ids.iter(), |out, id| put::int(out, *id));
            });
            put::optional(out, global.index_meta.as_deref(), put::bytes);
            put::optional(out, global.source_meta.as_deref(), put::bytes);
        });
    }
}

/// Reads an index manifest, in file order.
///
/// # Errors
/// The bytes are no index manifest of version 1, or are torn.
pub fn decode(bytes: &[u8]) -> Result<Vec<IndexManifestEntry>> {
    Ok(decode_for_rewrite(bytes)?.records)
}

/// Like [`decode`], and tells whether the file says more than the entries do. For callers that write them to another file.
///
/// # Errors
/// As [`decode`].
pub fn decode_for_rewrite(bytes: &[u8]) -> Result<Decoded<IndexManifestEntry>> {
    let mut reader = ContainerReader::open(bytes)?;
    let plan = IndexPlan::compile(reader.schema_text())?;
    let mut block = Vec::new();
    let mut decoded = Decoded {
        records: Vec::new(),
        carries_unknown: false,
    };
    while let Some(count) = reader.next_block(&mut block)? {
        let mut cursor = Cursor::new(&block);
        for _ in 0..count {
            decoded
                .records
                .push(plan.read(&mut cursor, &mut decoded.carries_unknown)?);
        }
        expect_block_end(&cursor)?;
    }
    Ok(decoded)
}

struct IndexPlan {
    record: RecordPlan<IndexField>,
    vector: Option<RecordPlan<DvField>>,
    global: Option<RecordPlan<GlobalField>>,
    skips: SkipTable,
    rows: RowReader,
}

impl IndexPlan {
    fn compile(schema_text: &[u8]) -> Result<Self> {
        let schema = WriterSchema::parse(schema_text)?;
        let skips = SkipTable::new(&schema);
        let root = root_record(&schema)?;
        let record = RecordPlan::compile(&schema, &skips, root, &INDEX_FIELDS)?;
        let vector = nested_record(&schema, root, "_DELETIONS_VECTORS_RANGES")
            .map(|fields| RecordPlan::compile(&schema, &skips, fields, &DV_FIELDS))
            .transpose()?;
        let global = nested_record(&schema, root, "_GLOBAL_INDEX")
            .map(|fields| RecordPlan::compile(&schema, &skips, fields, &GLOBAL_FIELDS))
            .transpose()?;
        Ok(Self {
            record,
            vector,
            global,
            skips,
            rows: RowReader::new(),
        })
    }

    fn read(
        &self,
        cursor: &mut Cursor<'_>,
        carries_unknown: &mut bool,
    ) -> Result<IndexManifestEntry> {
        let mut entry = IndexManifestEntry {
            kind: FileKind::Add,
            partition: BinaryRow::empty(),
            bucket: 0,
            file: IndexFileMeta {
                index_type: String::new(),
                file_name: String::new(),
                file_size: 0,
                row_count: 0,
                deletion_vectors: None,
                external_path: None,
                global_index: None,
            },
        };
        let file = &mut entry.file;
        for step in &self.record.steps {
            let (field, value) = match step {
                Step::Read { field, value } => (*field, value),
                Step::Pass { skip, optional } => {
                    *carries_unknown |= pass_unknown(&self.skips, skip, *optional, cursor)?;
                    continue;
                }
            };
            match field {
                IndexField::Version => check_version(value.int(cursor)?, INDEX_VERSION, WHAT)?,
                IndexField::Kind => {
                    let kind = value.int(cursor)?;
                    entry.kind = FileKind::from_i32(kind)
                        .ok_or_else(|| FormatError::corrupt(WHAT, format!("its kind is {kind}")))?;
                }
                IndexField::Partition => entry.partition = self.rows.read(value.bytes(cursor)?)?,
                IndexField::Bucket => entry.bucket = value.int(cursor)?,
                IndexField::IndexType => file.index_type = value.string(cursor)?.to_owned(),
                IndexField::FileName => file.file_name = value.string(cursor)?.to_owned(),
                IndexField::FileSize => file.file_size = value.long(cursor)?,
                IndexField::RowCount => file.row_count = value.long(cursor)?,
                IndexField::DvRanges => {
                    file.deletion_vectors = self.read_vectors(value, cursor, carries_unknown)?
                }
                IndexField::ExternalPath => {
                    file.external_path = value.optional_string(cursor)?.map(str::to_owned);
                }
                IndexField::GlobalIndex => {
                    file.global_index = self.read_global(value, cursor, carries_unknown)?
                }
            }
        }
        Ok(entry)
    }

    fn read_vectors(
        &self,
        value: &ValuePlan,
        cursor: &mut Cursor<'_>,
        carries_unknown: &mut bool,
    ) -> Result<Option<Vec<DvMeta>>, Fault> {
        let Some(plan) = &self.vector else {
            return if value.present(cursor)? {
                Err(cursor.invalid("_DELETIONS_VECTORS_RANGES"))
            } else {
                Ok(None)
            };
        };
        if !value.present(cursor)? {
            return Ok(None);
        }
        let mut vectors = vec![];
        value.each(cursor, |cursor, present| {
            // A null element names no file, so nothing is lost with it.
            if present {
                vectors.push(self.read_vector(plan, cursor, carries_unknown)?);
            }
            Ok(())
        })?;
        Ok(Some(vectors))
    }

    fn read_vector(
        &self,
        plan: &RecordPlan<DvField>,
        cursor: &mut Cursor<'_>,
        carries_unknown: &mut bool,
    ) -> Result<DvMeta, Fault> {
        let mut vector = DvMeta {
            data_file_name: String::new(),
            offset: 0,
            length: 0,
            cardinality: None,
        };
        for step in &plan.steps {
            match step {
                Step::Read { field, value } => match field {
                    DvField::DataFile => vector.data_file_name = value.string(cursor)?.to_owned(),
                    DvField::Offset => vector.offset = value.int(cursor)?,
                    DvField::Length => vector.length = value.int(cursor)?,
                    DvField::Cardinality => vector.cardinality = value.optional_long(cursor)?,
                },
                Step::Pass { skip, optional } => {
                    *carries_unknown |= pass_unknown(&self.skips, skip, *optional, cursor)?;
                }
            }
        }
        Ok(vector)
    }

    fn read_global(
        &self,
        value: &ValuePlan,
        cursor: &mut Cursor<'_>,
        carries_unknown: &mut bool,
    ) -> Result<Option<GlobalIndexMeta>, Fault> {
        if !value.present(cursor)? {
            return Ok(None);
        }
        let Some(plan) = &self.global else {
            return Err(cursor.invalid("_GLOBAL_INDEX"));
        };
        let mut global = GlobalIndexMeta {
            row_range_start: 0,
            row_range_end: 0,
            index_field_id: 0,
            extra_field_ids: None,
            index_meta: None,
            source_meta: None,
        };
        for step in &plan.steps {
            match step {
                Step::Read { field, value } => match field {
                    GlobalField::Start => global.row_range_start = value.long(cursor)?,
                    GlobalField::End => global.row_range_end = value.long(cursor)?,
                    GlobalField::FieldId => global.index_field_id = value.int(cursor)?,
                    GlobalField::ExtraFieldIds => {
                        global.extra_field_ids = if value.present(cursor)? {
                            Some(value.ints(cursor)?)
                        } else {
                            None
                        };
                    }
                    GlobalField::IndexMeta => {
                        global.index_meta = value.optional_bytes(cursor)?.map(<[u8]>::to_vec);
                    }
                    GlobalField::SourceMeta => {
                        global.source_meta = value.optional_bytes(cursor)?.map(<[u8]>::to_vec);
                    }
                },
                Step::Pass { skip, optional } => {
                    *carries_unknown |= pass_unknown(&self.skips, skip, *optional, cursor)?;
                }
            }
        }
        Ok(Some(global))
    }
}
