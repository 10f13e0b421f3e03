//! Users and clients of the demo.

use oauth_core::jose::{Algorithm, Jwk, KeySet};
use oauth_core::secret::ClientSecret;
use oauth_core::store::{ClientKeys, ClientSecrets, ClientStore, GrantType};
use oauth_core::vocabulary::{Audience, ClientId, RegisteredRedirectUri};
use oauth_core::{RegisteredClient, Scopes};

use crate::app::OpenError;
use crate::app::open::{SCOPES, at};
use crate::desk::{Desk, User};

pub use tour::demo::{EMAIL, PASSWORD, SERVICE_SECRET, WEB_REDIRECT_URI, WEB_SECRET};

/// Page to which the demo's web application returns after a sign-out.
pub const WEB_SIGNED_OUT_URI: &str = "http://127.0.0.1:9999/signed-out";
/// Page to which the demo's browser application returns after a sign-out.
pub const BROWSER_SIGNED_OUT_URI: &str = "http://127.0.0.1:9998/signed-out";
/// URL of the demo's web application for logout tokens.
pub const WEB_LOGOUT_URI: &str = "http://127.0.0.1:9999/backchannel-logout";
/// Secret with which a resource server of the demo calls introspection.
pub const API_SECRET: &str = "demo-api-secret";
/// Public key of the client `demo-robot`. The private key is public too, in
/// `interop/openid-client/relying_party.mjs`: the client is for tests only.
pub const ROBOT_KEY: &str = r#"{"kty":"EC","crv":"P-256","x":"VbPAsZ2OPmp88PaTKKiTQ1c7fPBQrbydb2MEGT3WeJs","y":"73d5GJUIaBUv5YYN2YnprF4OTZiOg5UHy2Nasnb5Ul0","kid":"robot-1"}"#;

/// Registers the demo's users and clients. An existing user stays unchanged; clients are replaced,
/// since their URIs contain the base URL of this start.
pub(crate) async fn seed(
    desk: &Desk,
    registered: &dyn ClientStore,
    clients: Vec<RegisteredClient>,
) -> Result<(), OpenError> {
    let user = User::new("usr_ada", EMAIL, "Ada Lovelace");
    let password = PASSWORD.parse().map_err(at("the demo's password"))?;
    // a database that the demo has used has its user
    let _is_new = desk
        .register_user(user, password)
        .await
        .map_err(at("the demo's user"))?;
    for client in clients {
        registered
            .put_client(client)
            .await
            .map_err(at("the demo's clients"))?;
    }
    Ok(())
}

