//! Requests with `prompt=none`, and remembered consent.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, Request};
use oauth_core::error::Reason;
use oauth_core::jose::SigningKey;
use oauth_core::memory::{MemoryConsents, MemoryTokens};
use oauth_core::params::encode;
use oauth_core::ports::StoreError;
use oauth_core::server::{
    AuthEventKind, Authentication, Authorize, Consent, EndpointResponse, SessionLookup, SessionLookupOutcome,
    SessionQuery,
};
use oauth_core::store::{ConsentRecord, ConsentStore, RegisteredClient};
use oauth_core::vocabulary::{ClientId, Subject};

use super::fixture::{
    API, Fixture, ISSUER, Pairs, Tokens, basic, change, post, reason, redirected, web_request,
};

/// Lookup whose browsers name their users in a cookie.
#[derive(Default)]
struct Browsers {
    auth_time: Mutex<Option<SystemTime>>,
    hints: Mutex<Vec<Option<String>>>,
}

#[async_trait]
impl SessionLookup for Browsers {
    async fn find_users(&self, query: SessionQuery<'_>) -> Result<SessionLookupOutcome, StoreError> {
        self.hints
            .lock()
            .unwrap()
            .push(query.login_hint.map(str::to_owned));
        let cookie = query.headers.get("cookie").map(|cookie| cookie.to_str().unwrap());
        let auth_time = self.auth_time.lock().unwrap().unwrap();
        match cookie {
            Some("terms") => Ok(SessionLookupOutcome::InteractionRequired),
            Some("broken") => Err(StoreError::unavailable("the sessions")),
            users => {
                let users = users.unwrap_or_default().split_whitespace();
                let users = users.map(|user| Authentication::new(user.parse().unwrap(), auth_time));
                Ok(SessionLookupOutcome::Users(users.collect()))
            }
        }
    }
}

struct World {
    fixture: Fixture,
    browsers: Arc<Browsers>,
    consents: Arc<MemoryConsents>,
}

impl World {
    fn new() -> Self {
        let browsers = Arc::new(Browsers::default());
        let consents = Arc::new(MemoryConsents::new());
        let (lookup, store) = (browsers.clone(), consents.clone());
        let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
            builder.with_session_lookup(lookup).with_consents(store)
        });
        *browsers.auth_time.lock().unwrap() = Some(fixture.now() - Duration::from_secs(5));
        Self {
            fixture,
            browsers,
            consents,
        }
    }

    /// Sends a silent request from a browser with this cookie.
    async fn silent(&self, cookie: &str, pairs: &Pairs<'_>) -> EndpointResponse {
        let pairs = change(pairs.clone(), "prompt", Some("none"));
        let uri = format!("{ISSUER}/authorize?{}", encode(pairs));
        let request = Request::get(uri).header("cookie", cookie);
        match self
            .fixture
            .server
            .authorize(request.body(Bytes::new()).unwrap())
            .await
        {
            Authorize::Respond(response) => response,
            Authorize::Interact(_) => panic!("a silent request asks for a page"),
        }
    }

    /// The code or the error of a response.
    async fn outcome(&self, cookie: &str, pairs: &Pairs<'_>) -> Result<String, (String, &'static str)> {
        let response = self.silent(cookie, pairs).await;
        let (_, params) = redirected(&response.response);
        assert_eq!(params.optional("state"), Some("a state & more"));
        assert_eq!(params.optional("iss"), Some(ISSUER));
        match params.optional("code") {
            Some(code) => Ok(code.to_owned()),
            None => Err((
                params.optional("error").expect("an error").to_owned(),
                reason(&response),
            )),
        }
    }

    async fn refused(&self, cookie: &str, pairs: &Pairs<'_>, error: &str, reason: Reason) {
        let expected = Err((error.to_owned(), reason.code()));
        assert_eq!(self.outcome(cookie, pairs).await, expected, "{cookie}");
    }

    /// An ID token of `ada` for `web`.
    async fn id_token(&self) -> String {
        let tokens = self.fixture.sign_in().await;
        tokens.body["id_token"].as_str().unwrap().to_owned()
    }
}

/// O28, O35: after a sign-in with consent, a silent request of the same user gets a code, whose
/// tokens are for the same user.
#[tokio::test]
async fn silent_request_gets_code_from_session_and_consent() {
    let world = World::new();
    world.fixture.sign_in().await;
    let request = change(web_request(), "nonce", Some("the second nonce"));
    let code = world.outcome("ada", &request).await.expect("a code");
    let tokens = Tokens::of(&world.fixture.redeem(&code).await);
    assert_eq!(world.fixture.introspect(&tokens.access).await["sub"], "ada");
    assert!(tokens.body["id_token"].is_string());
    // the code is for one use, as every code
    let again = world.fixture.redeem(&code).await;
    assert_eq!(again.response.status(), 400);
}

