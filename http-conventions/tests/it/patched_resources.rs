//! Patches of typed resources, in the pipeline.

use std::sync::Mutex;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_conventions::{
    Conventions, EntityTag, Idempotency, Patch, PatchRules, Problem, ProblemBase, Validators,
    audit::audit,
    content::{DigestAlgorithm, Digests},
    idempotency::{KeyScope, MemoryIdempotencyStore},
    patching::PatchRefusal,
    ports::{OsEntropy, SystemClock},
};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use crate::patches::{JSON, MERGE, parse, refused};

const BASE: &str = "https://api.example.com/problems/";
const RULES: PatchRules = PatchRules::new(&["/description", "/address/city", "/tags"]);

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Customer {
    id: String,
    created: u64,
    description: Option<String>,
    address: Address,
    tags: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Address {
    city: String,
    country: String,
}

fn customer() -> Customer {
    Customer {
        id: "cus_1".to_owned(),
        created: 1_800_000_000,
        description: Some("x".to_owned()),
        address: Address {
            city: "Bern".to_owned(),
            country: "CH".to_owned(),
        },
        tags: vec!["a".to_owned()],
    }
}

fn change(media_type: &str, patch: &Value) -> Result<Customer, PatchRefusal> {
    parse(media_type, patch.to_string().as_bytes())?.apply_to(&customer(), &RULES)
}

/// H27: writable members change; the others may be sent unchanged.
#[test]
fn writable_members_change() {
    let whole = json!({
        "id": "cus_1", "created": 1_800_000_000, "description": null, "tags": ["b", "c"],
        "address": {"city": "Basel", "country": "CH"},
    });
    let merged = change(MERGE, &whole).unwrap();
    assert_eq!(serde_json::to_value(&merged).unwrap(), whole);
    let operations = json!([
        {"op": "replace", "path": "/description", "value": null},
        {"op": "add", "path": "/tags/-", "value": "c"},
        {"op": "replace", "path": "/tags/0", "value": "b"},
        {"op": "replace", "path": "/address/city", "value": "Basel"},
    ]);
    assert_eq!(change(JSON, &operations), Ok(merged));
}

/// H27, H28: read-only members and faults of types are reported together, each with its pointer.
#[test]
fn read_only_members_are_refused() {
    let check = |media_type: &str, patch: Value, expected: &[(&str, &str)]| {
        let expected = expected
            .iter()
            .map(|(pointer, code)| ((*pointer).to_owned(), (*code).to_owned()));
        let (status, mut faults) = refused(change(media_type, &patch));
        // a feature of serde_json can change the order of members
        faults.sort_unstable();
        assert_eq!((status, faults), (422, expected.collect()), "{patch}");
    };
    check(
        MERGE,
        json!({"id": "cus_2", "created": null, "description": 7, "tags": [1], "address": {"country": "DE"}, "x": 1}),
        &[
            ("/address/country", "read-only"),
            ("/created", "read-only"),
            ("/description", "wrong-type"),
            ("/id", "read-only"),
            ("/tags/0", "wrong-type"),
            ("/x", "read-only"),
        ],
    );
    check(MERGE, json!({"address": null}), &[("/address", "read-only")]);
    check(
        MERGE,
        json!({"address": {"city": null}}),
        &[("/address/city", "missing")],
    );
    check(
        JSON,
        json!([{"op": "remove", "path": "/tags"}]),
        &[("/tags", "missing")],
    );
    check(MERGE, json!(null), &[("", "read-only")]);
    check(
        JSON,
        json!([{"op": "move", "from": "/id", "path": "/description"}]),
        &[("/id", "read-only")],
    );
    check(
        JSON,
        json!([{"op": "add", "path": "/descriptions", "value": 1}]),
        &[("/descriptions", "read-only")],
    );
}

/// H27: a resource without a JSON form is a mistake of the host.
#[test]
fn resource_without_json_form_gets_500() {
    #[derive(Debug, Deserialize)]
    struct Broken;
    impl Serialize for Broken {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("s3cr3t"))
        }
    }
    let patch = parse(MERGE, b"{}").unwrap();
    assert_eq!(refused(patch.apply_to(&Broken, &RULES)), (500, Vec::new()));
}

/// A host with one customer.
struct Host {
    conventions: Conventions,
    stored: Mutex<Customer>,
}

impl Host {
    fn new() -> Self {
        let base = ProblemBase::new(BASE).unwrap();
        let idempotency = Idempotency::new(MemoryIdempotencyStore::default(), SystemClock, &OsEntropy, base);
        let builder = Conventions::builder(BASE, SystemClock, OsEntropy).with_idempotency(idempotency);
        Self {
            conventions: builder.build().unwrap(),
            stored: Mutex::new(customer()),
        }
    }

    fn tag(&self) -> String {
        let content = serde_json::to_vec(&*self.stored.lock().unwrap()).unwrap();
        EntityTag::of_content(&content)
            .header_value()
            .to_str()
            .unwrap()
            .to_owned()
    }

