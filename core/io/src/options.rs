//! Settings of store access: declared once, with key, default and meaning.
//!
//! They come in the same map as catalog and table options; keys that are not listed here are left to others. Addresses and keys of
//! object stores are listed by [`IoOptions::store_options`].

use std::collections::BTreeMap;
use std::time::Duration;

use crate::IoError;

/// One setting as documentation shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoOptionDoc {
    /// The name in an option map.
    pub key: &'static str,
    /// The value that holds when nothing is given, in the form that can be given.
    pub default: &'static str,
    /// What it does, in a sentence.
    pub meaning: &'static str,
}

macro_rules! io_options {
    ($( $(#[doc = $meaning:literal])+ $field:ident: $kind:ty = $key:literal, default $default:literal by $parse:path; )+) => {
        /// How requests are cut, buffered, retried and made durable.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct IoOptions {
            $( $(#[doc = $meaning])+ pub $field: $kind, )+
        }

        const DOCS: &[IoOptionDoc] = &[
            $( IoOptionDoc { key: $key, default: $default, meaning: concat!($($meaning),+) }, )+
        ];

        impl IoOptions {
            /// Reads the settings from an option map; absent ones have their defaults.
            ///
            /// # Errors
            /// [`IoError::InvalidOption`] for a value that does not parse.
            pub fn from_map(options: &BTreeMap<String, String>) -> Result<Self, IoError> {
                Ok(Self {
                    $( $field: {
                        let text = options.get($key).map_or($default, String::as_str);
                        $parse(text).ok_or_else(|| invalid($key, text))?
                    }, )+
                })
            }
        }
    };
}

io_options! {
    /// Ranges of a local file that lie at most this far apart are read as one.
    local_gap_bytes: u64 = "io.local.read-gap", default "32 kb" by parse_size;
    /// Whether local files are forced to the disk before they count as written; `false` only for data that may vanish with the machine's power.
    local_sync: bool = "io.local.sync", default "true" by parse_bool;
    /// Bytes of a local file that are gathered before a write call, of which one runs while the next is gathered.
    local_write_buffer_bytes: usize = "io.local.write-buffer", default "1 mb" by parse_count_of_bytes;
    /// Ranges of a remote object that lie at most this far apart are fetched by one request.
    remote_gap_bytes: u64 = "io.remote.read-gap", default "1 mb" by parse_size;
    /// Requests for ranges of one remote object that run at the same time.
    remote_read_parallelism: usize = "io.remote.read-parallelism", default "8" by parse_positive;
    /// Bytes per part of a remote upload; a smaller object is sent by one request. Stores ask for at least 5 mb.
    remote_part_bytes: usize = "io.remote.part-size", default "8 mb" by parse_count_of_bytes;
    /// Parts of one remote upload that are sent at the same time; memory per open file is this and one more times the part size.
    remote_parts_in_flight: usize = "io.remote.parts-in-flight", default "4" by parse_positive;
    /// Ranges are merged into requests of at most this size; a single longer range is still one request.
    read_request_bytes_max: u64 = "io.read.request-size-max", default "32 mb" by parse_size;
    /// Times a request is sent before its transient error is given to the caller.
    retry_attempts_max: u32 = "io.retry.attempts-max", default "5" by parse_attempts;
    /// Wait before the second attempt; it doubles with each further one, less a random part of up to a half.
    retry_wait_min: Duration = "io.retry.wait-min", default "50 ms" by parse_duration;
    /// Longest wait between two attempts.
    retry_wait_max: Duration = "io.retry.wait-max", default "5 s" by parse_duration;
}

impl IoOptions {
    /// Every setting, for listings and documentation.
    pub fn all() -> &'static [IoOptionDoc] {
        DOCS
    }

    /// The keys that reach the object stores themselves: endpoints, regions, credentials.
    pub fn store_options() -> &'static [IoOptionDoc] {
        crate::store::STORE_OPTION_DOCS
    }
}

impl Default for IoOptions {
    fn default() -> Self {
        Self {
            local_gap_bytes: 32 << 10,
            local_sync: true,
            local_write_buffer_bytes: 1 << 20,
            remote_gap_bytes: 1 << 20,
            remote_read_parallelism: 8,
            remote_part_bytes: 8 << 20,
            remote_parts_in_flight: 4,
            read_request_bytes_max: 32 << 20,
            retry_attempts_max: 5,
            retry_wait_min: Duration::from_millis(50),
            retry_wait_max: Duration::from_secs(5),
        }
    }
}

fn invalid(key: &str, text: &str) -> IoError {
    IoError::InvalidOption {
        key: key.to_owned(),
        reason: format!("cannot read {text:?}"),
    }
}

/// A number and a unit of 1024s, as the table's memory options are written: `32 mb`, `1g`, `512`.
fn parse_size(text: &str) -> Option<u64> {
    let (number, unit) = split_unit(text)?;
    let shift = match unit.as_str() {
        "" | "b" | "bytes" => 0,
        "k" | "kb" | "kib" | "kibibytes" => 10,
        "m" | "mb" | "mib" | "mebibytes" => 20,
        "g" | "gb" | "gib" | "gibibytes" => 30,
        _ => return None,
    };
    number.checked_mul(1 << shift)
}

fn parse_count_of_bytes(text: &str) -> Option<usize> {
    usize::try_from(parse_size(text)?)
        .ok()
        .filter(|&bytes| bytes > 0)
}

fn parse_duration(text: &str) -> Option<Duration> {
    let (number, unit) = split_unit(text)?;
    match unit.as_str() {
        "" | "ms" | "milli" | "millis" => Some(Duration::from_millis(number)),
        "s" | "sec" | "second" | "seconds" => Some(Duration::from_secs(number)),
        "m" | "min" | "minute" | "minutes" => number.checked_mul(60).map(Duration::from_secs),
        _ => None,
    }
}

fn parse_positive(text: &str) -> Option<usize> {
    text.trim().parse().ok().filter(|&number| number > 0)
}

fn parse_attempts(text: &str) -> Option<u32> {
    text.trim().parse().ok().filter(|&number| number > 0)
}

fn parse_bool(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn split_unit(text: &str) -> Option<(u64, String)> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    Some((number.parse().ok()?, unit.trim().to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(pairs: &[(&str, &str)]) -> Result<IoOptions, IoError> {
        let map = pairs
            .iter()
            .map(|&(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        IoOptions::from_map(&map)
    }

    #[test]
    fn the_documented_defaults_are_the_defaults() {
        assert_eq!(parse(&[]).unwrap(), IoOptions::default());
    }

    #[test]
    fn values_carry_units() {
        let read = parse(&[
            ("io.remote.part-size", "16MiB"),
            ("io.retry.wait-max", "2 min"),
            ("io.local.sync", "FALSE"),
            ("io.local.read-gap", "0"),
            ("bucket", "4"),
        ]);
        let expected = IoOptions {
            remote_part_bytes: 16 << 20,
            retry_wait_max: Duration::from_secs(120),
            local_sync: false,
            local_gap_bytes: 0,
            ..IoOptions::default()
        };
        assert_eq!(read.unwrap(), expected);
    }

    #[test]
    fn a_wrong_value_names_its_key() {
        for (key, value) in [
            ("io.remote.part-size", "0"),
            ("io.remote.part-size", "8 parsecs"),
            ("io.read.request-size-max", "99999999999999999999"),
            ("io.read.request-size-max", "99999999999 gb"),
            ("io.retry.attempts-max", "-1"),
            ("io.local.sync", "yes"),
        ] {
            let refused = parse(&[(key, value)]);
            assert!(
                matches!(&refused, Err(IoError::InvalidOption { key: named, .. }) if named == key),
                "{key}={value}"
            );
        }
    }

    #[test]
    fn every_option_has_a_meaning() {
        assert!(
            IoOptions::all()
                .iter()
                .all(|doc| doc.meaning.trim().ends_with('.'))
        );
    }
}
