//! Attacks on the reader of JSON content.

use std::{cell::Cell, fmt::Write as _};

use http_conventions::{
    content::{Faults, InvalidContent, JsonReader},
    errors::ProblemBase,
};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::{Value, json};

thread_local! {
    static READS: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    READS.with(|reads| reads.set(reads.get() + 1));
}

/// Counts how often it is read, and refuses every value.
struct Counted;

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        count();
        let _number = u8::deserialize(source)?;
        Err(serde::de::Error::custom("refused"))
    }
}

/// Accepts an 8-bit number, and counts how often it is read.
struct Number;

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        count();
        u8::deserialize(source).map(|_| Self)
    }
}

fn faults<T: DeserializeOwned>(content: &Value) -> (Faults, usize) {
    READS.with(|reads| reads.set(0));
    let faults = JsonReader::new().read_value::<T>(content).err().unwrap();
    (faults, READS.with(Cell::get))
}

/// H28: a hundred thousand faulty members end in 32 faults, and each value is read a few times.
#[test]
fn many_faulty_members_cost_little() {
    const MANY: usize = 100_000;
    let wrong_types: Value = std::iter::repeat_n(json!("x"), MANY).collect();
    let (reported, reads) = faults::<Vec<Number>>(&wrong_types);
    assert_eq!((reported.all().len(), reported.is_complete()), (32, false));
    assert_eq!(reads, 1 + 33);

    // the fault is at the end, and is repaired several times
    let mut last = vec![json!(1); MANY];
    last.push(json!(300));
    let (reported, reads) = faults::<Vec<Number>>(&Value::Array(last));
    assert_eq!(reported.all()[0].pointer(), "/100000");
    assert_eq!(reads, 2 * (MANY + 1), "two runs");

    let refused: Value = std::iter::repeat_n(json!(1), MANY).collect();
    let (reported, reads) = faults::<Vec<Counted>>(&refused);
    assert_eq!((reported.all().len(), reported.is_complete()), (32, false));
    assert!(reads <= 9 * MANY, "{reads}");

    let unknown: Value = (0..MANY).map(|index| (format!("x{index}"), json!(1))).collect();
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Empty {}
    let (reported, _) = faults::<Empty>(&unknown);
    assert_eq!((reported.all().len(), reported.is_complete()), (32, false));
}

/// H28: all runs together visit each value at most eight times, wherever the faults are.
#[test]
fn work_is_linear_in_the_content() {
    #[derive(Deserialize)]
    #[expect(dead_code, reason = "read only")]
    struct Late {
        numbers: Vec<Number>,
        z0: Counted,
        z1: Counted,
        z2: Counted,
    }
    let numbers: Value = std::iter::repeat_n(json!(1), 50_000).collect();
    let content = json!({"numbers": numbers, "z0": 1, "z1": 1, "z2": 1});
    let (reported, reads) = faults::<Late>(&content);
    assert!(!reported.is_complete());
    assert!(reads <= 9 * 50_000, "{reads}");
}

/// H28: exactly 32 faults are complete, and one more is not.
#[test]
fn reached_limit_of_faults_is_reported() {
    for (count, is_complete) in [(32, true), (33, false)] {
        let content: Value = std::iter::repeat_n(json!(300), count).collect();
        let (reported, _) = faults::<Vec<Number>>(&content);
        assert_eq!((reported.all().len(), reported.is_complete()), (32, is_complete));
    }
}

/// H28: an answer stays small, although names of members are as long as the content.
#[test]
fn long_names_are_not_echoed() {
    #[derive(Deserialize)]
    #[expect(dead_code, reason = "read only")]
    struct Outer {
        inner: std::collections::BTreeMap<String, u8>,
    }
    let mut content = "{\"inner\":{".to_owned();
    for index in 0..20 {
        let separator = if index == 0 { "" } else { "," };
        write!(content, "{separator}\"{}{index}\":\"x\"", "n".repeat(50_000)).unwrap();
    }
    content.push_str("}}");
    let refused = JsonReader::new().read_bytes::<Outer>(content.as_bytes());
    let Err(InvalidContent::Faulty(reported)) = refused else {
        panic!("it is read")
    };
    let problem = reported.problem(&ProblemBase::new("https://api.example.com/problems/").unwrap());
    assert!(problem.to_bytes().len() < 4096);
    let written: Value = serde_json::from_slice(&problem.to_bytes()).unwrap();
    assert_eq!(written["errors"][0]["pointer"], "/inner");
}

/// H28: a recursive type has no endless stand-in.
#[test]
fn recursive_types_end() {
    #[derive(Deserialize)]
    #[expect(dead_code, reason = "read only")]
    enum Term {
        Sum(Box<Self>, Box<Self>),
        Negated { of: Box<Self> },
        Number(u8),
    }
    #[derive(Deserialize)]
    #[expect(dead_code, reason = "read only")]
    struct Formula {
        term: Term,
        name: String,
    }
    let (reported, _) = faults::<Formula>(&json!({"term": 7}));
    let pointers: Vec<_> = reported.all().iter().map(|fault| fault.pointer()).collect();
    assert_eq!(pointers, ["/term", "/name"]);
}

/// H28: a value that a name of Rust or JavaScript could shadow is a plain member.
#[test]
fn special_names_are_plain_members() {
    type Map = std::collections::BTreeMap<String, u8>;
    let content = br#"{"__proto__": 1, "constructor": 2, "": 3, "$serde_json::private::Number": 4}"#;
    let read = JsonReader::new().read_bytes::<Map>(content).unwrap();
    assert_eq!(read.len(), 4);
    assert_eq!(read["$serde_json::private::Number"], 4);
}
