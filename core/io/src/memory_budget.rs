//! How many bytes the parts of a process may hold together, and who holds them.
//!
//! A writer reserves before it keeps rows and spills or flushes when it is refused. The budget counts, it does not allocate: the
//! ceiling holds as far as everybody asks first. What cannot be avoided (the one batch in hand) is forced, and then shows as usage above the limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

use crate::IoError;

/// A shared allowance of bytes; cheap to clone, clones share the same count.
#[derive(Debug, Clone)]
pub struct MemoryBudget {
    count: Arc<Count>,
}

#[derive(Debug)]
struct Count {
    limit: usize,
    used: AtomicUsize,
    peak: AtomicUsize,
    freed: Notify,
}

impl MemoryBudget {
    /// A budget of `bytes`.
    pub fn new(bytes: usize) -> Self {
        Self {
            count: Arc::new(Count {
                limit: bytes,
                used: AtomicUsize::new(0),
                peak: AtomicUsize::new(0),
                freed: Notify::new(),
            }),
        }
    }

    /// A budget that refuses nothing and only counts.
    pub fn unlimited() -> Self {
        Self::new(usize::MAX)
    }

    /// The ceiling.
    pub fn limit(&self) -> usize {
        self.count.limit
    }

    /// Bytes reserved at the moment; above [`MemoryBudget::limit`] only by forced reservations.
    pub fn used(&self) -> usize {
        self.count.used.load(Ordering::Acquire)
    }

    /// Bytes that can be had without waiting.
    pub fn available(&self) -> usize {
        self.limit().saturating_sub(self.used())
    }

    /// The most that was ever reserved at once.
    pub fn peak(&self) -> usize {
        self.count.peak.load(Ordering::Relaxed)
    }

    /// Reserves `bytes` if they fit under the limit.
    pub fn try_reserve(&self, bytes: usize) -> Option<Reservation> {
        self.count.try_add(bytes).then(|| self.hold(bytes))
    }

    /// Reserves `bytes` even above the limit: for what is in memory already.
    pub fn reserve_forced(&self, bytes: usize) -> Reservation {
        let granted = self.count.force_add(bytes);
        self.hold(granted)
    }

    /// Reserves `bytes`, waiting until others have freed enough. Waiters are served in no particular order.
    ///
    /// # Errors
    /// [`IoError::OverBudget`] at once if `bytes` is more than the whole budget.
    pub async fn reserve(&self, bytes: usize) -> Result<Reservation, IoError> {
        if bytes > self.limit() {
            return Err(IoError::OverBudget {
                asked: bytes,
                limit: self.limit(),
            });
        }
        loop {
            let freed = self.count.freed.notified();
            tokio::pin!(freed);
            // Registered before the attempt: what is freed in between wakes us.
            freed.as_mut().enable();
            if let Some(reservation) = self.try_reserve(bytes) {
                return Ok(reservation);
            }
            freed.await;
        }
    }

    fn hold(&self, size: usize) -> Reservation {
        Reservation {
            count: Arc::clone(&self.count),
            size,
        }
    }
}

impl Count {
    fn try_add(&self, bytes: usize) -> bool {
        let added = self
            .used
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |used| {
                used.checked_add(bytes).filter(|&sum| sum <= self.limit)
            });
        if let Ok(before) = added {
            self.peak
                .fetch_max(before.saturating_add(bytes), Ordering::Relaxed);
        }
        added.is_ok()
    }

    /// Adds what the counter can hold and tells how much that was.
    fn force_add(&self, bytes: usize) -> usize {
        let sum = |used: usize| used.saturating_add(bytes);
        let before = self
            .used
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |used| Some(sum(used)));
        let before = before.unwrap_or_else(|used| used);
        self.peak.fetch_max(sum(before), Ordering::Relaxed);
        sum(before) - before
    }

    fn sub(&self, bytes: usize) {
        if bytes > 0 {
            self.used.fetch_sub(bytes, Ordering::AcqRel);
            self.freed.notify_waiters();
        }
    }
}

/// Bytes held from a [`MemoryBudget`] until this is dropped.
#[derive(Debug)]
#[must_use = "the bytes are given back when the reservation is dropped"]
pub struct Reservation {
    count: Arc<Count>,
    size: usize,
}

impl Reservation {
    /// Bytes held.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Holds `bytes` more, above the limit if need be.
    pub fn grow(&mut self, bytes: usize) {
        self.size += self.count.force_add(bytes);
    }

