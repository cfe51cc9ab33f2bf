//! Loser tree over the heads of the runs, shaped by their sizes.
//!
//! ```text
//!            winner
//!               |
//!            [game] ---- big run              one game per step while the big run leads
//!            /
//!        [game]
//!        /    \
//!     small   [game] ...                      small runs meet each other further down
//! ```
//!
//! Each game remembers who lost it. Taking the winner's next row replays only the games on its way up. The tree is
//! a Huffman tree over the expected rows of the runs: a table is one large run and a few small ones, and the large
//! one, which moves most, then plays once per row however many small ones there are.
//!
//! Source of the idea: Knuth, The Art of Computer Programming 3, 5.4.1; Paimon has `mergetree/compact/LoserTree.java`,
//! a complete tree.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::select_unpredictable;

/// The head of a run as the tree sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<W> {
    /// Word of the run's next key.
    pub(crate) word: W,
    /// The run.
    pub(crate) run: u32,
}

#[derive(Debug)]
struct Game<W> {
    loser: Entry<W>,
    /// The game its winner plays next; [`NO_GAME`] for the last one.
    next: u32,
}

const NO_GAME: u32 = u32::MAX;

/// A loser tree; see the module.
#[derive(Debug)]
pub(crate) struct Tournament<W> {
    games: Vec<Game<W>>,
    /// By run: the first game it plays. [`NO_GAME`] if it plays none.
    first_game: Vec<u32>,
    winner: Option<Entry<W>>,
}

/// Who comes up one branch while the tree is built.
#[derive(Clone, Copy)]
struct Branch<W> {
    champion: Entry<W>,
    /// The game at its top; `None` for a leaf.
    game: Option<u32>,
}

impl<W: Copy> Tournament<W> {
    /// A tree over these heads, one per run; `weight` tells how many rows a run is expected to give.
    ///
    /// `less` is a strict order of heads without ties.
    pub(crate) fn build(
        runs: usize,
        heads: &[Entry<W>],
        weight: impl Fn(u32) -> u64,
        less: impl Fn(&Entry<W>, &Entry<W>) -> bool,
    ) -> Self {
        let mut tree = Self {
            games: Vec::with_capacity(heads.len()),
            first_game: vec![NO_GAME; runs],
            winner: None,
        };
        let mut branches: Vec<Branch<W>> = Vec::with_capacity(heads.len() * 2);
        let mut heap = BinaryHeap::with_capacity(heads.len());
        for head in heads {
            heap.push(Reverse((weight(head.run), branches.len())));
            branches.push(Branch {
                champion: *head,
                game: None,
            });
        }
        while let Some(Reverse((light, left))) = heap.pop() {
            let Some(&left) = branches.get(left) else {
                break;
            };
            let Some(Reverse((heavy, right))) = heap.pop() else {
                tree.winner = Some(left.champion);
                break;
            };
            let Some(&right) = branches.get(right) else {
                break;
            };
            let champion = tree.play_new(left, right, &less);
            heap.push(Reverse((light.saturating_add(heavy), branches.len())));
            branches.push(champion);
        }
        tree
    }

    fn play_new(
        &mut self,
        left: Branch<W>,
        right: Branch<W>,
        less: impl Fn(&Entry<W>, &Entry<W>) -> bool,
    ) -> Branch<W> {
        // A merge has fewer than 2^32 - 1 runs (checked when it is made), so game numbers fit.
        let game = u32::try_from(self.games.len()).unwrap_or(NO_GAME);
        for branch in [left, right] {
            let way_up = match branch.game {
                Some(below) => self
                    .games
                    .get_mut(below as usize)
                    .map(|game| &mut game.next),
                None => self.first_game.get_mut(branch.champion.run as usize),
            };
            if let Some(way_up) = way_up {
                *way_up = game;
            }
        }
        let (champion, loser) = if less(&left.champion, &right.champion) {
            (left.champion, right.champion)
        } else {
            (right.champion, left.champion)
        };
        self.games.push(Game {
            loser,
            next: NO_GAME,
        });
        Branch {
            champion,
            game: Some(game),
        }
    }

