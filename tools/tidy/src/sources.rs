//! Every tracked file: no path of a machine. Every Rust file: a header that says its idea, and a bounded length.

use crate::Finding;

/// One file, one idea: what is longer holds a second one.
const LINES_MAX: usize = 700;

/// Folders of the machines this was made on; spelt so that this file does not hold them.
const MACHINE_FOLDERS: [&str; 3] = [
    concat!("/", "work/"),
    concat!("/", "root/"),
    concat!("/", "farm/"),
];

pub(crate) fn check(path: &str, bytes: &[u8]) -> Vec<Finding> {
    let mut findings = machine_paths(path, bytes);
    if path.ends_with(".rs") {
        findings.extend(rust_rules(path, bytes));
    }
    findings
}

fn rust_rules(path: &str, bytes: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !bytes.starts_with(b"//!") {
        findings.push(Finding::new(
            path,
            "does not begin with a `//!` header that says what the file is about",
        ));
    }
    let lines = bytes.split(|&byte| byte == b'\n').count() - usize::from(bytes.ends_with(b"\n"));
    if lines > LINES_MAX {
        findings.push(Finding::new(
            path,
            format!("has {lines} lines, more than {LINES_MAX}: look for the second idea"),
        ));
    }
    findings
}

/// The first machine path of each line. Binary files are read as lines too: a table may have picked one up.
fn machine_paths(path: &str, bytes: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if let Some(folder) = MACHINE_FOLDERS
            .iter()
            .find(|folder| has_path(line, folder.as_bytes()))
        {
            let message = format!("holds a path below {folder}: it exists on one machine only");
            findings.push(Finding::new(format!("{path}:{}", index + 1), message));
        }
    }
    findings
}

/// Whether `line` has a path that begins with `folder`: in `my/folder/x` it does not begin there.
fn has_path(line: &[u8], folder: &[u8]) -> bool {
    let continues = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'-' | b'.' | b'}' | b')' | b'*' | b'~')
    };
    line.windows(folder.len()).enumerate().any(|(at, window)| {
        let before = at.checked_sub(1).and_then(|before| line.get(before));
        window == folder && !before.is_some_and(continues)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        check(path, text.as_bytes())
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_rust_file_needs_a_header() {
        assert_eq!(
            messages("a.rs", "//! One idea.\nfn f() {}\n"),
            Vec::<String>::new()
        );
        let headless =
            ["a.rs: does not begin with a `//!` header that says what the file is about"];
        assert_eq!(messages("a.rs", "// One idea.\n"), headless);
        assert_eq!(messages("a.rs", ""), headless);
        assert_eq!(messages("a.java", "class A {}\n"), Vec::<String>::new());
    }

    #[test]
    fn a_rust_file_may_have_so_many_lines_and_no_more() {
        let lines = |count: usize| format!("//! Idea.\n{}", "\n".repeat(count - 1));
        assert_eq!(messages("a.rs", &lines(LINES_MAX)), Vec::<String>::new());
        assert_eq!(messages("a.rs", &lines(LINES_MAX + 1)).len(), 1);
        assert_eq!(
            messages("a.txt", &lines(LINES_MAX + 1)),
            Vec::<String>::new()
        );
    }

    #[test]
    fn machine_paths_are_found_with_their_line() {
        for folder in MACHINE_FOLDERS {
            for text in [
                format!("ok\nsee {folder}x"),
                format!("\nfile:{folder}x"),
                format!("\n\"{folder}\""),
            ] {
                let found = check("docs/a.md", text.as_bytes());
                assert_eq!(
                    found
                        .iter()
                        .map(|finding| finding.place.as_str())
                        .collect::<Vec<_>>(),
                    ["docs/a.md:2"]
                );
            }
        }
    }

    #[test]
    fn folders_of_the_same_name_deeper_down_are_fine() {
        let folder = MACHINE_FOLDERS[0];
        for text in [
            format!("target{folder}x"),
            format!("$HOME{folder}x"),
            format!("${{DIR}}{folder}x"),
            "/workshop/".to_owned(),
        ] {
            assert_eq!(messages("a.md", &text), Vec::<String>::new(), "{text}");
        }
    }
}
