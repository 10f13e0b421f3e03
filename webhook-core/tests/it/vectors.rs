//! Signing vectors of `tests/vectors/webhook-sign.json`, computed with the reference libraries that
//! the file names.

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::HeaderMap;
use serde_json::Value;
use webhook_core::{
    event::{EventId, Timestamp},
    receiver::Verifier,
    secret::SigningSecret,
    signature::{SignatureHeaders, Signer, ed25519::SecretKey},
};

struct Vector {
    name: String,
    mode: String,
    secret: String,
    key_encoding: String,
    id: EventId,
    timestamp: Timestamp,
    body: Bytes,
    signature: String,
}

impl Vector {
    fn all() -> Vec<Self> {
        let file: Value = serde_json::from_str(include_str!("../vectors/webhook-sign.json")).unwrap();
        file["sign"].as_array().unwrap().iter().map(Self::read).collect()
    }

    fn read(vector: &Value) -> Self {
        let text = |name: &str| vector[name].as_str().unwrap().to_owned();
        let body = match vector["body_repeat"].as_object() {
            Some(repeat) => {
                let byte = u8::from_str_radix(repeat["byte"].as_str().unwrap(), 16).unwrap();
                vec![byte; usize::try_from(repeat["count"].as_u64().unwrap()).unwrap()]
            }
            None => BASE64_STANDARD.decode(text("body_b64")).unwrap(),
        };
        Self {
            name: text("name"),
            mode: text("mode"),
            secret: text("secret"),
            key_encoding: text("key_encoding"),
            id: text("id").parse().unwrap(),
            timestamp: Timestamp::from_seconds(vector["timestamp"].as_u64().unwrap()).unwrap(),
            body: body.into(),
            signature: text("signature"),
        }
    }

    fn secret(&self) -> SigningSecret {
        let secret = match self.key_encoding.as_str() {
            "whsec-base64" => SigningSecret::from_whsec(&self.secret),
            "utf8" => SigningSecret::from_utf8(&self.secret),
            other => panic!("unknown key encoding {other}"),
        };
        // two vectors have keys of 16 and 65 bytes, outside the limits of the scheme
        let outside = ["std-v1/key16", "std-v1/key65"].contains(&self.name.as_str());
        assert_eq!(secret.is_err(), outside, "{}", self.name);
        secret.unwrap_or_else(|_| {
            let bytes = BASE64_STANDARD
                .decode(self.secret.strip_prefix("whsec_").unwrap())
                .unwrap();
            SigningSecret::danger_from_bytes_of_any_length(&bytes).unwrap()
        })
    }

    /// Signer and verifier of the vector's mode.
    fn pair(&self) -> (Signer, Verifier) {
        if self.mode == "std-v1a" {
            let key = SecretKey::from_whsk(&self.secret).unwrap();
            return (Signer::ed25519(&key), Verifier::ed25519(key.public_key()));
        }
        let secret = self.secret();
        match self.mode.as_str() {
            "std-v1" => (
                Signer::standard_webhooks(&secret),
                Verifier::standard_webhooks(secret),
            ),
            "hex-id-ts-body" => (
                Signer::id_timestamp_body_hex(&secret),
                Verifier::id_timestamp_body_hex(secret),
            ),
            // Stripe signs the same text and writes it into its own header
            "hex-ts-body" | "stripe" => (
                Signer::timestamp_body_hex(&secret),
                Verifier::timestamp_body_hex(secret),
            ),
            other => panic!("unknown mode {other}"),
        }
    }

    /// The signature as a token of `Webhook-Signature`.
    fn token(&self) -> String {
        match self.signature.split_once(",v1=") {
            Some((_, stripe)) => format!("v1,{stripe}"),
            None => self.signature.clone(),
        }
    }
}

/// W3: every scheme signs as its reference library, byte for byte, also bodies that are not text.
#[test]
fn every_vector_is_signed_as_its_reference_does() {
    let vectors = Vector::all();
    assert_eq!(vectors.len(), 77);
    for vector in vectors {
        let (signer, _) = vector.pair();
        assert_eq!(
            signer.token(&vector.id, vector.timestamp, &vector.body),
            vector.token(),
            "{}",
            vector.name
        );
    }
}

/// W4: every vector verifies over its exact bytes, also if the body is not text.
#[test]
fn every_vector_verifies() {
    for vector in Vector::all() {
        let mut headers = HeaderMap::new();
        SignatureHeaders {
            id: vector.id.as_str().parse().unwrap(),
            timestamp: vector.timestamp.to_string().parse().unwrap(),
            signature: vector.token().parse().unwrap(),
        }
        .insert_into(&mut headers);
        let (_, verifier) = vector.pair();
        let verified = verifier.verify(&headers, vector.body.clone(), vector.timestamp.into());
        assert_eq!(verified.unwrap().body(), &vector.body, "{}", vector.name);
    }
}

/// W1: two messages share a signature, one with a dot in its id; it verifies only for the other
/// one.
#[test]
fn the_collision_vector_is_refused_for_the_id_with_a_dot() {
    let file: Value = serde_json::from_str(include_str!("../vectors/webhook-sign.json")).unwrap();
    let collision = &file["collision"];
    let secret = SigningSecret::from_whsec(collision["secret"].as_str().unwrap()).unwrap();
    let verifier = Verifier::standard_webhooks(secret).danger_ignore_timestamp();
    let verifies = |message: &Value| {
        let mut headers = HeaderMap::new();
        headers.insert("webhook-id", message["id"].as_str().unwrap().parse().unwrap());
        headers.insert(
            "webhook-timestamp",
            message["timestamp"].to_string().parse().unwrap(),
        );
        headers.insert(
            "webhook-signature",
            collision["signature"].as_str().unwrap().parse().unwrap(),
        );
        let body = Bytes::from(message["body"].as_str().unwrap().to_owned());
        verifier
            .verify(&headers, body, std::time::SystemTime::UNIX_EPOCH)
            .is_ok()
    };
    assert!(verifies(&collision["a"]));
    assert!(!verifies(&collision["b"]));
}
