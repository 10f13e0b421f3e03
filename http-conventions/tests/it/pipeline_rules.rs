//! Conventions are validated when they are built, and cost little afterwards.

use std::sync::Arc;

use allocation_counter::measure;
use bytes::Bytes;
use host_ports::testing::{ManualClock, SeededEntropy};
use http::{HeaderName, HeaderValue, Response, header};
use http_conventions::{
    content::SizeLimits,
    cors::{CorsMistake, CorsRules},
    errors::{ErrorStatus, InvalidProblemBase, ProblemBase, ProblemType},
    idempotency::{Idempotency, MemoryIdempotencyStore},
    pipeline::{Conventions, ConventionsBuilder, ConventionsMistake},
    versions::{ApiVersion, Lifecycle, VersionMistake, VersionScheme},
};

use crate::pipeline_fixture::{APP, BASE, json, request};

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new(std::time::SystemTime::UNIX_EPOCH))
}

fn builder(base: &str) -> ConventionsBuilder {
    Conventions::builder(base, clock(), Arc::new(SeededEntropy::new(1)))
}

fn version(text: &str) -> ApiVersion {
    text.parse().unwrap()
}

fn mistakes(builder: ConventionsBuilder) -> Vec<ConventionsMistake> {
    builder.build().unwrap_err().mistakes().to_vec()
}

/// H22: all mistakes of all conventions are reported at once.
#[test]
fn every_mistake_of_the_conventions_is_reported_at_once() {
    let twice = [("1", Lifecycle::default()), ("1", Lifecycle::default())];
    let wrong = builder("problems/")
        .with_size_limits(SizeLimits::default().with_target(0))
        .with_cors(CorsRules::any_origin().with_credentials().with_methods([]))
        .with_versions(
            VersionScheme::Path,
            twice.map(|(text, lifecycle)| (version(text), lifecycle)),
        )
        .with_default_version(version("2"));
    assert_eq!(
        mistakes(wrong),
        [
            ConventionsMistake::ProblemBase(InvalidProblemBase),
            ConventionsMistake::NothingFits,
            ConventionsMistake::Cors(CorsMistake::CredentialsForAnyOrigin),
            ConventionsMistake::Cors(CorsMistake::NoMethod),
            ConventionsMistake::DefaultInPath,
            ConventionsMistake::Version(VersionMistake::UnknownDefault(version("2"))),
            ConventionsMistake::Version(VersionMistake::Repeated(version("1"))),
        ]
    );
}

/// H22: conventions that are valid alone are checked in combination.
#[test]
fn conventions_are_checked_against_one_another() {
    let other = ProblemBase::new("https://other.example.com/problems/").unwrap();
    let store = Arc::new(MemoryIdempotencyStore::default());
    let idempotency = Idempotency::new(store, clock(), &SeededEntropy::new(1), other);
    assert_eq!(
        mistakes(builder(BASE).with_idempotency(idempotency)),
        [ConventionsMistake::OtherProblemBase]
    );
    assert_eq!(
        mistakes(
            builder(BASE)
                .with_pinned_versions()
                .with_default_version(version("1"))
        ),
        [
            ConventionsMistake::Version(VersionMistake::UnknownDefault(version("1"))),
            ConventionsMistake::PinsWithoutVersions
        ]
    );
    let one = || [(version("1"), Lifecycle::default())];
    assert_eq!(
        mistakes(
            builder(BASE)
                .with_versions(VersionScheme::Path, one())
                .with_pinned_versions()
        ),
        [ConventionsMistake::DefaultInPath]
    );
    let taken = HeaderName::from_static("idempotency-key");
    assert_eq!(
        mistakes(builder(BASE).with_versions(VersionScheme::Header(taken.clone()), one())),
        [ConventionsMistake::VersionField(taken)]
    );
    let kind = |slug| ProblemType::new(slug, ErrorStatus::CONFLICT, "Title", "What it is.");
    let slugs = [
        "mine",
        "invalid-cursor",
        "mine",
        "Mine",
        "blank",
        "",
        "quota-exceeded",
        "mine-too",
    ];
    let repeated = ["invalid-cursor", "mine", "Mine", "blank", "", "quota-exceeded"];
    assert_eq!(
        mistakes(builder(BASE).with_problem_types(slugs.map(kind))),
        repeated.map(ConventionsMistake::RepeatedProblemType)
    );
    let said = builder("x").build().unwrap_err().to_string();
    assert_eq!(said, "invalid conventions: invalid base of problem types");
}

/// H5: a host with untrusted callers adopts no request ids.
#[test]
fn an_id_is_adopted_only_if_configured() {
    let request = request("GET", "/", &[("x-request-id", "checkout-7f3a")]);
    let id = |builder: ConventionsBuilder| {
        let conventions = builder.build().unwrap();
        conventions.begin(&request).id().to_string()
    };
    assert_eq!(id(builder(BASE)), "checkout-7f3a");
    assert_ne!(id(builder(BASE).with_new_request_ids()), "checkout-7f3a");
}

/// A passing exchange allocates its response fields and the text of a new id, and nothing else.
#[test]
fn a_passing_exchange_allocates_its_fields_alone() {
    let conventions = builder(BASE)
        .with_cors(CorsRules::origins([APP]))
        .with_versions(VersionScheme::Path, [(version("1"), Lifecycle::default())])
        .build()
        .unwrap();
    let pass = |id: &str| {
        let mut request = request("GET", "/v1/charges", &[("x-request-id", id)]);
        // as a server creates them: slices of its read buffer
        let shared = |text: &'static str| HeaderValue::from_static(text);
        request.headers_mut().insert("origin", shared(APP));
        *request.uri_mut() = http::Uri::from_static("/v1/charges");
        if !id.is_empty() {
            request
                .headers_mut()
                .insert("x-request-id", shared("checkout-7f3a"));
        }
        let mut answer = Some(json("{}"));
        // the first clone of each value makes it shared
        drop(
            conventions
                .begin(&request)
                .admit(&request)
                .unwrap()
                .finish(Ok(json("{}"))),
        );
        let mut finished = None;
        let allocated = measure(|| {
            let exchange = conventions
                .begin(&request)
                .admit(&request)
                .unwrap()
                .skip_rate_limit();
            finished = answer.take().map(|answer| exchange.finish(Ok(answer)));
        });
        assert!(finished.unwrap().headers().contains_key("vary"));
        allocated.count_total
    };
    assert_eq!(pass("checkout-7f3a"), 0);
    assert_eq!(pass(""), 1, "the text of the id");
}

/// H18: exposing one header keeps the headers that the handler exposed.
#[test]
fn exposed_names_are_added_to_those_of_the_handler() {
    let conventions = builder(BASE).build().unwrap();
    let mut exchange = conventions.begin(&request("GET", "/v1/charges", &[]));
    let expose = header::ACCESS_CONTROL_EXPOSE_HEADERS;
    exchange.set_header(expose.clone(), HeaderValue::from_static("DPoP-Nonce"));
    let answer = Response::builder().header(&expose, "X-Total").body(Bytes::new());
    let answer = exchange.finish(Ok(answer.unwrap()));
    let exposed: Vec<_> = answer.headers().get_all(expose).iter().collect();
    assert_eq!(exposed, ["X-Total", "DPoP-Nonce"]);
}
