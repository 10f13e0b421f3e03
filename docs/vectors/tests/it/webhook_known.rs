//! Signatures that the libraries and the documents of others made; the files of `webhook-core` name
//! them.

use std::{fs, path::Path};

use serde_json::Value;
use webhook_core::{
    receiver::providers,
    signature::{ed25519::SecretKey, scheme::Scheme},
};

use crate::webhook_cases::{Body, Case};

/// `timestamp-body-hex` with the text of the secret as the key.
static TIMESTAMP_BODY_HEX_UTF8: Scheme = Scheme {
    key: webhook_core::signature::scheme::KeyText::Utf8,
    ..Scheme::TIMESTAMP_BODY_HEX
};

/// `id-timestamp-body-hex` with the text of the secret as the key.
static ID_TIMESTAMP_BODY_HEX_UTF8: Scheme = Scheme {
    key: webhook_core::signature::scheme::KeyText::Utf8,
    ..Scheme::ID_TIMESTAMP_BODY_HEX
};

/// Schemes of `webhook-signatures.json`.
pub(crate) static OWN: [(&str, &Scheme); 7] = [
    ("standard-webhooks", &Scheme::STANDARD_WEBHOOKS),
    ("standard-webhooks-ed25519", &Scheme::STANDARD_WEBHOOKS_ED25519),
    ("timestamp-body-hex", &Scheme::TIMESTAMP_BODY_HEX),
    ("timestamp-body-hex-utf8", &TIMESTAMP_BODY_HEX_UTF8),
    ("id-timestamp-body-hex", &Scheme::ID_TIMESTAMP_BODY_HEX),
    ("id-timestamp-body-hex-utf8", &ID_TIMESTAMP_BODY_HEX_UTF8),
    ("stripe", providers::STRIPE.scheme()),
];

/// The scheme of this name in [`OWN`].
pub(crate) fn own(name: &str) -> (&'static str, &'static Scheme) {
    *OWN.iter().find(|(own, _)| *own == name).unwrap()
}

fn core_file(path: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../webhook-core/tests")
        .join(path);
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Signatures of `webhook-core/tests/vectors/webhook-sign.json`, each with its scheme.
pub(crate) fn signed_by_references() -> Vec<(Case, &'static Scheme)> {
    let file = core_file("vectors/webhook-sign.json");
    let vectors = file["sign"].as_array().unwrap();
    vectors.iter().map(signed_by_reference).collect()
}

fn signed_by_reference(vector: &Value) -> (Case, &'static Scheme) {
    let text = |name: &str| vector[name].as_str().unwrap().to_owned();
    let suffix = if text("key_encoding") == "utf8" {
        "-utf8"
    } else {
        ""
    };
    let (scheme, found) = match text("mode").as_str() {
        "std-v1" => own("standard-webhooks"),
        "std-v1a" => own("standard-webhooks-ed25519"),
        "hex-ts-body" => own(&format!("timestamp-body-hex{suffix}")),
        "hex-id-ts-body" => own(&format!("id-timestamp-body-hex{suffix}")),
        "stripe" => own("stripe"),
        other => panic!("unknown mode {other}"),
    };
    let key = match scheme {
        "standard-webhooks-ed25519" => SecretKey::from_whsk(&text("secret"))
            .unwrap()
            .public_key()
            .to_whpk(),
        _ => text("secret"),
    };
    let (timestamp, signature) = (vector["timestamp"].to_string(), text("signature"));
    let headers = match scheme {
        "stripe" => vec![("stripe-signature".to_owned(), signature)],
        _ => vec![
            ("webhook-id".to_owned(), text("id")),
            ("webhook-timestamp".to_owned(), timestamp),
            ("webhook-signature".to_owned(), signature),
        ],
    };
    let now = vector["timestamp"].as_u64().unwrap();
    let case = Case {
        keys: vec![key],
        headers,
        body: body(vector),
        ..Case::new(&text("name"), &source(vector), scheme, now)
    };
    (case, found)
}

/// The libraries that make the same signature, or the source that the vector states.
fn source(vector: &Value) -> String {
    let peers = vector["peers"].as_object().into_iter().flatten();
    let mut same: Vec<&str> = peers
        .filter(|(_, verdict)| *verdict == "same")
        .map(|(peer, _)| peer.as_str())
        .collect();
    // the order of members depends on the features of serde_json
    same.sort_unstable();
    match (same.as_slice(), vector["note"].as_str()) {
        ([], Some(note)) => note.to_owned(),
        ([], None) => "the algorithm, by another implementation".to_owned(),
        (same, _) => same.join(", "),
    }
}

fn body(vector: &Value) -> Body {
    match vector["body_repeat"].as_object() {
        Some(repeat) => Body::Repeated {
            byte: u8::from_str_radix(repeat["byte"].as_str().unwrap(), 16).unwrap(),
            count: usize::try_from(repeat["count"].as_u64().unwrap()).unwrap(),
        },
        None => Body::Base64(vector["body_b64"].as_str().unwrap().to_owned()),
    }
}

/// Requests of `webhook-core/tests/fixtures`, in the order of their files, each with its id if that
/// is no digest.
pub(crate) fn signed_by_providers() -> Vec<(Case, Option<String>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../webhook-core/tests/fixtures");
    let mut found = Vec::new();
    for folder in ["providers", "recipes"] {
        let entries = fs::read_dir(root.join(folder)).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".json"))
            .collect();
        names.sort_unstable();
        for name in names {
            let file = core_file(&format!("fixtures/{folder}/{name}"));
            let requests = file["requests"].as_array().unwrap().iter().enumerate();
            let label = name.trim_end_matches(".json");
            found.extend(
                requests.map(|(at, request)| captured(&file, &format!("{folder}/{label}/{at}"), request)),
            );
        }
    }
    found
}

/// The case, and its id if that is no digest.
fn captured(file: &Value, name: &str, request: &Value) -> (Case, Option<String>) {
    let provider = providers::named(file["provider"].as_str().unwrap()).unwrap();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut headers: Vec<(String, String)> = request["headers"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.clone(), text(value).unwrap()))
        .collect();
    headers.sort_unstable();
    let (source, now) = (text(&file["source"]).unwrap(), file["now"].as_u64().unwrap());
    let case = Case {
        keys: file["keys"].as_array().unwrap().iter().filter_map(text).collect(),
        url: text(&file["url"]),
        method: text(&request["method"]).unwrap(),
        query: text(&request["query"]),
        headers,
        body: request["body"].as_str().unwrap().as_bytes().into(),
        ..Case::new(name, &source, provider.name(), now)
    };
    (case, text(&request["id"]))
}
