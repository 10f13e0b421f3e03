//! What a server over any [`TokenStore`] must do with four requests at once.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a case fails by panicking, where its host asks for it"
)]

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Response, StatusCode};

use crate::records::start;
use host_ports::testing::{ManualClock, SeededEntropy};
use host_ports_conformance::race_of;
use oauth_core::grant::{RetryPepper, RetryWindow};
use oauth_core::jose::{SigningKey, SigningKeys};
use oauth_core::memory::{MemoryClients, MemoryInteractions};
use oauth_core::params::{Params, encode};
use oauth_core::pkce::CodeVerifier;
use oauth_core::secret::TokenHash;
use oauth_core::server::{
    Authentication, AuthorizationServer, AuthorizationServerBuilder, Authorize, Consent, path,
};
use oauth_core::store::{RegisteredClient, TokenStore};
use oauth_core::vocabulary::{RegisteredRedirectUri, Scopes};

/// The cases.
#[host_ports_conformance::kit(parallel_requests)]
mod cases {
    use std::sync::Arc;

    use http::{Response, StatusCode};
    use oauth_core::store::TokenStore;

    use super::{Desk, refresh_token};

    /// O6: of four redemptions of one code at once exactly one buys, and none of what it bought lives once the others were seen.
    pub async fn four_redemptions_of_a_code_give_one_success(store: &Arc<dyn TokenStore>) {
        let desk = Desk::over(Arc::clone(store));
        let code = desk.code().await;
        let responses = desk.race(Desk::redemption(&code)).await;
        desk.check(&responses).await;
    }

    /// O10: of four uses of one refresh token at once exactly one is answered with its successor, no chain is forked, and none lives
    /// once the others were seen.
    pub async fn four_uses_of_a_refresh_token_give_one_success(store: &Arc<dyn TokenStore>) {
        let desk = Desk::over(Arc::clone(store));
        let code = desk.code().await;
        let first = desk.answer(Desk::redemption(&code)).await;
        let presented = refresh_token(&first);
        let responses = desk.race(Desk::refresh(&presented)).await;
        desk.check(&responses).await;
    }

    /// O10, 51, 53: of four uses of one refresh token at once within the retry window one rotates it, and all are given its one successor, which
    /// lives; with that it is the same; and once the successor was used, the token before it ends the chain.
    pub async fn four_uses_of_a_refresh_token_within_the_window_give_one_answer(store: &Arc<dyn TokenStore>) {
        let desk = Desk::retrying(Arc::clone(store));
        let code = desk.code().await;
        let first = refresh_token(&desk.answer(Desk::redemption(&code)).await);
        let mut presented = first.clone();
        for _ in 0..2 {
            let answers = desk.race(Desk::refresh(&presented)).await;
            for answer in &answers {
                assert_eq!(answer.status(), StatusCode::OK, "{answer:?}");
                assert_eq!(Some(answer.body()), answers.first().map(Response::body));
            }
            assert!(!desk.is_live(&presented).await, "it was rotated");
            presented = answers.first().map(refresh_token).expect("four answers");
            assert!(desk.is_live(&presented).await, "it is the leaf");
        }
        let theft = desk.answer(Desk::refresh(&first)).await;
        assert_eq!(theft.status(), StatusCode::BAD_REQUEST);
        assert!(!desk.is_live(&presented).await, "the chain has ended");
    }
}

pub use cases::*;

/// How many requests are made at once.
pub const REQUESTS: usize = 4;

const CLIENT: &str = "app";
const REDIRECT_URI: &str = "https://app.example/callback";

/// An authorization server over a store, and the one client of it.
pub struct Desk {
    server: Arc<AuthorizationServer>,
    store: Arc<dyn TokenStore>,
}

impl Desk {
    /// A server whose codes and tokens are in `store`, and everything else in memory, at an instant that never moves.
    #[must_use]
    pub fn over(store: Arc<dyn TokenStore>) -> Self {
        Self::with(store, |builder| builder)
    }

    /// The same, and a refresh may be repeated.
    #[must_use]
    pub fn retrying(store: Arc<dyn TokenStore>) -> Self {
        let window = RetryWindow::new(RetryWindow::MAX).expect("the longest");
        let pepper = RetryPepper::from_bytes([7; 32]);
        Self::with(store, |builder| builder.with_retry_window(window, pepper))
    }

