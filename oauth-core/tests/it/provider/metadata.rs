//! Validation of server metadata before anything is sent to an endpoint.

use oauth_core::client::{Discovery, MetadataError, Provider};

use super::*;

fn read(document: &Value) -> Result<Provider, MetadataError> {
    Provider::from_metadata(&issuer(), document.to_string().as_bytes())
}

/// Every member with a URL.
const ENDPOINTS: [&str; 7] = [
    "authorization_endpoint",
    "token_endpoint",
    "pushed_authorization_request_endpoint",
    "userinfo_endpoint",
    "revocation_endpoint",
    "introspection_endpoint",
    "jwks_uri",
];

/// O22, 93: valid metadata give the endpoints of a provider.
#[test]
fn the_metadata_of_a_server_make_a_provider() {
    let (authorize, token) = ("https://as.example/authorize", "https://as.example/token");
    let by_hand = Provider::new(issuer(), authorize.parse().unwrap(), token.parse().unwrap());
    assert_eq!(read(&least()).unwrap().issuer(), by_hand.issuer());

    let mut document = with("response_types_supported", json!(["code id_token", "code"]));
    for name in ENDPOINTS {
        document[name] = json!(format!("https://elsewhere.example/{name}?x=y"));
    }
    document["unknown"] = json!({ "a": [1, { "b": null }] });
    let provider = read(&document).unwrap();
    let places = [
        provider.pushed_authorization_request_endpoint(),
        provider.userinfo_endpoint(),
        provider.revocation_endpoint(),
        provider.introspection_endpoint(),
        provider.jwks_uri(),
    ];
    for (place, name) in places.into_iter().zip(ENDPOINTS.iter().skip(2)) {
        assert_eq!(
            place.unwrap().to_string(),
            format!("https://elsewhere.example/{name}?x=y")
        );
    }
}

/// O22, 82, 94: the issuer is compared byte for byte: another final slash, letter case or port is
/// another issuer.
#[test]
fn the_metadata_of_another_issuer_are_refused() {
    for other in [
        "https://evil.example",
        "https://as.example/",
        "https://AS.example",
        "https://as.example:443",
        "https://as.example/tenant",
        "https://as.example#",
        "http://as.example",
        "",
    ] {
        assert_eq!(
            read(&with("issuer", json!(other))),
            Err(MetadataError::WrongIssuer),
            "{other}"
        );
    }
    for no_issuer in [
        Value::Null,
        json!(1),
        json!(["https://as.example"]),
        json!({ "https://as.example": 1 }),
    ] {
        assert_eq!(read(&with("issuer", no_issuer)), Err(MetadataError::Malformed));
    }
}

