//! Users and clients of the demo.

use host_store_sqlite::Database;
use oauth_core::jose::{Algorithm, Jwk, KeySet};
use oauth_core::secret::ClientSecret;
use oauth_core::store::{ClientKeys, ClientSecrets, ClientStore, GrantType};
use oauth_core::vocabulary::{Audience, ClientId, RegisteredRedirectUri};
use oauth_core::{RegisteredClient, Scopes};

use crate::app::OpenError;
use crate::app::open::{SCOPES, at};
use crate::desk::{Desk, User};

pub use tour::demo::{EMAIL, PASSWORD, SERVICE_SECRET, WEB_REDIRECT_URI, WEB_SECRET};

/// Secret with which a resource server of the demo calls introspection.
pub const API_SECRET: &str = "demo-api-secret";
/// Public key of the client `demo-robot`. The private key is public too, in
/// `interop/openid-client/relying_party.mjs`: the client is for tests only.
pub const ROBOT_KEY: &str = r#"{"kty":"EC","crv":"P-256","x":"VbPAsZ2OPmp88PaTKKiTQ1c7fPBQrbydb2MEGT3WeJs","y":"73d5GJUIaBUv5YYN2YnprF4OTZiOg5UHy2Nasnb5Ul0","kid":"robot-1"}"#;

/// Registers the demo's users and clients. An existing user stays unchanged; clients are replaced,
/// since their URIs contain the base URL of this start.
pub(crate) async fn seed(
    desk: &Desk,
    database: &Database,
    base_url: &str,
    other_apis: &[String],
) -> Result<(), OpenError> {
    let user = User::new("usr_ada", EMAIL, "Ada Lovelace");
    let password = PASSWORD.parse().map_err(at("the demo's password"))?;
    desk.register_user(user, password)
        .await
        .map_err(at("the demo's user"))?;
    for client in clients(base_url, other_apis)? {
        database
            .put_client(client)
            .await
            .map_err(at("the demo's clients"))?;
    }
    Ok(())
}

fn clients(base_url: &str, other_apis: &[String]) -> Result<[RegisteredClient; 5], OpenError> {
    let secret = |secret: &str| {
        let secret: ClientSecret = secret.parse().map_err(at("a client secret"))?;
        Ok::<_, OpenError>(ClientSecrets::new(&secret))
    };
    let id = |id: &str| id.parse::<ClientId>().map_err(at("a client id"));
    let audience: Audience = base_url.parse().map_err(at("the audience"))?;
    let all: Scopes = SCOPES.parse().map_err(at("the scopes"))?;
    let of_services: Scopes = "read:charges write:charges write:refunds"
        .parse()
        .map_err(at("the scopes"))?;
    let web = RegisteredClient::confidential(id("demo-web")?, secret(WEB_SECRET)?)
        .with_name("Demo web application")
        .with_redirect_uri(RegisteredRedirectUri::exact(WEB_REDIRECT_URI).map_err(at("a redirect URI"))?)
        .with_scopes(all.clone())
        .with_audience(audience.clone());
    let native = RegisteredClient::public(id("demo-native")?)
        .with_name("Demo native application")
        .with_redirect_uri(
            RegisteredRedirectUri::loopback_any_port("http://127.0.0.1/callback")
                .map_err(at("a redirect URI"))?,
        )
        .with_scopes(all);
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
    let mut others = other_apis.iter();
    let api = others.try_fold(api, |client, api| {
        let audience = api.parse().map_err(at("another API"))?;
        Ok::<_, OpenError>(client.with_audience(audience))
    })?;
    Ok([web, native, service, robot, api])
}

fn robot_keys() -> Result<ClientKeys, OpenError> {
    let key = Jwk::parse(ROBOT_KEY.as_bytes()).map_err(at("the robot's key"))?;
    let keys = KeySet::new([key]).map_err(at("the robot's keys"))?;
    ClientKeys::new(Algorithm::Es256, &keys).map_err(at("the robot's keys"))
}
