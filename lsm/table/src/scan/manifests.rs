//! Manifest lists and manifests of a snapshot, fetched and decoded in parallel.

use bytes::Bytes;
use futures::future::try_join_all;
use futures::{StreamExt, TryStreamExt};
use tidewater_format::{
    IndexManifestEntry, ManifestEntry, ManifestFileMeta, ManifestFilter, Snapshot, index_manifest,
    manifest::decode_entries, manifest_list,
};
use tidewater_io::{CpuPool, FileIo};
use tidewater_types::ErrorKind;

use crate::error::{Result, TableError};
use crate::table_log::TableLog;

/// Which manifests of a snapshot are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ManifestKind {
    /// All that make up the state.
    State,
    /// The changes of this commit.
    Delta,
    /// The changelog of this commit.
    Changelog,
}

/// Reads the manifests of one snapshot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ManifestReader<'a> {
    log: &'a TableLog,
    /// Manifests that are fetched and decoded at the same time.
    parallelism: usize,
}

impl<'a> ManifestReader<'a> {
    pub(crate) fn new(log: &'a TableLog, parallelism: Option<i32>) -> Self {
        // Twice the threads: while one manifest is decoded another one is fetched.
        let default = log.cpu().threads().saturating_mul(2).max(4);
        let asked = parallelism.and_then(|asked| usize::try_from(asked).ok());
        Self {
            log,
            parallelism: asked.unwrap_or(default).max(1),
        }
    }

    /// What the lists say of the manifests, in order; no changelog list means no manifests.
    pub(crate) async fn metas(
        &self,
        snapshot: &Snapshot,
        kind: ManifestKind,
    ) -> Result<Vec<ManifestFileMeta>> {
        let lists: [Option<&str>; 2] = match kind {
            ManifestKind::State => [
                Some(&snapshot.base_manifest_list),
                Some(&snapshot.delta_manifest_list),
            ],
            ManifestKind::Delta => [Some(&snapshot.delta_manifest_list), None],
            ManifestKind::Changelog => [snapshot.changelog_manifest_list.as_deref(), None],
        };
        let read = lists.into_iter().flatten().map(|name| async move {
            let path = self.log.paths().manifest(name);
            let bytes = self.fetch(&path, snapshot).await?;
            manifest_list::decode(&bytes).map_err(|source| TableError::damaged(path, source))
        });
        Ok(try_join_all(read).await?.concat())
    }

    /// The entries of each manifest that pass the filter, in the order of the manifests.
    pub(crate) async fn entries(
        &self,
        snapshot: &Snapshot,
        metas: Vec<ManifestFileMeta>,
        filter: &ManifestFilter,
    ) -> Result<Vec<Vec<ManifestEntry>>> {
        let read = |meta: ManifestFileMeta| async move {
            let path = self.log.paths().manifest(&meta.file_name);
            let bytes = self.fetch(&path, snapshot).await?;
            decode(self.log.cpu(), bytes, filter.clone(), path).await
        };
        futures::stream::iter(metas.into_iter().map(read))
            .buffered(self.parallelism)
            .try_collect()
            .await
    }

    /// The index files of the snapshot; none without an index manifest.
    pub(crate) async fn index_files(&self, snapshot: &Snapshot) -> Result<Vec<IndexManifestEntry>> {
        let Some(name) = &snapshot.index_manifest else {
            return Ok(Vec::new());
        };
        let path = self.log.paths().manifest(name);
        let bytes = self.fetch(&path, snapshot).await?;
        let decode = move || index_manifest::decode(&bytes);
        let decoded = self.log.cpu().run(decode).await?;
        decoded.map_err(|source| TableError::damaged(path, source))
    }

    async fn fetch(&self, path: &str, snapshot: &Snapshot) -> Result<Bytes> {
        match fetch(self.log.io(), path).await {
            // Expired while it was planned: then that is what to tell.
            Err(e)
                if e.kind() == ErrorKind::NotFound
                    && !self.log.snapshots().exists(snapshot.id).await? =>
            {
                Err(self.log.snapshots().not_found(snapshot.id).await)
            }
            other => other,
        }
    }
}

/// All manifests of a snapshot, with the name of the list that holds each.
pub(crate) async fn manifests_by_list(
    log: &TableLog,
    snapshot: &Snapshot,
) -> Result<Vec<(&'static str, ManifestFileMeta)>> {
    let reader = ManifestReader::new(log, None);
    let delta = reader.metas(snapshot, ManifestKind::Delta).await?;
    let mut state = reader.metas(snapshot, ManifestKind::State).await?;
    state.truncate(state.len().saturating_sub(delta.len()));
    let changelog = reader.metas(snapshot, ManifestKind::Changelog).await?;
    let named = |name: &'static str, metas: Vec<ManifestFileMeta>| {
        metas.into_iter().map(move |meta| (name, meta))
    };
    Ok(named("base", state)
        .chain(named("delta", delta))
        .chain(named("changelog", changelog))
        .collect())
}

async fn fetch(io: &FileIo, path: &str) -> Result<Bytes> {
    Ok(io.read(path).await?)
}

/// Decodes a manifest on the pool.
pub(crate) async fn decode(
    cpu: &CpuPool,
    bytes: Bytes,
    filter: ManifestFilter,
    path: String,
) -> Result<Vec<ManifestEntry>> {
    let decoded = cpu.run(move || decode_entries(&bytes, &filter)).await?;
    decoded.map_err(|source| TableError::damaged(path, source))
}
