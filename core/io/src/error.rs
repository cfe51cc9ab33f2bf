//! What can go wrong between a caller and a store, with the path in each error.
//!
//! Local errors and the errors of `object_store` end in the same variants, so that "the disk is full" or "no such file" is
//! one match arm whatever the store. [`IoError::kind`] tells other crates what to do; [`IoError::is_transient`] is narrower:
//! trying the same request again soon may work, and [`crate::FileIo`] has already tried.

use std::error::Error as StdError;
use std::io;

use tidewater_types::ErrorKind;

/// The lower-level error an [`IoError`] was made from.
pub type Cause = Box<dyn StdError + Send + Sync + 'static>;

/// Why a store, the CPU pool or a memory reservation did not do what was asked.
///
/// `path` is the operating system's path for local files and the full address (`s3://bucket/key`) otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names each field")]
pub enum IoError {
    /// No file (or folder, where one was asked for) has this name.
    #[error("{path} does not exist")]
    NotFound { path: String },
    /// The target of a rename is taken.
    #[error("{path} already exists")]
    AlreadyExists { path: String },
    /// The operating system or the store refused the caller.
    #[error("no permission to {operation} {path}")]
    PermissionDenied {
        operation: &'static str,
        path: String,
        source: Cause,
    },
    /// The file system is mounted read-only.
    #[error("{path} is on a read-only file system")]
    ReadOnly { path: String },
    /// No space, or no quota, is left on the device.
    #[error("no space left on the device of {path}")]
    DiskFull { path: String },
    /// A file was asked for and a folder was found.
    #[error("{path} is a directory")]
    IsADirectory { path: String },
    /// A folder was asked for (by name, or as a parent) and a file was found.
    #[error("{path} is not a directory")]
    NotADirectory { path: String },
    /// The store cannot hold an object of this name.
    #[error("{path} is not a valid path: {reason}")]
    InvalidPath { path: String, reason: String },
    /// The text is no address of a store.
    #[error("{uri} is not a valid address: {reason}")]
    InvalidUri { uri: String, reason: String },
    /// A storage option has a value that cannot be used. Secret values are not repeated here.
    #[error("option {key} is not valid: {reason}")]
    InvalidOption { key: String, reason: String },
    /// A byte range ends before it starts, or is larger than memory can address.
    #[error("{start}..{end} is no byte range of {path}")]
    InvalidRange { path: String, start: u64, end: u64 },
    /// The file ends inside the range that was asked for.
    #[error("{path} ends at byte {available}, but {start}..{end} was asked for")]
    ShortRead {
        path: String,
        start: u64,
        end: u64,
        available: u64,
    },
    /// The store did not answer, or asked to come back later; retries are used up.
    #[error("{operation} of {path} did not get through")]
    Transient {
        operation: &'static str,
        path: String,
        source: Cause,
    },
    /// The store or the disk reported something else.
    #[error("{operation} of {path} failed")]
    Failed {
        operation: &'static str,
        path: String,
        source: Cause,
    },
    /// This store, or this build, cannot do it.
    #[error("{what} is not supported")]
    Unsupported { what: String },
    /// A reservation larger than the whole budget: waiting would never end.
    #[error("{asked} bytes were asked of a memory budget of {limit}")]
    OverBudget { asked: usize, limit: usize },
    /// A job panicked on its worker thread.
    #[error("a background task panicked: {message}")]
    TaskPanicked { message: String },
    /// A job was given up before it ran, because its pool or runtime shut down.
    #[error("a background task was cancelled")]
    TaskCancelled,
    /// A sink was used again after one of its writes had failed.
    #[error("the writer of {path} has failed before")]
    SinkFailed { path: String },
}

