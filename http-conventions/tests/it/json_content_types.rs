//! JSON content of types that check themselves, and of types that serde buffers.

use std::collections::HashMap;

use http_conventions::{content::JsonReader, errors::ProblemBase};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::json_content::{check, faults};

#[derive(Debug, Deserialize, PartialEq)]
#[serde(try_from = "String")]
struct Currency(String);

impl TryFrom<String> for Currency {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase()) {
            true => Ok(Self(text)),
            false => Err(format!("bad currency {text} in table currencies_v2")),
        }
    }
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(try_from = "u8")]
struct Percent(u8);

impl TryFrom<u8> for Percent {
    type Error = &'static str;

    fn try_from(value: u8) -> Result<Self, &'static str> {
        (value <= 100).then_some(Self(value)).ok_or("must be at most 100")
    }
}

/// Refuses everything.
#[derive(Debug, PartialEq)]
struct Never;

impl<'de> Deserialize<'de> for Never {
    fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let _text = String::deserialize(source)?;
        Err(serde::de::Error::custom("never"))
    }
}

#[derive(Debug, Deserialize, PartialEq)]
struct Price {
    currency: Currency,
    #[serde(default)]
    rebate: Option<Percent>,
    amount: u32,
}

/// H28: a message of the host is shown only if the host listed it, and never with a value.
#[test]
fn messages_of_types_are_shown_if_listed() {
    let content = json!({"currency": "s3cr3t", "rebate": 101, "amount": "1"});
    let messages = |reader: JsonReader| {
        let faults = reader.read_value::<Price>(&content).unwrap_err();
        let mut all: Vec<_> = faults
            .all()
            .iter()
            .map(|fault| (fault.pointer().to_owned(), fault.detail().to_owned()))
            .collect();
        all.sort_unstable();
        all
    };
    let of = |rebate: &str| {
        let all = [
            ("/amount", "expected an integer, found a string"),
            ("/currency", "the value is not valid"),
            ("/rebate", rebate),
        ];
        all.map(|(pointer, detail)| (pointer.to_owned(), detail.to_owned()))
    };
    assert_eq!(messages(JsonReader::new()), of("the value is not valid"));
    let listed = JsonReader::new().with_messages(&["must be at most 100"]);
    assert_eq!(messages(listed), of("must be at most 100"));
}

#[derive(Debug, Deserialize)]
struct Stubborn {
    #[expect(dead_code, reason = "read only")]
    first: Option<Never>,
    #[expect(dead_code, reason = "read only")]
    list: Vec<Never>,
    #[expect(dead_code, reason = "read only")]
    count: u8,
}

/// H28: a value that accepts no stand-in is left out, so that the others are still checked. If it
/// cannot be left out, the answer says that there may be more faults.
#[test]
fn value_without_stand_in_does_not_hide_others() {
    check::<Stubborn>(
        &json!({"first": "x", "list": ["a", 7], "count": null}),
        &[
            ("/first", "invalid-value"),
            ("/list/0", "invalid-value"),
            ("/list/1", "wrong-type"),
            ("/count", "wrong-type"),
        ],
    );
    let stuck = faults::<(Never, u8)>(&json!(["x", "y"]));
    assert!(!stuck.is_complete());
    assert_eq!(stuck.all().len(), 1);
    assert_eq!(stuck.all()[0].pointer(), "/0");
    let problem = stuck.problem(&ProblemBase::new("https://api.example.com/problems/").unwrap());
    let written: Value = serde_json::from_slice(&problem.to_bytes()).unwrap();
    assert!(written["detail"].as_str().unwrap().contains("may be incomplete"));
    let root = faults::<Never>(&json!("x"));
    assert_eq!((root.all()[0].pointer(), root.is_complete()), ("", false));
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "read only")]
struct Endpoint {
    url: String,
    #[serde(flatten)]
    settings: Settings,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "read only")]
struct Settings {
    rate: Option<u32>,
    enabled: Option<bool>,
    description: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[expect(dead_code, reason = "read only")]
enum Tagged {
    Card { digits: u16, name: String },
    Cash,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "read only")]
enum Either {
    Number(u8),
    Word { word: String },
}

