//! Clocks at the limits of `SystemTime`: sums that overflow count as expired, and nothing panics.

use host_ports::testing::ManualClock;
use oauth_core::vocabulary::AccessTokenTerms;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{Request, Response};
use oauth_core::client::{AuthorizationParams, CallbackError, Client, Provider};
use oauth_core::grant::{TokenPolicy, authorization_code, client_credentials, refresh_token};
use oauth_core::jose::{AccessTokenClaims, AccessTokenPolicy, KeySet, SigningKey, SigningKeys};
use oauth_core::memory::{MemoryClients, MemoryInteractions, MemoryTokens};
use oauth_core::params::encode;
use oauth_core::ports::OsEntropy;
use oauth_core::secret::TokenHash;
use oauth_core::server::{Authentication, AuthorizationServer, Authorize, Consent};
use oauth_core::store::{
    AccessTokenRecord, AuthorizationCodeRecord, ClientSecrets, FamilyId, Grant, GrantType, RefreshTokenState,
    RegisteredClient,
};
use oauth_core::vocabulary::{RegisteredRedirectUri, Scopes};

const CALLBACK: &str = "https://app.example/cb";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// Instants at and near both limits of `SystemTime`, and 1970.
fn instants() -> Vec<SystemTime> {
    let step = |reach: &dyn Fn(SystemTime, Duration) -> Option<SystemTime>| {
        let mut end = SystemTime::UNIX_EPOCH;
        for bit in (0..63).rev() {
            end = reach(end, Duration::from_secs(1 << bit)).unwrap_or(end);
        }
        end
    };
    let (last, first) = (
        step(&|time, by| time.checked_add(by)),
        step(&|time, by| time.checked_sub(by)),
    );
    vec![
        last,
        last - Duration::from_secs(61),
        last - Duration::from_secs(3_600),
        first,
        SystemTime::UNIX_EPOCH - Duration::from_secs(1),
        SystemTime::UNIX_EPOCH,
    ]
}

fn scopes() -> Scopes {
    "read:charges".parse().unwrap()
}

fn web() -> RegisteredClient {
    let secrets = ClientSecrets::new(&"secret".parse().unwrap());
    RegisteredClient::confidential("web".parse().unwrap(), secrets)
        .with_redirect_uri(RegisteredRedirectUri::exact(CALLBACK).unwrap())
        .with_grant_types(GrantType::ALL)
        .with_scopes(scopes())
        .with_secret_post()
}

fn post(pairs: &[(&str, &str)]) -> Request<Bytes> {
    let credentials = [("client_id", "web"), ("client_secret", "secret")];
    Request::post("/")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(encode(pairs.iter().copied().chain(credentials)).into())
        .unwrap()
}

