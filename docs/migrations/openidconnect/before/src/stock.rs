//! Stock of the warehouse, from an API that takes a token of this service itself.

use std::time::SystemTime;

use oauth2::basic::BasicClient;
use oauth2::{
    AccessToken, ClientId, ClientSecret, EndpointNotSet, EndpointSet, Scope, TokenResponse, TokenUrl, reqwest,
};
use tokio::sync::Mutex;

use crate::error::AppError;
use crate::login::expiry;
use crate::orders::LEEWAY;

type Oauth = BasicClient<EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointSet>;

pub(crate) struct Warehouse {
    oauth: Oauth,
    /// The current token and its expiry.
    token: Mutex<Option<(AccessToken, Option<SystemTime>)>>,
}

impl Warehouse {
    pub(crate) fn new(client_id: String, secret: String, token_uri: TokenUrl) -> Self {
        let oauth = BasicClient::new(ClientId::new(client_id))
            .set_client_secret(ClientSecret::new(secret))
            .set_token_uri(token_uri);
        Self {
            oauth,
            token: Mutex::default(),
        }
    }

    pub(crate) async fn levels(&self, http: &reqwest::Client, api: &str) -> Result<String, AppError> {
        let token = self.token(http).await?;
        let request = http.get(format!("{api}/stock")).bearer_auth(token.secret());
        let response = request.send().await.map_err(AppError::api)?;
        let response = response.error_for_status().map_err(AppError::api)?;
        response.text().await.map_err(AppError::api)
    }

    /// Returns the token of this service, requested anew if it has expired.
    async fn token(&self, http: &reqwest::Client) -> Result<AccessToken, AppError> {
        let mut kept = self.token.lock().await;
        if let Some((token, expires_at)) = &*kept
            && expires_at.is_none_or(|at| SystemTime::now() + LEEWAY < at)
        {
            return Ok(token.clone());
        }
        let request = self
            .oauth
            .exchange_client_credentials()
            .add_scope(Scope::new("stock:read".to_owned()));
        let tokens = request.request_async(http).await.map_err(AppError::provider)?;
        let token = tokens.access_token().clone();
        *kept = Some((token.clone(), expiry(tokens.expires_in())));
        Ok(token)
    }
}
