//! What the address of a warehouse, or of a file outside of it, names.
//!
//! | text | store |
//! | --- | --- |
//! | `/a/b`, `a/b`, `file:/a/b`, `file:///a/b` | folder of this machine |
//! | `memory:`, `memory:/a` | this process's memory, gone with the [`crate::FileIo`] |
//! | `s3://bucket/a` (also `s3a`, `s3n`) | Amazon S3 and what speaks its protocol |
//! | `gs://bucket/a` | Google Cloud Storage |
//! | `az://container/a`, `abfs[s]://container@account.host/a` | Azure Blob Storage |
//!
//! Text is taken as it stands: nothing is percent-decoded, because Java writes such addresses undecoded too and `%` occurs in partition
//! folders (spec 01 §1.2).

use std::path;

use crate::IoError;

/// A store and a path in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) place: Place,
    /// Begins with a slash, ends without one; empty for the root.
    pub(crate) path: String,
}

/// The store part of an address; equal places are served by one store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Local,
    Memory,
    S3 {
        bucket: String,
    },
    Gcs {
        bucket: String,
    },
    Azure {
        container: String,
        account: Option<String>,
    },
    /// A store that the host brought along.
    Custom {
        name: String,
    },
}

impl Location {
    /// Reads an address; text without a scheme is a path of this machine.
    ///
    /// # Errors
    /// [`IoError::InvalidUri`] if a part is missing; [`IoError::Unsupported`] for a scheme that is not listed above.
    pub(crate) fn parse(uri: &str) -> Result<Self, IoError> {
        match split_scheme(uri) {
            None => Ok(Self {
                place: Place::Local,
                path: absolute(uri)?,
            }),
            Some((scheme, rest)) => Self::parse_parts(uri, &scheme.to_ascii_lowercase(), rest),
        }
    }

    fn parse_parts(uri: &str, scheme: &str, rest: &str) -> Result<Self, IoError> {
        let invalid = |reason: &str| IoError::InvalidUri {
            uri: uri.to_owned(),
            reason: reason.to_owned(),
        };
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => match rest.find('/') {
                Some(slash) => rest.split_at(slash),
                None => (rest, ""),
            },
            None => ("", rest),
        };
        let bucket = || match authority {
            "" => Err(invalid("it names no bucket")),
            name => Ok(name.to_owned()),
        };
        let place = match scheme {
            "file" if matches!(authority, "" | "localhost") => {
                return Ok(Self {
                    place: Place::Local,
                    path: absolute(path)?,
                });
            }
            "file" => return Err(invalid("a file address cannot name another machine")),
            "memory" if authority.is_empty() => Place::Memory,
            "memory" => return Err(invalid("a memory address has no host")),
            "s3" | "s3a" | "s3n" => Place::S3 { bucket: bucket()? },
            "gs" => Place::Gcs { bucket: bucket()? },
            "az" | "abfs" | "abfss" => azure_place(&bucket()?),
            other => {
                return Err(IoError::Unsupported {
                    what: format!("the storage scheme {other}"),
                });
            }
        };
        Ok(Self {
            place,
            path: tidy(path),
        })
    }
}

impl Place {
    /// The address in front of a path, for messages and for [`crate::FileIo::uri`].
    pub(crate) fn prefix(&self) -> String {
        match self {
            Self::Local => String::new(),
            Self::Memory => "memory:".to_owned(),
            Self::S3 { bucket } => format!("s3://{bucket}"),
            Self::Gcs { bucket } => format!("gs://{bucket}"),
            Self::Azure {
                container,
                account: None,
            } => format!("az://{container}"),
            Self::Azure {
                container,
                account: Some(account),
            } => {
                format!("abfss://{container}@{account}.dfs.core.windows.net")
            }
            Self::Custom { name } => format!("{name}:"),
        }
    }
}

/// Whether `path` is a full address and not a path of the store at hand.
pub(crate) fn is_uri(path: &str) -> bool {
    split_scheme(path).is_some()
}

/// Scheme and rest of an address. `a:b` without a slash is a file name, except after the two schemes that need none.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let mut chars = scheme.chars();
    let well_formed = chars
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    let rooted =
        rest.starts_with('/') || (rest.is_empty() && scheme.eq_ignore_ascii_case("memory"));
    let known = scheme.eq_ignore_ascii_case("file");
    (well_formed && (rooted || known)).then_some((scheme, rest))
}

