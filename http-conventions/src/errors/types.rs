//! Problem types that this crate defines. A host can serve their descriptions at the type URIs. The
//! type of a 429 is registered with IANA and is not listed here.
//!
//! ```
//! use http_conventions::errors::{types, ProblemBase};
//!
//! let base = ProblemBase::new("https://api.example.com/problems/")?;
//! assert_eq!(types::INVALID_CURSOR.uri(&base), "https://api.example.com/problems/invalid-cursor");
//! assert!(types::ALL.iter().all(|kind| !kind.description().is_empty()));
//! # Ok::<(), http_conventions::errors::InvalidProblemBase>(())
//! ```

use super::{ErrorStatus, ProblemType};

/// 400: `limit` is not a number in range, a cursor is empty, a page parameter is repeated, or
/// `after` and `before` are both present. The extension `parameter` contains the name of the
/// parameter.
pub const INVALID_PAGE_REQUEST: ProblemType = ProblemType::new(
    "invalid-page-request",
    ErrorStatus::BAD_REQUEST,
    "Invalid page request",
    "A page parameter is malformed, out of range or repeated. Correct it and retry.",
);

/// 400: the service did not issue the cursor, or the cursor was changed.
pub const INVALID_CURSOR: ProblemType = ProblemType::new(
    "invalid-cursor",
    ErrorStatus::BAD_REQUEST,
    "Invalid cursor",
    "This service did not issue the cursor. Start again from the first page.",
);

/// 400: the cursor has expired.
pub const EXPIRED_CURSOR: ProblemType = ProblemType::new(
    "expired-cursor",
    ErrorStatus::BAD_REQUEST,
    "Expired cursor",
    "The cursor is no longer valid. Start again from the first page.",
);

/// 400: the cursor belongs to another collection, caller, order or set of filters.
pub const CURSOR_MISMATCH: ProblemType = ProblemType::new(
    "cursor-mismatch",
    ErrorStatus::BAD_REQUEST,
    "Cursor of another request",
    "A cursor continues exactly the request that it came from. Repeat its path, order and filters, or start again from the first page.",
);

/// 412: the resource is not in the state that the client expects.
pub const PRECONDITION_FAILED: ProblemType = ProblemType::new(
    "precondition-failed",
    ErrorStatus::PRECONDITION_FAILED,
    "Precondition failed",
    "The resource changed since it was read, or exists when it should not. Read it again and retry with its new entity tag.",
);

/// 428: the request needs a precondition such as `If-Match`.
pub const PRECONDITION_REQUIRED: ProblemType = ProblemType::new(
    "precondition-required",
    ErrorStatus::PRECONDITION_REQUIRED,
    "Precondition required",
    "This request must carry If-Match with the entity tag that was last read.",
);

/// 400: the route requires an `Idempotency-Key`.
pub const IDEMPOTENCY_KEY_MISSING: ProblemType = ProblemType::new(
    "idempotency-key-missing",
    ErrorStatus::BAD_REQUEST,
    "Idempotency-Key missing",
    "This request must carry an Idempotency-Key: one random value for each operation, repeated with each retry of it.",
);

/// 400: the `Idempotency-Key` is malformed.
pub const IDEMPOTENCY_KEY_INVALID: ProblemType = ProblemType::new(
    "idempotency-key-invalid",
    ErrorStatus::BAD_REQUEST,
    "Idempotency-Key invalid",
    "An Idempotency-Key is sent once and has 1 to 255 visible ASCII characters, without quotes, commas and backslashes unless it is a quoted string.",
);

/// 409, or 422 if the host configured it: the key was used for a different request.
pub const IDEMPOTENCY_KEY_REUSED: ProblemType = ProblemType::new(
    "idempotency-key-reused",
    ErrorStatus::CONFLICT,
    "Idempotency-Key reused",
    "The key was sent before with another request. Use a new key for a new operation.",
);

/// 409 with `Retry-After`: the first request with this key is still in progress.
pub const IDEMPOTENCY_IN_FLIGHT: ProblemType = ProblemType::new(
    "idempotency-in-flight",
    ErrorStatus::CONFLICT,
    "First request still in progress",
    "The first request with this key has no result yet. Repeat the same request after the given time.",
);

/// 409: the first request completed, and its response cannot be replayed.
pub const IDEMPOTENCY_RESULT_NOT_REPLAYABLE: ProblemType = ProblemType::new(
    "idempotency-result-not-replayable",
    ErrorStatus::CONFLICT,
    "Result not replayable",
    "The operation was carried out once, with the status in original_status. Its response is not stored, because it is too large or contains a secret. Read the resource instead.",
);

/// 409: the outcome of the first request is unknown.
pub const IDEMPOTENCY_OUTCOME_UNKNOWN: ProblemType = ProblemType::new(
    "idempotency-outcome-unknown",
    ErrorStatus::CONFLICT,
    "Outcome unknown",
    "The first request with this key was interrupted and may have taken effect. Read the resource before you send the request with another key.",
);

/// 406: the request accepts no available representation. The extension `available` lists the
/// representations.
pub const NOT_ACCEPTABLE: ProblemType = ProblemType::new(
    "not-acceptable",
    ErrorStatus::NOT_ACCEPTABLE,
    "Not acceptable",
    "The resource has no representation that the request accepts. Ask for one of those in available.",
);

/// 415: the media type or content coding is not supported. The response lists the supported values
/// in `Accept`, `Accept-Encoding` or `Accept-Patch`.
pub const UNSUPPORTED_CONTENT: ProblemType = ProblemType::new(
    "unsupported-content",
    ErrorStatus::UNSUPPORTED_MEDIA_TYPE,
    "Unsupported content",
    "The content is of a media type, or in a content coding, that this resource does not read. Accept, Accept-Encoding or Accept-Patch of the response lists the supported ones.",
);

