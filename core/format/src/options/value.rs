//! What the value of an option can be, and how each kind of value is read from text.

use std::collections::BTreeMap;

/// A type that option text is parsed into.
pub trait OptionValue: Sized {
    /// Name of the type in the option list.
    const TYPE: &'static str;

    /// Reads the text; `None` if it is no value of the type.
    fn parse(text: &str) -> Option<Self>;

    /// The text that reads back to this value; `None` for "not set".
    fn text(&self) -> Option<String>;

    /// What is expected, for messages.
    fn expected() -> String;
}

impl<T: OptionValue> OptionValue for Option<T> {
    const TYPE: &'static str = T::TYPE;

    fn parse(text: &str) -> Option<Self> {
        T::parse(text).map(Some)
    }

    fn text(&self) -> Option<String> {
        self.as_ref().and_then(T::text)
    }

    fn expected() -> String {
        T::expected()
    }
}

impl OptionValue for bool {
    const TYPE: &'static str = "boolean";

    fn parse(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    fn text(&self) -> Option<String> {
        Some(self.to_string())
    }

    fn expected() -> String {
        "true or false".to_owned()
    }
}

macro_rules! number_value {
    ($($number:ty: $name:literal, $expected:literal;)*) => {$(
        impl OptionValue for $number {
            const TYPE: &'static str = $name;

            fn parse(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            fn text(&self) -> Option<String> {
                Some(self.to_string())
            }

            fn expected() -> String {
                $expected.to_owned()
            }
        }
    )*};
}

number_value! {
    i32: "int", "a whole number of 32 bits";
    i64: "long", "a whole number of 64 bits";
    f64: "double", "a number";
}

impl OptionValue for String {
    const TYPE: &'static str = "string";

    fn parse(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }

    fn text(&self) -> Option<String> {
        Some(self.clone())
    }

    fn expected() -> String {
        "text".to_owned()
    }
}

/// Names (mostly of columns) separated by commas; blanks around a name do not count, and empty text is no name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NameList(Vec<String>);

impl NameList {
    /// The names, in order.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Splits at commas.
    pub fn split(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::default();
        }
        Self(text.split(',').map(|name| name.trim().to_owned()).collect())
    }
}

impl std::fmt::Display for NameList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

impl OptionValue for NameList {
    const TYPE: &'static str = "list";

    fn parse(text: &str) -> Option<Self> {
        Some(Self::split(text))
    }

    fn text(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.to_string())
    }

    fn expected() -> String {
        "names separated by commas".to_owned()
    }
}

/// A value for some levels of the tree, written `0:avro,5:orc`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerLevel<V = String>(BTreeMap<i32, V>);

impl<V> Default for PerLevel<V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<V> PerLevel<V> {
    /// The value for `level`, if one is given.
    pub fn get(&self, level: i32) -> Option<&V> {
        self.0.get(&level)
    }

    /// Levels and their values, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (i32, &V)> {
        self.0.iter().map(|(level, value)| (*level, value))
    }
}

impl<V: OptionValue> OptionValue for PerLevel<V> {
    const TYPE: &'static str = "map";

    fn parse(text: &str) -> Option<Self> {
        if text.trim().is_empty() {
            return Some(Self::default());
        }
        text.split(',')
            .map(|pair| {
                let (level, value) = pair.split_once(':')?;
                let level = level.trim().parse().ok().filter(|level| *level >= 0)?;
                Some((level, V::parse(value.trim())?))
            })
            .collect::<Option<_>>()
            .map(Self)
    }

    fn text(&self) -> Option<String> {
        let pairs: Vec<_> = self
            .iter()
            .map(|(level, value)| format!("{level}:{}", value.text().unwrap_or_default()))
            .collect();
        (!pairs.is_empty()).then(|| pairs.join(","))
    }

    fn expected() -> String {
        format!("'level:value,level:value', each value {}", V::expected())
    }
}

/// Declares an enum whose variants are the words an option may be; case does not count, and `_` equals `-`.
macro_rules! option_enum {
    ($($(#[doc = $doc:literal])* $name:ident { $($(#[doc = $word_doc:literal])* $variant:ident = $word:literal,)+ })+) => {$(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[doc = $word_doc])* $variant,)+
        }

        impl $name {
            /// The word of option text.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::options::value::OptionValue for $name {
            const TYPE: &'static str = "enum";

            fn parse(text: &str) -> Option<Self> {
                let word = $crate::options::value::enum_word(text);
                [$(Self::$variant),+].into_iter().find(|value| $crate::options::value::enum_word(value.as_str()) == word)
            }

            fn text(&self) -> Option<String> {
                Some(self.as_str().to_owned())
            }

            fn expected() -> String {
                format!("one of {}", [$($word),+].join(", "))
            }
        }
    )+};
}
pub(crate) use option_enum;

pub(crate) fn enum_word(text: &str) -> String {
    text.to_ascii_lowercase().replace('_', "-")
}