#[tokio::test]
async fn server_survives_any_clock() {
    for now in instants() {
        let server = AuthorizationServer::builder("https://as.example")
            .with_clients(MemoryClients::from_iter([web()]))
            .with_interactions(MemoryInteractions::new())
            .with_tokens(MemoryTokens::new())
            .with_clock(ManualClock::new(now))
            .with_entropy(OsEntropy)
            .with_signing_keys(SigningKeys::new(SigningKey::generate_es256(&OsEntropy).unwrap()))
            .with_audience("api")
            .build()
            .unwrap();
        let query = encode([
            ("response_type", "code"),
            ("client_id", "web"),
            ("redirect_uri", CALLBACK),
            ("scope", "read:charges"),
            ("state", "s"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
        ]);
        let request = Request::get(format!("/authorize?{query}"))
            .body(Bytes::new())
            .unwrap();
        let Authorize::Interact(interaction) = server.authorize(request).await else {
            panic!("refused at {now:?}");
        };
        let decision = Consent::Granted(Authentication::new("ada".parse().unwrap(), now));
        let browser = interaction.browser.expose();
        let answer = server
            .resume(
                &Request::post("/").body(()).unwrap(),
                &interaction.id,
                browser,
                decision,
            )
            .await;
        if let Some((_, rest)) = answer
            .response
            .headers()
            .get("location")
            .and_then(|location| location.to_str().unwrap().split_once("code="))
        {
            let code = rest.split('&').next().unwrap();
            let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
            let redemption = [
                ("grant_type", "authorization_code"),
                ("code", code),
                ("code_verifier", verifier),
            ];
            drop(server.token(post(&redemption)).await);
        }
        drop(server.token(post(&[("grant_type", "client_credentials")])).await);
        drop(server.introspect(post(&[("token", "x")])).await);
        drop(server.jwks(&Request::get("/").body(Bytes::new()).unwrap()));
    }
}

#[test]
fn decisions_survive_any_clock() {
    let (policy, client, last) = (TokenPolicy::default(), web(), instants()[0]);
    let grant = Grant::new(client.id.clone(), "ada".parse().unwrap(), scopes(), last);
    let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    let redemption = authorization_code::Request {
        client: &client,
        redirect_uri: None,
        code_verifier: Some(verifier),
        resources: &[],
        confirmation: None,
    };
    let record = |issued_at| {
        let hash = TokenHash::new("code");
        let callback = CALLBACK.parse().unwrap();
        AuthorizationCodeRecord::new(
            hash,
            callback,
            CHALLENGE.parse().unwrap(),
            grant.clone(),
            issued_at,
        )
    };
    // not expired at any of the other instants
    let mut code = record(SystemTime::UNIX_EPOCH);
    code.expires_at = last;
    let redeem = |now| match authorization_code::redeem(&code, &redemption, &policy, now) {
        authorization_code::RedemptionDecision::Redeem(plan) => Some(*plan),
        _ => None,
    };
    let plan = redeem(SystemTime::UNIX_EPOCH).unwrap();
    for now in instants() {
        assert!(record(now).expires_at >= now);
        drop(redeem(now));
        let request = client_credentials::Request {
            client: &client,
            scopes: None,
            audience: &[],
            resources: &[],
            confirmation: None,
        };
        let issued = client_credentials::issue(&request, &policy, now).unwrap();
        assert!(issued.expires_at >= now);
        let family = FamilyId::from_bytes([7; 16]);
        let access = AccessTokenRecord::new(TokenHash::new("at"), "1", Some(family), plan.access.clone());
        let stored = plan.clone().commit(family, access, Some(TokenHash::new("rt")));
        let mut state = RefreshTokenState::new(stored.refresh.unwrap(), stored.family);
        (state.token.expires_at, state.family.expires_at) = (last, last);
        let request = refresh_token::Request {
            client: &client,
            scopes: None,
            resources: &[],
            confirmation: None,
        };
        drop(refresh_token::rotate(&state, &request, &policy, now));
    }
}

#[test]
fn client_survives_any_clock() {
    let provider = Provider::new(
        "https://as.example".parse().unwrap(),
        "https://as.example/authorize".parse().unwrap(),
        "https://as.example/token".parse().unwrap(),
    );
    let client = Client::new(provider, "c".parse().unwrap());
    let [last, ..] = instants()[..] else {
        panic!("no instants")
    };
    let params = AuthorizationParams::new(CALLBACK.parse().unwrap(), scopes());
    let (_, pending) = client.authorize(&params, &OsEntropy, last).unwrap();
    let query = format!("code=c&state={}&iss=https://as.example", pending.state());
    assert_eq!(pending.finish(&query, last).unwrap_err(), CallbackError::Expired);
    // a public client signs nothing
    let call = client.refresh(&"rt".parse().unwrap(), &scopes());
    let (_, pending) = call.start(&OsEntropy, last).unwrap();
    let body = r#"{"access_token":"at","token_type":"Bearer","expires_in":4294967295}"#;
    let tokens = pending.finish(Response::new(body.into()), last).unwrap();
    assert_eq!(tokens.expires_at(), Some(last), "over at once");
}

/// O15: tokens are verified at any instant without a panic.
#[test]
fn verifier_survives_any_clock() {
    let key = SigningKey::generate_es256(&OsEntropy).unwrap();
    let keys = KeySet::new([key.public_key().clone()]).unwrap();
    let issued_at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let claims = AccessTokenClaims {
        terms: AccessTokenTerms {
            subject: "ada".parse().unwrap(),
            audience: vec!["api".parse().unwrap()],
            client_id: "web".parse().unwrap(),
            scopes: scopes(),
            issued_at,
            expires_at: issued_at + Duration::from_secs(600),
            confirmation: None,
        },
        issuer: "https://as.example".parse().unwrap(),
        jti: "1".to_owned(),
        auth_time: None,
    };
    let token = claims.sign(&key).unwrap();
    let policy = AccessTokenPolicy::new(claims.issuer.clone(), "api".parse().unwrap());
    for now in instants() {
        assert!(AccessTokenClaims::verify(token.expose(), &keys, &policy, now).is_err());
    }
}
