//! Clients of the configuration file.

use oauth_core::RegisteredClient;
use oauth_core::secret::ClientSecret;
use oauth_core::store::{ClientAuthentication, GrantType, SenderConstraint};

use crate::cli::UsageError;
use crate::cli::tests::{parse_with, served};
use crate::seed::ROBOT_KEY;

const SECRET: &str = "a2f7c6b3d1e84f5097b6c5d4e3f2a1b0";

fn refused(file: &str, files: &[(&str, &str)]) -> Vec<String> {
    let mut all = vec![("f", file)];
    all.extend_from_slice(files);
    let variables = [("SHORT", "demo-web-secret")];
    let error: UsageError = parse_with("--check --config f", &variables, &all).unwrap_err();
    let text = error.to_string();
    assert!(
        !text.contains("demo-web-secret") && !text.contains(SECRET),
        "{text}"
    );
    text.lines().map(str::to_owned).collect()
}

/// X7: the example file is valid. Each client has what its table says, and shows no secret.
#[test]
fn example_file_registers_four_clients() {
    let keys = format!(r#"{{"keys":[{ROBOT_KEY}]}}"#);
    let with_line_end = format!("{SECRET}\n");
    let files = [
        ("desk.example.toml", include_str!("../../../desk.example.toml")),
        ("/run/secrets/redis-url", "redis://127.0.0.1"),
        ("/run/secrets/shop", with_line_end.as_str()),
        ("/etc/desk/bookkeeping.jwks.json", &keys),
    ];
    let variables = [("ORDERS_SECRET", SECRET)];
    let options = served(parse_with("--config desk.example.toml", &variables, &files));
    assert!(!format!("{options:?}").contains(SECRET));
    assert!(options.no_demo);
    assert_eq!(options.other_scopes.to_string(), "read:orders");
    let [shop, tool, bookkeeping, orders]: [RegisteredClient; 4] = options.clients.try_into().unwrap();
    let secret: ClientSecret = SECRET.parse().unwrap();
    for client in [&shop, &orders] {
        let secrets = client.authentication.secrets().unwrap();
        assert!(secrets.accept(&secret, std::time::SystemTime::UNIX_EPOCH));
    }
    assert_eq!(shop.name.as_deref(), Some("Example Shop"));
    assert!(shop.may_redirect_to(&"https://shop.example.com/callback".parse().unwrap()));
    assert!(shop.may_use(GrantType::AuthorizationCode) && shop.may_use(GrantType::RefreshToken));
    assert_eq!(shop.scopes.to_string(), "email openid profile read:charges");
    assert!(shop.backchannel_logout_uri.is_some());
    assert_eq!(shop.post_logout_redirect_uris.len(), 1);
    assert!(tool.may_redirect_to(&"http://127.0.0.1:5123/callback".parse().unwrap()));
    assert_eq!(tool.sender_constraint, Some(SenderConstraint::Dpop));
    assert!(!tool.is_confidential());
    assert!(matches!(
        bookkeeping.authentication,
        ClientAuthentication::PrivateKeyJwt(_)
    ));
    assert!(bookkeeping.may_use(GrantType::ClientCredentials));
    assert!(!bookkeeping.may_use(GrantType::AuthorizationCode));
    assert!(orders.grant_types.is_empty());
    assert_eq!(orders.audiences.len(), 1);
}

/// X7: every mistake of every client is named at its key, with the way out.
#[test]
fn every_mistake_of_a_client_is_named_at_its_key() {
    let file = r#"
[[client]]
secret = "demo-web-secret"

[[client]]
id = "web"
auth-method = "client_secret_basic"
secret-file = "short"
secret-env = "SHORT"
scopes = ["read:chargez"]
redirect-uris = ["http://app.example/callback", 7]

[[client]]
id = "web 2"
auth-method = "client_secret_post"
secret-env = "SHORT"
redirect-uris = ["ftp:x"]
scopes = ["openid"]
sender-constraint = "tls"

[[client]]
id = "robot"
auth-method = "private_key_jwt"
keys-file = "keys"
signing-algorithm = "HS256"
grants = ["client_credentials", "password"]
scopes = ["read:charges"]
"#;
    let expected = [
        "client 1 in f: `id`: missing",
        "client 1 in f: `auth-method`: missing; name one of none, client_secret_basic, \
         client_secret_post, private_key_jwt",
        "client 1 in f: `secret`: a client has no such key; it has id, name, auth-method, secret-file, \
         secret-env, keys-file, signing-algorithm, grants, scopes, redirect-uris, loopback-redirect-uris, \
         post-logout-redirect-uris, backchannel-logout-uri, sender-constraint, audiences",
        "client `web` in f: `secret-env`: the secret is given twice; remove `secret-file` or this",
        "client `web` in f: `scopes`: the service does not issue `read:chargez`; it issues email openid \
         profile read:charges write:charges write:refunds; add a scope of another API by the setting `scope`",
        "client `web` in f: `redirect-uris`: the value is not a list of strings",
        "client `web 2` in f: `secret-env`: the secret has fewer than 32 characters; generate one, for \
         example by `openssl rand -hex 32`",
        "client `web 2` in f: `redirect-uris`: `ftp:x`: not a redirect uri: expected https, loopback http \
         or a private-use scheme, without fragment",
        "client `web 2` in f: `sender-constraint`: `tls`: not one of dpop",
        "client `robot` in f: `signing-algorithm`: `HS256`: not one of ES256, ES384, ES512, EdDSA, RS256, \
         RS384, RS512, PS256, PS384, PS512",
        "client `robot` in f: `keys-file`: `keys` is no JWK set: not a usable key set: malformed, a \
         repeated kid, or more than 100 keys",
        "client `robot` in f: `grants`: `password`: not one of authorization_code, client_credentials, \
         refresh_token",
    ];
    assert_eq!(refused(file, &[("short", "x"), ("keys", "{}]")]), expected);
    let of_text = refused("client = 'shop'", &[]);
    let fault = "`client` in f: each client is a table of its own; begin it with [[client]]";
    assert_eq!(of_text, [fault]);
}

/// X7: a secret in the place of the variable's name is not printed.
#[test]
fn secret_as_name_of_a_variable_is_not_printed() {
    let file = format!(
        "[[client]]\nid = 'a'\nauth-method = 'client_secret_post'\nsecret-env = '{SECRET}'\n\
         scopes = ['read:charges']\nredirect-uris = ['https://a.example/cb']\n"
    );
    let faults = refused(&file, &[]);
    let fault = "the environment has no such variable; name one, such as SHOP_SECRET, not a secret";
    assert_eq!(faults, [format!("client `a` in f: `secret-env`: {fault}")]);
}

/// X7: a client introspects the tokens of an API of the settings, or of the service itself.
#[test]
fn audience_is_an_api_of_the_service() {
    let check = |words: &str, audience: &str, expected: bool| {
        let file = format!(
            "[[client]]\nid = 'a'\nauth-method = 'client_secret_basic'\nsecret-file = 's'\ngrants = []\n\
             audiences = ['{audience}']"
        );
        let parsed = parse_with(
            &format!("--config f {words}"),
            &[],
            &[("f", &file), ("s", SECRET)],
        );
        assert_eq!(parsed.is_ok(), expected, "{words} {audience}");
    };
    check("", "http://127.0.0.1:8080", true);
    check("--listen 127.0.0.1:81", "http://127.0.0.1:81", true);
    check("--listen 127.0.0.1:81", "http://127.0.0.1:8080", false);
    let named = "--base-url https://desk.example.com --api https://orders.example.com";
    check(named, "https://desk.example.com", true);
    check(named, "https://orders.example.com", true);
    check(named, "https://orders.example.com/", false);
    check(named, "http://127.0.0.1:8080", false);
}

/// X7: logout URIs of a client without users, and audiences that the service issues no tokens for,
/// are refused.
#[test]
fn logout_or_audience_without_effect_is_refused() {
    let secret = "auth-method = 'client_secret_basic'\nsecret-file = 's'\n";
    let scopes = "scopes = ['openid']\n";
    for (lines, fault) in [
        (
            format!(
                "{secret}{scopes}grants = ['client_credentials']\nbackchannel-logout-uri = 'https://a.example/'"
            ),
            "`backchannel-logout-uri`: only users of the grant authorization_code sign out; \
             leave it out or add this grant",
        ),
        (
            format!("{secret}grants = []\npost-logout-redirect-uris = ['https://a.example/']"),
            "`post-logout-redirect-uris`: only users of the grant authorization_code sign out; \
             leave it out or add this grant",
        ),
        (
            format!("{secret}grants = []\naudiences = ['https://other.example']"),
            "`audiences`: the service issues no tokens for `https://other.example`; it issues them for \
             http://127.0.0.1:8080; add another API by the setting `api`",
        ),
    ] {
        let faults = refused(&format!("[[client]]\nid = 'a'\n{lines}"), &[("s", SECRET)]);
        assert_eq!(faults, [format!("client `a` in f: {fault}")], "{lines}");
    }
}

/// X7: values that would have no effect together are refused.
#[test]
fn combination_without_effect_is_refused() {
    let table = |lines: &str| refused(&format!("[[client]]\nid = 'a'\n{lines}"), &[("s", SECRET)]);
    let secret = "auth-method = 'client_secret_basic'\nsecret-file = 's'\n";
    let scopes = "scopes = ['openid']\n";
    let uri = "redirect-uris = ['https://a.example/']\n";
    for (lines, fault) in [
        (
            format!("{secret}{scopes}"),
            "`redirect-uris`: a client of the grant authorization_code needs one; add it, or name other `grants`",
        ),
        (
            format!("{secret}{uri}"),
            "`scopes`: missing; list the scopes that the client may request",
        ),
        (
            format!("{secret}{scopes}{uri}grants = ['client_credentials']"),
            "`redirect-uris`: only the grant authorization_code uses it; leave it out or add this grant",
        ),
        (
            format!("{secret}{scopes}grants = ['refresh_token']"),
            "`grants`: refresh_token also needs authorization_code",
        ),
        (
            format!("auth-method = 'none'\n{scopes}grants = ['client_credentials']"),
            "`grants`: client_credentials needs a client that authenticates; name another `auth-method`",
        ),
        (
            format!("{secret}{scopes}loopback-redirect-uris = ['http://127.0.0.1/']"),
            "`loopback-redirect-uris`: only a client without authentication may use any port; \
             list the URIs in `redirect-uris`",
        ),
        (
            format!("auth-method = 'none'\nsecret-file = 's'\n{scopes}{uri}"),
            "`secret-file`: this `auth-method` does not use it; leave it out",
        ),
        (
            format!("auth-method = 'client_secret_post'\n{scopes}{uri}"),
            "`secret-file`: missing; name a file of the secret, or a variable by `secret-env`",
        ),
        (
            format!("auth-method = 'client_secret_post'\nsecret-env = 'NONE'\n{scopes}{uri}"),
            "`secret-env`: the environment has no variable `NONE`; set it",
        ),
        (
            format!("auth-method = 'client_secret_post'\nsecret-file = 'none'\n{scopes}{uri}"),
            "`secret-file`: cannot read `none`: not there",
        ),
    ] {
        assert_eq!(table(&lines), [format!("client `a` in f: {fault}")], "{lines}");
    }
    for id in ["demo-web", "desk-introspection"] {
        let file = format!("[[client]]\nid = '{id}'\nauth-method = 'none'\n{scopes}{uri}");
        let fault = "ids that begin with `demo-` and `desk-` are the service's own; choose another";
        assert_eq!(
            refused(&file, &[]),
            [format!("client `{id}` in f: `id`: {fault}")]
        );
    }
    let one = format!("[[client]]\nid = 'a'\nauth-method = 'none'\n{scopes}{uri}");
    let fault = "client `a` in f: `id`: another client has this id; give each client its own";
    assert_eq!(refused(&format!("{one}{one}"), &[]), [fault]);
}
