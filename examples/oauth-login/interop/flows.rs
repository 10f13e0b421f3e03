//! Every flow of the client against npm `oidc-provider`: `flows ISSUER KEY`, where KEY is a file with the private key of the client `assertion`.
//!
//! Started by `interop/run`, which starts the issuer first.
#![expect(clippy::print_stdout, reason = "it says what it has tried")]

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{COOKIE, LOCATION, SET_COOKIE};
use http::{HeaderMap, Request};
use oauth_core::client::{
    AuthorizationParams, CallError, Client, ClientCredentials, Ports, Provider, TokenError, TokenResponse,
};
use oauth_core::jose::{IdTokenClaims, RemoteKeySet};
use oauth_core::ports::OsEntropy;
use oauth_core::vocabulary::Scopes;
use transport_hyper::HyperTransport;
use webhook_core::address::AddressPolicy;

type Failure = Box<dyn Error>;

/// Nobody listens there: the browser stops at the link.
const CALLBACK: &str = "http://127.0.0.1:1/callback";

struct World {
    provider: Provider,
    keys: RemoteKeySet,
    ports: Ports,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (Some(issuer), Some(_key)) = (arguments.next(), arguments.next()) else {
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
    let ports = Ports::new(transport, OsEntropy, SystemTime::now);
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
    Ok(())
}

impl World {
    /// A sign-in, and everything that becomes of it.
    async fn whole_life(&self, client: &Client) -> Result<(), Failure> {
        let (tokens, ada) = self.sign_in(client).await?;
        ensure(
            ada.email.as_deref() == Some("ada@example.com"),
            "the ID token has her address",
        )?;
        let renewed = self.refresh(client, &tokens, &ada).await??;
        ensure(
            renewed.access_token().expose() != tokens.access_token().expose(),
            "another access token",
        )?;
        // a token that was used before ends the chain
        self.refused(client, &tokens, &ada).await?;
        self.refused(client, &renewed, &ada).await?;

        let (tokens, ada) = self.sign_in(client).await?;
        let token = tokens.refresh_token().ok_or("no refresh token")?;
        client.revoke_refresh_token(token)?.send(&self.ports).await?;
        self.refused(client, &tokens, &ada).await
    }

    async fn sign_in(&self, client: &Client) -> Result<(TokenResponse, IdTokenClaims), Failure> {
        let scopes: Scopes = "openid email profile".parse()?;
        let params = AuthorizationParams::new(CALLBACK.parse()?, scopes).with_login_hint("ada");
        let now = self.ports.now();
        let (url, pending) = client.authorize(&params, self.ports.entropy(), now)?;
        let query = self.browse(url).await?;
        let tokens = pending
            .finish(&query, self.ports.now())?
            .send(&self.ports)
            .await?;
        let now = self.ports.now();
        let identity = self.keys.verify(|keys| tokens.identity(keys, now), now).await?;
        let identity = identity.ok_or("no ID token")?;
        ensure(identity.subject.as_str() == "ada", "she is the one who signed in")?;
        Ok((tokens, identity))
    }

    async fn refresh(
        &self,
        client: &Client,
        tokens: &TokenResponse,
        who: &IdTokenClaims,
    ) -> Result<Result<TokenResponse, CallError<TokenError>>, Failure> {
        let token = tokens.refresh_token().ok_or("no refresh token")?;
        let call = client.refresh(token, tokens.scopes());
        Ok(call.with_subject(who.subject.clone()).send(&self.ports).await)
    }

    async fn refused(
        &self,
        client: &Client,
        tokens: &TokenResponse,
        who: &IdTokenClaims,
    ) -> Result<(), Failure> {
        let Err(CallError::Answer(TokenError::Refused(refusal))) = self.refresh(client, tokens, who).await?
        else {
            return Err("a refresh token that is dead was taken".into());
        };
        ensure(refusal.code() == "invalid_grant", refusal.code())
    }

    /// What a browser does until it is sent back to the client; the query that it comes back with.
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
