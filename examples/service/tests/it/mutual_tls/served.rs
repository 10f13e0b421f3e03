//! The desk over TLS, and its clients.

use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use host_store_sqlite::Database;
use host_tls::{ClientCertificates, Tls};
use host_transport_hyper::HyperTransport;
use http::{HeaderName, HeaderValue, Request, Response};
use oauth_core::mtls::{CertificateName, ClientCertificate};
use oauth_core::ports::Transport;
use oauth_core::store::{ClientStore, GrantType, RegisteredCertificates, RegisteredClient, SenderConstraint};
use oauth_core::vocabulary::{Confirmation, RegisteredRedirectUri};
use serde_json::Value;
use service::app::{App, Config};
use webhook_core::address::AddressPolicy;

use crate::desk::json;
use crate::servers::Server;
use host_adapter_conformance::authority::{Authority, Identity};

/// Name of the desk, which resolves only in these tests.
const NAME: &str = "desk.example.com";
/// Name in the robot's certificate.
pub(super) const ROBOT: &str = "robot.example.com";
/// `demo-api:demo-api-secret`, as HTTP Basic.
const API: &str = "Basic ZGVtby1hcGk6ZGVtby1hcGktc2VjcmV0";

pub(super) struct Served {
    pub(super) authority: Authority,
    pub(super) base: String,
    port: u16,
    database: Database,
    pub(super) server: Server,
}

impl Served {
    /// Starts the desk on this server. It requests client certificates and also accepts self-signed
    /// ones.
    pub(super) async fn on(server: &'static str) -> Self {
        Self::with(server, |config| config.access_tokens.certificates = true).await
    }

    pub(super) async fn with(server: &'static str, change: impl FnOnce(&mut Config)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let base = format!("https://{NAME}:{port}");
        let authority = Authority::new();
        let own = authority.issue(NAME);
        let clients = ClientCertificates::new(authority.roots()).with_unverified();
        let tls = Tls::new(own.chain, own.key, Some(clients)).unwrap();
        let database = Database::open_in_memory().unwrap();
        let mut config = Config::new(&base, database.clone());
        config.sign_in_as = Some("ada@example.com".to_owned());
        change(&mut config);
        let app = Arc::new(App::open(config).await.unwrap());
        let server = Server::start(server, app, listener, Some(tls));
        Self {
            authority,
            base,
            port,
            database,
            server,
        }
    }

    /// Registers `robot`, authenticated by the name in its certificate, with bound tokens.
    pub(super) async fn register_robot(&self) {
        let name = CertificateName::san_dns(ROBOT).unwrap();
        self.register(RegisteredClient::tls("robot".parse().unwrap(), name))
            .await;
    }

    /// Registers `probe`, authenticated by this very certificate.
    pub(super) async fn register_probe(&self, own: &Identity) {
        let own = RegisteredCertificates::new(ClientCertificate::from_der(own.own()).thumbprint());
        self.register(RegisteredClient::self_signed_tls("probe".parse().unwrap(), own))
            .await;
    }

    /// Registers `app`, a public client.
    pub(super) async fn register_app(&self) {
        let callback = RegisteredRedirectUri::loopback_any_port("http://127.0.0.1/callback").unwrap();
        let client = RegisteredClient::public("app".parse().unwrap()).with_redirect_uri(callback);
        self.register(client).await;
    }

    async fn register(&self, client: RegisteredClient) {
        let client = client
            .with_grant_types(GrantType::ALL)
            .with_scopes("read:charges".parse().unwrap())
            .with_sender_constraint(SenderConstraint::MutualTls);
        self.database.put_client(client).await.unwrap();
    }

    /// Transport with or without a client certificate.
    pub(super) fn transport(&self, own: Option<&Identity>) -> HyperTransport {
        let policy = AddressPolicy::new().with_port(self.port).danger_allow_loopback();
        let transport = HyperTransport::new(policy)
            .with_resolver(|_: &str| Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]))
            .with_roots(self.authority.roots());
        match own {
            None => transport,
            Some(own) => transport
                .with_client_certificate(own.chain.clone(), own.key.clone_key())
                .unwrap(),
        }
    }

    /// Response to a request over a connection of its own.
    pub(super) async fn ask(
        &self,
        own: Option<&Identity>,
        (method, path): (&str, &str),
        headers: &[(&'static str, String)],
        body: &str,
    ) -> Response<Bytes> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base));
        let mut request = request.body(Bytes::from(body.to_owned())).unwrap();
        for (name, value) in headers {
            let value = HeaderValue::try_from(value).unwrap();
            request.headers_mut().insert(HeaderName::from_static(name), value);
        }
        Transport::send(&self.transport(own), request).await.unwrap()
    }

    /// Response of the token endpoint to a form.
    pub(super) async fn token(
        &self,
        own: Option<&Identity>,
        headers: &[(&'static str, String)],
        form: &str,
    ) -> Response<Bytes> {
        let headers = [headers, &[form_type()]].concat();
        self.ask(own, ("POST", "/token"), &headers, form).await
    }

    /// Introspection response for a token.
    pub(super) async fn introspected(&self, token: &str) -> Value {
        let headers = [form_type(), ("authorization", API.to_owned())];
        let form = format!("token={token}");
        json(
            &self
                .ask(None, ("POST", "/oauth/introspect"), &headers, &form)
                .await,
        )
    }

    /// Response to a list of charges with a bearer token.
    pub(super) async fn charges(
        &self,
        token: &str,
        own: Option<&Identity>,
        more: &[(&'static str, String)],
    ) -> Response<Bytes> {
        let bearer = ("authorization", format!("Bearer {token}"));
        let headers = [more, &[bearer]].concat();
        self.ask(own, ("GET", "/v1/charges"), &headers, "").await
    }
}

fn form_type() -> (&'static str, String) {
    ("content-type", "application/x-www-form-urlencoded".to_owned())
}

/// Member of a token response.
pub(super) fn member(answer: &Response<Bytes>, name: &str) -> String {
    let document = json(answer);
    let member = document.get(name).and_then(Value::as_str);
    member.unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

/// Claims of a JWT.
pub(super) fn read(token: &str) -> Value {
    let claims = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap()
}

pub(super) fn confirmation(own: &Identity) -> Confirmation {
    ClientCertificate::from_der(own.own()).confirmation()
}
