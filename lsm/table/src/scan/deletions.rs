//! Where the deletion vectors of each bucket's files are, out of an index manifest.

use std::collections::HashMap;
use std::sync::Arc;

use tidewater_format::IndexManifestEntry;
use tidewater_index::{DELETION_VECTORS, DeletionFiles, deletion_files};
use tidewater_types::{BinaryRow, Bucket};

use crate::error::{Result, TableError};

/// The index files with deletion vectors, by partition and bucket. Tables without buckets call theirs 0.
#[derive(Debug, Default)]
pub(crate) struct BucketDeletions {
    files: HashMap<(BinaryRow, i32), Vec<IndexManifestEntry>>,
}

impl BucketDeletions {
    /// Takes what an index manifest lists; other types of index files are left out.
    pub(crate) fn new(listed: Vec<IndexManifestEntry>) -> Self {
        let mut files: HashMap<_, Vec<IndexManifestEntry>> = HashMap::new();
        for entry in listed {
            if entry.file.index_type == DELETION_VECTORS {
                let bucket = (entry.partition.clone(), entry.bucket);
                files.entry(bucket).or_default().push(entry);
            }
        }
        Self { files }
    }

    /// Where the vectors of a bucket's files are. `path` tells where a file of this name lies.
    pub(crate) fn of(
        &self,
        partition: &BinaryRow,
        bucket: Bucket,
        path: impl Fn(&str) -> String,
    ) -> Result<Arc<DeletionFiles>> {
        if self.files.is_empty() {
            return Ok(Arc::default());
        }
        let Some(entries) = self.files.get(&(partition.clone(), bucket.0)) else {
            return Ok(Arc::default());
        };
        let mut places = DeletionFiles::new();
        for IndexManifestEntry { file, .. } in entries {
            let external = file.external_path.clone();
            let path = external.unwrap_or_else(|| path(&file.file_name));
            for (data_file, place) in deletion_files(&path, file)? {
                if places.insert(data_file.clone(), place).is_some() {
                    return Err(TableError::TwoDeletionVectors { path, data_file });
                }
            }
        }
        Ok(Arc::new(places))
    }
}
