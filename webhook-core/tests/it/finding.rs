//! Findings of a diagnosis, compared with the verifier.

use http::HeaderMap;
use proptest::prelude::*;
use webhook_core::{
    receiver::{
        Verifier,
        diagnosis::{BodyChange, Cause, Diagnosis, Finding},
    },
    signature::Signer,
};

use crate::ends::{BODY, key, now, pairs, secret, signed};

/// A diagnosis for each scheme, in the order of `pairs`.
fn diagnoses() -> [Diagnosis; 4] {
    [
        Diagnosis::timestamp_body_hex(secret(1)),
        Diagnosis::id_timestamp_body_hex(secret(1)),
        Diagnosis::standard_webhooks(secret(1)),
        Diagnosis::ed25519(key(1).public_key()),
    ]
}

/// W5: a valid message and an unexplained one have different findings, for every scheme.
#[test]
fn valid_and_unexplained_findings_differ() {
    for ((signer, _), diagnosis) in pairs().into_iter().zip(diagnoses()) {
        let headers = signed(signer, now(), BODY.as_bytes());
        let finding = |body: &[u8]| diagnosis.finding(&headers, body, now());
        assert_eq!(finding(BODY.as_bytes()), Finding::Verifies);
        assert_eq!(finding(b"{\"another\":1}"), Finding::Unexplained);
        let explained = Finding::Explained(vec![Cause::Body(BodyChange::NewlineAdded)]);
        assert_eq!(finding(format!("{BODY}\n").as_bytes()), explained);
    }
}

fn accepts(verifier: &Verifier, headers: &HeaderMap, body: &[u8]) -> bool {
    verifier
        .verify(headers, body.to_vec().into(), now())
        .and_then(|verified| verified.authenticated_id())
        .is_ok()
}

proptest! {
    /// W5: diagnosis and verifier agree on the validity of every message.
    #[test]
    fn a_diagnosis_agrees_with_its_verifier(
        signer in 0_usize..4, ahead in 0_u64..602, tokens in 1_usize..20, tail in "[ ,a-z0-9]{0,6}", changed: bool
    ) {
        let signers = pairs().map(|(signer, _)| signer);
        let sent = now() - std::time::Duration::from_secs(301) + std::time::Duration::from_secs(ahead);
        let mut headers = signed(signers[signer].clone(), sent, BODY.as_bytes());
        let list = headers["webhook-signature"].to_str().unwrap();
        let list = [vec![list; tokens].join(" "), tail].concat();
        headers.insert("webhook-signature", list.parse().unwrap());
        let body = if changed { &b"{\"id\":\"evt_1\"}"[..] } else { BODY.as_bytes() };
        for ((_, verifier), diagnosis) in pairs().into_iter().zip(diagnoses()) {
            let verifies = diagnosis.finding(&headers, body, now()) == Finding::Verifies;
            prop_assert_eq!(verifies, accepts(&verifier, &headers, body), "{}", &list);
        }
    }
}

/// W5: a message with an unknown secret is unexplained, and not valid.
#[test]
fn an_unknown_secret_is_unexplained() {
    let foreign = signed(Signer::standard_webhooks(&secret(2)), now(), BODY.as_bytes());
    let finding = Diagnosis::standard_webhooks(secret(1)).finding(&foreign, BODY.as_bytes(), now());
    assert_eq!(finding, Finding::Unexplained);
}
