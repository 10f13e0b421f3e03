//! Attacks with the head of a request.

use super::Expected::{Answered, OneRequest, Refused, RefusedAndClosed, RefusedOrAnswered};
use super::cases::{Row, SYNTAX};

const VERSION: &[u16] = &[400, 505];
const HOST: &[u16] = &[400, 421];

pub(super) const REQUEST_LINES: &[Row] = &[
    (
        "plain GET",
        "RFC 9112 §3",
        Answered(1),
        b"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "an empty line before the request line",
        "RFC 9112 §2.2",
        Answered(1),
        b"\r\nGET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "lines that end with LF alone",
        "RFC 9112 §2.2",
        RefusedOrAnswered,
        b"GET {path} HTTP/1.1\nHost: {host}\n\n",
    ),
    (
        "a bare CR in the request line",
        "RFC 9112 §2.2",
        RefusedAndClosed(SYNTAX),
        b"GET {path}\rHTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "a request line without a version",
        "RFC 9112 §3",
        RefusedAndClosed(VERSION),
        b"GET {path}\r\n\r\n",
    ),
    (
        "a request line without a target",
        "RFC 9112 §3",
        RefusedAndClosed(SYNTAX),
        b"GET HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "two spaces before the target",
        "RFC 9112 §3",
        RefusedOrAnswered,
        b"GET  {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "tabs in the request line",
        "RFC 9112 §3",
        RefusedOrAnswered,
        b"GET\t{path}\tHTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "text after the version",
        "RFC 9112 §3",
        RefusedAndClosed(VERSION),
        b"GET {path} HTTP/1.1 x\r\nHost: {host}\r\n\r\n",
    ),
    (
        "a version in lower case",
        "RFC 9112 §2.3",
        RefusedAndClosed(VERSION),
        b"GET {path} http/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "version 2.0",
        "RFC 9110 §15.6.6",
        RefusedAndClosed(VERSION),
        b"GET {path} HTTP/2.0\r\nHost: {host}\r\n\r\n",
    ),
    (
        "version 9.9",
        "RFC 9110 §15.6.6",
        RefusedAndClosed(VERSION),
        b"GET {path} HTTP/9.9\r\nHost: {host}\r\n\r\n",
    ),
    (
        "version 1.",
        "RFC 9112 §2.3",
        RefusedAndClosed(VERSION),
        b"GET {path} HTTP/1.\r\nHost: {host}\r\n\r\n",
    ),
    (
        "version 1.10",
        "RFC 9112 §2.3",
        RefusedAndClosed(VERSION),
        b"GET {path} HTTP/1.10\r\nHost: {host}\r\n\r\n",
    ),
    (
        "the preface of HTTP/2",
        "RFC 9113 §3.4",
        RefusedAndClosed(VERSION),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ),
    (
        "HTTP/1.0 with a host",
        "RFC 9112 §2.3",
        Answered(1),
        b"GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n",
    ),
    (
        "bytes of a TLS handshake",
        "RFC 9112 §3",
        RefusedAndClosed(SYNTAX),
        b"\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03\r\n\r\n",
    ),
    (
        "NUL bytes",
        "RFC 9112 §3",
        RefusedAndClosed(SYNTAX),
        b"\0\0\0\0\0\0\0\0\r\n\r\n",
    ),
    (
        "a method with a space",
        "RFC 9110 §9.1",
        RefusedAndClosed(SYNTAX),
        b"GE T {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "a method with a control character",
        "RFC 9110 §9.1",
        RefusedAndClosed(SYNTAX),
        b"G\x01T {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "a method with a separator",
        "RFC 9110 §9.1",
        RefusedAndClosed(SYNTAX),
        b"GE(T {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "no method",
        "RFC 9112 §3",
        RefusedAndClosed(SYNTAX),
        b" {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "an unknown method",
        "RFC 9110 §9.1",
        OneRequest,
        b"BREW {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "a method in lower case",
        "RFC 9110 §9.1",
        OneRequest,
        b"get {path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
];

pub(super) const TARGETS: &[Row] = &[
    (
        "OPTIONS *",
        "RFC 9112 §3.2.4",
        Refused(&[200, 204, 404, 405]),
        b"OPTIONS * HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "GET *",
        "RFC 9112 §3.2.4",
        OneRequest,
        b"GET * HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "CONNECT to another server",
        "RFC 9110 §9.3.6",
        OneRequest,
        b"CONNECT internal.example:443 HTTP/1.1\r\nHost: internal.example:443\r\n\r\n",
    ),
    (
        "GET of an authority",
        "RFC 9112 §3.2.3",
        OneRequest,
        b"GET {host} HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "absolute-form with the host of the server",
        "RFC 9112 §3.2.2",
        Answered(1),
        b"GET http://{host}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "absolute-form with user information",
        "RFC 9110 §4.2.4",
        Refused(HOST),
        b"GET http://user@{host}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "absolute-form without a Host",
        "RFC 9112 §3.2",
        Refused(SYNTAX),
        b"GET http://{host}{path} HTTP/1.1\r\n\r\n",
    ),
    (
        "absolute-form with an invalid port",
        "RFC 9110 §4.2.1",
        Refused(SYNTAX),
        b"GET http://{host}:x/ HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "a target with a space",
        "RFC 9112 §3.2",
        RefusedAndClosed(SYNTAX),
        b"GET {path} x HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "a target with NUL",
        "RFC 9112 §3.2",
        RefusedAndClosed(SYNTAX),
        b"GET {path}\0 HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "a target with a control character",
        "RFC 9112 §3.2",
        RefusedAndClosed(SYNTAX),
        b"GET {path}\x7f HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "a target with bytes beyond ASCII",
        "RFC 9112 §3.2",
        OneRequest,
        b"GET /\xff\xfe HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "a target with a fragment",
        "RFC 9112 §3.2",
        OneRequest,
        b"GET {path}#x HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "a target with dot segments",
        "RFC 3986 §5.2.4",
        OneRequest,
        b"GET /../../etc/passwd HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "a target with encoded dot segments",
        "RFC 3986 §6.2.2",
        OneRequest,
        b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "a target with backslashes",
        "RFC 9112 §3.2",
        OneRequest,
        b"GET /..\\..\\ HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "a target that begins with two slashes",
        "RFC 3986 §3.3",
        OneRequest,
        b"GET //internal.example/ HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "a target with a broken escape",
        "RFC 3986 §2.1",
        OneRequest,
        b"GET /%zz%2 HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "a target with an encoded NUL",
        "RFC 3986 §2.1",
        OneRequest,
        b"GET /%00 HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
    (
        "a target with an encoded line end",
        "RFC 9112 §11.1",
        OneRequest,
        b"GET /%0d%0aSet-Cookie:%20a=b HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ),
];

pub(super) const HOSTS: &[Row] = &[
    (
        "no Host",
        "RFC 9112 §3.2",
        Refused(SYNTAX),
        b"GET {path} HTTP/1.1\r\n\r\n",
    ),
    (
        "two Hosts",
        "RFC 9112 §3.2",
        Refused(SYNTAX),
        b"GET {path} HTTP/1.1\r\nHost: {host}\r\nHost: internal.example\r\n\r\n",
    ),
    (
        "two equal Hosts",
        "RFC 9112 §3.2",
        Refused(SYNTAX),
        b"GET {path} HTTP/1.1\r\nHost: {host}\r\nHost: {host}\r\n\r\n",
    ),
    (
        "an empty Host",
        "RFC 9110 §4.2.1",
        Refused(SYNTAX),
        b"GET {path} HTTP/1.1\r\nHost: \r\n\r\n",
    ),
    (
        "a Host with a list",
        "RFC 9110 §7.2",
        Refused(SYNTAX),
        b"GET {path} HTTP/1.1\r\nHost: {host}, internal.example\r\n\r\n",
    ),
    (
        "a Host with user information",
        "RFC 9110 §7.2",
        Refused(SYNTAX),
        b"GET {path} HTTP/1.1\r\nHost: user@{host}\r\n\r\n",
    ),
    (
        "a Host with a path",
        "RFC 9110 §7.2",
        Refused(SYNTAX),
        b"GET {path} HTTP/1.1\r\nHost: {host}/x\r\n\r\n",
    ),
    (
        "a Host with a query",
        "RFC 9110 §7.2",
        Refused(SYNTAX),
        b"GET {path} HTTP/1.1\r\nHost: {host}?x\r\n\r\n",
    ),
    (
        "a Host with a scheme",
        "RFC 9110 §7.2",
        Refused(SYNTAX),
        b"GET {path} HTTP/1.1\r\nHost: http://{host}\r\n\r\n",
    ),
    (
        "a Host with a space",
        "RFC 9110 §7.2",
        Refused(SYNTAX),
        b"GET {path} HTTP/1.1\r\nHost: {host} x\r\n\r\n",
    ),
    (
        "a Host with a port above 65535",
        "RFC 9110 §7.2",
        Refused(SYNTAX),
        b"GET {path} HTTP/1.1\r\nHost: desk.example:65536\r\n\r\n",
    ),
    (
        "a Host with a negative port",
        "RFC 9110 §7.2",
        Refused(SYNTAX),
        b"GET {path} HTTP/1.1\r\nHost: desk.example:-1\r\n\r\n",
    ),
    (
        "a Host with text after the port",
        "RFC 9110 §7.2",
        Refused(SYNTAX),
        b"GET {path} HTTP/1.1\r\nHost: desk.example:80x\r\n\r\n",
    ),
    (
        "a Host with an IPv6 address without brackets",
        "RFC 3986 §3.2.2",
        Refused(SYNTAX),
        b"GET {path} HTTP/1.1\r\nHost: ::1\r\n\r\n",
    ),
    (
        "a Host with an open bracket",
        "RFC 3986 §3.2.2",
        Refused(SYNTAX),
        b"GET {path} HTTP/1.1\r\nHost: [::1\r\n\r\n",
    ),
    (
        "a Host with a broken escape",
        "RFC 3986 §3.2.2",
        Refused(SYNTAX),
        b"GET {path} HTTP/1.1\r\nHost: a%zz\r\n\r\n",
    ),
    (
        "a Host with bytes beyond ASCII",
        "RFC 3986 §3.2.2",
        Refused(SYNTAX),
        b"GET {path} HTTP/1.1\r\nHost: d\xc3\xa9sk\r\n\r\n",
    ),
    (
        "a Host with a name in brackets",
        "RFC 3986 §3.2.2",
        Refused(SYNTAX),
        b"GET {path} HTTP/1.1\r\nHost: [desk]\r\n\r\n",
    ),
];

pub(super) const FIELDS: &[Row] = &[
    ("a space before the colon", "RFC 9112 §5.1", RefusedAndClosed(SYNTAX), b"GET {path} HTTP/1.1\r\nHost: {host}\r\nX-A : b\r\n\r\n"),
    ("a tab before the colon", "RFC 9112 §5.1", RefusedAndClosed(SYNTAX), b"GET {path} HTTP/1.1\r\nHost: {host}\r\nX-A\t: b\r\n\r\n"),
    ("a field without a colon", "RFC 9112 §5", RefusedAndClosed(SYNTAX), b"GET {path} HTTP/1.1\r\nHost: {host}\r\nX-A\r\n\r\n"),
    ("a field without a name", "RFC 9112 §5", RefusedAndClosed(SYNTAX), b"GET {path} HTTP/1.1\r\nHost: {host}\r\n: b\r\n\r\n"),
    ("a field name with a space", "RFC 9110 §5.1", RefusedAndClosed(SYNTAX), b"GET {path} HTTP/1.1\r\nHost: {host}\r\nX A: b\r\n\r\n"),
    ("a field name with bytes beyond ASCII", "RFC 9110 §5.1", RefusedAndClosed(SYNTAX), b"GET {path} HTTP/1.1\r\nHost: {host}\r\nX-\xc3\xa9: b\r\n\r\n"),
    ("a field name with a control character", "RFC 9110 §5.1", RefusedAndClosed(SYNTAX), b"GET {path} HTTP/1.1\r\nHost: {host}\r\nX-\x01: b\r\n\r\n"),
    ("a space before the first field", "RFC 9112 §2.2", RefusedAndClosed(SYNTAX), b"GET {path} HTTP/1.1\r\n Host: {host}\r\n\r\n"),
    ("a folded field", "RFC 9112 §5.2", RefusedOrAnswered, b"GET {path} HTTP/1.1\r\nHost: {host}\r\nX-A: b\r\n c\r\n\r\n"),
    ("a value with NUL", "RFC 9110 §5.5", RefusedAndClosed(SYNTAX), b"GET {path} HTTP/1.1\r\nHost: {host}\r\nX-A: b\0c\r\n\r\n"),
    ("a value with a bare CR", "RFC 9110 §5.5", RefusedAndClosed(SYNTAX), b"GET {path} HTTP/1.1\r\nHost: {host}\r\nX-A: b\rc\r\n\r\n"),
    ("a value with a control character", "RFC 9110 §5.5", RefusedAndClosed(SYNTAX), b"GET {path} HTTP/1.1\r\nHost: {host}\r\nX-A: b\x01c\r\n\r\n"),
    ("a value with bytes beyond ASCII", "RFC 9110 §5.5", Answered(1), b"GET {path} HTTP/1.1\r\nHost: {host}\r\nX-A: \xff\xfe\r\n\r\n"),
    ("an empty value", "RFC 9110 §5.5", Answered(1), b"GET {path} HTTP/1.1\r\nHost: {host}\r\nX-A:\r\n\r\n"),
    ("spaces around a value", "RFC 9112 §5", Answered(1), b"GET {path} HTTP/1.1\r\nHost: {host}\r\nX-A: \t b \t \r\n\r\n"),
    ("an offer of h2c", "RFC 9113 §3.1", Answered(1), b"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n"),
    ("a WebSocket handshake without a key", "RFC 6455 §4.2.1", OneRequest, b"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n"),
];
