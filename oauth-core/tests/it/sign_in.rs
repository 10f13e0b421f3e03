//! The whole flow with all three roles: sign-in, API call, refresh, and revocation by a reuse.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use host_ports::testing::{ManualClock, SeededEntropy};
use http::Request;
use oauth_core::client::{
    AuthorizationParams, Call, CallError, Client, ClientCredentials, Ports, Provider, RefreshError,
    TokenError, TokenResponse, TokenSource,
};
use oauth_core::jose::{KeySet, SigningKey, SigningKeys};
use oauth_core::memory::{MemoryClients, MemoryInteractions, MemoryTokens};
use oauth_core::ports::{Clock, transport_fn};
use oauth_core::resource::{AuthenticatedToken, Challenge, ResourceServer};
use oauth_core::secret::ClientSecret;
use oauth_core::server::{Authentication, AuthorizationServer, Authorize, Consent};
use oauth_core::store::{ClientSecrets, RegisteredClient};
use oauth_core::vocabulary::{RegisteredRedirectUri, Scopes};

const ISSUER: &str = "https://as.example";
const API: &str = "https://api.example";
const FILES: &str = "https://files.example";
const CALLBACK: &str = "https://app.example/callback?tenant=1";

struct World {
    server: AuthorizationServer,
    client: Client,
    ports: Ports,
    clock: ManualClock,
    entropy: SeededEntropy,
}

impl World {
    fn new() -> Self {
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000));
        let entropy = SeededEntropy::new(7);
        let secret = ClientSecret::generate(&entropy);
        let web = RegisteredClient::confidential("web app".parse().unwrap(), ClientSecrets::new(&secret))
            .with_redirect_uri(RegisteredRedirectUri::exact(CALLBACK).unwrap())
            .with_scopes(scopes());
        let server = AuthorizationServer::builder(ISSUER)
            .with_clients(MemoryClients::from_iter([web]))
            .with_interactions(MemoryInteractions::new())
            .with_tokens(MemoryTokens::new())
            .with_clock(clock.clone())
            .with_entropy(entropy.clone())
            .with_signing_keys(SigningKeys::new(SigningKey::generate_es256(&entropy).unwrap()))
            .with_audience(API)
            .with_audience(FILES)
            .with_scopes(scopes())
            .build()
            .unwrap();
        let endpoint = |path: &str| format!("{ISSUER}{path}").parse().unwrap();
        let provider = Provider::new(
            ISSUER.parse().unwrap(),
            endpoint("/authorize"),
            endpoint("/token"),
        );
        let client = Client::new(provider, "web app".parse().unwrap())
            .with_credentials(ClientCredentials::Basic(secret));
        let peer = server.clone();
        let transport = transport_fn(move |request: Request<Bytes>| {
            let peer = peer.clone();
            async move {
                assert_eq!(request.uri(), "https://as.example/token");
                tokio::task::yield_now().await;
                Ok(peer.token(request).await.response)
            }
        });
        let ports = Ports::new(transport, entropy.clone(), clock.clone());
        Self {
            server,
            client,
            ports,
            clock,
            entropy,
        }
    }

    fn keys(&self) -> KeySet {
        let published = self.server.jwks(&Request::new(Bytes::new()));
        KeySet::parse(published.body()).unwrap()
    }

    /// The path of the browser: to the server, through the login page of the host, and back with a
    /// query.
    async fn browse(&self, url: &str) -> String {
        let request = Request::get(url).body(Bytes::new()).unwrap();
        let Authorize::Interact(interaction) = self.server.authorize(request).await else {
            unreachable!("the client's own request is valid")
        };
        let person =
            Authentication::new("ada".parse().unwrap(), self.clock.now()).with_email("ada@example.com");
        let browser = interaction.browser.expose();
        let answer = self
            .server
            .resume(
                &Request::post("/").body(()).unwrap(),
                &interaction.id,
                browser,
                Consent::Granted(person),
            )
            .await;
        let location = answer.response.headers()["location"].to_str().unwrap();
        location
            .strip_prefix("https://app.example/callback?")
            .unwrap()
            .to_owned()
    }

    async fn sign_in(&self) -> TokenResponse {
        self.redemption().await.send(&self.ports).await.unwrap()
    }

    /// The redemption of a sign-in.
    async fn redemption(&self) -> Call<TokenResponse> {
        let params = AuthorizationParams::new(CALLBACK.parse().unwrap(), scopes());
        let (url, pending) = self
            .client
            .authorize(&params, &self.entropy, self.clock.now())
            .unwrap();
        let query = self.browse(&url).await;
        pending.finish(&query, self.clock.now()).unwrap()
    }

    async fn refresh(&self, tokens: &TokenResponse) -> Result<TokenResponse, CallError<TokenError>> {
        tokens.refresh().unwrap().send(&self.ports).await
    }

    async fn call(&self, tokens: &TokenResponse) -> Result<AuthenticatedToken, Challenge> {
        let api = ResourceServer::new(ISSUER.parse().unwrap(), API.parse().unwrap(), self.keys());
        let bearer = format!("Bearer {}", tokens.access_token().expose());
        let request = Request::get("/v1/charges")
            .header("authorization", bearer)
            .body(())
            .unwrap();
        api.authenticate(&request.into_parts().0, self.clock.now()).await
    }
}

