//! One line on the terminal that tells how far long work has come.

use std::io::Write;
use std::time::Duration;

use tidewater_io::Env;

/// Time between two updates of the line.
const UPDATE_EVERY: Duration = Duration::from_millis(200);

/// Rows so far, rows a second and time gone by; nothing is shown unless standard error is a terminal.
pub struct Progress {
    env: Env,
    terminal: Option<(Box<dyn Write + Send>, usize)>,
    what: &'static str,
    started: Duration,
    shown: Option<Duration>,
    rows: u64,
}

impl Progress {
    /// Starts the clock. `terminal` is where the line goes, with its width; none shows nothing. `what` is a word such as `loaded`.
    pub fn start(
        env: Env,
        terminal: Option<(Box<dyn Write + Send>, usize)>,
        what: &'static str,
    ) -> Self {
        let started = env.monotonic();
        Self {
            env,
            terminal,
            what,
            started,
            shown: None,
            rows: 0,
        }
    }

    /// Counts rows and redraws the line if it is due.
    pub fn add(&mut self, rows: u64) {
        self.rows += rows;
        if self.terminal.is_none() {
            return;
        }
        let now = self.env.monotonic();
        let last = self.shown.unwrap_or(self.started);
        if now.saturating_sub(last) >= UPDATE_EVERY {
            self.shown = Some(now);
            self.draw();
        }
    }

    /// Rows counted.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.env.monotonic().saturating_sub(self.started)
    }

    /// The line as text: `loaded 1,234,567 rows, 412,000 rows/s, 3.0 s`.
    pub fn text(&self) -> String {
        let elapsed = self.elapsed();
        let millis = u64::try_from(elapsed.as_millis())
            .unwrap_or(u64::MAX)
            .max(1);
        let rate = u128::from(self.rows) * 1000 / u128::from(millis);
        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        format!(
            "{} {} rows, {} rows/s, {}",
            self.what,
            grouped(self.rows),
            grouped(rate),
            clock(elapsed)
        )
    }

    fn draw(&mut self) {
        let text = self.text();
        if let Some((terminal, width)) = &mut self.terminal {
            let shown: String = text.chars().take(*width).collect();
            // A progress line that cannot be drawn is no reason to stop the work.
            let drawn = write!(terminal, "\r{shown}\x1b[K").and_then(|()| terminal.flush());
            if drawn.is_err() {
                self.terminal = None;
            }
        }
    }

    /// Draws the last state and leaves the line standing.
    pub fn finish(mut self) {
        if self.shown.is_some() {
            self.draw();
            if let Some((terminal, _)) = &mut self.terminal {
                writeln!(terminal).unwrap_or_default();
            }
        }
    }
}

/// Digits in groups of three: `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    if seconds < 60 {
        return format!("{seconds}.{} s", elapsed.subsec_millis() / 100);
    }
    format!("{}:{:02} min", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_times_readable() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(clock(Duration::from_millis(3040)), "3.0 s");
        assert_eq!(clock(Duration::from_secs(125)), "2:05 min");
    }

    #[test]
    fn rows_are_counted_without_a_terminal_too() {
        let mut progress = Progress::start(Env::system(), None, "wrote");
        progress.add(5);
        progress.add(7);
        assert_eq!(progress.rows(), 12);
        assert!(progress.text().starts_with("wrote 12 rows, "));
        progress.finish();
    }
}
