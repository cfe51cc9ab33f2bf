//! A local folder for what does not outlive the process: spilled rows, sorted chunks.
//!
//! ```text
//!  <base>/tidewater-scratch-<uuid>/       removed on drop
//!      .lock                              locked by the owner as long as it lives
//!      <name>-<n>                         files of the user
//! ```
//!
//! After a crash the operating system has let go of the lock, so any later process can tell the leftover from a folder in use, also
//! when process numbers repeat or several containers share the base folder. The folder gets its name only after its lock is held.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Env, IoError};

const PREFIX: &str = "tidewater-scratch-";
const UNFINISHED_PREFIX: &str = ".tidewater-scratch-";
const LOCK_NAME: &str = ".lock";

/// A folder of this process; its files and itself go when it is dropped.
///
/// All calls block on the file system for a moment: few and short, but not for a socket thread's hot path.
#[derive(Debug)]
pub struct ScratchDir {
    path: PathBuf,
    next_file: AtomicU64,
    _lock: File,
}

impl ScratchDir {
    /// Makes a fresh folder below `base`, which is created if need be.
    ///
    /// # Errors
    /// The file system's refusal, naming the folder.
    pub fn create(base: &Path, env: &Env) -> Result<Self, IoError> {
        let id = env.new_uuid();
        let (unnamed, path) = (
            base.join(format!("{UNFINISHED_PREFIX}{id}")),
            base.join(format!("{PREFIX}{id}")),
        );
        let failed =
            |error| IoError::from_os("create scratch folder", path.to_string_lossy(), error);
        fs::create_dir_all(&unnamed).map_err(failed)?;
        let lock = lock_and_name(&unnamed, &path).map_err(|error| {
            // Best effort: the folder is empty but for the lock, and its name keeps sweepers and readers away.
            drop(fs::remove_dir_all(&unnamed));
            failed(error)
        })?;
        Ok(Self {
            path,
            next_file: AtomicU64::new(0),
            _lock: lock,
        })
    }

    /// Makes a fresh folder in the operating system's place for temporary files.
    ///
    /// # Errors
    /// As [`ScratchDir::create`].
    pub fn in_temp(env: &Env) -> Result<Self, IoError> {
        Self::create(&std::env::temp_dir(), env)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A name in the folder that this scratch has not given out before. Nothing is created.
    pub fn new_file_path(&self, name: &str) -> PathBuf {
        let number = self.next_file.fetch_add(1, Ordering::Relaxed);
        self.path.join(format!("{name}-{number}"))
    }

    /// Removes the folders below `base` whose owners are dead; answers how many that were. Folders in use are left alone.
    ///
    /// # Errors
    /// Only if `base` cannot be listed; a leftover that cannot be removed is logged and skipped.
    pub fn sweep(base: &Path) -> Result<usize, IoError> {
        let failed = |error| IoError::from_os("list", base.to_string_lossy(), error);
        let mut removed = 0;
        for entry in fs::read_dir(base).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let ours = entry
                .file_name()
                .to_str()
                .is_some_and(|name| name.starts_with(PREFIX));
            if ours && owner_is_dead(&entry.path()) {
                match fs::remove_dir_all(entry.path()) {
                    Ok(()) => removed += 1,
                    Err(error) => {
                        tracing::warn!(path = %entry.path().display(), %error, "left a dead scratch folder")
                    }
                }
            }
        }
        Ok(removed)
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "could not remove the scratch folder");
        }
    }
}

fn lock_and_name(unnamed: &Path, named: &Path) -> std::io::Result<File> {
    let lock = File::create(unnamed.join(LOCK_NAME))?;
    lock.lock()?;
    fs::rename(unnamed, named)?;
    Ok(lock)
}

/// A folder without a lock file is not proven dead: it may be somebody else's.
fn owner_is_dead(folder: &Path) -> bool {
    match File::open(folder.join(LOCK_NAME)) {
        Ok(lock) => match lock.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(error)) => {
                tracing::debug!(path = %folder.display(), %error, "cannot tell whether a scratch folder is in use");
                false
            }
        },
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_goes_with_its_owner() {
        let base = tempfile::tempdir().unwrap();
        let scratch = ScratchDir::create(&base.path().join("deep/er"), &Env::seeded(1)).unwrap();
        let (one, two) = (scratch.new_file_path("run"), scratch.new_file_path("run"));
        assert_ne!(one, two);
        fs::write(&one, b"rows").unwrap();
        let folder = scratch.path().to_owned();
        assert!(folder.is_dir());
        drop(scratch);
        assert!(!folder.exists());
    }

    #[test]
    fn only_folders_of_dead_owners_are_swept() {
        let base = tempfile::tempdir().unwrap();
        let living = ScratchDir::create(base.path(), &Env::seeded(1)).unwrap();
        let leftover = base.path().join(format!("{PREFIX}dead"));
        fs::create_dir(&leftover).unwrap();
        fs::write(leftover.join(LOCK_NAME), b"").unwrap();
        fs::write(leftover.join("run-0"), b"rows").unwrap();
        let foreign = base.path().join(format!("{PREFIX}without-lock"));
        fs::create_dir(&foreign).unwrap();
        assert_eq!(ScratchDir::sweep(base.path()).unwrap(), 1);
        assert!(living.path().is_dir() && foreign.is_dir() && !leftover.exists());
    }
}
