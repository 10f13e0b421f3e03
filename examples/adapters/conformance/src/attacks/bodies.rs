//! Attacks with the body of a request, and with an ambiguous end of a request.

use super::Expected::{Answered, OneRequest, OneThenClosed, Refused, RefusedAndClosed, RefusedOrAnswered};
use super::cases::{Row, SYNTAX};

const CODING: &[u16] = &[400, 501];

pub(super) const LENGTHS: &[Row] = &[
    ("a body with its length", "RFC 9112 §6.2", Answered(1), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi"),
    ("a GET with a body", "RFC 9110 §9.3.1", OneRequest, b"GET {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2\r\n\r\nhi"),
    ("a length with a plus sign", "RFC 9110 §8.6", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: +2\r\n\r\nhi"),
    ("a negative length", "RFC 9110 §8.6", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: -2\r\n\r\nhi"),
    ("a length in hexadecimal", "RFC 9110 §8.6", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0x2\r\n\r\nhi"),
    ("a length with a fraction", "RFC 9110 §8.6", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2.0\r\n\r\nhi"),
    ("a length with text", "RFC 9110 §8.6", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2x\r\n\r\nhi"),
    ("a length with a space inside", "RFC 9110 §8.6", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2 2\r\n\r\nhi"),
    ("an empty length", "RFC 9110 §8.6", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: \r\n\r\nhi"),
    ("a length beyond 64 bits", "RFC 9110 §8.6", RefusedAndClosed(&[400, 413]), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 99999999999999999999\r\n\r\nhi"),
    ("a list of different lengths", "RFC 9110 §8.6", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2, 3\r\n\r\nhi!"),
    ("two different lengths", "RFC 9112 §6.3", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi!"),
    ("two equal lengths", "RFC 9110 §8.6", RefusedOrAnswered, b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi"),
];

pub(super) const CODINGS: &[Row] = &[
    ("a chunked body", "RFC 9112 §7.1", Answered(1), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    ("the coding in upper case", "RFC 9112 §7", Answered(1), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nTransfer-Encoding: CHUNKED\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    ("gzip, then chunked", "RFC 9112 §6.1", Refused(CODING), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    ("gzip alone", "RFC 9112 §6.3", RefusedAndClosed(CODING), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: gzip\r\n\r\nhi"),
    ("chunked, then gzip", "RFC 9112 §6.3", RefusedAndClosed(CODING), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked, gzip\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    ("chunked twice", "RFC 9112 §6.1", OneRequest, b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    ("chunked on two lines", "RFC 9112 §6.1", OneRequest, b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    ("the coding identity", "RFC 9112 §6.1", RefusedAndClosed(CODING), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: identity\r\n\r\nhi"),
    ("identity after chunked", "RFC 9112 §6.3", RefusedAndClosed(CODING), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked, identity\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    ("an unknown coding", "RFC 9112 §6.1", RefusedAndClosed(CODING), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: xchunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    ("a quoted coding", "RFC 9112 §7", RefusedAndClosed(CODING), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: \"chunked\"\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    ("a coding with a parameter", "RFC 9112 §7.1.1", RefusedAndClosed(CODING), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked;q=1\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    ("a coding after a vertical tab", "RFC 9110 §5.5", RefusedAndClosed(CODING), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: \x0bchunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    ("a coding with a space before its colon", "RFC 9112 §5.1", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding : chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    ("a folded coding", "RFC 9112 §5.2", RefusedOrAnswered, b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding:\r\n chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    ("an empty coding", "RFC 9112 §6.1", RefusedAndClosed(CODING), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: \r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    ("chunked in HTTP/1.0", "RFC 9112 §6.1", RefusedAndClosed(CODING), b"POST {path} HTTP/1.0\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
];

pub(super) const CHUNKS: &[Row] = &[
    ("a chunk extension", "RFC 9112 §7.1.1", Answered(1), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nhi\r\n0\r\n\r\n"),
    ("a trailer", "RFC 9112 §7.1.2", Answered(1), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-A: b\r\n\r\n"),
    ("a length in a trailer", "RFC 9110 §6.5.1", OneRequest, b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nContent-Length: 500\r\n\r\n"),
    ("a chunk size with a prefix", "RFC 9112 §7.1", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nhi\r\n0\r\n\r\n"),
    ("a chunk size with a plus sign", "RFC 9112 §7.1", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n+2\r\nhi\r\n0\r\n\r\n"),
    ("a negative chunk size", "RFC 9112 §7.1", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\nhi\r\n0\r\n\r\n"),
    ("an empty chunk size", "RFC 9112 §7.1", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n\r\nhi\r\n0\r\n\r\n"),
    ("a chunk size beyond 64 bits", "RFC 9112 §7.1", RefusedAndClosed(&[400, 413]), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhi\r\n0\r\n\r\n"),
    ("a chunk size that is no number", "RFC 9112 §7.1", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\nhello\r\nhi\r\n0\r\n\r\n"),
    ("a chunk longer than its size", "RFC 9112 §7.1", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n"),
    ("a chunk without a line end", "RFC 9112 §7.1", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi0\r\n\r\n"),
    ("a bare CR in a chunk extension", "RFC 9112 §7.1.1", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n2;a\rb\r\nhi\r\n0\r\n\r\n"),
    ("a bare LF in a chunk extension", "RFC 9112 §7.1.1", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n2;a\nb\r\nhi\r\n0\r\n\r\n"),
    ("a chunk size line that ends with LF", "RFC 9112 §7.1", RefusedOrAnswered, b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n2\nhi\r\n0\r\n\r\n"),
];

/// Requests that contain a second one, to `/smuggled`. Whether a server sees it depends on how the
/// server finds the end of the first request.
pub(super) const SMUGGLING: &[Row] = &[
    ("a length beside chunked", "RFC 9112 §6.1", OneThenClosed, b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    ("chunked beside a length", "RFC 9112 §6.1", OneThenClosed, b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n18\r\nGET /smuggled HTTP/1.1\r\n\r\n0\r\n\r\n"),
    ("a length beside an unknown coding", "RFC 9112 §6.1", RefusedAndClosed(CODING), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 4\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    ("two different lengths around a request", "RFC 9112 §6.3", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    ("a GET with a list of lengths", "RFC 9110 §8.6", RefusedAndClosed(SYNTAX), b"GET {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0, 44\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    ("a length whose name has an underscore", "RFC 9110 §5.1", Answered(2), b"GET {path} HTTP/1.1\r\nHost: {host}\r\nContent_Length: 44\r\n\r\nGET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    ("a request in a folded field", "RFC 9112 §5.2", RefusedOrAnswered, b"GET {path} HTTP/1.1\r\nHost: {host}\r\nX-A: b\r\n GET /smuggled HTTP/1.1\r\n\r\n"),
    ("a field after a bare LF", "RFC 9112 §2.2", OneRequest, b"GET {path} HTTP/1.1\r\nHost: {host}\r\nX-A: b\nX-B: c\r\n\r\n"),
    ("a request after NUL in a length", "RFC 9110 §5.5", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    ("a request after a chunk of a wrong size", "RFC 9112 §7.1", RefusedAndClosed(SYNTAX), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nhi\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    ("a request after a malformed trailer", "RFC 9112 §7.1.2", OneRequest, b"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno colon\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    ("a request after Connection: close", "RFC 9112 §9.6", Answered(1), b"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    ("a request after HTTP/1.0", "RFC 9112 §9.3", Answered(1), b"GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: {host}\r\n\r\n"),
];

pub(super) const PIPELINES: &[Row] = &[
    ("two requests at once", "RFC 9112 §9.3.2", Answered(2), b"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\nGET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    ("a request after a body with a length", "RFC 9112 §6.2", Answered(2), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhiGET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    ("a request after a chunked body", "RFC 9112 §7.1", Answered(2), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\nGET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    ("an empty line between two requests", "RFC 9112 §2.2", Answered(2), b"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n\r\nGET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"),
];

pub(super) const EXPECTATIONS: &[Row] = &[
    ("an expectation with a body", "RFC 9110 §10.1.1", Answered(1), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi"),
    ("an expectation before a body of 99 MB", "RFC 9110 §10.1.1", Refused(&[413]), b"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nExpect: 100-continue\r\nContent-Length: 99000000\r\n\r\n"),
    ("an expectation without a body", "RFC 9110 §10.1.1", Answered(1), b"GET {path} HTTP/1.1\r\nHost: {host}\r\nExpect: 100-continue\r\n\r\n"),
    ("an unknown expectation", "RFC 9110 §10.1.1", OneRequest, b"GET {path} HTTP/1.1\r\nHost: {host}\r\nExpect: 200-ok\r\n\r\n"),
];
