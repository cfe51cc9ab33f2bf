//! The machine's clock and the operating system's randomness: the one place that may ask for them.

use std::time::{Duration, Instant, SystemTime};

use futures::future::BoxFuture;

use super::EnvSource;

#[derive(Debug)]
pub(super) struct SystemEnv {
    started: Instant,
}

impl SystemEnv {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the Env that others are sent to"
    )]
    pub(super) fn new() -> Self {
        Self {
            started: Instant::now(),
        }
    }
}

impl EnvSource for SystemEnv {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the Env that others are sent to"
    )]
    fn now_millis(&self) -> i64 {
        let millis = |d: Duration| i64::try_from(d.as_millis()).unwrap_or(i64::MAX);
        match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => millis(since),
            Err(before) => -millis(before.duration()),
        }
    }

    fn monotonic(&self) -> Duration {
        self.started.elapsed()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the Env that others are sent to"
    )]
    fn random_u64(&self) -> u64 {
        // A version 4 UUID is 122 random bits; its fixed bits sit at different places of the two halves, so each bit of
        // the combination keeps a random part.
        let (high, low) = uuid::Uuid::new_v4().as_u64_pair();
        high ^ low
    }

    fn sleep(&self, wait: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(wait))
    }
}
