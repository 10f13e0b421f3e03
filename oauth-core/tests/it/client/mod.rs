//! The client of a sign-in, through its public API.

mod answers;
mod authorization;
mod identity;
mod logout;
mod peer;
mod pending_text;
mod possession;
mod push;
mod revocation;
mod tokens;

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{Request, Response};
use oauth_core::client::{
    AuthorizationParams, Call, CallResponse, CallbackError, Client, ClientCredentials, NotOffered, Pending,
    PendingAuthorization, Provider, ReservedParameter, TokenError, TokenResponse,
};
use oauth_core::jose::{ClientAssertion, ClientAssertionPolicy, IdTokenClaims, JwtError, KeySet, SigningKey};
use oauth_core::params::Params;
use oauth_core::pkce::CodeVerifier;
use oauth_core::ports::{OsEntropy, entropy_fn};
use oauth_core::store::Prompt;
use oauth_core::vocabulary::{ClientId, Issuer, Nonce, Scopes};

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn provider() -> Provider {
    Provider::new(
        "https://as.example".parse().unwrap(),
        "https://as.example/authorize".parse().unwrap(),
        "https://as.example/token".parse().unwrap(),
    )
}

fn client() -> Client {
    Client::new(provider(), "demo web".parse().unwrap())
}

fn asking(scopes: &str) -> AuthorizationParams {
    let redirect_uri = "https://app.example/cb".parse().unwrap();
    AuthorizationParams::new(redirect_uri, scopes.parse().unwrap_or_default())
}

fn authorize(client: &Client, params: &AuthorizationParams) -> (Params, PendingAuthorization) {
    let counter = AtomicU8::new(1);
    let entropy = entropy_fn(move |bytes: &mut [u8]| bytes.fill(counter.fetch_add(1, Ordering::Relaxed)));
    let (url, pending) = client.authorize(params, &entropy, now()).unwrap();
    let (endpoint, query) = url.split_once('?').unwrap();
    assert_eq!(endpoint, "https://as.example/authorize");
    (Params::parse(query.as_bytes()).unwrap(), pending)
}

/// Finishes a sign-in with the response `query`, in which `STATE` stands for the state of the
/// request.
fn finish_at(client: &Client, query: &str) -> Result<Call<TokenResponse>, CallbackError> {
    let (_, pending) = authorize(client, &asking("openid"));
    let query = query.replace("STATE", pending.state().as_str());
    pending.finish(&query, now())
}

fn finish(query: &str) -> Result<Call<TokenResponse>, CallbackError> {
    finish_at(&client(), query)
}

fn start<A: CallResponse>(call: Call<A>) -> (Request<Bytes>, Pending<A>) {
    call.start(&OsEntropy, now()).unwrap()
}

const GOOD: &str = "code=c&state=STATE&iss=https%3A%2F%2Fas.example";

fn grant(client: &Client) -> (Call<TokenResponse>, Nonce) {
    let (request, pending) = authorize(client, &asking("openid read:charges"));
    let query = GOOD.replace("STATE", pending.state().as_str());
    (
        pending.finish(&query, now()).unwrap(),
        request.optional("nonce").unwrap().parse().unwrap(),
    )
}

fn form(request: &Request<Bytes>) -> Vec<(String, String)> {
    assert_eq!(request.method(), "POST");
    assert_eq!(
        request.headers()["content-type"],
        "application/x-www-form-urlencoded"
    );
    let names = [
        "grant_type",
        "code",
        "redirect_uri",
        "code_verifier",
        "client_id",
        "client_secret",
        "refresh_token",
        "client_assertion_type",
        "client_assertion",
    ];
    let params = Params::parse(request.body()).unwrap();
    let pair = |name: &str| Some((name.to_owned(), params.optional(name)?.to_owned()));
    names.into_iter().filter_map(pair).collect()
}

fn answer(status: u16, body: &str) -> Response<Bytes> {
    Response::builder()
        .status(status)
        .body(Bytes::copy_from_slice(body.as_bytes()))
        .unwrap()
}

fn exchange(status: u16, body: &str) -> Result<TokenResponse, TokenError> {
    let (_, pending) = start(grant(&client()).0);
    pending.finish(answer(status, body), now())
}
