//! Routes of the service: paths and their methods.

use http::{HeaderValue, Method};
use http_conventions::patching;
use http_conventions::versions::ApiVersion;

use super::assets::Asset;
use super::body::MERGE_PATCH;
use super::console::Place;
use crate::domain::{ChargeId, CustomerId, RefundId};

/// Resource or endpoint that a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Console(Place),
    Client,
    Asset(&'static Asset),
    SignInCallback,
    Login,
    Consent,
    Account,
    AccountForm(AccountForm),
    ForgottenPassword,
    PasswordReset,
    Authorize,
    EndSession,
    PushedRequests,
    Token,
    Introspect,
    Revoke,
    UserInfo,
    ServerMetadata,
    ResourceMetadata,
    Jwks,
    Graph,
    GraphStream,
    Charges,
    Charge(ChargeId),
    Refunds(ChargeId),
    Refund(ChargeId, RefundId),
    Customers,
    Customer(CustomerId),
    WebhookEndpoints,
    WebhookEndpoint(String),
    WebhookRotations(String),
    WebhookTestEvents(String),
    WebhookDeliveries,
    WebhookDelivery(String),
    WebhookReplays(String),
    ProblemTypes,
    ProblemType(String),
    Document,
}

/// Forms of the account page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccountForm {
    SignOut,
    SignOutEverywhere,
    EndSession,
    Password,
    SignOutOfApplication,
    WithdrawConsent,
}

impl AccountForm {
    fn named(name: &str) -> Option<Self> {
        match name {
            "sign-out" => Some(Self::SignOut),
            "sign-out-everywhere" => Some(Self::SignOutEverywhere),
            "end-session" => Some(Self::EndSession),
            "password" => Some(Self::Password),
            "sign-out-of-application" => Some(Self::SignOutOfApplication),
            "withdraw-consent" => Some(Self::WithdrawConsent),
            _ => None,
        }
    }
}

impl Route {
    /// Parses a path, from which the version was removed. Returns `None` for an unknown path or a
    /// malformed identifier. Only resources of the API have versions.
    pub(super) fn of(path: &str, version: Option<ApiVersion>) -> Option<Self> {
        let segments: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
        if version.is_some() {
            return Self::of_resource(&segments);
        }
        let route = match segments.as_slice() {
            ["client"] => Self::Client,
            ["callback"] => Self::SignInCallback,
            ["login"] => Self::Login,
            ["consent"] => Self::Consent,
            ["account"] => Self::Account,
            ["account", form] => Self::AccountForm(AccountForm::named(form)?),
            ["password", "forgotten"] => Self::ForgottenPassword,
            ["password", "reset"] => Self::PasswordReset,
            ["authorize"] => Self::Authorize,
            ["end_session"] => Self::EndSession,
            ["par"] => Self::PushedRequests,
            ["token"] => Self::Token,
            ["oauth", "introspect"] => Self::Introspect,
            ["oauth", "revoke"] => Self::Revoke,
            ["userinfo"] => Self::UserInfo,
            [
                ".well-known",
                "oauth-authorization-server" | "openid-configuration",
            ] => Self::ServerMetadata,
            [".well-known", "oauth-protected-resource"] => Self::ResourceMetadata,
            [".well-known", "jwks.json"] => Self::Jwks,
            ["graphql"] => Self::Graph,
            ["graphql", "stream"] => Self::GraphStream,
            ["openapi.json"] => Self::Document,
            ["assets", name] => Self::Asset(Asset::named(name)?),
            ["assets", "vendor", edition, name] => Self::Asset(Asset::vendored(edition, name)?),
            ["problems"] => Self::ProblemTypes,
            ["problems", slug] => Self::ProblemType((*slug).to_owned()),
            page => Self::Console(Place::of(page)?),
        };
        Some(route)
    }

