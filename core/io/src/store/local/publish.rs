//! How a local file comes into being whole, once, and for good.
//!
//! ```text
//!  overwrite        .<name>.<uuid>.tmp --fsync--> rename(2) over <name>           --fsync folder
//!  put_if_absent    .<name>.<uuid>.tmp --fsync--> link(2) to <name>, unlink temp  --fsync folder
//! ```
//!
//! `link(2)` fails when the name is taken, in the kernel, so two processes cannot both win (design §6). A crash in between leaves
//! only a name that begins with a dot, which no reader of the format takes for a snapshot (spec 01 §1, 01d §9).

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::PutOutcome;

/// Makes files; `sync` says whether they must survive a power cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct Publisher {
    pub(super) sync: bool,
}

impl Publisher {
    /// Writes a file under its own name, for names nobody reads yet.
    pub(super) fn write(self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.create_file(path)?;
        file.write_all(bytes)?;
        self.seal(&file, path)
    }

    pub(super) fn overwrite(self, path: &Path, bytes: &[u8], staging_id: &str) -> io::Result<()> {
        let staged = self.stage(path, bytes, staging_id)?;
        fs::rename(&staged.path, path)?;
        staged.moved_away();
        self.sync_folder(path)
    }

    /// An error means that the name was not taken by this call.
    pub(super) fn put_if_absent(
        self,
        path: &Path,
        bytes: &[u8],
        staging_id: &str,
    ) -> io::Result<PutOutcome> {
        // A loser that can be told now need not force bytes to the disk first.
        if fs::symlink_metadata(path).is_ok() {
            return Ok(PutOutcome::Exists);
        }
        let staged = self.stage(path, bytes, staging_id)?;
        match fs::hard_link(&staged.path, path) {
            Ok(()) => {}
            // A network file system may have lost the answer to a link that it made, and then say this to its own retry.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !same_file(&staged.path, path) {
                    return Ok(PutOutcome::Exists);
                }
            }
            Err(error) if links_unsupported(&error) => return self.rename_if_absent(staged, path),
            Err(error) => return Err(error),
        }
        drop(staged);
        Ok(self.after_publishing(path))
    }

    /// For file systems without hard links: the kernel's rename that refuses to replace.
    fn rename_if_absent(self, staged: Staged, path: &Path) -> io::Result<PutOutcome> {
        match renameat_with(CWD, &staged.path, CWD, path, RenameFlags::NOREPLACE) {
            Ok(()) => {
                staged.moved_away();
                Ok(self.after_publishing(path))
            }
            Err(Errno::EXIST) => Ok(PutOutcome::Exists),
            Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => {
                Err(io::ErrorKind::Unsupported.into())
            }
            Err(errno) => Err(errno.into()),
        }
    }

    /// The file is there for everybody; if the folder cannot be forced to the disk, nobody can say whether it stays.
    fn after_publishing(self, path: &Path) -> PutOutcome {
        match self.sync_folder(path) {
            Ok(()) => PutOutcome::Created,
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "published a file, but its folder could not be synced");
                PutOutcome::Unknown
            }
        }
    }

    /// Moves a folder to a free name.
    pub(super) fn rename_dir(self, from: &Path, to: &Path) -> io::Result<()> {
        if let Some(parent) = to.parent() {
            self.create_dir(parent)?;
        }
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(Errno::NOSYS | Errno::INVAL) if !to.exists() => fs::rename(from, to)?,
            Err(Errno::NOSYS | Errno::INVAL) => return Err(io::ErrorKind::AlreadyExists.into()),
            Err(errno) => return Err(errno.into()),
        }
        self.sync_folder(to)?;
        self.sync_folder(from)
    }

    /// Makes a folder and its missing parents, each forced into its parent.
    pub(super) fn create_dir(self, dir: &Path) -> io::Result<()> {
        let missing: Vec<&Path> = dir
            .ancestors()
            .take_while(|ancestor| !ancestor.is_dir())
            .collect();
        for folder in missing
            .into_iter()
            .rev()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            match fs::create_dir(folder) {
                Ok(()) => self.sync_folder(folder)?,
                // Another writer was here first.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
                // A file has the name: say so, rather than that it exists.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    return Err(io::ErrorKind::NotADirectory.into());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Opens a file for writing, empty, and makes its folder if that is missing.
    pub(super) fn create_file(self, path: &Path) -> io::Result<File> {
        self.open(
            path,
            OpenOptions::new().write(true).create(true).truncate(true),
        )
    }

    /// Makes a written file durable: its bytes, its length and its name.
    pub(super) fn seal(self, file: &File, path: &Path) -> io::Result<()> {
        if self.sync {
            file.sync_data()?;
            self.sync_folder(path)?;
        }
        Ok(())
    }

    fn stage(self, path: &Path, bytes: &[u8], staging_id: &str) -> io::Result<Staged> {
        let temp = staging_path(path, staging_id).ok_or(io::ErrorKind::InvalidFilename)?;
        let mut file = self.open(&temp, OpenOptions::new().write(true).create_new(true))?;
        let staged = Staged {
            path: temp,
            exists: true,
        };
        file.write_all(bytes)?;
        if self.sync {
            file.sync_data()?;
        }
        Ok(staged)
    }

    fn open(self, path: &Path, how: &OpenOptions) -> io::Result<File> {
        match how.open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let parent = path.parent().ok_or(error)?;
                self.create_dir(parent)?;
                how.open(path)
            }
            other => other,
        }
    }

    /// Forces the folder that holds `path`, so that the name in it survives too.
    fn sync_folder(self, path: &Path) -> io::Result<()> {
        if !self.sync {
            return Ok(());
        }
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        match File::open(folder).and_then(|folder| folder.sync_all()) {
            // Some file systems have no such call for folders and keep names by themselves.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
                ) =>
            {
                Ok(())
            }
            other => other,
        }
    }
}

