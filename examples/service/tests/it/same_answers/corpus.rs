//! Corpus of requests: valid, invalid and malformed.

/// Values that a client of the service knows.
pub(super) struct Known {
    pub(super) token: String,
    pub(super) charge: String,
    pub(super) etag: String,
    /// A DPoP-bound token.
    pub(super) bound: String,
    /// A proof by its key, without a nonce.
    pub(super) proof: String,
}

/// Name of a request in the test's output, and its bytes.
type Named = (String, Vec<u8>);

pub(super) const CHARGE: &str = r#"{"amount":1000,"currency":"eur"}"#;
const FORM: &str = "content-type: application/x-www-form-urlencoded";
const JSON: &str = "content-type: application/json";
const KEY: &str = "idempotency-key: \"same-answers\"";

const TARGETS: [&str; 18] = [
    "/",
    "/nowhere",
    "/login",
    "/token",
    "/graphql",
    "/v1/charges",
    "/v1/webhook-endpoints",
    "/assets/desk.css",
    "/openapi.json",
    "/.well-known/openid-configuration",
    "/problems/invalid-cursor",
    "/userinfo",
    "//",
    "/v1/charges/",
    "/%2e%2e/x",
    "/a%2Fb",
    "/caf%C3%A9",
    "/bug",
];

/// A request of these lines; with `Content-Length` if it has content.
fn ask(method: &str, target: &str, fields: &[&str], content: &str) -> Named {
    let mut text = format!(
        "{method} {target} HTTP/1.1\r\nhost: 127.0.0.1:8080\r\nconnection: close\r\nx-request-id: same-answers\r\n"
    );
    for field in fields {
        text.push_str(&format!("{field}\r\n"));
    }
    if !content.is_empty() {
        text.push_str(&format!("content-length: {}\r\n", content.len()));
    }
    let shown: Vec<_> = fields.iter().filter(|field| field.len() < 80).collect();
    let name = format!("{method} {} {shown:?}", target.get(..60).unwrap_or(target));
    (name, format!("{text}\r\n{content}").into_bytes())
}

/// Requests that all servers answer alike.
pub(super) fn requests(known: &Known) -> Vec<Named> {
    let signed = format!("authorization: {}", known.token);
    let charge = format!("/v1/charges/{}", known.charge);
    let mut requests = methods(&signed, &charge);
    requests.extend(good(known, &signed, &charge));
    requests.extend(bad(&signed));
    let bound = format!("authorization: DPoP {}", known.bound);
    let proof = format!("dpop: {}", known.proof);
    requests.push(ask("GET", "/v1/charges", &[&bound, &proof], ""));
    requests.push(ask("GET", "/v1/charges", &[&bound, &proof, &proof], ""));
    requests.extend(of_other_origins());
    requests.extend(refused(&signed));
    requests
}

/// Every kind of resource with every method.
fn methods(signed: &str, charge: &str) -> Vec<Named> {
    let mut requests = Vec::new();
    for target in TARGETS.iter().chain([&charge]) {
        for method in ["GET", "HEAD", "OPTIONS", "DELETE", "PATCH", "PROPFIND"] {
            requests.push(ask(method, target, &[], ""));
            requests.push(ask(method, target, &[signed], ""));
        }
        requests.push(ask("POST", target, &[signed, JSON], "{"));
        requests.push(ask("PUT", target, &[signed, FORM], "a=b&a=b"));
    }
    requests
}

