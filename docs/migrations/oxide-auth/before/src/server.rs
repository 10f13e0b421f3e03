//! Clients, codes and tokens.

use std::error::Error;

use chrono::Duration;
use oxide_auth::code_grant::extensions::Pkce;
use oxide_auth::endpoint::{Endpoint, OwnerSolicitor};
use oxide_auth::frontends::simple::endpoint::{ErrorInto, Generic};
use oxide_auth::frontends::simple::extensions::{AddonList, Extended};
use oxide_auth::primitives::authorizer::AuthMap;
use oxide_auth::primitives::generator::RandomGenerator;
use oxide_auth::primitives::issuer::TokenMap;
use oxide_auth::primitives::registrar::{Client, ClientMap, ExactUrl, RegisteredUrl};
use oxide_auth::primitives::scope::Scope;
use oxide_auth_axum::{OAuthRequest, OAuthResponse, WebError};

pub(crate) struct Server {
    clients: ClientMap,
    codes: AuthMap<RandomGenerator>,
    tokens: TokenMap<RandomGenerator>,
    /// Required by the API.
    scopes: Vec<Scope>,
    addons: AddonList,
}

impl Server {
    /// Creates a server whose access tokens live `lifetime` seconds.
    pub(crate) fn new(lifetime: i64) -> Result<Self, Box<dyn Error>> {
        let redirect_uri = |uri: &str| ExactUrl::new(uri.to_owned()).map(RegisteredUrl::Exact);
        let mut clients = ClientMap::new();
        clients.register_client(Client::confidential(
            "notes-web",
            redirect_uri("https://notes.example/callback")?,
            "notes:read".parse()?,
            b"notes-web-secret",
        ));
        clients.register_client(Client::public(
            "notes-app",
            redirect_uri("com.example.notes:/callback")?,
            "notes:read".parse()?,
        ));
        let mut tokens = TokenMap::new(RandomGenerator::new(32));
        tokens.valid_for(Duration::seconds(lifetime));
        let mut addons = AddonList::new();
        addons.push_code(Pkce::required());
        Ok(Self {
            clients,
            codes: AuthMap::new(RandomGenerator::new(32)),
            tokens,
            scopes: vec!["notes:read".parse()?],
            addons,
        })
    }

    pub(crate) fn endpoint<'s>(
        &'s mut self,
        solicitor: impl OwnerSolicitor<OAuthRequest> + 's,
    ) -> impl Endpoint<OAuthRequest, Error = WebError> + 's {
        let endpoint = Generic {
            registrar: &self.clients,
            authorizer: &mut self.codes,
            issuer: &mut self.tokens,
            solicitor,
            scopes: &mut self.scopes,
            response: OAuthResponse::default,
        };
        ErrorInto::new(Extended::extend_with(endpoint, self.addons.clone()))
    }
}
