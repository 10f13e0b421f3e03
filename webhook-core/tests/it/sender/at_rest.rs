//! Signers of an endpoint in a store: encrypted, or in plain text.

use std::{
    error::Error,
    time::{Duration, SystemTime},
};

use webhook_core::{
    ports::{SealError, Sealer, StoreError, StoreErrorKind},
    secret::SigningSecret,
    sender::{EndpointId, SecretsAtRest, StaticHeaders},
    signature::{Signer, Signers},
};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Sealer for tests: binds to the context and masks the text, without real encryption.
struct Mask;

impl Sealer for Mask {
    fn seal(&self, plain: &[u8], context: &[u8]) -> Result<Vec<u8>, SealError> {
        let masked = plain.iter().map(|byte| byte ^ 0x55);
        Ok(context.iter().copied().chain([0]).chain(masked).collect())
    }

    fn open(&self, sealed: &[u8], context: &[u8]) -> Result<Vec<u8>, SealError> {
        let masked = sealed
            .strip_prefix(context)
            .and_then(|rest| rest.strip_prefix(&[0]));
        let masked = masked.ok_or(SealError::new("sealed for something else"))?;
        Ok(masked.iter().map(|byte| byte ^ 0x55).collect())
    }
}

struct NoKey;

impl Sealer for NoKey {
    fn seal(&self, _: &[u8], _: &[u8]) -> Result<Vec<u8>, SealError> {
        Err(SealError::new("no key"))
    }

    fn open(&self, _: &[u8], _: &[u8]) -> Result<Vec<u8>, SealError> {
        Err(SealError::new("no key"))
    }
}

fn id(text: &str) -> EndpointId {
    text.parse().unwrap()
}

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

/// A current secret, and one that is retired.
fn signers() -> Signers {
    let old = SigningSecret::from_bytes(&[1; 32]).unwrap();
    let new = SigningSecret::from_whsec(SECRET).unwrap();
    Signers::from(Signer::standard_webhooks(&old))
        .rotate(Signer::standard_webhooks(&new), now(), Signers::OVERLAP)
        .unwrap()
}

fn signature(signers: &Signers, at: SystemTime) -> String {
    let headers = signers.sign(&"evt_1".parse().unwrap(), at, b"{}");
    headers.signature.to_str().unwrap().to_owned()
}

/// All texts of an error that a log may show.
fn headers() -> StaticHeaders {
    StaticHeaders::new([("authorization", "Bearer 8c1f")]).unwrap()
}

fn shown(error: &StoreError) -> String {
    let mut shown = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(cause) = source {
        shown += &format!(" {cause} {cause:?}");
        source = cause.source();
    }
    shown
}

/// W16: encrypted or not, the signers sign as before, old secrets until their end; encrypted text
/// is valid for its endpoint only.
#[test]
fn signers_come_back_from_their_text_for_their_endpoint() {
    for at_rest in [SecretsAtRest::plaintext(), SecretsAtRest::with_sealer(Mask)] {
        let text = at_rest.write(&id("ep_1"), &signers(), &headers()).unwrap();
        let (back, kept) = at_rest.read(&id("ep_1"), &text).unwrap();
        assert_eq!(kept, headers());
        for at in [now(), now() + Signers::OVERLAP] {
            assert_eq!(signature(&back, at), signature(&signers(), at));
        }
    }
    let sealed = SecretsAtRest::with_sealer(Mask);
    let text = sealed.write(&id("ep_1"), &signers(), &headers()).unwrap();
    assert!(text.starts_with("sealed:") && !text.contains(SECRET), "{text}");
    assert!(!text.contains("Bearer"), "{text}");
    let elsewhere = sealed.read(&id("ep_2"), &text).unwrap_err();
    assert_eq!(elsewhere.kind(), StoreErrorKind::Corrupt);
}

/// W16: plain rows are read until the host rejects them; encrypted text is never taken for plain
/// text.
#[test]
fn plaintext_is_read_until_rejected() {
    let clear = SecretsAtRest::plaintext()
        .write(&id("ep_1"), &signers(), &headers())
        .unwrap();
    let sealed = SecretsAtRest::with_sealer(Mask);
    assert!(sealed.read(&id("ep_1"), &clear).is_ok());
    let strict = sealed.clone().reject_plaintext();
    let refused = strict.read(&id("ep_1"), &clear).unwrap_err();
    assert_eq!(refused.kind(), StoreErrorKind::Corrupt);

    let text = sealed.write(&id("ep_1"), &signers(), &headers()).unwrap();
    assert!(strict.read(&id("ep_1"), &text).is_ok());
    let without_key = SecretsAtRest::plaintext().read(&id("ep_1"), &text).unwrap_err();
    assert_eq!(without_key.kind(), StoreErrorKind::Corrupt);
}

/// W16: without its key a store writes nothing, in particular no plain text.
#[test]
fn failed_encryption_writes_nothing() {
    let error = SecretsAtRest::with_sealer(NoKey)
        .write(&id("ep_1"), &signers(), &headers())
        .unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
}

/// W16: the format of plain rows, which another program may write.
#[test]
fn documented_row_is_read() {
    let text = format!(
        r#"{{"signers":[{{"scheme":"standard-webhooks","secret":"{SECRET}","not_after":null}},
            {{"scheme":"timestamp-body-hex","secret":"{SECRET}","not_after":{{"secs_since_epoch":1700000000,"nanos_since_epoch":0}}}}],
            "headers":[["authorization","Bearer x"]]}}"#
    );
    let (back, kept) = SecretsAtRest::plaintext().read(&id("ep_1"), &text).unwrap();
    assert_eq!(kept.iter().count(), 1);
    let retires: Vec<_> = back.iter().map(|active| active.not_after).collect();
    assert_eq!(retires, [None, Some(now())]);
}

/// W16: no error shows the content of a row; the parser's own error would quote the secret.
#[test]
fn no_error_shows_what_stands_in_a_row() {
    let forms = [
        format!("\"{SECRET}\""),
        SECRET.to_owned(),
        format!("[\"{SECRET}\"]"),
        format!(r#"[{{"scheme":"{SECRET}","secret":"x","not_after":null}}]"#),
        format!(r#"[{{"scheme":"ed25519","secret":"{SECRET}","not_after":null}}]"#),
        format!(r#"[{{"scheme":"standard-webhooks","secret":"{SECRET}","not_after":"{SECRET}"}}]"#),
        format!(r#"[{{"{SECRET}":1}}]"#),
        format!("sealed:{SECRET}"),
        "sealed:".to_owned(),
        "[]".to_owned(),
        String::new(),
    ];
    for at_rest in [SecretsAtRest::plaintext(), SecretsAtRest::with_sealer(Mask)] {
        for text in &forms {
            let error = at_rest.read(&id("ep_1"), text).unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{text}");
            assert!(!shown(&error).contains("MfKQ9r8G"), "{}", shown(&error));
        }
        assert!(!format!("{at_rest:?}").contains("MfKQ"));
    }
}