/// A temporary file, removed unless it has been moved away.
#[derive(Debug)]
struct Staged {
    path: PathBuf,
    exists: bool,
}

impl Staged {
    fn moved_away(mut self) {
        self.exists = false;
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if self.exists
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::debug!(path = %self.path.display(), %error, "left a temporary file behind");
        }
    }
}

/// `.<name>.<uuid>.tmp` in the same folder (spec 01 §1), so that a rename stays within one file system.
fn staging_path(path: &Path, staging_id: &str) -> Option<PathBuf> {
    let mut name = OsString::from(".");
    name.push(path.file_name()?);
    name.push(format!(".{staging_id}.tmp"));
    Some(path.with_file_name(name))
}

fn same_file(one: &Path, other: &Path) -> bool {
    match (fs::symlink_metadata(one), fs::symlink_metadata(other)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

/// What kernels say for file systems that cannot link: not permitted, not supported, no such call, too many links.
fn links_unsupported(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(
        errno,
        Some(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLISHER: Publisher = Publisher { sync: true };

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_temporary_name_is_the_one_java_uses() {
        let path = staging_path(Path::new("/t/snapshot/snapshot-7"), "0b1e");
        assert_eq!(path.unwrap(), Path::new("/t/snapshot/.snapshot-7.0b1e.tmp"));
        assert_eq!(staging_path(Path::new("/"), "0b1e"), None);
    }

    #[test]
    fn the_second_put_finds_the_name_taken_and_leaves_no_trace() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("snapshot/snapshot-1");
        assert_eq!(
            PUBLISHER.put_if_absent(&path, b"one", "a").unwrap(),
            PutOutcome::Created
        );
        assert_eq!(
            PUBLISHER.put_if_absent(&path, b"two", "b").unwrap(),
            PutOutcome::Exists
        );
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(names(&dir.path().join("snapshot")), ["snapshot-1"]);
    }

    #[test]
    fn a_put_without_hard_links_is_exclusive_too() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("snapshot-1");
        let stage = |id: &str, bytes: &[u8]| PUBLISHER.stage(&path, bytes, id).unwrap();
        assert_eq!(
            PUBLISHER
                .rename_if_absent(stage("a", b"one"), &path)
                .unwrap(),
            PutOutcome::Created
        );
        assert_eq!(
            PUBLISHER
                .rename_if_absent(stage("b", b"two"), &path)
                .unwrap(),
            PutOutcome::Exists
        );
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(names(dir.path()), ["snapshot-1"]);
    }

    #[test]
    fn a_link_whose_answer_was_lost_is_recognised() {
        let dir = tempfile::tempdir().unwrap();
        let (temp, path) = (
            dir.path().join(".snapshot-1.a.tmp"),
            dir.path().join("snapshot-1"),
        );
        fs::write(&temp, b"one").unwrap();
        fs::hard_link(&temp, &path).unwrap();
        assert!(same_file(&temp, &path));
        fs::write(dir.path().join("other"), b"one").unwrap();
        assert!(!same_file(&temp, &dir.path().join("other")));
    }

    #[test]
    fn a_failed_overwrite_keeps_the_old_bytes_and_no_temporary() {
        let dir = tempfile::tempdir().unwrap();
        let taken = dir.path().join("LATEST");
        fs::create_dir(&taken).unwrap();
        assert!(PUBLISHER.overwrite(&taken, b"7", "a").is_err());
        assert_eq!(names(dir.path()), ["LATEST"]);
    }

    #[test]
    fn a_file_in_the_place_of_a_folder_is_called_one() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("t"), b"").unwrap();
        let error = PUBLISHER
            .create_dir(&dir.path().join("t/snapshot"))
            .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotADirectory);
    }
}
