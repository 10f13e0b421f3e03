//! Parameters of an authorization request, [OpenID Connect Core
//! §3.1.2.1](https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest).

use std::collections::BTreeSet;
use std::time::Duration;

use super::form::Form;
use crate::store::Prompt;
use crate::vocabulary::{Audience, RedirectUri, Scopes};

/// Parameters that the client sets itself, and parameters that have a meaning in other messages.
const RESERVED: [&str; 23] = [
    "response_type",
    "response_mode",
    "client_id",
    "client_secret",
    "client_assertion",
    "client_assertion_type",
    "redirect_uri",
    "scope",
    "state",
    "nonce",
    "code_challenge",
    "code_challenge_method",
    "dpop_jkt",
    "request",
    "request_uri",
    "registration",
    "prompt",
    "max_age",
    "login_hint",
    "ui_locales",
    "resource",
    "iss",
    "code",
];

/// Error for a parameter whose name is empty or reserved for the client.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the parameter has no name, or is one that the client sets itself")]
pub struct ReservedParameter;

/// Parameters of an authorization request that the host chooses: redirect URI, scopes, prompts and
/// hints.
///
/// The [`Client`](super::Client) adds the parameters that protect the request: state, nonce and
/// code challenge, fresh for each request.
///
/// ```
/// use std::time::Duration;
/// use oauth_core::client::AuthorizationParams;
///
/// let redirect_uri = "https://app.example/callback".parse()?;
/// let params = AuthorizationParams::new(redirect_uri, "openid email".parse()?)
///     .with_max_age(Duration::from_secs(3600))
///     .with_login_hint("ada@example.com")
///     .with_parameter("acr_values", "phr")?;
/// # drop(params);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AuthorizationParams {
    pub(super) redirect_uri: RedirectUri,
    pub(super) scopes: Scopes,
    pub(super) max_age: Option<Duration>,
    resources: Vec<Audience>,
    prompts: BTreeSet<Prompt>,
    silent: bool,
    login_hint: Option<String>,
    ui_locales: Option<String>,
    further: Vec<(String, String)>,
}

impl AuthorizationParams {
    /// Creates the parameters of a request for these scopes. The redirect URI must be registered
    /// with the server.
    #[must_use]
    pub fn new(redirect_uri: RedirectUri, scopes: Scopes) -> Self {
        Self {
            redirect_uri,
            scopes,
            max_age: None,
            resources: Vec::new(),
            prompts: BTreeSet::new(),
            silent: false,
            login_hint: None,
            ui_locales: None,
            further: Vec::new(),
        }
    }

    /// Adds a `resource`: a resource server for which the access token is requested ([RFC 8707
    /// §2.1](https://www.rfc-editor.org/rfc/rfc8707#section-2.1)).
    #[must_use]
    pub fn with_resource(mut self, resource: Audience) -> Self {
        self.resources.push(resource);
        self
    }

    /// Sets `max_age`, truncated to whole seconds: if the last authentication is older, the server
    /// authenticates the user again. The client then requires `auth_time` in the ID token.
    #[must_use]
    pub fn with_max_age(mut self, max_age: Duration) -> Self {
        self.max_age = Some(Duration::from_secs(max_age.as_secs()));
        self
    }

    /// Adds a `prompt`: a page that the server must show. Replaces `prompt=none`.
    #[must_use]
    pub fn with_prompt(mut self, prompt: Prompt) -> Self {
        self.silent = false;
        self.prompts.insert(prompt);
        self
    }

    /// Sets `prompt=none`: the server shows no page, and refuses with `login_required` or
    /// `consent_required` if it needs one. Replaces other prompts.
    #[must_use]
    pub fn with_prompt_none(mut self) -> Self {
        self.silent = true;
        self.prompts.clear();
        self
    }

    /// Sets `login_hint`: the expected user, for example an email address.
    #[must_use]
    pub fn with_login_hint(mut self, hint: impl Into<String>) -> Self {
        self.login_hint = Some(hint.into());
        self
    }

    /// Sets `ui_locales`: languages of the pages, BCP 47 tags separated by spaces, best first.
    #[must_use]
    pub fn with_ui_locales(mut self, locales: impl Into<String>) -> Self {
        self.ui_locales = Some(locales.into());
        self
    }

    /// Sets a parameter specific to the server. It replaces an earlier value of the same name.
    ///
    /// # Errors
    ///
    /// [`ReservedParameter`] when the name is empty, is set by the client, or has its own method on
    /// this type. This keeps the host from overwriting the parameters that protect a request.
    pub fn with_parameter(
        mut self,
        name: impl Into<String>,
        value: impl Into<String>,
    ) -> Result<Self, ReservedParameter> {
        let name = name.into();
        if name.is_empty() || RESERVED.contains(&name.as_str()) {
            return Err(ReservedParameter);
        }
        self.further.retain(|(present, _)| *present != name);
        self.further.push((name, value.into()));
        Ok(self)
    }

    pub(super) fn write(&self, form: &mut Form) {
        if !self.scopes.is_empty() {
            form.add("scope", &self.scopes.to_string());
        }
        for resource in &self.resources {
            form.add("resource", resource.as_str());
        }
        let prompts: Vec<_> = self.prompts.iter().copied().map(Prompt::as_str).collect();
        match (self.silent, prompts.is_empty()) {
            (true, _) => form.add("prompt", "none"),
            (false, false) => form.add("prompt", &prompts.join(" ")),
            (false, true) => {}
        }
        if let Some(max_age) = self.max_age {
            form.add("max_age", &max_age.as_secs().to_string());
        }
        form.add_some("login_hint", self.login_hint.as_deref());
        form.add_some("ui_locales", self.ui_locales.as_deref());
        for (name, value) in &self.further {
            form.add(name.clone(), value);
        }
    }
}
