//! `pkce.json` and `redirect-uris.json`.

use oauth_core::{
    pkce::{CodeChallenge, CodeVerifier},
    vocabulary::{RedirectUri, RegisteredRedirectUri},
};
use serde::Serialize;

use crate::file::{Case, VectorFile};

const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const RFC_7636: &str = "RFC 7636, appendix B";

#[derive(Serialize)]
struct Verifier {
    verifier: String,
}

#[derive(Serialize)]
struct Pair {
    challenge: String,
    verifier: String,
}

fn challenge(name: &str, verifier: &str) -> Case<Verifier, Option<String>> {
    let parsed = verifier.parse::<CodeVerifier>();
    let expect = parsed.ok().map(|verifier| verifier.challenge().to_string());
    let verifier = verifier.to_owned();
    Case::new(name, Verifier { verifier }, expect)
}

fn pair(name: &str, challenge: &str, verifier: &str) -> Case<Pair, &'static str> {
    let expect = match (
        challenge.parse::<CodeChallenge>(),
        verifier.parse::<CodeVerifier>(),
    ) {
        (Err(_), _) => "invalid-challenge",
        (_, Err(_)) => "invalid-verifier",
        (Ok(challenge), Ok(verifier)) if challenge.matches(&verifier) => "matches",
        _ => "differs",
    };
    let input = Pair {
        challenge: challenge.to_owned(),
        verifier: verifier.to_owned(),
    };
    Case::new(name, input, expect)
}

/// X11, O2, O7, 21, 36, 37, 38: the file says what PKCE decides; the vector of RFC 7636 holds.
#[test]
fn pkce_is_as_the_crate_decides() {
    let mut challenges = vec![
        challenge("appendix B", VERIFIER).known(RFC_7636, &Some(CHALLENGE.to_owned())),
        challenge(
            "all unreserved characters that are no letters or digits",
            &"-._~".repeat(11),
        ),
    ];
    for length in [0, 42, 43, 128, 129] {
        challenges.push(challenge(&format!("{length} characters"), &"a".repeat(length)));
    }
    for (name, foreign) in [
        ("plus", "+"),
        ("slash", "/"),
        ("equals sign", "="),
        ("space", " "),
        ("percent sign", "%"),
        ("newline", "\n"),
        ("letter beyond ASCII", "\u{e9}"),
    ] {
        challenges.push(challenge(name, &format!("{}{foreign}", "a".repeat(43))));
    }
    let cut = CHALLENGE.get(..42).unwrap();
    let pairs = [
        pair("appendix B", CHALLENGE, VERIFIER).known(RFC_7636, &"matches"),
        pair("another verifier", CHALLENGE, &VERIFIER.replace('d', "e")),
        // `plain` would accept it
        pair("the challenge as its own verifier", CHALLENGE, CHALLENGE),
        pair("a short verifier", CHALLENGE, "a"),
        pair("a padded challenge", &format!("{CHALLENGE}="), VERIFIER),
        pair("a short challenge", cut, VERIFIER),
        pair("bits behind the last byte", &format!("{cut}N"), VERIFIER),
        pair("base64 for base64url", &CHALLENGE.replace('-', "+"), VERIFIER),
        pair("a long challenge", &"a".repeat(128), VERIFIER),
        pair("an empty challenge", "", VERIFIER),
    ];
    VectorFile::new("pkce.json", "PKCE by the method S256, RFC 7636")
        .with_cases("challenges", &challenges)
        .with_cases("pairs", &pairs)
        .check();
}

#[derive(Serialize)]
struct Uri {
    uri: String,
}

#[derive(Serialize)]
struct Presented {
    rule: &'static str,
    registered: &'static str,
    presented: String,
}

fn presented(rule: &'static str, registered: &'static str, presented: &str) -> Case<Presented, &'static str> {
    let registration = match rule {
        "exact" => RegisteredRedirectUri::exact(registered),
        "loopback-any-port" => RegisteredRedirectUri::loopback_any_port(registered),
        _ => RegisteredRedirectUri::localhost_any_port(registered),
    };
    let expect = match (registration, presented.parse::<RedirectUri>()) {
        (Err(_), _) => "invalid-registration",
        (_, Err(_)) => "invalid-uri",
        (Ok(registered), Ok(presented)) if registered.matches(&presented) => "matches",
        _ => "differs",
    };
    let input = Presented {
        rule,
        registered,
        presented: presented.to_owned(),
    };
    Case::new(&format!("{rule}, {registered}: {presented}"), input, expect)
}