impl IoError {
    /// What a caller in another crate should do about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotFound { .. } => ErrorKind::NotFound,
            Self::AlreadyExists { .. } => ErrorKind::Conflict,
            Self::PermissionDenied { .. }
            | Self::ReadOnly { .. }
            | Self::IsADirectory { .. }
            | Self::NotADirectory { .. }
            | Self::InvalidPath { .. }
            | Self::InvalidUri { .. }
            | Self::InvalidOption { .. }
            | Self::InvalidRange { .. }
            | Self::OverBudget { .. } => ErrorKind::Invalid,
            Self::ShortRead { .. } => ErrorKind::Corrupt,
            Self::DiskFull { .. }
            | Self::Transient { .. }
            | Self::Failed { .. }
            | Self::TaskCancelled => ErrorKind::Unavailable,
            Self::Unsupported { .. } => ErrorKind::Unsupported,
            Self::TaskPanicked { .. } | Self::SinkFailed { .. } => ErrorKind::Internal,
        }
    }

    /// Whether the very same request may succeed when it is sent again soon.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Transient { .. })
    }

    /// Whether the error says that the name is free: callers that probe treat it as an answer.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }

    /// Translates an error of the local file system.
    ///
    /// `operation` is a verb ("read", "write") for the message.
    pub fn from_os(operation: &'static str, path: impl Into<String>, error: io::Error) -> Self {
        let path = path.into();
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::AlreadyExists => Self::AlreadyExists { path },
            io::ErrorKind::PermissionDenied => Self::PermissionDenied {
                operation,
                path,
                source: error.into(),
            },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            io::ErrorKind::IsADirectory => Self::IsADirectory { path },
            io::ErrorKind::NotADirectory => Self::NotADirectory { path },
            io::ErrorKind::InvalidFilename | io::ErrorKind::InvalidInput => Self::InvalidPath {
                path,
                reason: error.to_string(),
            },
            io::ErrorKind::Unsupported => Self::Unsupported {
                what: format!("{operation} of {path}"),
            },
            io::ErrorKind::Interrupted
            | io::ErrorKind::WouldBlock
            | io::ErrorKind::TimedOut
            | io::ErrorKind::ResourceBusy
            | io::ErrorKind::StaleNetworkFileHandle => Self::Transient {
                operation,
                path,
                source: error.into(),
            },
            _ => Self::Failed {
                operation,
                path,
                source: error.into(),
            },
        }
    }

    /// Translates an error of `object_store`. `path` is the address for the message.
    pub fn from_object_store(
        operation: &'static str,
        path: impl Into<String>,
        error: object_store::Error,
    ) -> Self {
        let path = path.into();
        match error {
            object_store::Error::NotFound { .. } => Self::NotFound { path },
            object_store::Error::AlreadyExists { .. } => Self::AlreadyExists { path },
            object_store::Error::PermissionDenied { .. }
            | object_store::Error::Unauthenticated { .. } => Self::PermissionDenied {
                operation,
                path,
                source: error.into(),
            },
            object_store::Error::InvalidPath { source } => Self::InvalidPath {
                path,
                reason: source.to_string(),
            },
            object_store::Error::NotSupported { .. }
            | object_store::Error::NotImplemented { .. } => Self::Unsupported {
                what: format!("{operation} of {path}"),
            },
            object_store::Error::JoinError { ref source } if source.is_cancelled() => {
                Self::TaskCancelled
            }
            _ => match RequestFate::of(&error) {
                RequestFate::Rejected => Self::Failed {
                    operation,
                    path,
                    source: error.into(),
                },
                RequestFate::NotSent | RequestFate::Unknown { retry: true } => Self::Transient {
                    operation,
                    path,
                    source: error.into(),
                },
                RequestFate::Unknown { retry: false } => Self::Failed {
                    operation,
                    path,
                    source: error.into(),
                },
            },
        }
    }
}

/// What is known about a failed request of an object store: whether the store can have acted on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestFate {
    /// The store answered with a refusal: nothing happened.
    Rejected,
    /// The request never left: nothing happened, and it can be sent again.
    NotSent,
    /// No answer, or one (5xx) that leaves it open.
    Unknown {
        /// Sending it again soon may help.
        retry: bool,
    },
}

