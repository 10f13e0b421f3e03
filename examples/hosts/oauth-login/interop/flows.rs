//! Every flow of the client against npm `oidc-provider`: `flows ISSUER KEY`, where KEY is a file
//! with the private key of the client `assertion`.
//!
//! `interop/run` starts the issuer and then this program.
#![expect(clippy::print_stdout, reason = "it says what it has tried")]

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::try_join_all;
use host_transport_hyper::HyperTransport;
use http::header::{COOKIE, LOCATION, SET_COOKIE};
use http::{HeaderMap, Request};
use oauth_core::client::{
    AuthorizationParams, CallError, ClientCredentials, DpopKey, Ports, TokenError, TokenResponse, TokenSource,
};
use oauth_core::jose::IdTokenClaims;
use oauth_core::memory::MemoryReplays;
use oauth_core::ports::{OsEntropy, SystemClock};
use oauth_core::{Client, Provider, RemoteKeySet, ResourceServer, Scopes, SigningKey};
use webhook_core::address::AddressPolicy;

type Failure = Box<dyn Error>;

/// No server listens there: the browser stops at the link.
const CALLBACK: &str = "http://127.0.0.1:1/callback";

struct World {
    provider: Provider,
    keys: RemoteKeySet,
    ports: Ports,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (Some(issuer), Some(key)) = (arguments.next(), arguments.next()) else {
        return Err("usage: flows ISSUER KEY".into());
    };
    let port = issuer
        .parse::<http::Uri>()?
        .port_u16()
        .ok_or("the issuer has no port")?;
    let here = AddressPolicy::new()
        .danger_allow_loopback()
        .danger_allow_http()
        .with_port(port);
    let transport = Arc::new(HyperTransport::new(here));
    let provider = Provider::discover(&issuer.parse()?, &*transport).await?;
    let keys = provider.keys(transport.clone()).ok_or("no keys")?;
    let ports = Ports::new(transport, OsEntropy, SystemClock);
    let world = World {
        provider,
        keys,
        ports,
    };
    said("discovery, and the keys of the issuer");

    let basic = ClientCredentials::Basic("the secret of basic: 50% + more".parse()?);
    let post = ClientCredentials::Post("the-secret-of-post".parse()?);
    for (name, credentials) in [("basic", basic), ("post", post)] {
        let client = Client::new(world.provider.clone(), name.parse()?).with_credentials(credentials);
        world.whole_life(&client).await?;
        said(&format!(
            "client_secret_{name}: sign-in, ID token, refresh, replay, revocation"
        ));
    }

    let bound = || SigningKey::generate_es256(&OsEntropy).map(DpopKey::new);
    let public = Client::new(world.provider.clone(), "public".parse()?).with_dpop(bound()?);
    world.whole_life(&public).await?;
    said(
        "a public client whose tokens are bound to a key, by the nonces of the issuer: the same, and pushed",
    );

    let private = SigningKey::from_pkcs8_pem(&std::fs::read_to_string(key)?)?;
    let assertion = Client::new(world.provider.clone(), "assertion".parse()?)
        .with_credentials(ClientCredentials::PrivateKey(private))
        .with_dpop(bound()?);
    world.whole_life(&assertion).await?;
    said("private_key_jwt, with tokens that are bound to another key: the same");
    world.of_itself(&assertion).await?;
    said("client credentials: a token that opens an API of ours with a proof of its key, and once");
    Ok(())
}

impl World {
    /// A sign-in with everything that follows from it.
    async fn whole_life(&self, client: &Client) -> Result<(), Failure> {
        let (tokens, ada) = self.sign_in(client).await?;
        ensure(
            ada.email.as_deref() == Some("ada@example.com"),
            "the ID token has her address",
        )?;
        let renewed = self.renewed_at_once(&tokens).await?;
        // reuse of a refresh token revokes the family
        self.refused(&tokens).await?;
        self.refused(&renewed).await?;

        let (tokens, _) = self.sign_in(client).await?;
        let token = tokens.refresh_token().ok_or("no refresh token")?;
        client.revoke_refresh_token(token)?.send(&self.ports).await?;
        self.refused(&tokens).await
    }

    async fn sign_in(&self, client: &Client) -> Result<(TokenResponse, IdTokenClaims), Failure> {
        let scopes: Scopes = "openid email profile".parse()?;
        let params = AuthorizationParams::new(CALLBACK.parse()?, scopes).with_login_hint("ada");
        let now = self.ports.now();
        let (url, pending) = match client.client_id().as_str() {
            "basic" => client.authorize(&params, self.ports.entropy(), now)?,
            _ => client.sign_in(&params, &self.ports).await?,
        };
        let query = self.browse(url).await?;
        let tokens = pending
            .finish(&query, self.ports.now())?
            .send(&self.ports)
            .await?;
        let now = self.ports.now();
        let identity = self.keys.verify(|keys| tokens.identity(keys, now), now).await?;
        let identity = identity.ok_or("no ID token")?;
        ensure(identity.subject.as_str() == "ada", "she is the one who signed in")?;
        let told = tokens.user_info(&identity)?.send(&self.ports).await?;
        ensure(told.name() == Some("ada"), "userinfo has her name")?;
        Ok((tokens, identity))
    }

