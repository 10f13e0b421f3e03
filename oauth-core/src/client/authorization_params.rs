//! What a client asks for when it sends a person to sign in,
//! [OpenID Connect Core §3.1.2.1](https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest).

use std::collections::BTreeSet;
use std::time::Duration;

use super::form::Form;
use crate::store::Prompt;
use crate::vocabulary::{Audience, RedirectUri, Scopes};

/// What a client sends in an authorization request by itself, and what no answer or request of another kind may pose as.
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

/// The parameter is one that a client sends by itself, or has no name.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a further parameter: the client decides on this one itself")]
pub struct ReservedParameter;

/// What an authorization request asks for: where the answer goes, and what it is to permit.
///
/// What protects the request (state, nonce, code challenge) is not among it: a [`Client`](super::Client) makes that for each request.
///
/// ```
/// use std::time::Duration;
/// use oauth_core::client::AuthorizationParams;
///
/// let params = AuthorizationParams::new("https://app.example/callback".parse()?, "openid email".parse()?)
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
    /// A request for these scopes, whose answer goes to this redirect URI, which is registered with the server.
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

    /// `resource`: a resource server that the access token is for
    /// ([RFC 8707 §2.1](https://www.rfc-editor.org/rfc/rfc8707#section-2.1)); several may be named.
    #[must_use]
    pub fn with_resource(mut self, resource: Audience) -> Self {
        self.resources.push(resource);
        self
    }

    /// `max_age`, cut to whole seconds: the person is asked who they are if they last proved it longer ago than this, and the ID
    /// token has to say when they did.
    #[must_use]
    pub fn with_max_age(mut self, max_age: Duration) -> Self {
        self.max_age = Some(Duration::from_secs(max_age.as_secs()));
        self
    }

    /// `prompt`: a page that the person is to see; several may be named.
    #[must_use]
    pub fn with_prompt(mut self, prompt: Prompt) -> Self {
        self.silent = false;
        self.prompts.insert(prompt);
        self
    }

    /// `prompt=none`: no page is to be shown. Where one would be needed, the answer is a refusal: `login_required`,
    /// `consent_required`. Takes the place of the pages that were named before.
    #[must_use]
    pub fn with_prompt_none(mut self) -> Self {
        self.silent = true;
        self.prompts.clear();
        self
    }

    /// `login_hint`: who is expected to sign in, an email address for instance.
    #[must_use]
    pub fn with_login_hint(mut self, hint: impl Into<String>) -> Self {
        self.login_hint = Some(hint.into());
        self
    }

    /// `ui_locales`: the languages of the pages, BCP 47 tags with spaces between them, the preferred first.
    #[must_use]
    pub fn with_ui_locales(mut self, locales: impl Into<String>) -> Self {
        self.ui_locales = Some(locales.into());
        self
    }

    /// A parameter that is the server's own; another value under the name takes the place of the one before.
    ///
    /// # Errors
    ///
    /// The name is empty, or that of a parameter that the client sends by itself or that this type has a method for: what protects a
    /// request cannot be overwritten.
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
