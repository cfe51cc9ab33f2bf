//! When and how long to wait before a request is sent again.
//!
//! Only requests that may be repeated without harm come here; `put_if_absent` repeats only what is known not to have happened (design §6).

use std::future::Future;
use std::time::Duration;

use crate::metrics::{IoOperation, LiveMetrics};
use crate::{Env, IoError, IoOptions};

/// Exponential backoff with jitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RetryPolicy {
    attempts_max: u32,
    wait_min: Duration,
    wait_max: Duration,
}

impl RetryPolicy {
    pub(crate) fn new(options: &IoOptions) -> Self {
        Self {
            attempts_max: options.retry_attempts_max,
            wait_min: options.retry_wait_min,
            wait_max: options.retry_wait_max,
        }
    }

    /// The wait after attempt number `failed` (from 1): between half of the doubled wait and all of it, as `random` says.
    fn wait(&self, failed: u32, random: u64) -> Duration {
        let doubled = self.wait_min.saturating_mul(
            1_u32
                .checked_shl(failed.saturating_sub(1))
                .unwrap_or(u32::MAX),
        );
        let full = u64::try_from(doubled.min(self.wait_max).as_micros()).unwrap_or(u64::MAX);
        let jitter = (u128::from(full / 2) * u128::from(random)) >> 64;
        Duration::from_micros(full - u64::try_from(jitter).unwrap_or(0))
    }

    /// Sends `request` until it succeeds, fails for good, or attempts run out; the last error is the answer.
    pub(crate) async fn run<T, F, Fut>(
        &self,
        env: &Env,
        metrics: &LiveMetrics,
        operation: IoOperation,
        request: F,
    ) -> Result<T, IoError>
    where
        F: Fn() -> Fut,
        Fut: Future<Output = Result<T, IoError>>,
    {
        let mut attempt = 1;
        loop {
            metrics.count_request(operation);
            let error = match request().await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            if !error.is_transient() || attempt >= self.attempts_max {
                return Err(error);
            }
            let wait = self.wait(attempt, env.random_u64());
            tracing::debug!(%error, attempt, ?wait, "request did not get through, trying again");
            metrics.count_retry(operation);
            env.sleep(wait).await;
            attempt += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    fn policy(attempts_max: u32) -> RetryPolicy {
        RetryPolicy {
            attempts_max,
            wait_min: Duration::from_millis(10),
            wait_max: Duration::from_secs(1),
        }
    }

    fn transient() -> IoError {
        IoError::Transient {
            operation: "read",
            path: "/f".into(),
            source: "busy".into(),
        }
    }

    #[tokio::test]
    async fn a_transient_error_is_tried_again_after_growing_waits() {
        let (env, metrics) = (Env::seeded(3), LiveMetrics::default());
        let calls = Cell::new(0_u32);
        let answer = policy(5)
            .run(&env, &metrics, IoOperation::Read, || async {
                calls.set(calls.get() + 1);
                if calls.get() < 4 {
                    Err(transient())
                } else {
                    Ok(calls.get())
                }
            })
            .await;
        assert_eq!(answer.unwrap(), 4);
        // Three waits of at most 10, 20 and 40 ms, at least half of that.
        let waited = env.monotonic().as_millis();
        assert!((35..=70).contains(&waited), "{waited}");
        let counts = metrics.snapshot();
        assert_eq!(
            (
                counts.requests(IoOperation::Read),
                counts.retries(IoOperation::Read)
            ),
            (4, 3)
        );
    }

    #[tokio::test]
    async fn attempts_run_out_and_lasting_errors_are_not_repeated() {
        let (env, metrics) = (Env::seeded(3), LiveMetrics::default());
        let answer: Result<(), _> = policy(3)
            .run(&env, &metrics, IoOperation::List, || async {
                Err(transient())
            })
            .await;
        assert!(answer.unwrap_err().is_transient());
        assert_eq!(metrics.snapshot().requests(IoOperation::List), 3);
        let answer: Result<(), _> = policy(3)
            .run(&env, &metrics, IoOperation::Size, || async {
                Err(IoError::NotFound { path: "/f".into() })
            })
            .await;
        assert!(answer.unwrap_err().is_not_found());
        assert_eq!(metrics.snapshot().requests(IoOperation::Size), 1);
    }

    proptest! {
        /// A wait is at least half of the doubled minimum, cut at the maximum, and never more than it.
        #[test]
        fn waits_stay_in_their_band(failed in 1u32..80, random in any::<u64>()) {
            let policy = policy(99);
            let wait = policy.wait(failed, random).as_micros();
            let full = (10_000_u128 << (failed - 1).min(40)).min(1_000_000);
            prop_assert!(wait >= full / 2 && wait <= full, "{wait} of {full}");
        }
    }
}
