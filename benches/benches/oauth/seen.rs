//! A cached access token, verified or introspected before.

use std::hint::black_box;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use criterion::Criterion;
use futures_util::FutureExt as _;
use http::{Request, Response};
use oauth_core::jose::KeySet;
use oauth_core::ports::transport_fn;
use oauth_core::resource::{Introspection, ResourceServer};
use sha2::{Digest as _, Sha256};

use crate::keys::{AUDIENCE, ISSUER, Keys};
use crate::request;

/// An opaque token of the length of ours.
const OPAQUE: &str = "at_dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

/// The floor is the hash for the lookup: the cache keeps hashes, so that its memory reveals no
/// token.
pub(crate) fn again(criterion: &mut Criterion, keys: &Keys) {
    let now = SystemTime::now();
    let jwt = keys.token(now);
    for (name, token, guard) in [
        ("opaque", OPAQUE, asking(now)),
        ("JWT by introspection", &jwt, asking(now)),
        ("JWT", &jwt, remembering(keys)),
    ] {
        let request = request(token);
        let authenticate = || {
            let asked = guard.authenticate(black_box(&request), now);
            asked.now_or_never().expect("at once").expect("active")
        };
        // introspection succeeds once; a second request to the issuer would fail
        assert_eq!(authenticate().subject().as_str(), "user-7");

        let mut group = criterion.benchmark_group(format!("oauth/seen again, {name}"));
        group.bench_function("ours", |b| b.iter(authenticate));
        group.bench_function("floor", |b| b.iter(|| Sha256::digest(black_box(token))));
        group.finish();
    }
}

/// A resource server that verifies JWTs and caches them, which is the default.
pub(crate) fn remembering(keys: &Keys) -> ResourceServer {
    ResourceServer::new(
        ISSUER.parse().expect("an issuer"),
        AUDIENCE.parse().expect("an audience"),
        KeySet::new([keys.public.clone()]).expect("a set"),
    )
}

/// A resource server without keys, which introspects JWTs too.
fn asking(now: SystemTime) -> ResourceServer {
    let seconds = now.duration_since(UNIX_EPOCH).expect("a time").as_secs();
    let active = serde_json::json!({
        "active": true, "token_type": "Bearer", "iss": ISSUER, "aud": AUDIENCE, "sub": "user-7", "client_id": "demo-web",
        "scope": "read:charges write:charges", "jti": "01JD2Q8M7XK3A5V9", "iat": seconds, "exp": seconds + 3600,
    });
    let active = Bytes::from(active.to_string());
    let answers = std::sync::Mutex::new(Some(active));
    let issuer = transport_fn(move |_: Request<Bytes>| {
        let answer = answers.lock().expect("a lock").take().expect("asked once");
        async { Ok(Response::new(answer)) }
    });
    let introspection = Introspection::new(
        "https://as.example/introspect".parse().expect("an endpoint"),
        "api".parse().expect("a client"),
        "the-secret-of-the-bench-and-of-no-one-else"
            .parse()
            .expect("a secret"),
        issuer,
    );
    let no_keys = KeySet::new([]).expect("a set");
    ResourceServer::new(
        ISSUER.parse().expect("an issuer"),
        AUDIENCE.parse().expect("an audience"),
        no_keys,
    )
    .with_introspection(introspection.with_cache(Duration::from_secs(300), 10_000))
}
