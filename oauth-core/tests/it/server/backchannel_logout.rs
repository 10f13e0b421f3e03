//! Back-channel logout: the server tells clients that a session has ended.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use host_ports::testing::SeededEntropy;
use http::{HeaderMap, Request, Response};
use oauth_core::client::{Client, Provider};
use oauth_core::jose::{LogoutToken, RemoteKeySet};
use oauth_core::memory::MemoryTokens;
use oauth_core::params::Params;
use oauth_core::ports::{TransportError, transport_fn};
use oauth_core::server::{AuthEvent, Consent};
use oauth_core::session::{SessionCookie, Sessions};
use oauth_core::store::{RegisteredClient, SessionId, SessionStore};
use serde_json::Value;

use super::fixture::{Fixture, ISSUER, change, json, redirected, web_request};

const LOGOUT: &str = "https://app.example/backchannel?a=b";
const MINUTE: Duration = Duration::from_secs(60);

/// Responses of the clients by path, and the requests that they got.
#[derive(Clone, Default)]
struct Clients {
    requests: Arc<Mutex<Vec<Request<Bytes>>>>,
    statuses: Arc<Mutex<HashMap<String, Option<u16>>>>,
}

impl Clients {
    /// Sets the status of a client; `None`: it cannot be reached.
    fn respond(&self, path: &str, status: Option<u16>) {
        self.statuses.lock().unwrap().insert(path.to_owned(), status);
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        let path = request.uri().path().to_owned();
        self.requests.lock().unwrap().push(request);
        assert_ne!(path, "/panics", "the transport panics");
        let status = self.statuses.lock().unwrap().get(&path).copied();
        match status.unwrap_or(Some(200)) {
            Some(status) => Ok(Response::builder().status(status).body(Bytes::new()).unwrap()),
            None => Err(TransportError::other("unreachable")),
        }
    }

    fn take(&self) -> Vec<Request<Bytes>> {
        std::mem::take(&mut *self.requests.lock().unwrap())
    }
}

/// Ada, signed in in one session to each client.
struct SignedIn {
    fixture: Fixture,
    sessions: Sessions,
    store: Arc<MemoryTokens>,
    session: SessionId,
    clients: Clients,
}

impl SignedIn {
    async fn new() -> Self {
        let store = Arc::new(MemoryTokens::new());
        let clients = Clients::default();
        let transport = {
            let clients = clients.clone();
            transport_fn(move |request| {
                let clients = clients.clone();
                async move { clients.send(request) }
            })
        };
        let fixture = Fixture::with(store.clone(), |builder| {
            builder.with_backchannel_logout(store.clone(), transport)
        });
        let url = |client: RegisteredClient| client.with_backchannel_logout_uri(LOGOUT.parse().unwrap());
        fixture.change_client("web", url).await;
        let cookie = SessionCookie::new("session").unwrap();
        let sessions = Sessions::new(
            store.clone(),
            cookie,
            fixture.clock.clone(),
            SeededEntropy::new(2),
        );
        let ada = "ada".parse().unwrap();
        let begun = sessions.sign_in(&HeaderMap::new(), &ada, None).await.unwrap();
        let session = begun.session.record.id;
        Self {
            fixture,
            sessions,
            store,
            session,
            clients,
        }
    }

    /// Signs in to `web`, and returns the token response.
    async fn tokens(&self) -> Value {
        let interaction = self.fixture.interact(&web_request()).await;
        let decision = Consent::Granted(self.fixture.ada().with_session(self.session));
        let browser = interaction.browser.expose();
        let request = Request::post("/").body(()).unwrap();
        let resumed = self
            .fixture
            .server
            .resume(&request, &interaction.id, browser, decision);
        let code = redirected(&resumed.await.response)
            .1
            .optional("code")
            .unwrap()
            .to_owned();
        json(&self.fixture.redeem(&code).await.response)
    }

    async fn end(&self) {
        let ended = self.sessions.end(&"ada".parse().unwrap(), &self.session).await;
        assert!(ended.unwrap());
    }

    async fn send(&self) -> Vec<AuthEvent> {
        self.fixture.server.send_logouts().await.unwrap()
    }

