//! Buckets and the columns that rows find them by; where files lie.

use std::collections::BTreeSet;

use super::Checked;
use super::columns::invalid_key;
use crate::error::{FormatError, Result};
use crate::options::{BucketFunctionType, ExternalPathStrategy};
use crate::schema::BucketMode;

impl Checked<'_> {
    pub(super) fn buckets(&self) -> Result<()> {
        let mode = self.schema.bucket_mode()?;
        self.bucket_key(mode)?;
        self.mod_function(mode)?;
        self.file_places()
    }

    fn bucket_key(&self, mode: BucketMode) -> Result<()> {
        let given = self.options.bucket_key.as_ref();
        let given = given.filter(|names| !names.is_empty());
        if given.is_none() {
            return match mode {
                BucketMode::Fixed(_) if !self.schema.is_keyed() => {
                    Err(FormatError::option_conflict(
                        "bucket",
                        "a table without primary key does not know which columns to hash",
                        "set bucket-key, or bucket to -1",
                    ))
                }
                _ => Ok(()),
            };
        }
        if self.options.bucket == -1 {
            return Err(FormatError::option_conflict(
                "bucket-key",
                "bucket is -1, so nothing is hashed to a bucket",
                "remove it, or set bucket to a positive number",
            ));
        }
        let keys = self.schema.bucket_keys();
        let refuse =
            |problem: String, remedy: &str| Err(invalid_key("bucket key", &keys, problem, remedy));
        let mut seen = BTreeSet::new();
        for key in &keys {
            let field = self.option_column("bucket-key", key)?;
            if !seen.insert(key) {
                return refuse(
                    format!("it names column {key:?} twice"),
                    "name each column once",
                );
            }
            if self.schema.partition_keys.contains(key) {
                let problem =
                    format!("{key:?} is a partition column, equal in all rows of a bucket");
                return refuse(problem, "leave it out");
            }
            if self.schema.is_keyed() && !self.schema.primary_keys.contains(key) {
                let problem = format!(
                    "{key:?} is not in the primary key, so one key could be in two buckets"
                );
                return refuse(problem, "use columns of the primary key");
            }
            if !field.data_type.kind.is_ordered() {
                let problem = format!("{key:?} has type {}", field.data_type.kind.name());
                return refuse(problem, "use columns of atomic types");
            }
        }
        Ok(())
    }

    /// `mod` takes one integer column; Java notices with the first row.
    fn mod_function(&self, mode: BucketMode) -> Result<()> {
        let fixed = matches!(mode, BucketMode::Fixed(_));
        if self.options.bucket_function != BucketFunctionType::Mod || !fixed {
            return Ok(());
        }
        let keys = self.schema.bucket_key_type();
        match keys.fields.as_slice() {
            [key] if is_mod_type(&key.data_type.kind) => Ok(()),
            _ => Err(FormatError::option_conflict(
                "bucket-function.type",
                format!(
                    "mod takes one bucket key column of type INT or BIGINT, not ({})",
                    self.schema.bucket_keys().join(", ")
                ),
                "set it to default",
            )),
        }
    }

    fn file_places(&self) -> Result<()> {
        let inside = |directory: &str| {
            !directory.starts_with('/')
                && !directory.contains(':')
                && directory.split('/').all(|part| part != "..")
        };
        let directory = self.options.data_file_path_directory.as_deref();
        if directory.is_some_and(|directory| !inside(directory)) {
            return Err(FormatError::option_conflict(
                "data-file.path-directory",
                "it leads out of the table's folder",
                "give a folder relative to the table, or use data-file.external-paths",
            ));
        }
        let prefixes = [
            ("data-file.prefix", &self.options.data_file_prefix),
            ("changelog-file.prefix", &self.options.changelog_file_prefix),
        ];
        for (key, prefix) in prefixes {
            if prefix.contains(['/', '\\']) {
                return Err(FormatError::option_conflict(
                    key,
                    "it is part of a file name and cannot hold a slash",
                    "use other characters",
                ));
            }
        }
        self.external_paths()
    }

    fn external_paths(&self) -> Result<()> {
        if self.options.data_file_external_paths_strategy == ExternalPathStrategy::None {
            return Ok(());
        }
        const KEY: &str = "data-file.external-paths";
        let paths = self.options.external_paths();
        if paths.is_empty() {
            let (key, problem) = match self.options.data_file_external_paths_strategy {
                ExternalPathStrategy::SpecificFs => (
                    "data-file.external-paths.specific-fs",
                    "no external path has this scheme",
                ),
                _ => (KEY, "a strategy is set and no path"),
            };
            let remedy = "name the paths, or set data-file.external-paths.strategy to none";
            return Err(FormatError::option_conflict(key, problem, remedy));
        }
        let relative = paths.iter().find(|path| {
            let scheme = path.split_once(':').map_or("", |(scheme, _)| scheme);
            scheme.is_empty() && !path.starts_with('/')
        });
        match relative {
            Some(path) => Err(FormatError::option_conflict(
                KEY,
                format!("{path:?} is not absolute"),
                "give absolute URIs",
            )),
            None => Ok(()),
        }
    }
}

fn is_mod_type(kind: &tidewater_types::TypeKind) -> bool {
    matches!(
        kind,
        tidewater_types::TypeKind::Int | tidewater_types::TypeKind::BigInt
    )
}
