//! Client authentication at the direct endpoints, and the shape of requests to them.

use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Request};
use oauth_core::server::EndpointResponse;
use oauth_core::store::ClientAuthentication;

use super::fixture::{
    API, Fixture, Tokens, assert_error, basic, codes, json, post, reason, redemption, secret,
};

const CLIENT_CREDENTIALS: (&str, &str) = ("grant_type", "client_credentials");

/// O6, 5, 6, 10: a client authenticates by its registered method only.
#[tokio::test]
async fn the_registered_method_is_the_only_one() {
    let fixture = Fixture::new();
    fixture
        .change_client("poster", |client| {
            client.with_grant_types(oauth_core::store::GrantType::ALL)
        })
        .await;
    let in_form = |id: &'static str| {
        post(
            HeaderMap::new(),
            &[
                CLIENT_CREDENTIALS,
                ("client_id", id),
                ("client_secret", secret(id).expose()),
            ],
        )
    };
    let in_header = |id: &str| post(basic(id), &[CLIENT_CREDENTIALS]);
    let alone = |id: &'static str| post(HeaderMap::new(), &[CLIENT_CREDENTIALS, ("client_id", id)]);

    assert_eq!(
        fixture.server.token(in_form("poster")).await.response.status(),
        200
    );
    assert_eq!(
        fixture.server.token(in_header("service")).await.response.status(),
        200
    );
    for request in [
        in_header("poster"),
        in_form("service"),
        alone("poster"),
        alone("service"),
    ] {
        let answer = fixture.server.token(request).await;
        assert_error(&answer, 401, "invalid_client");
        assert_eq!(reason(&answer), "client_authentication_method_mismatch");
        assert_eq!(codes(&answer.events), ["client_authentication_failed"]);
    }
    // a public client sends no secret
    for request in [in_form("native"), in_header("native")] {
        assert_error(&fixture.server.token(request).await, 401, "invalid_client");
    }
}

/// O6, 5: two methods in one request are `invalid_request`, even if both are valid.
#[tokio::test]
async fn two_methods_at_once_are_refused() {
    let fixture = Fixture::new();
    let secret = secret("service");
    let mut twice = basic("service");
    twice.append(AUTHORIZATION, basic("service")[AUTHORIZATION].clone());
    let requests = [
        post(
            basic("service"),
            &[CLIENT_CREDENTIALS, ("client_secret", secret.expose())],
        ),
        post(
            basic("service"),
            &[
                CLIENT_CREDENTIALS,
                ("client_id", "service"),
                ("client_secret", secret.expose()),
            ],
        ),
        post(
            basic("service"),
            &[CLIENT_CREDENTIALS, ("client_assertion", "a.b.c")],
        ),
        post(twice, &[CLIENT_CREDENTIALS]),
        post(
            HeaderMap::new(),
            &[
                CLIENT_CREDENTIALS,
                ("client_id", "poster"),
                ("client_secret", "x"),
                ("client_assertion", "a.b.c"),
            ],
        ),
    ];
    for request in requests {
        let answer = fixture.server.token(request).await;
        assert_error(&answer, 400, "invalid_request");
        assert_eq!(reason(&answer), "several_client_authentications");
    }
}

/// O6, 8: a `client_id` in the form may repeat that of the header, and must not contradict it.
#[tokio::test]
async fn the_client_id_of_the_form_must_be_that_of_the_header() {
    let fixture = Fixture::new();
    let same = post(basic("service"), &[CLIENT_CREDENTIALS, ("client_id", "service")]);
    assert_eq!(fixture.server.token(same).await.response.status(), 200);
    let other = post(basic("service"), &[CLIENT_CREDENTIALS, ("client_id", "web")]);
    let answer = fixture.server.token(other).await;
    assert_error(&answer, 400, "invalid_request");
    assert_eq!(reason(&answer), "client_id_mismatch");
}

