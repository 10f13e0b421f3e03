//! The authentication of a resource server at the introspection endpoint.

use oauth_core::client::{ClientCredentials, Ports};
use oauth_core::jose::{ClientAssertion, ClientAssertionPolicy, Signer, SigningError};

use super::*;

type Heard = Arc<Mutex<Vec<Request<Bytes>>>>;

/// A clock that must not be read: an assertion uses the `now` of the request.
struct UnreadClock;

impl Clock for UnreadClock {
    fn now(&self) -> SystemTime {
        unreachable!()
    }

    fn monotonic(&self) -> Duration {
        unreachable!()
    }
}

fn api_of(credentials: ClientCredentials) -> (ResourceServer, Heard) {
    let heard = Heard::default();
    let ear = Arc::clone(&heard);
    let transport = transport_fn(move |request: Request<Bytes>| {
        ear.lock().unwrap().push(request);
        async { Ok(Response::new(active().to_string().into())) }
    });
    let ports = Ports::new(transport, OsEntropy, UnreadClock);
    let endpoint = format!("{ISSUER}/oauth/introspect").parse().unwrap();
    let (id, issuer) = ("api".parse().unwrap(), ISSUER.parse().unwrap());
    let introspection = Introspection::of_client(endpoint, id, credentials, issuer, &ports);
    (api_with(introspection), heard)
}

/// O12, O14: the resource server authenticates by a secret in header or form, by a certificate, or
/// by a fresh assertion for the issuer.
#[tokio::test]
async fn introspection_supports_every_client_authentication() {
    let key = SigningKey::generate_es256(&OsEntropy).unwrap();
    let secret = || "secret".parse().unwrap();
    for (credentials, names) in [
        (ClientCredentials::Basic(secret()), &["authorization"][..]),
        (ClientCredentials::Post(secret()), &["client_id", "client_secret"]),
        (ClientCredentials::Certificate, &["client_id"]),
        (
            ClientCredentials::PrivateKey(key.clone()),
            &["client_assertion", "client_assertion_type", "client_id"],
        ),
    ] {
        let (api, heard) = api_of(credentials);
        for token in ["at_1", "at_2"] {
            assert!(present(&api, token, now()).await.is_ok());
        }
        let mut proofs = Vec::new();
        let heard = heard.lock().unwrap();
        assert_eq!(heard.len(), 2);
        for (request, token) in heard.iter().zip(["at_1", "at_2"]) {
            assert_eq!(
                (request.method(), request.uri().to_string()),
                (&Method::POST, format!("{ISSUER}/oauth/introspect"))
            );
            let form = Params::parse(request.body()).unwrap();
            assert_eq!(form.optional("token"), Some(token));
            assert_eq!(form.optional("token_type_hint"), Some("access_token"));
            let header = request.headers().get("authorization");
            for (name, value) in [
                ("authorization", header.map(|value| value.to_str().unwrap())),
                ("client_assertion", form.optional("client_assertion")),
                ("client_assertion_type", form.optional("client_assertion_type")),
                ("client_id", form.optional("client_id")),
                ("client_secret", form.optional("client_secret")),
            ] {
                assert_eq!(value.is_some(), names.contains(&name), "{name} {names:?}");
                let expected = match name {
                    "authorization" => "Basic YXBpOnNlY3JldA==",
                    "client_assertion_type" => ClientAssertion::TYPE,
                    "client_id" => "api",
                    "client_secret" => "secret",
                    _ => {
                        proofs.extend(value.map(str::to_owned));
                        continue;
                    }
                };
                assert!(value.is_none_or(|value| value == expected), "{name}");
            }
        }
        let keys = KeySet::new([key.public_key().clone()]).unwrap();
        let policy = ClientAssertionPolicy::new(ISSUER.parse().unwrap(), "api".parse().unwrap());
        let mut spent: Vec<_> = proofs
            .iter()
            .map(|proof| ClientAssertion::verify(proof, &keys, &policy, now()).unwrap())
            .map(|assertion| assertion.replay_key().to_string())
            .collect();
        spent.dedup();
        assert_eq!(spent.len(), if proofs.is_empty() { 0 } else { 2 });
    }
}

/// A signer that fails, or panics.
struct Broken(bool);

impl Signer for Broken {
    fn sign(&self, _: &[u8]) -> Result<Vec<u8>, SigningError> {
        assert!(!self.0, "the key is in a panic");
        Err(SigningError::new("the key is out of reach"))
    }
}

/// O14: if the resource server cannot sign, no request is sent and no token passes.
#[tokio::test]
async fn failing_signer_lets_no_token_pass() {
    let own = SigningKey::generate_es256(&OsEntropy).unwrap();
    for panics in [false, true] {
        let key = SigningKey::from_signer(own.public_key(), Broken(panics));
        let (api, heard) = api_of(ClientCredentials::PrivateKey(key));
        for _ in 0..2 {
            let refused = present(&api, "at_1", now()).await.unwrap_err();
            assert_eq!(refused.reason(), &ChallengeReason::Unavailable);
            assert!(refused.source().is_some());
        }
        assert!(heard.lock().unwrap().is_empty());
    }
}