/// O28: without a session, with several, and with a host that must show a page, the client gets the
/// error of OpenID Connect.
#[tokio::test]
async fn silent_request_without_one_session_gets_its_error() {
    let world = World::new();
    world.fixture.sign_in().await;
    let request = web_request();
    world
        .refused("", &request, "login_required", Reason::LoginRequired)
        .await;
    let several = Reason::AccountSelectionRequired;
    world
        .refused("ada bob", &request, "account_selection_required", several)
        .await;
    let page = Reason::InteractionRequired;
    world
        .refused("terms", &request, "interaction_required", page)
        .await;

    let broken = world.silent("broken", &request).await;
    assert_eq!(broken.response.status(), 503);
    assert!(!broken.response.headers().contains_key("location"));
}

/// O28, O35: a user without consent, or with consent to fewer scopes, gets `consent_required`.
#[tokio::test]
async fn silent_request_without_consent_is_refused() {
    let world = World::new();
    let request = web_request();
    let refusal = ("consent_required", Reason::ConsentRequired);
    world.refused("ada", &request, refusal.0, refusal.1).await;
    let fewer = change(request.clone(), "scope", Some("openid read:charges"));
    world.fixture.code_for(&fewer).await;
    world.refused("ada", &request, refusal.0, refusal.1).await;
    assert!(world.outcome("ada", &fewer).await.is_ok());
    world.refused("bob", &fewer, refusal.0, refusal.1).await;
    // consent to one client is not consent to another
    let other = change(fewer, "client_id", Some("other"));
    world.refused("ada", &other, refusal.0, refusal.1).await;
}

/// O35: a client with implied consent needs no stored consent.
#[tokio::test]
async fn implied_consent_answers_silent_request() {
    let world = World::new();
    world
        .fixture
        .change_client("web", RegisteredClient::with_implied_consent)
        .await;
    assert!(world.outcome("ada", &web_request()).await.is_ok());
}

/// O28, 34: a session that is older than `max_age` gets `login_required`.
#[tokio::test]
async fn silent_request_respects_max_age() {
    let world = World::new();
    world.fixture.sign_in().await;
    assert!(
        world
            .outcome("ada", &change(web_request(), "max_age", Some("5")))
            .await
            .is_ok()
    );
    let request = change(web_request(), "max_age", Some("4"));
    world
        .refused("ada", &request, "login_required", Reason::SignInTooOld)
        .await;
}

/// O28: with `id_token_hint`, only its user is accepted; the token may have expired.
#[tokio::test]
async fn id_token_hint_selects_its_user() {
    let world = World::new();
    let token = world.id_token().await;
    let request = change(web_request(), "id_token_hint", Some(&token));
    assert!(world.outcome("ada", &request).await.is_ok());
    assert!(world.outcome("bob ada", &request).await.is_ok());
    world
        .refused("bob", &request, "login_required", Reason::LoginRequired)
        .await;
    world
        .fixture
        .clock
        .advance(Duration::from_secs(30 * 24 * 60 * 60));
    assert!(world.outcome("ada", &request).await.is_ok());
}

/// O28: a hint that is not an ID token of this server for this client is refused.
#[tokio::test]
async fn foreign_id_token_hint_is_refused() {
    let world = World::new();
    let tokens = world.fixture.sign_in().await;
    let own = tokens.body["id_token"].as_str().unwrap();
    let (signed, signature) = own.rsplit_once('.').unwrap();
    let reversed: String = signature.chars().rev().collect();
    let forged = format!("{signed}.{reversed}");
    let other = change(web_request(), "client_id", Some("other"));
    let hints = [
        (web_request(), tokens.access.as_str()),
        (web_request(), &forged),
        (web_request(), "not a token"),
        (web_request(), ""),
        (other, own),
    ];
    for (request, hint) in hints {
        let request = change(request, "id_token_hint", Some(hint));
        let outcome = world.outcome("ada", &request).await;
        if hint.is_empty() {
            // an empty parameter is an absent parameter
            assert!(outcome.is_ok());
        } else {
            let expected = ("invalid_request".to_owned(), Reason::IdTokenHintInvalid.code());
            assert_eq!(outcome, Err(expected), "{hint}");
        }
    }
    // a key that is no longer published: the user is unknown
    let elsewhere = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        let key = SigningKey::generate_ed25519(&host_ports::testing::SeededEntropy::new(77)).unwrap();
        builder.with_signing_keys(oauth_core::jose::SigningKeys::new(key))
    });
    let foreign = elsewhere.sign_in().await.body["id_token"]
        .as_str()
        .unwrap()
        .to_owned();
    let request = change(web_request(), "id_token_hint", Some(&foreign));
    world
        .refused("ada", &request, "login_required", Reason::LoginRequired)
        .await;
}

