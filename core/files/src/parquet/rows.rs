//! Which rows of a file are read: positions chosen by the caller, rows that are not deleted, rows left by pruning, and how all of them are
//! cut into units.

use std::ops::Range;

use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use parquet::file::metadata::ParquetMetaData;
use tidewater_index::DeletionVector;

use super::decode::Unit;

/// Rows of a file by position, the first row being 0.
#[derive(Debug, Clone, Default)]
pub enum RowChoice {
    /// All rows.
    #[default]
    All,
    /// Rows in these ranges, which rise and do not overlap; for few long runs.
    Ranges(Vec<Range<u64>>),
    /// Rows whose bit is set, one bit per row of the file; for scattered rows.
    Mask(BooleanBuffer),
}

impl RowChoice {
    /// The part that lies in `rows` of the file, as a selection of that row group; none if it is all of them.
    pub(crate) fn in_row_group(&self, rows: Range<u64>) -> Option<RowSelection> {
        let length = usize::try_from(rows.end - rows.start).ok()?;
        match self {
            Self::All => None,
            Self::Ranges(ranges) => {
                let inside = ranges.iter().filter_map(|range| {
                    let (start, end) = (range.start.max(rows.start), range.end.min(rows.end));
                    let local = |row: u64| usize::try_from(row - rows.start).ok();
                    (start < end)
                        .then(|| Some(local(start)?..local(end)?))
                        .flatten()
                });
                Some(selection_of(inside, length))
            }
            Self::Mask(mask) => {
                let start = usize::try_from(rows.start)
                    .unwrap_or(usize::MAX)
                    .min(mask.len());
                let known = length.min(mask.len() - start);
                let part = mask.slice(start, known);
                if known == length {
                    return Some(RowSelection::from_boolean_buffer(part));
                }
                // Rows behind the end of the mask are not chosen.
                let padded = part
                    .iter()
                    .chain(std::iter::repeat_n(false, length - known));
                Some(RowSelection::from_boolean_buffer(padded.collect()))
            }
        }
    }
}

/// Rows from one deleted one to the next, on average, below which a bit for each row is shorter, and faster, than a list of stretches.
const DENSE_ROWS: u64 = 32;

/// The rows of a row group that are not deleted; none if that is all of them. `rows` are its positions in the file.
pub(crate) fn live_rows(deleted: &DeletionVector, rows: Range<u64>) -> Option<RowSelection> {
    let count = deleted.cardinality_in(rows.clone());
    if count == 0 {
        return None;
    }
    let length = rows.end - rows.start;
    if count > length / DENSE_ROWS {
        return deleted
            .live_mask(rows)
            .map(RowSelection::from_boolean_buffer);
    }
    let local = |row: u64| usize::try_from(row - rows.start).unwrap_or(usize::MAX);
    let (mut live, mut at) = (Vec::new(), 0);
    for stretch in deleted.stretches(rows.clone()) {
        live.push(at..local(stretch.start));
        at = local(stretch.end);
    }
    live.push(at..local(rows.end));
    Some(selection_of(live.into_iter(), local(rows.end)))
}

/// The rows that both select, of one row group. Where one of them has a bit for each row, the answer has too: a list of its stretches would
/// be longer.
pub(crate) fn intersect(left: &RowSelection, right: &RowSelection) -> RowSelection {
    match (left.as_mask(), right.as_mask()) {
        (Some(_), None) => left.intersection(&as_mask(right)),
        (None, Some(_)) => as_mask(left).intersection(right),
        _ => left.intersection(right),
    }
}

fn as_mask(selection: &RowSelection) -> RowSelection {
    let mut mask = BooleanBufferBuilder::new(0);
    for selector in selection.iter() {
        mask.append_n(selector.row_count, !selector.skip);
    }
    RowSelection::from_boolean_buffer(mask.finish())
}

/// A selection of the rows in `ranges`, which rise, out of `length`. Ranges that are out of order are cut, not trusted.
pub(crate) fn selection_of(
    ranges: impl Iterator<Item = Range<usize>>,
    length: usize,
) -> RowSelection {
    let (mut selectors, mut at) = (Vec::new(), 0);
    for range in ranges {
        let (start, end) = (range.start.max(at).min(length), range.end.min(length));
        if start >= end {
            continue;
        }
        if start > at {
            selectors.push(RowSelector::skip(start - at));
        }
        selectors.push(RowSelector::select(end - start));
        at = end;
    }
    if at < length {
        selectors.push(RowSelector::skip(length - at));
    }
    RowSelection::from(selectors)
}

/// Rows selected in a row group, as ranges of positions in the file.
pub(crate) fn selected_ranges(
    selection: Option<&RowSelection>,
    rows: Range<u64>,
    out: &mut Vec<Range<u64>>,
) {
    let mut add = |range: Range<u64>| match out.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ if range.start < range.end => out.push(range),
        _ => {}
    };
    let Some(selection) = selection else {
        add(rows);
        return;
    };
    let mut at = rows.start;
    for selector in selection.iter_runs() {
        let end = at.saturating_add(selector.row_count as u64).min(rows.end);
        if !selector.skip {
            add(at..end);
        }
        at = end;
    }
}

