//! Clients that authenticate by a certificate, and attacks on them.

mod around;
mod endpoints;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request};
use oauth_core::memory::MemoryTokens;
use oauth_core::mtls::{CertificateName, ClientCertificate, InvalidCertificateName};
use oauth_core::server::{AuthorizationServerBuilder, EndpointResponse};
use oauth_core::store::{
    ClientAuthentication, ClientStore, GrantType, RegisteredCertificates, RegisteredClient,
};
use oauth_core::vocabulary::RegisteredRedirectUri;

use super::fixture::{API, CALLBACK, Fixture, SCOPE, Tokens, assert_error, codes, json, post, reason};

type Named = Result<CertificateName, InvalidCertificateName>;

const CLIENT_CREDENTIALS: (&str, &str) = ("grant_type", "client_credentials");

fn dns(name: &str) -> CertificateName {
    CertificateName::san_dns(name).unwrap()
}

fn subject(name: &str) -> CertificateName {
    CertificateName::subject_dn(name).unwrap()
}

/// A certificate of an authority with these names.
fn certified(names: impl IntoIterator<Item = CertificateName>) -> ClientCertificate {
    ClientCertificate::from_der(b"of an authority").with_verified_names(names)
}

/// A self-signed or unverified certificate.
fn self_signed(der: &str) -> ClientCertificate {
    ClientCertificate::from_der(der.as_bytes())
}

/// A server with the clients `robot`, known by a name, and `probe`, known by a thumbprint.
async fn fixture() -> Fixture {
    let fixture = fixture_with(|builder| builder.with_tls_client_auth().with_self_signed_tls_client_auth());
    fixture.await
}

async fn fixture_with(
    configure: impl FnOnce(AuthorizationServerBuilder) -> AuthorizationServerBuilder,
) -> Fixture {
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), configure);
    register(&fixture, "robot", |id| {
        RegisteredClient::tls(id, dns("robot.example"))
    })
    .await;
    register(&fixture, "probe", |id| {
        let certificate = self_signed("of the probe").thumbprint();
        RegisteredClient::self_signed_tls(id, RegisteredCertificates::new(certificate))
    })
    .await;
    fixture
}

async fn register(
    fixture: &Fixture,
    id: &str,
    client: impl FnOnce(oauth_core::vocabulary::ClientId) -> RegisteredClient,
) {
    let client = client(id.parse().unwrap())
        .with_grant_types(GrantType::ALL)
        .with_redirect_uri(RegisteredRedirectUri::exact(CALLBACK).unwrap())
        .with_scopes(SCOPE.parse().unwrap())
        .with_audience(API.parse().unwrap());
    fixture.clients.put_client(client).await.unwrap();
}

fn over(mut request: Request<Bytes>, certificate: Option<&ClientCertificate>) -> Request<Bytes> {
    if let Some(certificate) = certificate {
        request.extensions_mut().insert(certificate.clone());
    }
    request
}

fn named(client: &str) -> Request<Bytes> {
    post(HeaderMap::new(), &[CLIENT_CREDENTIALS, ("client_id", client)])
}

async fn ask(fixture: &Fixture, client: &str, certificate: Option<&ClientCertificate>) -> EndpointResponse {
    fixture.server.token(over(named(client), certificate)).await
}

/// Checks that the response is the common 401, and that the host gets this reason.
fn assert_refused(answer: &EndpointResponse, why: &str) {
    assert_error(answer, 401, "invalid_client");
    assert_eq!(
        json(&answer.response),
        serde_json::json!({ "error": "invalid_client" })
    );
    assert_eq!(reason(answer), why);
    assert_eq!(codes(&answer.events), ["client_authentication_failed"]);
}