/// Clients of the demo. `base_url` is the audience of their tokens, beside `other_apis`.
pub(crate) fn clients(base_url: &str, other_apis: &[String]) -> Result<Vec<RegisteredClient>, OpenError> {
    let secret = |secret: &str| {
        let secret: ClientSecret = secret.parse().map_err(at("a client secret"))?;
        Ok::<_, OpenError>(ClientSecrets::new(&secret))
    };
    let exact = |uri: &str| RegisteredRedirectUri::exact(uri).map_err(at("a redirect URI"));
    let id = |id: &str| id.parse::<ClientId>().map_err(at("a client id"));
    let audience: Audience = base_url.parse().map_err(at("the audience"))?;
    let all: Scopes = SCOPES.parse().map_err(at("the scopes"))?;
    let of_services: Scopes = "read:charges write:charges write:refunds"
        .parse()
        .map_err(at("the scopes"))?;
    let web = RegisteredClient::confidential(id("demo-web")?, secret(WEB_SECRET)?)
        .with_name("Demo web application")
        .with_redirect_uri(exact(WEB_REDIRECT_URI)?)
        // the path of NextAuth
        .with_redirect_uri(exact("http://127.0.0.1:9999/api/auth/callback/desk")?)
        .with_post_logout_redirect_uri(WEB_SIGNED_OUT_URI.parse().map_err(at("a redirect URI"))?)
        .with_backchannel_logout_uri(WEB_LOGOUT_URI.parse().map_err(at("a logout URI"))?)
        .with_scopes(all.clone())
        .with_audience(audience.clone());
    let post = RegisteredClient::confidential(id("demo-post")?, secret("demo-post-secret")?)
        .with_name("Demo application of passport")
        .with_secret_post()
        .with_redirect_uri(exact(WEB_REDIRECT_URI)?)
        .with_scopes(all.clone());
    let native = RegisteredClient::public(id("demo-native")?)
        .with_name("Demo native application")
        .with_redirect_uri(
            RegisteredRedirectUri::loopback_any_port("http://127.0.0.1/callback")
                .map_err(at("a redirect URI"))?,
        )
        .with_scopes(all.clone());
    let service = RegisteredClient::confidential(id("demo-service")?, secret(SERVICE_SECRET)?)
        .with_name("Demo service")
        .with_grant_types([GrantType::ClientCredentials])
        .with_scopes(of_services.clone())
        .with_audience(audience.clone());
    let robot = RegisteredClient::keyed(id("demo-robot")?, robot_keys()?)
        .with_name("Demo robot")
        .with_grant_types([GrantType::ClientCredentials])
        .with_scopes(of_services)
        .with_audience(audience.clone());
    let api = RegisteredClient::confidential(id("demo-api")?, secret(API_SECRET)?)
        .with_name("Demo API")
        .with_grant_types([])
        .with_audience(audience);
    let api = with_audiences(api, other_apis)?;
    Ok(vec![
        web,
        stateless_application(all)?,
        post,
        browser_application()?,
        native,
        service,
        robot,
        api,
    ])
}

/// A web application that sends no `state`.
fn stateless_application(scopes: Scopes) -> Result<RegisteredClient, OpenError> {
    let exact = |uri: &str| RegisteredRedirectUri::exact(uri).map_err(at("a redirect URI"));
    let secret: ClientSecret = "demo-stateless-secret".parse().map_err(at("a client secret"))?;
    let id = "demo-stateless".parse().map_err(at("a client id"))?;
    Ok(RegisteredClient::confidential(id, ClientSecrets::new(&secret))
        .with_name("Demo application without state")
        .with_redirect_uri(exact(WEB_REDIRECT_URI)?)
        // the path of Auth.js, which sends no state by default
        .with_redirect_uri(exact("http://127.0.0.1:9999/auth/callback/desk")?)
        .with_scopes(scopes)
        .with_optional_state())
}

/// A browser application on any port of the loopback address.
fn browser_application() -> Result<RegisteredClient, OpenError> {
    let loopback = |path: &str| {
        let uri = format!("http://127.0.0.1{path}");
        RegisteredRedirectUri::loopback_any_port(&uri).map_err(at("a redirect URI"))
    };
    let id = "demo-browser".parse().map_err(at("a client id"))?;
    Ok(RegisteredClient::public(id)
        .with_name("Demo browser application")
        .with_redirect_uri(loopback("/callback")?)
        .with_redirect_uri(loopback("/silent")?)
        .with_post_logout_redirect_uri(BROWSER_SIGNED_OUT_URI.parse().map_err(at("a redirect URI"))?)
        .with_scopes(SCOPES.parse().map_err(at("the scopes"))?)
        // silent renewal, on a development machine
        .with_fragment_responses()
        .danger_remember_consent_without_https())
}

fn with_audiences(client: RegisteredClient, apis: &[String]) -> Result<RegisteredClient, OpenError> {
    apis.iter().try_fold(client, |client, api| {
        let audience = api.parse().map_err(at("another API"))?;
        Ok(client.with_audience(audience))
    })
}

fn robot_keys() -> Result<ClientKeys, OpenError> {
    let key = Jwk::parse(ROBOT_KEY.as_bytes()).map_err(at("the robot's key"))?;
    let keys = KeySet::new([key]).map_err(at("the robot's keys"))?;
    ClientKeys::new(Algorithm::Es256, &keys).map_err(at("the robot's keys"))
}
