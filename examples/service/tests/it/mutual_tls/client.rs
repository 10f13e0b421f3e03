//! The client of oauth-core over a transport with a client certificate.

use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use oauth_core::client::{CallError, Client, ClientCredentials, Discovery, Ports, TokenError};
use oauth_core::ports::{OsEntropy, SystemClock, Transport};
use oauth_core::vocabulary::Scopes;

use super::served::{ROBOT, Served};
use crate::servers::Server;
use host_adapter_conformance::authority::Identity;

fn ports(served: &Served, own: Option<&Identity>) -> Ports {
    let transport: Arc<dyn Transport> = Arc::new(served.transport(own));
    Ports::new(transport, OsEntropy, SystemClock)
}

/// X3, O19, O22, 12, MT2, MT3: our client discovers the desk, gets a token by certificate, calls
/// the API and revokes the token. With another certificate neither the token nor the client's id is
/// accepted.
#[tokio::test]
async fn a_client_does_everything_by_its_certificate() {
    for server in Server::NAMES {
        let served = Served::on(server).await;
        served.register_robot().await;
        let own = served.authority.issue(ROBOT);
        let thief = served.authority.issue("thief.example.com");
        let (own, thief) = (ports(&served, Some(&own)), ports(&served, Some(&thief)));
        let discovery = Discovery::new(served.base.parse().unwrap());
        let provider = discovery.run(own.transport().as_ref()).await.unwrap();
        let client =
            Client::new(provider, "robot".parse().unwrap()).with_credentials(ClientCredentials::Certificate);
        let scopes: Scopes = "read:charges".parse().unwrap();
        let tokens = client.client_credentials(&scopes).send(&own).await.unwrap();
        let call = async |ports: &Ports| {
            let request = Request::get(format!("{}/v1/charges", served.base));
            let call = tokens.call(request.body(Bytes::new()).unwrap()).unwrap();
            call.send(ports).await.unwrap().status()
        };
        assert_eq!(call(&own).await, 200, "{server}");
        assert_eq!(call(&thief).await, 401, "{server}");
        assert_eq!(call(&ports(&served, None)).await, 401, "{server}");
        for ports in [&thief, &ports(&served, None)] {
            let refused = client.client_credentials(&scopes).send(ports).await;
            let Err(CallError::Response(TokenError::Refused(refused))) = refused else {
                panic!("{server}: {refused:?}");
            };
            assert_eq!(refused.code(), "invalid_client", "{server}");
        }
        let revoked = client.revoke_access_token(tokens.access_token()).unwrap();
        revoked.send(&own).await.unwrap();
    }
}
