//! Response modes of authorization responses.

use serde::{Deserialize, Serialize};

use super::RedirectUri;

/// Way in which the parameters of an authorization response reach the client, `response_mode`
/// ([OAuth 2.0 Multiple Response
/// Types](https://openid.net/specs/oauth-v2-multiple-response-types-1_0.html#ResponseModes), [OAuth
/// 2.0 Form Post Response
/// Mode](https://openid.net/specs/oauth-v2-form-post-response-mode-1_0.html)).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResponseMode {
    /// In the query of the redirect URI, the default.
    #[default]
    Query,
    /// In the fragment of the redirect URI, for applications in the browser.
    Fragment,
    /// In a form that the browser posts to the redirect URI, which must be `https` or `http`.
    FormPost,
}

impl ResponseMode {
    /// All response modes.
    pub const ALL: [Self; 3] = [Self::Query, Self::Fragment, Self::FormPost];

    /// Returns the value of `response_mode`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Fragment => "fragment",
            Self::FormPost => "form_post",
        }
    }

    /// Returns the response mode with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name)
    }

    /// Returns `true` if a response in this mode can reach the redirect URI: a browser posts no
    /// form to the private-use scheme of a native application.
    #[must_use]
    pub fn can_reach(self, redirect_uri: &RedirectUri) -> bool {
        let uri = redirect_uri.as_str();
        self != Self::FormPost || uri.starts_with("https:") || uri.starts_with("http:")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O2: each response mode has its name on the wire and in records.
    #[test]
    fn names_are_those_of_the_wire() {
        for mode in ResponseMode::ALL {
            assert_eq!(ResponseMode::from_name(mode.as_str()), Some(mode));
            assert_eq!(serde_json::to_value(mode).unwrap(), mode.as_str());
        }
        assert_eq!(ResponseMode::from_name("web_message"), None);
    }
}
