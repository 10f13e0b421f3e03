//! Items of a running operation.

use crate::response::GraphResponse;

/// Item of a running operation.
#[derive(Debug)]
pub(crate) enum StreamItem {
    /// The subscription passed all checks and its source is open.
    Opened,
    /// Result of a query or a mutation, or of one event of a subscription.
    Response(GraphResponse),
    /// Error that ends a subscription, or that refuses an operation.
    Failure(GraphResponse),
}

impl StreamItem {
    /// Response; `None` for the start of a subscription.
    pub(crate) fn response(&self) -> Option<&GraphResponse> {
        match self {
            Self::Opened => None,
            Self::Response(response) | Self::Failure(response) => Some(response),
        }
    }

    /// Response to send; `None` for the start of a subscription.
    pub(crate) fn into_response(self) -> Option<GraphResponse> {
        match self {
            Self::Opened => None,
            Self::Response(response) | Self::Failure(response) => Some(response),
        }
    }
}
