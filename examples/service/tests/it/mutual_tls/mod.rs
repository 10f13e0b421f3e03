//! Certificate-bound tokens on each server over TLS, from the handshake to the API.

mod client;
mod served;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Response;
use serde_json::json as value;

use crate::desk::{header, json};
use crate::servers::Server;
use host_adapter_conformance::authority::{Authority, Identity};
use served::{ROBOT, Served, confirmation, member, read};

const OF_ROBOT: &str = "grant_type=client_credentials&client_id=robot&scope=read:charges";
const OF_PROBE: &str = "grant_type=client_credentials&client_id=probe&scope=read:charges";

/// Headers by which proxies pass a client certificate, which any client can forge: RFC 9440, nginx,
/// Envoy.
fn claims(claimed: &Identity) -> [(&'static str, String); 5] {
    let base64 = STANDARD.encode(claimed.own());
    [
        ("client-cert", format!(":{base64}:")),
        ("x-client-cert", base64.clone()),
        ("x-ssl-client-cert", base64.clone()),
        ("ssl-client-cert", base64.clone()),
        ("x-forwarded-client-cert", format!("Cert=\"{base64}\"")),
    ]
}

/// Header sets of a forgery: none, each header alone, and all of them.
fn beside(claimed: &Identity) -> Vec<Vec<(&'static str, String)>> {
    let all = claims(claimed);
    let alone = all.iter().map(|claim| vec![claim.clone()]);
    alone.chain([vec![], all.to_vec()]).collect()
}

fn assert_invalid_token(served: &Served, refused: &Response<Bytes>, what: &str) {
    assert_eq!(refused.status(), 401, "{} {what}", served.server.name);
    assert_eq!(member(refused, "error"), "invalid_token");
    let challenge = header(refused.headers(), "www-authenticate");
    let expected = format!(r#"Bearer realm="{}", error="invalid_token""#, served.base);
    assert!(challenge.starts_with(&expected), "{challenge}");
}

/// X3, O12, O19, MT1, MT2, MT3: a token of a client with a certificate shows its binding in the JWT
/// and in introspection, and opens the API only over connections with that certificate: not with
/// another one of the same name, a self-signed one or none, whatever the headers say.
#[tokio::test]
async fn bound_token_requires_its_certificate() {
    for server in Server::NAMES {
        let served = Served::on(server).await;
        served.register_robot().await;
        let own = served.authority.issue(ROBOT);
        let answer = served.token(Some(&own), &[], OF_ROBOT).await;
        assert_eq!(member(&answer, "token_type"), "Bearer");
        let token = member(&answer, "access_token");
        let cnf = value!(confirmation(&own));
        assert_eq!(read(&token)["cnf"], cnf, "{server}");
        let told = served.introspected(&token).await;
        assert_eq!((&told["active"], &told["cnf"]), (&value!(true), &cnf), "{server}");

        assert_eq!(served.charges(&token, Some(&own), &[]).await.status(), 200);
        let (twin, of_nobody) = (served.authority.issue(ROBOT), Identity::self_signed(ROBOT));
        let others = [
            ("twin", Some(&twin)),
            ("self-signed", Some(&of_nobody)),
            ("none", None),
        ];
        for (what, other) in others {
            for headers in beside(&own) {
                let refused = served.charges(&token, other, &headers).await;
                assert_invalid_token(&served, &refused, what);
            }
        }
        let graph = "/graphql?query=%7B__typename%7D";
        for (certificate, status) in [(Some(&own), 200), (Some(&twin), 401), (None, 401)] {
            let headers = [
                ("authorization", format!("Bearer {token}")),
                ("graphql-require-preflight", "1".to_owned()),
            ];
            let answer = served.ask(certificate, ("GET", graph), &headers, "").await;
            assert_eq!(answer.status(), status, "{server}: {answer:?}");
        }
        // forged headers do not disable the client's own certificate
        let answer = served.charges(&token, Some(&own), &claims(&twin)).await;
        assert_eq!(answer.status(), 200, "{server}");
    }
}

/// X3, O6, O19, 12: over TLS a client is authenticated by a certificate of the desk's authority, or
/// by the registered certificate itself; never by a header or a certificate of another authority.
#[tokio::test]
async fn client_is_authenticated_by_its_certificate_alone() {
    for server in Server::NAMES {
        let served = Served::on(server).await;
        let of_probe = Identity::self_signed("probe.example.com");
        served.register_robot().await;
        served.register_probe(&of_probe).await;
        let of_robot = served.authority.issue(ROBOT);
        let stranger = Authority::new().issue(ROBOT);
        let of_nobody = Identity::self_signed(ROBOT);
        let other = served.authority.issue("other.example.com");
        let second_probe = Identity::self_signed("probe.example.com");

        for (form, own) in [(OF_ROBOT, &of_robot), (OF_PROBE, &of_probe)] {
            let answer = served.token(Some(own), &[], form).await;
            let token = member(&answer, "access_token");
            assert_eq!(served.charges(&token, Some(own), &[]).await.status(), 200);
        }
        let wrong = [
            (OF_ROBOT, Some(&stranger), &of_robot),
            (OF_ROBOT, Some(&of_nobody), &of_robot),
            (OF_ROBOT, Some(&other), &of_robot),
            (OF_ROBOT, Some(&of_probe), &of_robot),
            (OF_ROBOT, None, &of_robot),
            (OF_PROBE, Some(&second_probe), &of_probe),
            (OF_PROBE, Some(&of_robot), &of_probe),
            (OF_PROBE, None, &of_probe),
        ];
        for (index, (form, certificate, claimed)) in wrong.into_iter().enumerate() {
            for headers in [vec![], claims(claimed).to_vec()] {
                let refused = served.token(certificate, &headers, form).await;
                assert_eq!(refused.status(), 401, "{server} {index}");
                assert_eq!(json(&refused), value!({ "error": "invalid_client" }));
            }
        }
    }
}

/// X3, O19, 50, MT4: over TLS the refresh token of a public client requires the certificate of the
/// code's redemption, and the new token is bound to it.
#[tokio::test]
async fn refresh_token_requires_its_certificate() {
    for server in Server::NAMES {
        let served = Served::on(server).await;
        served.register_app().await;
        let (own, other) = (
            Identity::self_signed("app.example.com"),
            Identity::self_signed("app.example.com"),
        );
        let code = code(&served).await;
        let redemption = format!(
            "grant_type=authorization_code&client_id=app&code={code}&redirect_uri=http://127.0.0.1:9999/callback\
             &code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        );
        let answer = served.token(Some(&own), &[], &redemption).await;
        let refresh = format!(
            "grant_type=refresh_token&client_id=app&refresh_token={}",
            member(&answer, "refresh_token")
        );
        for certificate in [Some(&other), None] {
            let refused = served.token(certificate, &claims(&own), &refresh).await;
            assert_eq!(refused.status(), 400, "{server}");
            assert_eq!(json(&refused)["error"], "invalid_grant");
        }
        let answer = served.token(Some(&own), &[], &refresh).await;
        let token = member(&answer, "access_token");
        assert_eq!(read(&token)["cnf"], value!(confirmation(&own)), "{server}");
        assert_eq!(served.charges(&token, Some(&own), &[]).await.status(), 200);
        let refused = served.charges(&token, Some(&other), &claims(&own)).await;
        assert_invalid_token(&served, &refused, "of the refresh");
    }
}

/// A code of the client `app`, obtained by a browser without a certificate.
async fn code(served: &Served) -> String {
    let uri = "/authorize?response_type=code&client_id=app&redirect_uri=http://127.0.0.1:9999/callback&scope=read:charges&state=s\
               &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256";
    let back = served.ask(None, ("GET", uri), &[], "").await;
    let location = header(back.headers(), "location");
    let (_, query) = location.split_once('?').unwrap_or_else(|| panic!("{back:?}"));
    let (_, code) = form_urlencoded::parse(query.as_bytes())
        .find(|(name, _)| name == "code")
        .unwrap();
    code.into_owned()
}

/// O19, O22, 12, MT2: a desk without certificate support says so in its metadata and accepts no
/// certificate.
#[tokio::test]
async fn certificates_are_refused_without_mutual_tls() {
    let name = "tls_client_certificate_bound_access_tokens";
    for told in [true, false] {
        let served = Served::with("hyper", |config| config.access_tokens.certificates = told).await;
        served.register_robot().await;
        let metadata = "/.well-known/oauth-authorization-server";
        let document = json(&served.ask(None, ("GET", metadata), &[], "").await);
        assert_eq!(document[name], told);
        let methods = document["token_endpoint_auth_methods_supported"]
            .as_array()
            .unwrap();
        assert_eq!(methods.contains(&value!("tls_client_auth")), told);
        assert_eq!(methods.contains(&value!("self_signed_tls_client_auth")), told);
        let own = served.authority.issue(ROBOT);
        let answer = served.token(Some(&own), &[], OF_ROBOT).await;
        assert_eq!(answer.status(), if told { 200 } else { 401 });
    }
}