/// `container` or `container@account.host`.
fn azure_place(authority: &str) -> Place {
    match authority.split_once('@') {
        None => Place::Azure {
            container: authority.to_owned(),
            account: None,
        },
        Some((container, host)) => {
            let account = host.split('.').next().filter(|account| !account.is_empty());
            Place::Azure {
                container: container.to_owned(),
                account: account.map(str::to_owned),
            }
        }
    }
}

/// A path of this machine, made absolute without asking the file system.
fn absolute(path: &str) -> Result<String, IoError> {
    let invalid = |reason: &str| IoError::InvalidPath {
        path: path.to_owned(),
        reason: reason.to_owned(),
    };
    if path.is_empty() {
        return Err(invalid("it is empty"));
    }
    let full = path::absolute(path).map_err(|error| IoError::from_os("resolve", path, error))?;
    let full = full
        .into_os_string()
        .into_string()
        .map_err(|_| invalid("it is not UTF-8"))?;
    Ok(full.trim_end_matches('/').to_owned())
}

/// A path of an object store: one slash in front, none doubled, none at the end.
pub(crate) fn tidy(path: &str) -> String {
    let mut tidied = String::with_capacity(path.len() + 1);
    for part in path.split('/').filter(|part| !part.is_empty()) {
        tidied.push('/');
        tidied.push_str(part);
    }
    tidied
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(uri: &str) -> (Place, String) {
        let location = Location::parse(uri).unwrap();
        (location.place, location.path)
    }

    #[test]
    fn local_paths_come_in_five_spellings() {
        for uri in [
            "/a/b c",
            "/a/b c/",
            "file:/a/b c",
            "file:///a/b c",
            "FILE://localhost/a/b c",
        ] {
            assert_eq!(parse(uri), (Place::Local, "/a/b c".to_owned()), "{uri}");
        }
        let here = std::env::current_dir().unwrap();
        let here = here.to_str().unwrap();
        assert_eq!(parse("w/t").1, format!("{here}/w/t"));
        assert_eq!(parse("file:w/t").1, format!("{here}/w/t"));
        assert_eq!(parse("a:b/c").1, format!("{here}/a:b/c"));
        assert_eq!(parse("/").1, "");
    }

    #[test]
    fn nothing_is_decoded() {
        assert_eq!(parse("file:/w/dt=a%2Fb#x?y").1, "/w/dt=a%2Fb#x?y");
        assert_eq!(parse("s3://b/w/dt=a%2Fb").1, "/w/dt=a%2Fb");
    }

    #[test]
    fn object_store_addresses_split_into_bucket_and_path() {
        let s3 = || Place::S3 {
            bucket: "b".to_owned(),
        };
        assert_eq!(parse("s3://b/w//t/"), (s3(), "/w/t".to_owned()));
        assert_eq!(parse("s3a://b/w"), (s3(), "/w".to_owned()));
        assert_eq!(parse("s3://b"), (s3(), String::new()));
        assert_eq!(
            parse("gs://b/w"),
            (
                Place::Gcs {
                    bucket: "b".to_owned()
                },
                "/w".to_owned()
            )
        );
        let azure = |account: Option<&str>| Place::Azure {
            container: "c".into(),
            account: account.map(str::to_owned),
        };
        assert_eq!(parse("az://c/w"), (azure(None), "/w".to_owned()));
        assert_eq!(
            parse("abfss://c@acc.dfs.core.windows.net/w"),
            (azure(Some("acc")), "/w".to_owned())
        );
        assert_eq!(parse("memory:"), (Place::Memory, String::new()));
        assert_eq!(parse("memory:///w"), (Place::Memory, "/w".to_owned()));
    }

    #[test]
    fn a_prefix_and_a_path_give_the_address_again() {
        for uri in [
            "s3://b/w/t",
            "gs://b/w",
            "az://c/w",
            "abfss://c@acc.dfs.core.windows.net/w",
            "memory:/w",
            "/w/t",
        ] {
            let (place, path) = parse(uri);
            assert_eq!(format!("{}{path}", place.prefix()), uri);
        }
    }

    #[test]
    fn addresses_that_name_nothing_are_refused() {
        for uri in ["s3:///w", "gs://", "file://host/w", "memory://host/w"] {
            assert!(
                matches!(Location::parse(uri), Err(IoError::InvalidUri { .. })),
                "{uri}"
            );
        }
        assert!(matches!(
            Location::parse(""),
            Err(IoError::InvalidPath { .. })
        ));
        let unknown = Location::parse("hdfs://nn:8020/w").unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "the storage scheme hdfs is not supported"
        );
    }
}
