//! The schema files of one table: read by id, found by listing, added without ever replacing one.
//!
//! There is no hint for schemas: the newest is the one with the largest number (spec 01a §5). Decoded schemas never change, so they are
//! kept. Source: Paimon `schema/SchemaManager.java`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tidewater_format::{
    FormatError, SchemaChange, SchemaDefinition, TablePaths, TableSchema, ensure_readable,
    ensure_writable, unsupported_for_read, unsupported_for_write, versioned_file_number,
};
use tidewater_io::{Env, FileIo, PutOutcome};
use tidewater_types::{ErrorKind, SchemaId};

use crate::error::{Result, TableError};

/// Attempts to add a schema before giving up: each lost race means that somebody else succeeded.
const ADD_ATTEMPTS: u32 = 32;

/// Reads and adds schemas. Clones share the cache.
#[derive(Clone, Debug)]
pub struct SchemaStore {
    io: FileIo,
    env: Env,
    paths: TablePaths,
    known: Arc<Mutex<HashMap<SchemaId, Arc<TableSchema>>>>,
}

impl SchemaStore {
    /// The schemas of the table whose files lie where `paths` says.
    pub fn new(io: FileIo, env: Env, paths: TablePaths) -> Self {
        Self {
            io,
            env,
            paths,
            known: Arc::default(),
        }
    }

    /// Every schema id that has a file, ascending.
    pub async fn list_ids(&self) -> Result<Vec<SchemaId>> {
        let files = self.io.list(&self.paths.schema_dir()).await?;
        let mut ids: Vec<SchemaId> = files
            .iter()
            .filter(|file| !file.is_dir)
            .filter_map(|file| versioned_file_number(&file.name, "schema-").map(SchemaId))
            .collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// The newest schema, `None` where there is no table.
    pub async fn latest(&self) -> Result<Option<Arc<TableSchema>>> {
        match self.list_ids().await?.last() {
            None => Ok(None),
            Some(id) => self.read(*id).await.map(Some),
        }
    }

    /// The newest schema of a table that must exist.
    ///
    /// # Errors
    /// [`TableError::NotATable`] if there is no schema file.
    pub async fn latest_or_fail(&self) -> Result<Arc<TableSchema>> {
        self.latest().await?.ok_or_else(|| TableError::NotATable {
            location: self.paths.root().to_owned(),
        })
    }

    /// One schema.
    ///
    /// # Errors
    /// [`TableError::SchemaNotFound`], [`TableError::Damaged`].
    pub async fn read(&self, id: SchemaId) -> Result<Arc<TableSchema>> {
        if let Some(schema) = self
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&id)
        {
            return Ok(Arc::clone(schema));
        }
        let path = self.paths.schema(id);
        let bytes = match self.io.read(&path).await {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == ErrorKind::NotFound => {
                return Err(TableError::SchemaNotFound {
                    location: self.paths.root().to_owned(),
                    id: id.0,
                });
            }
            Err(e) => return Err(e.into()),
        };
        let schema = Arc::new(
            TableSchema::from_json(&bytes)
                .map_err(|source| TableError::damaged(path.clone(), source))?,
        );
        if schema.id != id {
            let found = schema.id.0;
            return Err(TableError::WrongNumber { path, found });
        }
        self.remember(id, &schema);
        Ok(schema)
    }

    /// Makes the table: writes schema 0.
    ///
    /// Answers `None` if the table exists already; then nothing was changed.
    ///
    /// # Errors
    /// A definition that is refused, or asks for what this build cannot read or write.
    pub async fn create(&self, definition: SchemaDefinition) -> Result<Option<Arc<TableSchema>>> {
        if self.latest().await?.is_some() {
            return Ok(None);
        }
        let schema = TableSchema::create(definition, self.env.now_millis())?;
        ensure_readable(&schema)?;
        ensure_writable(&schema)?;
        Ok(if self.add(&schema).await? {
            Some(self.read(schema.id).await?)
        } else {
            None
        })
    }

    /// Applies all `changes` in order as one new schema, on top of whatever is newest when it succeeds.
    ///
    /// `has_snapshots` tells whether data may exist: then options that decide how data lies on disk cannot change.
    ///
    /// # Errors
    /// Those of [`TableSchema::apply`]; a change that asks for what this build cannot read or write;
    /// [`TableError::RetriesExhausted`] if others keep altering the table.
    pub async fn alter(
        &self,
        changes: &[SchemaChange],
        has_snapshots: bool,
    ) -> Result<Arc<TableSchema>> {
        let mut last = 0;
        for _ in 0..ADD_ATTEMPTS {
            let newest = self.latest_or_fail().await?;
            let next = newest.apply(changes, has_snapshots, self.env.now_millis())?;
            ensure_no_new_needs(&newest, &next)?;
            last = next.id.0;
            if self.add(&next).await? {
                return self.read(next.id).await;
            }
        }
        Err(TableError::RetriesExhausted {
            attempts: ADD_ATTEMPTS,
            last,
        })
    }

    /// Publishes `schema` under its id; false if the id is taken by another.
    async fn add(&self, schema: &TableSchema) -> Result<bool> {
        let bytes = Bytes::from(schema.to_json());
        let path = self.paths.schema(schema.id);
        match self.io.put_if_absent(&path, bytes.clone()).await? {
            PutOutcome::Created => Ok(true),
            // The answer to an earlier try may have been lost: equal bytes (they hold our time of creation) are ours.
            PutOutcome::Exists | PutOutcome::Unknown => match self.io.read(&path).await {
                Ok(found) => Ok(found == bytes),
                Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
                Err(e) => Err(e.into()),
            },
        }
    }

    fn remember(&self, id: SchemaId, schema: &Arc<TableSchema>) {
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id, Arc::clone(schema));
    }
}

/// Refuses a schema that asks for something not built which the one before did not ask for. What another engine's table needed
/// already does not stand in the way of other changes.
fn ensure_no_new_needs(before: &TableSchema, after: &TableSchema) -> Result<()> {
    for missing in [unsupported_for_read, unsupported_for_write] {
        let known = missing(before)?;
        if let Some(new) = missing(after)?.into_iter().find(|new| !known.contains(new)) {
            return Err(FormatError::from(new).into());
        }
    }
    Ok(())
}
