//! The net effect of the compactions between two commits.

use std::sync::Arc;

use tidewater_format::DataFileMeta;

use crate::commit_message::CompactIncrement;

/// What one compaction did: files that go and files that come. An upgraded file is in both, each time with its level.
#[derive(Debug, Default)]
pub(crate) struct CompactionResult {
    pub(crate) before: Vec<Arc<DataFileMeta>>,
    pub(crate) after: Vec<Arc<DataFileMeta>>,
}

/// Adds compactions up: what one made and a later one consumed is nowhere.
/// Source: spec 02b §2.3; Paimon `MergeTreeWriter.updateCompactResult`.
#[derive(Debug, Default)]
pub(crate) struct NetCompaction {
    before: Vec<Arc<DataFileMeta>>,
    after: Vec<Arc<DataFileMeta>>,
}

impl NetCompaction {
    /// Adds a result; answers the files that no snapshot will name and whose bytes can go.
    pub(crate) fn add(&mut self, result: CompactionResult) -> Vec<Arc<DataFileMeta>> {
        let mut unused = Vec::new();
        for file in result.before {
            let made = self
                .after
                .iter()
                .position(|made| made.file_name == file.file_name && made.level == file.level);
            let Some(made) = made else {
                self.before.push(file);
                continue;
            };
            self.after.remove(made);
            // An upgraded file's bytes are older than its entry here, or live on in it.
            let named = |files: &[Arc<DataFileMeta>]| {
                files.iter().any(|other| other.file_name == file.file_name)
            };
            if !named(&self.before) && !named(&result.after) {
                unused.push(file);
            }
        }
        self.after.extend(result.after);
        unused
    }

    /// Takes the sum out.
    pub(crate) fn take(&mut self) -> CompactIncrement {
        CompactIncrement {
            before: std::mem::take(&mut self.before),
            after: std::mem::take(&mut self.after),
            changelog_files: Vec::new(),
        }
    }

    /// Files that exist only because of these compactions.
    pub(crate) fn made(&self) -> Vec<Arc<DataFileMeta>> {
        self.after
            .iter()
            .filter(|file| {
                !self
                    .before
                    .iter()
                    .any(|before| before.file_name == file.file_name)
            })
            .cloned()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::data_file;

    fn result(before: &[(&str, i32)], after: &[(&str, i32)]) -> CompactionResult {
        let files = |list: &[(&str, i32)]| {
            list.iter()
                .map(|(name, level)| data_file(name, *level))
                .collect()
        };
        CompactionResult {
            before: files(before),
            after: files(after),
        }
    }

    fn shown(files: &[Arc<DataFileMeta>]) -> Vec<(&str, i32)> {
        files
            .iter()
            .map(|file| (file.file_name.as_str(), file.level))
            .collect()
    }

    #[test]
    fn a_file_made_and_consumed_in_between_is_nowhere_and_its_bytes_go() {
        let mut net = NetCompaction::default();
        assert!(
            net.add(result(&[("a", 0), ("b", 0)], &[("ab", 4)]))
                .is_empty()
        );
        let unused = net.add(result(&[("ab", 4), ("c", 0)], &[("abc", 5)]));
        assert_eq!(shown(&unused), [("ab", 4)]);
        assert_eq!(shown(&net.made()), [("abc", 5)]);
        let sum = net.take();
        assert_eq!(shown(&sum.before), [("a", 0), ("b", 0), ("c", 0)]);
        assert_eq!(shown(&sum.after), [("abc", 5)]);
        assert!(net.take().is_empty());
    }

    #[test]
    fn an_upgraded_file_keeps_its_bytes_when_it_is_consumed_later() {
        let mut net = NetCompaction::default();
        assert!(net.add(result(&[("a", 0)], &[("a", 4)])).is_empty());
        assert!(net.made().is_empty());
        assert!(
            net.add(result(&[("a", 4), ("b", 0)], &[("ab", 5)]))
                .is_empty()
        );
        let sum = net.take();
        assert_eq!(shown(&sum.before), [("a", 0), ("b", 0)]);
        assert_eq!(shown(&sum.after), [("ab", 5)]);
    }

    #[test]
    fn a_made_file_that_is_upgraded_lives_on() {
        let mut net = NetCompaction::default();
        net.add(result(&[("a", 0), ("b", 0)], &[("ab", 4)]));
        assert!(net.add(result(&[("ab", 4)], &[("ab", 5)])).is_empty());
        let sum = net.take();
        assert_eq!(shown(&sum.before), [("a", 0), ("b", 0)]);
        assert_eq!(shown(&sum.after), [("ab", 5)]);
    }
}
