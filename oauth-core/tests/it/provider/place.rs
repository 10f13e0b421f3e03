//! Server-side request forgery: a remote issuer cannot send its clients into their own network.

use oauth_core::client::{MetadataError, Provider};

use super::*;

/// Addresses of this machine or of private networks, in every spelling.
const NEAR: [&str; 46] = [
    "127.0.0.1",
    "127.0.0.1.",
    "127.255.0.9",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "100.127.255.255",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.0",
    "192.0.0.192",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.255",
    "224.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:a9fe:a9fe]",
    "[::10.0.0.1]",
    "[64:ff9b::10.0.0.1]",
    "[64:ff9b::c000:201]",
    "[64:ff9b:1::808:808]",
    "[100::1]",
    "[2001::1]",
    "[2001:0:808:808::1]",
    "[2001:1ff:ffff::1]",
    "[2001:db8::1]",
    "[2002:7f00:1::]",
    "[fd00::1]",
    "[3fff:fff::1]",
    "[5f00::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[feff::1]",
    "[ff02::1]",
    "localhost",
    "as.LOCALHOST.",
];

/// Public addresses next to them.
const FAR: [&str; 17] = [
    "as.example",
    "localhost.example",
    "8.8.8.8",
    "100.63.0.1",
    "100.128.0.1",
    "172.32.0.1",
    "192.0.1.1",
    "192.0.3.1",
    "192.169.0.1",
    "198.17.255.255",
    "198.20.0.1",
    "198.51.101.1",
    "203.0.112.255",
    "203.0.114.1",
    "[2001:200::1]",
    "[2001:4860:4860::8888]",
    "[::ffff:8.8.8.8]",
];

fn read(issuer: &str, member: &str, value: Value) -> Result<(), MetadataError> {
    let document = with(member, value).to_string();
    let document = document.replace(
        r#""issuer":"https://as.example""#,
        &format!(r#""issuer":"{issuer}""#),
    );
    let issuer = issuer.parse().unwrap();
    Provider::from_metadata(&issuer, document.as_bytes()).map(|_| ())
}

/// O22, 94: a remote issuer with an endpoint in a private network is refused, whichever member has
/// it.
#[test]
fn public_issuer_has_no_private_endpoint() {
    for member in [
        "authorization_endpoint",
        "token_endpoint",
        "pushed_authorization_request_endpoint",
        "userinfo_endpoint",
        "revocation_endpoint",
        "introspection_endpoint",
        "jwks_uri",
    ] {
        let refused = Err(MetadataError::InvalidEndpoint(member));
        for host in NEAR {
            let url = json!(format!("https://{host}:8443/x?y"));
            assert_eq!(read("https://as.example", member, url), refused, "{host}");
        }
        for host in FAR {
            let url = json!(format!("https://{host}/x"));
            assert_eq!(read("https://as.example", member, url), Ok(()), "{host}");
        }
    }
    let alias = json!({ "token_endpoint": "https://169.254.169.254/latest" });
    assert_eq!(
        read("https://as.example", "mtls_endpoint_aliases", alias),
        Err(MetadataError::InvalidEndpoint("mtls_endpoint_aliases"))
    );
}

/// O22: an issuer in a private network may have its endpoints there, over TLS only.
#[test]
fn private_issuer_may_have_private_endpoints() {
    for issuer in [
        "https://10.0.0.1",
        "https://localhost:8443",
        "https://[fd00::1]",
        "https://192.168.1.1/a",
    ] {
        let url = |scheme: &str| json!(format!("{scheme}://10.0.0.2/token"));
        assert_eq!(read(issuer, "token_endpoint", url("https")), Ok(()), "{issuer}");
        assert_eq!(
            read(issuer, "token_endpoint", url("http")),
            Err(MetadataError::InvalidEndpoint("token_endpoint"))
        );
    }
}
