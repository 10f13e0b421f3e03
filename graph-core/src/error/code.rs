//! The machine-readable codes of `errors[].extensions.code`.

use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $wire:literal,)*) => {
        /// Machine-readable code of an error, sent as `errors[].extensions.code`.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[$doc])* $variant,)*
        }

        impl ErrorCode {
            /// All codes, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the code as it is sent to the client.
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
    /// The document is not valid GraphQL syntax, or has too many tokens.
    GraphqlParseFailed = "GRAPHQL_PARSE_FAILED",
    /// The document is not valid for the schema.
    GraphqlValidationFailed = "GRAPHQL_VALIDATION_FAILED",
    /// A variable or an argument has an invalid value.
    BadUserInput = "BAD_USER_INPUT",
    /// The HTTP request is not a GraphQL request, or its transport does not serve the operation.
    BadRequest = "BAD_REQUEST",
    /// The operation name selects no operation, is missing although the document has several, or
    /// the schema has no root type for the operation.
    OperationResolutionFailure = "OPERATION_RESOLUTION_FAILURE",
    /// The hash of the persisted query is unknown; the client must send the text too.
    PersistedQueryNotFound = "PERSISTED_QUERY_NOT_FOUND",
    /// Persisted queries are disabled.
    PersistedQueryNotSupported = "PERSISTED_QUERY_NOT_SUPPORTED",
    /// The document id does not match the text.
    PersistedQueryMismatch = "PERSISTED_QUERY_MISMATCH",
    /// The document id is not in the list of trusted documents.
    PersistedQueryNotInList = "PERSISTED_QUERY_NOT_IN_LIST",
    /// Only trusted documents are served, and the request has no document id.
    PersistedQueryIdRequired = "PERSISTED_QUERY_ID_REQUIRED",
    /// Introspection is disabled.
    IntrospectionDisabled = "INTROSPECTION_DISABLED",
    /// The operation exceeds the depth limit, or nests lists of introspection too deeply.
    MaxDepthExceeded = "MAX_DEPTH_EXCEEDED",
    /// The operation exceeds the limit of cost, root fields or selected fields.
    MaxCostExceeded = "MAX_COST_EXCEEDED",
    /// The variables have too many values.
    MaxValuesExceeded = "MAX_VALUES_EXCEEDED",
    /// The response exceeds its limit of bytes; it is partial.
    MaxResponseSizeExceeded = "MAX_RESPONSE_SIZE_EXCEEDED",
    /// The operation exceeds the alias limit.
    MaxAliasesExceeded = "MAX_ALIASES_EXCEEDED",
    /// The field requires a principal, and the request is anonymous.
    Unauthenticated = "UNAUTHENTICATED",
    /// The principal lacks the permission.
    Forbidden = "FORBIDDEN",
    /// The requested object does not exist.
    NotFound = "NOT_FOUND",
    /// The current state of the object does not allow the operation.
    Conflict = "CONFLICT",
    /// The client sent too many requests, or has too many streams or operations.
    RateLimited = "RATE_LIMITED",
    /// The field was not ready before the deadline.
    Timeout = "TIMEOUT",
    /// An internal error; the incident log has the cause under the correlation id.
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