    /// The smallest head; `None` if no run is in play.
    #[inline]
    pub(crate) fn winner(&self) -> Option<Entry<W>> {
        self.winner
    }

    /// Replaces the winner's head by its run's next one.
    #[inline]
    pub(crate) fn replay(&mut self, next: Entry<W>, less: impl Fn(&Entry<W>, &Entry<W>) -> bool) {
        let mut champion = next;
        let mut game = self
            .first_game
            .get(next.run as usize)
            .copied()
            .unwrap_or(NO_GAME);
        while let Some(played) = self.games.get_mut(game as usize) {
            // Who wins is close to random: moving words is cheaper than guessing a branch.
            let lost = less(&played.loser, &champion);
            let loser = played.loser;
            played.loser = Entry {
                word: select_unpredictable(lost, champion.word, loser.word),
                run: select_unpredictable(lost, champion.run, loser.run),
            };
            champion = Entry {
                word: select_unpredictable(lost, loser.word, champion.word),
                run: select_unpredictable(lost, loser.run, champion.run),
            };
            game = played.next;
        }
        self.winner = Some(champion);
    }

    /// The smallest head of all runs but the winner's; `None` if it is alone.
    #[inline]
    pub(crate) fn challenger(
        &self,
        less: impl Fn(&Entry<W>, &Entry<W>) -> bool,
    ) -> Option<Entry<W>> {
        let mut game = self.first_game.get(self.winner?.run as usize).copied()?;
        let mut best: Option<Entry<W>> = None;
        while let Some(played) = self.games.get(game as usize) {
            if best.as_ref().is_none_or(|best| less(&played.loser, best)) {
                best = Some(played.loser);
            }
            game = played.next;
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn less(left: &Entry<u32>, right: &Entry<u32>) -> bool {
        (left.word, left.run) < (right.word, right.run)
    }

    proptest! {
        /// Whatever the sizes, the tree yields all heads in order and always knows the second smallest.
        #[test]
        fn yields_rows_in_order(mut runs in prop::collection::vec(prop::collection::vec(0u32..50, 1..20), 1..12)) {
            for run in &mut runs {
                run.sort_unstable();
            }
            let mut expected: Vec<u32> = runs.concat();
            expected.sort_unstable();
            let mut at = vec![0usize; runs.len()];
            let build = |at: &[usize]| {
                let heads: Vec<Entry<u32>> = (0u32..).zip(&runs).zip(at)
                    .filter_map(|((run, rows), at)| Some(Entry { word: *rows.get(*at)?, run }))
                    .collect();
                Tournament::build(runs.len(), &heads, |run| runs[run as usize].len() as u64, less)
            };
            let mut tree = build(&at);
            let mut merged = Vec::new();
            while let Some(top) = tree.winner() {
                let second = (0u32..).zip(&runs).zip(&at)
                    .filter(|((run, _), _)| *run != top.run)
                    .filter_map(|((run, rows), at)| Some((*rows.get(*at)?, run)))
                    .min();
                prop_assert_eq!(tree.challenger(less).map(|entry| (entry.word, entry.run)), second);
                merged.push(top.word);
                at[top.run as usize] += 1;
                match runs[top.run as usize].get(at[top.run as usize]) {
                    Some(&word) => tree.replay(Entry { word, run: top.run }, less),
                    None => tree = build(&at),
                }
            }
            prop_assert_eq!(merged, expected);
        }
    }

    #[test]
    fn the_heavy_run_plays_one_game() {
        let heads: Vec<Entry<u32>> = (0..11).map(|run| Entry { word: run, run }).collect();
        let tree = Tournament::build(
            11,
            &heads,
            |run| if run == 4 { 2_000_000 } else { 40_000 },
            less,
        );
        let mut games = 0;
        let mut game = tree.first_game[4];
        while let Some(played) = tree.games.get(game as usize) {
            games += 1;
            game = played.next;
        }
        assert_eq!(games, 1);
    }
}