/// O26, 6, 9, 10, 13: every fault of the credentials gets the same 401 with a challenge.
#[tokio::test]
async fn failed_authentications_are_indistinguishable() {
    let fixture = Fixture::new();
    let header =
        |value: &'static str| HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static(value))]);
    let wrong_secret = {
        let credentials = oauth_core::basic::BasicCredentials {
            client_id: "service".parse().unwrap(),
            secret: secret("web"),
        };
        HeaderMap::from_iter([(AUTHORIZATION, credentials.to_header())])
    };
    let requests = [
        post(HeaderMap::new(), &[CLIENT_CREDENTIALS]),
        post(
            HeaderMap::new(),
            &[CLIENT_CREDENTIALS, ("client_id", "unregistered")],
        ),
        post(
            HeaderMap::new(),
            &[CLIENT_CREDENTIALS, ("client_id", "caf\u{e9}")],
        ),
        post(
            HeaderMap::new(),
            &[
                CLIENT_CREDENTIALS,
                ("client_id", "web"),
                ("client_assertion", "a.b.c"),
            ],
        ),
        post(
            HeaderMap::new(),
            &[
                CLIENT_CREDENTIALS,
                ("client_id", "web"),
                ("client_secret", "\u{e9}"),
            ],
        ),
        post(basic("unregistered"), &[CLIENT_CREDENTIALS]),
        post(wrong_secret, &[CLIENT_CREDENTIALS]),
        post(header("Basic"), &[CLIENT_CREDENTIALS]),
        post(header("Basic !!!"), &[CLIENT_CREDENTIALS]),
        post(header("Bearer c2VydmljZTp4"), &[CLIENT_CREDENTIALS]),
    ];
    for request in requests {
        let answer = fixture.server.token(request).await;
        assert_error(&answer, 401, "invalid_client");
        assert_eq!(
            json(&answer.response),
            serde_json::json!({ "error": "invalid_client" })
        );
        assert_eq!(
            answer.response.headers()["www-authenticate"],
            "Basic realm=\"https://auth.example\""
        );
        assert_eq!(codes(&answer.events), ["client_authentication_failed"]);
    }
}

/// O25, 9: during a rotation both secrets are valid, the old one until its configured end.
#[tokio::test]
async fn two_secrets_are_valid_during_rotation() {
    let fixture = Fixture::new();
    let until = fixture.now() + Duration::from_secs(3_600);
    fixture
        .change_client("service", |mut service| {
            let rotated = service
                .authentication
                .secrets()
                .unwrap()
                .rotate(&secret("new"), until);
            service.authentication = ClientAuthentication::SecretBasic(rotated);
            service
        })
        .await;
    let with = |word: &str| {
        let credentials = oauth_core::basic::BasicCredentials {
            client_id: "service".parse().unwrap(),
            secret: secret(word),
        };
        post(
            HeaderMap::from_iter([(AUTHORIZATION, credentials.to_header())]),
            &[CLIENT_CREDENTIALS],
        )
    };
    for word in ["new", "service"] {
        assert_eq!(
            fixture.server.token(with(word)).await.response.status(),
            200,
            "{word}"
        );
    }
    fixture.clock.set(until);
    assert_eq!(fixture.server.token(with("new")).await.response.status(), 200);
    assert_error(
        &fixture.server.token(with("service")).await,
        401,
        "invalid_client",
    );
}

/// O1, O26: unsupported grants are refused, and so are grants that the client is not registered
/// for.
#[tokio::test]
async fn unsupported_or_unregistered_grant_is_refused() {
    let fixture = Fixture::new();
    for grant in [
        "password",
        "implicit",
        "AUTHORIZATION_CODE",
        "urn:ietf:params:oauth:grant-type:device_code",
    ] {
        assert_error(
            &fixture.token(&vec![("grant_type", grant)]).await,
            400,
            "unsupported_grant_type",
        );
    }
    assert_error(
        &fixture.token(&vec![("grant_type", "client_credentials")]).await,
        400,
        "unauthorized_client",
    );
    assert_error(
        &fixture.token_as("service", &redemption("ac_x")).await,
        400,
        "unauthorized_client",
    );
    let refresh = vec![("grant_type", "refresh_token"), ("refresh_token", "rt_x")];
    assert_error(
        &fixture.token_as("once", &refresh).await,
        400,
        "unauthorized_client",
    );
}

