//! One server on memory stores, with a clock that stands still and some clients.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use host_ports::testing::{ManualClock, SeededEntropy};
use http::{HeaderMap, Request, Response};
use oauth_core::basic::BasicCredentials;
use oauth_core::error::Reason;
use oauth_core::jose::{KeySet, SigningKey, SigningKeys};
use oauth_core::memory::{MemoryClients, MemoryInteractions, MemoryTokens};
use oauth_core::params::{Params, encode};
use oauth_core::pkce::CodeVerifier;
use oauth_core::secret::ClientSecret;
use oauth_core::server::{
    AuthEvent, Authentication, AuthorizationServer, AuthorizationServerBuilder, Authorize, Consent,
    EndpointResponse, Interaction,
};
use oauth_core::store::{ClientSecrets, ClientStore, GrantType, RegisteredClient, TokenStore};
use oauth_core::vocabulary::{RegisteredRedirectUri, Scopes};
use serde_json::Value;

pub(crate) const ISSUER: &str = "https://auth.example";
pub(crate) const API: &str = "https://api.example";
pub(crate) const CALLBACK: &str = "https://app.example/callback?tenant=1";
pub(crate) const SCOPE: &str = "openid read:charges write:charges";
pub(crate) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub(crate) const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

pub(crate) type Pairs<'a> = Vec<(&'a str, &'a str)>;

pub(crate) struct Fixture {
    pub(crate) server: AuthorizationServer,
    pub(crate) clock: ManualClock,
    pub(crate) clients: Arc<MemoryClients>,
    pub(crate) tokens: Arc<dyn TokenStore>,
}