/// O28: in an interactive request with a hint, the host learns the user, and another user is
/// refused.
#[tokio::test]
async fn interactive_sign_in_of_another_user_is_refused() {
    let world = World::new();
    let token = world.id_token().await;
    let request = change(web_request(), "id_token_hint", Some(&token));
    for (user, accepted) in [("bob", false), ("ada", true)] {
        let interaction = world.fixture.interact(&request).await;
        let expected: Subject = "ada".parse().unwrap();
        assert_eq!(interaction.details.expected_subject, Some(expected));
        let user = Authentication::new(user.parse().unwrap(), world.fixture.now());
        let (id, browser) = (&interaction.id, interaction.browser.expose());
        let decision = Consent::Granted(user);
        let response = world
            .fixture
            .server
            .resume(&Request::post("/").body(()).unwrap(), id, browser, decision)
            .await;
        let (_, params) = redirected(&response.response);
        assert_eq!(params.optional("code").is_some(), accepted);
        if !accepted {
            assert_eq!(params.optional("error"), Some("login_required"));
            assert_eq!(reason(&response), Reason::IdTokenHintOfAnotherUser.code());
        }
    }
}

/// O23, O28: a pushed silent request is answered once.
#[tokio::test]
async fn pushed_silent_request_is_answered_once() {
    let world = World::new();
    world.fixture.sign_in().await;
    let pushed = change(web_request(), "prompt", Some("none"));
    let response = world.fixture.server.par(post(basic("web"), &pushed)).await;
    let body: serde_json::Value = serde_json::from_slice(response.response.body()).unwrap();
    let uri = body["request_uri"].as_str().unwrap().to_owned();
    let request = vec![("client_id", "web"), ("request_uri", uri.as_str())];
    assert!(world.outcome("ada", &request).await.is_ok());
    let again = world.outcome("ada", &request).await;
    assert_eq!(
        again,
        Err(("invalid_request_uri".to_owned(), Reason::RequestUriSpent.code()))
    );
}

/// O28: the host gets the `login_hint`.
#[tokio::test]
async fn session_lookup_gets_login_hint() {
    let world = World::new();
    world.fixture.sign_in().await;
    let request = change(web_request(), "login_hint", Some("ada@example.com"));
    assert!(world.outcome("ada", &request).await.is_ok());
    assert_eq!(
        world.browsers.hints.lock().unwrap().last(),
        Some(&Some("ada@example.com".to_owned()))
    );
}

/// O28: without a session lookup, a silent request gets `login_required`.
#[tokio::test]
async fn silent_request_without_lookup_gets_login_required() {
    let fixture = Fixture::new();
    let refused = fixture
        .refused(&change(web_request(), "prompt", Some("none")))
        .await;
    assert_eq!(reason(&refused), Reason::LoginRequired.code());
}

/// O35: the host need not ask again for what the user granted, except for `prompt=consent`; the
/// server checks the stored consent itself.
#[tokio::test]
async fn remembered_consent_skips_the_page() {
    let world = World::new();
    let (server, ada): (_, Subject) = (&world.fixture.server, "ada".parse().unwrap());
    let interaction = world.fixture.interact(&web_request()).await;
    assert!(server.needs_consent(&interaction.details, &ada).await.unwrap());
    // a host that skips the page without a stored consent gets no code
    let resume = async |interaction: &oauth_core::server::Interaction, decision| {
        let (id, browser) = (&interaction.id, interaction.browser.expose());
        server.resume(&Request::new(()), id, browser, decision).await
    };
    let early = resume(&interaction, Consent::Remembered(world.fixture.ada())).await;
    assert_eq!(reason(&early), Reason::ConsentRequired.code());

    world.fixture.code().await;
    let again = world.fixture.interact(&web_request()).await;
    assert!(!server.needs_consent(&again.details, &ada).await.unwrap());
    assert!(
        server
            .needs_consent(&again.details, &"bob".parse().unwrap())
            .await
            .unwrap()
    );
    let response = resume(&again, Consent::Remembered(world.fixture.ada())).await;
    assert!(redirected(&response.response).1.optional("code").is_some());
    let asked = world
        .fixture
        .interact(&change(web_request(), "prompt", Some("consent")))
        .await;
    assert!(server.needs_consent(&asked.details, &ada).await.unwrap());
}