    fn of_resource(segments: &[&str]) -> Option<Self> {
        let route = match *segments {
            ["charges"] => Self::Charges,
            ["charges", id] => Self::Charge(id.parse().ok()?),
            ["charges", id, "refunds"] => Self::Refunds(id.parse().ok()?),
            ["charges", id, "refunds", refund] => Self::Refund(id.parse().ok()?, refund.parse().ok()?),
            ["customers"] => Self::Customers,
            ["customers", id] => Self::Customer(id.parse().ok()?),
            ["webhook-endpoints"] => Self::WebhookEndpoints,
            ["webhook-endpoints", id] => Self::WebhookEndpoint(id.to_owned()),
            ["webhook-endpoints", id, "rotations"] => Self::WebhookRotations(id.to_owned()),
            ["webhook-endpoints", id, "test-events"] => Self::WebhookTestEvents(id.to_owned()),
            ["webhook-deliveries"] => Self::WebhookDeliveries,
            ["webhook-deliveries", id] => Self::WebhookDelivery(id.to_owned()),
            ["webhook-deliveries", id, "replays"] => Self::WebhookReplays(id.to_owned()),
            _ => return None,
        };
        Some(route)
    }

    /// Returns `true` for a resource of the REST API.
    pub(super) const fn is_resource(&self) -> bool {
        !self.template().is_empty()
    }

    /// Returns `true` for the endpoints of the authorization server that respond with OAuth errors.
    pub(super) const fn speaks_oauth(&self) -> bool {
        matches!(
            self,
            Self::PushedRequests | Self::Token | Self::Introspect | Self::Revoke
        )
    }

    /// Returns `true` for pages with forms, which depend on stored state.
    pub(super) const fn is_for_people(&self) -> bool {
        matches!(
            self,
            Self::Console(_)
                | Self::Authorize
                | Self::EndSession
                | Self::Login
                | Self::Consent
                | Self::ForgottenPassword
                | Self::PasswordReset
                | Self::Account
                | Self::AccountForm(_)
        )
    }