/// 400: the content is not JSON, is nested too deep, or has a member twice in one object; or a JSON
/// Patch is malformed. The extension `errors` lists faulty members.
pub const MALFORMED_CONTENT: ProblemType = ProblemType::new(
    "malformed-content",
    ErrorStatus::BAD_REQUEST,
    "Malformed content",
    "The content is not JSON, is nested too deep, repeats a member of an object, or is not a patch. Correct it and retry.",
);

/// 422: members of the content are faulty. The extension `errors` lists `pointer`, `code` and
/// `detail` of each fault.
pub const INVALID_CONTENT: ProblemType = ProblemType::new(
    "invalid-content",
    ErrorStatus::UNPROCESSABLE_CONTENT,
    "Invalid content",
    "Members of the content have a wrong type or an invalid value, are missing or unknown, or cannot be written. errors names each by a JSON pointer.",
);

/// 409: a JSON Patch does not apply to the current state of the resource. The extension `errors`
/// has the failed operation.
pub const PATCH_CONFLICT: ProblemType = ProblemType::new(
    "patch-conflict",
    ErrorStatus::CONFLICT,
    "Patch conflict",
    "A test of the patch failed, or a location of the patch does not exist in the resource. Nothing was changed. Read the resource and make a new patch.",
);

/// 400: the request names no version or an unknown one. The extension `supported` lists the
/// versions.
pub const UNSUPPORTED_VERSION: ProblemType = ProblemType::new(
    "unsupported-version",
    ErrorStatus::BAD_REQUEST,
    "Unsupported version",
    "This request must name one of the versions in supported.",
);

/// 410: the version has been removed. A `Link` with the relation `successor-version` leads to its
/// successor.
pub const VERSION_GONE: ProblemType = ProblemType::new(
    "version-gone",
    ErrorStatus::GONE,
    "Version gone",
    "This version of the API has been removed. Use its successor.",
);

/// 413: the content, as sent or decompressed, exceeds the limit. The extension `limit` is in bytes.
pub const CONTENT_TOO_LARGE: ProblemType = ProblemType::new(
    "content-too-large",
    ErrorStatus::CONTENT_TOO_LARGE,
    "Content too large",
    "The content, as sent or decompressed, has more bytes than limit. Send less at once.",
);

/// 414: path and query exceed the limit. The extension `limit` is in bytes.
pub const TARGET_TOO_LONG: ProblemType = ProblemType::new(
    "target-too-long",
    ErrorStatus::URI_TOO_LONG,
    "Target too long",
    "The path and query have more bytes than limit. Send long values as content.",
);

/// 431: the header section exceeds the limit. The extension `limit` is in bytes or in lines.
pub const FIELDS_TOO_LARGE: ProblemType = ProblemType::new(
    "fields-too-large",
    ErrorStatus::REQUEST_HEADER_FIELDS_TOO_LARGE,
    "Header fields too large",
    "The header section has more fields, or more bytes, than limit. Send fewer or shorter ones.",
);

/// 416: no byte of the requested ranges exists. The extension `length` is the length of the
/// content, as in `Content-Range`.
pub const RANGE_NOT_SATISFIABLE: ProblemType = ProblemType::new(
    "range-not-satisfiable",
    ErrorStatus::RANGE_NOT_SATISFIABLE,
    "Range not satisfiable",
    "The content has length bytes, and none of them is in a requested range. The resource may have changed: read it again.",
);

/// 400: the content does not have the digest in `Content-Digest` or `Repr-Digest`, or one of these
/// fields is malformed.
pub const CONTENT_DIGEST_MISMATCH: ProblemType = ProblemType::new(
    "content-digest-mismatch",
    ErrorStatus::BAD_REQUEST,
    "Content-Digest mismatch",
    "The content does not have the digest in Content-Digest or Repr-Digest, or the field is malformed. The content may have been damaged on its way: compute the digest of the bytes that are sent, and retry.",
);

/// 400: the service requires a `Content-Digest`. `Want-Content-Digest` of the response lists the
/// supported algorithms.
pub const CONTENT_DIGEST_MISSING: ProblemType = ProblemType::new(
    "content-digest-missing",
    ErrorStatus::BAD_REQUEST,
    "Content-Digest missing",
    "This request must carry a Content-Digest with sha-256 or sha-512.",
);

/// All types of this module.
pub const ALL: [ProblemType; 25] = [
    INVALID_PAGE_REQUEST,
    INVALID_CURSOR,
    EXPIRED_CURSOR,
    CURSOR_MISMATCH,
    PRECONDITION_FAILED,
    PRECONDITION_REQUIRED,
    IDEMPOTENCY_KEY_MISSING,
    IDEMPOTENCY_KEY_INVALID,
    IDEMPOTENCY_KEY_REUSED,
    IDEMPOTENCY_IN_FLIGHT,
    IDEMPOTENCY_RESULT_NOT_REPLAYABLE,
    IDEMPOTENCY_OUTCOME_UNKNOWN,
    NOT_ACCEPTABLE,
    UNSUPPORTED_CONTENT,
    MALFORMED_CONTENT,
    INVALID_CONTENT,
    PATCH_CONFLICT,
    UNSUPPORTED_VERSION,
    VERSION_GONE,
    CONTENT_TOO_LARGE,
    TARGET_TOO_LONG,
    FIELDS_TOO_LARGE,
    RANGE_NOT_SATISFIABLE,
    CONTENT_DIGEST_MISMATCH,
    CONTENT_DIGEST_MISSING,
];
