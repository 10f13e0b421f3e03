//! The OpenID Connect conformance tests for relying parties: a provider with one fault, which the
//! client must detect.
//!
//! Each row has the name of its test in that suite, without the prefix `oidcc-client-test-`.

mod id_tokens;
mod provider;
mod sign_ins;

use host_ports::testing::ManualClock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use ed25519_dalek::Signer as _;
use http::{Request, Response};
use oauth_core::client::{
    AuthorizationParams, CallError, CallbackError, Client, ClientCredentials, Ports, Provider, TokenError,
    TokenResponse,
};
use oauth_core::jose::{IdTokenClaims, JwtError, RemoteKeySet, VerifyError};
use oauth_core::params::Params;
use oauth_core::ports::{OsEntropy, Transport, transport_fn};
use serde_json::{Value, json};

use self::provider::{Lie, Op};

const ISSUER: &str = "https://op.example/tenant";
const CLIENT: &str = "rp";
const NOW: u64 = 1_800_000_000;

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(NOW)
}

/// A relying party after discovery.
struct Rp {
    client: Client,
    keys: RemoteKeySet,
    ports: Ports,
}

impl Rp {
    async fn of(op: &Op) -> Self {
        let transport = op.transport();
        let provider = Provider::discover(&ISSUER.parse().unwrap(), &*transport)
            .await
            .unwrap();
        let keys = provider.keys(Arc::clone(&transport)).unwrap();
        let client = Client::new(provider, CLIENT.parse().unwrap())
            .with_credentials(ClientCredentials::Basic("rp-secret".parse().unwrap()));
        Self {
            client,
            keys,
            ports: Ports::new(transport, OsEntropy, ManualClock::new(now())),
        }
    }

    /// Signs a user in; `change` edits the query that the browser brings back.
    async fn tokens(
        &self,
        op: &Op,
        change: impl FnOnce(String) -> String,
    ) -> Result<TokenResponse, CallbackError> {
        let callback = "https://rp.example/cb".parse().unwrap();
        let params = AuthorizationParams::new(callback, "openid".parse().unwrap())
            .with_max_age(Duration::from_secs(600));
        let (url, pending) = self.client.authorize(&params, &OsEntropy, now()).unwrap();
        let (place, query) = url.split_once('?').unwrap();
        assert_eq!(place, format!("{ISSUER}/authorize"));
        let call = pending.finish(&change(op.authorize(query)), now())?;
        Ok(call.send(&self.ports).await.unwrap())
    }

    async fn identity(&self, tokens: &TokenResponse) -> Result<String, JwtError> {
        match tokens.identity_with(&self.keys, now()).await {
            Ok(claims) => Ok(claims.unwrap().subject.to_string()),
            Err(VerifyError::Refused(error)) => Err(error),
            Err(other) => unreachable!("{other}"),
        }
    }

    async fn sign_in(&self, op: &Op) -> Result<String, JwtError> {
        let tokens = self.tokens(op, |query| query).await.unwrap();
        self.identity(&tokens).await
    }
}

fn same(name: &str) -> Result<String, JwtError> {
    Ok(name.to_owned())
}
