//! Time and randomness by a seed, for tests: the same calls give the same answers.
//!
//! ```text
//!  Env::seeded(seed)   sleeping moves the clock: no test ever waits
//!  Env::manual(seed)   sleeping waits until ManualClock::advance passes the deadline
//! ```

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::Notify;

use super::{Env, EnvSource};

/// 2024-01-01T00:00:00Z, where seeded clocks start.
const START_MILLIS: i64 = 1_704_067_200_000;

/// What happens when somebody sleeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sleep {
    MovesClock,
    WaitsForClock,
}

#[derive(Debug)]
struct SeededEnv {
    state: AtomicU64,
    passed: Mutex<Duration>,
    moved: Notify,
    sleep: Sleep,
}

/// The hand on the clock of an [`Env::manual`].
#[derive(Debug, Clone)]
pub struct ManualClock {
    env: Arc<SeededEnv>,
}

impl Env {
    /// A repeatable environment whose sleepers wake at once and leave the clock at their deadline.
    ///
    /// Two sleeps that start together end together: the clock goes to the later deadline, not to their sum.
    pub fn seeded(seed: u64) -> Self {
        Self::from_source(Arc::new(Shared(SeededEnv::new(seed, Sleep::MovesClock))))
    }

    /// A repeatable environment whose clock stands still until the test moves it.
    pub fn manual(seed: u64) -> (Self, ManualClock) {
        let env = SeededEnv::new(seed, Sleep::WaitsForClock);
        (
            Self::from_source(Arc::new(Shared(Arc::clone(&env)))),
            ManualClock { env },
        )
    }
}

impl ManualClock {
    /// Moves the clock and wakes the sleepers whose time has come.
    pub fn advance(&self, by: Duration) {
        let mut passed = self.env.passed();
        *passed = passed.saturating_add(by);
        drop(passed);
        self.env.moved.notify_waiters();
    }
}

impl SeededEnv {
    fn new(seed: u64, sleep: Sleep) -> Arc<Self> {
        Arc::new(Self {
            state: AtomicU64::new(seed),
            passed: Mutex::new(Duration::ZERO),
            moved: Notify::new(),
            sleep,
        })
    }

    fn passed(&self) -> MutexGuard<'_, Duration> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A newtype, so that the trait can be had for the shared state.
#[derive(Debug)]
struct Shared(Arc<SeededEnv>);

impl EnvSource for Shared {
    fn now_millis(&self) -> i64 {
        let passed = i64::try_from(self.0.passed().as_millis()).unwrap_or(i64::MAX);
        START_MILLIS.saturating_add(passed)
    }

    fn monotonic(&self) -> Duration {
        *self.0.passed()
    }

    /// SplitMix64: one atomic add, then a mix.
    fn random_u64(&self) -> u64 {
        const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut z = self
            .0
            .state
            .fetch_add(GAMMA, Ordering::Relaxed)
            .wrapping_add(GAMMA);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn sleep(&self, wait: Duration) -> BoxFuture<'static, ()> {
        let env = Arc::clone(&self.0);
        let deadline = env.passed().saturating_add(wait);
        Box::pin(async move {
            if env.sleep == Sleep::MovesClock {
                tokio::task::yield_now().await;
                let mut passed = env.passed();
                *passed = (*passed).max(deadline);
                return;
            }
            loop {
                let moved = env.moved.notified();
                tokio::pin!(moved);
                // Registered before the look at the clock: an advance in between is not missed.
                moved.as_mut().enable();
                if *env.passed() >= deadline {
                    return;
                }
                moved.await;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_ids() {
        let ids = |seed| {
            let env = Env::seeded(seed);
            [env.new_uuid(), env.new_uuid()]
        };
        assert_eq!(ids(7), ids(7));
        assert_ne!(ids(7), ids(8));
        assert_ne!(ids(7)[0], ids(7)[1]);
    }

    #[tokio::test]
    async fn seeded_sleepers_move_the_clock_to_the_latest_deadline() {
        let env = Env::seeded(0);
        let start = env.now_millis();
        let (short, long) = (Duration::from_millis(10), Duration::from_millis(30));
        futures::join!(env.sleep(short), env.sleep(long));
        assert_eq!(env.now_millis() - start, 30);
        assert_eq!(env.monotonic(), long);
    }

    #[tokio::test]
    async fn manual_sleepers_wait_for_the_hand_on_the_clock() {
        let (env, clock) = Env::manual(0);
        let sleeper = tokio::spawn({
            let env = env.clone();
            async move {
                env.sleep(Duration::from_secs(60)).await;
                env.monotonic()
            }
        });
        tokio::task::yield_now().await;
        clock.advance(Duration::from_secs(59));
        tokio::task::yield_now().await;
        assert!(!sleeper.is_finished());
        clock.advance(Duration::from_secs(1));
        assert_eq!(sleeper.await.unwrap(), Duration::from_secs(60));
    }
}