#[rustfmt::skip]
fn good(known: &Known, signed: &str, charge: &str) -> Vec<Named> {
    let (matching, not) = (format!("if-match: {}", known.etag), format!("if-none-match: {}", known.etag));
    vec![
        ask("GET", charge, &[signed, &not], ""),
        ask("HEAD", charge, &[signed, &not], ""),
        ask("GET", "/v1/charges?limit=1", &[signed], ""),
        ask("POST", "/v1/charges", &[signed, JSON, KEY], CHARGE),
        ask("POST", "/v1/charges", &[signed, JSON, KEY, "expect: 100-continue"], CHARGE),
        ask("PUT", charge, &[signed, JSON, "if-match: \"other\""], CHARGE),
        ask("PUT", charge, &[signed, JSON, &matching], "{}"),
        ask("POST", "/graphql", &[JSON], r#"{"query":"{__typename}"}"#),
        ask("POST", "/graphql", &[JSON, "accept: application/graphql-response+json"], r#"{"query":"{"}"#),
        ask("GET", "/graphql?query=%7B__typename%7D", &["accept: application/json"], ""),
        ask("GET", "http://127.0.0.1:8080/nowhere", &[], ""),
    ]
}

#[rustfmt::skip]
fn bad(signed: &str) -> Vec<Named> {
    let mut requests = vec![
        ask("GET", "/v1/charges", &["authorization: Bearer forged"], ""),
        ask("GET", "/v1/charges", &["authorization: Bearer a b"], ""),
        ask("GET", "/v1/charges", &[signed, signed], ""),
        ask("GET", "/v1/charges?access_token=x", &[], ""),
        ask("GET", "/v1/charges", &[signed, "accept: image/png"], ""),
        ask("GET", "/v1/charges", &[signed, "x-tag: caf\u{e9}"], ""),
        ask("GET", &format!("/v1/charges?{}", "x".repeat(9_000)), &[signed], ""),
        ask("POST", "/v1/charges", &[signed, JSON, "idempotency-key: \""], CHARGE),
        ask("POST", "/v1/charges", &[signed, JSON, KEY], r#"{"amount":1001,"currency":"eur"}"#),
        ask("POST", "/v1/charges", &[signed, "content-type: text/plain"], CHARGE),
        ask("POST", "/v1/charges", &[signed, JSON, "content-encoding: gzip"], CHARGE),
        ask("POST", "/token", &[FORM], "grant_type=password&client_id=demo-native"),
        ask("POST", "/token", &[FORM], "grant_type=client_credentials&client_id=unknown"),
        ask("POST", "/token", &[FORM, "authorization: Basic !!"], "grant_type=client_credentials"),
        ask("POST", "/consent", &[FORM], "decision=allow"),
    ];
    for query in ["limit=0", "limit=x", "limit=1&limit=2", "after=x", "status=gone", "a=%zz", "a=%ff", "&&==", "?"] {
        requests.push(ask("GET", &format!("/v1/charges?{query}"), &[signed], ""));
    }
    requests
}

fn of_other_origins() -> Vec<Named> {
    let mut requests = Vec::new();
    for origin in ["https://app.example.com", "null", "https://evil.example"] {
        let origin = format!("origin: {origin}");
        let asks = "access-control-request-method: POST";
        requests.push(ask("GET", "/v1/charges", &[&origin], ""));
        requests.push(ask("OPTIONS", "/v1/charges", &[&origin, asks], ""));
    }
    requests
}

/// Requests that an adapter refuses before any handler, and requests just within the limits.
fn refused(signed: &str) -> Vec<Named> {
    let large = "x".repeat((1 << 20) + 1);
    let (start, end) = CHARGE.split_at(16);
    let mut requests = vec![ask("POST", "/v1/charges", &[signed, JSON], &large)];
    let chunked = "transfer-encoding: chunked";
    for (name, fields, content) in [
        ("stalls", vec!["content-length: 10"], "half".to_owned()),
        ("no chunk", vec![chunked], "nonsense\r\n\r\n".to_owned()),
        (
            "a chunk over its length",
            vec![chunked],
            "2\r\n{}}\r\n0\r\n\r\n".to_owned(),
        ),
        (
            "a chunk of a size beyond numbers",
            vec![chunked],
            "fffffffffffffffff\r\n".to_owned(),
        ),
        (
            "chunks",
            vec![chunked, KEY],
            format!("10\r\n{start}\r\n10\r\n{end}\r\n0\r\n\r\n"),
        ),
        (
            "chunks and a trailer",
            vec![chunked, KEY],
            format!("20\r\n{CHARGE}\r\n0\r\nx: y\r\n\r\n"),
        ),
    ] {
        let fields = [vec![signed, JSON], fields].concat();
        let (_, mut request) = ask("POST", "/v1/charges", &fields, "");
        request.extend(content.into_bytes());
        requests.push((name.to_owned(), request));
    }
    requests
}

/// A request at the edge of HTTP, and its status on hyper, axum and actix-web.
type Edge = (&'static str, Vec<u8>, [u16; 3]);

pub(super) fn edges() -> Vec<Edge> {
    [lines(), fields(), lengths()].concat()
}

fn head(first: &str, rest: &str) -> Vec<u8> {
    format!("{first}\r\nhost: a\r\nconnection: close\r\n{rest}\r\n").into_bytes()
}

#[rustfmt::skip]
fn lines() -> Vec<Edge> {
    let long = |length: usize| head(&format!("GET /{} HTTP/1.1", "x".repeat(length)), "");
    vec![
        ("no HTTP", b"\xff\x00 nonsense\r\n\r\n".to_vec(), [400; 3]),
        ("another HTTP", head("GET / HTTP/3.0", ""), [400; 3]),
        ("HTTP/1.0", head("GET /nowhere HTTP/1.0", ""), [404; 3]),
        ("HTTP/0.9", b"GET /\r\n\r\n".to_vec(), [400; 3]),
        ("a target of 70 kB", long(70_000), [414, 414, 400]),
        ("a target of 30 kB", long(30_000), [414; 3]),
        ("a bare line feed", b"GET /nowhere HTTP/1.1\nhost: a\nconnection: close\n\n".to_vec(), [404; 3]),
        ("the asterisk", head("OPTIONS * HTTP/1.1", ""), [404; 3]),
        // a tunnel has no end, so actix-web times out
        ("a tunnel", head("CONNECT a:1 HTTP/1.1", ""), [404, 404, 408]),
        ("a target without a slash", head("GET nowhere HTTP/1.1", ""), [404; 3]),
        ("a target with a fragment", head("GET /nowhere#x HTTP/1.1", ""), [404; 3]),
        ("a target that is not ASCII", b"GET /caf\xc3\xa9 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n".to_vec(), [404, 404, 400]),
        ("a method in lower case", head("get /nowhere HTTP/1.1", ""), [404; 3]),
    ]
}

#[rustfmt::skip]
fn fields() -> Vec<Edge> {
    let get = |rest: &str| head("GET /nowhere HTTP/1.1", rest);
    let fields = |count: usize| (0..count).map(|number| format!("x-{number}: 1\r\n")).collect::<String>();
    vec![
        ("no host", b"GET /nowhere HTTP/1.1\r\nconnection: close\r\n\r\n".to_vec(), [400; 3]),
        ("two hosts", get("host: b\r\n"), [400; 3]),
        ("a field of 700 kB", get(&format!("x: {}\r\n", "x".repeat(700_000))), [431; 3]),
        ("96 fields", get(&fields(94)), [404; 3]),
        ("97 fields", get(&fields(95)), [404, 404, 431]),
        ("100 fields", get(&fields(98)), [404, 404, 431]),
        ("101 fields", get(&fields(99)), [431; 3]),
        ("a folded field", get("x: a\r\n b\r\n"), [400; 3]),
        ("a space before the colon", get("x : a\r\n"), [400; 3]),
        ("a null in a field", get("x: \0\r\n"), [400; 3]),
        ("an unknown expectation", get("expect: wonders\r\n"), [404; 3]),
    ]
}

#[rustfmt::skip]
fn lengths() -> Vec<Edge> {
    let post = |rest: &str| head("POST /nowhere HTTP/1.1", rest);
    let both = "content-length: 4\r\ntransfer-encoding: chunked\r\n";
    vec![
        ("two lengths", post("content-length: 1\r\ncontent-length: 2\r\n"), [400; 3]),
        ("the same length twice", post("content-length: 0\r\ncontent-length: 0\r\n"), [404, 404, 400]),
        ("a length below zero", post("content-length: -1\r\n"), [400; 3]),
        // RFC 9112 §6.3 lets a server use the chunks if it then closes the connection, as hyper
        // does
        ("a length and chunks", [post(both), b"0\r\n\r\n".to_vec()].concat(), [404, 404, 400]),
        ("a coding that is none", post("transfer-encoding: gzip\r\n"), [400; 3]),
        ("chunked twice", post("transfer-encoding: chunked, chunked\r\n"), [501, 501, 400]),
    ]
}
