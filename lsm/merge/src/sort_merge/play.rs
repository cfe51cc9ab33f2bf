//! The loop over rows: which versions of a key meet, which one is the result.
//!
//! Three speeds. A row whose run did not give the row before opens a group and costs one replay of the tree. A run
//! that leads twice in a row is asked how far it stays below every other head, and that stretch is taken whole. The
//! last run is taken batch by batch.
//!
//! A batch's last row always opens a group, even in a stretch: whether the run's next batch repeats its key is only
//! known later.

use std::cmp::Ordering;

use crate::sort_merge::batch::Shape;
use crate::sort_merge::core::{Core, Group, Sink, Version};
use crate::sort_merge::keys::RunKeys;
use crate::sort_merge::tournament::Entry;

impl<K: RunKeys> Core<K> {
    /// Plays until input is missing, the chunk is full or masks are ready. Answers whether all runs are over.
    pub(super) fn play(&mut self) -> bool {
        while let Some(top) = self.tree.as_ref().and_then(|tree| tree.winner()) {
            if let Some(group) = self.group {
                if self.same_key(&group.best, &top) {
                    self.join_group(group, top);
                    self.advance(top.run, 1);
                    if self.blocked.is_some() {
                        return false;
                    }
                    continue;
                }
                self.close_group(group);
                if self.pause() {
                    return false;
                }
            }
            if top.run != self.streak || !self.take_stretch(&top) {
                self.open_group(&top);
                self.streak = top.run;
                self.advance(top.run, 1);
            }
            if self.blocked.is_some() || self.full() {
                return false;
            }
        }
        if let Some(group) = self.group {
            self.close_group(group);
        }
        self.retire_masks();
        true
    }

    /// Between two keys: whether output should go out first.
    #[inline]
    fn pause(&mut self) -> bool {
        if self.retired.is_empty() {
            return self.full();
        }
        self.retire_masks();
        !self.ready.is_empty() || self.full() || self.retired_too_many()
    }

    #[inline]
    fn full(&self) -> bool {
        self.sink.room() == 0
    }

    #[inline]
    fn head(&self, top: &Entry<K::Word>) -> Version<K::Word> {
        let (slot, row) = match self.runs.get(top.run as usize) {
            Some(run) => (run.slot, run.row),
            None => (0, 0),
        };
        Version {
            word: top.word,
            run: top.run,
            slot,
            row,
        }
    }

    #[inline]
    fn key_bytes(&self, version: &Version<K::Word>) -> &[u8] {
        self.slot(version.slot).keys.bytes(version.row as usize)
    }

    #[inline]
    fn same_key(&self, best: &Version<K::Word>, top: &Entry<K::Word>) -> bool {
        best.word == top.word
            && (K::EXACT || self.key_bytes(best) == self.key_bytes(&self.head(top)))
    }

    #[inline]
    fn open_group(&mut self, top: &Entry<K::Word>) {
        let best = self.head(top);
        self.group = Some(Group {
            best,
            contested: false,
        });
        if self.sink.keeps_versions() {
            self.versions.push(best);
        }
    }

    #[inline]
    fn join_group(&mut self, group: Group<K::Word>, top: Entry<K::Word>) {
        let next = self.head(&top);
        if let Sink::Groups(_) = self.sink {
            self.streak = top.run;
            self.versions.push(next);
            return;
        }
        let (best, loser) = if self.beats(&next, &group.best) {
            (next, group.best)
        } else {
            (group.best, next)
        };
        self.group = Some(Group {
            best,
            contested: true,
        });
        self.streak = top.run;
        match self.sink {
            Sink::Winners(_) | Sink::Groups(_) => {}
            Sink::AllVersions(_) => self.versions.push(next),
            Sink::Mask => self.lose(loser),
        }
    }

    /// Whether `next`, which was seen later, is the result rather than `best`.
    #[inline]
    fn beats(&self, next: &Version<K::Word>, best: &Version<K::Word>) -> bool {
        if self.rule.ignore_delete && self.any_retractions {
            if self.retracts(next) {
                return false;
            }
            if self.retracts(best) {
                return true;
            }
        }
        let newer = self.compare_age(next, best) == Ordering::Greater;
        newer != self.rule.oldest
    }

    #[inline]
    fn retracts(&self, version: &Version<K::Word>) -> bool {
        self.any_retractions && self.slot(version.slot).retracts(version.row)
    }

    /// Orders versions of one key, oldest first (spec 02b §4.2).
    #[inline]
    fn compare_age(&self, left: &Version<K::Word>, right: &Version<K::Word>) -> Ordering {
        let Some(Shape {
            sequence,
            seq_fields,
        }) = self.shape
        else {
            return Ordering::Equal;
        };
        let mut order = Ordering::Equal;
        if seq_fields {
            order = self.compare_seq_fields(left, right);
        }
        if sequence && order == Ordering::Equal {
            let number =
                |version: &Version<K::Word>| self.slot(version.slot).sequence_number(version.row);
            // A tie only happens between concurrent writers: the add wins.
            order = number(left)
                .cmp(&number(right))
                .then_with(|| self.retracts(right).cmp(&self.retracts(left)));
        }
        // Run 0 is the newest; inside a run the later row is newer.
        order.then(right.run.cmp(&left.run)).then_with(|| {
            let place = |version: &Version<K::Word>| (self.slot(version.slot).ordinal, version.row);
            place(left).cmp(&place(right))
        })
    }

