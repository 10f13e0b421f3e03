//! Trusted documents, compiled when the engine is built.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use juniper::Variables;

use super::ConfigMistake;
use crate::document::operation::parsed;
use crate::document::{Document, Facts, Judged, Source};
use crate::error::ErrorCode;
use crate::guard::Principal;
use crate::http::GraphRequest;
use crate::limits::Outline;
use crate::persisted::{DocumentHash, DocumentId, TrustedDocuments, TrustedMode, Untrusted, UntrustedLog};
use crate::response::GraphResponse;

/// Trusted documents and the mode for other documents.
pub(super) struct TrustedList {
    mode: TrustedMode,
    log: Option<Arc<dyn UntrustedLog>>,
    documents: HashMap<DocumentId, Listed>,
}

impl fmt::Debug for TrustedList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrustedList")
            .field("mode", &self.mode)
            .field("documents", &self.documents.len())
            .finish_non_exhaustive()
    }
}

/// Trusted document.
#[derive(Debug)]
pub(super) struct Listed {
    text: Box<str>,
    /// Operations by name.
    operations: Vec<(Option<Box<str>>, Arc<Document>)>,
}

impl TrustedList {
    /// Compiles every document. `judge` checks its size against the limits.
    pub(super) fn new(
        trusted: TrustedDocuments,
        facts: &Facts<'_>,
        judge: &dyn Fn(&Outline) -> Result<Judged, GraphResponse>,
    ) -> Result<Self, Vec<ConfigMistake>> {
        let (mut documents, mut mistakes) = (HashMap::<_, Listed>::new(), Vec::new());
        let all = trusted
            .manifests
            .into_iter()
            .flat_map(crate::persisted::Manifest::into_documents);
        for (id, text) in all {
            if documents.get(&id).is_some_and(|known| known.text == text) {
                continue;
            }
            match Listed::new(&id, text, facts, judge) {
                Ok(_) if documents.contains_key(&id) => {
                    mistakes.push(ConfigMistake::TwoDocuments(id.to_string()));
                }
                Ok(listed) => {
                    documents.insert(id, listed);
                }
                Err(why) => mistakes.push(ConfigMistake::TrustedDocument {
                    id: id.to_string(),
                    why,
                }),
            }
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        Ok(Self {
            mode: trusted.mode,
            log: trusted.log,
            documents,
        })
    }

    pub(super) fn get(&self, id: &DocumentId) -> Option<&Listed> {
        self.documents.get(id)
    }

    /// Reports `request`, whose document is not trusted, to the log. Returns a response if the
    /// document must not run. Does nothing in [`TrustedMode::Off`].
    pub(super) fn refusal(
        &self,
        request: &GraphRequest,
        principal: Option<&Principal>,
    ) -> Option<GraphResponse> {
        if self.mode == TrustedMode::Off {
            return None;
        }
        if let Some(log) = &self.log {
            log.record(&Untrusted {
                id: request.document_id(),
                text: request.query().as_deref(),
                operation_name: request.operation_name(),
                principal,
            });
        }
        (self.mode == TrustedMode::Enforce).then(|| match request.document_id() {
            Some(_) => not_in_list(),
            None => GraphResponse::request_error(
                ErrorCode::PersistedQueryIdRequired,
                "only trusted documents are served: send the id of one",
            ),
        })
    }
}

impl Listed {
    fn new(
        id: &DocumentId,
        text: Box<str>,
        facts: &Facts<'_>,
        judge: &dyn Fn(&Outline) -> Result<Judged, GraphResponse>,
    ) -> Result<Self, String> {
        if matches!(id, DocumentId::Sha256(hash) if DocumentHash::digest(&text) != *hash) {
            return Err("the id is not the SHA-256 of the text".to_owned());
        }
        let ast = parsed(&text, facts.limits).map_err(|refused| joined_messages(&refused))?;
        let names = ast
            .operations()
            .map(|operation| operation.name.map(|name| name.text.into()));
        let names: Vec<Option<Box<str>>> = names.collect();
        // a document without operations fails below
        let names = if names.is_empty() { vec![None] } else { names };
        let alone = names.len() == 1;
        let mut operations = Vec::with_capacity(names.len());
        for name in names {
            let source = Source {
                text: &text,
                operation: name.as_deref().filter(|_| !alone),
            };
            let document = Document::new(facts, &source, &Variables::new(), judge);
            let mut document = document.map_err(|refused| joined_messages(&refused))?;
            if !document.invalid.is_empty() {
                return Err(document.invalid.join("; "));
            }
            document.listed_as = Some(name.clone().unwrap_or_else(|| id.to_string().into()));
            operations.push((name, Arc::new(document)));
        }
        Ok(Self { text, operations })
    }

    /// Selects the operation of `request`.
    pub(super) fn operation(&self, request: &GraphRequest) -> Result<Arc<Document>, GraphResponse> {
        if request.query().is_some_and(|text| *text != *self.text) {
            return Err(mismatch());
        }
        let found = match (request.operation_name(), self.operations.as_slice()) {
            (None, [(_, only)]) => Ok(only),
            (None, _) => Err("Multiple operations provided"),
            (Some(name), operations) => operations
                .iter()
                .find_map(|(known, document)| (known.as_deref() == Some(name)).then_some(document))
                .ok_or("Unknown operation name"),
        };
        let refused = |why| GraphResponse::request_error(ErrorCode::OperationResolutionFailure, why);
        found.map(Arc::clone).map_err(refused)
    }
}

/// Errors of a document in one line.
fn joined_messages(refused: &GraphResponse) -> String {
    let messages: Vec<_> = refused.errors().iter().map(|error| error.message()).collect();
    messages.join("; ")
}

pub(super) fn not_in_list() -> GraphResponse {
    GraphResponse::request_error(
        ErrorCode::PersistedQueryNotInList,
        "the document id is not in the list of trusted documents",
    )
}

/// Response to an id that does not match the text, with the message of Apollo Server.
pub(super) fn mismatch() -> GraphResponse {
    GraphResponse::request_error(
        ErrorCode::PersistedQueryMismatch,
        "provided sha does not match query",
    )
}
