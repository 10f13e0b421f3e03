//! Conformance kit for [`ClientStore`](oauth_core::store::ClientStore).
//!
//! `client_store!(#[tokio::test] expression)` expands to one test per case; `expression` makes an
//! empty store.
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

/// The cases of `client_store!`.
#[host_ports_conformance::kit(client_store)]
mod cases {
    use std::sync::Arc;

    use std::time::Duration;

    use crate::records::race;
    use crate::records::{answer, start};
    use host_ports_conformance::RACERS;
    use oauth_core::grant::{AccessTokenLifetime, RefreshTokenLifetime};
    use oauth_core::mtls::{CertificateName, ClientCertificate};
    use oauth_core::secret::ClientSecret;
    use oauth_core::store::{
        ClientSecrets, ClientStore, GrantType, RegisteredCertificates, RegisteredClient,
    };
    use oauth_core::vocabulary::{ClientId, RegisteredRedirectUri};

    /// O25: a client is read back with every field.
    pub async fn client_is_read_back_as_stored(store: &Arc<dyn ClientStore>) {
        for client in [
            confidential("web"),
            #[cfg(feature = "_signatures")]
            keyed("robot"),
            #[cfg(feature = "_signatures")]
            keyed_at("fetched"),
            RegisteredClient::tls(id("named"), subject("CN=a\\, \\\"b\\\"\\00,O=Caf\u{e9} 'one'")),
            self_signed("probe"),
        ] {
            answer(store.put_client(client.clone()).await);
            assert_eq!(answer(store.client(&client.id).await), Some(client));
        }
    }

    /// An id that was never stored is absent.
    pub async fn an_unknown_client_is_absent(store: &Arc<dyn ClientStore>) {
        assert_eq!(answer(store.client(&id("unknown")).await), None);
    }

    /// A second put replaces every field of the earlier record.
    pub async fn second_put_replaces_whole_record(store: &Arc<dyn ClientStore>) {
        answer(store.put_client(confidential("web")).await);
        let replacement = RegisteredClient::public(id("web"));
        answer(store.put_client(replacement.clone()).await);
        assert_eq!(answer(store.client(&id("web")).await), Some(replacement));
    }

    /// Ids are compared byte for byte: without case folding, trimming or wildcards, and quotes have
    /// no meaning.
    pub async fn ids_are_compared_byte_for_byte(store: &Arc<dyn ClientStore>) {
        let long = "x".repeat(2048);
        let longer = format!("{}y", "x".repeat(2047));
        let ids = [
            "a",
            "A",
            " a",
            "a ",
            "%",
            "_",
            "'",
            "\"",
            "'; DROP TABLE client; --",
            "\\",
            "*",
            &long,
        ];
        for text in ids {
            answer(
                store
                    .put_client(RegisteredClient::public(id(text)).with_name(text))
                    .await,
            );
        }
        for text in ids {
            let found = answer(store.client(&id(text)).await).expect("it was put");
            assert_eq!(found.name.as_deref(), Some(text));
        }
        for text in ["b", "aa", "  a", "%%", longer.as_str()] {
            assert_eq!(answer(store.client(&id(text)).await), None, "{text}");
        }
    }

    /// A record with many redirect URIs and a long name with all kinds of characters is kept whole.
    pub async fn a_big_record_is_kept_whole(store: &Arc<dyn ClientStore>) {
        let name = "\u{0}\u{e9}\u{1f680}'\"\\\n".repeat(8 * 1024);
        let client = (0..500).fold(confidential("big").with_name(name), |client, index| {
            client.with_redirect_uri(exact(&format!("https://app{index}.example/callback")))
        });
        answer(store.put_client(client.clone()).await);
        assert_eq!(answer(store.client(&client.id).await), Some(client));
    }

    /// After 32 concurrent puts one complete record is left, never a mixture.
    pub async fn concurrent_puts_leave_one_whole_record(store: &Arc<dyn ClientStore>) {
        let client = |index: usize| {
            let text = format!("https://app.example/{index}");
            RegisteredClient::public(id("web"))
                .with_name(text.clone())
                .with_redirect_uri(exact(&text))
        };
        race(store, async move |store, index| {
            store.put_client(client(index)).await
        })
        .await;
        let found = answer(store.client(&id("web")).await).expect("it was put");
        assert!((0..RACERS).any(|index| found == client(index)));
    }

    fn confidential(name: &str) -> RegisteredClient {
        let old: ClientSecret = "old secret".parse().expect("printable");
        let new: ClientSecret = "new secret".parse().expect("printable");
        let secrets = ClientSecrets::new(&old).rotate(&new, start() + Duration::from_secs(60));
        RegisteredClient::confidential(id(name), secrets)
            .with_name("Caf\u{e9} 'one'")
            .with_secret_post()
            .with_redirect_uri(exact("https://app.example/callback?x=y"))
            .with_redirect_uri(
                RegisteredRedirectUri::loopback_any_port("http://127.0.0.1/callback").expect("loopback"),
            )
            .with_grant_types(GrantType::ALL)
            .with_scopes("openid read:charges write:charges".parse().expect("scopes"))
            .with_audience("https://api.example".parse().expect("an audience"))
            .with_access_token_lifetime(AccessTokenLifetime::default())
            .with_refresh_token_lifetime(RefreshTokenLifetime::default())
    }

    /// A client with two keys: one whose `kid` is not its thumbprint, and one without `kid`.
    #[cfg(feature = "_signatures")]
    fn keyed(name: &str) -> RegisteredClient {
        use oauth_core::jose::{Algorithm, KeySet};
        use oauth_core::store::ClientKeys;

        let named = r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"the \"new\" one\u0000"}"#;
        let nameless = r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
        let keys = KeySet::parse(format!(r#"{{"keys":[{named},{nameless}]}}"#).as_bytes()).expect("two keys");
        RegisteredClient::keyed(id(name), ClientKeys::new(Algorithm::EdDsa, &keys).expect("keys"))
    }

    fn subject(text: &str) -> CertificateName {
        CertificateName::subject_dn(text).expect("a name")
    }

    #[cfg(feature = "_signatures")]
    fn keyed_at(name: &str) -> RegisteredClient {
        use oauth_core::jose::Algorithm;
        use oauth_core::store::ClientKeysUri;
        let keys = ClientKeysUri::new(Algorithm::Ps256, "https://robot.example/jwks.json?a='");
        RegisteredClient::keyed_at(id(name), keys.expect("a url"))
            .with_id_token_algorithm(Algorithm::Es384)
            .with_fragment_responses()
            .with_backchannel_logout_uri("https://app.example/bc?a='".parse().expect("a url"))
            .with_post_logout_redirect_uri("https://app.example/out".parse().expect("a uri"))
            .with_implied_consent()
            .danger_remember_consent_without_https()
    }

    fn self_signed(name: &str) -> RegisteredClient {
        let [old, new] = ["old", "new"].map(|der| ClientCertificate::from_der(der.as_bytes()).thumbprint());
        let certificates = RegisteredCertificates::new(old).rotate(new, start() + Duration::from_secs(60));
        RegisteredClient::self_signed_tls(id(name), certificates)
    }

    fn exact(uri: &str) -> RegisteredRedirectUri {
        RegisteredRedirectUri::exact(uri).expect("a redirect uri")
    }

    fn id(text: &str) -> ClientId {
        text.parse().expect("printable")
    }
}

pub use cases::*;
