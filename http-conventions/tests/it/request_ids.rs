//! Request ids: adopted if valid, otherwise replaced.

use host_ports::testing::SeededEntropy;
use http::{HeaderMap, HeaderValue};
use http_conventions::routing::{InvalidRequestId, RequestId, X_REQUEST_ID};

fn adopt(lines: &[&[u8]]) -> RequestId {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(X_REQUEST_ID, HeaderValue::from_bytes(line).unwrap());
    }
    RequestId::adopt(&headers, &SeededEntropy::new(1))
}

/// H5: an inbound id that matches `[A-Za-z0-9._~-]{8,128}` is adopted.
#[test]
fn an_acceptable_id_is_adopted() {
    let longest = "z".repeat(128);
    for id in ["12345678", "checkout-7f3a", "a.b_c~d-E9", &longest] {
        assert_eq!(adopt(&[id.as_bytes()]).as_str(), id);
        assert_eq!(id.parse::<RequestId>().unwrap().to_string(), id);
    }
}

/// H5: any other id is replaced by a new id of 128 random bits.
#[test]
fn an_unacceptable_id_is_replaced() {
    let too_long = "z".repeat(129);
    let refused: [&[u8]; 8] = [
        b"",
        b"1234567",
        too_long.as_bytes(),
        b"one; drop table",
        b"tab\there-it-is",
        b"caf\xe9-caf\xe9",
        b"<script>1</script>",
        b"12345678,12345678",
    ];
    for id in refused {
        let new = adopt(&[id]);
        assert_ne!(new.as_str().as_bytes(), id);
        assert_eq!(new.as_str().len(), 32);
        let text = String::from_utf8_lossy(id);
        assert_eq!(text.parse::<RequestId>(), Err(InvalidRequestId));
        assert_eq!(new.as_str().parse::<RequestId>().unwrap(), new);
    }
    assert_eq!(adopt(&[]).as_str().len(), 32);
    assert_eq!(adopt(&[b"12345678", b"12345678"]).as_str().len(), 32);
}

/// H5: only bytes of `[A-Za-z0-9._~-]` are adopted.
#[test]
fn every_other_byte_is_unacceptable() {
    for byte in 0..=u8::MAX {
        let Ok(value) = HeaderValue::from_bytes(&[b"12345678".as_slice(), &[byte]].concat()) else {
            continue;
        };
        let expected = byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~' | b'-');
        let is_adopted = adopt(&[value.as_bytes()]).as_str().as_bytes() == value.as_bytes();
        assert_eq!(is_adopted, expected, "{byte:#x}");
    }
}

/// H5: new ids differ, and come from the entropy port alone.
#[test]
fn new_ids_come_from_entropy() {
    let (one, same) = (SeededEntropy::new(7), SeededEntropy::new(7));
    let first = RequestId::generate(&one);
    assert_eq!(first, RequestId::generate(&same));
    assert_ne!(first, RequestId::generate(&one));
}

/// H5: the response carries exactly one id.
#[test]
fn an_id_replaces_what_the_response_had() {
    let mut headers = HeaderMap::new();
    headers.append(X_REQUEST_ID, HeaderValue::from_static("from-the-handler"));
    headers.append(X_REQUEST_ID, HeaderValue::from_static("from-a-proxy"));
    adopt(&[b"checkout-7f3a"]).apply(&mut headers);
    let ids: Vec<_> = headers.get_all(X_REQUEST_ID).iter().collect();
    assert_eq!(ids, ["checkout-7f3a"]);
}
