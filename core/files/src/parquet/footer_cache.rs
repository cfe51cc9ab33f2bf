//! Footers of files read before, by path and size. A data file never changes, so an entry never goes stale.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::footer::Footer;

/// Footers up to a number of bytes; the least recently used ones go first.
pub(crate) struct FooterCache {
    bytes_max: usize,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    entries: HashMap<String, Entry>,
    bytes: usize,
    clock: u64,
}

struct Entry {
    footer: Arc<Footer>,
    bytes: usize,
    used: u64,
}

impl FooterCache {
    /// An empty cache.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            inner: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The footer of the file; `size` none means that the caller does not know the size.
    pub(crate) fn get(&self, path: &str, size: Option<u64>) -> Option<Arc<Footer>> {
        let mut inner = self.lock();
        inner.clock += 1;
        let now = inner.clock;
        let entry = inner.entries.get_mut(path)?;
        if size.is_some_and(|size| size != entry.footer.file_bytes()) {
            return None;
        }
        entry.used = now;
        Some(Arc::clone(&entry.footer))
    }

    /// Keeps a footer; one with page indexes replaces one without.
    pub(crate) fn put(&self, footer: &Arc<Footer>) {
        let bytes = footer.memory_bytes();
        if bytes > self.bytes_max {
            return;
        }
        let mut inner = self.lock();
        inner.clock += 1;
        let entry = Entry {
            footer: Arc::clone(footer),
            bytes,
            used: inner.clock,
        };
        if let Some(old) = inner.entries.insert(footer.path().to_owned(), entry) {
            inner.bytes -= old.bytes;
        }
        inner.bytes += bytes;
        while inner.bytes > self.bytes_max {
            let oldest = inner
                .entries
                .iter()
                .min_by_key(|(_, entry)| entry.used)
                .map(|(path, _)| path.clone());
            let Some(entry) = oldest.and_then(|path| inner.entries.remove(&path)) else {
                break;
            };
            inner.bytes -= entry.bytes;
        }
    }

    /// Forgets a file, which is about to be deleted or was found damaged.
    pub(crate) fn remove(&self, path: &str) {
        let mut inner = self.lock();
        if let Some(entry) = inner.entries.remove(path) {
            inner.bytes -= entry.bytes;
        }
    }
}

impl fmt::Debug for FooterCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.lock();
        f.debug_struct("FooterCache")
            .field("files", &inner.entries.len())
            .field("bytes", &inner.bytes)
            .finish()
    }
}
