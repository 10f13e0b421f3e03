//! Credentials of the demo user and of the demo clients, which a desk must have for the tour.

/// Email address of the user.
pub const EMAIL: &str = "ada@example.com";
/// Password of the user.
pub const PASSWORD: &str = "correct horse battery staple";
/// Redirect URI of the client `demo-web`.
pub const WEB_REDIRECT_URI: &str = "http://127.0.0.1:9999/callback";
/// Secret of the client `demo-web`.
pub const WEB_SECRET: &str = "demo-web-secret";
/// Secret of the client `demo-service`.
pub const SERVICE_SECRET: &str = "demo-service-secret";