    /// Methods of the route. HEAD comes with GET except for event streams; OPTIONS is always
    /// allowed.
    pub(super) const fn methods(&self) -> &'static [Method] {
        match self {
            Self::Console(place) => place.methods(),
            Self::Client
            | Self::Asset(_)
            | Self::SignInCallback
            | Self::Account
            | Self::ServerMetadata
            | Self::ResourceMetadata
            | Self::Jwks
            | Self::Refund(..)
            | Self::Customer(_)
            | Self::WebhookDeliveries
            | Self::WebhookDelivery(_)
            | Self::ProblemTypes
            | Self::ProblemType(_)
            | Self::Document => &[Method::GET, Method::HEAD, Method::OPTIONS],
            Self::Login
            | Self::Consent
            | Self::ForgottenPassword
            | Self::PasswordReset
            | Self::Authorize
            | Self::EndSession
            | Self::UserInfo
            | Self::Graph
            | Self::Charges
            | Self::Refunds(_)
            | Self::WebhookEndpoints
            | Self::Customers => &[Method::GET, Method::HEAD, Method::POST, Method::OPTIONS],
            Self::Charge(_) => &[
                Method::GET,
                Method::HEAD,
                Method::PUT,
                Method::PATCH,
                Method::OPTIONS,
            ],
            Self::WebhookEndpoint(_) => &[
                Method::GET,
                Method::HEAD,
                Method::PATCH,
                Method::DELETE,
                Method::OPTIONS,
            ],
            // no HEAD: it would open a stream without a reader
            Self::GraphStream => &[
                Method::GET,
                Method::POST,
                Method::PUT,
                Method::DELETE,
                Method::OPTIONS,
            ],
            Self::AccountForm(_)
            | Self::PushedRequests
            | Self::Token
            | Self::Introspect
            | Self::Revoke
            | Self::WebhookRotations(_)
            | Self::WebhookTestEvents(_)
            | Self::WebhookReplays(_) => &[Method::POST, Method::OPTIONS],
        }
    }

    /// Path template of any route, for logs and metrics. It contains no identifier.
    pub(super) const fn label(&self) -> &'static str {
        match self {
            Self::Console(place) => place.template(),
            Self::Client => "/client",
            Self::Asset(_) => "/assets/{name}",
            Self::SignInCallback => "/callback",
            Self::Login => "/login",
            Self::Consent => "/consent",
            Self::Account => "/account",
            Self::AccountForm(_) => "/account/{form}",
            Self::ForgottenPassword => "/password/forgotten",
            Self::PasswordReset => "/password/reset",
            Self::Authorize => "/authorize",
            Self::EndSession => "/end_session",
            Self::PushedRequests => "/par",
            Self::Token => "/token",
            Self::Introspect => "/oauth/introspect",
            Self::Revoke => "/oauth/revoke",
            Self::UserInfo => "/userinfo",
            Self::ServerMetadata => "/.well-known/openid-configuration",
            Self::ResourceMetadata => "/.well-known/oauth-protected-resource",
            Self::Jwks => "/.well-known/jwks.json",
            Self::Graph => "/graphql",
            Self::GraphStream => "/graphql/stream",
            Self::ProblemTypes => "/problems",
            Self::ProblemType(_) => "/problems/{slug}",
            Self::Document => "/openapi.json",
            Self::Charges
            | Self::Charge(_)
            | Self::Refunds(_)
            | Self::Refund(..)
            | Self::Customers
            | Self::Customer(_)
            | Self::WebhookEndpoints
            | Self::WebhookEndpoint(_)
            | Self::WebhookRotations(_)
            | Self::WebhookTestEvents(_)
            | Self::WebhookDeliveries
            | Self::WebhookDelivery(_)
            | Self::WebhookReplays(_) => self.template(),
        }
    }

    /// Formats of patches, if the route takes PATCH.
    pub(super) const fn accept_patch(&self) -> Option<HeaderValue> {
        match self {
            Self::Charge(_) => Some(patching::accept_patch()),
            Self::WebhookEndpoint(_) => Some(HeaderValue::from_static(MERGE_PATCH)),
            _ => None,
        }
    }

    /// Path template of a resource, for idempotency keys and the OpenAPI document; empty for other
    /// routes.
    pub(super) const fn template(&self) -> &'static str {
        match self {
            Self::Charges => "/v1/charges",
            Self::Charge(_) => "/v1/charges/{id}",
            Self::Refunds(_) => "/v1/charges/{id}/refunds",
            Self::Refund(..) => "/v1/charges/{id}/refunds/{refund}",
            Self::Customers => "/v1/customers",
            Self::Customer(_) => "/v1/customers/{id}",
            Self::WebhookEndpoints => "/v1/webhook-endpoints",
            Self::WebhookEndpoint(_) => "/v1/webhook-endpoints/{id}",
            Self::WebhookRotations(_) => "/v1/webhook-endpoints/{id}/rotations",
            Self::WebhookTestEvents(_) => "/v1/webhook-endpoints/{id}/test-events",
            Self::WebhookDeliveries => "/v1/webhook-deliveries",
            Self::WebhookDelivery(_) => "/v1/webhook-deliveries/{id}",
            Self::WebhookReplays(_) => "/v1/webhook-deliveries/{id}/replays",
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_route_or_none() {
        let version: Option<ApiVersion> = "1".parse().ok();
        let charge = ChargeId::from_random([1; 16]);
        assert_eq!(Route::of("/", None), Some(Route::Console(Place::Overview)));
        assert_eq!(Route::of("/charges", version), Some(Route::Charges));
        assert_eq!(
            Route::of(&format!("/charges/{charge}/refunds"), version),
            Some(Route::Refunds(charge))
        );
        for path in [
            "",
            "charges",
            "/charges/",
            "/charges/ch_1",
            "/",
            "//",
            "/login",
            "/graphql",
        ] {
            assert_eq!(Route::of(path, version), None, "{path}");
        }
        for path in ["", "login", "/charges", "/v1/charges", "/V1/charges", "//"] {
            assert_eq!(Route::of(path, None), None, "{path}");
        }
    }
}
