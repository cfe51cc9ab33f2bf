//! Versions stand in the root manifest only: members say `workspace = true`.
//!
//! `cargo metadata` does not tell where a version came from, so the text is read. Manifests of this repository keep a dependency on one
//! line or in a table of its own; anything else is a finding as well.

use crate::Finding;

/// What the lines below a header are.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Section {
    /// `[dependencies]` and its kin: one dependency a line.
    Dependencies,
    /// `[dependencies.name]`: one dependency; its line, and whether it inherits.
    OneDependency {
        line: usize,
        inherits: bool,
    },
    Other,
}

pub(crate) fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut section = Section::Other;
    let found = |line: usize| {
        Finding::new(
            format!("{path}:{line}"),
            "a dependency without `workspace = true`: versions stand in the root manifest",
        )
    };
    for (index, line) in text.lines().enumerate() {
        let (number, line) = (index + 1, line.trim());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            findings.extend(left_open(&section).map(found));
            section = Section::of(header.trim_end_matches(']'), number);
            continue;
        }
        match &mut section {
            Section::Dependencies if !inherits(line) => findings.push(found(number)),
            Section::OneDependency { inherits, .. } => {
                *inherits |= squeezed(line) == "workspace=true"
            }
            _ => {}
        }
    }
    findings.extend(left_open(&section).map(found));
    findings
}

/// The line of a table that ended without inheriting.
fn left_open(section: &Section) -> Option<usize> {
    match section {
        Section::OneDependency {
            line,
            inherits: false,
        } => Some(*line),
        _ => None,
    }
}

impl Section {
    /// `header` is the text between the brackets; `[target.'cfg(unix)'.dependencies]` ends like the plain one.
    fn of(header: &str, line: usize) -> Self {
        const TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
        let is_table = |name: &str| TABLES.contains(&name);
        let mut parts = header.rsplit('.');
        let (last, before) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        if is_table(last) {
            Self::Dependencies
        } else if is_table(before) {
            Self::OneDependency {
                line,
                inherits: false,
            }
        } else {
            Self::Other
        }
    }
}

/// `name.workspace = true` or `name = { workspace = true, … }`.
fn inherits(line: &str) -> bool {
    let line = squeezed(line);
    let Some((name, value)) = line.split_once('=') else {
        return false;
    };
    let in_table = value.strip_prefix('{').is_some_and(|table| {
        table
            .trim_end_matches('}')
            .split(',')
            .any(|entry| entry == "workspace=true")
    });
    in_table || (name.ends_with(".workspace") && value.split('#').next() == Some("true"))
}

fn squeezed(line: &str) -> String {
    line.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        check("core/x/Cargo.toml", text)
            .into_iter()
            .map(|finding| finding.place)
            .collect()
    }

    #[test]
    fn inherited_dependencies_are_fine() {
        let text = r#"
            [package]
            name = "x"
            version.workspace = true
            [dependencies]
            bytes.workspace = true
            tokio = { workspace = true, features = ["fs"] } # more
            [dev-dependencies.proptest]
            workspace = true
            default-features = false
            [features]
            test-util = []
        "#;
        assert_eq!(lines(text), Vec::<String>::new());
    }

    #[test]
    fn every_way_to_pin_a_version_is_found() {
        let text = r#"[dependencies]
bytes = "1"
tokio = { version = "1", features = ["workspace"] }
[target.'cfg(unix)'.dependencies]
rustix = { path = "../rustix" }
[build-dependencies.cc]
version = "1"
[lints]
workspace = true"#;
        let expected = [2, 3, 5, 6].map(|line| format!("core/x/Cargo.toml:{line}"));
        assert_eq!(lines(text), expected);
    }

    #[test]
    fn a_table_at_the_end_is_not_forgotten() {
        assert_eq!(
            lines("[dev-dependencies.proptest]\nversion = \"1\""),
            ["core/x/Cargo.toml:1"]
        );
    }
}