    /// Sends what is due, and returns the codes of the events with their reasons.
    async fn codes(&self) -> Vec<(&'static str, Option<&'static str>)> {
        let events = self.send().await;
        let code = |event: &AuthEvent| (event.kind.code(), event.reason.map(|reason| reason.code()));
        events.iter().map(code).collect()
    }

    fn advance(&self, time: Duration) {
        self.fixture.clock.advance(time);
    }

    /// Verifies a request as the client would.
    async fn verify(&self, request: &Request<Bytes>) -> LogoutToken {
        let server = self.fixture.server.clone();
        let jwks = transport_fn(move |request: Request<Bytes>| {
            let response = server.jwks(&request);
            async { Ok(response) }
        });
        let url = |path: &str| format!("{ISSUER}{path}").parse().unwrap();
        let provider = Provider::new(ISSUER.parse().unwrap(), url("/authorize"), url("/token"));
        let keys = RemoteKeySet::new(url("/.well-known/jwks.json"), jwks);
        let client = Client::new(provider, "web".parse().unwrap());
        let verified = client
            .verify_backchannel_logout(request, &keys, self.fixture.now())
            .await;
        verified.expect("a valid logout")
    }
}

fn claims(token: &str) -> Value {
    use base64::Engine as _;
    let payload = token.split('.').nth(1).unwrap();
    let payload = base64::engine::general_purpose::URL_SAFE_NO_PAD
        .decode(payload)
        .unwrap();
    serde_json::from_slice(&payload).unwrap()
}

/// O34: the end of a session sends one logout token to its client, which verifies it and finds the
/// session of its ID token.
#[tokio::test]
async fn ended_session_sends_logout_to_its_client() {
    let ada = SignedIn::new().await;
    let first = ada.tokens().await;
    ada.tokens().await;
    assert_eq!(ada.codes().await, []);
    ada.end().await;

    let events = ada.send().await;
    let [event] = events.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!(event.kind.code(), "logout_sent");
    assert_eq!(event.client_id.as_ref().unwrap().as_str(), "web");
    assert_eq!(
        (event.session, event.time),
        (Some(ada.session), ada.fixture.now())
    );

    let requests = ada.clients.take();
    let [request] = requests.as_slice() else {
        panic!("{requests:?}");
    };
    assert_eq!(
        (request.method().as_str(), request.uri().to_string()),
        ("POST", LOGOUT.to_owned())
    );
    let token = ada.verify(request).await;
    let id_token = claims(first["id_token"].as_str().unwrap());
    assert_eq!(token.session.as_deref(), id_token["sid"].as_str());
    assert_eq!(token.subject.unwrap().as_str(), "ada");
    assert_eq!(token.expires_at, ada.fixture.now() + 2 * MINUTE);

    ada.advance(10 * MINUTE);
    assert_eq!(ada.codes().await, []);
}

