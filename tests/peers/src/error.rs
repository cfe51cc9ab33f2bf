//! Why the lane cannot run, or an engine did not answer.

use std::path::PathBuf;

use tidewater_testkit::TestkitError;

/// What keeps the engines from being compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names each field")]
pub enum PeerError {
    /// A program that the lane needs is not installed.
    #[error(
        "{program} cannot be started: install {package} (Debian: apt-get install {package}) and try again"
    )]
    Missing {
        program: &'static str,
        package: &'static str,
        source: std::io::Error,
    },
    /// Maven could not build the Java program.
    #[error("maven could not build the java program:\n{output}")]
    Build { output: String },
    /// A file or folder of the lane cannot be used.
    #[error("cannot use {path}")]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The Java process went away or cannot be talked to.
    #[error("the java process does not answer")]
    Gone(#[source] std::io::Error),
    /// An engine refused a request.
    #[error("{engine} {verb}: {message}")]
    Refused {
        engine: &'static str,
        verb: String,
        message: String,
    },
    /// An answer is not what the contract says.
    #[error(transparent)]
    Answer(#[from] TestkitError),
}

/// A result whose error is [`PeerError`].
pub type Result<T, E = PeerError> = std::result::Result<T, E>;

impl PeerError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
