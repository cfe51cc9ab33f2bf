//! Tidewater in a program: tables that are written by streams of upserts, read as a batch at any snapshot, and followed from any
//! snapshot. On disk they are Apache Paimon tables.
//!
//! Rows go in and come out as Arrow batches. [`Runtime`] holds threads and memory, a [`Catalog`] finds tables by name, and a
//! [`Table`] has the three ways in:
//!
//! ```text
//!  write   Table::new_write  -> TableWrite::write, prepare_commit -> TableCommit::commit
//!  read    Table::new_scan   -> project, filter, snapshot -> read
//!  follow  Table::new_stream -> plan_next, read; position
//! ```
//!
//! # Write, read, follow
//!
//! ```
//! use std::sync::Arc;
//! use arrow_array::{Int64Array, RecordBatch, StringArray, cast::AsArray, types::Int8Type};
//! use tidewater::{
//!     Committable, CommitOptions, DataType, Identifier, Predicate, RowType, Runtime, SchemaDefinition, StreamMode,
//!     StreamOptions, WriteOptions, Catalog, SnapshotId,
//! };
//!
//! # let folder = tempfile::tempdir()?;
//! # let warehouse = folder.path().to_str().unwrap();
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let catalog = Runtime::default().catalog(warehouse)?;
//! let name = Identifier::new("shop", "customers");
//! catalog.create_database("shop", true).await?;
//! let columns = RowType::of([("id", DataType::big_int().not_null()), ("city", DataType::string())]);
//! let definition = SchemaDefinition::keyed(columns, ["id"]).with_option("bucket", "2");
//! let table = catalog.create_table(&name, definition, false).await?;
//!
//! // Write: nothing is seen before the commit.
//! let mut write = table.new_write(WriteOptions::default()).await?;
//! let commit = table.new_commit(CommitOptions { user: "example".to_owned() })?;
//! for (identifier, city) in [(1, "Delft"), (2, "Gouda")] {
//!     let rows = RecordBatch::try_from_iter([
//!         ("id", Arc::new(Int64Array::from(vec![7, 8 + identifier])) as _),
//!         ("city", Arc::new(StringArray::from(vec![city, "Leiden"])) as _),
//!     ])?;
//!     write.write(rows).await?;
//!     let messages = write.prepare_commit(true).await?;
//!     commit.commit(Committable::new(identifier, messages)).await?;
//! }
//!
//! // Read: the newest row of each key.
//! let scan = table.new_scan();
//! let filter = Predicate::parse_text("id = 7", &scan.row_type().await?)?;
//! let mut rows = scan.project(&["city"])?.filter(filter)?.read().await?;
//! let batch = rows.next_batch().await?.expect("one row");
//! assert_eq!(batch.column(0).as_string::<i32>().value(0), "Gouda");
//! assert_eq!(table.new_scan().count().await?, 3);
//!
//! // Follow: the changes of each snapshot, with their kinds (0 is +I).
//! let mut stream = table.new_stream(StreamOptions { mode: StreamMode::FromSnapshot(SnapshotId(1)), ..Default::default() })?;
//! let mut seen = Vec::new();
//! while let Some(plan) = stream.plan_next().await? {
//!     let snapshot = plan.snapshot;
//!     let mut changes = stream.read(plan).await?;
//!     while let Some(batch) = changes.next_batch().await? {
//!         let kinds = batch.column_by_name("_VALUE_KIND").expect("kinds").as_primitive::<Int8Type>();
//!         assert!(kinds.values().iter().all(|kind| *kind == 0));
//!         seen.push((snapshot.0, batch.num_rows()));
//!     }
//! }
//! assert_eq!(seen.iter().map(|(_, rows)| rows).sum::<usize>(), 4);
//! // What is left to remember: the stream goes on from here after a restart.
//! let position = stream.position().to_json();
//! # drop(position);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The same in separate programs: `examples/write.rs`, `examples/scan.rs`, `examples/follow.rs`.

mod runtime;

pub use runtime::Runtime;

pub use tidewater_catalog::{Catalog, CatalogError, FileSystemCatalog, Identifier};
pub use tidewater_format::{
    ColumnPosition, CommitKind, FormatError, SchemaChange, SchemaDefinition, Snapshot,
    TableOptions, TableSchema, VALUE_KIND_COLUMN,
};
pub use tidewater_io::{CpuPool, Env, FileIo, IoError, MemoryBudget};
pub use tidewater_table::{
    ChangeStream, CommitOptions, Committable, CommittedSnapshot, CompactScope, DataSplit, Fault,
    RowStream, ScanBuilder, ScanPlan, StreamMode, StreamOptions, StreamPlan, StreamPlanKind,
    StreamPosition, StreamScan, Table, TableCommit, TableEnv, TableError, TableWrite,
    VerifyOptions, VerifyReport, WriteOptions,
};
pub use tidewater_types::{
    BinaryRow, Bucket, DataField, DataType, Datum, ErrorKind, Predicate, PredicateOp, RowKind,
    RowType, SchemaId, SnapshotId, TypeError, TypeKind,
};