/// O6, O19, 6, 12: a client is known by the name in its certificate: in each of the five fields,
/// also among other names.
#[tokio::test]
async fn client_is_known_by_certified_name() {
    let fixture = fixture().await;
    let names: [Named; 5] = [
        CertificateName::subject_dn("CN=robot,O=Example Ltd,C=GB"),
        CertificateName::san_dns("Robot.Example"),
        CertificateName::san_uri("spiffe://example/robot"),
        CertificateName::san_ip("2001:db8::1"),
        CertificateName::san_email("robot@mail.example"),
    ];
    let names = names.map(Result::unwrap);
    let certificate = certified(names.clone());
    for name in names {
        register(&fixture, "robot", |id| RegisteredClient::tls(id, name.clone())).await;
        let answer = ask(&fixture, "robot", Some(&certificate)).await;
        assert_eq!(Tokens::of(&answer).body["token_type"], "Bearer", "{name}");
        let without = certificate_without(&certificate, &name);
        assert_refused(
            &ask(&fixture, "robot", Some(&without)).await,
            "client_certificate_mismatch",
        );
    }
}

/// The other four names, in a valid certificate.
fn certificate_without(certificate: &ClientCertificate, name: &CertificateName) -> ClientCertificate {
    let all = [
        CertificateName::subject_dn("CN=robot,O=Example Ltd,C=GB"),
        CertificateName::san_dns("robot.example"),
        CertificateName::san_uri("spiffe://example/robot"),
        CertificateName::san_ip("2001:db8::1"),
        CertificateName::san_email("robot@mail.example"),
    ];
    let others = all.into_iter().map(Result::unwrap).filter(|other| other != name);
    certificate.clone().with_verified_names(others)
}

/// O19, 12: a name that starts or ends like that of the client, looks like it, or is in another
/// field, does not match.
#[tokio::test]
async fn similar_certificate_name_does_not_match() {
    let fixture = fixture().await;
    let names: [Named; 9] = [
        CertificateName::san_dns("robot.example.org"),
        CertificateName::san_dns("a.robot.example"),
        CertificateName::san_dns("obot.example"),
        CertificateName::san_dns("robot-example"),
        CertificateName::san_dns("example"),
        CertificateName::san_uri("dns:robot.example"),
        CertificateName::san_email("robot@robot.example"),
        CertificateName::subject_dn("CN=robot.example"),
        CertificateName::subject_dn("DC=robot,DC=example"),
    ];
    let names = names.map(Result::unwrap);
    for name in names.clone() {
        let answer = ask(&fixture, "robot", Some(&certified([name]))).await;
        assert_refused(&answer, "client_certificate_mismatch");
    }
    assert_refused(
        &ask(&fixture, "robot", Some(&certified(names))).await,
        "client_certificate_mismatch",
    );
    assert_refused(
        &ask(&fixture, "robot", Some(&certified([]))).await,
        "client_certificate_mismatch",
    );

    register(&fixture, "robot", |id| {
        RegisteredClient::tls(id, subject("CN=robot,O=Example Ltd"))
    })
    .await;
    for other in [
        "CN=robot",
        "CN=Robot,O=Example Ltd",
        "O=Example Ltd,CN=robot",
        "CN=robot,O=Example Ltd,C=GB",
        "CN=robot+O=Example Ltd",
        "CN=robot\\,O=Example Ltd",
        "CN=robot,O=Example Ltd\\00",
    ] {
        let answer = ask(&fixture, "robot", Some(&certified([subject(other)]))).await;
        assert_refused(&answer, "client_certificate_mismatch");
    }
}

/// O19, 12: names count only in a certificate of an authority, because an attacker can sign one for
/// any name.
#[tokio::test]
async fn self_signed_certificate_with_right_name_is_refused() {
    let fixture = fixture().await;
    let certificate = self_signed("subjectAltName=DNS:robot.example");
    assert!(!certificate.is_verified() && !certificate.bears(&dns("robot.example")));
    assert_refused(
        &ask(&fixture, "robot", Some(&certificate)).await,
        "client_certificate_unverified",
    );
}

/// O6, O19, 6, 12: a registered certificate is known by its thumbprint, whatever its issuer; the
/// same names with another key do not match.
#[tokio::test]
async fn a_registered_certificate_is_known_by_its_thumbprint() {
    let fixture = fixture().await;
    let own = self_signed("of the probe");
    Tokens::of(&ask(&fixture, "probe", Some(&own)).await);
    let vouched_for = own.with_verified_names([dns("robot.example")]);
    Tokens::of(&ask(&fixture, "probe", Some(&vouched_for)).await);
    for other in [
        self_signed("of the probe's twin"),
        certified([dns("probe.example")]),
    ] {
        assert_refused(
            &ask(&fixture, "probe", Some(&other)).await,
            "client_certificate_mismatch",
        );
    }
}