/// O35: a refusal of the user is not remembered, and a narrowed grant is remembered as such.
#[tokio::test]
async fn only_granted_scopes_are_remembered() {
    let world = World::new();
    let (server, web): (_, ClientId) = (&world.fixture.server, "web".parse().unwrap());
    let ada: Subject = "ada".parse().unwrap();
    let decide = async |decision| {
        let interaction = world.fixture.interact(&web_request()).await;
        let (id, browser) = (&interaction.id, interaction.browser.expose());
        let _sent = server
            .resume(&Request::post("/").body(()).unwrap(), id, browser, decision)
            .await;
        world.consents.consent(&ada, &web).await.unwrap()
    };
    assert_eq!(decide(Consent::Denied).await, None);
    let narrow = world
        .fixture
        .ada()
        .with_scopes("openid read:charges".parse().unwrap());
    let stored = decide(Consent::Granted(narrow)).await;
    let scopes = "openid read:charges".parse().unwrap();
    let expected = ConsentRecord::new(
        ada.clone(),
        web.clone(),
        &scopes,
        &[API.parse().unwrap()],
        world.fixture.now(),
    );
    assert_eq!(stored, Some(expected));
}

/// O35: withdrawing the consent ends the tokens and codes of the client, and it must ask again.
#[tokio::test]
async fn withdrawn_consent_ends_grants_of_client() {
    let world = World::new();
    let tokens = world.fixture.sign_in().await;
    let code = world.fixture.code().await;
    let (ada, web) = ("ada".parse().unwrap(), "web".parse().unwrap());
    let event = world.fixture.server.withdraw_consent(&ada, &web).await.unwrap();
    assert_eq!(event.kind, AuthEventKind::ConsentWithdrawn);
    assert!(!world.fixture.is_active(&tokens.access).await);
    assert!(!world.fixture.is_active(&tokens.refresh).await);
    assert_eq!(world.fixture.redeem(&code).await.response.status(), 400);
    let refusal = Reason::ConsentRequired;
    world
        .refused("ada", &web_request(), "consent_required", refusal)
        .await;
    assert!(world.consents.consents_of(&ada).await.unwrap().is_empty());
}

/// Consent store that removes the consent after the first lookup, as a concurrent withdrawal does.
struct WithdrawnMeanwhile(MemoryConsents);

#[async_trait]
impl ConsentStore for WithdrawnMeanwhile {
    async fn add_consent(&self, consent: ConsentRecord) -> Result<(), StoreError> {
        self.0.add_consent(consent).await
    }

    async fn consent(
        &self,
        subject: &Subject,
        client_id: &ClientId,
    ) -> Result<Option<ConsentRecord>, StoreError> {
        let found = self.0.consent(subject, client_id).await;
        self.0.remove_consent(subject, client_id).await?;
        found
    }

    async fn consents_of(&self, subject: &Subject) -> Result<Vec<ConsentRecord>, StoreError> {
        self.0.consents_of(subject).await
    }

    async fn remove_consent(&self, subject: &Subject, client_id: &ClientId) -> Result<bool, StoreError> {
        self.0.remove_consent(subject, client_id).await
    }
}

/// O28, O35: a consent that is withdrawn during a silent request, or while the host continues with
/// the stored consent, gives no code.
#[tokio::test]
async fn consent_withdrawn_meanwhile_gives_no_code() {
    let mut world = World::new();
    let lookup = world.browsers.clone();
    world.fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        let consents = WithdrawnMeanwhile(MemoryConsents::new());
        builder.with_session_lookup(lookup).with_consents(consents)
    });
    world.fixture.sign_in().await;
    let refusal = Reason::ConsentRequired;
    world
        .refused("ada", &web_request(), "consent_required", refusal)
        .await;

    world.fixture.sign_in().await;
    let interaction = world.fixture.interact(&web_request()).await;
    let (id, browser) = (&interaction.id, interaction.browser.expose());
    let decision = Consent::Remembered(world.fixture.ada());
    let server = &world.fixture.server;
    let response = server.resume(&Request::new(()), id, browser, decision).await;
    assert_eq!(reason(&response), refusal.code());
    assert_eq!(redirected(&response.response).1.optional("code"), None);
}

