//! Runs text cases of compaction picking: directives, a line of dashes, the expected output (style: a case costs no
//! compile). Blank lines part the cases, `#` begins a comment line. Files live in `tests/picking/`.

/// One case: its directives as (word, arguments).
pub(crate) type Directives<'a> = Vec<(&'a str, Vec<&'a str>)>;

/// Runs every case of the text and compares the whole text with the answers put in.
pub(crate) fn run_cases(text: &str, run: impl Fn(&Directives<'_>) -> String) {
    let mut actual: Vec<String> = Vec::new();
    let mut cases = 0;
    for block in text.split("\n\n") {
        let Some((directives, _expected)) = block.split_once("\n----") else {
            assert!(
                block
                    .lines()
                    .all(|line| line.is_empty() || line.starts_with('#')),
                "no ---- in {block:?}"
            );
            actual.push(block.to_owned());
            continue;
        };
        let parsed = directives
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| {
                let mut words = line.split_whitespace();
                (words.next().unwrap(), words.collect())
            });
        actual.push(format!(
            "{directives}\n----\n{}",
            run(&parsed.collect()).trim_end()
        ));
        cases += 1;
    }
    assert!(cases > 0);
    assert_eq!(actual.join("\n\n").trim_end(), text.trim_end());
}
