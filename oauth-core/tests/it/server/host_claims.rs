//! Claims of the host in tokens and responses.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use oauth_core::grant::{AccessTokenFormat, RetryPepper, RetryWindow};
use oauth_core::jose::{AccessTokenPolicy, IdTokenClaims, IdTokenPolicy};
use oauth_core::memory::MemoryTokens;
use oauth_core::ports::StoreError;
use oauth_core::server::{ClaimsQuery, ClaimsSource, ClaimsTarget, Consent};
use oauth_core::store::SessionId;
use oauth_core::vocabulary::Claims;
use serde_json::{Value, json as object};

use super::fixture::{API, Fixture, ISSUER, Tokens, basic, json, post, redirected, web_request, with_bearer};

/// Source that names the target of each question, and fails on request.
#[derive(Default)]
struct Roles {
    asked: Mutex<Vec<(ClaimsTarget, String, String)>>,
    fails: Mutex<bool>,
    version: Mutex<u64>,
}

#[async_trait]
impl ClaimsSource for Roles {
    async fn claims(&self, query: ClaimsQuery<'_>) -> Result<Claims, StoreError> {
        if *self.fails.lock().unwrap() {
            return Err(StoreError::unavailable("the roles"));
        }
        let scopes = query.scopes.to_string();
        let subject = query.subject.to_string();
        self.asked.lock().unwrap().push((query.target, subject, scopes));
        let target = format!("{:?}", query.target);
        let claims = Claims::new().with_roles(["support"]).with_tenant("acme");
        let version = *self.version.lock().unwrap();
        Ok(claims
            .with("target", target)
            .unwrap()
            .with("version", version)
            .unwrap())
    }
}

fn fixture(format: AccessTokenFormat) -> (Fixture, Arc<Roles>) {
    let roles = Arc::new(Roles::default());
    let source = roles.clone();
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        builder
            .with_claims_source(source)
            .with_access_token_format(format)
    });
    (fixture, roles)
}

/// Signs in with claims of the sign-in.
async fn sign_in(fixture: &Fixture) -> Tokens {
    let claims = Claims::new()
        .with_acr("gold")
        .with_amr(["pwd", "otp"])
        .with_email_verified(true);
    let claims = claims.with("department", "payments").unwrap();
    let interaction = fixture.interact(&web_request()).await;
    let (id, browser) = (&interaction.id, interaction.browser.expose());
    let decision = Consent::Granted(fixture.ada().with_claims(claims));
    let answer = fixture
        .server
        .resume(&http::Request::post("/").body(()).unwrap(), id, browser, decision)
        .await;
    let code = redirected(&answer.response)
        .1
        .optional("code")
        .unwrap()
        .to_owned();
    Tokens::of(&fixture.redeem(&code).await)
}

/// The claims of a JWT, which is not verified.
fn claims_of(token: &str) -> Value {
    use base64::Engine;
    let payload = token.split('.').nth(1).unwrap();
    let payload = base64::engine::general_purpose::URL_SAFE_NO_PAD
        .decode(payload)
        .unwrap();
    serde_json::from_slice(&payload).unwrap()
}

/// Source that copies claims of another issuer's token without a check.
struct Upstream;

#[async_trait]
impl ClaimsSource for Upstream {
    async fn claims(&self, _: ClaimsQuery<'_>) -> Result<Claims, StoreError> {
        let claims = object!({
            "sub": "eve", "scope": "admin", "aud": "https://evil.example", "cnf": {}, "jti": "x", "exp": 1,
            "active": true, "client_id": "evil", "department": "payments",
        });
        Ok(serde_json::from_value(claims).unwrap())
    }
}

/// O29: attack: reserved names in deserialized claims reach no token and no response.
#[tokio::test]
async fn deserialized_reserved_claims_are_dropped() {
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        builder.with_claims_source(Upstream)
    });
    let tokens = sign_in(&fixture).await;
    let access = claims_of(&tokens.access);
    let id_token = claims_of(tokens.body["id_token"].as_str().unwrap());
    let introspected = fixture.introspect(&tokens.access).await;
    for claims in [access, id_token, introspected] {
        assert_eq!(claims["sub"], "ada");
        assert_eq!(claims["department"], "payments");
        let text = claims.to_string();
        assert!(!text.contains("evil") && !text.contains("admin"), "{text}");
    }
    // the parser of this crate refuses a repeated member
    assert!(fixture.is_active(&tokens.access).await);
}

