//! Lets the options that name a column follow it to its new name.

use std::collections::BTreeMap;

use crate::options::{
    COLUMN_NAME_OPTIONS, FILE_INDEX_TYPES, NameList, index_column, split_fields_key,
    split_index_columns_key,
};

/// Applies the renames, in order, to every option that names columns.
pub(super) fn rename_in_options(
    options: &mut BTreeMap<String, String>,
    renames: &[(String, String)],
) {
    for (from, to) in renames {
        let renamed = std::mem::take(options)
            .into_iter()
            .map(|(key, value)| rename_one(key, value, from, to));
        *options = renamed.collect();
    }
}

fn rename_one(key: String, value: String, from: &str, to: &str) -> (String, String) {
    let rename = |name: &String| {
        if name == from {
            to.to_owned()
        } else {
            name.clone()
        }
    };
    let in_list = |text: &str| {
        let names = NameList::split(text);
        let names: Vec<_> = names.names().iter().map(rename).collect();
        names.join(",")
    };
    if COLUMN_NAME_OPTIONS.contains(&key.as_str()) {
        let value = in_list(&value);
        return (key, value);
    }
    if let Some((columns, suffix)) = split_fields_key(&key) {
        let columns: Vec<_> = columns.names().iter().map(rename).collect();
        // Without a suffix the key is none of ours.
        if suffix.is_empty() {
            return (key, value);
        }
        let value = if suffix == "sequence-group" {
            in_list(&value)
        } else {
            value
        };
        return (format!("fields.{}.{suffix}", columns.join(",")), value);
    }
    if split_index_columns_key(&key).is_some() {
        let names = NameList::split(&value);
        let names = names.names().iter().map(|name| {
            if index_column(name) == from {
                let rest = name.strip_prefix(from).unwrap_or_default();
                format!("{to}{rest}")
            } else {
                name.clone()
            }
        });
        let value = names.collect::<Vec<_>>().join(",");
        return (key, value);
    }
    if let Some((front, option)) = split_index_option_key(&key, from) {
        return (format!("{front}{to}{option}"), value);
    }
    (key, value)
}

/// What stands before and after the column in a key `file-index.<type>.<column>.<option>`.
fn split_index_option_key<'a>(key: &'a str, column: &str) -> Option<(&'a str, &'a str)> {
    FILE_INDEX_TYPES.into_iter().find_map(|index_type| {
        let rest = key.strip_prefix("file-index.")?.strip_prefix(index_type)?;
        let option = rest.strip_prefix('.')?.strip_prefix(column)?;
        let front = key.len().checked_sub(column.len() + option.len())?;
        Some((key.get(..front)?, option)).filter(|_| option.starts_with('.'))
    })
}
