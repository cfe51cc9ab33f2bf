//! Listings of a local folder.

use std::fs;
use std::io;
use std::time::UNIX_EPOCH;

use rustix::io::Errno;

use super::os_path;
use crate::IoError;
use crate::store::{Depth, FileStatus, child};

/// The entries of a folder, or all files below it.
pub(super) fn list(dir: String, depth: Depth) -> Result<Vec<FileStatus>, IoError> {
    let mut found = Vec::new();
    let mut folders = vec![dir];
    while let Some(folder) = folders.pop() {
        for Listed { status, is_linked } in list_one(&folder)? {
            match depth {
                // A link may lead back to where it stands.
                Depth::All if status.is_dir && is_linked => {}
                Depth::All if status.is_dir => folders.push(status.path),
                _ => found.push(status),
            }
        }
    }
    Ok(found)
}

/// An entry of a folder, and whether it is a symbolic link to what its status tells.
struct Listed {
    status: FileStatus,
    is_linked: bool,
}

/// The entries of a folder. Symbolic links count as what they point to, except that a linked folder is not descended into;
/// names that are not UTF-8 cannot be part of a table and are left out.
fn list_one(dir: &str) -> Result<Vec<Listed>, IoError> {
    let failed = |error| IoError::from_os("list", dir, error);
    let entries = match fs::read_dir(os_path(dir)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let meta = match fs::metadata(entry.path()) {
            Ok(meta) => meta,
            // Removed since the folder was read, or a link that ends nowhere.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound
                    || error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) =>
            {
                continue;
            }
            Err(error) => return Err(failed(error)),
        };
        let is_linked = entry.file_type().map_err(failed)?.is_symlink();
        let modified = meta
            .modified()
            .ok()
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let status = FileStatus {
            path: child(dir, &name),
            name,
            size: if meta.is_dir() { 0 } else { meta.len() },
            is_dir: meta.is_dir(),
            modified_millis: modified
                .and_then(|since| i64::try_from(since.as_millis()).ok())
                .unwrap_or(0),
        };
        found.push(Listed { status, is_linked });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(listed: &[FileStatus]) -> Vec<&str> {
        let mut names: Vec<_> = listed.iter().map(|file| file.name.as_str()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn links_that_lead_in_a_circle_are_no_files_and_no_end_of_a_listing() {
        let place = tempfile::tempdir().unwrap();
        let at = place.path();
        fs::create_dir(at.join("folder")).unwrap();
        fs::write(at.join("folder/file"), b"bytes").unwrap();
        symlink(at, at.join("folder/up")).unwrap();
        symlink(at.join("folder/file"), at.join("linked")).unwrap();
        symlink(at.join("itself"), at.join("itself")).unwrap();
        symlink(at.join("nothing"), at.join("nowhere")).unwrap();
        let dir = at.to_str().unwrap().to_owned();
        let all = list(dir.clone(), Depth::All).unwrap();
        assert_eq!(names(&all), ["file", "linked"]);
        assert!(all.iter().all(|file| file.size == 5 && !file.is_dir));
        let here = list(dir.clone(), Depth::One).unwrap();
        assert_eq!(names(&here), ["folder", "linked"]);
        let inner = list(format!("{dir}/folder"), Depth::One).unwrap();
        assert_eq!(names(&inner), ["file", "up"]);
    }
}
