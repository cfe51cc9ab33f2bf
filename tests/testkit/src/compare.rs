//! JSON lines held against one another, by the rules of the contract (sections 3 and 9).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::canonical::canonical;
use crate::error::{Result, TestkitError};

/// Differences shown before the rest is only counted.
const SHOWN: usize = 6;

/// Differences between two batch reads: their rows as multisets, and their kinds where `want` has them.
///
/// # Errors
/// [`TestkitError::Member`] for a line without `row`.
pub fn compare_rows(want: &[Value], got: &[Value]) -> Result<Vec<String>> {
    let text = |line: &Value| -> Result<String> {
        let row = canonical(member(line, "row")?);
        Ok(match line.get("kind") {
            Some(kind) => format!("{} {row}", canonical(kind)),
            None => row,
        })
    };
    let want = want.iter().map(text).collect::<Result<Vec<_>>>()?;
    let got = got.iter().map(text).collect::<Result<Vec<_>>>()?;
    Ok(multiset_difference(want, got))
}

/// Differences between two sets of lines of any other command, each line as a whole.
pub fn compare_objects(want: &[Value], got: &[Value]) -> Vec<String> {
    multiset_difference(
        want.iter().map(canonical).collect(),
        got.iter().map(canonical).collect(),
    )
}

/// Differences between two streams: by snapshot, and with `keys` the order of one key's rows in a snapshot counts. That snapshots
/// ascend is checked too.
///
/// # Errors
/// [`TestkitError::Member`] for a line without `snapshot`, `kind` or `row`.
pub fn compare_stream(want: &[Value], got: &[Value], keys: &[String]) -> Result<Vec<String>> {
    let mut differences = Vec::new();
    let mut last = i64::MIN;
    for line in got {
        let snapshot = member(line, "snapshot")?.as_i64().unwrap_or(i64::MIN);
        if snapshot < last {
            differences.push(format!("snapshot {snapshot} comes after snapshot {last}"));
        }
        last = snapshot;
    }
    let want = by_snapshot_and_key(want, keys)?;
    let got = by_snapshot_and_key(got, keys)?;
    let places: BTreeSet<_> = want.keys().chain(got.keys()).collect();
    for place in places {
        let (wanted, found) = (want.get(place), got.get(place));
        if wanted != found {
            let cut = |rows: Option<&Vec<String>>| {
                rows.map(|rows| rows.iter().take(4).cloned().collect::<Vec<_>>())
            };
            differences.push(format!(
                "snapshot {} key {}: want {:?}, got {:?}",
                place.0,
                place.1,
                cut(wanted).unwrap_or_default(),
                cut(found).unwrap_or_default()
            ));
        }
    }
    Ok(shorten(differences))
}

type Place = (i64, String);

fn by_snapshot_and_key(lines: &[Value], keys: &[String]) -> Result<BTreeMap<Place, Vec<String>>> {
    let mut groups: BTreeMap<Place, Vec<String>> = BTreeMap::new();
    for line in lines {
        let snapshot = member(line, "snapshot")?.as_i64().unwrap_or(i64::MIN);
        let row = member(line, "row")?;
        let key = if keys.is_empty() {
            String::new()
        } else {
            keys.iter()
                .map(|key| canonical(row.get(key).unwrap_or(&Value::Null)))
                .collect::<Vec<_>>()
                .join(",")
        };
        let kind = member(line, "kind")?.as_str().unwrap_or_default();
        groups
            .entry((snapshot, key))
            .or_default()
            .push(format!("{kind} {}", canonical(row)));
    }
    if keys.is_empty() {
        groups.values_mut().for_each(|rows| rows.sort_unstable());
    }
    Ok(groups)
}

fn member<'a>(line: &'a Value, name: &'static str) -> Result<&'a Value> {
    line.get(name).ok_or_else(|| TestkitError::Member {
        member: name,
        line: canonical(line),
    })
}

fn multiset_difference(want: Vec<String>, got: Vec<String>) -> Vec<String> {
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for text in want {
        *counts.entry(text).or_default() += 1;
    }
    for text in got {
        *counts.entry(text).or_default() -= 1;
    }
    let differences = counts
        .into_iter()
        .filter(|(_, count)| *count != 0)
        .map(|(text, count)| {
            if count > 0 {
                format!("missing x{count} {text}")
            } else {
                format!("extra x{} {text}", -count)
            }
        })
        .collect();
    shorten(differences)
}

fn shorten(mut differences: Vec<String>) -> Vec<String> {
    let all = differences.len();
    if all > SHOWN {
        differences.truncate(SHOWN);
        differences.push(format!("... {all} differences in all"));
    }
    differences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_lines::parse_lines;

    fn lines(text: &str) -> Vec<Value> {
        parse_lines(text).unwrap()
    }

    #[test]
    fn rows_compare_as_a_multiset() {
        let one = lines("{\"row\":{\"a\":1}}\n{\"row\":{\"a\":1}}\n{\"row\":{\"a\":2.0}}");
        let two = lines("{\"row\":{\"a\":2.00}}\n{\"row\":{\"a\":1}}\n{\"row\":{\"a\":1}}");
        assert_eq!(compare_rows(&one, &two).unwrap(), Vec::<String>::new());
        let fewer = lines("{\"row\":{\"a\":1}}\n{\"row\":{\"a\":2.0}}");
        assert_eq!(
            compare_rows(&one, &fewer).unwrap(),
            vec!["missing x1 {\"a\":1}"]
        );
        assert_eq!(
            compare_rows(&fewer, &one).unwrap(),
            vec!["extra x1 {\"a\":1}"]
        );
    }

    #[test]
    fn a_stream_may_mix_keys_but_not_reorder_one() {
        let keys = vec!["k".to_owned()];
        let line = |kind: &str, key: i32, value: i32| {
            format!(
                "{{\"snapshot\":1,\"kind\":\"{kind}\",\"row\":{{\"k\":{key},\"v\":{value}}}}}\n"
            )
        };
        let want = lines(&(line("-U", 1, 1) + &line("+U", 1, 2) + &line("+I", 2, 1)));
        let mixed = lines(&(line("+I", 2, 1) + &line("-U", 1, 1) + &line("+U", 1, 2)));
        let reordered = lines(&(line("+U", 1, 2) + &line("-U", 1, 1) + &line("+I", 2, 1)));
        assert_eq!(
            compare_stream(&want, &mixed, &keys).unwrap(),
            Vec::<String>::new()
        );
        assert_eq!(compare_stream(&want, &reordered, &keys).unwrap().len(), 1);
        assert_eq!(
            compare_stream(&want, &reordered, &[]).unwrap(),
            Vec::<String>::new()
        );
    }

    #[test]
    fn snapshots_of_a_stream_must_ascend() {
        let line = |snapshot: i64| {
            format!("{{\"snapshot\":{snapshot},\"kind\":\"+I\",\"row\":{{\"k\":1}}}}\n")
        };
        let want = lines(&(line(1) + &line(2)));
        let got = lines(&(line(2) + &line(1)));
        assert_eq!(
            compare_stream(&want, &got, &[]).unwrap(),
            vec!["snapshot 1 comes after snapshot 2"]
        );
    }

    #[test]
    fn a_line_without_a_row_is_an_error() {
        assert!(matches!(
            compare_rows(&lines("{\"rows\":1}"), &[]),
            Err(TestkitError::Member { member: "row", .. })
        ));
    }
}