/// O26, 2: a missing parameter is `invalid_request`.
#[tokio::test]
async fn a_missing_parameter_is_an_invalid_request() {
    let fixture = Fixture::new();
    for pairs in [
        vec![],
        vec![("grant_type", "")],
        vec![("grant_type", "authorization_code")],
        vec![("grant_type", "authorization_code"), ("code", "")],
        vec![("grant_type", "refresh_token")],
    ] {
        assert_error(&fixture.token(&pairs).await, 400, "invalid_request");
    }
    assert_error(
        &fixture.server.introspect(post(basic("web"), &[])).await,
        400,
        "invalid_request",
    );
    assert_error(&fixture.revoke_as("web", &[]).await, 400, "invalid_request");
}

/// O6, O26, 1: a request with any repeated parameter is refused, and nothing is consumed.
#[tokio::test]
async fn a_repeated_parameter_is_an_invalid_request() {
    let fixture = Fixture::new();
    let code = fixture.code().await;
    for (name, value) in redemption(&code).into_iter().chain([("extra", "1")]) {
        let repeated = [redemption(&code), vec![(name, value), ("extra", "2")]].concat();
        let answer = fixture.token(&repeated).await;
        assert_error(&answer, 400, "invalid_request");
        assert_eq!(reason(&answer), "parameter_repeated", "{name}");
    }
    // RFC 8707 allows repeated `resource` parameters
    let resources = [redemption(&code), vec![("resource", API), ("resource", API)]].concat();
    Tokens::of(&fixture.token(&resources).await);
    for pairs in [[("token", "a"), ("token", "b")], [("token", "a"), ("token", "")]] {
        assert_error(
            &fixture.server.introspect(post(basic("web"), &pairs)).await,
            400,
            "invalid_request",
        );
        assert_error(&fixture.revoke_as("web", &pairs).await, 400, "invalid_request");
    }
}

/// O26, 3, 4, 30: malformed requests get the documented status at all three endpoints, without a
/// panic.
#[tokio::test]
async fn requests_of_the_wrong_shape_are_refused() {
    let fixture = Fixture::new();
    let form = |body: Vec<u8>| {
        let mut request = post(basic("web"), &[]);
        *request.body_mut() = body.into();
        request
    };
    let with_type = |content_type: &'static str| {
        let mut request = post(basic("service"), &[CLIENT_CREDENTIALS]);
        request
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        request
    };
    let table: [(Request<Bytes>, u16); 8] = [
        (
            Request::get("/token?grant_type=client_credentials")
                .body(Bytes::new())
                .unwrap(),
            405,
        ),
        (Request::put("/token").body(Bytes::new()).unwrap(), 405),
        (with_type("application/json"), 400),
        (
            with_type("application/x-www-form-urlencoded; charset=latin1"),
            400,
        ),
        (form(b"token=%".to_vec()), 400),
        (form(b"token=\xff".to_vec()), 400),
        (form("a=1&".repeat(1_000).into_bytes()), 400),
        (form(vec![b'a'; 70_000]), 413),
    ];
    for (request, status) in table {
        for answer in at_every_endpoint(&fixture, &request).await {
            assert_eq!(answer.response.status(), status, "{request:?}");
            assert_eq!(json(&answer.response)["error"], "invalid_request");
            assert_eq!(answer.response.headers().contains_key("allow"), status == 405);
        }
    }
}

async fn at_every_endpoint(fixture: &Fixture, request: &Request<Bytes>) -> [EndpointResponse; 3] {
    [
        fixture.server.token(request.clone()).await,
        fixture.server.introspect(request.clone()).await,
        fixture.server.revoke(request.clone()).await,
    ]
}
