//! Responses with ranges, [RFC 9110
//! §15.3.7](https://www.rfc-editor.org/rfc/rfc9110#section-15.3.7).

use bytes::{BufMut as _, Bytes, BytesMut};
use http::{
    HeaderMap, HeaderValue, Response, StatusCode,
    header::{ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, RANGE},
};

use super::{ByteRange, ContentRange, RangeDecision};
use crate::{
    caching::{PreconditionDecision, Preconditions, Validators, not_modified},
    content::CONTENT_DIGEST,
    errors::{Problem, ProblemBase, types},
    ports::Entropy,
    single_value,
};

const BYTES: HeaderValue = HeaderValue::from_static("bytes");

/// Piece of a content to send.
#[derive(Clone, Debug, Eq, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a multipart content consists of heads and ranges"
)]
pub enum ContentPiece {
    /// Head of a part, or the end of a multipart content.
    Text(Bytes),
    /// Bytes of the complete content.
    Range(ByteRange),
}

impl ContentPiece {
    /// Number of bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        match self {
            Self::Text(text) => u64::try_from(text.len()).unwrap_or(u64::MAX),
            Self::Range(range) => range.length(),
        }
    }
}

impl Preconditions<'_> {
    /// Completes the response to a read like [`answer_read`](Self::answer_read), and sends the
    /// ranges that the request asks for.
    ///
    /// `answer` is the complete 200. Each response is one of these:
    ///
    /// - 200 with the whole content and `Accept-Ranges: bytes`, if `Range` is absent or
    ///   [ignored](RangeDecision::of), or if `If-Range` names another state;
    /// - 206 with `Content-Range` and one range, or 206 with `multipart/byteranges`;
    /// - 304 if the client has the current state;
    /// - `answer` unchanged, if it is not a 200.
    ///
    /// `entropy` generates the boundary of the parts, so that no content can contain it.
    ///
    /// ```
    /// use std::time::SystemTime;
    ///
    /// use bytes::Bytes;
    /// use http::{Request, Response};
    /// use http_conventions::{
    ///     caching::{EntityTag, Preconditions, Validators},
    ///     errors::ProblemBase,
    ///     ports::OsEntropy,
    /// };
    ///
    /// let base = ProblemBase::new("https://api.example.com/problems/")?;
    /// let content = Bytes::from_static(b"0123456789");
    /// let current = Validators::default().with_entity_tag(EntityTag::of_content(&content));
    /// let ask = |range| {
    ///     let request = Request::get("/v1/reports/7").header("Range", range).body(()).unwrap();
    ///     Preconditions::of(&request, SystemTime::UNIX_EPOCH).answer_ranges(
    ///         &current,
    ///         Response::new(content.clone()),
    ///         &OsEntropy,
    ///         &base,
    ///     )
    /// };
    ///
    /// let part = ask("bytes=2-4").unwrap();
    /// assert_eq!((part.status().as_u16(), part.body().as_ref()), (206, &b"234"[..]));
    /// assert_eq!(part.headers()["content-range"], "bytes 2-4/10");
    ///
    /// let refused = ask("bytes=10-").unwrap_err().into_response();
    /// assert_eq!(refused.status(), 416);
    /// assert_eq!(refused.headers()["content-range"], "bytes */10");
    /// # Ok::<(), http_conventions::errors::InvalidProblemBase>(())
    /// ```
    ///
    /// # Contract
    ///
    /// - Ranges count the bytes of the content as it is sent. A host that compresses the content
    ///   does so first, and passes the [validators of the coding](Validators::in_coding).
    /// - `current` must belong to exactly this content, because a client joins ranges with equal
    ///   strong tags.
    ///
    /// # Errors
    ///
    /// - A 412 problem if `If-Match` or `If-Unmodified-Since` is false.
    /// - A 416 problem with `Content-Range: bytes */N` if no requested byte exists.
    ///
    /// # Performance
    ///
    /// One range is a slice of the content. Several ranges are copied into one buffer;
    /// [`plan_ranges`](Self::plan_ranges) copies nothing.
    pub fn answer_ranges(
        &self,
        current: &Validators,
        answer: Response<Bytes>,
        entropy: &dyn Entropy,
        base: &ProblemBase,
    ) -> Result<Response<Bytes>, Problem> {
        let content = answer.body().clone();
        let length = u64::try_from(content.len()).unwrap_or(u64::MAX);
        let planned = self.plan_ranges(current, answer.map(|_| length), entropy, base)?;
        Ok(planned.map(|pieces| join(&pieces, &content)))
    }

    /// Plans the response of [`answer_ranges`](Self::answer_ranges) for a content that the host
    /// streams, for example from a file.
    ///
    /// `answer` is the head of the 200, with the length of the content in place of the content. The
    /// result has the head to send, with `Content-Length`, and the pieces of the content in order.
    /// In response to HEAD the host sends the head without the pieces.
    ///
    /// # Errors
    ///
    /// Those of [`answer_ranges`](Self::answer_ranges).
    pub fn plan_ranges(
        &self,
        current: &Validators,
        mut answer: Response<u64>,
        entropy: &dyn Entropy,
        base: &ProblemBase,
    ) -> Result<Response<Vec<ContentPiece>>, Problem> {
        let length = *answer.body();
        if answer.status() != StatusCode::OK {
            return Ok(answer.map(whole));
        }
        current.apply(answer.headers_mut());
        match self.evaluate(Some(current)) {
            PreconditionDecision::NotModified => {
                return Ok(not_modified(answer.into_parts().0.headers).map(|_| Vec::new()));
            }
            decision => decision.problem(base).map_or(Ok(()), Err)?,
        }
        answer.headers_mut().insert(ACCEPT_RANGES, BYTES);
        // a repeated field is malformed
        let range = single_value(self.headers, &RANGE).filter(|_| self.takes_range(current));
        match range.map(|range| RangeDecision::of(range.as_bytes(), length)) {
            None | Some(RangeDecision::Whole) => {
                let pieces = whole(length);
                set_length(answer.headers_mut(), &pieces);
                Ok(answer.map(|_| pieces))
            }
            Some(RangeDecision::Partial(ranges)) => Ok(partial(answer, &ranges, entropy)),
            Some(RangeDecision::Unsatisfiable) => Err(unsatisfiable(length, base)),
        }
    }
}

