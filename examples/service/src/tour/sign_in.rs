//! Signing in: discovery, PKCE through the real pages, and an ID token that is believed only once it is verified.

use std::fmt::Display;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, COOKIE};
use http::{Method, Request, StatusCode};
use oauth_core::client::{
    AuthorizationGrant, Client, ClientCredentials, PendingAuthorization, Provider, TokenResponse,
};
use oauth_core::jose::KeySet;
use oauth_core::ports::OsEntropy;

use super::http::{Answer, send};
use super::report::{Mismatch, Step, Stopped, expect, found, mismatch, passed};
use super::{Tokens, Tour};
use crate::seed::{EMAIL, PASSWORD, WEB_REDIRECT_URI, WEB_SECRET};

/// Everything but `write:refunds`, which the tour must be refused.
const SCOPE: &str = "openid email profile read:charges write:charges";

pub(super) async fn chapter(tour: &mut Tour<'_>) -> Result<Tokens, Stopped> {
    tour.report.chapter("Sign in: authorization code with PKCE");

    let step = discover(tour).await;
    let (provider, jwks_uri) = tour.report.step("discovery", step)?;
    let step = keys(&jwks_uri).await;
    let keys = tour.report.step("the keys of the issuer", step)?;

    let client = client(provider);
    let client = tour.report.step("a client: demo-web", client)?;
    let step = authorize(tour, &client).await;
    let begun = tour.report.step("the browser goes to /authorize", step)?;
    let step = without_cookie(tour, &begun).await;
    tour.report.step("the link in another browser: nothing", step)?;
    let step = wrong_password(tour, &begun).await;
    tour.report.step("the login page, a wrong password", step)?;
    let step = log_in(tour, &begun).await;
    tour.report.step("the right one: the consent page", step)?;
    let step = consent(tour, begun).await;
    let grant = tour.report.step("allowed: back to the client", step)?;
    let step = exchange(tour, &client, grant).await;
    let response = tour.report.step("the code for tokens", step)?;
    let step = identity(tour, &response, &keys);
    tour.report.step("the ID token, verified", step)?;
    Ok(tokens_of(&response))
}

/// The whole way again, as one step.
pub(super) async fn again(tour: &Tour<'_>) -> Step<Tokens> {
    let (provider, _) = discover(tour).await?.into_value();
    let client = client(provider)?.into_value();
    let begun = authorize(tour, &client).await?.into_value();
    log_in(tour, &begun).await?;
    let grant = consent(tour, begun).await?.into_value();
    let response = exchange(tour, &client, grant).await?.into_value();
    found(
        "/authorize, /login, /consent, /token",
        "200, a new chain of tokens",
        tokens_of(&response),
    )
}

fn tokens_of(response: &TokenResponse) -> Tokens {
    let refresh = response
        .refresh_token()
        .map(|token| token.expose().to_owned())
        .unwrap_or_default();
    Tokens {
        access: response.access_token().expose().to_owned(),
        refresh,
    }
}

fn get(url: &str, cookie: Option<&str>) -> Result<Request<Bytes>, Mismatch> {
    let mut request = Request::builder()
        .method(Method::GET)
        .uri(url)
        .header(ACCEPT, "text/html");
    if let Some(cookie) = cookie {
        request = request.header(COOKIE, cookie);
    }
    request
        .body(Bytes::new())
        .map_err(|error| mismatch(url, "a request", error))
}

fn post(url: &str, cookie: &str, fields: &[(&str, &str)]) -> Result<Request<Bytes>, Mismatch> {
    let body = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish();
    Request::builder()
        .method(Method::POST)
        .uri(url)
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(COOKIE, cookie)
        .body(Bytes::from(body))
        .map_err(|error| mismatch(url, "a request", error))
}

/// A value of the tour's own making that its type must take.
fn made<T, E: Display>(what: &'static str, value: Result<T, E>) -> Result<T, Mismatch> {
    value.map_err(|error| mismatch("the client", what, error))
}

async fn discover(tour: &Tour<'_>) -> Step<(Provider, String)> {
    let answer = send(get(&tour.url("/.well-known/openid-configuration"), None)?).await?;
    answer
        .expect(StatusCode::OK)?
        .expect_at("/issuer", tour.base_url)?;
    answer.expect_at("/code_challenge_methods_supported", vec!["S256"])?;
    let endpoint = |pointer| made("an endpoint", answer.string_at(pointer)?.parse());
    let issuer = made("an issuer", answer.string_at("/issuer")?.parse())?;
    let provider = Provider::new(
        issuer,
        endpoint("/authorization_endpoint")?,
        endpoint("/token_endpoint")?,
    );
    let jwks_uri = answer.string_at("/jwks_uri")?;
    found(
        &answer.sent,
        format_args!("200, issuer {}", tour.base_url),
        (provider, jwks_uri),
    )
}

async fn keys(jwks_uri: &str) -> Step<KeySet> {
    let answer = send(get(jwks_uri, None)?).await?;
    answer.expect(StatusCode::OK)?;
    let keys =
        KeySet::parse(answer.response.body()).map_err(|error| mismatch(&answer.sent, "keys", error))?;
    found(
        &answer.sent,
        format_args!(
            "200, {} key, {}",
            keys.iter().count(),
            answer.string_at("/keys/0/alg")?
        ),
        keys,
    )
}

