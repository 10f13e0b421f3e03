//! Sign-in: discovery, PKCE through the real pages, and verification of the ID token.

use std::fmt::Display;

use bytes::Bytes;
use http::header::ACCEPT;
use http::{Method, Request, StatusCode};
use oauth_core::client::{
    AuthorizationParams, Call, Client, ClientCredentials, PendingAuthorization, Provider, TokenResponse,
};
use oauth_core::jose::KeySet;
use oauth_core::ports::OsEntropy;

use super::browser::{Browser, see_other};
use super::http::{FullResponse, send};
use super::report::{Mismatch, Step, Stopped, expect, found, mismatch, passed};
use super::{Tokens, Tour};
use crate::demo::{EMAIL, PASSWORD, WEB_REDIRECT_URI, WEB_SECRET};

/// All scopes except `write:refunds`, which the tour expects to be refused.
const SCOPE: &str = "openid email profile read:charges write:charges";

/// `User-Agent` of the tour's first browser.
pub(super) const DESKTOP: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

pub(super) async fn chapter(tour: &mut Tour<'_>) -> Result<Tokens, Stopped> {
    tour.report.chapter("Sign in: authorization code with PKCE");

    let step = discover(tour).await;
    let (provider, jwks_uri) = tour.report.step("discovery", step)?;
    let step = keys(&jwks_uri).await;
    let keys = tour.report.step("the issuer's keys (JWKS)", step)?;

    let client = client(provider);
    let client = tour.report.step("a client: demo-web", client)?;
    let mut browser = Browser::new(tour, DESKTOP);
    let step = authorize(tour, &client, &mut browser, "").await;
    let begun = tour.report.step("the browser goes to /authorize", step)?;
    let step = elsewhere(tour, &begun).await;
    tour.report.step("the login link in another browser: 400", step)?;
    let step = wrong_password(&mut browser, &begun).await;
    tour.report.step("a wrong password", step)?;
    let step = log_in(&mut browser, &begun).await;
    tour.report.step("the right password starts a session", step)?;
    let step = consent(tour, &mut browser, begun).await;
    let redemption = tour.report.step("consent: redirect back to the client", step)?;
    let step = exchange(tour, redemption).await;
    let response = tour.report.step("the client redeems the code for tokens", step)?;
    let step = identity(tour, &response, &keys);
    tour.report.step("the client verifies the ID token", step)?;
    Ok(tokens_of(&response))
}

/// Signs in again in this browser, as one step.
pub(super) async fn again(tour: &Tour<'_>, browser: &mut Browser) -> Step<Tokens> {
    let (provider, _) = discover(tour).await?.into_value();
    let client = client(provider)?.into_value();
    let begun = authorize(tour, &client, browser, "").await?.into_value();
    let answer = browser.get(&begun.login).await?;
    let asked = answer.response.status() == StatusCode::OK;
    let way = if asked {
        log_in(browser, &begun).await?;
        "/authorize, /login, /consent, /token"
    } else {
        "/authorize, /consent, /token"
    };
    let redemption = consent(tour, browser, begun).await?.into_value();
    let response = exchange(tour, redemption).await?.into_value();
    found(way, "200, a new token family", tokens_of(&response))
}

