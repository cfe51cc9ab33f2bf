//! Aligned tables: columns as wide as their content, cut to the terminal.
//!
//! ```text
//!    id  name        amount
//!  ----  ---------  -------
//!     7  a             1.50
//!    12  日本の長…    -3.00
//! ```

use super::width::{printable, push_cut, width_of};

/// Blanks between columns.
const GAP: usize = 2;
/// A column is not squeezed below this many columns of the terminal.
const NARROWEST: usize = 6;
/// How null is shown, so that it differs from the text `null`.
const NULL_MARK: &str = "∅";

/// The side on which values of a column are flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// One value of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// No value.
    Null,
    /// A value as text, free of control characters.
    Text(String),
}

impl Cell {
    /// A value; control characters in it are replaced by their pictures.
    pub fn text(text: &str) -> Self {
        Self::Text(printable(text))
    }

    fn shown(&self) -> &str {
        match self {
            Self::Null => NULL_MARK,
            Self::Text(text) => text,
        }
    }
}

#[derive(Debug, Clone)]
struct Column {
    name: String,
    align: Align,
}

/// A table that is held until it is printed.
#[derive(Debug, Clone)]
pub struct TextTable {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

/// The widths a table was given, to print further rows below it.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    columns: Vec<(Column, usize)>,
    left_out: usize,
}

impl TextTable {
    /// A table with these columns and no rows.
    pub fn new(columns: Vec<(String, Align)>) -> Self {
        let columns = columns
            .into_iter()
            .map(|(name, align)| Column {
                name: printable(&name),
                align,
            })
            .collect();
        Self {
            columns,
            rows: Vec::new(),
        }
    }

    /// Appends a row; it has as many cells as the table has columns.
    pub fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// Rows so far.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether the columns have exactly these names.
    pub fn has_columns<'a>(&self, names: impl Iterator<Item = &'a String>) -> bool {
        self.columns.iter().map(|column| &column.name).eq(names)
    }

    /// The table as text for a terminal of `width` columns, with an empty line behind it.
    pub fn render(&self, width: usize) -> String {
        let layout = self.layout(width);
        let mut out = String::new();
        layout.push_header(&mut out);
        self.push_rows(&mut out, &layout);
        out.push('\n');
        out
    }

    /// Takes the rows out, as lines of a table with this layout.
    pub(super) fn push_rows(&self, out: &mut String, layout: &Layout) {
        for row in &self.rows {
            layout.push_row(out, row);
        }
    }

    /// Drops the rows.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
    }

    /// Gives each column the width its content needs, then squeezes the widest until the line fits; columns that do not fit even then are
    /// left out from the right.
    pub(super) fn layout(&self, width: usize) -> Layout {
        let mut widths: Vec<usize> = self
            .columns
            .iter()
            .enumerate()
            .map(|(index, column)| {
                let cells = self
                    .rows
                    .iter()
                    .filter_map(|row| row.get(index))
                    .map(|cell| width_of(cell.shown()));
                cells.max().unwrap_or(0).max(width_of(&column.name)).max(1)
            })
            .collect();
        let line =
            |widths: &[usize]| widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        while line(&widths) > width {
            let over = line(&widths) - width;
            let second = {
                let mut sorted = widths.clone();
                sorted.sort_unstable();
                sorted.iter().rev().nth(1).copied().unwrap_or(0)
            };
            let Some(widest) = widths.iter_mut().max() else {
                break;
            };
            if *widest <= NARROWEST {
                break;
            }
            // Down to the next widest at once, but not further than needed.
            let target = widest
                .saturating_sub(over)
                .max(second.saturating_sub(1))
                .max(NARROWEST);
            *widest = target.min(*widest - 1);
        }
        while widths.len() > 1 && line(&widths) > width {
            widths.pop();
        }
        let left_out = self.columns.len() - widths.len();
        Layout {
            columns: self.columns.iter().cloned().zip(widths).collect(),
            left_out,
        }
    }
}

impl Layout {
    /// Appends the names and the rule below them.
    pub(super) fn push_header(&self, out: &mut String) {
        let names: Vec<Cell> = self
            .columns
            .iter()
            .map(|(column, _)| Cell::Text(column.name.clone()))
            .collect();
        self.push_row(out, &names);
        for (index, (_, width)) in self.columns.iter().enumerate() {
            if index > 0 {
                out.push_str("  ");
            }
            out.extend(std::iter::repeat_n('-', *width));
        }
        if self.left_out > 0 {
            out.push_str(&format!("  (+{} columns)", self.left_out));
        }
        out.push('\n');
    }

    /// Appends one line.
    pub(super) fn push_row(&self, out: &mut String, row: &[Cell]) {
        let mut owed = 0;
        for (index, ((column, width), cell)) in self.columns.iter().zip(row).enumerate() {
            if index > 0 {
                owed += GAP;
            }
            let mut text = String::new();
            let taken = push_cut(&mut text, cell.shown(), *width);
            let free = width - taken;
            let (before, after) = if column.align == Align::Right {
                (free, 0)
            } else {
                (0, free)
            };
            // Blanks are owed until something follows, so that lines have none at their end.
            out.extend(std::iter::repeat_n(' ', owed + before));
            out.push_str(&text);
            owed = after;
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[(&str, Align)], rows: &[&[&str]]) -> TextTable {
        let mut table = TextTable::new(
            columns
                .iter()
                .map(|(name, align)| ((*name).to_owned(), *align))
                .collect(),
        );
        for row in rows {
            table.push(row.iter().map(|text| Cell::text(text)).collect());
        }
        table
    }

    #[test]
    fn numbers_are_flush_right_and_wide_characters_keep_columns_straight() {
        let table = table(
            &[
                ("id", Align::Right),
                ("name", Align::Left),
                ("n", Align::Right),
            ],
            &[&["7", "日本", "1"], &["12", "ab", "-3"]],
        );
        assert_eq!(
            table.render(80),
            "id  name   n\n--  ----  --\n 7  日本   1\n12  ab    -3\n\n"
        );
    }

    #[test]
    fn the_widest_columns_are_cut_first() {
        let table = table(
            &[("a", Align::Left), ("b", Align::Left)],
            &[&["short", "a very long text that does not fit"]],
        );
        let text = table.render(20);
        assert_eq!(
            text,
            "a      b\n-----  -------------\nshort  a very long …\n\n"
        );
        assert!(text.lines().all(|line| width_of(line) <= 20));
    }

    #[test]
    fn columns_that_do_not_fit_are_left_out_and_counted() {
        let names: Vec<String> = (0..30).map(|index| format!("column{index}")).collect();
        let columns: Vec<(&str, Align)> = names
            .iter()
            .map(|name| (name.as_str(), Align::Left))
            .collect();
        let row = ["some value"; 30];
        let text = table(&columns, &[&row]).render(40);
        assert!(text.contains("(+25 columns)"), "{text}");
        assert!(text.lines().next().unwrap().starts_with("colum…  colum…"));
    }

    #[test]
    fn null_is_not_the_text_null() {
        let mut table = table(&[("v", Align::Left)], &[&["null"]]);
        table.push(vec![Cell::Null]);
        assert_eq!(table.render(80), "v\n----\nnull\n∅\n\n");
    }
}
