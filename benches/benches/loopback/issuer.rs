//! An authorization server on memory stores or on a database, and the sign-in of its only user.

use std::env;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::SET_COOKIE;
use http::{HeaderMap, Request, Response};
use oauth_core::grant::AccessTokenFormat;
use oauth_core::jose::{SigningKey, SigningKeys};
use oauth_core::memory::{MemoryClients, MemoryConsents, MemoryInteractions, MemoryTokens};
use oauth_core::ports::{OsEntropy, StoreError, SystemClock};
use oauth_core::server::{
    Authentication, AuthorizationServer, AuthorizationServerBuilder, Authorize, Consent, Interaction,
    SessionLookup, SessionLookupOutcome, SessionQuery,
};
use oauth_core::session::{SessionCookie, Sessions};
use oauth_core::store::{
    ClientSecrets, ClientStore, ConsentStore, GrantType, InteractionStore, RegisteredClient, SessionRecord,
    SessionStore, TokenStore,
};

use oauth_core::vocabulary::RegisteredRedirectUri;

use crate::DATABASE;
use crate::load::{CALLBACK, CLIENT, SCOPES, SECRET};

#[derive(Clone)]
pub(crate) struct Issuer {
    server: AuthorizationServer,
    sessions: Sessions,
}

impl Issuer {
    /// Opens `STORE FORMAT`, for example `sqlite opaque`.
    pub(crate) async fn open(what: &str) -> Self {
        let (store, format) = what.split_once(' ').expect("a store and a format");
        let format = match format {
            "opaque" => AccessTokenFormat::Opaque,
            _ => AccessTokenFormat::Jwt,
        };
        let database = env::var(DATABASE).unwrap_or_default();
        match store {
            "memory" => {
                let tokens = Arc::new(MemoryTokens::new());
                let builder = builder(format)
                    .with_clients(MemoryClients::from_iter([client()]))
                    .with_interactions(MemoryInteractions::new())
                    .with_consents(MemoryConsents::new());
                Self::new(builder, tokens)
            }
            "sqlite" => {
                let database = host_store_sqlite::Database::open(database).expect("a database");
                Self::on(format, database).await
            }
            _ => {
                let database = host_store_postgres::Database::connect(&database).await;
                Self::on(format, database.expect("a database")).await
            }
        }
    }

    /// Uses one database for all records.
    async fn on<D>(format: AccessTokenFormat, database: D) -> Self
    where
        D: ClientStore + InteractionStore + ConsentStore + TokenStore + SessionStore + Clone + 'static,
    {
        database.put_client(client()).await.expect("a client");
        let builder = builder(format)
            .with_clients(database.clone())
            .with_interactions(database.clone())
            .with_consents(database.clone());
        Self::new(builder, database)
    }

    fn new(builder: AuthorizationServerBuilder, tokens: impl SessionStore + Clone + 'static) -> Self {
        let cookie = SessionCookie::new("session").expect("a cookie");
        let sessions = Sessions::new(tokens.clone(), cookie, SystemClock, OsEntropy);
        let builder = builder
            .with_tokens(tokens)
            .with_session_lookup(Browsers(sessions.clone()));
        Self {
            server: builder.build().expect("a server"),
            sessions,
        }
    }

    pub(crate) async fn answer(&self, request: Request<Bytes>) -> Response<Bytes> {
        match request.uri().path() {
            "/token" => self.server.token(request).await.response,
            "/introspect" => self.server.introspect(request).await.response,
            _ => match self.server.authorize(request).await {
                Authorize::Respond(answered) => answered.response,
                Authorize::Interact(interaction) => self.sign_in(interaction).await,
            },
        }
    }

    /// Signs the user in, and records the consent, without a page.
    async fn sign_in(&self, interaction: Interaction) -> Response<Bytes> {
        let ada = "ada".parse().expect("a subject");
        let begun = self.sessions.sign_in(&HeaderMap::new(), &ada, None).await;
        let begun = begun.expect("a session");
        let consent = Consent::Granted(authentication(&begun.session.record));
        let (id, browser) = (&interaction.id, interaction.browser.expose());
        let resumed = self.server.resume(&Request::new(()), id, browser, consent).await;
        let mut response = resumed.response;
        response.headers_mut().append(SET_COOKIE, begun.set_cookie);
        response
    }
}

struct Browsers(Sessions);

#[async_trait]
impl SessionLookup for Browsers {
    async fn find_users(&self, query: SessionQuery<'_>) -> Result<SessionLookupOutcome, StoreError> {
        let session = self.0.authenticate(query.headers).await?.ok();
        let user = session.map(|session| authentication(&session.record));
        Ok(SessionLookupOutcome::Users(user.into_iter().collect()))
    }
}

fn authentication(session: &SessionRecord) -> Authentication {
    Authentication::new(session.subject.clone(), session.auth_time).with_session(session.id)
}

fn client() -> RegisteredClient {
    let secret = SECRET.parse().expect("a secret");
    RegisteredClient::confidential(CLIENT.parse().expect("a client"), ClientSecrets::new(&secret))
        .with_grant_types([
            GrantType::AuthorizationCode,
            GrantType::ClientCredentials,
            GrantType::RefreshToken,
        ])
        .with_redirect_uri(RegisteredRedirectUri::exact(CALLBACK).expect("a redirect URI"))
        .with_scopes(SCOPES.parse().expect("scopes"))
}

fn builder(format: AccessTokenFormat) -> AuthorizationServerBuilder {
    let key = SigningKey::generate_ed25519(&OsEntropy).expect("a key");
    AuthorizationServer::builder("http://127.0.0.1:8080")
        .with_clock(SystemClock)
        .with_entropy(OsEntropy)
        .with_signing_keys(SigningKeys::new(key))
        .with_audience("https://api.example")
        .with_access_token_format(format)
}
