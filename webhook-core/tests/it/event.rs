//! Envelopes, ids, types and versions.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use host_ports::testing::SeededEntropy;
use proptest::prelude::*;
use webhook_core::event::{Envelope, EventId, EventType, EventVersion, Timestamp};

fn envelope(object: &str) -> Result<Envelope, impl std::fmt::Debug> {
    let created = SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_999);
    Envelope::new(
        "evt_1".parse().unwrap(),
        "charge.created".parse().unwrap(),
        "1".parse().unwrap(),
        created,
        object.as_bytes(),
    )
}

/// W1: the envelope has id, type, version, created in whole seconds, and data.object unchanged.
#[test]
fn an_envelope_is_written_once_with_the_object_as_it_was_given() {
    let object = "{ \"amount\":1.50, \"amount\":1e2,\t\"note\":\"\\u00e9\" }";
    let envelope = envelope(object).unwrap();
    let expected = format!(
        r#"{{"id":"evt_1","type":"charge.created","version":"1","created":1700000000,"data":{{"object":{object}}}}}"#
    );
    assert_eq!(envelope.bytes(), expected.as_bytes());
    assert_eq!(envelope.object(), object.as_bytes());
    assert_eq!(
        envelope.created(),
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
    );
}

/// W1: data.object is an object.
#[test]
fn object_must_be_a_json_object() {
    for object in [
        "",
        "null",
        "[]",
        "1",
        "\"{}\"",
        "{",
        "{} {}",
        "{}x",
        "{'a':1}",
        "\u{feff}{}",
        "{\"a\":1,}",
    ] {
        assert!(envelope(object).is_err(), "{object}");
    }
    assert_eq!(envelope(" {}\n").unwrap().object(), "{}");
}

/// W1: received bytes stay unchanged, with their white space, order and unknown members.
#[test]
fn a_parsed_envelope_keeps_its_exact_bytes() {
    let text = "\r\n{ \"data\": { \"extra\": 1, \"object\": {\"b\":1, \"a\":2} },\"created\":0,\"type\":\"a.b\", \"x\":[[]], \"id\":\"evt_\\u0031\" }\n";
    let envelope = Envelope::parse(Bytes::from(text)).unwrap();
    assert_eq!(envelope.bytes(), text);
    assert_eq!(envelope.object(), "{\"b\":1, \"a\":2}");
    assert_eq!(
        (envelope.id().as_str(), envelope.event_type().as_str()),
        ("evt_1", "a.b")
    );
    assert_eq!(
        (envelope.version(), envelope.created()),
        (None, SystemTime::UNIX_EPOCH)
    );
    assert_eq!(envelope.into_bytes(), text);
}

