//! Calls into libraries that answer some broken bytes with a panic.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use super::error::{LoadError, Result};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

static QUIET: Once = Once::new();

/// Carries out `call`, which reads `file`. A panic inside is [`LoadError::GaveUp`] with its message, and nothing is printed of it. What
/// `call` was given must not be used after an error: it may be half changed.
pub(super) fn guarded<T>(file: &str, call: impl FnOnce() -> Result<T>) -> Result<T> {
    QUIET.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                before(panic);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(call));
    GUARDED.set(outer);
    outcome.unwrap_or_else(|panic| {
        Err(LoadError::GaveUp {
            file: file.to_owned(),
            what: message(&*panic),
        })
    })
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_its_message() {
        assert_eq!(guarded("f", || Ok(1)).unwrap(), 1);
        for told in [
            guarded("f", || -> Result<()> { panic!("bad {}", 7) }),
            guarded("f", || -> Result<()> { panic!("bad 7") }),
        ] {
            assert_eq!(
                told.unwrap_err().to_string(),
                "f: the bytes make no sense (bad 7)"
            );
        }
        assert!(!GUARDED.get());
    }
}
