//! The type that every text seen is written as.

use tidewater_types::DataType;
use tidewater_types::text::{parse_date, parse_timestamp};

/// Whole numbers up to this one are doubles too.
const EXACT_IN_DOUBLE: u64 = 1 << 53;

/// What the texts of a column could be, all of them.
#[derive(Debug, Clone)]
pub(super) struct TextGuess {
    seen: bool,
    boolean: bool,
    int: bool,
    big_int: bool,
    /// Whole or not, and exact enough.
    double: bool,
    date: bool,
    timestamp: bool,
    /// Timestamps with a zone, and without.
    zoned: bool,
    local: bool,
    fraction_digits: usize,
    /// Whether a date alone is a timestamp and offsets are zones: so in CSV, not in JSON.
    lenient: bool,
}

impl TextGuess {
    /// For fields of CSV.
    pub(super) fn of_csv() -> Self {
        Self {
            seen: false,
            boolean: true,
            int: true,
            big_int: true,
            double: true,
            date: true,
            timestamp: true,
            zoned: false,
            local: false,
            fraction_digits: 0,
            lenient: true,
        }
    }

    /// For strings of JSON, which are dates, moments or text.
    pub(super) fn of_json_strings() -> Self {
        Self {
            boolean: false,
            int: false,
            big_int: false,
            double: false,
            lenient: false,
            ..Self::of_csv()
        }
    }

    /// Takes a value into account.
    pub(super) fn add(&mut self, text: &str) {
        self.seen = true;
        let trimmed = if self.lenient {
            text.trim_ascii()
        } else {
            text
        };
        if self.boolean {
            self.boolean =
                trimmed.eq_ignore_ascii_case("true") || trimmed.eq_ignore_ascii_case("false");
        }
        if self.big_int || self.double {
            let whole = whole_number(trimmed);
            self.int &= whole.is_some_and(|value| i32::try_from(value).is_ok());
            self.big_int &= whole.is_some();
            self.double &= match whole {
                Some(value) => value.unsigned_abs() <= EXACT_IN_DOUBLE,
                None => is_double(trimmed),
            };
        } else {
            self.int = false;
        }
        if self.date || self.timestamp {
            self.add_time(trimmed);
        }
    }

    fn add_time(&mut self, text: &str) {
        let iso_date = text.get(..10).is_some_and(|date| {
            let shape = date.bytes().enumerate().all(|(index, byte)| match index {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
            shape && parse_date(date).is_ok()
        });
        let rest = text.get(10..).unwrap_or_default();
        self.date &= iso_date && rest.is_empty();
        let separated = rest.starts_with(['T', ' ']);
        self.timestamp &= iso_date
            && (separated || (self.lenient && rest.is_empty()))
            && parse_timestamp(text, true).is_ok();
        if !self.timestamp || rest.is_empty() {
            return;
        }
        let zoned = parse_timestamp(text, false).is_err();
        self.zoned |= zoned;
        self.local |= !zoned;
        if zoned && !self.lenient && !text.ends_with('Z') {
            self.timestamp = false;
        }
        let fraction = rest.split_once('.').map_or("", |(_, fraction)| fraction);
        let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        self.fraction_digits = self.fraction_digits.max(digits);
    }

    /// The type of the column.
    pub(super) fn data_type(&self) -> DataType {
        let precision = match self.fraction_digits {
            0..=3 => 3,
            4..=6 => 6,
            _ => 9,
        };
        if !self.seen {
            DataType::string()
        } else if self.boolean {
            DataType::boolean()
        } else if self.int {
            DataType::int()
        } else if self.big_int {
            DataType::big_int()
        } else if self.double {
            DataType::double()
        } else if self.date {
            DataType::date()
        } else if self.timestamp && self.zoned && !self.local {
            DataType::timestamp_ltz(precision)
        } else if self.timestamp && !self.zoned {
            DataType::timestamp(precision)
        } else {
            DataType::string()
        }
    }
}

/// A number as a program writes it: no plus, no zeros in front.
pub(super) fn whole_number(text: &str) -> Option<i64> {
    plain_start(text).then(|| text.parse().ok()).flatten()
}

/// Whether it is a number with a point or an exponent; a whole number that is too large stays text, digits and all.
fn is_double(text: &str) -> bool {
    text == "NaN"
        || (plain_start(text)
            && text.contains(['.', 'e', 'E'])
            && text.parse::<f64>().is_ok_and(f64::is_finite))
}

/// Whether it begins as a number without a plus and without needless zeros.
fn plain_start(text: &str) -> bool {
    match text.strip_prefix('-').unwrap_or(text).as_bytes() {
        [b'0', next, ..] => !next.is_ascii_digit(),
        [first, ..] => first.is_ascii_digit() || (*first == b'.' && text.len() > 1),
        [] => false,
    }
}