/// O22, 72, 94: duplicate members, malformed lists and missing required members are refused.
#[test]
fn malformed_metadata_are_refused() {
    let least = least().to_string();
    let repeated = least.replacen('{', r#"{"token_endpoint":"https://evil.example/token","#, 1);
    let hidden = least.replacen('{', r#"{"x":{"a":1,"\u0061":2},"#, 1);
    let listed = format!("[{least}]");
    let texts = [
        "",
        "null",
        "[]",
        "<html>",
        &repeated,
        &hidden,
        &listed,
        &format!("{least}x"),
    ];
    for text in texts {
        let read = Provider::from_metadata(&issuer(), text.as_bytes());
        assert_eq!(read, Err(MetadataError::Malformed), "{text}");
    }
    let wrong = [
        ("authorization_endpoint", Value::Null),
        ("authorization_endpoint", json!(["https://as.example/authorize"])),
        ("token_endpoint", Value::Null),
        ("token_endpoint", json!(1)),
        ("userinfo_endpoint", json!(true)),
        ("introspection_endpoint", json!(["https://as.example/introspect"])),
        ("jwks_uri", json!({})),
        ("jwks_uri", json!([])),
        ("response_types_supported", Value::Null),
        ("response_types_supported", json!("code")),
        ("response_types_supported", json!(["code", 1])),
        ("response_types_supported", json!({ "code": true })),
        ("code_challenge_methods_supported", json!("S256")),
        ("code_challenge_methods_supported", json!([["S256"]])),
        ("require_pushed_authorization_requests", json!("true")),
        ("require_pushed_authorization_requests", json!(1)),
        ("authorization_response_iss_parameter_supported", json!("false")),
        ("mtls_endpoint_aliases", json!([])),
        ("mtls_endpoint_aliases", json!({ "token_endpoint": 1 })),
        ("mtls_endpoint_aliases", json!({ "introspection_endpoint": {} })),
    ];
    for (member, value) in wrong {
        let document = with(member, value);
        assert_eq!(read(&document), Err(MetadataError::Malformed), "{document}");
    }
}

/// O22, 94: an `https` issuer has `https` endpoints only, also on this machine.
#[test]
fn https_issuer_has_https_endpoints_only() {
    for member in ENDPOINTS {
        for url in [
            "http://as.example/x",
            "http://127.0.0.1:8080/x",
            "http://[::1]/x",
            "http://localhost/x",
            "HTTPS://as.example/x",
            "https:as.example/x",
            "https://user@as.example/x",
            "https://as.example/x#f",
            "https://as.example/a b",
            "//as.example/x",
            "/x",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "",
        ] {
            let refused = Err(MetadataError::InvalidEndpoint(member));
            assert_eq!(read(&with(member, json!(url))), refused, "{url}");
        }
    }
    for member in [
        "pushed_authorization_request_endpoint",
        "token_endpoint",
        "userinfo_endpoint",
        "revocation_endpoint",
        "introspection_endpoint",
    ] {
        let aliases = |url: &str| with("mtls_endpoint_aliases", json!({ member: url }));
        let refused = Err(MetadataError::InvalidEndpoint("mtls_endpoint_aliases"));
        assert_eq!(read(&aliases("http://127.0.0.1/x")), refused);
        assert!(read(&aliases("https://mtls.as.example/x")).is_ok());
    }
}

/// O22: a client with a certificate introspects at the mTLS alias, or at the plain endpoint without
/// one.
#[test]
fn introspection_endpoint_follows_metadata() {
    let (plain, alias) = (
        "https://as.example/introspect",
        "https://mtls.as.example/introspect",
    );
    let asked = |document: &Value| {
        let provider = read(document).unwrap();
        let places = [
            provider.introspection_endpoint(),
            provider.introspection_endpoint_by_certificate(),
        ];
        places.map(|place| place.map(ToString::to_string))
    };
    let mut document = least();
    assert_eq!(asked(&document), [None, None]);
    document["introspection_endpoint"] = json!(plain);
    let by_hand = read(&least())
        .unwrap()
        .with_introspection_endpoint(plain.parse().unwrap());
    assert_eq!(read(&document), Ok(by_hand));
    assert_eq!(asked(&document), [plain, plain].map(|url| Some(url.to_owned())));
    document["mtls_endpoint_aliases"] = json!({ "introspection_endpoint": alias });
    assert_eq!(asked(&document), [plain, alias].map(|url| Some(url.to_owned())));
}

/// O22: an issuer on the loopback interface, for development, has all endpoints there.
#[test]
fn a_loopback_issuer_has_loopback_endpoints() {
    let document = least()
        .to_string()
        .replace("https://as.example", "http://127.0.0.1:8080");
    let issuer = "http://127.0.0.1:8080".parse().unwrap();
    assert!(Provider::from_metadata(&issuer, document.as_bytes()).is_ok());
    let elsewhere = document.replace("8080/token", "8080.evil.example/token");
    assert_eq!(
        Provider::from_metadata(&issuer, elsewhere.as_bytes()),
        Err(MetadataError::InvalidEndpoint("token_endpoint"))
    );
}

/// O1, O2, 93: a server without the code flow, or without S256, is refused.
#[test]
fn a_server_without_codes_or_s256_is_refused() {
    for types in [
        json!([]),
        json!(["token"]),
        json!(["code id_token"]),
        json!(["CODE", "code "]),
    ] {
        let document = with("response_types_supported", types);
        assert_eq!(read(&document), Err(MetadataError::NoCode), "{document}");
    }
    for methods in [
        Value::Null,
        json!([]),
        json!(["plain"]),
        json!(["s256"]),
        json!(["S256 plain"]),
    ] {
        let document = with("code_challenge_methods_supported", methods);
        assert_eq!(read(&document), Err(MetadataError::NoS256), "{document}");
    }
    assert!(
        read(&with(
            "code_challenge_methods_supported",
            json!(["plain", "S256"])
        ))
        .is_ok()
    );
}

/// O22, 94: a document over 64 KiB is refused.
#[test]
fn metadata_beyond_64_kib_are_refused() {
    let text = least().to_string();
    let padded = |length: usize| format!("{text}{}", " ".repeat(length - text.len()));
    let read = |length| Provider::from_metadata(&issuer(), padded(length).as_bytes());
    assert!(read(64 * 1024).is_ok());
    assert_eq!(read(64 * 1024 + 1), Err(MetadataError::TooLong));
}

/// O2, 93: the host may accept metadata without a list of challenge methods; a list without S256 is
/// refused.
#[test]
fn missing_challenge_methods_may_be_accepted() {
    let discovery = Discovery::new(issuer()).danger_take_silence_for_s256();
    let read = |methods| {
        let document = with("code_challenge_methods_supported", methods);
        discovery.read(document.to_string().as_bytes()).map(|_| ())
    };
    assert_eq!(read(Value::Null), Ok(()));
    assert_eq!(read(json!(["S256"])), Ok(()));
    for methods in [json!([]), json!(["plain"])] {
        assert_eq!(read(methods), Err(MetadataError::NoS256));
    }
}
