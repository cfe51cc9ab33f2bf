//! Which store a path belongs to.
//!
//! Most paths are of the store at hand. A data file may lie elsewhere: `_EXTERNAL_PATH` is a full address (spec 01 §1.1), whose store
//! is opened with the same options when it is first met, and kept.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::store::{LocalStore, RemoteStore, Store, open_remote};
use crate::uri::{self, Location, Place};
use crate::{IoError, IoOptions};

/// A path and the store it is in.
pub(super) struct Resolved {
    pub(super) store: Arc<dyn Store>,
    pub(super) path: String,
}

pub(super) struct Resolver {
    place: Place,
    own: Arc<dyn Store>,
    others: Arc<Mutex<BTreeMap<Place, Arc<dyn Store>>>>,
    options: BTreeMap<String, String>,
    io_options: IoOptions,
}

impl Resolver {
    pub(super) fn new(
        place: Place,
        own: Arc<dyn Store>,
        options: BTreeMap<String, String>,
        io_options: IoOptions,
    ) -> Self {
        Self {
            place,
            own,
            others: Arc::default(),
            options,
            io_options,
        }
    }

    pub(super) fn own(&self) -> &Arc<dyn Store> {
        &self.own
    }

    /// The same, with another store behind the paths at hand.
    #[cfg(any(test, feature = "test-util"))]
    pub(super) fn with_own(&self, own: Arc<dyn Store>) -> Self {
        Self {
            place: self.place.clone(),
            own,
            others: Arc::clone(&self.others),
            options: self.options.clone(),
            io_options: self.io_options.clone(),
        }
    }

    pub(super) fn resolve(&self, path: &str) -> Result<Resolved, IoError> {
        if !uri::is_uri(path) {
            return Ok(Resolved {
                store: Arc::clone(&self.own),
                path: path.to_owned(),
            });
        }
        let location = Location::parse(path)?;
        let store = if location.place == self.place {
            Arc::clone(&self.own)
        } else {
            self.other(location.place)?
        };
        Ok(Resolved {
            store,
            path: location.path,
        })
    }

    fn other(&self, place: Place) -> Result<Arc<dyn Store>, IoError> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = others.get(&place) {
            return Ok(Arc::clone(store));
        }
        let store = open(&place, &self.options, &self.io_options)?;
        others.insert(place, Arc::clone(&store));
        Ok(store)
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Options hold secrets.
        f.debug_struct("Resolver")
            .field("own", &self.own)
            .finish_non_exhaustive()
    }
}

/// Opens the store of a place. Nothing is sent yet.
pub(super) fn open(
    place: &Place,
    options: &BTreeMap<String, String>,
    io_options: &IoOptions,
) -> Result<Arc<dyn Store>, IoError> {
    match place {
        Place::Local => Ok(Arc::new(LocalStore::new(io_options.clone()))),
        remote => {
            let objects = open_remote(remote, options)?;
            Ok(Arc::new(RemoteStore::new(
                objects,
                remote.prefix(),
                io_options.clone(),
            )))
        }
    }
}
