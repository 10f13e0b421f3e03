//! The allow-list.

use std::fmt;
use std::sync::Arc;

use super::{DocumentId, Manifest};
use crate::guard::Principal;

/// The documents that the host's own clients use, and what becomes of every other.
///
/// ```
/// use graph_core::persisted::{Manifest, TrustedDocuments, TrustedMode, Untrusted};
///
/// let manifest = Manifest::new().with_document("ping-1", "{ ping }");
/// let trusted = TrustedDocuments::new([manifest])
///     .with_mode(TrustedMode::Log)
///     .with_log(|asked: &Untrusted<'_>| eprintln!("not in the list: {:?} {:?}", asked.id, asked.text));
/// # drop(trusted);
/// ```
#[derive(Clone)]
pub struct TrustedDocuments {
    pub(crate) manifests: Vec<Manifest>,
    pub(crate) mode: TrustedMode,
    pub(crate) log: Option<Arc<dyn UntrustedLog>>,
}

impl TrustedDocuments {
    /// The documents of `manifests`, and nothing else: [`TrustedMode::Enforce`].
    #[must_use]
    pub fn new(manifests: impl IntoIterator<Item = Manifest>) -> Self {
        Self {
            manifests: manifests.into_iter().collect(),
            mode: TrustedMode::Enforce,
            log: None,
        }
    }

    /// What becomes of other documents.
    #[must_use]
    pub fn with_mode(mut self, mode: TrustedMode) -> Self {
        self.mode = mode;
        self
    }

    /// Tells `log` of every request for another document, unless the mode is [`TrustedMode::Off`].
    #[must_use]
    pub fn with_log(mut self, log: impl UntrustedLog + 'static) -> Self {
        self.log = Some(Arc::new(log));
        self
    }
}

impl fmt::Debug for TrustedDocuments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrustedDocuments")
            .field("manifests", &self.manifests)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

/// What becomes of a document that is in no manifest.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the three steps of a roll-out")]
pub enum TrustedMode {
    /// It runs. The list only lets clients send ids.
    Off,
    /// It runs, and the log is told: is the list complete?
    Log,
    /// It is refused, and the log is told.
    #[default]
    Enforce,
}

/// A request for a document that is in no manifest.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Untrusted<'r> {
    /// The id that the request named, if any.
    pub id: Option<&'r DocumentId>,
    /// The text that the request had, if any. It is the client's, of any length.
    pub text: Option<&'r str>,
    /// The operation of it, if it was named.
    pub operation_name: Option<&'r str>,
    /// Who asked.
    pub principal: Option<&'r Principal>,
}

/// Receives every request for a document that is in no manifest. Any `Fn(&Untrusted)` is one.
///
/// # What an implementation must guarantee
///
/// It returns quickly: it is called before the operation runs.
pub trait UntrustedLog: Send + Sync {
    /// Takes note of `asked`.
    fn record(&self, asked: &Untrusted<'_>);
}

impl<F> UntrustedLog for F
where
    F: Fn(&Untrusted<'_>) + Send + Sync,
{
    fn record(&self, asked: &Untrusted<'_>) {
        self(asked);
    }
}