/// W1: an envelope with a missing, repeated or mistyped member is refused.
#[test]
fn invalid_envelope_is_refused() {
    let whole = r#"{"id":"evt_1","type":"a.b","version":"1","created":1,"data":{"object":{}}}"#;
    assert!(Envelope::parse(Bytes::from(whole)).is_ok());
    let replaced = [
        (r#""id":"evt_1","#, ""),
        (r#""id":"evt_1""#, r#""id":"evt.1""#),
        (r#""id":"evt_1""#, r#""id":"""#),
        (r#""id":"evt_1""#, r#""id":1"#),
        (r#""id":"evt_1""#, r#""id":"evt_1","id":"evt_1""#),
        (r#""type":"a.b","#, ""),
        ("a.b", "A.b"),
        ("a.b", "a..b"),
        (r#""version":"1""#, r#""version":1"#),
        (r#""version":"1""#, r#""version":"""#),
        (r#""created":1"#, r#""created":-1"#),
        (r#""created":1"#, r#""created":1.5"#),
        (r#""created":1"#, r#""created":"1""#),
        (r#""created":1"#, r#""created":18446744073709551615"#),
        (r#""created":1,"#, ""),
        (r#"{"object":{}}"#, "{}"),
        (r#"{"object":{}}"#, "null"),
        (r#"{"object":{}}"#, r#"{"object":[]}"#),
        (r#"{"object":{}}"#, r#"{"object":{},"object":{}}"#),
        (r#"{"object":{}}"#, r#"[{}]"#),
        ("}}}", "}}"),
        ("}}}", "}}}}"),
    ];
    for (from, to) in replaced {
        let text = whole.replacen(from, to, 1);
        assert!(Envelope::parse(Bytes::from(text.clone())).is_err(), "{text}");
    }
    assert!(Envelope::parse(Bytes::from(r#"["evt_1","a.b","1",1,{"object":{}}]"#)).is_err());
    assert!(Envelope::parse(Bytes::from(vec![b'['; 1_000_000])).is_err());
    let deep = format!(
        r#"{{"object":{}{{}}{}}}"#,
        r#"{"a":"#.repeat(100_000),
        "}".repeat(100_000)
    );
    drop(Envelope::parse(Bytes::from(
        whole.replace(r#"{"object":{}}"#, &deep),
    )));
}

/// W1: ids are 1 to 256 visible characters without a dot.
#[test]
fn ids_follow_their_grammar() {
    for byte in 0..=255_u8 {
        let text = String::from_utf8_lossy(&[b'e', byte]).into_owned();
        assert_eq!(
            text.parse::<EventId>().is_ok(),
            byte.is_ascii_graphic() && byte != b'.',
            "{byte}"
        );
    }
    for length in [0, 1, 256, 257] {
        assert_eq!(
            "e".repeat(length).parse::<EventId>().is_ok(),
            (1..=256).contains(&length),
            "{length}"
        );
        assert_eq!(
            EventId::try_from("e".repeat(length)).is_ok(),
            (1..=256).contains(&length),
            "{length}"
        );
    }
}

/// W1: a generated id begins with `evt_`, has no dot, and is different each time.
#[test]
fn fresh_ids_are_distinct_and_valid() {
    let entropy = SeededEntropy::new(1);
    let (one, other) = (EventId::generate(&entropy), EventId::generate(&entropy));
    assert_ne!(one, other);
    for id in [one, other] {
        assert!(id.as_str().starts_with("evt_") && id.as_str().len() == 36);
        assert_eq!(id.as_str().parse::<EventId>().unwrap(), id);
    }
}

/// W1: event types are lowercase words joined by dots.
#[test]
fn event_types_are_dotted_lowercase_words() {
    for text in [
        "ping",
        "charge.created",
        "a.b.c.d",
        "invoice.payment_failed",
        "v2.charge",
        &"a".repeat(128),
    ] {
        assert!(text.parse::<EventType>().is_ok(), "{text}");
    }
    for text in [
        "",
        ".",
        "a.",
        ".a",
        "a..b",
        "Charge",
        "a b",
        "a-b",
        "a/b",
        "é",
        "a.b\n",
        &"a".repeat(129),
    ] {
        assert!(text.parse::<EventType>().is_err(), "{text}");
    }
}

/// W1: versions are short visible texts.
#[test]
fn event_versions_are_short_visible_texts() {
    for (text, expected) in [
        ("1", true),
        ("2026-11-21", true),
        (&*"v".repeat(64), true),
        ("", false),
        ("1 2", false),
        (&*"v".repeat(65), false),
    ] {
        assert_eq!(text.parse::<EventVersion>().is_ok(), expected, "{text}");
    }
}

#[test]
fn words_keep_their_grammar_through_serde() {
    assert_eq!(
        serde_json::to_string(&"evt_1".parse::<EventId>().unwrap()).unwrap(),
        "\"evt_1\""
    );
    assert!(serde_json::from_str::<EventId>("\"evt.1\"").is_err());
    assert!(serde_json::from_str::<EventType>("\"A\"").is_err());
    assert!(serde_json::from_str::<EventVersion>("\"\"").is_err());
}

proptest! {
    /// W1: every envelope is parsed as it was written.
    #[test]
    fn an_envelope_reads_back_as_it_was_written(id in "[!-\\-/-~]{1,256}", kind in "[a-z0-9_]{1,9}(\\.[a-z0-9_]{1,9}){0,5}", version in "[!-~]{1,64}", seconds in 0..=999_999_999_999_u64, text: String) {
        let object = serde_json::json!({ "text": text }).to_string();
        let created = SystemTime::from(Timestamp::from_seconds(seconds).unwrap());
        let written = Envelope::new(id.parse().unwrap(), kind.parse().unwrap(), version.parse().unwrap(), created, object.as_bytes()).unwrap();
        let read = Envelope::parse(written.bytes().clone()).unwrap();
        prop_assert_eq!(read.id().as_str(), id);
        prop_assert_eq!(read.event_type().as_str(), kind);
        prop_assert_eq!(read.version().unwrap().as_str(), version);
        prop_assert_eq!(read.created(), created);
        prop_assert_eq!(read.object(), object.as_bytes());
    }

    /// W1: no bytes cause a panic of the parser.
    #[test]
    fn no_bytes_make_the_parser_panic(bytes in prop_oneof![any::<Vec<u8>>(), "[{}\\[\\]:,\"a-z0-9 \\\\]{0,64}".prop_map(String::into_bytes)]) {
        prop_assert!(Envelope::parse(Bytes::from(bytes)).is_err());
    }

    /// W5: a timestamp has one canonical form.
    #[test]
    fn a_timestamp_reads_back_only_as_it_is_written(text in "[+-]?[0-9]{0,14}[ .a]?") {
        if let Ok(timestamp) = text.parse::<Timestamp>() {
            prop_assert_eq!(timestamp.to_string(), text);
        }
    }
}
