//! The attacks.

use super::Expected::{Answered, Closed, RefusedAndClosed};
use super::Manner::{AtOnce, Dripping, HalfClosed, Unread};
use super::bodies::{CHUNKS, CODINGS, EXPECTATIONS, LENGTHS, PIPELINES, SMUGGLING};
use super::heads::{FIELDS, HOSTS, REQUEST_LINES, TARGETS};
use super::{Attack, Expected, Manner};

pub(super) const SYNTAX: &[u16] = &[400];
const LONG_TARGET: &[u16] = &[400, 414, 431];
const LARGE_FIELDS: &[u16] = &[400, 431];

/// All attacks.
#[must_use]
pub fn all() -> Vec<Attack> {
    let written = [
        REQUEST_LINES,
        TARGETS,
        HOSTS,
        FIELDS,
        LENGTHS,
        CODINGS,
        CHUNKS,
        SMUGGLING,
        PIPELINES,
        EXPECTATIONS,
    ];
    let written = written
        .concat()
        .into_iter()
        .map(|(name, section, expected, sends)| Attack {
            name,
            section,
            sends: sends.to_vec(),
            manner: AtOnce,
            expected,
        });
    written
        .chain(half_closed())
        .chain(large_heads())
        .chain(large_bodies())
        .chain(slow())
        .collect()
}

/// Name, section, expected behaviour, bytes.
pub(super) type Row = (&'static str, &'static str, Expected, &'static [u8]);

/// Requests of clients that close their sending half ([RFC 9112
/// §9.6](https://www.rfc-editor.org/rfc/rfc9112#section-9.6)).
fn half_closed() -> impl Iterator<Item = Attack> {
    let post =
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n";
    let rows = [
        ("a half-closed GET", Answered(1), GET.to_owned()),
        ("a half-closed POST", Answered(1), format!("{post}hi")),
        ("three half-closed requests", Answered(3), GET.repeat(3)),
        (
            "a head cut by a half-close",
            RefusedAndClosed(SYNTAX),
            "GET {path} HTTP/1.1\r\nHos".to_owned(),
        ),
        (
            "a body cut by a half-close",
            RefusedAndClosed(SYNTAX),
            format!("{post}h"),
        ),
        (
            "a half-closed connection without a request",
            Closed,
            String::new(),
        ),
    ];
    let section = "RFC 9112 §9.6";
    rows.map(|(name, expected, sends)| attack(name, section, (HalfClosed, expected), sends))
        .into_iter()
}

/// Heads that are too large, large heads that are valid, and many requests at once.
fn large_heads() -> impl Iterator<Item = Attack> {
    let head = "GET {path} HTTP/1.1\r\nHost: {host}\r\n";
    let lines = |count: usize| format!("{head}{}\r\n", "X-A: b\r\n".repeat(count));
    let x = "x".repeat(200_000);
    let rows = [
        (
            "a target of 200 kB",
            "RFC 9110 §15.5.15",
            RefusedAndClosed(LONG_TARGET),
            format!("GET /{x} HTTP/1.1\r\nHost: {{host}}\r\n\r\n"),
        ),
        (
            "a method of 200 kB",
            "RFC 9112 §3",
            RefusedAndClosed(&[400, 414, 431, 501]),
            format!("{x} / HTTP/1.1\r\nHost: {{host}}\r\n\r\n"),
        ),
        (
            "a field of 200 kB",
            "RFC 6585 §5",
            RefusedAndClosed(LARGE_FIELDS),
            format!("{head}X-A: {x}\r\n\r\n"),
        ),
        (
            "a field name of 200 kB",
            "RFC 6585 §5",
            RefusedAndClosed(LARGE_FIELDS),
            format!("{head}{x}: b\r\n\r\n"),
        ),
        (
            "300 fields",
            "RFC 6585 §5",
            RefusedAndClosed(LARGE_FIELDS),
            lines(300),
        ),
        (
            "10,000 fields",
            "RFC 6585 §5",
            RefusedAndClosed(LARGE_FIELDS),
            lines(10_000),
        ),
        ("90 fields", "RFC 6585 §5", Answered(1), lines(90)),
        (
            "40 requests at once",
            "RFC 9112 §9.3.2",
            Answered(40),
            format!("{head}\r\n").repeat(40),
        ),
    ];
    rows.map(|(name, section, expected, sends)| attack(name, section, (AtOnce, expected), sends))
        .into_iter()
}

/// Chunked bodies with large parts beside their content.
fn large_bodies() -> impl Iterator<Item = Attack> {
    let chunked = "POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n";
    let x = "x".repeat(200_000);
    let rows = [
        (
            "a chunk extension of 200 kB",
            "RFC 9112 §7.1.1",
            RefusedAndClosed(&[400, 413]),
            format!("{chunked}2;{x}\r\nhi\r\n0\r\n\r\n"),
        ),
        (
            "a trailer of 200 kB",
            "RFC 9112 §7.1.2",
            RefusedAndClosed(&[400, 413, 431]),
            format!("{chunked}0\r\nX-A: {x}\r\n\r\n"),
        ),
    ];
    rows.map(|(name, section, expected, sends)| attack(name, section, (AtOnce, expected), sends))
        .into_iter()
}

const GET: &str = "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n";
const HALF_A_HEAD: &str = "GET {path} HTTP/1.1\r\nHost: {host}\r\nX-A: ";
/// A whole request, and half the head of the next one.
const HALF_A_SECOND_HEAD: &str =
    "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\nGET {path} HTTP/1.1\r\nHost: {host}\r\nX-A: ";
const HALF_A_BODY: &str =
    "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nContent-Length: 999\r\n\r\nx";
const HALF_A_CHUNK: &str = "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n3e7\r\nx";

/// Clients that are slow, idle or read nothing. The server must close the connection.
fn slow() -> impl Iterator<Item = Attack> {
    let late = "RFC 9110 §15.5.9";
    let idle = "RFC 9112 §9.5";
    let drip = Dripping(b'x');
    let rows = [
        ("a client that sends nothing", late, AtOnce, ""),
        ("a client that sends half a head", late, AtOnce, HALF_A_HEAD),
        ("a client that sends half a body", late, AtOnce, HALF_A_BODY),
        ("a client that stops in a chunk", late, AtOnce, HALF_A_CHUNK),
        ("a dripping head", late, drip, HALF_A_HEAD),
        ("a dripping body", late, drip, HALF_A_BODY),
        ("a dripping chunk", late, drip, HALF_A_CHUNK),
        ("half a second head", late, AtOnce, HALF_A_SECOND_HEAD),
        ("a dripping second head", late, drip, HALF_A_SECOND_HEAD),
        (
            "dripping empty lines after a response",
            late,
            Dripping(b'\n'),
            GET,
        ),
        ("dripping empty lines", late, Dripping(b'\n'), "\r\n"),
        ("a client that is idle after a response", idle, AtOnce, GET),
        ("a client that reads nothing", idle, Unread, GET),
    ];
    rows.into_iter()
        .map(|(name, section, manner, sends)| attack(name, section, (manner, Closed), sends.to_owned()))
}

fn attack(
    name: &'static str,
    section: &'static str,
    (manner, expected): (Manner, Expected),
    sends: String,
) -> Attack {
    Attack {
        name,
        section,
        sends: sends.into_bytes(),
        manner,
        expected,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn attack_names_are_unique() {
        let names: HashSet<_> = all().iter().map(|attack| attack.name).collect();
        assert_eq!(names.len(), all().len());
        assert!(names.len() >= 120, "{}", names.len());
    }
}