/// O19, O25, 12: during a rotation two certificates are valid, the old one until its configured
/// end.
#[tokio::test]
async fn two_certificates_are_known_during_rotation() {
    let fixture = fixture().await;
    let until = fixture.now() + Duration::from_secs(3_600);
    let (old, new) = (self_signed("of the probe"), self_signed("of the probe, next"));
    fixture
        .change_client("probe", |mut probe| {
            let ClientAuthentication::SelfSignedTls(registered) = &probe.authentication else {
                unreachable!("it was registered so");
            };
            let rotated = registered.rotate(new.thumbprint(), until);
            probe.authentication = ClientAuthentication::SelfSignedTls(rotated);
            probe
        })
        .await;
    fixture.clock.set(until - Duration::from_nanos(1));
    for certificate in [&old, &new] {
        Tokens::of(&ask(&fixture, "probe", Some(certificate)).await);
    }
    fixture.clock.set(until);
    Tokens::of(&ask(&fixture, "probe", Some(&new)).await);
    assert_refused(
        &ask(&fixture, "probe", Some(&old)).await,
        "client_certificate_mismatch",
    );
}

/// O19, 12: a client is refused without its certificate, and with that of another client.
#[tokio::test]
async fn client_without_its_certificate_is_refused() {
    let fixture = fixture().await;
    let (of_robot, of_probe) = (certified([dns("robot.example")]), self_signed("of the probe"));
    for client in ["robot", "probe"] {
        assert_refused(&ask(&fixture, client, None).await, "client_certificate_missing");
    }
    assert_refused(
        &ask(&fixture, "robot", Some(&of_probe)).await,
        "client_certificate_unverified",
    );
    assert_refused(
        &ask(&fixture, "probe", Some(&of_robot)).await,
        "client_certificate_mismatch",
    );
    // the request names the client, not the certificate
    let nameless = post(HeaderMap::new(), &[CLIENT_CREDENTIALS]);
    assert_refused(
        &fixture.server.token(over(nameless, Some(&of_robot))).await,
        "client_id_missing",
    );
    assert_refused(
        &ask(&fixture, "unregistered", Some(&of_robot)).await,
        "client_unknown",
    );
}

/// O19, 12: a certificate in a request header is ignored, because any sender can write it.
#[tokio::test]
async fn certificate_in_header_is_ignored() {
    let fixture = fixture().await;
    let headers = [
        ("client-cert", ":b2YgdGhlIHByb2Jl:"),
        ("client-cert-chain", ":b2YgdGhlIHByb2Jl:"),
        ("x-client-cert", "b2YgdGhlIHByb2Jl"),
        ("x-ssl-cert", "b2YgdGhlIHByb2Jl"),
        ("ssl-client-cert", "b2YgdGhlIHByb2Jl"),
        (
            "x-forwarded-client-cert",
            "Subject=\"CN=robot\";DNS=robot.example",
        ),
        ("x-ssl-client-s-dn", "CN=robot"),
        ("x-ssl-client-verify", "SUCCESS"),
        ("x-amzn-mtls-clientcert", "b2YgdGhlIHByb2Jl"),
        ("x-arr-clientcert", "b2YgdGhlIHByb2Jl"),
    ];
    let claiming = |client: &str| {
        let mut request = named(client);
        for (name, value) in headers {
            request
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
        request
    };
    for client in ["robot", "probe"] {
        assert_refused(
            &fixture.server.token(claiming(client)).await,
            "client_certificate_missing",
        );
        let other = self_signed("of another holder");
        let answer = fixture.server.token(over(claiming(client), Some(&other))).await;
        assert!(["client_certificate_unverified", "client_certificate_mismatch"].contains(&reason(&answer)));
    }
}
