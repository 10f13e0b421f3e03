//! Trusted documents: the allow-list of operations.

use std::fmt;
use std::sync::Arc;

use super::{DocumentId, Manifest};
use crate::guard::Principal;

/// Allow-list: trusted documents of the host's own clients, and the mode for all other documents.
///
/// A roll-out starts with a mode that only logs the other documents:
///
/// ```
/// use graph_core::persisted::{Manifest, TrustedDocuments, TrustedMode, Untrusted};
///
/// let manifest = Manifest::new().with_document("ping-1", "{ ping }");
/// let trusted = TrustedDocuments::new([manifest])
///     .with_mode(TrustedMode::Log)
///     .with_log(|request: &Untrusted<'_>| {
///         eprintln!("not trusted: {:?} {:?}", request.id, request.text);
///     });
/// # drop(trusted);
/// ```
#[derive(Clone)]
pub struct TrustedDocuments {
    pub(crate) manifests: Vec<Manifest>,
    pub(crate) mode: TrustedMode,
    pub(crate) log: Option<Arc<dyn UntrustedLog>>,
}

impl TrustedDocuments {
    /// Trusts the documents of `manifests` and refuses all others ([`TrustedMode::Enforce`]).
    #[must_use]
    pub fn new(manifests: impl IntoIterator<Item = Manifest>) -> Self {
        Self {
            manifests: manifests.into_iter().collect(),
            mode: TrustedMode::Enforce,
            log: None,
        }
    }

    /// Sets the mode for documents that are not trusted. Default: [`TrustedMode::Enforce`].
    #[must_use]
    pub fn with_mode(mut self, mode: TrustedMode) -> Self {
        self.mode = mode;
        self
    }

    /// Reports each request for a document that is not trusted to `log`, unless the mode is
    /// [`TrustedMode::Off`]. By default nothing is logged.
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

/// Treatment of documents that are not trusted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the three steps of a roll-out")]
pub enum TrustedMode {
    /// Untrusted documents run and are not reported. Trusted documents can be requested by id.
    Off,
    /// Untrusted documents run and are reported to the log. Use this mode to find the documents
    /// that the list lacks.
    Log,
    /// Untrusted documents are refused and reported to the log.
    #[default]
    Enforce,
}

/// Request for a document that is not trusted.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Untrusted<'r> {
    /// Document id of the request, if any.
    pub id: Option<&'r DocumentId>,
    /// Document text of the request, if any. The client chooses it; only the body limit bounds its
    /// length.
    pub text: Option<&'r str>,
    /// Operation name of the request, if any.
    pub operation_name: Option<&'r str>,
    /// Principal of the request; `None` if it is anonymous.
    pub principal: Option<&'r Principal>,
}

/// Receives requests for documents that are not trusted. Implemented for every `Fn(&Untrusted)`.
///
/// # Contract
///
/// The method must return quickly: the operation does not run before the method has returned.
pub trait UntrustedLog: Send + Sync {
    /// Records one request.
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
