//! Lock files of dispatchers: proof that a process has ended (W29).
//!
//! Each instance holds the lock of a file beside the database, `<database>-dispatcher-<instance>`.
//! The operating system releases the lock when the process ends, however it ends. So another
//! process on the machine frees the leases of a killed one at once, instead of observing its
//! heartbeat.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use webhook_core::sender::InstanceId;

/// Lock files of the instances of this process.
///
/// Every failure of the file system means that nothing is proven.
#[derive(Debug, Default)]
pub(crate) struct InstanceLocks {
    /// Path of the database; `None` for one in memory.
    database: Option<PathBuf>,
    held: Mutex<BTreeMap<InstanceId, File>>,
}

impl InstanceLocks {
    pub(crate) fn beside(database: PathBuf) -> Self {
        Self {
            database: Some(database),
            held: Mutex::default(),
        }
    }

    /// Locks the file of a new instance of this process.
    pub(super) fn hold(&self, instance: InstanceId) {
        let Some(path) = self.path(instance) else { return };
        // locked before it has its name, so that no observer finds it unlocked
        let mut unnamed = path.clone().into_os_string();
        unnamed.push(".new");
        let held = File::create(&unnamed)
            .and_then(|file| file.lock().map(|()| file))
            .and_then(|file| fs::rename(&unnamed, &path).map(|()| file));
        if let Ok(file) = held {
            self.held().insert(instance, file);
        }
    }

    /// Returns `true` if the process of this instance has ended.
    pub(super) fn has_ended(&self, instance: InstanceId) -> bool {
        let file = self.path(instance).and_then(|path| File::open(path).ok());
        file.is_some_and(|file| file.try_lock().is_ok())
    }

    /// Removes the file of an instance that has left.
    pub(super) fn remove(&self, instance: InstanceId) {
        if let Some(path) = self.path(instance) {
            let _missing = fs::remove_file(path);
        }
        self.held().remove(&instance);
    }

    fn path(&self, instance: InstanceId) -> Option<PathBuf> {
        let mut path = self.database.clone()?.into_os_string();
        path.push(format!("-dispatcher-{instance}"));
        Some(path.into())
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<InstanceId, File>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
