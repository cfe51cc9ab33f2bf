//! Where time, randomness and ids come from.
//!
//! Everything that is not a function of its arguments goes through an [`Env`], so that a test with a seed repeats: same
//! seed, same file names, same waits. `clippy.toml` forbids the direct calls elsewhere.

#[cfg(any(test, feature = "test-util"))]
mod seeded;
mod system;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

#[cfg(any(test, feature = "test-util"))]
pub use self::seeded::ManualClock;
use self::system::SystemEnv;

/// A source of time and randomness; implement it to bring a host's own clock.
pub trait EnvSource: fmt::Debug + Send + Sync + 'static {
    /// Milliseconds since 1970-01-01 UTC; may step back when the machine's clock is set.
    fn now_millis(&self) -> i64;
    /// Time since some fixed moment; never steps back.
    fn monotonic(&self) -> Duration;
    /// 64 uniform bits.
    fn random_u64(&self) -> u64;
    /// Ends once `wait` has passed by this source's clock.
    fn sleep(&self, wait: Duration) -> BoxFuture<'static, ()>;
}

/// Time, randomness and ids; cheap to clone, shared by every part that needs them.
#[derive(Clone)]
pub struct Env {
    source: Arc<dyn EnvSource>,
}

impl Env {
    /// The machine's clock and the operating system's randomness. Its `sleep` needs a tokio runtime.
    pub fn system() -> Self {
        Self::from_source(Arc::new(SystemEnv::new()))
    }

    /// An environment of the host's own.
    pub fn from_source(source: Arc<dyn EnvSource>) -> Self {
        Self { source }
    }

    /// Milliseconds since 1970-01-01 UTC, the form in which the table format keeps times.
    pub fn now_millis(&self) -> i64 {
        self.source.now_millis()
    }

    /// Time since some fixed moment; only differences mean something.
    pub fn monotonic(&self) -> Duration {
        self.source.monotonic()
    }

    /// A random (version 4) UUID in lower case with dashes, as file names carry it (spec 01 §0).
    pub fn new_uuid(&self) -> String {
        let bits = (u128::from(self.random_u64()) << 64) | u128::from(self.random_u64());
        uuid::Builder::from_random_bytes(bits.to_be_bytes())
            .into_uuid()
            .hyphenated()
            .to_string()
    }

    /// 64 uniform bits; not meant for secrets.
    pub fn random_u64(&self) -> u64 {
        self.source.random_u64()
    }

    /// A number in `0..bound`; 0 when `bound` is 0.
    pub fn random_below(&self, bound: u64) -> u64 {
        let scaled = u128::from(self.random_u64()) * u128::from(bound);
        u64::try_from(scaled >> 64).unwrap_or(0)
    }

    /// Waits without holding a thread.
    pub async fn sleep(&self, wait: Duration) {
        self.source.sleep(wait).await;
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_are_version_four_in_lower_case_and_differ() {
        let env = Env::system();
        let (one, two) = (env.new_uuid(), env.new_uuid());
        assert_ne!(one, two);
        for id in [one, two] {
            let parsed = uuid::Uuid::parse_str(&id).unwrap();
            assert_eq!(parsed.get_version_num(), 4);
            assert_eq!(parsed.get_variant(), uuid::Variant::RFC4122);
            assert_eq!(id, parsed.hyphenated().to_string());
        }
    }

    #[test]
    fn random_below_stays_in_bounds() {
        let env = Env::seeded(1);
        assert_eq!(env.random_below(0), 0);
        assert!((0..1000).all(|_| env.random_below(7) < 7));
    }

    #[tokio::test]
    async fn the_system_clock_moves_on() {
        let env = Env::system();
        assert!(env.now_millis() > 1_600_000_000_000);
        let before = env.monotonic();
        env.sleep(Duration::from_millis(1)).await;
        assert!(env.monotonic() > before);
    }
}
