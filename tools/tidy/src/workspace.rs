//! What the rules look at: the members as cargo sees them, the files as git sees them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Why the repository could not be looked at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names each field")]
pub enum TidyError {
    /// A command could not be started or did not succeed.
    #[error("{command} did not run: {reason}")]
    Command {
        command: &'static str,
        reason: String,
    },
    /// What cargo printed is not what it documents.
    #[error("cargo metadata has no {what}")]
    Metadata { what: &'static str },
    /// A tracked file could not be read.
    #[error("cannot read {path}")]
    Read { path: String, source: io::Error },
}

/// The members of the workspace and what they depend on among themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Workspace {
    pub(crate) members: Vec<Member>,
}

/// One crate of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// From the repository's root, such as `core/io`.
    pub(crate) folder: String,
    /// Only those that lie in the repository.
    pub(crate) dependencies: Vec<Dependency>,
}

/// An arrow from one member to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) folder: String,
    pub(crate) kind: DependencyKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DependencyKind {
    Normal,
    Dev,
    Build,
}

impl Workspace {
    /// Asks cargo.
    pub(crate) fn load(root: &Path) -> Result<Self, TidyError> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .current_dir(root);
        let output = run("cargo metadata", &mut command)?;
        let metadata = serde_json::from_slice(&output).map_err(|_| TidyError::Metadata {
            what: "readable answer",
        })?;
        Self::from_metadata(&metadata)
    }

    /// Reads format version 1 of `cargo metadata`.
    pub(crate) fn from_metadata(metadata: &Value) -> Result<Self, TidyError> {
        let root = text(metadata, "workspace_root")?;
        let packages = metadata.get("packages").and_then(Value::as_array);
        let packages = packages.ok_or(TidyError::Metadata { what: "packages" })?;
        let member = |package: &Value| {
            let manifest = text(package, "manifest_path")?;
            let folder = Path::new(manifest).parent().unwrap_or(Path::new(""));
            let dependencies = package.get("dependencies").and_then(Value::as_array);
            let dependencies = dependencies.into_iter().flatten();
            Ok(Member {
                name: text(package, "name")?.to_owned(),
                folder: below(root, folder),
                dependencies: dependencies
                    .filter_map(|entry| dependency(root, entry))
                    .collect(),
            })
        };
        Ok(Self {
            members: packages.iter().map(member).collect::<Result<_, _>>()?,
        })
    }
}

fn dependency(root: &str, entry: &Value) -> Option<Dependency> {
    let path = entry.get("path")?.as_str()?;
    let kind = match entry.get("kind").and_then(Value::as_str) {
        Some("dev") => DependencyKind::Dev,
        Some("build") => DependencyKind::Build,
        _ => DependencyKind::Normal,
    };
    Some(Dependency {
        folder: below(root, Path::new(path)),
        kind,
    })
}

fn text<'a>(value: &'a Value, what: &'static str) -> Result<&'a str, TidyError> {
    value
        .get(what)
        .and_then(Value::as_str)
        .ok_or(TidyError::Metadata { what })
}

fn below(root: &str, path: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .to_string_lossy()
        .replace('\\', "/")
}

/// The files that git tracks.
#[derive(Debug)]
pub(crate) struct TrackedFiles {
    root: PathBuf,
    paths: Vec<String>,
}

impl TrackedFiles {
    /// Asks git.
    pub(crate) fn list(root: &Path) -> Result<Self, TidyError> {
        let output = run(
            "git ls-files",
            Command::new("git")
                .args(["ls-files", "-z"])
                .current_dir(root),
        )?;
        let paths = output
            .split(|&byte| byte == 0)
            .filter(|path| !path.is_empty());
        let paths = paths
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect();
        Ok(Self {
            root: root.to_owned(),
            paths,
        })
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// The bytes of a file; none if it is not there (tracked, but removed in the work tree) or is a folder (a link to one).
    pub(crate) fn read(&self, path: &str) -> Result<Option<Vec<u8>>, TidyError> {
        match fs::read(self.root.join(path)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::IsADirectory
                ) =>
            {
                Ok(None)
            }
            Err(source) => Err(TidyError::Read {
                path: path.to_owned(),
                source,
            }),
        }
    }

    /// The text of a file that must be there.
    pub(crate) fn read_text(&self, path: &str) -> Result<String, TidyError> {
        fs::read_to_string(self.root.join(path)).map_err(|source| TidyError::Read {
            path: path.to_owned(),
            source,
        })
    }
}

fn run(name: &'static str, command: &mut Command) -> Result<Vec<u8>, TidyError> {
    let failed = |reason| TidyError::Command {
        command: name,
        reason,
    };
    let output = command
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(failed(
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_arrows_inside_the_repository_are_kept() {
        let metadata = json!({
            "workspace_root": "/repo",
            "packages": [{
                "name": "tidewater-io",
                "manifest_path": "/repo/core/io/Cargo.toml",
                "dependencies": [
                    { "name": "tidewater-types", "path": "/repo/core/types", "kind": null },
                    { "name": "tidewater-testkit", "path": "/repo/tests/testkit", "kind": "dev" },
                    { "name": "bytes", "kind": null },
                ],
            }],
        });
        let arrow = |folder: &str, kind| Dependency {
            folder: folder.to_owned(),
            kind,
        };
        let expected = Member {
            name: "tidewater-io".to_owned(),
            folder: "core/io".to_owned(),
            dependencies: vec![
                arrow("core/types", DependencyKind::Normal),
                arrow("tests/testkit", DependencyKind::Dev),
            ],
        };
        assert_eq!(
            Workspace::from_metadata(&metadata).unwrap().members,
            [expected]
        );
        assert!(Workspace::from_metadata(&json!({})).is_err());
    }
}
