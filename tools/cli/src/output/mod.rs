//! What commands print: JSON lines for scripts, aligned tables for people.
//!
//! ```text
//!  record(object)   piped or --json:  one line at once
//!                   on a terminal:    collected; a table when the shape changes or the command ends
//!  batch(rows)      piped or --json:  Lines, sorted where asked
//!                   on a terminal:    RowTable, widths taken from the first rows
//! ```

mod progress;
mod row_table;
mod table;
mod width;

use std::io::Write;

use serde_json::Value;

pub use self::progress::{Progress, grouped};
pub use self::row_table::RowTable;
pub use self::table::{Align, Cell, TextTable};

use crate::error::{CliError, Result};
use crate::json::{LineSorter, Lines};

/// How answers are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputMode {
    /// One JSON object a line.
    Lines,
    /// Aligned tables for a terminal of this many columns.
    Table {
        /// Columns of the terminal.
        width: usize,
    },
}

/// Where a command prints its answer.
pub struct Output {
    writer: Box<dyn Write + Send>,
    mode: OutputMode,
    pending: Option<TextTable>,
}

impl Output {
    /// Prints to `writer` in this mode.
    pub fn new(writer: Box<dyn Write + Send>, mode: OutputMode) -> Self {
        Self {
            writer,
            mode,
            pending: None,
        }
    }

    /// How answers are shown.
    pub fn mode(&self) -> OutputMode {
        self.mode
    }

    /// Prints one object: a line, or a row of a table whose columns are the object's members. Objects with the same members make one
    /// table.
    ///
    /// # Errors
    /// [`CliError::Output`] if the stream fails.
    pub fn record(&mut self, object: &Value) -> Result<()> {
        let OutputMode::Table { .. } = self.mode else {
            return self
                .write(object.to_string().as_bytes())
                .and_then(|()| self.write(b"\n"));
        };
        let Value::Object(members) = object else {
            return Ok(());
        };
        let same = self
            .pending
            .as_ref()
            .is_some_and(|table| table.has_columns(members.keys()));
        if !same {
            self.end_table()?;
            let columns = members
                .iter()
                .map(|(name, value)| (name.clone(), align_of(value)));
            self.pending = Some(TextTable::new(columns.collect()));
        }
        if let Some(table) = &mut self.pending {
            table.push(members.values().map(cell_of).collect());
        }
        Ok(())
    }

    /// Prints one object whose members matter more than its line: a line, or a list of its members one below the other.
    ///
    /// # Errors
    /// [`CliError::Output`] if the stream fails.
    pub fn document(&mut self, object: &Value) -> Result<()> {
        let OutputMode::Table { .. } = self.mode else {
            return self.record(object);
        };
        self.end_table()?;
        let Value::Object(members) = object else {
            return Ok(());
        };
        let mut table = TextTable::new(vec![
            ("member".into(), Align::Left),
            ("value".into(), Align::Left),
        ]);
        for (name, value) in members {
            table.push(vec![Cell::text(name), cell_of(value)]);
        }
        self.pending = Some(table);
        self.end_table()
    }

    /// Prints text as it is; for people only.
    ///
    /// # Errors
    /// [`CliError::Output`] if the stream fails.
    pub fn text(&mut self, text: &str) -> Result<()> {
        self.end_table()?;
        self.write(text.as_bytes())
    }

    /// Prints lines that are JSON already.
    ///
    /// # Errors
    /// [`CliError::Output`] if the stream fails.
    pub fn lines(&mut self, lines: &Lines) -> Result<()> {
        self.end_table()?;
        lines.iter().try_for_each(|line| self.write(line))
    }

    /// Prints all lines of a sorter, in its order.
    ///
    /// # Errors
    /// [`CliError::Output`] if the stream fails; [`CliError::Write`] if lines on the local disk cannot be read back.
    pub fn sorted(&mut self, lines: &mut LineSorter) -> Result<()> {
        self.end_table()?;
        lines.drain(|line| self.write(line))
    }

    /// Prints the table begun by [`Output::record`], if any.
    ///
    /// # Errors
    /// [`CliError::Output`] if the stream fails.
    pub fn end_table(&mut self) -> Result<()> {
        let (Some(table), OutputMode::Table { width }) = (self.pending.take(), self.mode) else {
            return Ok(());
        };
        let text = table.render(width);
        self.write(text.as_bytes())
    }

    /// Prints what is pending and hands everything to the other end.
    ///
    /// # Errors
    /// [`CliError::Output`] if the stream fails.
    pub fn flush(&mut self) -> Result<()> {
        self.end_table()?;
        self.writer.flush().map_err(CliError::Output)
    }

    /// The stream behind it, for bytes that are no lines; what is printed after that goes nowhere.
    ///
    /// # Errors
    /// [`CliError::Output`] if the stream fails.
    pub fn take_writer(&mut self) -> Result<Box<dyn Write + Send>> {
        self.flush()?;
        Ok(std::mem::replace(
            &mut self.writer,
            Box::new(std::io::sink()),
        ))
    }

    /// Hands printed lines to the other end; a table for people goes on.
    ///
    /// # Errors
    /// [`CliError::Output`] if the stream fails.
    pub fn flush_lines(&mut self) -> Result<()> {
        match self.mode {
            OutputMode::Lines => self.writer.flush().map_err(CliError::Output),
            OutputMode::Table { .. } => Ok(()),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.write_all(bytes).map_err(CliError::Output)
    }
}

fn align_of(value: &Value) -> Align {
    if value.is_number() {
        Align::Right
    } else {
        Align::Left
    }
}

fn cell_of(value: &Value) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::String(text) => Cell::text(text),
        other => Cell::text(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use serde_json::json;

    use super::*;

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn printed(mode: OutputMode, objects: &[Value]) -> String {
        let sink = Sink::default();
        let mut output = Output::new(Box::new(sink.clone()), mode);
        for object in objects {
            output.record(object).unwrap();
        }
        output.flush().unwrap();
        String::from_utf8(sink.0.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn records_are_lines_for_scripts_and_tables_for_people() {
        let objects = [
            json!({"id": 7, "name": "a"}),
            json!({"id": 12, "name": null}),
            json!({"rows": 2}),
        ];
        assert_eq!(
            printed(OutputMode::Lines, &objects),
            "{\"id\":7,\"name\":\"a\"}\n{\"id\":12,\"name\":null}\n{\"rows\":2}\n"
        );
        let table = printed(OutputMode::Table { width: 80 }, &objects);
        assert_eq!(
            table,
            "id  name\n--  ----\n 7  a\n12  ∅\n\nrows\n----\n   2\n\n"
        );
    }
}
