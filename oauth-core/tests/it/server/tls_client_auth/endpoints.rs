//! Mutual TLS at the other endpoints with client authentication.

use super::*;
use crate::server::fixture::{change, web_request};

/// O12, O13, O19, O23, 12, 59, 61: a client authenticates by its certificate at every endpoint, and
/// is refused without it.
#[tokio::test]
async fn certificate_authenticates_at_every_endpoint() {
    let fixture = fixture().await;
    let own = certified([dns("robot.example")]);
    let token = Tokens::of(&ask(&fixture, "robot", Some(&own)).await).access;
    let pushed = change(web_request(), "client_id", Some("robot"));
    let about = [("client_id", "robot"), ("token", token.as_str())];
    let other = self_signed("subjectAltName=DNS:robot.example");
    for (certificate, refused) in [
        (None, Some("client_certificate_missing")),
        (Some(&other), Some("client_certificate_unverified")),
        (Some(&own), None),
    ] {
        let request = |pairs: &[(&str, &str)]| over(post(HeaderMap::new(), pairs), certificate);
        let answers = [
            (200, fixture.server.introspect(request(&about)).await),
            (201, fixture.server.par(request(&pushed)).await),
            (200, fixture.server.revoke(request(&about)).await),
        ];
        for (status, answer) in answers {
            match refused {
                Some(why) => assert_refused(&answer, why),
                None => assert_eq!(answer.response.status(), status),
            }
        }
    }
    let request = over(post(HeaderMap::new(), &about), Some(&own));
    let told = fixture.server.introspect(request).await;
    assert_eq!(json(&told.response)["active"], false, "it was revoked");
}
