//! Verbs, as far as they are joined.


