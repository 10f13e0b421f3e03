//! The machine-readable codes of `errors[].extensions.code`.

use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $wire:literal,)*) => {
        /// What went wrong, as a client reads it in `errors[].extensions.code`.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[$doc])* $variant,)*
        }

        impl ErrorCode {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The code on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $wire,)*
                }
            }
        }
    };
}

codes! {
    /// The document is not GraphQL.
    GraphqlParseFailed = "GRAPHQL_PARSE_FAILED",
    /// The document does not fit the schema.
    GraphqlValidationFailed = "GRAPHQL_VALIDATION_FAILED",
    /// A variable or an argument has a wrong value.
    BadUserInput = "BAD_USER_INPUT",
    /// The HTTP request is not a GraphQL request.
    BadRequest = "BAD_REQUEST",
    /// The operation asked for is not in the document, or the schema has none of its kind.
    OperationResolutionFailure = "OPERATION_RESOLUTION_FAILURE",
    /// The hash of a persisted query is unknown; send the text too.
    PersistedQueryNotFound = "PERSISTED_QUERY_NOT_FOUND",
    /// Persisted queries are off.
    PersistedQueryNotSupported = "PERSISTED_QUERY_NOT_SUPPORTED",
    /// The hash is not that of the text.
    PersistedQueryMismatch = "PERSISTED_QUERY_MISMATCH",
    /// The hash is not in the allow-list.
    PersistedQueryNotInList = "PERSISTED_QUERY_NOT_IN_LIST",
    /// Only registered documents are served, and the request names none.
    PersistedQueryIdRequired = "PERSISTED_QUERY_ID_REQUIRED",
    /// Introspection is switched off.
    IntrospectionDisabled = "INTROSPECTION_DISABLED",
    /// The operation nests too deep.
    MaxDepthExceeded = "MAX_DEPTH_EXCEEDED",
    /// The operation asks for too much.
    MaxCostExceeded = "MAX_COST_EXCEEDED",
    /// The operation has too many aliases.
    MaxAliasesExceeded = "MAX_ALIASES_EXCEEDED",
    /// The field needs a principal and there is none.
    Unauthenticated = "UNAUTHENTICATED",
    /// The principal may not see or do this.
    Forbidden = "FORBIDDEN",
    /// The thing asked for does not exist.
    NotFound = "NOT_FOUND",
    /// The state of the thing does not allow this.
    Conflict = "CONFLICT",
    /// Too many requests.
    RateLimited = "RATE_LIMITED",
    /// The field was not ready in time.
    Timeout = "TIMEOUT",
    /// Something broke; the correlation id leads to the cause in the log.
    InternalServerError = "INTERNAL_SERVER_ERROR",
}

impl ErrorCode {
    pub(crate) fn from_wire(wire: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == wire)
    }
}

impl serde::Serialize for ErrorCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