    /// A token of the client itself, and an API that accepts it.
    async fn of_itself(&self, client: &Client) -> Result<(), Failure> {
        let tokens = client
            .client_credentials(&"read:charges".parse()?)
            .send(&self.ports)
            .await?;
        let audience = "https://api.example";
        let keys = self.keys.keys(self.ports.now()).await?;
        let api = ResourceServer::new(self.provider.issuer().clone(), audience.parse()?, keys)
            .with_dpop(audience.parse()?, MemoryReplays::new());
        let request = Request::get("https://api.example/v1/charges").body(Bytes::new())?;
        let (request, _) = tokens
            .call(request)?
            .start(self.ports.entropy(), self.ports.now())?;
        let (head, _) = request.into_parts();
        let principal = api.authenticate(&head, self.ports.now()).await?;
        ensure(
            principal.client_id() == client.client_id(),
            "the token is the client's",
        )?;
        ensure(
            principal.require(&"read:charges".parse()?).is_ok(),
            "it permits what was asked for",
        )?;
        let again = api.authenticate(&head, self.ports.now()).await;
        ensure(again.is_err(), "a proof is taken once")
    }

    /// Sixteen concurrent callers whose tokens an API refused. The issuer revokes the family on
    /// reuse of a refresh token, so the tokens of the next renewal prove that it saw one request.
    async fn renewed_at_once(&self, tokens: &TokenResponse) -> Result<Arc<TokenResponse>, Failure> {
        let source = TokenSource::new(tokens.clone(), self.ports.clone());
        let refused = tokens.access_token();
        let renewed = try_join_all((0..16).map(|_| source.renew(refused))).await?;
        let first = renewed.first().ok_or("no caller asked")?;
        ensure(
            first.access_token().expose() != refused.expose(),
            "another access token",
        )?;
        ensure(
            renewed.iter().all(|other| Arc::ptr_eq(other, first)),
            "one for all who ask at once",
        )?;
        Ok(source.renew(first.access_token()).await?)
    }

    async fn refresh(
        &self,
        tokens: &TokenResponse,
    ) -> Result<Result<TokenResponse, CallError<TokenError>>, Failure> {
        let call = tokens.refresh().ok_or("no refresh token")?;
        Ok(call.send(&self.ports).await)
    }

    async fn refused(&self, tokens: &TokenResponse) -> Result<(), Failure> {
        let Err(CallError::Response(TokenError::Refused(refusal))) = self.refresh(tokens).await? else {
            return Err("a refresh token that is dead was taken".into());
        };
        ensure(refusal.code() == "invalid_grant", refusal.code())
    }

    /// Follows the pages until the redirect to the client; returns its query.
    async fn browse(&self, url: String) -> Result<String, Failure> {
        let (mut at, mut cookies) = (url, BTreeMap::new());
        for _ in 0..10 {
            let pairs: Vec<String> = cookies
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            let request = Request::get(&at)
                .header(COOKIE, pairs.join("; "))
                .body(Bytes::new())?;
            let response = self.ports.transport().send(request).await?;
            keep(&mut cookies, response.headers())?;
            let location = response
                .headers()
                .get(LOCATION)
                .ok_or_else(|| format!("{at} led nowhere: {response:?}"))?;
            at = location.to_str()?.to_owned();
            if at.starts_with('/') {
                at = format!("{}{at}", self.provider.issuer());
            }
            if let Some(query) = at.strip_prefix(CALLBACK).and_then(|rest| rest.strip_prefix('?')) {
                return Ok(query.to_owned());
            }
        }
        Err("the pages do not end".into())
    }
}

fn keep(cookies: &mut BTreeMap<String, String>, headers: &HeaderMap) -> Result<(), Failure> {
    for cookie in headers.get_all(SET_COOKIE) {
        let pair = cookie.to_str()?.split(';').next().unwrap_or_default();
        let (name, value) = pair.split_once('=').ok_or("no cookie")?;
        cookies.insert(name.to_owned(), value.to_owned());
    }
    Ok(())
}

fn ensure(holds: bool, what: &str) -> Result<(), Failure> {
    if holds {
        Ok(())
    } else {
        Err(format!("not so: {what}").into())
    }
}

fn said(what: &str) {
    println!("  {what}");
}
