//! The input lines of `write` that are no rows.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::session::{CommitRequest, CompactRequest};

/// What a line asks for.
#[derive(Debug, PartialEq)]
pub(super) enum Directive {
    /// Commit what came since the last commit.
    Commit(CommitRequest),
    /// Compact with the commit that follows.
    Compact(CompactRequest),
    /// Close the writer and open a new one.
    Reopen,
    /// The same under another user.
    CommitUser(String),
}

/// Why a line asks for nothing that can be done.
#[derive(Debug, PartialEq)]
pub(super) enum DirectiveError {
    /// It will be understood one day.
    NotBuilt(String),
    /// It means nothing.
    Meaningless(String),
}

type Result<T> = std::result::Result<T, DirectiveError>;

impl Directive {
    /// Reads a line's members.
    pub(super) fn from_json(members: &Map<String, Value>) -> Result<Self> {
        let has = |name: &str| members.contains_key(name);
        if has("compact") {
            known(members, &["compact", "partition", "bucket"])?;
            return Ok(Self::Compact(CompactRequest {
                full: match text(members, "compact")? {
                    "full" => true,
                    "minor" => false,
                    other => {
                        return Err(meaningless(format!(
                            "compact is \"full\" or \"minor\", not {other:?}"
                        )));
                    }
                },
                partition: members
                    .get("partition")
                    .filter(|value| !value.is_null())
                    .cloned(),
                bucket: whole(members, "bucket")?
                    .map(|bucket| {
                        i32::try_from(bucket)
                            .map_err(|_| meaningless(format!("there is no bucket {bucket}")))
                    })
                    .transpose()?,
                condition: None,
                idle_for: None,
            }));
        }
        if has("commit") {
            known(
                members,
                &[
                    "commit",
                    "watermark",
                    "properties",
                    "empty",
                    "filter",
                    "wait",
                ],
            )?;
            return Ok(Self::Commit(CommitRequest {
                identifier: whole(members, "commit")?
                    .ok_or_else(|| meaningless("commit is a whole number"))?,
                watermark: whole(members, "watermark")?,
                properties: properties(members)?,
                empty: flag(members, "empty", false)?,
                filter: flag(members, "filter", false)?,
                wait: flag(members, "wait", true)?,
            }));
        }
        if has("reopen") {
            return Ok(Self::Reopen);
        }
        if has("commit-user") {
            return Ok(Self::CommitUser(text(members, "commit-user")?.to_owned()));
        }
        if has("delete-where") {
            return Err(DirectiveError::NotBuilt(
                "deleting rows by a condition (\"delete-where\")".to_owned(),
            ));
        }
        if has("write-columns") {
            return Err(DirectiveError::NotBuilt(
                "writing some columns of a data-evolution table (\"write-columns\")".to_owned(),
            ));
        }
        let names: Vec<&str> = members.keys().map(String::as_str).collect();
        Err(meaningless(format!(
            "neither a row nor anything else that write knows: {}",
            names.join(", ")
        )))
    }
}

fn meaningless(what: impl Into<String>) -> DirectiveError {
    DirectiveError::Meaningless(what.into())
}

fn known(members: &Map<String, Value>, names: &[&str]) -> Result<()> {
    match members.keys().find(|name| !names.contains(&name.as_str())) {
        Some(name) => Err(meaningless(format!(
            "{name:?} has no meaning beside {:?}",
            names.first().copied().unwrap_or_default()
        ))),
        None => Ok(()),
    }
}

fn text<'a>(members: &'a Map<String, Value>, name: &str) -> Result<&'a str> {
    members
        .get(name)
        .and_then(Value::as_str)
        .ok_or_else(|| meaningless(format!("{name:?} is a string")))
}

fn whole(members: &Map<String, Value>, name: &str) -> Result<Option<i64>> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value
            .as_i64()
            .map(Some)
            .ok_or_else(|| meaningless(format!("{name:?} is a whole number, not {value}"))),
    }
}

fn flag(members: &Map<String, Value>, name: &str, default: bool) -> Result<bool> {
    match members.get(name) {
        None => Ok(default),
        Some(value) => value
            .as_bool()
            .ok_or_else(|| meaningless(format!("{name:?} is true or false, not {value}"))),
    }
}

fn properties(members: &Map<String, Value>) -> Result<BTreeMap<String, String>> {
    match members.get("properties") {
        None | Some(Value::Null) => Ok(BTreeMap::new()),
        Some(Value::Object(pairs)) => Ok(pairs
            .iter()
            .map(|(key, value)| {
                (
                    key.clone(),
                    value
                        .as_str()
                        .map_or_else(|| value.to_string(), str::to_owned),
                )
            })
            .collect()),
        Some(other) => Err(meaningless(format!(
            "\"properties\" is an object, not {other}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Directive> {
        let Value::Object(members) = serde_json::from_str(text).unwrap() else {
            panic!()
        };
        Directive::from_json(&members)
    }

    #[test]
    fn commits_carry_everything_the_contract_names() {
        let line = r#"{"commit":-3,"watermark":12,"properties":{"a":"b","n":1},"empty":true,"filter":true,"wait":false}"#;
        let properties = [
            ("a".to_owned(), "b".to_owned()),
            ("n".to_owned(), "1".to_owned()),
        ]
        .into();
        let request = CommitRequest {
            identifier: -3,
            watermark: Some(12),
            properties,
            empty: true,
            filter: true,
            wait: false,
        };
        assert_eq!(read(line), Ok(Directive::Commit(request)));
        assert_eq!(
            read(r#"{"commit":1}"#),
            Ok(Directive::Commit(CommitRequest::of(1)))
        );
    }

    #[test]
    fn compactions_and_new_writers() {
        let request = CompactRequest {
            full: false,
            partition: Some(serde_json::json!({"p": 1})),
            bucket: Some(2),
            condition: None,
            idle_for: None,
        };
        assert_eq!(
            read(r#"{"compact":"minor","partition":{"p":1},"bucket":2}"#),
            Ok(Directive::Compact(request))
        );
        assert_eq!(read(r#"{"reopen":true}"#), Ok(Directive::Reopen));
        assert_eq!(
            read(r#"{"commit-user":"u"}"#),
            Ok(Directive::CommitUser("u".into()))
        );
    }

    #[test]
    fn what_is_later_and_what_is_never() {
        assert!(matches!(
            read(r#"{"delete-where":{}}"#),
            Err(DirectiveError::NotBuilt(_))
        ));
        assert!(matches!(
            read(r#"{"write-columns":["a"],"first-row-id":0}"#),
            Err(DirectiveError::NotBuilt(_))
        ));
        for bad in [
            r#"{"commit":"1"}"#,
            r#"{"commit":1.5}"#,
            r#"{"commit":1,"row2":{}}"#,
            r#"{"compact":"some"}"#,
            r#"{"kind":"+I"}"#,
            "{}",
        ] {
            assert!(
                matches!(read(bad), Err(DirectiveError::Meaningless(_))),
                "{bad}"
            );
        }
    }
}