/// The members of a successful token response.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    pub(crate) access: String,
    pub(crate) refresh: String,
    pub(crate) body: Value,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with(Arc::new(MemoryTokens::new()), |builder| builder)
    }

    pub(crate) fn with(
        tokens: Arc<dyn TokenStore>,
        configure: impl FnOnce(AuthorizationServerBuilder) -> AuthorizationServerBuilder,
    ) -> Self {
        Self::of(ISSUER, tokens, configure)
    }

    pub(crate) fn of_issuer(issuer: &str) -> Self {
        Self::of(issuer, Arc::new(MemoryTokens::new()), |builder| builder)
    }

    fn of(
        issuer: &str,
        tokens: Arc<dyn TokenStore>,
        configure: impl FnOnce(AuthorizationServerBuilder) -> AuthorizationServerBuilder,
    ) -> Self {
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000));
        let clients = Arc::new(clients());
        let entropy = SeededEntropy::new(1);
        let builder = AuthorizationServer::builder(issuer)
            .with_clients(clients.clone())
            .with_interactions(MemoryInteractions::new())
            .with_tokens(tokens.clone())
            .with_clock(clock.clone())
            .with_signing_keys(SigningKeys::new(SigningKey::generate_ed25519(&entropy).unwrap()))
            .with_entropy(entropy)
            .with_audience(API)
            .with_scopes(SCOPE.parse().unwrap());
        let server = configure(builder).build().unwrap();
        Self {
            server,
            clock,
            clients,
            tokens,
        }
    }

    pub(crate) fn now(&self) -> SystemTime {
        use oauth_core::ports::Clock;
        self.clock.now()
    }

    pub(crate) async fn change_client(
        &self,
        id: &str,
        change: impl FnOnce(RegisteredClient) -> RegisteredClient,
    ) {
        let client = self.clients.client(&id.parse().unwrap()).await.unwrap().unwrap();
        self.clients.put_client(change(client)).await.unwrap();
    }

    pub(crate) fn keys(&self) -> KeySet {
        let request = Request::get("/.well-known/jwks.json").body(Bytes::new()).unwrap();
        KeySet::parse(self.server.jwks(&request).body()).unwrap()
    }

    // ---- the front channel

    pub(crate) async fn authorize(&self, pairs: &Pairs<'_>) -> Authorize {
        let uri = format!("{ISSUER}/authorize?{}", encode(pairs.iter().copied()));
        self.server
            .authorize(Request::get(uri).body(Bytes::new()).unwrap())
            .await
    }

    pub(crate) async fn refused(&self, pairs: &Pairs<'_>) -> EndpointResponse {
        match self.authorize(pairs).await {
            Authorize::Respond(answer) => answer,
            Authorize::Interact(_) => panic!("the request was accepted: {pairs:?}"),
        }
    }

    pub(crate) async fn interact(&self, pairs: &Pairs<'_>) -> Interaction {
        match self.authorize(pairs).await {
            Authorize::Interact(interaction) => interaction,
            Authorize::Respond(answer) => panic!("refused: {:?} {:?}", answer.response, answer.events),
        }
    }

    pub(crate) fn ada(&self) -> Authentication {
        Authentication::new("ada".parse().unwrap(), self.now() - Duration::from_secs(5))
            .with_email("ada@example.com")
            .with_name("Ada Lovelace")
    }

    pub(crate) async fn grant(&self, interaction: &Interaction) -> EndpointResponse {
        let decision = Consent::Granted(self.ada());
        self.server
            .resume(
                &Request::post("/").body(()).unwrap(),
                &interaction.id,
                interaction.browser.expose(),
                decision,
            )
            .await
    }

    /// Issues a code for `web` through the front channel.
    pub(crate) async fn code(&self) -> String {
        self.code_for(&web_request()).await
    }

    pub(crate) async fn code_for(&self, pairs: &Pairs<'_>) -> String {
        let interaction = self.interact(pairs).await;
        let answer = self.grant(&interaction).await;
        redirected(&answer.response)
            .1
            .optional("code")
            .expect("a code")
            .to_owned()
    }

    // ---- the back channel

    /// Sends a POST of `web`, which authenticates by `client_secret_basic`.
    pub(crate) async fn token(&self, pairs: &Pairs<'_>) -> EndpointResponse {
        self.token_as("web", pairs).await
    }

    pub(crate) async fn token_as(&self, client: &str, pairs: &Pairs<'_>) -> EndpointResponse {
        self.server.token(post(basic(client), pairs)).await
    }

    pub(crate) async fn redeem(&self, code: &str) -> EndpointResponse {
        self.token(&redemption(code)).await
    }

    pub(crate) async fn refresh(&self, token: &str) -> EndpointResponse {
        self.token(&vec![("grant_type", "refresh_token"), ("refresh_token", token)])
            .await
    }

    /// Signs in with `web` through the whole flow.
    pub(crate) async fn sign_in(&self) -> Tokens {
        let code = self.code().await;
        Tokens::of(&self.redeem(&code).await)
    }

    pub(crate) async fn introspect(&self, token: &str) -> Value {
        self.introspect_as("web", &[("token", token)]).await
    }

    pub(crate) async fn introspect_as(&self, client: &str, pairs: &[(&str, &str)]) -> Value {
        let answer = self.server.introspect(post(basic(client), pairs)).await;
        assert_eq!(answer.response.status(), 200);
        json(&answer.response)
    }

    pub(crate) async fn is_active(&self, token: &str) -> bool {
        let told = self.introspect(token).await;
        assert!(
            told["active"] == true || told == serde_json::json!({ "active": false }),
            "{told}"
        );
        told["active"] == true
    }

    pub(crate) async fn revoke_as(&self, client: &str, pairs: &[(&str, &str)]) -> EndpointResponse {
        self.server.revoke(post(basic(client), pairs)).await
    }
}

impl Tokens {
    pub(crate) fn of(answer: &EndpointResponse) -> Self {
        assert_eq!(answer.response.status(), 200, "{answer:?}");
        let body = json(&answer.response);
        let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
        Self {
            access: text("access_token"),
            refresh: text("refresh_token"),
            body,
        }
    }
}

fn clients() -> MemoryClients {
    let confidential = |id: &str| {
        let secrets = ClientSecrets::new(&secret(id));
        RegisteredClient::confidential(id.parse().unwrap(), secrets)
            .with_redirect_uri(RegisteredRedirectUri::exact(CALLBACK).unwrap())
            .with_scopes(format!("{SCOPE} email").parse().unwrap())
    };
    let read: Scopes = "read:charges".parse().unwrap();
    let native = RegisteredClient::public("native".parse().unwrap())
        .with_redirect_uri(RegisteredRedirectUri::loopback_any_port("http://127.0.0.1/callback").unwrap())
        .with_scopes(SCOPE.parse().unwrap());
    let service = confidential("service")
        .with_grant_types([GrantType::ClientCredentials])
        .with_scopes("openid read:charges write:charges".parse().unwrap());
    let api = confidential("api")
        .with_grant_types([])
        .with_audience(API.parse().unwrap());
    let other_api = confidential("other-api").with_audience("https://other.example".parse().unwrap());
    MemoryClients::from_iter([
        confidential("web").with_name("The Web App"),
        confidential("other"),
        confidential("poster").with_secret_post(),
        confidential("once")
            .with_grant_types([GrantType::AuthorizationCode])
            .with_scopes(read),
        native,
        service,
        api,
        other_api,
    ])
}

