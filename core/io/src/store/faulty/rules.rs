//! Which request meets which trouble: rules first, then dice.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::Env;
use crate::metrics::IoOperation;

/// What goes wrong with one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The request has no effect and its error is transient.
    Refuse,
    /// The request has no effect and its error is lasting.
    Fail,
    /// The request has no effect; the disk is full.
    DiskFull,
    /// The request takes effect; its answer does not arrive. [`crate::FileIo::put_if_absent`] answers [`crate::PutOutcome::Unknown`].
    LoseAnswer,
    /// The request gets lost on the way: no effect, no answer. [`crate::FileIo::put_if_absent`] answers [`crate::PutOutcome::Unknown`].
    LoseRequest,
    /// The request takes effect after a wait.
    Delay(Duration),
}

/// A fault for particular requests.
#[derive(Debug, Clone)]
pub struct FaultRule {
    /// The kind of request it waits for; any if none.
    pub operation: Option<IoOperation>,
    /// Text that the path must contain.
    pub path_contains: String,
    /// Fitting requests that are let through first.
    pub skip: u32,
    /// Fitting requests that meet the fault after those; then the rule is spent.
    pub times: u32,
    /// What they meet.
    pub fault: Fault,
}

impl FaultRule {
    /// A rule for the next request of a kind.
    pub fn next(operation: IoOperation, fault: Fault) -> Self {
        Self {
            operation: Some(operation),
            path_contains: String::new(),
            skip: 0,
            times: 1,
            fault,
        }
    }

    /// The same rule for paths with this text in them.
    #[must_use]
    pub fn on_path(mut self, text: &str) -> Self {
        text.clone_into(&mut self.path_contains);
        self
    }

    /// The same rule after `count` fitting requests went well.
    #[must_use]
    pub fn after(mut self, count: u32) -> Self {
        self.skip = count;
        self
    }

    /// The same rule for `count` requests.
    #[must_use]
    pub fn times(mut self, count: u32) -> Self {
        self.times = count;
        self
    }

    fn fits(&self, operation: IoOperation, path: &str) -> bool {
        self.operation.is_none_or(|wanted| wanted == operation)
            && path.contains(&self.path_contains)
    }
}

/// How often requests without a rule go wrong: chances in a thousand, rolled for each request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FaultRates {
    /// Chance of [`Fault::Refuse`].
    pub refuse: u16,
    /// Chance of [`Fault::LoseAnswer`].
    pub lose_answer: u16,
    /// Chance of [`Fault::LoseRequest`].
    pub lose_request: u16,
    /// Chance of a delay of up to `delay_max`.
    pub delay: u16,
    /// Longest delay.
    pub delay_max: Duration,
}

/// The hand on the switches of a faulty store.
#[derive(Debug, Clone)]
pub struct FaultHandle {
    pub(super) state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    rates: FaultRates,
    rules: Vec<FaultRule>,
    pub(super) halted: bool,
    met: u64,
}

impl FaultHandle {
    /// Changes the chances from now on.
    pub fn set_rates(&self, rates: FaultRates) {
        self.state().rates = rates;
    }

    /// Adds a rule. Rules are asked in the order they were added, before the dice.
    pub fn add(&self, rule: FaultRule) {
        self.state().rules.push(rule);
    }

    /// Lets every request fail without effect from now on, as if the process had been killed.
    pub fn halt(&self) {
        self.state().halted = true;
    }

    /// Ends [`FaultHandle::halt`].
    pub fn resume(&self) {
        self.state().halted = false;
    }

    /// Requests that met a fault so far, delays included.
    pub fn met(&self) -> u64 {
        self.state().met
    }

    /// Whether a rule has requests left to meet.
    pub fn has_open_rules(&self) -> bool {
        !self.state().rules.is_empty()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    pub(super) fn with_rates(rates: FaultRates) -> Self {
        Self {
            rates,
            ..Self::default()
        }
    }

    /// Decides about a request.
    pub(super) fn decide(
        &mut self,
        operation: IoOperation,
        path: &str,
        env: &Env,
    ) -> Option<Fault> {
        let halted = self.halted.then_some(Fault::Fail);
        let ruled = halted.or_else(|| self.by_rule(operation, path));
        let fault = ruled.or_else(|| self.rates.roll(env));
        self.met += u64::from(fault.is_some());
        fault
    }

    fn by_rule(&mut self, operation: IoOperation, path: &str) -> Option<Fault> {
        let mut met = None;
        for rule in self
            .rules
            .iter_mut()
            .filter(|rule| rule.fits(operation, path))
        {
            if rule.skip > 0 {
                rule.skip -= 1;
            } else if met.is_none() && rule.times > 0 {
                rule.times -= 1;
                met = Some(rule.fault);
            }
        }
        self.rules.retain(|rule| rule.times > 0);
        met
    }
}

impl FaultRates {
    fn roll(&self, env: &Env) -> Option<Fault> {
        if *self == Self::default() {
            return None;
        }
        let mut dice = env.random_below(1000);
        let mut hit = |chance: u16| {
            let hit = dice < u64::from(chance);
            dice = dice.wrapping_sub(u64::from(chance));
            hit
        };
        if hit(self.refuse) {
            Some(Fault::Refuse)
        } else if hit(self.lose_answer) {
            Some(Fault::LoseAnswer)
        } else if hit(self.lose_request) {
            Some(Fault::LoseRequest)
        } else if hit(self.delay) {
            let most = u64::try_from(self.delay_max.as_micros()).unwrap_or(u64::MAX);
            Some(Fault::Delay(Duration::from_micros(
                env.random_below(most.saturating_add(1)),
            )))
        } else {
            None
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

pub(super) fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
