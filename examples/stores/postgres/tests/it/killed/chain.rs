//! A code and the tokens that descend from it, as its client sees them.

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Request, Response};
use oauth_core::params::encode;
use oauth_core::pkce::CodeVerifier;
use oauth_core::ports::OsEntropy;
use oauth_core::secret::AuthorizationCode;
use oauth_core::server::EndpointResponse;
use oauth_core::store::{AuthorizationCodeRecord, Grant, Insertion, TokenStore};
use serde_json::Value;

use super::Desk;

const CALLBACK: &str = "https://app.example/callback";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

/// Length of a chain after which its client begins another.
const LINKS: usize = 8;

pub(crate) struct Tokens {
    pub(crate) access: String,
    pub(crate) refresh: String,
}

pub(crate) struct Chain {
    pub(crate) code: AuthorizationCode,
    /// Received tokens in order: each refresh token was presented to get the next.
    pub(crate) tokens: Vec<Tokens>,
    pub(crate) standing: Standing,
}

/// State of a chain by the responses to its client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Standing {
    /// The last response was a success, and no request followed.
    Alive,
    /// The last request got no response.
    InDoubt,
    /// A response said that the family was revoked.
    Over,
}

/// Outcome of a request.
enum Told {
    Tokens(Tokens),
    Done,
    Refused,
    Nothing,
}

/// A client with its chains; the last one is in use.
pub(crate) struct Client {
    pub(crate) number: usize,
    pub(crate) turn: usize,
    pub(crate) chains: Vec<Chain>,
}

impl Client {
    /// Sends the next request; returns `true` if it was answered.
    pub(crate) async fn ask(&mut self, desk: &Desk) -> bool {
        let wants_another = |chain: &Chain| !chain.is_alive() || chain.tokens.len() > LINKS;
        if self.chains.last().is_none_or(wants_another) {
            let Some(chain) = Chain::begin(desk).await else {
                return false;
            };
            self.chains.push(chain);
        }
        let Some(chain) = self.chains.last_mut() else {
            return false;
        };
        self.turn += 1;
        // three of four clients are honest until their last link; the fourth sometimes sends a
        // request twice
        match (self.number % 4, self.turn % 5, chain.tokens.len()) {
            (3, 0, _) => chain.go_on_twice(desk).await,
            (2, _, LINKS) => chain.revoke(desk).await,
            _ => chain.go_on(desk).await,
        }
        chain.standing != Standing::InDoubt
    }
}

impl Chain {
    /// Gets a fresh code, as the front channel would issue it.
    async fn begin(desk: &Desk) -> Option<Self> {
        let code = AuthorizationCode::generate(&OsEntropy);
        let (client, subject) = (desk.client.id.clone(), "ada".parse().unwrap());
        let mut grant = Grant::new(client, subject, desk.client.scopes.clone(), desk.now);
        grant.audience = vec!["https://api.example".parse().unwrap()];
        let challenge = VERIFIER.parse::<CodeVerifier>().unwrap().challenge();
        let callback = CALLBACK.parse().unwrap();
        let record = AuthorizationCodeRecord::new(code.hash(), callback, challenge, grant, desk.now);
        match desk.database.insert_code(record).await {
            Ok(Insertion::Inserted) => Some(Self {
                code,
                tokens: Vec::new(),
                standing: Standing::Alive,
            }),
            Ok(inserted) => panic!("{inserted:?}"),
            // no client has seen the code, so it is dropped
            Err(_) => None,
        }
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.standing == Standing::Alive
    }

    pub(crate) fn is_in_doubt(&self) -> bool {
        self.standing == Standing::InDoubt
    }

    /// Redeems the code, or rotates the last refresh token. A live token is never refused.
    async fn go_on(&mut self, desk: &Desk) {
        self.standing = match self.next(desk).await {
            Told::Tokens(tokens) => {
                self.tokens.push(tokens);
                Standing::Alive
            }
            Told::Nothing => Standing::InDoubt,
            Told::Refused | Told::Done => panic!("link {} is refused", self.tokens.len()),
        };
    }