/// The secret of a client: its id and a suffix.
pub(crate) fn secret(client: &str) -> ClientSecret {
    format!("{client}'s secret: 100% + more").parse().unwrap()
}

pub(crate) fn basic(client: &str) -> HeaderMap {
    let credentials = BasicCredentials {
        client_id: client.parse().unwrap(),
        secret: secret(client),
    };
    HeaderMap::from_iter([(http::header::AUTHORIZATION, credentials.to_header())])
}

pub(crate) fn post(headers: HeaderMap, pairs: &[(&str, &str)]) -> Request<Bytes> {
    let mut request = Request::post("/")
        .body(encode(pairs.iter().copied()).into())
        .unwrap();
    *request.headers_mut() = headers;
    let form = http::HeaderValue::from_static("application/x-www-form-urlencoded");
    request.headers_mut().insert(http::header::CONTENT_TYPE, form);
    request
}

/// A GET with an access token.
pub(crate) fn with_bearer(token: &str) -> Request<Bytes> {
    let request = Request::get("/").header(http::header::AUTHORIZATION, format!("Bearer {token}"));
    request.body(Bytes::new()).unwrap()
}

/// A valid request of `web`.
pub(crate) fn web_request() -> Pairs<'static> {
    vec![
        ("response_type", "code"),
        ("client_id", "web"),
        ("redirect_uri", CALLBACK),
        ("scope", SCOPE),
        ("state", "a state & more"),
        ("nonce", "n-0S6_WzA2Mj"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
    ]
}

/// A valid redemption of `code`.
pub(crate) fn redemption(code: &str) -> Pairs<'_> {
    vec![
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", CALLBACK),
        ("code_verifier", VERIFIER),
    ]
}

/// The pairs with `name` set to `value`, or removed.
pub(crate) fn change<'a>(mut pairs: Pairs<'a>, name: &'a str, value: Option<&'a str>) -> Pairs<'a> {
    pairs.retain(|(present, _)| *present != name);
    pairs.extend(value.map(|value| (name, value)));
    pairs
}

/// The target of a redirect: the URL without its query, and the parameters.
pub(crate) fn redirected(response: &Response<Bytes>) -> (String, Params) {
    assert!(matches!(response.status().as_u16(), 302 | 303), "{response:?}");
    let location = response.headers()["location"].to_str().unwrap();
    let (address, query) = location.split_once('?').unwrap();
    (address.to_owned(), Params::parse(query.as_bytes()).unwrap())
}

pub(crate) fn json(response: &Response<Bytes>) -> Value {
    assert_eq!(response.headers()["content-type"], "application/json");
    assert_eq!(response.headers()["cache-control"], "no-store");
    serde_json::from_slice(response.body()).unwrap()
}

/// Checks an error response of RFC 6749 section 5.2.
pub(crate) fn assert_error(answer: &EndpointResponse, status: u16, error: &str) {
    assert_eq!(answer.response.status(), status, "{answer:?}");
    assert_eq!(json(&answer.response)["error"], error, "{answer:?}");
    assert_eq!(
        answer.response.headers().contains_key("www-authenticate"),
        status == 401
    );
}

pub(crate) fn codes(events: &[AuthEvent]) -> Vec<&'static str> {
    events.iter().map(|event| event.kind.code()).collect()
}

pub(crate) fn reason(answer: &EndpointResponse) -> &'static str {
    answer
        .events
        .last()
        .and_then(|event| event.reason)
        .map(Reason::code)
        .expect("a reason")
}

/// A well-formed verifier that is wrong.
pub(crate) fn wrong_verifier() -> CodeVerifier {
    CodeVerifier::generate(&SeededEntropy::new(99))
}