fn client(provider: Provider) -> Step<Client> {
    let secret = made("a secret", WEB_SECRET.parse())?;
    let client = Client::new(
        provider,
        made("an id", "demo-web".parse())?,
        made("a URI", WEB_REDIRECT_URI.parse())?,
    )
    .with_credentials(ClientCredentials::Basic(secret));
    found("client_secret_basic", WEB_REDIRECT_URI, client)
}

/// A sign-in that has begun: what the client and the browser keep.
struct Begun {
    pending: PendingAuthorization,
    login: String,
    interaction: String,
    cookie: String,
}

async fn authorize(tour: &Tour<'_>, client: &Client) -> Step<Begun> {
    let (url, pending) = client.authorize(&made("scopes", SCOPE.parse())?, &OsEntropy, tour.clock.now());
    let answer = send(get(&url, None)?).await?;
    answer.expect(StatusCode::SEE_OTHER)?;
    let login = answer.expect_header("location")?.to_owned();
    let cookie = answer.expect_header("set-cookie")?;
    expect(
        &answer.sent,
        "HttpOnly, SameSite",
        cookie.contains("HttpOnly; SameSite=Lax"),
        true,
    )?;
    let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
    let (path, interaction) = login
        .split_once("?interaction=")
        .ok_or_else(|| mismatch(&answer.sent, "/login", &login))?;
    let got = format!("303 to {path}, with a cookie");
    let begun = Begun {
        pending,
        interaction: interaction.to_owned(),
        login: login.clone(),
        cookie,
    };
    found("GET /authorize?…&code_challenge_method=S256", got, begun)
}

async fn without_cookie(tour: &Tour<'_>, begun: &Begun) -> Step {
    let answer = send(get(&tour.url(&begun.login), None)?).await?;
    answer.expect(StatusCode::BAD_REQUEST)?;
    passed("GET /login without the cookie", "400")
}

async fn try_password(tour: &Tour<'_>, begun: &Begun, password: &str) -> Result<Answer, Mismatch> {
    let fields = [
        ("interaction", begun.interaction.as_str()),
        ("email", EMAIL),
        ("password", password),
    ];
    send(post(&tour.url("/login"), &begun.cookie, &fields)?).await
}

async fn wrong_password(tour: &Tour<'_>, begun: &Begun) -> Step {
    let page = send(get(&tour.url(&begun.login), Some(&begun.cookie))?).await?;
    page.expect(StatusCode::OK)?;
    expect(
        &page.sent,
        "a form",
        page.text().contains("<form method=\"post\" action=\"/login\">"),
        true,
    )?;
    let answer = try_password(tour, begun, "incorrect horse").await?;
    answer.expect(StatusCode::UNPROCESSABLE_ENTITY)?;
    passed("GET /login, POST /login", "200, then 422 with the page again")
}

async fn log_in(tour: &Tour<'_>, begun: &Begun) -> Step {
    let answer = try_password(tour, begun, PASSWORD).await?;
    answer.expect(StatusCode::OK)?;
    expect(
        &answer.sent,
        "a form",
        answer
            .text()
            .contains("<form method=\"post\" action=\"/consent\">"),
        true,
    )?;
    passed("POST /login", format_args!("200, what {EMAIL} is to allow"))
}

async fn consent(tour: &Tour<'_>, begun: Begun) -> Step<AuthorizationGrant> {
    let fields = [("interaction", begun.interaction.as_str()), ("decision", "allow")];
    let answer = send(post(&tour.url("/consent"), &begun.cookie, &fields)?).await?;
    answer.expect(StatusCode::SEE_OTHER)?;
    let location = answer.expect_header("location")?;
    let query = location
        .strip_prefix(WEB_REDIRECT_URI)
        .and_then(|rest| rest.strip_prefix('?'));
    let query =
        query.ok_or_else(|| mismatch(&answer.sent, format_args!("{WEB_REDIRECT_URI}?…"), location))?;
    let grant = begun
        .pending
        .finish(query, tour.clock.now())
        .map_err(|error| mismatch(&answer.sent, "an answer that fits the request", error))?;
    found(
        "POST /consent",
        "303 with code, state and iss; state and iss fit",
        grant,
    )
}

async fn exchange(tour: &Tour<'_>, client: &Client, grant: AuthorizationGrant) -> Step<TokenResponse> {
    let (request, pending) = client.exchange(grant);
    let answer = send(request).await?;
    answer.expect(StatusCode::OK)?;
    expect(
        &answer.sent,
        "cache control",
        answer.header("cache-control"),
        Some("no-store"),
    )?;
    answer.expect_at("/expires_in", 600)?;
    let got = format!("200, {} for 600 s", answer.string_at("/token_type")?);
    let tokens = pending
        .finish(&answer.response, tour.clock.now())
        .map_err(|error| mismatch("POST /token", "tokens", error))?;
    found("POST /token authorization_code, code_verifier", got, tokens)
}

fn identity(tour: &Tour<'_>, response: &TokenResponse, keys: &KeySet) -> Step {
    let claims = response
        .identity(keys, tour.clock.now())
        .map_err(|error| {
            mismatch(
                "the ID token",
                "signature, issuer, audience, nonce and times that fit",
                error,
            )
        })?
        .ok_or_else(|| mismatch("POST /token", "an ID token", "none"))?;
    expect("the ID token", "email", claims.email.as_deref(), Some(EMAIL))?;
    let name = claims.name.as_deref().unwrap_or_default();
    passed(
        "signature, iss, aud, exp, nonce, at_hash",
        format_args!("{} is {name}", claims.subject),
    )
}
