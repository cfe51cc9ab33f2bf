//! Up to 65,536 values of 16 bits, in the three forms that roaring bitmaps store.
//!
//! ```text
//!  Array   the values, ascending            2 bytes a value, at most 4096 values
//!  Bits    a bit per possible value         8192 bytes
//!  Runs    (start, length - 1), ascending   4 bytes a run and 2 for their number
//! ```
//!
//! The form with the fewest bytes is written, the earlier of the list on a tie: what Java's `runOptimize` leaves.

use super::{BitmapError, Reader, Result};

/// Values that an array may hold.
pub(super) const ARRAY_MAX: usize = 4096;
const WORDS: usize = 1024;

/// A set of 16-bit values.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Container {
    Array(Vec<u16>),
    Bits(Box<[u64; WORDS]>),
    Runs(Vec<(u16, u16)>),
}

impl Container {
    /// Reads `count` ascending values.
    pub(super) fn read_array(reader: &mut Reader<'_>, count: usize) -> Result<Self> {
        const PART: &str = "values of an array container";
        let bytes = reader.take(count.saturating_mul(2), PART)?;
        let values: Vec<u16> = bytes
            .as_chunks::<2>()
            .0
            .iter()
            .map(|pair| u16::from_le_bytes(*pair))
            .collect();
        if !values.is_sorted_by(|left, right| left < right) {
            return Err(BitmapError::OutOfOrder { part: PART });
        }
        Ok(Self::Array(values))
    }

    /// Reads 8192 bytes of bits, of which `count` are said to be set.
    pub(super) fn read_bits(reader: &mut Reader<'_>, count: usize) -> Result<Self> {
        let bytes = reader.take(WORDS * 8, "bits of a bitmap container")?;
        let mut words = Box::new([0; WORDS]);
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        let found = count_bits(&words);
        if found != count {
            return Err(BitmapError::Invalid {
                part: "number of bits of a bitmap container",
                found: found as u64,
            });
        }
        Ok(Self::Bits(words))
    }

    /// Reads the number of runs and the runs.
    pub(super) fn read_runs(reader: &mut Reader<'_>) -> Result<Self> {
        const PART: &str = "runs of a run container";
        let count = usize::from(reader.u16("number of runs")?);
        let bytes = reader.take(count * 4, PART)?;
        let mut runs: Vec<(u16, u16)> = Vec::with_capacity(count);
        let mut next = 0_u32;
        for bytes in bytes.as_chunks::<4>().0 {
            let [a, b, c, d] = *bytes;
            let (start, length) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
            if u32::from(start) < next {
                return Err(BitmapError::OutOfOrder { part: PART });
            }
            next = u32::from(start) + u32::from(length) + 1;
            if next > 1 << 16 {
                return Err(BitmapError::Invalid {
                    part: "end of a run",
                    found: u64::from(next),
                });
            }
            runs.push((start, length));
        }
        Ok(Self::Runs(runs))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Number of values.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Array(values) => values.len(),
            Self::Bits(words) => count_bits(words),
            Self::Runs(runs) => runs
                .iter()
                .map(|(_, length)| usize::from(*length) + 1)
                .sum(),
        }
    }

    /// The values of both, in the smallest form.
    pub(super) fn union(&self, other: &Self) -> Self {
        let mut words = Box::new([0; WORDS]);
        self.set_bits(&mut words);
        other.set_bits(&mut words);
        Self::Bits(words).smallest()
    }

    fn set_bits(&self, words: &mut [u64; WORDS]) {
        match self {
            Self::Array(values) => values.iter().for_each(|value| set(words, *value)),
            Self::Bits(mine) => {
                for (word, mine) in words.iter_mut().zip(mine.iter()) {
                    *word |= *mine;
                }
            }
            Self::Runs(runs) => {
                for (start, length) in runs {
                    (*start..=start.saturating_add(*length)).for_each(|value| set(words, value));
                }
            }
        }
    }

    fn values(&self) -> Vec<u16> {
        match self {
            Self::Array(values) => values.clone(),
            Self::Runs(runs) => runs
                .iter()
                .flat_map(|(start, length)| *start..=start.saturating_add(*length))
                .collect(),
            Self::Bits(words) => {
                let mut values = Vec::new();
                for (at, word) in (0_u16..).zip(words.iter()) {
                    let mut left = *word;
                    while left != 0 {
                        // A bit of a word is below 64, and there are 1024 words.
                        let bit = u16::try_from(left.trailing_zeros()).unwrap_or_default();
                        values.push(at * 64 + bit);
                        left &= left - 1;
                    }
                }
                values
            }
        }
    }

    fn run_count(&self) -> usize {
        match self {
            Self::Runs(runs) => runs.len(),
            Self::Array(values) => {
                let breaks = values
                    .iter()
                    .zip(values.iter().skip(1))
                    .filter(|(left, right)| left.checked_add(1) != Some(**right));
                breaks.count() + usize::from(!values.is_empty())
            }
            Self::Bits(words) => {
                // A run starts at every bit whose lower neighbour is not set.
                let mut below = 0;
                let mut starts = 0;
                for word in words.iter() {
                    starts += (word & !((word << 1) | below)).count_ones() as usize;
                    below = word >> 63;
                }
                starts
            }
        }
    }

    /// The same values in the form that takes the fewest bytes.
    pub(super) fn smallest(self) -> Self {
        let count = self.count();
        let runs = self.run_count();
        let plain = if count <= ARRAY_MAX {
            count * 2
        } else {
            WORDS * 8
        };
        if 2 + runs * 4 < plain {
            return match self {
                Self::Runs(_) => self,
                other => Self::Runs(to_runs(&other.values())),
            };
        }
        match self {
            Self::Array(_) if count <= ARRAY_MAX => self,
            Self::Bits(_) if count > ARRAY_MAX => self,
            other if count <= ARRAY_MAX => Self::Array(other.values()),
            other => {
                let mut words = Box::new([0; WORDS]);
                other.set_bits(&mut words);
                Self::Bits(words)
            }
        }
    }

    /// Appends what follows a container's header.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Array(values) => {
                for value in values {
                    out.extend(value.to_le_bytes());
                }
            }
            Self::Bits(words) => {
                for word in words.iter() {
                    out.extend(word.to_le_bytes());
                }
            }
            Self::Runs(runs) => {
                // At most 32,768 runs lie apart in 65,536 values.
                let count = u16::try_from(runs.len()).unwrap_or(u16::MAX);
                out.extend(count.to_le_bytes());
                for (start, length) in runs {
                    out.extend(start.to_le_bytes());
                    out.extend(length.to_le_bytes());
                }
            }
        }
    }

    /// Bytes that [`Container::write`] appends.
    pub(super) fn written_len(&self) -> usize {
        match self {
            Self::Array(values) => values.len() * 2,
            Self::Bits(_) => WORDS * 8,
            Self::Runs(runs) => 2 + runs.len() * 4,
        }
    }
}

fn set(words: &mut [u64; WORDS], value: u16) {
    if let Some(word) = words.get_mut(usize::from(value / 64)) {
        *word |= 1 << (value % 64);
    }
}

fn count_bits(words: &[u64; WORDS]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

fn to_runs(values: &[u16]) -> Vec<(u16, u16)> {
    let mut runs: Vec<(u16, u16)> = Vec::new();
    for value in values {
        match runs.last_mut() {
            Some((start, length))
                if u32::from(*start) + u32::from(*length) + 1 == u32::from(*value) =>
            {
                *length += 1;
            }
            _ => runs.push((*value, 0)),
        }
    }
    runs
}