fn scopes() -> Scopes {
    "openid read:charges".parse().unwrap()
}

/// O1, O15, O18, 58: a user signs in, is known by name, and calls the API, with all three roles of
/// this crate.
#[tokio::test]
async fn user_signs_in_and_calls_api() {
    let world = World::new();
    let tokens = world.sign_in().await;
    let identity = tokens
        .identity(&world.keys(), world.clock.now())
        .unwrap()
        .unwrap();
    assert_eq!(
        (identity.subject.as_str(), identity.email.as_deref()),
        ("ada", Some("ada@example.com"))
    );

    let principal = world.call(&tokens).await.unwrap();
    assert_eq!(
        (principal.subject().as_str(), principal.client_id().as_str()),
        ("ada", "web app")
    );
    assert!(principal.require(&"read:charges".parse().unwrap()).is_ok());
    assert_eq!(
        principal
            .require(&"write:charges".parse().unwrap())
            .unwrap_err()
            .status(),
        403
    );
}

/// O10, O18: a refresh keeps the identity; the reuse of the old refresh token revokes everything.
#[tokio::test]
async fn a_replayed_refresh_token_ends_the_sign_in() {
    let world = World::new();
    let first = world.sign_in().await;
    world.clock.advance(Duration::from_secs(700));
    assert_eq!(world.call(&first).await.unwrap_err().status(), 401);

    let second = world.refresh(&first).await.unwrap();
    assert_eq!(world.call(&second).await.unwrap().subject().as_str(), "ada");
    assert!(second.identity(&world.keys(), world.clock.now()).is_ok());

    for dead in [&first, &second] {
        let Err(CallError::Response(TokenError::Refused(answer))) = world.refresh(dead).await else {
            unreachable!("the chain is dead")
        };
        assert_eq!(answer.code(), "invalid_grant");
    }
}

/// O9, O14, 49: tokens for one API are refused by another, also after a refresh.
#[tokio::test]
async fn refresh_does_not_widen_audience() {
    let world = World::new();
    let whole = world.sign_in().await;
    assert!(world.call(&whole).await.is_ok());
    let files = FILES.parse().unwrap();
    let call = world.redemption().await.with_resource(&files);
    let mut tokens = call.send(&world.ports).await.unwrap();
    for _ in 0..3 {
        assert_eq!(world.call(&tokens).await.unwrap_err().status(), 401);
        tokens = world.refresh(&tokens).await.unwrap();
    }
}

/// O9, O10, 97: sixteen concurrent callers cause one refresh at each expiry, and the sign-in
/// continues.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_callers_refresh_once_per_expiry() {
    let world = World::new();
    let first = world.sign_in().await;
    let source = TokenSource::new(first.clone(), world.ports.clone());
    let mut seen = first.access_token().expose().to_owned();
    for _ in 0..10 {
        world.clock.advance(Duration::from_secs(700));
        let callers: Vec<_> = (0..16)
            .map(|_| {
                let source = source.clone();
                tokio::spawn(async move { source.token().await })
            })
            .collect();
        let mut given = Vec::new();
        for caller in callers {
            given.push(caller.await.unwrap().unwrap().access_token().expose().to_owned());
        }
        given.dedup();
        assert_eq!(given.len(), 1);
        assert_ne!(given[0], seen);
        seen.clone_from(&given[0]);
        let present = source.current().unwrap();
        assert_eq!(world.call(&present).await.unwrap().subject().as_str(), "ada");
    }
    // a reuse still ends the sign-in, and the token source reports it
    let stolen = world.refresh(&first).await;
    assert!(matches!(stolen, Err(CallError::Response(TokenError::Refused(_)))));
    world.clock.advance(Duration::from_secs(700));
    assert!(matches!(source.token().await, Err(RefreshError::Ended(_))));
}
