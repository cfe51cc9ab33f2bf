//! The engine behind a call: clock, threads and memory of this process, and the tables it opens with them.