/// Consent store that loses each consent, as if it were withdrawn at once.
struct WithdrawnAtOnce(MemoryConsents);

#[async_trait]
impl ConsentStore for WithdrawnAtOnce {
    async fn add_consent(&self, consent: ConsentRecord) -> Result<(), StoreError> {
        let (subject, client_id) = (consent.subject.clone(), consent.client_id.clone());
        self.0.add_consent(consent).await?;
        self.0.remove_consent(&subject, &client_id).await.map(drop)
    }

    async fn consent(
        &self,
        subject: &Subject,
        client_id: &ClientId,
    ) -> Result<Option<ConsentRecord>, StoreError> {
        self.0.consent(subject, client_id).await
    }

    async fn consents_of(&self, subject: &Subject) -> Result<Vec<ConsentRecord>, StoreError> {
        self.0.consents_of(subject).await
    }

    async fn remove_consent(&self, subject: &Subject, client_id: &ClientId) -> Result<bool, StoreError> {
        self.0.remove_consent(subject, client_id).await
    }
}

/// O35: a consent that is withdrawn while its own code is issued gives no code, so that no client
/// has tokens that the list of applications does not show.
#[tokio::test]
async fn consent_withdrawn_at_once_gives_no_code() {
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        builder.with_consents(WithdrawnAtOnce(MemoryConsents::new()))
    });
    let interaction = fixture.interact(&web_request()).await;
    let response = fixture.grant(&interaction).await;
    assert_eq!(reason(&response), Reason::ConsentRequired.code());
    assert_eq!(redirected(&response.response).1.optional("code"), None);
}

/// O35: `prompt=consent` asks even if the host continues with the stored consent.
#[tokio::test]
async fn prompted_consent_is_never_remembered() {
    let world = World::new();
    world.fixture.sign_in().await;
    let request = change(web_request(), "prompt", Some("consent"));
    let interaction = world.fixture.interact(&request).await;
    let (id, browser) = (&interaction.id, interaction.browser.expose());
    let decision = Consent::Remembered(world.fixture.ada());
    let request = Request::new(());
    let response = world.fixture.server.resume(&request, id, browser, decision).await;
    assert_eq!(reason(&response), Reason::ConsentRequired.code());
}

/// O28: the debug text of a query does not show the cookies of the browser.
#[test]
fn query_does_not_show_cookies() {
    let headers = HeaderMap::from_iter([(http::header::COOKIE, "session=secret".parse().unwrap())]);
    let client_id = "web".parse().unwrap();
    let query = SessionQuery::new(&headers, &client_id);
    assert!(!format!("{query:?}").contains("secret"));
}

/// O28, O35: an application that pretends to be a native client gets no code without a question,
/// unless the registration relaxes that.
#[tokio::test]
async fn consent_to_native_client_is_asked_each_time() {
    let world = World::new();
    let (server, ada): (_, Subject) = (&world.fixture.server, "ada".parse().unwrap());
    let request = change(web_request(), "client_id", Some("native"));
    let request = change(request, "redirect_uri", Some("http://127.0.0.1:4711/callback"));
    world.fixture.code_for(&request).await;
    let refusal = Reason::ConsentRequired;
    world.refused("ada", &request, "consent_required", refusal).await;
    let interaction = world.fixture.interact(&request).await;
    assert!(server.needs_consent(&interaction.details, &ada).await.unwrap());

    let relax = RegisteredClient::danger_remember_consent_without_https;
    world.fixture.change_client("native", relax).await;
    assert!(world.outcome("ada", &request).await.is_ok());
    assert!(!server.needs_consent(&interaction.details, &ada).await.unwrap());
}

/// O28, O35: a stored consent covers a public client with an `https` redirect URI, such as a
/// browser application.
#[tokio::test]
async fn consent_to_browser_application_is_remembered() {
    let world = World::new();
    let uri = oauth_core::vocabulary::RegisteredRedirectUri::exact("https://spa.example/").unwrap();
    world
        .fixture
        .change_client("native", |client| client.with_redirect_uri(uri))
        .await;
    let request = change(web_request(), "client_id", Some("native"));
    let request = change(request, "redirect_uri", Some("https://spa.example/"));
    world.fixture.code_for(&request).await;
    assert!(world.outcome("ada", &request).await.is_ok());
}