    async fn send(&self, fields: &[(&str, &str)], content: &'static str) -> Response<Bytes> {
        let mut request = Request::new(Bytes::from_static(content.as_bytes()));
        *request.method_mut() = Method::PATCH;
        *request.uri_mut() = "/v1/customers/cus_1".parse().unwrap();
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.insert(name.parse::<http::HeaderName>().unwrap(), value.parse().unwrap());
        }
        *request.headers_mut() = headers;
        let response = self.respond(&request).await;
        assert_eq!(audit(&request, &response), [], "{response:?}");
        response
    }

    async fn respond(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let base = self.conventions.problems();
        let exchange = self
            .conventions
            .begin(request)
            .admit(request)
            .unwrap()
            .skip_rate_limit();
        let patch = Patch::parse(request.headers(), request.body()).map_err(|refusal| refusal.problem(base));
        let patch = match exchange.check(patch) {
            Ok(patch) => patch,
            Err(early) => return early.into_response(),
        };
        let preconditions = exchange.preconditions(request).with_required();
        let handler = async {
            let mut stored = self.stored.lock().unwrap();
            let content = serde_json::to_vec(&*stored).unwrap();
            let current = Validators::default().with_entity_tag(EntityTag::of_content(&content));
            preconditions.check_write(Some(&current), base)?;
            *stored = patch
                .apply_to(&*stored, &RULES)
                .map_err(|refusal| refusal.problem(base))?;
            let mut response = Response::new(Bytes::from(serde_json::to_vec(&*stored).unwrap()));
            response
                .headers_mut()
                .insert("content-type", "application/json".parse().unwrap());
            Ok::<_, Problem>(response)
        };
        let scope = KeyScope::new("user-7", "/v1/customers/{id}");
        exchange.run(request, scope, handler).await
    }
}

/// H27: a PATCH is conditional: 428 without a precondition, 412 for an older state.
#[tokio::test]
async fn patch_is_conditional() {
    let host = Host::new();
    let (old, content) = (host.tag(), "{\"description\": \"new\"}");
    let of = |tag: &str| {
        vec![
            ("content-type".to_owned(), MERGE.to_owned()),
            ("if-match".to_owned(), tag.to_owned()),
        ]
    };
    let send = async |fields: Vec<(String, String)>| {
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        host.send(&fields, content).await.status().as_u16()
    };
    assert_eq!(
        send(vec![("content-type".to_owned(), MERGE.to_owned())]).await,
        428
    );
    assert_eq!(send(of("\"other\"")).await, 412);
    assert_eq!(*host.stored.lock().unwrap(), customer());
    assert_eq!(send(of(&old)).await, 200);
    assert_eq!(send(of(&old)).await, 412);
}

/// H27: a retry with the same key gets the first response, although its entity tag is old; a JSON
/// Patch that appends takes effect once.
#[tokio::test]
async fn patch_takes_effect_once_for_its_key() {
    let host = Host::new();
    let tag = host.tag();
    let fields = [
        ("content-type", JSON),
        ("if-match", &tag),
        ("idempotency-key", "k-1"),
    ];
    let append = "[{\"op\": \"add\", \"path\": \"/tags/-\", \"value\": \"b\"}]";
    let first = host.send(&fields, append).await;
    assert_eq!(
        (
            first.status().as_u16(),
            first.headers().get("idempotency-replayed")
        ),
        (200, None)
    );
    let retry = host.send(&fields, append).await;
    assert_eq!(retry.body(), first.body());
    assert_eq!(retry.headers()["idempotency-replayed"], "true");
    assert_eq!(host.stored.lock().unwrap().tags, ["a", "b"]);

    let other = host.send(&fields, "[]").await;
    assert_eq!(other.status(), 409, "the key of another patch");
}

/// H27: a refusal of the format is not stored under the key, so that a corrected request works.
#[tokio::test]
async fn refused_format_leaves_the_key_unused() {
    let host = Host::new();
    let tag = host.tag();
    let key = ("idempotency-key", "k-1");
    let refused = host.send(&[("content-type", "text/plain"), key], "x").await;
    assert_eq!(refused.status(), 415);
    assert!(refused.headers().contains_key("accept-patch"));
    let changed = host
        .send(
            &[("content-type", MERGE), ("if-match", &tag), key],
            "{\"tags\": []}",
        )
        .await;
    assert_eq!(changed.status(), 200);
}

/// H27, H33: a patch that was damaged on its way changes nothing, and leaves the key unused.
#[tokio::test]
async fn damaged_patch_leaves_the_key_unused() {
    let host = Host::new();
    let tag = host.tag();
    let sent = "{\"description\": \"b\"}";
    let digest = Digests::of(sent.as_bytes(), DigestAlgorithm::Sha256).header_value();
    let fields = [
        ("content-type", MERGE),
        ("if-match", &tag),
        ("idempotency-key", "k-1"),
        ("content-digest", digest.to_str().unwrap()),
    ];
    let damaged = host.send(&fields, "{\"description\": \"c\"}").await;
    assert_eq!(damaged.status(), 400);
    assert_eq!(*host.stored.lock().unwrap(), customer());
    let whole = host.send(&fields, sent).await;
    assert_eq!(whole.status(), 200);
    assert_eq!(host.stored.lock().unwrap().description.as_deref(), Some("b"));
}
