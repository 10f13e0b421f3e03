//! Requests that the providers' libraries, documents and documented recipes signed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use http::{HeaderName, Request};
use serde::Deserialize;
use webhook_core::{
    receiver::{Provider, Verifier, providers},
    signature::scheme::{Check, KeyText, Source, TimestampSource},
};

/// File of one provider; `tests/fixtures/recipes/recipes.py` and the interop script write them.
#[derive(Deserialize)]
struct Fixture {
    provider: String,
    keys: Vec<String>,
    url: Option<String>,
    now: u64,
    requests: Vec<Captured>,
}

#[derive(Deserialize)]
struct Captured {
    method: String,
    query: Option<String>,
    headers: BTreeMap<String, String>,
    body: String,
    /// Id for the detection of duplicates; `None` if it is a digest.
    id: Option<String>,
}

impl Fixture {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(self.now)
    }

    fn provider(&self) -> Provider {
        let found = providers::named(&self.provider);
        found.unwrap_or_else(|| panic!("no provider {}", self.provider))
    }

    fn verifier_of(&self, provider: &Provider, keys: &[String]) -> Option<Verifier> {
        let verifier = provider.verifier(keys).ok()?;
        Some(match &self.url {
            Some(url) => verifier.with_url(url),
            None => verifier,
        })
    }

    fn verifier(&self) -> Verifier {
        let verifier = self.verifier_of(&self.provider(), &self.keys);
        verifier.unwrap_or_else(|| panic!("{}: the keys are refused", self.provider))
    }
}

impl Captured {
    fn request(&self) -> Request<Bytes> {
        let query = self.query.as_deref().map(|query| format!("?{query}"));
        let mut request = Request::builder()
            .method(self.method.as_str())
            .uri(format!("/hooks{}", query.unwrap_or_default()))
            .body(Bytes::from(self.body.clone()))
            .unwrap();
        for (name, value) in &self.headers {
            let name: HeaderName = name.parse().unwrap();
            request.headers_mut().append(name, value.parse().unwrap());
        }
        request
    }
}

#[expect(clippy::disallowed_methods, reason = "fixtures are files")]
fn fixtures() -> Vec<(String, Fixture)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found = Vec::new();
    for folder in ["recipes", "providers"].map(|name| folder.join(name)) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let name = path.display().to_string();
                let fixture = serde_json::from_slice(&fs::read(&path).unwrap());
                found.push((
                    name.clone(),
                    fixture.unwrap_or_else(|error| panic!("{name}: {error}")),
                ));
            }
        }
    }
    found
}

fn is_verified(verifier: &Verifier, request: &Request<Bytes>, now: SystemTime) -> bool {
    verifier.verify(request, request.body().clone(), now).is_ok()
}

/// W19, W20: every captured request of every provider is verified, and has the expected id.
#[test]
fn captured_requests_are_verified() {
    let mut seen = BTreeSet::new();
    for (file, fixture) in fixtures() {
        let (verifier, now) = (fixture.verifier(), fixture.now());
        for (index, captured) in fixture.requests.iter().enumerate() {
            let request = captured.request();
            let verified = verifier.verify(&request, request.body().clone(), now);
            let verified = verified.unwrap_or_else(|error| panic!("{file} {index}: {:?}", error.reason()));
            let id = verified.authenticated_id().unwrap();
            match &captured.id {
                Some(expected) => assert_eq!(id.as_str(), expected, "{file} {index}"),
                None => assert!(id.as_str().starts_with("sha256:"), "{file} {index}: {id}"),
            }
        }
        seen.insert(fixture.provider);
    }
    let all: BTreeSet<_> = providers::ALL.iter().map(|it| it.name().to_owned()).collect();
    let without: Vec<_> = all.difference(&seen).collect();
    assert!(without.is_empty(), "without a fixture: {without:?}");
}

/// W19: a changed body, signature or timestamp, another key and another provider are refused.
#[test]
fn changed_requests_are_refused() {
    let mut tried = 0;
    for (file, fixture) in fixtures() {
        let (provider, verifier, now) = (fixture.provider(), fixture.verifier(), fixture.now());
        for captured in &fixture.requests {
            let good = captured.request();
            for (change, request) in changes(&provider, &good) {
                assert!(!is_verified(&verifier, &request, now), "{file}: {change}");
                tried += 1;
            }
            let other_keys: Vec<_> = fixture
                .keys
                .iter()
                .map(|key| changed_key(&provider, key))
                .collect();
            if let Some(other) = fixture.verifier_of(&provider, &other_keys) {
                assert!(!is_verified(&other, &good, now), "{file}: another key");
                tried += 1;
            }
            for other in providers::ALL.iter().filter(|other| differs(&provider, other)) {
                if let Some(other) = fixture.verifier_of(other, &fixture.keys) {
                    assert!(!is_verified(&other, &good, now), "{file}: {other:?}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 1000, "{tried}");
}

/// The request with a changed body, signature and timestamp.
fn changes(provider: &Provider, good: &Request<Bytes>) -> Vec<(&'static str, Request<Bytes>)> {
    let scheme = provider.scheme();
    let mut found = Vec::new();
    if scheme.check != Check::Token {
        let mut request = good.clone();
        *request.body_mut() = [&good.body()[..], b" "].concat().into();
        found.push(("body", request));
    }
    if let Source::Headers(names) = scheme.signature.source {
        let mut request = good.clone();
        for name in names {
            replace_last(&mut request, name);
        }
        found.push(("signature", request));
    }
    if let Some(TimestampSource::Field(Source::Headers(names))) = scheme.timestamp.map(|field| field.source) {
        let mut request = good.clone();
        for name in names {
            replace_digit(&mut request, name);
        }
        found.push(("timestamp", request));
    }
    found
}

/// Replaces a character in the last third of a header, which is inside of a signature.
fn replace_last(request: &mut Request<Bytes>, name: &'static str) {
    if let Some(value) = request.headers().get(name) {
        let text = value.to_str().unwrap();
        let changed = replaced(text, text.len() * 2 / 3, ['0', '1']);
        request.headers_mut().insert(name, changed.parse().unwrap());
    }
}

/// Replaces the last digit of a timestamp, so that it stays within the tolerance.
fn replace_digit(request: &mut Request<Bytes>, name: &'static str) {
    if let Some(value) = request.headers().get(name) {
        let text = value.to_str().unwrap();
        let at = text.rfind(|c: char| c.is_ascii_digit()).unwrap();
        let changed = replaced(text, at, ['0', '1']);
        request.headers_mut().insert(name, changed.parse().unwrap());
    }
}

/// Another key of the same form.
fn changed_key(provider: &Provider, key: &str) -> String {
    match provider.scheme().key {
        KeyText::Utf8 => format!("{key}x"),
        _ => replaced(key, key.len() / 2, ['A', 'B']),
    }
}

/// The text with one of two characters at a place, where it had another one.
fn replaced(text: &str, at: usize, [one, other]: [char; 2]) -> String {
    let characters = text.chars().enumerate();
    let replaced = characters.map(|(index, c)| match (index == at, c == one) {
        (false, _) => c,
        (true, false) => one,
        (true, true) => other,
    });
    replaced.collect()
}

/// Returns `true` if the schemes read other headers or sign another text.
fn differs(one: &Provider, other: &Provider) -> bool {
    let (one, other) = (one.scheme(), other.scheme());
    let reads_same = match (one.signature.source, other.signature.source) {
        (Source::Headers(one), Source::Headers(other)) => one.iter().any(|name| other.contains(name)),
        (one, other) => one == other,
    };
    !(reads_same && one.signed == other.signed && one.check == other.check && one.key == other.key)
}