/// O29: the ID token has the claims of the sign-in and of the source; the access token has those of
/// the source, `acr` and `amr`.
#[tokio::test]
async fn tokens_have_claims_of_host() {
    let (fixture, _) = fixture(AccessTokenFormat::Jwt);
    let first = sign_in(&fixture).await;
    let second = Tokens::of(&fixture.refresh(&first.refresh).await);
    for tokens in [first, second] {
        let id_token = claims_of(tokens.body["id_token"].as_str().unwrap());
        for (name, value) in [
            ("acr", object!("gold")),
            ("amr", object!(["pwd", "otp"])),
            ("email_verified", object!(true)),
            ("department", object!("payments")),
            ("roles", object!(["support"])),
            ("tenant", object!("acme")),
            ("target", object!("IdToken")),
        ] {
            assert_eq!(id_token[name], value, "{name}");
        }
        let access = claims_of(&tokens.access);
        assert_eq!(access["target"], "AccessToken");
        assert_eq!(access["acr"], "gold");
        assert_eq!(access["roles"], object!(["support"]));
        assert!(access.get("department").is_none(), "a claim for the client only");
        let issuer = ISSUER.parse().unwrap();
        let policy = AccessTokenPolicy::new(issuer, API.parse().unwrap());
        let verify = oauth_core::jose::AccessTokenClaims::verify;
        assert!(verify(&tokens.access, &fixture.keys(), &policy, fixture.now()).is_ok());
    }
}

/// O29: UserInfo and introspection have the claims that their readers get.
#[tokio::test]
async fn responses_have_claims_of_host() {
    let (fixture, _) = fixture(AccessTokenFormat::Opaque);
    let tokens = sign_in(&fixture).await;
    let user = json(
        &fixture
            .server
            .userinfo(with_bearer(&tokens.access))
            .await
            .response,
    );
    assert_eq!(user["target"], "UserInfo");
    assert_eq!(user["department"], "payments");
    assert_eq!(user["email_verified"], true);
    let introspected = fixture.introspect(&tokens.access).await;
    assert_eq!(introspected["target"], "Introspection");
    assert_eq!(introspected["acr"], "gold");
    assert!(introspected.get("department").is_none());
    assert_eq!(introspected["active"], true);
}

/// O29: the source learns the subject and the scopes, and is not asked about an inactive token.
#[tokio::test]
async fn source_is_asked_with_subject_and_scopes() {
    let (fixture, roles) = fixture(AccessTokenFormat::Jwt);
    let pairs = [("grant_type", "client_credentials"), ("scope", "read:charges")];
    Tokens::of(&fixture.server.token(post(basic("service"), &pairs)).await);
    let expected = (
        ClaimsTarget::AccessToken,
        "service".to_owned(),
        "read:charges".to_owned(),
    );
    assert_eq!(*roles.asked.lock().unwrap(), [expected]);
    assert!(!fixture.is_active("unknown").await);
    assert_eq!(roles.asked.lock().unwrap().len(), 1);
}

/// O29: a source that fails is a 503, and the code can be redeemed afterwards.
#[tokio::test]
async fn failing_source_keeps_the_code() {
    let (fixture, roles) = fixture(AccessTokenFormat::Jwt);
    let code = fixture.code().await;
    *roles.fails.lock().unwrap() = true;
    assert_eq!(fixture.redeem(&code).await.response.status(), 503);
    *roles.fails.lock().unwrap() = false;
    Tokens::of(&fixture.redeem(&code).await);
}

/// O10, O29: a retry whose claims changed is refused and revokes nothing.
#[tokio::test]
async fn retry_with_changed_claims_is_refused() {
    let roles = Arc::new(Roles::default());
    let source = roles.clone();
    let window = RetryWindow::new(Duration::from_secs(10)).unwrap();
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        let builder = builder.with_claims_source(source);
        builder.with_retry_window(window, RetryPepper::from_bytes([7; 32]))
    });
    let tokens = fixture.sign_in().await;
    let first = Tokens::of(&fixture.refresh(&tokens.refresh).await);
    assert_eq!(
        Tokens::of(&fixture.refresh(&tokens.refresh).await).access,
        first.access
    );
    *roles.version.lock().unwrap() += 1;
    assert_eq!(fixture.refresh(&tokens.refresh).await.response.status(), 400);
    assert!(fixture.is_active(&first.refresh).await);
}

/// O29, O34: a client reads further claims, and `sid` is the session of the grant.
#[tokio::test]
async fn client_reads_further_claims() {
    let fixture = Fixture::new();
    let session = SessionId::from_bytes([7; 16]);
    let interaction = fixture.interact(&web_request()).await;
    let (id, browser) = (&interaction.id, interaction.browser.expose());
    let claims = Claims::new().with_groups(["a", "b"]);
    let decision = Consent::Granted(fixture.ada().with_claims(claims).with_session(session));
    let answer = fixture
        .server
        .resume(&http::Request::post("/").body(()).unwrap(), id, browser, decision)
        .await;
    let code = redirected(&answer.response)
        .1
        .optional("code")
        .unwrap()
        .to_owned();
    // the fixture has no such session, so the code cannot be redeemed
    assert_eq!(fixture.redeem(&code).await.response.status(), 400);

    let tokens = sign_in(&fixture).await;
    let policy = IdTokenPolicy::new(ISSUER.parse().unwrap(), "web".parse().unwrap());
    let id_token = tokens.body["id_token"].as_str().unwrap();
    let read = IdTokenClaims::verify(id_token, &fixture.keys(), &policy, fixture.now()).unwrap();
    assert_eq!(read.claims.get_str("acr"), Some("gold"));
    assert_eq!(read.email_verified, Some(true));
    assert_eq!(read.claims.get("email_verified"), None);
}
