//! Finds the document of a request by its text, its hash, or its id in the allow-list.

use std::sync::Arc;

use super::Engine;
use super::root::{Root, SubscriptionRoot};
use super::trusted::{mismatch, not_in_list};
use crate::document::Document;
use crate::error::ErrorCode;
use crate::guard::RequestContext;
use crate::http::GraphRequest;
use crate::persisted::{AutomaticPersistedQueries, DocumentHash, DocumentId};
use crate::response::GraphResponse;

impl<Q, M, S> Engine<Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    /// Finds the document of `request`. The document is parsed, validated, and checked against the
    /// limits that do not depend on variables.
    pub(super) async fn find(
        &self,
        request: &GraphRequest,
        context: &RequestContext<Q::Host>,
    ) -> Result<Arc<Document>, GraphResponse> {
        let id = request.document_id();
        if let Some(trusted) = &self.inner.trusted {
            if let Some(listed) = id.and_then(|id| trusted.get(id)) {
                return listed.operation(request);
            }
            if let Some(refused) = trusted.refusal(request, context.principal()) {
                return Err(refused);
            }
        }
        match (id, &self.inner.automatic) {
            (Some(DocumentId::Sha256(hash)), Some(automatic)) => {
                self.by_hash(hash, automatic, request, context).await
            }
            // custom ids exist in the allow-list only
            (Some(DocumentId::Custom(_)), Some(_)) if request.has_query() => Err(mismatch()),
            (Some(DocumentId::Custom(_)), Some(_)) => Err(not_found()),
            // without persisted queries the id is ignored
            (_, None) if request.has_query() => self.by_text(request),
            (None, _) => self.by_text(request),
            (Some(_), None) if self.inner.trusted.is_some() => Err(not_in_list()),
            (Some(_), None) => Err(not_supported()),
        }
    }

    fn by_text(&self, request: &GraphRequest) -> Result<Arc<Document>, GraphResponse> {
        let text = || request.query().unwrap_or_default();
        let read = self
            .inner
            .documents
            .get(&request.key(), || self.read(&text(), request));
        read.map_err(|refused| (*refused).clone())
    }

    async fn by_hash(
        &self,
        hash: &DocumentHash,
        automatic: &AutomaticPersistedQueries,
        request: &GraphRequest,
        context: &RequestContext<Q::Host>,
    ) -> Result<Arc<Document>, GraphResponse> {
        let key = request.key_of(hash);
        let known = self.inner.documents.peek(&key);
        let read = match (known, request.query()) {
            (Some(read), None) => read,
            (Some(Ok(document)), Some(text)) if *document.text == *text => Ok(document),
            (_, Some(text)) if DocumentHash::digest(&text) != *hash => return Err(mismatch()),
            (_, Some(text)) => self.inner.documents.get(&key, || self.read(&text, request)),
            (None, None) => {
                let kept = automatic.text(hash).await.unwrap_or_else(|error| {
                    self.mask(context).store(&error);
                    None
                });
                let text = kept.ok_or_else(not_found)?;
                self.inner.documents.get(&key, || self.read(&text, request))
            }
        };
        read.map_err(|refused| (*refused).clone())
    }

    /// Stores the text of a request with its hash, after the operation passed all checks.
    pub(super) async fn register(
        &self,
        request: &GraphRequest,
        document: &Document,
        context: &RequestContext<Q::Host>,
    ) {
        let (Some(id @ DocumentId::Sha256(hash)), Some(automatic), true) =
            (request.document_id(), &self.inner.automatic, request.has_query())
        else {
            return;
        };
        // trusted documents need no registration
        let trusted = self.inner.trusted.as_ref();
        if trusted.is_some_and(|trusted| trusted.get(id).is_some()) {
            return;
        }
        if let Err(error) = automatic.keep(*hash, &document.text).await {
            self.mask(context).store(&error);
        }
    }
}

/// Clients compare this message literally and then send the text.
fn not_found() -> GraphResponse {
    GraphResponse::request_error(ErrorCode::PersistedQueryNotFound, "PersistedQueryNotFound")
}

/// Clients compare this message literally and then stop sending hashes.
fn not_supported() -> GraphResponse {
    GraphResponse::request_error(
        ErrorCode::PersistedQueryNotSupported,
        "PersistedQueryNotSupported",
    )
}
