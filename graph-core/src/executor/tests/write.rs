//! JSON serialization compared with `serde_json`.

use juniper::{InputValue, ToInputValue as _};
use proptest::prelude::*;

use super::{Key, escapes_in, float, input_value, integer, needs_escape, string};

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    // existing bytes must stay
    let mut out = b"before".to_vec();
    write(&mut out);
    String::from_utf8(out)
        .unwrap()
        .strip_prefix("before")
        .unwrap()
        .to_owned()
}

fn check_string(text: &str) {
    let expected = serde_json::to_string(text).unwrap();
    assert_eq!(written(|out| string(text, out)), expected);
}

#[test]
fn every_byte_of_a_string_is_written_as_by_serde_json() {
    // lengths around the blocks of eight bytes
    for length in 0..=24 {
        for place in 0..length {
            for byte in 0..0x80_u8 {
                let mut bytes = vec![b'a'; length];
                bytes[place] = byte;
                check_string(std::str::from_utf8(&bytes).unwrap());
            }
        }
    }
}

#[test]
fn a_byte_is_found_among_eight_whatever_the_others_are() {
    for byte in 0..=u8::MAX {
        let escapes = byte < 0x20 || byte == b'"' || byte == b'\\';
        for others in [0x20, 0x21, 0x23, 0x5b, 0x5d, 0x7f, 0x80, 0xff] {
            for place in 0..8 {
                let mut word = [others; 8];
                word[place] = byte;
                assert_eq!(escapes_in(u64::from_le_bytes(word)) != 0, escapes, "{word:x?}");
                assert_eq!(needs_escape(&word), escapes, "{word:x?}");
            }
        }
    }
}

#[test]
fn integers_are_written_to_the_ends_of_their_range() {
    let powers = (0..=9).map(|power| 10_i32.pow(power));
    let near = powers.flat_map(|power| [power - 1, power, power + 1, -power, 1 - power]);
    for value in near.chain([i32::MIN, i32::MIN + 1, i32::MAX, i32::MAX - 1]) {
        assert_eq!(written(|out| integer(value, out)), value.to_string());
    }
}

#[test]
fn what_is_no_number_of_json_is_not_written() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(written(|out| assert!(!float(value, out))), "");
    }
}

proptest! {
    #[test]
    fn a_string_is_written_as_by_serde_json(text in any::<String>(), hard in "[\\x00-\\x7f\u{80}-\u{9f}\u{2028}é日🦀]{0,40}") {
        check_string(&text);
        check_string(&hard);
    }

    #[test]
    fn a_number_is_written_as_by_serde_json(whole in any::<i32>(), bits in any::<u64>()) {
        prop_assert_eq!(written(|out| integer(whole, out)), whole.to_string());
        let number = f64::from_bits(bits);
        if number.is_finite() {
            let expected = serde_json::to_string(&number).unwrap();
            prop_assert_eq!(written(|out| assert!(float(number, out))), expected);
        }
    }

    #[test]
    fn a_key_is_written_with_its_comma_however_long(name in "[_A-Za-z][_0-9A-Za-z]{0,40}", value in "[0-9]{0,8}") {
        let key = Key::with_value(&name, value.as_bytes());
        prop_assert_eq!(written(|out| key.write(out)), format!(",\"{name}\":{value}"));
        prop_assert_eq!(key.heap() > 0, name.len() + value.len() + 4 > 24);
    }

    #[test]
    fn a_value_of_juniper_is_written_as_by_serde_json(value in values()) {
        let expected = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(written(|out| assert!(input_value(&value, out))), expected);
    }
}

fn values() -> impl Strategy<Value = InputValue> {
    let leaf = prop_oneof![
        Just(InputValue::null()),
        any::<i32>().prop_map(|value| value.to_input_value()),
        any::<bool>().prop_map(|value| value.to_input_value()),
        (-1e9..1e9).prop_map(|value: f64| value.to_input_value()),
        any::<String>().prop_map(|value| value.to_input_value()),
        "[A-Z]{1,5}".prop_map(InputValue::enum_value),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(InputValue::list),
            prop::collection::btree_map("[a-z]{1,4}", inner, 0..4)
                .prop_map(|fields| InputValue::object(fields.into_iter().collect())),
        ]
    })
}