    /// Holds `bytes` more if they fit; otherwise nothing changes and the answer is `false`.
    #[must_use]
    pub fn try_grow(&mut self, bytes: usize) -> bool {
        let grown = self.count.try_add(bytes);
        if grown {
            self.size += bytes;
        }
        grown
    }

    /// Gives `bytes` back, at most what is held.
    pub fn shrink(&mut self, bytes: usize) {
        let given = bytes.min(self.size);
        self.size -= given;
        self.count.sub(given);
    }

    /// Holds exactly `bytes`, by force if that is more than now.
    pub fn resize(&mut self, bytes: usize) {
        if bytes > self.size {
            self.grow(bytes - self.size);
        } else {
            self.shrink(self.size - bytes);
        }
    }

    /// Cuts off a part of at most `bytes` that lives on its own.
    pub fn split(&mut self, bytes: usize) -> Reservation {
        let size = bytes.min(self.size);
        self.size -= size;
        Reservation {
            count: Arc::clone(&self.count),
            size,
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.count.sub(self.size);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_dropped_reservation_gives_its_bytes_back() {
        let budget = MemoryBudget::new(100);
        let held = budget.try_reserve(60).unwrap();
        assert!(budget.try_reserve(41).is_none());
        assert_eq!(
            (held.size(), budget.used(), budget.available()),
            (60, 60, 40)
        );
        drop(held);
        assert_eq!((budget.used(), budget.peak()), (0, 60));
    }

    #[test]
    fn forced_bytes_may_pass_the_limit_and_are_counted() {
        let budget = MemoryBudget::new(10);
        let mut held = budget.reserve_forced(15);
        assert_eq!((budget.used(), budget.available()), (15, 0));
        held.shrink(100);
        assert_eq!((held.size(), budget.used()), (0, 0));
    }

    #[test]
    fn an_unlimited_budget_never_overflows() {
        let budget = MemoryBudget::unlimited();
        let mut one = budget.reserve_forced(usize::MAX);
        one.grow(5);
        let two = budget.reserve_forced(5);
        assert_eq!((one.size(), two.size()), (usize::MAX, 0));
        drop((one, two));
        assert_eq!(budget.used(), 0);
    }

    #[tokio::test]
    async fn a_waiter_gets_the_bytes_when_they_are_freed() {
        let budget = MemoryBudget::new(10);
        let held = budget.try_reserve(8).unwrap();
        let waiter = tokio::spawn({
            let budget = budget.clone();
            async move { budget.reserve(5).await.map(|got| got.size()) }
        });
        tokio::task::yield_now().await;
        assert!(!waiter.is_finished());
        drop(held);
        assert_eq!(waiter.await.unwrap().unwrap(), 5);
    }

    #[tokio::test]
    async fn waiting_for_more_than_the_budget_is_refused_at_once() {
        let refused = MemoryBudget::new(10).reserve(11).await;
        assert!(matches!(
            refused,
            Err(IoError::OverBudget {
                asked: 11,
                limit: 10
            })
        ));
    }

    proptest! {
        /// Whatever is reserved, grown, split and dropped: the count is the sum of what is held, and only force passes the limit.
        #[test]
        fn used_is_the_sum_of_what_is_held(steps in prop::collection::vec((0u8..6, 0usize..40), 0..60)) {
            let budget = MemoryBudget::new(100);
            let mut held: Vec<Reservation> = Vec::new();
            for (step, bytes) in steps {
                let before = budget.used();
                match step {
                    0 => held.extend(budget.try_reserve(bytes)),
                    1 => held.push(budget.reserve_forced(bytes)),
                    2 => {
                        if let Some(last) = held.last_mut() {
                            let fits = before + bytes <= 100;
                            prop_assert_eq!(last.try_grow(bytes), fits);
                        }
                    }
                    3 => {
                        if let Some(last) = held.last_mut() {
                            last.shrink(bytes);
                        }
                    }
                    4 => {
                        let part = held.last_mut().map(|last| last.split(bytes));
                        held.extend(part);
                        prop_assert_eq!(budget.used(), before);
                    }
                    _ => drop(held.pop()),
                }
                prop_assert_eq!(budget.used(), held.iter().map(Reservation::size).sum::<usize>());
                prop_assert!(budget.used() <= before.max(100) || step == 1);
            }
            held.clear();
            prop_assert_eq!(budget.used(), 0);
        }
    }
}