/// H28: serde buffers flattened and tagged types; the pointer is still that of the member if the
/// value is unique.
#[test]
fn buffered_members_have_their_pointer() {
    check::<Endpoint>(
        &json!({"url": 1, "rate": "fast", "enabled": "yes", "description": null}),
        &[
            ("/url", "wrong-type"),
            ("/rate", "wrong-type"),
            ("/enabled", "wrong-type"),
        ],
    );
    check::<Endpoint>(
        &json!({"rate": null, "enabled": 7, "description": true, "other": false}),
        &[
            ("/url", "missing"),
            ("/enabled", "wrong-type"),
            ("/description", "wrong-type"),
        ],
    );
    check::<Vec<Tagged>>(
        &json!([
            {"kind": "card", "digits": "x", "name": 5},
            {"kind": "bill"},
            {"kind": "cash"},
            {"digits": 1},
            {"kind": "card", "digits": 1},
        ]),
        &[
            ("/0/digits", "wrong-type"),
            ("/0/name", "wrong-type"),
            ("/1/kind", "unknown-value"),
            ("/3/kind", "missing"),
            ("/4/name", "missing"),
        ],
    );
    check::<Vec<Either>>(
        &json!([1, {"word": "a"}, {"word": 1}, 300, {"word": "b"}]),
        &[("/2", "invalid-value"), ("/3", "invalid-value")],
    );
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "RangeForm")]
struct Range;

#[derive(Debug, Deserialize)]
struct RangeForm {
    first: u8,
    last: u8,
}

impl TryFrom<RangeForm> for Range {
    type Error = &'static str;

    fn try_from(form: RangeForm) -> Result<Self, &'static str> {
        (form.first > 150 && form.first <= form.last)
            .then_some(Self)
            .ok_or("no range")
    }
}

/// H28: a type that checks the whole struct refuses a stand-in. The client gets no fault for that.
#[test]
fn error_caused_by_stand_in_is_no_fault() {
    let faults = faults::<Vec<Range>>(&json!([
        {"first": 151, "last": 152},
        {"first": "x", "last": 152},
        {"last": 152},
        {"first": 7, "last": 152},
        {"first": 151, "last": 300},
    ]));
    let found: Vec<_> = faults
        .all()
        .iter()
        .map(|fault| (fault.pointer(), fault.code()))
        .collect();
    assert_eq!(
        found,
        [
            ("/1/first", "wrong-type"),
            ("/2/first", "missing"),
            ("/3", "invalid-value"),
            ("/4/last", "out-of-range"),
        ]
    );
    assert!(!faults.is_complete());
}

/// A code of three letters in lower case.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct LowerCode;

impl TryFrom<String> for LowerCode {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let fits = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_lowercase());
        fits.then_some(Self).ok_or("no code")
    }
}

/// H28: codes in upper and lower case have stand-ins, so that the list of faults is complete.
#[test]
fn missing_codes_leave_the_list_complete() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "read only")]
    struct Codes {
        lower: LowerCode,
        upper: Currency,
        rate: u8,
    }
    let faults = faults::<Codes>(&json!({"rate": "x"}));
    let pointers: Vec<_> = faults.all().iter().map(|fault| fault.pointer()).collect();
    assert_eq!(pointers, ["/rate", "/lower", "/upper"]);
    assert!(faults.is_complete());
}

/// Reads a number, and ignores its error.
fn lenient<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Option<u8>, D::Error> {
    Ok(u8::deserialize(source).ok())
}

/// H28: content is valid if its type accepts it, although the type ignores an error.
#[test]
fn type_may_ignore_an_error() {
    #[derive(Debug, Deserialize, PartialEq)]
    struct Lenient {
        #[serde(deserialize_with = "lenient")]
        rate: Option<u8>,
        name: String,
    }
    let read = JsonReader::new().read_value::<Lenient>(&json!({"rate": "fast", "name": "a"}));
    let expected = Lenient {
        rate: None,
        name: "a".to_owned(),
    };
    assert_eq!(read, Ok(expected));
}

/// H28: names of members are read as numbers where the map has such keys.
#[test]
fn names_are_read_as_keys() {
    type Map = HashMap<u8, HashMap<bool, u8>>;
    let read = JsonReader::new().read_value::<Map>(&json!({"1": {"true": 1}}));
    assert_eq!(read.unwrap()[&1][&true], 1);
    check::<Map>(
        &json!({"x": {}, "300": {}, "1": {"yes": 1, "true": "x"}, " 2": {}, "+3": {}, "04": {}}),
        &[
            ("/x", "wrong-type"),
            ("/300", "invalid-value"),
            ("/1/yes", "wrong-type"),
            ("/1/true", "wrong-type"),
            ("/ 2", "wrong-type"),
            ("/+3", "wrong-type"),
            ("/04", "wrong-type"),
        ],
    );
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "read only")]
struct Renamed {
    #[serde(alias = "colour")]
    color: String,
}

/// H28: the same member under two names is a fault of the later one.
#[test]
fn member_under_two_names_is_refused() {
    check::<Renamed>(
        &json!({"color": "a", "colour": "b"}),
        &[("/colour", "duplicate-member")],
    );
}