/// Page that a client with additional parameters leads to: `/login` itself, or the target of its
/// redirect.
pub(super) async fn ask(
    tour: &Tour<'_>,
    browser: &mut Browser,
    more: &str,
) -> Result<(FullResponse, String), Mismatch> {
    let (provider, _) = discover(tour).await?.into_value();
    let client = client(provider)?.into_value();
    let begun = authorize(tour, &client, browser, more).await?.into_value();
    Ok((browser.get(&begun.login).await?, begun.consent()))
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

fn get(url: &str) -> Result<Request<Bytes>, Mismatch> {
    Request::builder()
        .method(Method::GET)
        .uri(url)
        .header(ACCEPT, "application/json")
        .body(Bytes::new())
        .map_err(|error| mismatch(url, "a request", error))
}

/// Unwraps a value that the tour built and its type must accept.
fn build<T, E: Display>(what: &'static str, value: Result<T, E>) -> Result<T, Mismatch> {
    value.map_err(|error| mismatch("the client", what, error))
}

async fn discover(tour: &Tour<'_>) -> Step<(Provider, String)> {
    let answer = send(get(&tour.url("/.well-known/openid-configuration"))?).await?;
    answer
        .expect(StatusCode::OK)?
        .expect_at("/issuer", tour.base_url)?;
    answer.expect_at("/code_challenge_methods_supported", vec!["S256"])?;
    let endpoint = |pointer| build("an endpoint", answer.string_at(pointer)?.parse());
    let issuer = build("an issuer", answer.string_at("/issuer")?.parse())?;
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
    let answer = send(get(jwks_uri)?).await?;
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
    let secret = build("a secret", WEB_SECRET.parse())?;
    let client = Client::new(provider, build("an id", "demo-web".parse())?)
        .with_credentials(ClientCredentials::Basic(secret));
    found("client_secret_basic", WEB_REDIRECT_URI, client)
}

/// A started sign-in: the state of the client and of the browser.
struct Begun {
    pending: PendingAuthorization,
    login: String,
    interaction: String,
}

impl Begun {
    fn consent(&self) -> String {
        format!("/consent?interaction={}", self.interaction)
    }
}

async fn authorize(tour: &Tour<'_>, client: &Client, browser: &mut Browser, more: &str) -> Step<Begun> {
    let redirect_uri = build("a URI", WEB_REDIRECT_URI.parse())?;
    let params = AuthorizationParams::new(redirect_uri, build("scopes", SCOPE.parse())?);
    let authorized = client.authorize(&params, &OsEntropy, tour.desk.now());
    let (url, pending) = build("a request", authorized)?;
    let answer = browser.get(&format!("{url}{more}")).await?;
    let login = see_other(&answer)?;
    let cookie = answer.expect_header("set-cookie")?;
    expect(
        &answer.sent,
        "HttpOnly, SameSite",
        cookie.contains("HttpOnly; SameSite=Lax"),
        true,
    )?;
    let (path, interaction) = login
        .split_once("?interaction=")
        .ok_or_else(|| mismatch(&answer.sent, "/login", &login))?;
    let got = format!("303 to {path}, with a cookie");
    let begun = Begun {
        pending,
        interaction: interaction.to_owned(),
        login: login.clone(),
    };
    found("GET /authorize?…&code_challenge_method=S256", got, begun)
}

async fn elsewhere(tour: &Tour<'_>, begun: &Begun) -> Step {
    let answer = Browser::new(tour, DESKTOP).get(&begun.login).await?;
    answer.expect(StatusCode::BAD_REQUEST)?;
    passed("GET /login without the cookie", "400")
}

async fn try_password(
    browser: &mut Browser,
    begun: &Begun,
    password: &str,
) -> Result<FullResponse, Mismatch> {
    let fields = [
        ("interaction", begun.interaction.as_str()),
        ("email", EMAIL),
        ("password", password),
    ];
    browser.post("/login", &fields).await
}

async fn wrong_password(browser: &mut Browser, begun: &Begun) -> Step {
    let page = browser.get(&begun.login).await?;
    page.expect(StatusCode::OK)?;
    expect(
        &page.sent,
        "the sign-in form",
        page.text().contains("<form method=\"post\" action=\"/login\">"),
        true,
    )?;
    let answer = try_password(browser, begun, "incorrect horse").await?;
    answer.expect(StatusCode::UNPROCESSABLE_ENTITY)?;
    passed("GET /login, POST /login", "200, then 422 with the page again")
}

async fn log_in(browser: &mut Browser, begun: &Begun) -> Step {
    let answer = try_password(browser, begun, PASSWORD).await?;
    let consent = see_other(&answer)?;
    expect(&answer.sent, "to", consent.as_str(), begun.consent().as_str())?;
    let cookie = answer.expect_header("set-cookie")?;
    let attributes = cookie.split_once("; ").map(|(_, attributes)| attributes);
    let expected = "Path=/; Max-Age=28800; HttpOnly; SameSite=Lax";
    expect(&answer.sent, "a cookie with", attributes, Some(expected))?;
    passed("POST /login", "303 to /consent, a session cookie for 8 h")
}

async fn consent(tour: &Tour<'_>, browser: &mut Browser, begun: Begun) -> Step<Call<TokenResponse>> {
    let page = browser.get(&begun.consent()).await?;
    let (steps, answer, location) = if page.response.status() == StatusCode::FOUND {
        // the user has consented before
        let location = page.expect_header("location")?.to_owned();
        ("GET /consent", page, location)
    } else {
        page.expect(StatusCode::OK)?;
        expect(&page.sent, "the user's email", page.text().contains(EMAIL), true)?;
        let fields = [("interaction", begun.interaction.as_str()), ("decision", "allow")];
        let answer = browser.post("/consent", &fields).await?;
        let location = see_other(&answer)?;
        ("GET /consent, POST /consent", answer, location)
    };
    let query = location
        .strip_prefix(WEB_REDIRECT_URI)
        .and_then(|rest| rest.strip_prefix('?'));
    let query =
        query.ok_or_else(|| mismatch(&answer.sent, format_args!("{WEB_REDIRECT_URI}?…"), &location))?;
    let redemption = begun
        .pending
        .finish(query, tour.desk.now())
        .map_err(|error| mismatch(&answer.sent, "a response that matches the request", error))?;
    found(
        steps,
        "a redirect with code, state and iss; state and iss match",
        redemption,
    )
}

async fn exchange(tour: &Tour<'_>, redemption: Call<TokenResponse>) -> Step<TokenResponse> {
    let (request, pending) = build("a request", redemption.start(&OsEntropy, tour.desk.now()))?;
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
        .finish(answer.response, tour.desk.now())
        .map_err(|error| mismatch("POST /token", "tokens", error))?;
    found("POST /token authorization_code, code_verifier", got, tokens)
}

fn identity(tour: &Tour<'_>, response: &TokenResponse, keys: &KeySet) -> Step {
    let claims = response
        .identity(keys, tour.desk.now())
        .map_err(|error| {
            mismatch(
                "the ID token",
                "valid signature, issuer, audience, nonce and times",
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
