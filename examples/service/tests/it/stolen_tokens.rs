//! Stolen DPoP-bound tokens at each server over its sockets.

use std::sync::Arc;

use http::Method;
use oauth_core::jose::SigningKey;
use oauth_core::ports::OsEntropy;

use crate::desk::{BASE, open_at};
use crate::possession::Bound;
use crate::servers::Server;

const CHARGES: &str = "/v1/charges";

/// Status line and headers of a response.
struct Head {
    status: u16,
    fields: Vec<(String, String)>,
}

impl Head {
    fn of(received: &[u8]) -> Self {
        let text = String::from_utf8(received.to_vec()).unwrap();
        let (head, _) = text.split_once("\r\n\r\n").unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let field = |line: &str| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.to_ascii_lowercase(), value.to_owned())
        };
        Self {
            status: status.parse().unwrap(),
            fields: lines.map(field).collect(),
        }
    }

    fn all(&self, name: &str) -> Vec<&str> {
        let named = self.fields.iter().filter(|(field, _)| field == name);
        named.map(|(_, value)| value.as_str()).collect()
    }
}

/// Lists the charges with the token in this scheme, and with a proof for this request if there is a
/// key.
fn present(server: &Server, bound: &Bound, scheme: &str, key: Option<&SigningKey>, nonce: &str) -> Head {
    let proof = key.map(|key| {
        let proof = bound.proof(Method::GET, CHARGES, nonce);
        let proof = proof.with_access_token(&bound.token).sign(key).unwrap();
        format!("dpop: {}\r\n", proof.expose())
    });
    let request = format!(
        "GET {CHARGES} HTTP/1.1\r\nhost: 127.0.0.1:8080\r\nconnection: close\r\nauthorization: {scheme} {}\r\n{}\r\n",
        bound.token,
        proof.unwrap_or_default()
    );
    Head::of(&server.ask(request.as_bytes()))
}

fn challenge(scheme: &str, error: Option<&str>) -> String {
    let error = error.map_or(String::new(), |error| format!(", error=\"{error}\""));
    let algorithms = match scheme {
        "DPoP" => ", algs=\"ES256 Ed25519 EdDSA\"",
        _ => "",
    };
    let metadata = format!("{BASE}/.well-known/oauth-protected-resource");
    format!(r#"{scheme} realm="{BASE}"{error}{algorithms}, resource_metadata="{metadata}""#)
}

/// X3, O20, DP8, DP9, DP10, DP12, DP15: each server refuses a thief with the token and another key,
/// even with a proof for this token, method, URI and nonce; also a thief without a key, or with the
/// scheme `Bearer`. With its own key the token stays valid.
#[test]
fn a_token_bound_to_one_key_is_refused_with_another() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (app, clock) = runtime.block_on(open_at());
    let bound = runtime.block_on(Bound::at(Arc::clone(&app), clock));
    let thief = SigningKey::generate_es256(&OsEntropy).unwrap();
    for server in Server::all(&app) {
        let told = present(&server, &bound, "DPoP", Some(&bound.key), "");
        assert_eq!(
            told.all("www-authenticate"),
            [challenge("DPoP", Some("use_dpop_nonce"))]
        );
        let nonce = told.all("dpop-nonce").concat();
        let refused = |scheme: &str, key: Option<&SigningKey>, challenges: &[String]| {
            let refused = present(&server, &bound, scheme, key, &nonce);
            assert_eq!(refused.status, 401, "{} {scheme}", server.name);
            assert_eq!(
                refused.all("www-authenticate"),
                challenges,
                "{} {scheme}",
                server.name
            );
            assert_eq!(refused.all("cache-control"), ["no-store"]);
        };
        refused("DPoP", Some(&thief), &[challenge("DPoP", Some("invalid_token"))]);
        refused("DPoP", None, &[challenge("DPoP", Some("invalid_dpop_proof"))]);
        for key in [None, Some(&thief), Some(&bound.key)] {
            let challenges = [
                challenge("Bearer", Some("invalid_token")),
                challenge("DPoP", None),
            ];
            refused("Bearer", key, &challenges);
        }
        let passed = present(&server, &bound, "DPoP", Some(&bound.key), &nonce);
        assert_eq!(passed.status, 200, "{}", server.name);
    }
}