    fn compare_seq_fields(&self, left: &Version<K::Word>, right: &Version<K::Word>) -> Ordering {
        match (
            &self.slot(left.slot).seq_fields,
            &self.slot(right.slot).seq_fields,
        ) {
            (Some(a), Some(b)) => a.cmp(left.row as usize, b, right.row as usize),
            _ => Ordering::Equal,
        }
    }

    /// Ends the open group: its result goes out.
    #[inline]
    fn close_group(&mut self, group: Group<K::Word>) {
        self.group = None;
        if let Sink::Groups(_) = self.sink {
            self.close_versions();
            return;
        }
        // With ignore-delete a key of several versions that are all retractions has no result.
        let may_have_no_result = group.contested && self.rule.ignore_delete;
        match self.sink {
            Sink::Winners(_) | Sink::AllVersions(_) | Sink::Groups(_) => {
                let wins =
                    !((self.drop_retractions || may_have_no_result) && self.retracts(&group.best));
                match &mut self.sink {
                    Sink::Winners(chunk) if wins => {
                        chunk.pick(group.best.slot, group.best.row, 1, true)
                    }
                    Sink::AllVersions(_) => self.close_all_versions(group, wins),
                    _ => {}
                }
            }
            Sink::Mask => {
                if may_have_no_result && self.retracts(&group.best) {
                    self.lose(group.best);
                }
            }
        }
    }

    fn close_all_versions(&mut self, group: Group<K::Word>, wins: bool) {
        let mut versions = std::mem::take(&mut self.versions);
        if versions.len() > 1 {
            versions.sort_by(|left, right| self.compare_age(left, right));
        }
        if let Sink::AllVersions(chunk) = &mut self.sink {
            for version in &versions {
                let best = (version.slot, version.row) == (group.best.slot, group.best.row);
                chunk.pick(version.slot, version.row, 1, best && wins);
            }
        }
        versions.clear();
        self.versions = versions;
    }

    /// Hands out the versions of a key, oldest first. Of those from levels above 0 only the one of the smallest level
    /// counts: on tables with lookup compaction it holds what deeper levels hold (spec 02b §4.4).
    fn close_versions(&mut self) {
        let mut versions = std::mem::take(&mut self.versions);
        if versions.len() > 1 {
            if self.any_upper {
                let level = |version: &Version<K::Word>| self.slot(version.slot).level;
                let upper = versions.iter().map(level).filter(|level| *level > 0).min();
                versions.retain(|version| level(version) <= 0 || Some(level(version)) == upper);
            }
            versions.sort_by(|left, right| self.compare_age(left, right));
        }
        if let Sink::Groups(chunk) = &mut self.sink {
            let last = versions.len().saturating_sub(1);
            for (at, version) in versions.iter().enumerate() {
                chunk.pick(version.slot, version.row, 1, at == last);
            }
        }
        versions.clear();
        self.versions = versions;
    }

    /// Takes the rows of the leading run that lie below every other head. Answers whether there were any.
    #[inline]
    fn take_stretch(&mut self, top: &Entry<K::Word>) -> bool {
        let head = self.head(top);
        let slot = self.slot(head.slot);
        if slot.repeats {
            return false;
        }
        // All but the batch's last row, see the module.
        let limit = ((slot.rows - 1 - head.row) as usize).min(self.sink.room());
        if limit == 0 {
            return false;
        }
        let len = match self.challenger() {
            None => limit,
            Some(bound) => {
                let bytes = if K::EXACT {
                    &[]
                } else {
                    self.key_bytes(&self.head(&bound))
                };
                slot.keys
                    .count_below(head.row as usize, limit, self.skip, bound.word, bytes)
            }
        };
        if len == 0 {
            return false;
        }
        // At most the rows of a batch, which are counted in u32.
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        self.emit_stretch(head, len);
        self.advance(top.run, len);
        true
    }

    /// Rows that are the only version of their key each.
    fn emit_stretch(&mut self, head: Version<K::Word>, len: u32) {
        let drop = self.drop_retractions;
        let slots = &self.slots;
        let groups = matches!(self.sink, Sink::Groups(_));
        let Some(chunk) = self.sink.chunk() else {
            return;
        };
        let Some(Some(slot)) = slots.get(head.slot as usize) else {
            return;
        };
        if groups || !(drop && slot.has_retractions()) {
            chunk.pick(head.slot, head.row, len, true);
            return;
        }
        let keep_losers = chunk.keeps_losers();
        for row in head.row..head.row + len {
            let wins = !slot.retracts(row);
            if wins || keep_losers {
                chunk.pick(head.slot, row, 1, wins);
            }
        }
    }
}
