//! Paths of the endpoints.

use super::path;
use crate::vocabulary::Issuer;

/// Paths of the endpoints, appended to the URL of the issuer. The metadata follow them, and the
/// host mounts the methods of the server under them.
///
/// ```
/// use oauth_core::server::EndpointPaths;
///
/// let paths =
/// EndpointPaths::default().with_token("/oauth/token").with_authorize("/oauth/authorize");
/// assert_eq!(paths.token, "/oauth/token");
/// assert_eq!(paths.jwks, "/.well-known/jwks.json");
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct EndpointPaths {
    /// The authorization endpoint.
    pub authorize: String,
    /// The pushed authorization request (PAR) endpoint.
    pub par: String,
    /// The token endpoint.
    pub token: String,
    /// The introspection endpoint.
    pub introspect: String,
    /// The revocation endpoint.
    pub revoke: String,
    /// The UserInfo endpoint.
    pub userinfo: String,
    /// The sign-out endpoint.
    pub end_session: String,
    /// The JWKS.
    pub jwks: String,
}

impl Default for EndpointPaths {
    fn default() -> Self {
        Self {
            authorize: path::AUTHORIZE.to_owned(),
            par: path::PAR.to_owned(),
            token: path::TOKEN.to_owned(),
            introspect: path::INTROSPECT.to_owned(),
            revoke: path::REVOKE.to_owned(),
            userinfo: path::USERINFO.to_owned(),
            end_session: path::END_SESSION.to_owned(),
            jwks: path::JWKS.to_owned(),
        }
    }
}

impl EndpointPaths {
    /// Sets the path of the authorization endpoint.
    #[must_use]
    pub fn with_authorize(mut self, path: &str) -> Self {
        path.clone_into(&mut self.authorize);
        self
    }

    /// Sets the path of the pushed authorization request (PAR) endpoint.
    #[must_use]
    pub fn with_par(mut self, path: &str) -> Self {
        path.clone_into(&mut self.par);
        self
    }

    /// Sets the path of the token endpoint.
    #[must_use]
    pub fn with_token(mut self, path: &str) -> Self {
        path.clone_into(&mut self.token);
        self
    }

    /// Sets the path of the introspection endpoint.
    #[must_use]
    pub fn with_introspect(mut self, path: &str) -> Self {
        path.clone_into(&mut self.introspect);
        self
    }

    /// Sets the path of the revocation endpoint.
    #[must_use]
    pub fn with_revoke(mut self, path: &str) -> Self {
        path.clone_into(&mut self.revoke);
        self
    }

    /// Sets the path of the UserInfo endpoint.
    #[must_use]
    pub fn with_userinfo(mut self, path: &str) -> Self {
        path.clone_into(&mut self.userinfo);
        self
    }

    /// Sets the path of the sign-out endpoint.
    #[must_use]
    pub fn with_end_session(mut self, path: &str) -> Self {
        path.clone_into(&mut self.end_session);
        self
    }

    /// Sets the path of the JWKS.
    #[must_use]
    pub fn with_jwks(mut self, path: &str) -> Self {
        path.clone_into(&mut self.jwks);
        self
    }

    /// Returns the URL of the token endpoint.
    pub(super) fn token_url(&self, issuer: &Issuer) -> String {
        format!("{}{}", issuer.as_str().trim_end_matches('/'), self.token)
    }

    fn all(&self) -> [(&'static str, &str); 8] {
        [
            ("authorize", self.authorize.as_str()),
            ("par", self.par.as_str()),
            ("token", self.token.as_str()),
            ("introspect", self.introspect.as_str()),
            ("revoke", self.revoke.as_str()),
            ("userinfo", self.userinfo.as_str()),
            ("end_session", self.end_session.as_str()),
            ("jwks", self.jwks.as_str()),
        ]
    }

    /// Returns the name of the first path that no client could call: it must begin with one slash
    /// and be visible ASCII without a query, a fragment, empty or dot segments.
    pub(super) fn first_invalid(&self) -> Option<&'static str> {
        let is_valid = |path: &str| {
            path.strip_prefix('/').is_some_and(|rest| {
                let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"?#%\\\"<>".contains(&byte);
                let is_segment = |segment: &str| !matches!(segment, "" | "." | "..");
                rest.bytes().all(is_plain) && rest.split('/').all(is_segment)
            })
        };
        let mut paths = self.all().into_iter();
        paths.find(|(_, path)| !is_valid(path)).map(|(name, _)| name)
    }

    /// Returns `true` if two endpoints have the same path, or one has the path of the metadata.
    pub(super) fn conflict(&self) -> bool {
        let metadata = [path::OAUTH_METADATA, path::OPENID_METADATA];
        let paths: Vec<_> = self
            .all()
            .into_iter()
            .map(|(_, path)| path)
            .chain(metadata)
            .collect();
        let mut indexed = paths.iter().enumerate();
        indexed.any(|(index, path)| paths.iter().take(index).any(|earlier| earlier == path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O38: a path that no client could call is found, and two endpoints on one path.
    #[test]
    fn unusable_paths_are_found() {
        let default = EndpointPaths::default;
        assert_eq!(default().first_invalid(), None);
        for path in [
            "", "token", "//token", "/token/", "/a/../b", "/./b", "/a?b", "/a#b", "/a b", "/%74oken",
            "/t\u{e9}",
        ] {
            assert_eq!(
                default().with_token(path).first_invalid(),
                Some("token"),
                "{path}"
            );
        }
        assert_eq!(default().with_token("/oauth2/v1/token").first_invalid(), None);
        assert!(!default().conflict());
        assert!(default().with_par("/token").conflict());
        assert!(
            default()
                .with_jwks("/.well-known/openid-configuration")
                .conflict()
        );
    }
}