impl RequestFate {
    /// Reads the fate from the error and its sources.
    ///
    /// `object_store` 0.13 keeps its retry error private, so an HTTP status is only visible in the text of a source.
    pub(crate) fn of(error: &object_store::Error) -> Self {
        use object_store::client::{HttpError, HttpErrorKind};
        match error {
            object_store::Error::NotFound { .. }
            | object_store::Error::InvalidPath { .. }
            | object_store::Error::NotSupported { .. }
            | object_store::Error::NotImplemented { .. }
            | object_store::Error::PermissionDenied { .. }
            | object_store::Error::Unauthenticated { .. }
            | object_store::Error::UnknownConfigurationKey { .. } => return Self::Rejected,
            _ => {}
        }
        let mut source: Option<&(dyn StdError + 'static)> = error.source();
        while let Some(cause) = source {
            if let Some(http) = cause.downcast_ref::<HttpError>() {
                return match http.kind() {
                    HttpErrorKind::Connect | HttpErrorKind::Request => Self::NotSent,
                    HttpErrorKind::Timeout | HttpErrorKind::Interrupted => {
                        Self::Unknown { retry: true }
                    }
                    _ => Self::Unknown { retry: false },
                };
            }
            if let Some(os) = cause.downcast_ref::<io::Error>() {
                return match os.kind() {
                    io::ErrorKind::TimedOut | io::ErrorKind::Interrupted => {
                        Self::Unknown { retry: true }
                    }
                    io::ErrorKind::ConnectionRefused | io::ErrorKind::NotConnected => Self::NotSent,
                    _ => Self::Unknown { retry: false },
                };
            }
            source = cause.source();
        }
        match http_status(&error.to_string()) {
            // 408, 409, 425 and 429 are refusals in theory; stores also send them for requests that raced with their own twin.
            Some(408 | 409 | 425 | 429) => Self::Unknown { retry: true },
            Some(400..=499) => Self::Rejected,
            Some(500..=599) => Self::Unknown { retry: true },
            _ => Self::Unknown { retry: false },
        }
    }
}

/// The status in a text such as "… non-2xx status code: 503 Service Unavailable: …".
fn http_status(text: &str) -> Option<u16> {
    let (_, rest) = text.split_once("status code: ")?;
    let digits = rest.get(..3)?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic(text: &str) -> object_store::Error {
        object_store::Error::Generic {
            store: "S3",
            source: text.to_owned().into(),
        }
    }

    #[test]
    fn os_errors_become_the_variant_a_person_would_name() {
        // Raw numbers of Linux: EACCES, EROFS, ENOSPC, EDQUOT, EISDIR, ENOTDIR, ENOENT, EIO, ENAMETOOLONG, ESTALE.
        let variant =
            |errno: i32| IoError::from_os("write", "/w/t", io::Error::from_raw_os_error(errno));
        assert!(
            matches!(variant(13), IoError::PermissionDenied { operation: "write", ref path, .. } if path == "/w/t")
        );
        assert!(matches!(variant(30), IoError::ReadOnly { ref path } if path == "/w/t"));
        assert!(matches!(variant(28), IoError::DiskFull { ref path } if path == "/w/t"));
        assert!(matches!(variant(122), IoError::DiskFull { .. }));
        assert!(matches!(variant(21), IoError::IsADirectory { .. }));
        assert!(matches!(variant(20), IoError::NotADirectory { .. }));
        assert!(matches!(variant(2), IoError::NotFound { .. }));
        assert!(matches!(variant(5), IoError::Failed { .. }));
        assert!(matches!(variant(36), IoError::InvalidPath { .. }));
        assert!(variant(116).is_transient());
        assert_eq!(
            variant(30).to_string(),
            "/w/t is on a read-only file system"
        );
    }

    #[test]
    fn kinds_tell_full_disks_from_wrong_calls() {
        let full = IoError::DiskFull { path: "/w".into() };
        assert_eq!(full.kind(), ErrorKind::Unavailable);
        assert!(!full.is_transient());
        assert_eq!(
            IoError::NotFound { path: "/w".into() }.kind(),
            ErrorKind::NotFound
        );
        let short = IoError::ShortRead {
            path: "/w".into(),
            start: 0,
            end: 9,
            available: 4,
        };
        assert_eq!(short.kind(), ErrorKind::Corrupt);
        assert_eq!(
            IoError::TaskPanicked {
                message: "x".into()
            }
            .kind(),
            ErrorKind::Internal
        );
    }

    #[test]
    fn a_server_error_leaves_the_fate_of_a_request_open() {
        let refused = generic("Server returned non-2xx status code: 400 Bad Request: no");
        assert_eq!(RequestFate::of(&refused), RequestFate::Rejected);
        let open = generic("Server returned non-2xx status code: 503 Service Unavailable: ");
        assert_eq!(RequestFate::of(&open), RequestFate::Unknown { retry: true });
        assert_eq!(
            RequestFate::of(&generic("odd")),
            RequestFate::Unknown { retry: false }
        );
        let busy = generic("Server returned non-2xx status code: 429 Too Many Requests: ");
        assert!(IoError::from_object_store("read", "s3://b/k", busy).is_transient());
    }

    #[test]
    fn transport_errors_are_read_from_the_source_chain() {
        use object_store::client::{HttpError, HttpErrorKind};
        let wrap = |kind| object_store::Error::Generic {
            store: "S3",
            source: Box::new(HttpError::new(kind, io::Error::other("socket"))),
        };
        assert_eq!(
            RequestFate::of(&wrap(HttpErrorKind::Connect)),
            RequestFate::NotSent
        );
        assert_eq!(
            RequestFate::of(&wrap(HttpErrorKind::Timeout)),
            RequestFate::Unknown { retry: true }
        );
        assert_eq!(
            RequestFate::of(&wrap(HttpErrorKind::Decode)),
            RequestFate::Unknown { retry: false }
        );
    }
}
