//! Every option has a meaning, and the options page knows every option.
//!
//! `docs/options.md` is written by `tidewater options --markdown` from the same lists that the code reads; a new option without a
//! new page is found here.

use tidewater_format::{PATTERNS, TableOptions};
use tidewater_io::IoOptions;

use crate::Finding;

/// The page, from the repository's root.
pub(crate) const PAGE: &str = "docs/options.md";

/// A key as the page spells it, and the sentence that goes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownOption {
    pub(crate) key: &'static str,
    pub(crate) meaning: &'static str,
}

/// Every option that the code declares: of tables, of their columns, of store access, of the stores.
pub(crate) fn known_options() -> Vec<KnownOption> {
    let tables = TableOptions::all()
        .iter()
        .map(|option| (option.key, option.meaning));
    let columns = PATTERNS
        .iter()
        .map(|option| (option.pattern, option.meaning));
    let stores = IoOptions::all().iter().chain(IoOptions::store_options());
    let stores = stores.map(|option| (option.key, option.meaning));
    let all = tables.chain(columns).chain(stores);
    all.map(|(key, meaning)| KnownOption { key, meaning })
        .collect()
}

/// An option counts as listed where its key stands between backticks.
pub(crate) fn check(page: Option<&[u8]>, options: &[KnownOption]) -> Vec<Finding> {
    let mute = options
        .iter()
        .filter(|option| option.meaning.trim().is_empty());
    let mut findings: Vec<Finding> = mute
        .map(|option| Finding::new(option.key, "is an option without a meaning"))
        .collect();
    let Some(page) = page else {
        findings.push(Finding::new(PAGE, "is missing: write it with `./dev docs`"));
        return findings;
    };
    let page = String::from_utf8_lossy(page);
    let unlisted = options
        .iter()
        .filter(|option| !page.contains(&format!("`{}`", option.key)));
    findings.extend(unlisted.map(|option| {
        Finding::new(
            PAGE,
            format!(
                "does not list {}: write it anew with `./dev docs`",
                option.key
            ),
        )
    }));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(key: &'static str) -> KnownOption {
        KnownOption {
            key,
            meaning: "Something.",
        }
    }

    #[test]
    fn a_missing_page_and_a_missing_key_are_found() {
        assert_eq!(check(None, &[option("bucket")])[0].place, PAGE);
        let page = b"| `bucket-key` | string |\n| `path` | string |";
        let found = check(
            Some(page),
            &[option("bucket"), option("bucket-key"), option("path")],
        );
        let expected = Finding::new(
            PAGE,
            "does not list bucket: write it anew with `./dev docs`",
        );
        assert_eq!(found, [expected]);
    }

    #[test]
    fn an_option_without_a_meaning_is_found() {
        let mute = KnownOption {
            key: "bucket",
            meaning: " ",
        };
        let expected = Finding::new("bucket", "is an option without a meaning");
        assert_eq!(check(Some(b"`bucket`"), &[mute]), [expected]);
    }

    #[test]
    fn every_key_is_declared_once() {
        let mut keys: Vec<_> = known_options()
            .into_iter()
            .map(|option| option.key)
            .collect();
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }
}