    /// Sends the same request twice at once, as a thief and the client: one of them may get tokens,
    /// which are then revoked.
    async fn go_on_twice(&mut self, desk: &Desk) {
        let (one, other) = tokio::join!(self.next(desk), self.next(desk));
        let (mut won, mut refused) = (0, 0);
        for told in [one, other] {
            match told {
                Told::Tokens(tokens) => {
                    self.tokens.push(tokens);
                    won += 1;
                }
                Told::Refused => refused += 1,
                Told::Nothing | Told::Done => {}
            }
        }
        assert!(won < 2, "a fork");
        assert!(refused < 2, "both requests were refused");
        self.standing = match refused {
            0 => Standing::InDoubt,
            _ => Standing::Over,
        };
    }

    async fn revoke(&mut self, desk: &Desk) {
        let Some(last) = self.tokens.last() else { return };
        let request = desk.post(&[("token", &last.refresh)]);
        self.standing = match told(&desk.server.revoke(request).await) {
            Told::Done => Standing::Over,
            Told::Nothing => Standing::InDoubt,
            Told::Tokens(_) | Told::Refused => panic!("a revocation is answered by 200 and an empty object"),
        };
    }

    /// Repeats a request without response; returns `true` if it had been executed: then it counts
    /// as reuse.
    pub(crate) async fn ask_again(&mut self, desk: &Desk) -> bool {
        let told = self.next(desk).await;
        self.standing = match told {
            Told::Tokens(tokens) => {
                self.tokens.push(tokens);
                Standing::Alive
            }
            Told::Refused => Standing::Over,
            Told::Nothing | Told::Done => panic!("the server runs again"),
        };
        self.standing == Standing::Over
    }

    /// Returns `true` if the server refuses the next tokens of the chain.
    pub(crate) async fn refuses_to_go_on(&self, desk: &Desk) -> bool {
        matches!(self.next(desk).await, Told::Refused)
    }

    async fn next(&self, desk: &Desk) -> Told {
        let request = match self.tokens.last() {
            Some(last) => desk.post(&[("grant_type", "refresh_token"), ("refresh_token", &last.refresh)]),
            None => desk.post(&[
                ("grant_type", "authorization_code"),
                ("code", self.code.expose()),
                ("redirect_uri", CALLBACK),
                ("code_verifier", VERIFIER),
            ]),
        };
        told(&desk.server.token(request).await)
    }
}

impl Desk {
    fn post(&self, pairs: &[(&str, &str)]) -> Request<Bytes> {
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        Request::post("/")
            .header(AUTHORIZATION, self.credentials.to_header())
            .header(CONTENT_TYPE, form)
            .body(encode(pairs.iter().copied()).into())
            .unwrap()
    }

    /// Returns `true` if introspection reports this access token as active.
    pub(crate) async fn is_active(&self, token: &str) -> bool {
        let answer = self.server.introspect(self.post(&[("token", token)])).await;
        assert_eq!(answer.response.status(), 200, "{answer:?}");
        json(&answer.response)["active"] == true
    }
}

fn told(answer: &EndpointResponse) -> Told {
    let body = || json(&answer.response);
    match answer.response.status().as_u16() {
        200 if answer.response.body().as_ref() == b"{}" => Told::Done,
        200 => {
            let body = body();
            let text = |name: &str| body[name].as_str().unwrap().to_owned();
            Told::Tokens(Tokens {
                access: text("access_token"),
                refresh: text("refresh_token"),
            })
        }
        400 => {
            assert_eq!(body()["error"], "invalid_grant", "{answer:?}");
            Told::Refused
        }
        500..600 => Told::Nothing,
        _ => panic!("{answer:?}"),
    }
}

fn json(response: &Response<Bytes>) -> Value {
    serde_json::from_slice(response.body()).unwrap()
}
