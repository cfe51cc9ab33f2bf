//! Memory sizes in option text: `128 mb`, `64kb`, `500`.

use std::fmt;

use super::value::OptionValue;

/// A number of bytes. Units are powers of 1024, as in Java.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemorySize(u64);

impl MemorySize {
    /// No limit: the largest size that option text can say.
    pub const UNLIMITED: Self = Self(i64::MAX as u64);

    /// `bytes` bytes.
    pub const fn from_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// `kib` times 1024 bytes.
    pub const fn from_kib(kib: u64) -> Self {
        Self(kib << 10)
    }

    /// `mib` times 1024² bytes.
    pub const fn from_mib(mib: u64) -> Self {
        Self(mib << 20)
    }

    /// The number of bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// The number of bytes for lengths of buffers; on 32-bit machines cut to what they can address.
    pub fn as_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    /// Reads a whole number with an optional unit. `None` for what Java refuses: signs, fractions, `MiB`, sizes beyond
    /// 2^63 − 1 bytes. Source: Paimon `options/MemorySize.java`.
    pub fn parse(text: &str) -> Option<Self> {
        let (number, unit) = split_number(text)?;
        let unit_bytes: u64 = match unit.to_ascii_lowercase().as_str() {
            "" | "b" | "bytes" => 1,
            "k" | "kb" | "kibibytes" => 1 << 10,
            "m" | "mb" | "mebibytes" => 1 << 20,
            "g" | "gb" | "gibibytes" => 1 << 30,
            "t" | "tb" | "tebibytes" => 1 << 40,
            _ => return None,
        };
        let bytes = number.checked_mul(unit_bytes)?;
        (bytes <= Self::UNLIMITED.0).then_some(Self(bytes))
    }
}

impl fmt::Display for MemorySize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::UNLIMITED {
            return f.write_str("9223372036854775807 b");
        }
        let units = [(40, "tb"), (30, "gb"), (20, "mb"), (10, "kb")];
        let unit = units
            .into_iter()
            .find(|(shift, _)| self.0 != 0 && self.0.trailing_zeros() >= *shift);
        match unit {
            Some((shift, name)) => write!(f, "{} {name}", self.0 >> shift),
            None => write!(f, "{} b", self.0),
        }
    }
}

impl OptionValue for MemorySize {
    const TYPE: &'static str = "memory";

    fn parse(text: &str) -> Option<Self> {
        Self::parse(text)
    }

    fn text(&self) -> Option<String> {
        Some(self.to_string())
    }

    fn expected() -> String {
        "a memory size such as '128 mb' (units b, kb, mb, gb, tb)".to_owned()
    }
}

/// Splits `12 mb` into the number, which fits a Java long, and the rest without blanks around it.
pub(crate) fn split_number(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits)?;
    let number: u64 = number.parse().ok()?;
    (number <= i64::MAX as u64).then_some((number, unit.trim()))
}