const URIS: [&str; 24] = [
    "https://app.example",
    "https://app.example/cb?tenant=1",
    "https://app.example:8443/cb",
    "https://app.example/*",
    "http://localhost:3000/cb",
    "http://127.0.0.1/",
    "http://[::1]:80/",
    "com.example.app:/cb",
    "com.example.app:cb",
    "/relative",
    "//app.example/cb",
    "http://app.example/cb",
    "http://127.0.0.1.evil.example/cb",
    "javascript:alert(1)",
    "data:text/html,x",
    "https:app.example/cb",
    "https:/app.example/cb",
    "https:///app.example/cb",
    "https://app.example/cb#fragment",
    "https://ada@app.example/cb",
    "https://app.example\\@evil.example/cb",
    "https://app.example/c b",
    "https://app.example/%2",
    "",
];

const EXACT: [&str; 13] = [
    "https://app.example/cb?tenant=1",
    "https://app.example/cb?tenant=1&x=y",
    "https://app.example/cb",
    "https://app.example/cb?tenant=1#f",
    "https://app.example/cb/../cb?tenant=1",
    "https://app.example:443/cb?tenant=1",
    "https://APP.example/cb?tenant=1",
    "https://app.example/%63b?tenant=1",
    "https://app.example./cb?tenant=1",
    "https://app.example.evil.example/cb?tenant=1",
    "https://ada@app.example/cb?tenant=1",
    "http://app.example/cb?tenant=1",
    "https://evil.example/https://app.example/cb?tenant=1",
];

/// Origins and tails that are presented to a registration with any port.
const TAILS: [&str; 12] = [
    "/cb?x=1",
    ":1/cb?x=1",
    ":65535/cb?x=1",
    ":0/cb?x=1",
    ":65536/cb?x=1",
    ":/cb?x=1",
    ":80/cb?x=2",
    ":80/cb",
    ":80/cb?x=1#f",
    ".evil.example/cb?x=1",
    ":80@evil.example/cb?x=1",
    ":80/other/cb?x=1",
];

/// O4, 16: the file says which redirect URIs are valid, and which match a registration.
#[test]
fn redirect_uris_are_as_the_crate_decides() {
    let mut uris: Vec<_> = URIS.iter().map(|uri| uri_case(uri, (*uri).to_owned())).collect();
    let longest = format!("https://app.example/{}", "a".repeat(2048 - 20));
    uris.push(uri_case("2048 bytes", longest.clone()));
    uris.push(uri_case("2049 bytes", format!("{longest}a")));
    let exact = "https://app.example/cb?tenant=1";
    let mut matches: Vec<_> = EXACT.iter().map(|uri| presented("exact", exact, uri)).collect();
    for (rule, registered, origins) in [
        (
            "loopback-any-port",
            "http://127.0.0.1/cb?x=1",
            ["http://127.0.0.1", "http://localhost", "https://127.0.0.1"],
        ),
        (
            "loopback-any-port",
            "http://[::1]/cb?x=1",
            ["http://[::1]", "http://127.0.0.1", "http://[0:0:0:0:0:0:0:1]"],
        ),
        (
            "localhost-any-port",
            "http://localhost/cb?x=1",
            ["http://localhost", "http://127.0.0.1", "https://localhost"],
        ),
    ] {
        for origin in origins {
            matches.extend(
                TAILS
                    .iter()
                    .map(|tail| presented(rule, registered, &format!("{origin}{tail}"))),
            );
        }
    }
    for (rule, registered) in [
        ("loopback-any-port", "http://localhost/cb"),
        ("loopback-any-port", "http://127.0.0.1:80/cb"),
        ("loopback-any-port", "https://127.0.0.1/cb"),
        ("loopback-any-port", "https://app.example/cb"),
        ("localhost-any-port", "http://localhost:3000/cb"),
        ("localhost-any-port", "http://127.0.0.1/cb"),
    ] {
        matches.push(presented(rule, registered, registered));
    }
    let accepted = matches.iter().filter(|case| case.expect == "matches").count();
    assert_eq!(
        accepted, 10,
        "itself, and three ports of each of three registrations"
    );
    VectorFile::new(
        "redirect-uris.json",
        "Redirect URIs of OAuth 2.1, and how a registered one matches",
    )
    .with_cases("uris", &uris)
    .with_cases("matches", &matches)
    .check();
}

fn uri_case(name: &str, uri: String) -> Case<Uri, bool> {
    let expect = uri.parse::<RedirectUri>().is_ok();
    Case::new(name, Uri { uri }, expect)
}
