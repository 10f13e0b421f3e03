//! The crate `openidconnect` as a client of the service: sign-in, ID token, UserInfo, refresh.
//!
//! Prints the authorization URL, and reads the URL of the redirect to the client.

use std::error::Error;
use std::io::stdin;

use openidconnect::core::{CoreAuthenticationFlow, CoreClient, CoreProviderMetadata, CoreUserInfoClaims};
use openidconnect::ureq::AgentBuilder;
use openidconnect::url::Url;
use openidconnect::{
    AuthorizationCode, ClientId, ClientSecret, CsrfToken, IssuerUrl, Nonce, OAuth2TokenResponse,
    PkceCodeChallenge, RedirectUrl, Scope, TokenResponse,
};

fn main() -> Result<(), Box<dyn Error>> {
    let issuer = std::env::args().nth(1).ok_or("usage: openidconnect-interop ISSUER")?;
    let http = AgentBuilder::new().redirects(0).build();
    let provider = CoreProviderMetadata::discover(&IssuerUrl::new(issuer)?, &http)?;
    let secret = ClientSecret::new("demo-web-secret".to_owned());
    let client = CoreClient::from_provider_metadata(provider, ClientId::new("demo-web".to_owned()), Some(secret))
        .set_redirect_uri(RedirectUrl::new("http://127.0.0.1:9999/callback".to_owned())?);
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let flow = CoreAuthenticationFlow::AuthorizationCode;
    let (url, state, nonce) = client
        .authorize_url(flow, CsrfToken::new_random, Nonce::new_random)
        .add_scopes(["email", "read:charges"].map(|scope| Scope::new(scope.to_owned())))
        .set_pkce_challenge(challenge)
        .url();
    println!("{url}");

    let mut back = String::new();
    stdin().read_line(&mut back)?;
    let back = Url::parse(back.trim())?;
    let parameter = |name: &str| {
        let found = back.query_pairs().find(|(found, _)| found == name);
        found.map(|(_, value)| value.into_owned()).ok_or(format!("no {name} in {back}"))
    };
    if parameter("state")? != *state.secret() {
        return Err("another state".into());
    }
    let code = AuthorizationCode::new(parameter("code")?);
    let tokens = client.exchange_code(code)?.set_pkce_verifier(verifier).request(&http)?;
    let id_token = tokens.id_token().ok_or("no ID token")?;
    let claims = id_token.claims(&client.id_token_verifier(), &nonce)?;
    if claims.subject().as_str() != "usr_ada" {
        return Err("another subject".into());
    }
    let subject = Some(claims.subject().clone());
    let user: CoreUserInfoClaims = client.user_info(tokens.access_token().clone(), subject)?.request(&http)?;
    if user.email().map(|email| email.as_str()) != Some("ada@example.com") {
        return Err("another address".into());
    }
    let refresh = tokens.refresh_token().ok_or("no refresh token")?;
    let renewed = client.exchange_refresh_token(refresh)?.request(&http)?;
    println!("{}", renewed.access_token().secret());
    Ok(())
}