trait Runs {
    fn iter_runs(&self) -> Vec<RowSelector>;
}

impl Runs for RowSelection {
    /// Runs of both forms that a selection can have.
    fn iter_runs(&self) -> Vec<RowSelector> {
        let Some(mask) = self.as_mask() else {
            return self.iter().copied().collect();
        };
        let (mut runs, mut at) = (Vec::new(), 0);
        for (start, end) in mask.set_slices() {
            if start > at {
                runs.push(RowSelector::skip(start - at));
            }
            runs.push(RowSelector::select(end - start));
            at = end;
        }
        if at < mask.len() {
            runs.push(RowSelector::skip(mask.len() - at));
        }
        runs
    }
}

/// How large units are, about: whichever is reached first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnitSize {
    /// Bytes of the leaves that are read.
    pub(crate) bytes: u64,
    pub(crate) rows: usize,
}

/// Cuts the chosen rows of a row group into units of about this size.
///
/// Cuts lie at page starts of the largest leaf. Without an offset index the row group is one unit. Every unit decodes the dictionaries
/// again, so units have at least half of their bytes in data pages.
pub(crate) fn units(
    metadata: &ParquetMetaData,
    row_group: usize,
    selection: Option<RowSelection>,
    leaves: &[usize],
    size: UnitSize,
) -> Vec<Unit> {
    let whole = vec![Unit {
        row_group,
        selection: selection.clone(),
    }];
    let Some(group) = metadata.row_groups().get(row_group) else {
        return Vec::new();
    };
    let Some(index) = metadata
        .offset_index()
        .and_then(|index| index.get(row_group))
    else {
        return whole;
    };
    let (mut data_bytes, mut dictionary_bytes, mut widest) = (0, 0, None);
    for &leaf in leaves {
        let Some(column) = group.columns().get(leaf) else {
            continue;
        };
        let bytes = u64::try_from(column.compressed_size()).unwrap_or(0);
        let dictionary = column
            .dictionary_page_offset()
            .map_or(0, |at| column.data_page_offset().saturating_sub(at));
        let dictionary = u64::try_from(dictionary).unwrap_or(0).min(bytes);
        data_bytes += bytes - dictionary;
        dictionary_bytes += dictionary;
        if widest.is_none_or(|(most, _)| bytes > most) {
            widest = Some((bytes, leaf));
        }
    }
    let target = size
        .bytes
        .saturating_sub(dictionary_bytes)
        .max(size.bytes / 2)
        .max(1);
    let rows = usize::try_from(group.num_rows()).unwrap_or(0);
    let by_bytes = usize::try_from(data_bytes / target).unwrap_or(usize::MAX);
    let pieces = by_bytes.max(rows / size.rows.max(1));
    let pages = widest
        .and_then(|(_, leaf)| index.get(leaf))
        .map(|pages| pages.page_locations());
    let Some(pages) = pages.filter(|pages| pieces >= 2 && pages.len() >= 2) else {
        return whole;
    };
    let rows_per_unit = rows.div_ceil(pieces);
    let (mut units, mut start) = (Vec::with_capacity(pieces), 0);
    let ends = pages
        .iter()
        .skip(1)
        .filter_map(|page| usize::try_from(page.first_row_index).ok())
        .chain([rows]);
    for end in ends {
        if end < rows && end - start < rows_per_unit {
            continue;
        }
        let part = selection_of(std::iter::once(start..end), rows);
        let part = match &selection {
            Some(selection) => intersect(selection, &part),
            None => part,
        };
        if part.selects_any() {
            units.push(Unit {
                row_group,
                selection: Some(part),
            });
        }
        start = end;
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(selection: Option<&RowSelection>, rows: Range<u64>) -> Vec<Range<u64>> {
        let mut out = Vec::new();
        selected_ranges(selection, rows, &mut out);
        out
    }

    #[test]
    fn a_choice_is_cut_at_row_groups_and_back_to_positions_of_the_file() {
        let choice = RowChoice::Ranges(vec![2..5, 8..14, 14..15]);
        let first = choice.in_row_group(0..10);
        let second = choice.in_row_group(10..20);
        assert_eq!(ranges(first.as_ref(), 0..10), [2..5, 8..10]);
        assert_eq!(ranges(second.as_ref(), 10..20), vec![10..15; 1]);
        assert!(!choice.in_row_group(20..30).unwrap().selects_any());
    }

    #[test]
    fn a_mask_chooses_by_bit_and_nothing_behind_its_end() {
        let choice = RowChoice::Mask(BooleanBuffer::from(vec![true, false, true, true]));
        assert_eq!(
            ranges(choice.in_row_group(0..3).as_ref(), 0..3),
            [0..1, 2..3]
        );
        assert_eq!(
            ranges(choice.in_row_group(2..6).as_ref(), 2..6),
            vec![2..4; 1]
        );
        assert!(!choice.in_row_group(6..8).unwrap().selects_any());
    }

    #[test]
    fn all_rows_need_no_selection() {
        assert!(RowChoice::All.in_row_group(0..3).is_none());
        assert_eq!(ranges(None, 5..9), vec![5..9; 1]);
    }
}
