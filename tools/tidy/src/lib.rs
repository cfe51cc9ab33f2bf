//! Rules of the repository that a compiler does not know, checked over the repository itself.
//!
//! ```text
//!  cargo metadata --> Workspace --> layers      no arrow back between crates
//!  git ls-files   --> manifests, sources        versions in the root only; file headers, lengths, no machine paths
//!  TableOptions   --> option_docs               docs/options.md knows every option
//! ```
//!
//! Each rule is a plain function from values to [`Finding`]s; [`check`] reads the repository and asks them all. `cargo run -p
//! tidewater-tidy` prints the findings, the crate's test fails on them.

mod layers;
mod manifests;
mod option_docs;
mod sources;
mod workspace;

use std::fmt;
use std::path::Path;

pub use self::workspace::TidyError;
use self::workspace::{TrackedFiles, Workspace};

/// One place where a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Path from the repository's root, with `:line` where there is one.
    pub place: String,
    /// What is wrong, and what the rule is.
    pub message: String,
}

impl Finding {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Checks the repository at `root` against every rule; the findings are sorted by place.
///
/// Runs `cargo metadata --no-deps` (no network) and `git ls-files`.
///
/// # Errors
/// [`TidyError`] if one of the two cannot be run or a tracked file cannot be read: then nothing is known.
pub fn check(root: &Path) -> Result<Vec<Finding>, TidyError> {
    let workspace = Workspace::load(root)?;
    let files = TrackedFiles::list(root)?;
    let mut findings = layers::check(&workspace);
    for member in &workspace.members {
        let path = format!("{}/Cargo.toml", member.folder);
        findings.extend(manifests::check(&path, &files.read_text(&path)?));
    }
    for path in files.paths() {
        if let Some(bytes) = files.read(path)? {
            findings.extend(sources::check(path, &bytes));
        }
    }
    let page = files.read(option_docs::PAGE)?;
    findings.extend(option_docs::check(
        page.as_deref(),
        &option_docs::known_options(),
    ));
    findings.sort();
    Ok(findings)
}
