//! Trace context is continued or begun by the grammar of the W3C, and `Server-Timing` is written.

use std::{num::NonZeroU32, time::Duration};

use host_ports::testing::SeededEntropy;
use http::{HeaderMap, HeaderName, HeaderValue};
use http_conventions::{
    ports::entropy_fn,
    tracing::{InvalidMetric, Sampling, ServerTiming, TRACEPARENT, TRACESTATE, TraceContext, TracePosition},
};
use proptest::prelude::*;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn headers(lines: &[(HeaderName, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    headers
}

fn adopt(lines: &[(HeaderName, &str)]) -> TraceContext {
    TraceContext::adopt_or_begin(&headers(lines), &SeededEntropy::new(7), Sampling::NEVER)
}

/// `tracestate` of an outbound request, after a request with these lines.
fn state(lines: &[&str]) -> Option<String> {
    let lines = lines.iter().map(|line| (TRACESTATE, *line));
    let lines: Vec<_> = [(TRACEPARENT, SENT)].into_iter().chain(lines).collect();
    let mut outbound = HeaderMap::new();
    adopt(&lines).apply(&mut outbound);
    let state = outbound.get(TRACESTATE)?;
    Some(state.to_str().unwrap().to_owned())
}

/// H31: the trace of the caller is continued: same trace and flags, a new span.
#[test]
fn valid_trace_is_continued() {
    let context = adopt(&[(TRACEPARENT, SENT)]);
    assert_eq!(context.trace_id().to_string(), TRACE);
    assert!(context.is_sampled());
    assert_eq!(context.parent(), Some(SENT.parse().unwrap()));
    assert_eq!(context.link(), None);
    let mut outbound = headers(&[
        (TRACEPARENT, "left over"),
        (TRACESTATE, "left=over"),
        (TRACESTATE, "a=b"),
    ]);
    context.apply(&mut outbound);
    let lines: Vec<_> = outbound.iter().map(|(name, _)| name).collect();
    assert_eq!(lines, [TRACEPARENT], "the caller sent no state");
    let sent: TracePosition = outbound[TRACEPARENT].to_str().unwrap().parse().unwrap();
    assert_eq!(sent, context.position());
    assert_eq!(sent.trace_id(), context.trace_id());
    assert_ne!(sent.span_id(), context.parent().unwrap().span_id());
}

/// H31: `traceparent` is parsed by the grammar; flags that are not known are dropped.
#[test]
fn traceparent_has_the_grammar_of_the_w3c() {
    const IDS: &str = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331";
    for (sent, expected) in [
        ("00-IDS-00", Some("00-IDS-00")),
        ("00-IDS-01", Some("00-IDS-01")),
        ("00-IDS-02", Some("00-IDS-02")),
        ("00-IDS-ff", Some("00-IDS-03")),
        // fields of later versions are ignored
        ("01-IDS-03", Some("00-IDS-01")),
        ("cc-IDS-01-what-the-future-will-be-like", Some("00-IDS-01")),
        ("fe-IDS-00-", Some("00-IDS-00")),
        ("cc-IDS-01.what-the-future", None),
        ("cc-IDS-0", None),
        ("00-IDS-01-", None),
        ("00-IDS-01-more", None),
        ("ff-IDS-01", None),
        ("0-IDS-01", None),
        ("000-IDS-01", None),
        ("0A-IDS-01", None),
        ("00-IDS-0A", None),
        ("00-IDS-1", None),
        ("00-IDS-001", None),
        ("00-IDS", None),
        ("00_IDS_01", None),
        (" 00-IDS-01", None),
        ("00-IDS-01,00-IDS-01", None),
        ("", None),
        ("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", None),
        ("00-0af7651916cd43dd8448eb211c80319c-B7AD6B7169203331-01", None),
        ("00-00000000000000000000000000000000-b7ad6b7169203331-01", None),
        ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", None),
        ("00-0af7651916cd43dd8448eb211c80319-cb7ad6b7169203331-01", None),
        ("00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01", None),
        ("00-0af7651916cd43dd8448eb211c8031é-b7ad6b7169203331-01", None),
    ] {
        let sent = sent.replace("IDS", IDS);
        let expected = expected.map(|expected| expected.replace("IDS", IDS));
        let parsed = TracePosition::parse(sent.as_bytes()).ok();
        assert_eq!(parsed.map(|parsed| parsed.to_string()), expected, "{sent}");
        let context = adopt(&[(TRACEPARENT, &sent)]);
        assert_eq!(context.parent(), parsed, "{sent}");
        assert_eq!(
            context.trace_id().to_string() == TRACE,
            parsed.is_some(),
            "{sent}"
        );
    }
}

/// H31: several lines of `traceparent` begin a new trace, equal ones too.
#[test]
fn several_traceparents_begin_a_trace() {
    let other = SENT.replace("0af7", "1af7");
    for second in [SENT, &other] {
        let sent = [(TRACEPARENT, SENT), (TRACEPARENT, second), (TRACESTATE, "a=b")];
        let context = adopt(&sent);
        assert_ne!(context.trace_id().to_string(), TRACE);
        assert_eq!((context.parent(), context.link()), (None, None));
        let mut outbound = HeaderMap::new();
        context.apply(&mut outbound);
        assert!(!outbound.contains_key(TRACESTATE), "the state of no trace");
    }
}

/// H31: a valid `tracestate` is passed on unchanged; its lines are joined.
#[test]
fn valid_state_is_passed_on() {
    let full = (0..32).map(|n| format!("k{n}=v")).collect::<Vec<_>>().join(",");
    let key = "k".repeat(256);
    let longest = format!("{key}={}", "v".repeat(255));
    for (sent, expected) in [
        (
            &["rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"][..],
            "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
        ),
        (&["a=1", "b=2"], "a=1,b=2"),
        (&["a=1 \t,  b=2", ",,c=3,"], "a=1,b=2,c=3"),
        (&["a=1", ""], "a=1"),
        (&["0a/b_c-d*e@f@=1"], "0a/b_c-d*e@f@=1"),
        (&["a= 1 2"], "a= 1 2"),
        (&["a=1,a=2"], "a=1,a=2"),
        (&[&full], &full),
        (&[&longest], &longest),
    ] {
        assert_eq!(state(sent).as_deref(), Some(expected), "{sent:?}");
    }
}

/// H31: an invalid `tracestate` is dropped as a whole, and the trace is continued.
#[test]
fn invalid_state_is_dropped() {
    let many = (0..33).map(|n| format!("k{n}=v")).collect::<Vec<_>>().join(",");
    let long_key = format!("{}=v", "k".repeat(257));
    let long_value = format!("k={}", "v".repeat(257));
    for sent in [
        "",
        ",",
        " , ",
        "a",
        "a=",
        "=1",
        "a =1",
        "A=1",
        "@a=1",
        "a=b=c",
        "a=1;b",
        "a=\u{e9}",
        "a=1\tb",
        "a=1,b",
        "a=1,B=2",
        &many,
        &long_key,
        &long_value,
    ] {
        // a semicolon is a valid character of a value
        let expected = (sent == "a=1;b").then_some(sent);
        assert_eq!(state(&[sent]).as_deref(), expected, "{sent:?}");
        assert_eq!(
            adopt(&[(TRACEPARENT, SENT), (TRACESTATE, sent)])
                .trace_id()
                .to_string(),
            TRACE
        );
    }
}

/// H31: a `tracestate` above 512 characters loses long members first, then its last ones.
#[test]
fn long_state_is_shortened() {
    let member = |key: &str, length: usize| format!("{key}={}", "v".repeat(length - key.len() - 1));
    let join = |members: &[&String]| {
        members
            .iter()
            .map(|text| text.as_str())
            .collect::<Vec<_>>()
            .join(",")
    };
    let (long, next) = (member("long", 129), member("next", 129));
    let (a, b, c, d) = (
        member("a", 128),
        member("b", 128),
        member("c", 128),
        member("d", 128),
    );
    for (sent, expected) in [
        (join(&[&a, &b, &c, &long]), join(&[&a, &b, &c])),
        (join(&[&a, &long, &b, &c]), join(&[&a, &b, &c])),
        (join(&[&long, &a, &b, &next]), join(&[&long, &a, &b])),
        (join(&[&a, &b, &c, &d]), join(&[&a, &b, &c])),
        (join(&[&long, &a, &b, &c, &d]), join(&[&a, &b, &c])),
    ] {
        assert_eq!(state(&[&sent]), Some(expected), "{sent}");
    }
    let too_long = format!("{}={}", "k".repeat(256), "v".repeat(256));
    assert_eq!(state(&[&too_long]), None, "513 characters");
}

/// H31: a trace is begun with random ids and the flag `random-trace-id`; zero is no id.
#[test]
fn missing_traceparent_begins_a_trace() {
    let context = adopt(&[(TRACESTATE, "a=b")]);
    assert_ne!(
        context,
        TraceContext::begin(&SeededEntropy::new(8), Sampling::NEVER)
    );
    assert_eq!(
        context,
        TraceContext::begin(&SeededEntropy::new(7), Sampling::NEVER)
    );
    let text = context.position().to_string();
    assert!(text.ends_with("-02"), "{text}");
    let zeros = TraceContext::begin(&entropy_fn(|bytes| bytes.fill(0)), Sampling::NEVER);
    let text = zeros.position().to_string();
    assert_eq!(text.parse(), Ok(zeros.position()));
}

/// H31: the share of recorded traces is that of the host, and callers decide for their own.
#[test]
fn sampling_decides_for_new_traces_only() {
    let entropy = SeededEntropy::new(1);
    let count = |sampling| {
        let contexts = (0..4000).map(|_| TraceContext::begin(&entropy, sampling));
        contexts.filter(TraceContext::is_sampled).count()
    };
    assert_eq!((count(Sampling::NEVER), count(Sampling::ALWAYS)), (0, 4000));
    let tenth = count(Sampling::one_in(NonZeroU32::new(10).unwrap()));
    assert!((300..=500).contains(&tenth), "{tenth}");
    assert_eq!(Sampling::one_in(NonZeroU32::MIN), Sampling::ALWAYS);
    let unsampled = headers(&[(TRACEPARENT, &SENT.replace("-01", "-00"))]);
    assert!(!TraceContext::adopt_or_begin(&unsampled, &entropy, Sampling::ALWAYS).is_sampled());
}

/// H31: an untrusted caller neither forces a recording nor joins a trace; it is linked, until the
/// host trusts it.
#[test]
fn untrusted_trace_is_linked() {
    let sent = headers(&[(TRACEPARENT, SENT), (TRACESTATE, "a=b")]);
    let mut context = TraceContext::begin_linked(&sent, &SeededEntropy::new(7), Sampling::NEVER);
    assert_ne!(context.trace_id().to_string(), TRACE);
    assert!(!context.is_sampled());
    assert_eq!(
        (context.parent(), context.link()),
        (None, Some(SENT.parse().unwrap()))
    );
    let mut outbound = HeaderMap::new();
    context.apply(&mut outbound);
    assert!(!outbound.contains_key(TRACESTATE));

    let span = context.position().span_id();
    context.adopt_link();
    assert_eq!(context.trace_id().to_string(), TRACE);
    assert!(context.is_sampled());
    assert_eq!(context.position().span_id(), span);
    context.apply(&mut outbound);
    assert_eq!(outbound[TRACESTATE], "a=b");

    let mut alone = TraceContext::begin(&SeededEntropy::new(7), Sampling::NEVER);
    let before = alone.clone();
    alone.adopt_link();
    assert_eq!(alone, before);
}

/// H31: metrics are written by the grammar, with escaped descriptions.
#[test]
fn metrics_are_written_by_their_grammar() {
    let one = |micros, description| {
        let timing = ServerTiming::new();
        timing.with_metric("db", Duration::from_micros(micros), description)
    };
    for (micros, description, expected) in [
        (0, "", "db;dur=0"),
        (53_000, "", "db;dur=53"),
        (53_200, "", "db;dur=53.2"),
        (1, "", "db;dur=0.001"),
        (3_600_000_010, "", "db;dur=3600000.01"),
        (0, "two queries", r#"db;dur=0;desc="two queries""#),
        (0, r#"a "b" \c, d;e"#, r#"db;dur=0;desc="a \"b\" \\c, d;e""#),
    ] {
        assert_eq!(one(micros, description).unwrap().as_str(), expected);
    }
    for name in ["", "a b", "a;b", "a,b", "a=b", "\"a\"", "\u{e9}", "a\r\nb"] {
        let timing = ServerTiming::new().with_metric(name, Duration::ZERO, "");
        assert_eq!(timing, Err(InvalidMetric::Name), "{name:?}");
    }
    for description in ["a\r\nset-cookie: b", "\u{e9}", "\t", "\u{7f}"] {
        assert_eq!(
            one(0, description),
            Err(InvalidMetric::Description),
            "{description:?}"
        );
    }
    let mut headers = HeaderMap::new();
    ServerTiming::new().apply(&mut headers);
    assert!(headers.is_empty());
    let longest = ServerTiming::new().with_metric("a", Duration::MAX, "").unwrap();
    assert_eq!(longest.as_str(), "a;dur=18446744073709551615999.999");
}

proptest! {
    /// H31: no value panics; an accepted one is written in version 00 and accepted again.
    #[test]
    fn any_trace_field_is_read(
        parent in "(00|0[0-9a-f]|[ -~]{2})-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}[ -~]{0,3}|[ -~]{0,60}",
        state in "([a-z@=, ]{0,9},){0,40}[ -~]{0,600}",
    ) {
        let sent = headers(&[(TRACEPARENT, &parent), (TRACESTATE, &state)]);
        let context = TraceContext::adopt_or_begin(&sent, &SeededEntropy::new(7), Sampling::ALWAYS);
        let mut outbound = HeaderMap::new();
        context.apply(&mut outbound);
        let again = TraceContext::adopt_or_begin(&outbound, &SeededEntropy::new(8), Sampling::NEVER);
        prop_assert_eq!(again.parent(), Some(context.position()));
        let mut twice = HeaderMap::new();
        again.apply(&mut twice);
        prop_assert_eq!(twice.get(TRACESTATE), outbound.get(TRACESTATE));
        prop_assert!(outbound.get(TRACESTATE).is_none_or(|state| state.len() <= 512));
    }
}
