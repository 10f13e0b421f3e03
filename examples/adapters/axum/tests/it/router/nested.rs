//! Nested routers, whose handlers see a URI without the prefix.

use axum::Router;
use axum::routing::{get, post};
use host_adapter_axum::{Caller, ConventionsLayer, Refusal, Whole};
use http::{Method, StatusCode};
use http_conventions::errors::{ErrorStatus, Problem, ReceivedProblem};
use http_conventions::ports::Clock as _;
use oauth_core::dpop::Proof;
use oauth_core::jose::SigningKey;
use oauth_core::ports::OsEntropy;
use oauth_core::resource::ResourceServer;
use oauth_core::vocabulary::Confirmation;
use tower_service::Service;

use super::fixture::{Running, conventions, request, whole};

/// The layer inside the nested router, or around the outer one.
fn nested(running: &Running, resources: ResourceServer, within: bool) -> Router {
    let layer = ConventionsLayer::new(conventions(&running.clock));
    let charges = Router::new()
        .route("/charges", get(async |_: Caller| "charges"))
        .route(
            "/problem",
            get(async || Refusal::from(Problem::new(ErrorStatus::CONFLICT))),
        )
        .route(
            "/whole",
            post(async |Whole(request): Whole| request.uri().to_string()),
        );
    if within {
        Router::new().nest("/v1", charges.layer(layer))
    } else {
        Router::new().nest("/v1", charges).layer(layer)
    }
    .with_state(resources)
}

/// O20, DP9: a proof must name the URI that the client requested, also in a nested router; a proof
/// for the stripped URI is refused.
#[tokio::test]
async fn proof_names_the_requested_uri() {
    let running = Running::new();
    let own = SigningKey::generate_es256(&OsEntropy).unwrap();
    let bound = Confirmation::Jkt(own.public_key().thumbprint());
    let token = running.token("read:charges", Some(bound));
    let resources = running.resources_with_proofs();
    for within in [false, true] {
        for (path, status) in [("/v1/charges", 200), ("/charges", 401)] {
            let url = format!("https://api.example{path}").parse().unwrap();
            let proof =
                Proof::new(Method::GET, url, &OsEntropy, running.clock.now()).with_access_token(&token);
            let (proof, scheme) = (proof.sign(&own).unwrap().to_header(), format!("DPoP {token}"));
            let fields = [
                ("authorization", scheme.as_str()),
                ("dpop", proof.to_str().unwrap()),
            ];
            let mut router = nested(&running, resources.clone(), within);
            let answer = router
                .call(request("GET", "/v1/charges", &fields, ""))
                .await
                .unwrap();
            assert_eq!(answer.status(), status, "{path}, within: {within}");
        }
    }
}

/// H13: a problem in a nested router names the URI that the client requested, and an endpoint gets
/// it.
#[tokio::test]
async fn nested_problem_names_the_requested_uri() {
    let running = Running::new();
    for within in [false, true] {
        let mut router = nested(&running, running.resources_with_proofs(), within);
        let answer = router
            .call(request("GET", "/v1/problem?a=b", &[], ""))
            .await
            .unwrap();
        let answer = whole(answer).await;
        assert_eq!(answer.status(), StatusCode::CONFLICT);
        let problem = ReceivedProblem::parse(answer.body()).unwrap();
        assert_eq!(problem.instance(), Some("/v1/problem"), "within: {within}");
        let answer = router
            .call(request("POST", "/v1/whole?a=b", &[], ""))
            .await
            .unwrap();
        assert_eq!(whole(answer).await.body(), "/v1/whole?a=b", "within: {within}");
    }
}
