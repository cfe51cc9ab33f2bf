//! Lines in order, however many: what is more than memory allows goes to sorted runs on the local disk, which are merged at the end.
//!
//! ```text
//!  push ... -> Lines -- full: sort --> run file  run file  run file      at most MOST_RUNS, then they become one
//!                 \___ at the end: sort ______\______|_________/ merge --> out
//! ```
//!
//! Run files have no name, so nothing is left of them when the process ends, in whichever way.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::PathBuf;

use super::Lines;
use crate::error::{CliError, Result};

/// Runs that are merged at a time; each holds a window of its decoder.
const MOST_RUNS: usize = 64;
/// Fewer bytes are not worth a run.
const HELD_BYTES_MIN: usize = 1 << 20;
/// Part of the memory that lines may fill: a buffer may be twice as large as what is in it, and is copied when it grows.
const SHARE: usize = 8;
/// Runs are written once and read once.
const ZSTD_LEVEL: i32 = 1;

/// Takes lines in and gives them out sorted by key, those of one key in the order in which they came.
#[derive(Debug)]
pub struct LineSorter {
    held: Lines,
    held_bytes_max: usize,
    folder: PathBuf,
    /// Oldest first.
    runs: Vec<File>,
}

impl LineSorter {
    /// Holds a share of `memory_bytes`; the rest goes to files in `folder`.
    pub fn new(memory_bytes: usize, folder: PathBuf) -> Self {
        Self {
            held: Lines::new(),
            held_bytes_max: (memory_bytes / SHARE).max(HELD_BYTES_MIN),
            folder,
            runs: Vec::new(),
        }
    }

    /// Appends a line that sorts by its own text; `write` adds its bytes, without a line feed.
    ///
    /// # Errors
    /// What `write` says; [`CliError::Write`] if the local disk refuses.
    pub fn push(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        self.push_keyed(|_| Ok(()), write)
    }

    /// Appends a line that sorts by what `key` writes, which is not shown. With an empty key a line sorts by its text.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn push_keyed(
        &mut self,
        key: impl FnOnce(&mut Vec<u8>) -> Result<()>,
        write: impl FnOnce(&mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        self.held.push_keyed(key, write)?;
        if self.held.memory_bytes() >= self.held_bytes_max {
            self.spill()?;
        }
        Ok(())
    }

    /// Gives all lines to `out`, each with its line feed, and is empty then.
    ///
    /// # Errors
    /// What `out` says; those of the local disk.
    pub fn drain(&mut self, mut out: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if self.runs.is_empty() {
            self.held.sort();
            self.held.iter().try_for_each(&mut out)?;
        } else {
            if !self.held.is_empty() {
                self.spill()?;
            }
            let runs = std::mem::take(&mut self.runs);
            merge(runs, &self.failed(), |head| out(&head.line))?;
        }
        self.held.clear();
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        self.held.sort();
        let failed = self.failed();
        let mut run = RunWriter::create(&self.folder).map_err(&failed)?;
        for (key, line) in self.held.keyed() {
            run.add(key, line).map_err(&failed)?;
        }
        self.runs.push(run.finish().map_err(&failed)?);
        self.held.clear();
        if self.runs.len() >= MOST_RUNS {
            let runs = std::mem::take(&mut self.runs);
            let mut one = RunWriter::create(&self.folder).map_err(&failed)?;
            merge(runs, &failed, |head| {
                one.add(&head.key, &head.line).map_err(&failed)
            })?;
            self.runs.push(one.finish().map_err(&failed)?);
        }
        Ok(())
    }

    fn failed(&self) -> impl Fn(io::Error) -> CliError + use<> {
        let path = format!("sorted lines in {}", self.folder.display());
        move |source| CliError::Write {
            path: path.clone(),
            source,
        }
    }
}

/// The next line of a run. Orders by key, then by run, oldest first.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    key: Vec<u8>,
    run: usize,
    line: Vec<u8>,
}

