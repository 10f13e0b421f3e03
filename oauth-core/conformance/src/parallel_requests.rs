//! Conformance kit for an authorization server over any [`TokenStore`]: four concurrent requests.
//!
//! `parallel_requests!(#[tokio::test] expression)` expands to one test per case; `expression` makes
//! an empty store. Tests that send the requests over HTTP can use [`TestServer`] directly.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a case fails by panicking, where its host asks for it"
)]

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};

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

/// The cases of `parallel_requests!`.
#[host_ports_conformance::kit(parallel_requests)]
mod cases {
    use std::sync::Arc;

    use http::{Response, StatusCode};
    use oauth_core::store::TokenStore;

    use super::{TestServer, refresh_token};

    /// O6: of four concurrent redemptions of one code exactly one succeeds. The other three are
    /// replays, which revoke the tokens of the code.
    pub async fn four_redemptions_of_a_code_give_one_success(store: &Arc<dyn TokenStore>) {
        let server = TestServer::new(Arc::clone(store));
        let code = server.issue_code().await;
        let responses = server.race(TestServer::redemption_request(&code)).await;
        server.assert_one_success(&responses).await;
    }

    /// O10: of four concurrent uses of one refresh token exactly one succeeds. The other three are
    /// reuses, which revoke the token family.
    pub async fn four_uses_of_a_refresh_token_give_one_success(store: &Arc<dyn TokenStore>) {
        let server = TestServer::new(Arc::clone(store));
        let code = server.issue_code().await;
        let first = server.send(TestServer::redemption_request(&code)).await;
        let presented = refresh_token(&first);
        let responses = server.race(TestServer::refresh_request(&presented)).await;
        server.assert_one_success(&responses).await;
    }

    /// O10, 51, 53: within the retry window, four concurrent uses of one refresh token all get the
    /// same active successor. The same holds for four uses of that successor. A later use of the
    /// first token is a reuse, which revokes the token family.
    pub async fn four_retries_within_window_get_same_tokens(store: &Arc<dyn TokenStore>) {
        let server = TestServer::with_retry_window(Arc::clone(store));
        let code = server.issue_code().await;
        let first = refresh_token(&server.send(TestServer::redemption_request(&code)).await);
        let mut presented = first.clone();
        for _ in 0..2 {
            let answers = server.race(TestServer::refresh_request(&presented)).await;
            for answer in &answers {
                assert_eq!(answer.status(), StatusCode::OK, "{answer:?}");
                assert_eq!(Some(answer.body()), answers.first().map(Response::body));
            }
            assert!(!server.is_live(&presented).await, "it was rotated");
            presented = answers.first().map(refresh_token).expect("four answers");
            assert!(server.is_live(&presented).await, "it is the leaf");
        }
        let theft = server.send(TestServer::refresh_request(&first)).await;
        assert_eq!(theft.status(), StatusCode::BAD_REQUEST);
        assert!(!server.is_live(&presented).await, "the chain has ended");
    }
}

pub use cases::*;

/// Number of concurrent requests.
pub const REQUESTS: usize = 4;

const CLIENT: &str = "app";
const REDIRECT_URI: &str = "https://app.example/callback";

/// A test server: an [`AuthorizationServer`] over a store, with one public client.
pub struct TestServer {
    server: Arc<AuthorizationServer>,
    store: Arc<dyn TokenStore>,
}

impl TestServer {
    /// Builds a server that keeps codes and tokens in `store`, and clients and interactions in
    /// memory. Its clock does not advance.
    #[must_use]
    pub fn new(store: Arc<dyn TokenStore>) -> Self {
        Self::with(store, |builder| builder)
    }

    /// Builds the same server with a retry window of 60 seconds.
    #[must_use]
    pub fn with_retry_window(store: Arc<dyn TokenStore>) -> Self {
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

    /// Returns `true` if the refresh token is active. Panics if the store does not have it.
    async fn is_live(&self, token: &str) -> bool {
        let state = self.store.refresh_token(&TokenHash::new(token)).await;
        let state = state.expect("the store answers").expect("it was issued");
        state.is_active(start())
    }

    /// Sends [`REQUESTS`] copies of the request at once and returns the responses.
    async fn race(&self, request: Request<Bytes>) -> Vec<Response<Bytes>> {
        race_of(REQUESTS, &self.server, async move |server, _| {
            server.token(request.clone()).await.response
        })
        .await
    }

    /// Sends one request to the token endpoint.
    pub async fn send(&self, request: Request<Bytes>) -> Response<Bytes> {
        self.server.token(request).await.response
    }

    /// Issues a code: sends an authorization request and grants the consent.
    ///
    /// # Panics
    ///
    /// If the server refuses the request, or its store fails.
    pub async fn issue_code(&self) -> String {
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
        let request = Request::post("/").body(()).expect("a request");
        let granted = self.server.resume(&request, id, browser, Consent::Granted(ada));
        let response = granted.await.response;
        let location = response.headers().get("location").expect("a redirect");
        let (_, query) = location.to_str().expect("text").split_once('?').expect("a query");
        let params = Params::parse(query.as_bytes()).expect("parameters");
        params.optional("code").expect("a code").to_owned()
    }

    /// Builds the token request that redeems a code of [`issue_code`](Self::issue_code).
    #[must_use]
    pub fn redemption_request(code: &str) -> Request<Bytes> {
        let verifier = verifier();
        post([
            ("grant_type", "authorization_code"),
            ("code", code),
            ("code_verifier", verifier.expose()),
        ])
    }

    /// Builds the token request for a refresh token.
    #[must_use]
    pub fn refresh_request(token: &str) -> Request<Bytes> {
        post([("grant_type", "refresh_token"), ("refresh_token", token)])
    }

    /// Checks the responses to [`REQUESTS`] requests with one code or one refresh token: exactly
    /// one has tokens, the others are 400 with `invalid_grant`, and the new refresh token is
    /// revoked, because a repeated use is a replay.
    ///
    /// # Panics
    ///
    /// If a check fails.
    pub async fn assert_one_success(&self, responses: &[Response<Bytes>]) {
        assert_eq!(responses.len(), REQUESTS);
        let (won, lost): (Vec<_>, Vec<_>) = responses
            .iter()
            .partition(|response| response.status() == StatusCode::OK);
        for response in &lost {
            let body = String::from_utf8_lossy(response.body());
            assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{body}");
            assert!(body.contains(r#""invalid_grant""#), "{body}");
        }
        assert_eq!(won.len(), 1, "number of successes");
        for response in won {
            assert!(!self.is_live(&refresh_token(response)).await);
        }
    }
}

impl fmt::Debug for TestServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestServer")
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

/// Reads the refresh token of a successful response.
///
/// # Panics
///
/// If the response has no refresh token.
#[must_use]
pub fn refresh_token(response: &Response<Bytes>) -> String {
    let body: serde_json::Value = serde_json::from_slice(response.body()).expect("JSON");
    let token = body.get("refresh_token").and_then(serde_json::Value::as_str);
    token.expect("a refresh token").to_owned()
}
