//! The Java program, built once a version into a cache folder.
//!
//! The folder is `TIDEWATER_CACHE`, or `.cache/tidewater` in the home folder; a build lies under the hash of its sources, so a changed
//! program is built anew and the source tree stays clean.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{PeerError, Result};

const JAR: &str = "peer-1.jar";

/// The jar to start, built if this version of the program was not built before.
///
/// # Errors
/// [`PeerError::Missing`] without `java` or `mvn`, [`PeerError::Build`] when Maven fails, [`PeerError::File`] if the cache cannot be used.
pub fn java_program() -> Result<PathBuf> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("java");
    let cache = cache_folder().join(format!("peer-{:016x}", hash_of(&sources)?));
    let jar = cache.join(JAR);
    if jar.exists() {
        return Ok(jar);
    }
    // Built beside its place and moved there whole: a build that was cut off is never taken for a finished one.
    let building = cache.with_extension(format!("building-{}", std::process::id()));
    fs::create_dir_all(&building).map_err(PeerError::file(&building))?;
    let outcome = build(&sources, &building).and_then(|()| match fs::rename(&building, &cache) {
        // Another process was faster.
        Err(_) if jar.exists() => Ok(()),
        moved => moved.map_err(PeerError::file(&cache)),
    });
    if building.exists() {
        fs::remove_dir_all(&building).map_err(PeerError::file(&building))?;
    }
    outcome.map(|()| jar)
}

fn cache_folder() -> PathBuf {
    if let Some(folder) = std::env::var_os("TIDEWATER_CACHE") {
        return PathBuf::from(folder);
    }
    let home = std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from);
    home.join(".cache/tidewater")
}

fn build(sources: &Path, target: &Path) -> Result<()> {
    let output = Command::new("mvn")
        .args(["-q", "-B", "-ntp", "-Dmaven.test.skip=true", "-f"])
        .arg(sources.join("pom.xml"))
        .arg(format!("-Dpeer.build={}", target.display()))
        .arg("package")
        .output()
        .map_err(|source| PeerError::Missing {
            program: "mvn",
            package: "maven",
            source,
        })?;
    if output.status.success() && target.join(JAR).exists() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .concat();
    Err(PeerError::Build { output: text })
}

/// A hash of every file under `folder`, by path and content (FNV-1a; files are few and small).
fn hash_of(folder: &Path) -> Result<u64> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        let content = fs::read(&file).map_err(PeerError::file(&file))?;
        let name = file
            .strip_prefix(folder)
            .unwrap_or(&file)
            .to_string_lossy()
            .into_owned();
        for byte in name.bytes().chain(content) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    Ok(hash)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(PeerError::file(folder))? {
        let path = entry.map_err(PeerError::file(folder))?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