fn whole(length: u64) -> Vec<ContentPiece> {
    let last = length.checked_sub(1);
    let range = last.map(|last| ContentPiece::Range(ByteRange { first: 0, last }));
    range.into_iter().collect()
}

fn unsatisfiable(length: u64, base: &ProblemBase) -> Problem {
    let range = ContentRange {
        range: None,
        length: Some(length),
    };
    types::RANGE_NOT_SATISFIABLE
        .problem(base)
        .with_extension("length", i64::try_from(length).unwrap_or(i64::MAX))
        .with_field(CONTENT_RANGE, range.header_value())
        .with_field(ACCEPT_RANGES, BYTES)
}

fn partial(
    mut answer: Response<u64>,
    ranges: &[ByteRange],
    entropy: &dyn Entropy,
) -> Response<Vec<ContentPiece>> {
    let length = *answer.body();
    *answer.status_mut() = StatusCode::PARTIAL_CONTENT;
    let headers = answer.headers_mut();
    // the digest of the whole content; `Repr-Digest` holds for a part too
    headers.remove(CONTENT_DIGEST);
    let pieces = match ranges {
        [range] => {
            headers.insert(CONTENT_RANGE, part_of(*range, length).header_value());
            vec![ContentPiece::Range(*range)]
        }
        ranges => multipart(headers, ranges, length, &boundary(entropy)),
    };
    set_length(headers, &pieces);
    answer.map(|_| pieces)
}

const fn part_of(range: ByteRange, length: u64) -> ContentRange {
    ContentRange {
        range: Some(range),
        length: Some(length),
    }
}

/// Pieces of a `multipart/byteranges` content, [RFC 9110
/// §14.6](https://www.rfc-editor.org/rfc/rfc9110#section-14.6).
fn multipart(
    headers: &mut HeaderMap,
    ranges: &[ByteRange],
    length: u64,
    boundary: &str,
) -> Vec<ContentPiece> {
    // hexadecimal digits are a valid parameter
    let multipart = HeaderValue::try_from(format!("multipart/byteranges; boundary={boundary}"))
        .unwrap_or(HeaderValue::from_static("multipart/byteranges"));
    let content_type = headers.insert(CONTENT_TYPE, multipart);
    let mut pieces = Vec::with_capacity(ranges.len() * 2 + 1);
    let mut line_end = "";
    for range in ranges {
        let mut text = BytesMut::with_capacity(160);
        for part in [line_end, "--", boundary, "\r\n"] {
            text.put_slice(part.as_bytes());
        }
        if let Some(content_type) = &content_type {
            text.put_slice(b"Content-Type: ");
            text.put_slice(content_type.as_bytes());
            text.put_slice(b"\r\n");
        }
        let content_range = part_of(*range, length).to_string();
        for part in ["Content-Range: ", &content_range, "\r\n\r\n"] {
            text.put_slice(part.as_bytes());
        }
        pieces.push(ContentPiece::Text(text.freeze()));
        pieces.push(ContentPiece::Range(*range));
        line_end = "\r\n";
    }
    pieces.push(ContentPiece::Text(format!("\r\n--{boundary}--\r\n").into()));
    pieces
}

/// 128 random bits in hexadecimal digits.
fn boundary(entropy: &dyn Entropy) -> String {
    let mut random = [0; 16];
    entropy.fill(&mut random);
    format!("{:032x}", u128::from_be_bytes(random))
}

fn set_length(headers: &mut HeaderMap, pieces: &[ContentPiece]) {
    let length = pieces
        .iter()
        .fold(0_u64, |sum, piece| sum.saturating_add(piece.length()));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
}

/// Content of these pieces. A single range is not copied.
fn join(pieces: &[ContentPiece], content: &Bytes) -> Bytes {
    let piece_of = |piece: &ContentPiece| match piece {
        ContentPiece::Text(text) => text.clone(),
        // the ranges were planned for the length of this content
        ContentPiece::Range(range) => range.slice(content).unwrap_or_default(),
    };
    match pieces {
        [] => Bytes::new(),
        [piece] => piece_of(piece),
        pieces => {
            let pieces: Vec<Bytes> = pieces.iter().map(piece_of).collect();
            pieces.concat().into()
        }
    }
}
