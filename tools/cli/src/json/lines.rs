//! Output lines before they are written: one buffer, and where each line and its sort key lie.

/// Lines in one buffer, in any order until they are sorted.
#[derive(Debug, Default)]
pub struct Lines {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    key_start: usize,
    start: usize,
    end: usize,
}

impl Lines {
    /// No lines.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a line that sorts by its own text; `write` adds its bytes, without a line feed.
    ///
    /// # Errors
    /// What `write` says; the line is then not added.
    pub fn push<E>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        self.push_keyed(|_| Ok(()), write)
    }

    /// Appends a line that sorts by what `key` writes, which is not shown. With an empty key a line sorts by its text.
    ///
    /// # Errors
    /// What `key` or `write` says; the line is then not added.
    pub fn push_keyed<E>(
        &mut self,
        key: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let key_start = self.bytes.len();
        let outcome = key(&mut self.bytes).and_then(|()| {
            let start = self.bytes.len();
            write(&mut self.bytes).map(|()| start)
        });
        match outcome {
            Ok(start) => {
                self.bytes.push(b'\n');
                self.entries.push(Entry {
                    key_start,
                    start,
                    end: self.bytes.len(),
                });
                Ok(())
            }
            Err(error) => {
                self.bytes.truncate(key_start);
                Err(error)
            }
        }
    }

    /// Sorts by key bytes; lines of one key stay in the order in which they came.
    pub fn sort(&mut self) {
        let bytes = &self.bytes;
        self.entries
            .sort_by(|one, two| one.key(bytes).cmp(two.key(bytes)));
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes held.
    pub fn bytes_held(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes held, with what is noted of each line.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.len() + size_of_val(self.entries.as_slice())
    }

    /// The lines, each with its line feed.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.entries
            .iter()
            .map(|entry| self.bytes.get(entry.start..entry.end).unwrap_or_default())
    }

    /// What each line sorts by, and the line with its line feed.
    pub fn keyed(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let key = |entry: &Entry| entry.key(&self.bytes);
        self.entries.iter().map(key).zip(self.iter())
    }

    /// Drops all lines and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }
}

impl Entry {
    fn key<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let range = if self.key_start == self.start {
            self.start..self.end - 1
        } else {
            self.key_start..self.start
        };
        bytes.get(range).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &Lines) -> String {
        lines
            .iter()
            .map(|line| String::from_utf8(line.to_vec()).unwrap())
            .collect()
    }

    fn put(text: &str) -> impl FnOnce(&mut Vec<u8>) -> Result<(), String> {
        let text = text.to_owned();
        move |out| {
            out.extend_from_slice(text.as_bytes());
            Ok(())
        }
    }

    #[test]
    fn lines_sort_by_text_or_stably_by_key() {
        let mut lines = Lines::new();
        for line in ["b", "a", "ab"] {
            lines.push(put(line)).unwrap();
        }
        lines.sort();
        assert_eq!(text(&lines), "a\nab\nb\n");

        let mut lines = Lines::new();
        for (key, line) in [("k2", "x"), ("k1", "z"), ("k1", "y")] {
            lines.push_keyed(put(key), put(line)).unwrap();
        }
        lines.sort();
        assert_eq!(text(&lines), "z\ny\nx\n");
    }

    #[test]
    fn a_failed_line_leaves_no_trace() {
        let mut lines = Lines::new();
        let failed = lines.push(|out| {
            out.push(b'x');
            Err("no".to_owned())
        });
        assert_eq!(failed, Err("no".to_owned()));
        assert!(lines.is_empty() && lines.bytes_held() == 0);
    }
}