/// O34: a failed attempt is repeated with a new token, and no earlier than its delay.
#[tokio::test]
async fn failed_logout_is_sent_again() {
    let ada = SignedIn::new().await;
    ada.tokens().await;
    ada.end().await;
    let mut tokens = Vec::new();
    for (status, seconds, reason) in [
        (Some(400), 5, "logout_refused"),
        (Some(302), 15, "logout_refused"),
        (None, 45, "logout_endpoint_unreachable"),
    ] {
        ada.clients.respond("/backchannel", status);
        assert_eq!(ada.codes().await, [("logout_failed", Some(reason))]);
        tokens.extend(ada.clients.take());
        ada.advance(Duration::from_secs(seconds) - Duration::from_nanos(1));
        assert_eq!(ada.codes().await, []);
        ada.advance(Duration::from_nanos(1));
    }
    ada.clients.respond("/backchannel", Some(204));
    assert_eq!(ada.codes().await, [("logout_sent", None)]);
    tokens.extend(ada.clients.take());
    let mut ids = Vec::new();
    for request in &tokens {
        let form = Params::parse(request.body()).unwrap();
        ids.push(claims(form.optional("logout_token").unwrap())["jti"].to_string());
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    // minted for the last attempt, so it is still valid
    ada.verify(&tokens[3]).await;
}

/// O34: the server gives up after an hour, and says so.
#[tokio::test]
async fn unreachable_client_is_abandoned_after_an_hour() {
    let ada = SignedIn::new().await;
    ada.tokens().await;
    ada.end().await;
    ada.clients.respond("/backchannel", None);
    let mut events = Vec::new();
    for _ in 0..75 {
        events.extend(ada.codes().await);
        ada.advance(MINUTE);
    }
    let unreachable = Some("logout_endpoint_unreachable");
    let (last, others) = events.split_last().unwrap();
    assert_eq!(*last, ("logout_abandoned", unreachable));
    assert!(
        others
            .iter()
            .all(|event| *event == ("logout_failed", unreachable))
    );
    assert_eq!(events.len(), 10);
}

/// O34: one client that fails, or whose transport panics, does not stop the logouts of others.
#[tokio::test]
async fn one_failing_client_stops_no_other() {
    let ada = SignedIn::new().await;
    let path = |path: &str| format!("https://app.example{path}").parse().unwrap();
    for (id, url) in [
        ("fails", "/fails"),
        ("panics", "/panics"),
        ("healthy", "/healthy"),
    ] {
        let client = RegisteredClient::public(id.parse().unwrap()).with_backchannel_logout_uri(path(url));
        oauth_core::store::ClientStore::put_client(&*ada.fixture.clients, client)
            .await
            .unwrap();
        grant(&ada, id).await;
    }
    ada.clients.respond("/fails", Some(500));
    ada.end().await;
    let mut codes = ada.codes().await;
    codes.sort_unstable();
    let expected = [
        ("logout_failed", Some("logout_endpoint_unreachable")),
        ("logout_failed", Some("logout_refused")),
        ("logout_sent", None),
    ];
    assert_eq!(codes, expected);
}

/// O34: a client without a URL, and one that is no longer registered, get no logout.
#[tokio::test]
async fn client_without_url_gets_no_logout() {
    let ada = SignedIn::new().await;
    let client = RegisteredClient::public("quiet".parse().unwrap());
    oauth_core::store::ClientStore::put_client(&*ada.fixture.clients, client)
        .await
        .unwrap();
    for id in ["quiet", "gone"] {
        grant(&ada, id).await;
    }
    ada.end().await;
    assert_eq!(ada.codes().await, []);
    ada.advance(2 * MINUTE);
    assert_eq!(ada.codes().await, []);
    assert!(ada.clients.take().is_empty());
}

/// O34, O35: signing out of one client, and withdrawing its consent, send a logout to this client
/// alone; the session of the user stays active.
#[tokio::test]
async fn sign_out_of_client_sends_logout_to_it_alone() {
    for is_withdrawn in [false, true] {
        let ada = SignedIn::new().await;
        ada.tokens().await;
        grant(&ada, "other").await;
        let (user, web) = ("ada".parse().unwrap(), "web".parse().unwrap());
        let (event, expected) = if is_withdrawn {
            (
                ada.fixture.server.withdraw_consent(&user, &web).await,
                "consent_withdrawn",
            )
        } else {
            (
                ada.fixture.server.sign_out_of_client(&user, &web).await,
                "signed_out_of_client",
            )
        };
        assert_eq!(event.unwrap().kind.code(), expected);
        assert_eq!(ada.codes().await, [("logout_sent", None)]);
        assert_eq!(ada.sessions.list(&user).await.unwrap().len(), 1);
        let again = ada.fixture.server.sign_out_of_client(&user, &web).await;
        assert!(again.is_ok());
        assert_eq!(ada.codes().await, []);
    }
}

/// O34: a logout is signed by the algorithm of the client's ID tokens.
#[tokio::test]
async fn logout_token_has_algorithm_of_id_tokens() {
    let ada = SignedIn::new().await;
    let id_token = ada.tokens().await["id_token"].as_str().unwrap().to_owned();
    ada.end().await;
    assert_eq!(ada.codes().await.len(), 1);
    let sent = ada.clients.take();
    let form = Params::parse(sent[0].body()).unwrap();
    let logout = form.optional("logout_token").unwrap();
    let header = |token: &str| {
        use base64::Engine as _;
        let header = token.split('.').next().unwrap();
        let header = base64::engine::general_purpose::URL_SAFE_NO_PAD
            .decode(header)
            .unwrap();
        serde_json::from_slice::<Value>(&header).unwrap()
    };
    assert_eq!(header(logout)["alg"], header(&id_token)["alg"]);
    assert_eq!(header(logout)["kid"], header(&id_token)["kid"]);
    assert_eq!(header(logout)["typ"], "logout+jwt");
    // it authenticates at no endpoint
    let asked = change(web_request(), "id_token_hint", Some(logout));
    assert_eq!(
        ada.fixture.refused(&asked).await.events[0].reason.unwrap().code(),
        "id_token_hint_invalid"
    );
}

/// O34: metadata say whether the server sends logouts.
#[tokio::test]
async fn metadata_announce_backchannel_logout() {
    let document = |fixture: &Fixture| {
        let request = Request::get("/.well-known/openid-configuration")
            .body(Bytes::new())
            .unwrap();
        serde_json::from_slice::<Value>(fixture.server.metadata(&request).body()).unwrap()
    };
    let (with, without) = (SignedIn::new().await.fixture, Fixture::new());
    for member in [
        "backchannel_logout_supported",
        "backchannel_logout_session_supported",
    ] {
        assert_eq!(document(&with)[member], true);
        assert_eq!(document(&without)[member], false);
    }
    assert_eq!(without.server.send_logouts().await.unwrap(), []);
}

/// Stores a grant of the session to a client, without the front channel.
async fn grant(ada: &SignedIn, client_id: &str) {
    use oauth_core::pkce::CodeChallenge;
    use oauth_core::secret::TokenHash;
    use oauth_core::store::{
        AccessTokenRecord, AuthorizationCodeRecord, CodeRedemption, FamilyId, Grant, TokenFamily, TokenStore,
    };
    use oauth_core::vocabulary::AccessTokenTerms;
    let now = ada.fixture.now();
    let (client, user) = (client_id.parse().unwrap(), "ada".parse().unwrap());
    let mut grant = Grant::new(client, user, "openid".parse().unwrap(), now);
    grant.session = Some(ada.session);
    let hash = TokenHash::new(client_id);
    let challenge = CodeChallenge::from_bytes([7; 32]);
    let uri = "https://app.example/callback".parse().unwrap();
    let code = AuthorizationCodeRecord::new(hash, uri, challenge, grant.clone(), now);
    let _inserted = ada.store.insert_code(code).await.unwrap();
    let mut id = [0; 16];
    id[..client_id.len().min(16)].copy_from_slice(&client_id.as_bytes()[..client_id.len().min(16)]);
    let id = FamilyId::from_bytes(id);
    let (expires_at, retain_until) = (now + 60 * MINUTE, now + 600 * MINUTE);
    let terms = AccessTokenTerms {
        client_id: grant.client_id.clone(),
        subject: grant.subject.clone(),
        scopes: grant.scopes.clone(),
        audience: Vec::new(),
        confirmation: None,
        issued_at: now,
        expires_at,
    };
    let family = TokenFamily {
        id,
        grant,
        confirmation: None,
        created_at: now,
        expires_at,
        retain_until,
        revoked: None,
    };
    let token = TokenHash::new(&format!("{client_id} at"));
    let redemption = CodeRedemption {
        code: hash,
        family,
        access: AccessTokenRecord::new(token, client_id, Some(id), terms),
        refresh: None,
    };
    let _outcome = ada.store.redeem_code(redemption, now).await.unwrap();
}

/// O34: the family of a code outlives its session, so that the end of the session finds its client.
#[tokio::test]
async fn family_is_kept_as_long_as_its_session() {
    use oauth_core::grant::RefreshTokenLifetime;
    use oauth_core::store::TokenStore as _;
    let ada = SignedIn::new().await;
    let short = RefreshTokenLifetime::new(10 * MINUTE, 10 * MINUTE).unwrap();
    let shorten = |client: RegisteredClient| client.with_refresh_token_lifetime(short);
    ada.fixture.change_client("web", shorten).await;
    ada.tokens().await;
    let end: SystemTime = {
        let cookie_sessions = ada.sessions.list(&"ada".parse().unwrap()).await.unwrap();
        cookie_sessions[0].expires_at
    };
    // the user stays active until the end
    let purged = end - MINUTE;
    ada.store.purge_tokens(purged).await.unwrap();
    let reason = oauth_core::store::RevocationReason::SignedOut;
    let ended = ada.store.end_session(&ada.session, reason, purged).await.unwrap();
    assert_eq!(ended.families, 1);
}
