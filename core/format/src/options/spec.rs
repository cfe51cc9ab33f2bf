//! What is known about one option beside its value, and how its text is found among a table's options.

use std::collections::BTreeMap;

use super::value::OptionValue;
use crate::error::{FormatError, Result};

/// One entry of the option list.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OptionDoc {
    /// The key.
    pub key: &'static str,
    /// Name of the value's type.
    pub value_type: &'static str,
    /// Text of the default; `None` if there is none.
    pub default: Option<String>,
    /// One sentence.
    pub meaning: &'static str,
    /// Whether it cannot change once the table has snapshots.
    pub immutable: bool,
    /// Former keys that still work.
    pub aliases: &'static [&'static str],
    /// Whether only versions after 1.3 know it.
    pub newer: bool,
    /// Whether it concerns other programs only.
    pub foreign: bool,
    pub(crate) check: fn(&OptionSpec, &str) -> Result<()>,
    pub(crate) spec: &'static OptionSpec,
}

/// The fixed part of an option's declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OptionSpec {
    pub(crate) key: &'static str,
    pub(crate) aliases: &'static [&'static str],
    pub(crate) immutable: bool,
    pub(crate) newer: bool,
    pub(crate) foreign: bool,
    pub(crate) at_least: Option<i64>,
}

impl OptionSpec {
    pub(crate) const fn new(key: &'static str) -> Self {
        Self {
            key,
            aliases: &[],
            immutable: false,
            newer: false,
            foreign: false,
            at_least: None,
        }
    }

    pub(crate) const fn immutable(mut self) -> Self {
        self.immutable = true;
        self
    }

    pub(crate) const fn newer(mut self) -> Self {
        self.newer = true;
        self
    }

    pub(crate) const fn foreign(mut self) -> Self {
        self.foreign = true;
        self
    }

    pub(crate) const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    pub(crate) const fn at_least(mut self, minimum: i64) -> Self {
        self.at_least = Some(minimum);
        self
    }

    /// The key under which the option is set, and its text. The key itself goes before its aliases.
    fn find<'a>(&self, values: &'a BTreeMap<String, String>) -> Option<(&'static str, &'a str)> {
        std::iter::once(&self.key)
            .chain(self.aliases)
            .find_map(|key| values.get(*key).map(|text| (*key, text.as_str())))
    }

    /// A map given entry by entry: `file.format.per.level.0 = avro`, as Java also reads it.
    fn find_entries(&self, values: &BTreeMap<String, String>) -> Option<String> {
        let prefix = format!("{}.", self.key);
        let pairs: Vec<_> = values
            .range(prefix.clone()..)
            .take_while(|(key, _)| key.starts_with(&prefix))
            .filter_map(|(key, value)| Some(format!("{}:{value}", key.strip_prefix(&prefix)?)))
            .collect();
        (!pairs.is_empty()).then(|| pairs.join(","))
    }

    pub(crate) fn invalid(&self, text: &str, expected: String) -> FormatError {
        FormatError::InvalidOption {
            key: self.key.to_owned(),
            value: text.to_owned(),
            expected,
        }
    }
}

/// The option's value: what is set, or `default`.
///
/// A value of a foreign option that we cannot read counts as not set: it is another program's to judge.
pub(crate) fn read_option<T: OptionValue>(
    values: &BTreeMap<String, String>,
    spec: &OptionSpec,
    default: T,
) -> Result<T> {
    if let Some((_, text)) = spec.find(values) {
        return match T::parse(text) {
            Some(value) => Ok(value),
            None if spec.foreign => Ok(default),
            None => Err(spec.invalid(text, T::expected())),
        };
    }
    if T::TYPE == "map"
        && let Some(text) = spec.find_entries(values)
    {
        return T::parse(&text).ok_or_else(|| spec.invalid(&text, T::expected()));
    }
    Ok(default)
}

/// Checks a text that is about to be stored: readable here and by Java 1.3, and not below the least useful value.
pub(crate) fn check_text<T: OptionValue>(spec: &OptionSpec, text: &str) -> Result<()> {
    let value = T::parse(text).ok_or_else(|| spec.invalid(text, T::expected()))?;
    if T::TYPE == "duration" && text.trim_start().starts_with(['P', 'p']) {
        let plain = value.text().unwrap_or_default();
        let expected = format!("'{plain}': Java 1.3 does not read the ISO form");
        return Err(spec.invalid(text, expected));
    }
    if T::TYPE == "enum" {
        let word = value.text().unwrap_or_default();
        if !word.eq_ignore_ascii_case(text) {
            let expected = format!("'{word}': Java 1.3 does not read it otherwise");
            return Err(spec.invalid(text, expected));
        }
    }
    let Some(minimum) = spec.at_least else {
        return Ok(());
    };
    let number = match T::TYPE {
        "int" | "long" => text.parse().ok(),
        "memory" => {
            super::MemorySize::parse(text).and_then(|size| i64::try_from(size.bytes()).ok())
        }
        "duration" => {
            super::parse_duration(text).and_then(|duration| i64::try_from(duration.as_nanos()).ok())
        }
        _ => None,
    };
    match number {
        Some(number) if number < minimum => {
            Err(spec.invalid(text, format!("{} of at least {minimum}", T::expected())))
        }
        _ => Ok(()),
    }
}