    fn with(
        store: Arc<dyn TokenStore>,
        configure: impl FnOnce(AuthorizationServerBuilder) -> AuthorizationServerBuilder,
    ) -> Self {
        let entropy = SeededEntropy::new(4);
        let scopes: Scopes = "openid read:charges".parse().expect("scopes");
        let redirect_uri = RegisteredRedirectUri::exact(REDIRECT_URI).expect("a redirect URI");
        let client = RegisteredClient::public(CLIENT.parse().expect("an id"))
            .with_redirect_uri(redirect_uri)
            .with_scopes(scopes.clone());
        let key = SigningKey::generate_ed25519(&entropy).expect("a key");
        let builder = AuthorizationServer::builder("https://auth.example")
            .with_clients(Arc::new(MemoryClients::from_iter([client])))
            .with_interactions(Arc::new(MemoryInteractions::new()))
            .with_tokens(Arc::clone(&store))
            .with_clock(ManualClock::new(start()))
            .with_entropy(entropy)
            .with_signing_keys(SigningKeys::new(key))
            .with_audience("https://api.example")
            .with_scopes(scopes);
        let server = Arc::new(configure(builder).build().expect("a server"));
        Self { server, store }
    }

    /// Whether the refresh token, which was issued, can be refreshed.
    async fn is_live(&self, token: &str) -> bool {
        let state = self.store.refresh_token(&TokenHash::of(token)).await;
        let state = state.expect("the store answers").expect("it was issued");
        state.is_active(start())
    }

    /// The responses to [`REQUESTS`] such requests at once.
    async fn race(&self, request: Request<Bytes>) -> Vec<Response<Bytes>> {
        race_of(REQUESTS, &self.server, async move |server, _| {
            server.token(request.clone()).await.response
        })
        .await
    }

    /// The answer of the token endpoint.
    pub async fn answer(&self, request: Request<Bytes>) -> Response<Bytes> {
        self.server.token(request).await.response
    }

    /// A fresh code, by way of a consent.
    ///
    /// # Panics
    ///
    /// When the server refuses, or its store does not answer.
    pub async fn code(&self) -> String {
        let challenge = verifier().challenge().to_string();
        let request = [
            ("response_type", "code"),
            ("client_id", CLIENT),
            ("redirect_uri", REDIRECT_URI),
            ("scope", "read:charges"),
            ("state", "some state"),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ];
        let uri = format!("{}?{}", path::AUTHORIZE, encode(request));
        let request = Request::get(uri).body(Bytes::new()).expect("a request");
        let Authorize::Interact(interaction) = self.server.authorize(request).await else {
            panic!("the authorization request is refused");
        };
        let ada = Authentication::new("ada".parse().expect("a subject"), start());
        let (id, browser) = (&interaction.id, interaction.browser.expose());
        let granted = self
            .server
            .resume(&Method::POST, id, browser, Consent::Granted(ada));
        let response = granted.await.response;
        let location = response.headers().get("location").expect("a redirect");
        let (_, query) = location.to_str().expect("text").split_once('?').expect("a query");
        let params = Params::parse(query.as_bytes()).expect("parameters");
        params.optional("code").expect("a code").to_owned()
    }

    /// The client's request for tokens in exchange for a code.
    #[must_use]
    pub fn redemption(code: &str) -> Request<Bytes> {
        let verifier = verifier();
        post([
            ("grant_type", "authorization_code"),
            ("code", code),
            ("code_verifier", verifier.expose()),
        ])
    }

    /// The client's request for new tokens.
    #[must_use]
    pub fn refresh(token: &str) -> Request<Bytes> {
        post([("grant_type", "refresh_token"), ("refresh_token", token)])
    }

    /// Checks what came of [`REQUESTS`] requests with one code or one refresh token.
    ///
    /// # Panics
    ///
    /// Unless exactly one was answered with tokens, the others with `invalid_grant`, and the chain is dead: that it was asked for
    /// twice is a theft.
    pub async fn check(&self, responses: &[Response<Bytes>]) {
        assert_eq!(responses.len(), REQUESTS);
        let (won, lost): (Vec<_>, Vec<_>) = responses
            .iter()
            .partition(|response| response.status() == StatusCode::OK);
        for response in &lost {
            let body = String::from_utf8_lossy(response.body());
            assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{body}");
            assert!(body.contains(r#""invalid_grant""#), "{body}");
        }
        assert_eq!(won.len(), 1, "so many had success");
        for response in won {
            assert!(!self.is_live(&refresh_token(response)).await);
        }
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

fn verifier() -> CodeVerifier {
    CodeVerifier::generate(&SeededEntropy::new(5))
}

fn post<const N: usize>(fields: [(&str, &str); N]) -> Request<Bytes> {
    let fields = fields.into_iter().chain([("client_id", CLIENT)]);
    let mut request = Request::post(path::TOKEN)
        .body(Bytes::from(encode(fields)))
        .expect("a request");
    let form = HeaderValue::from_static("application/x-www-form-urlencoded");
    request.headers_mut().insert(CONTENT_TYPE, form);
    request
}

/// The refresh token of a successful answer.
///
/// # Panics
///
/// When there is none.
#[must_use]
pub fn refresh_token(response: &Response<Bytes>) -> String {
    let body: serde_json::Value = serde_json::from_slice(response.body()).expect("JSON");
    let token = body.get("refresh_token").and_then(serde_json::Value::as_str);
    token.expect("a refresh token").to_owned()
}