fn merge(
    runs: Vec<File>,
    failed: &impl Fn(io::Error) -> CliError,
    mut out: impl FnMut(&Head) -> Result<()>,
) -> Result<()> {
    let mut readers = Vec::with_capacity(runs.len());
    let mut heads = BinaryHeap::with_capacity(runs.len());
    for (run, file) in runs.into_iter().enumerate() {
        let mut reader = RunReader::open(file).map_err(failed)?;
        let mut head = Head {
            run,
            ..Head::default()
        };
        if reader.next(&mut head).map_err(failed)? {
            heads.push(Reverse(head));
        }
        readers.push(reader);
    }
    while let Some(Reverse(mut head)) = heads.pop() {
        out(&head)?;
        let Some(reader) = readers.get_mut(head.run) else {
            continue;
        };
        if reader.next(&mut head).map_err(failed)? {
            heads.push(Reverse(head));
        }
    }
    Ok(())
}

/// Writes key length, line length, key and line of each line, compressed.
struct RunWriter(zstd::stream::write::Encoder<'static, File>);

impl RunWriter {
    fn create(folder: &std::path::Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(folder)?;
        zstd::stream::write::Encoder::new(file, ZSTD_LEVEL).map(Self)
    }

    fn add(&mut self, key: &[u8], line: &[u8]) -> io::Result<()> {
        self.0.write_all(&(key.len() as u64).to_le_bytes())?;
        self.0.write_all(&(line.len() as u64).to_le_bytes())?;
        self.0.write_all(key)?;
        self.0.write_all(line)
    }

    fn finish(self) -> io::Result<File> {
        let mut file = self.0.finish()?;
        file.rewind()?;
        Ok(file)
    }
}

struct RunReader(zstd::stream::read::Decoder<'static, BufReader<File>>);

impl RunReader {
    fn open(file: File) -> io::Result<Self> {
        zstd::stream::read::Decoder::new(file).map(Self)
    }

    /// Reads the next line; false at the end.
    fn next(&mut self, head: &mut Head) -> io::Result<bool> {
        let mut lengths = [0; 16];
        if self.0.read(&mut lengths[..1])? == 0 {
            return Ok(false);
        }
        self.0.read_exact(&mut lengths[1..])?;
        let (key, line) = lengths.split_at(8);
        self.fill(&mut head.key, key)?;
        self.fill(&mut head.line, line)?;
        Ok(true)
    }

    fn fill(&mut self, into: &mut Vec<u8>, length: &[u8]) -> io::Result<()> {
        let length = length.first_chunk::<8>().copied().unwrap_or_default();
        let length = u64::from_le_bytes(length);
        into.clear();
        let read = (&mut self.0).take(length).read_to_end(into)? as u64;
        if read < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn drained(sorter: &mut LineSorter) -> String {
        let mut all = Vec::new();
        let mut take = |line: &[u8]| {
            all.extend_from_slice(line);
            Ok(())
        };
        sorter.drain(&mut take).unwrap();
        String::from_utf8(all).unwrap()
    }

    fn put(text: &str) -> impl FnOnce(&mut Vec<u8>) -> Result<()> {
        let text = text.to_owned();
        move |out| {
            out.extend_from_slice(text.as_bytes());
            Ok(())
        }
    }

    proptest! {
        /// The same lines in the same order, whether they fit or make so many runs that runs become one.
        #[test]
        fn what_does_not_fit_comes_out_as_what_does(
            lines in prop::collection::vec((0..20_u8, 0..1000_u16), 0..300),
            keyed in any::<bool>(),
            held in 1..2000_usize,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut large = LineSorter::new(usize::MAX, folder.path().to_owned());
            let mut small = LineSorter { held_bytes_max: held, ..LineSorter::new(0, folder.path().to_owned()) };
            for sorter in [&mut large, &mut small] {
                for _ in 0..2 {
                    for (key, line) in &lines {
                        let key = if keyed { key.to_string() } else { String::new() };
                        sorter.push_keyed(put(&key), put(&line.to_string())).unwrap();
                    }
                }
            }
            prop_assert_eq!(drained(&mut small), drained(&mut large));
            prop_assert_eq!(drained(&mut small), "");
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let mut sorter = LineSorter {
            held_bytes_max: 1,
            ..LineSorter::new(0, PathBuf::from("/not/there"))
        };
        let error = sorter.push(put("line")).unwrap_err();
        assert!(
            error.message().contains("/not/there"),
            "{}",
            error.message()
        );
    }
}
