//! TLS to a PostgreSQL server of the test's own.

use std::fs;
use std::path::Path;

use host_store_postgres::Database;
use host_store_postgres::sqlx::query_scalar;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tempfile::TempDir;
use webhook_core::sender::{Enqueued, Outbox};

use crate::own_server::OwnServer;
use crate::server::skip;
use crate::support::event;

/// PEM files of a certificate for `name`, which is its own authority.
fn certificate(name: &str) -> (String, String) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed([name.to_owned()]).unwrap();
    (cert.pem(), signing_key.serialize_pem())
}

fn with(server: &OwnServer, mode: &str, root: Option<&Path>) -> String {
    let url = format!("{}?sslmode={mode}", server.url());
    match root {
        Some(root) => format!("{url}&sslrootcert={}", root.display()),
        None => url,
    }
}

/// X5: the stores work over TLS with a verified certificate; a certificate of another authority or
/// for another name is refused, without a fallback to plain text.
#[tokio::test]
async fn certificate_of_the_server_is_verified() {
    let (own, key) = certificate("127.0.0.1");
    let Some(server) = OwnServer::start_with_tls(&own, &key).await else {
        return skip(
            module_path!(),
            "the programs of PostgreSQL under /usr/lib/postgresql",
        );
    };
    let folder = TempDir::new().unwrap();
    let (root, other) = (folder.path().join("own.pem"), folder.path().join("other.pem"));
    fs::write(&root, own).unwrap();
    fs::write(&other, certificate("127.0.0.1").0).unwrap();

    let database = Database::connect(&with(&server, "verify-full", Some(&root)))
        .await
        .unwrap();
    let sent = database.enqueue(event(1, &["ep_1"])).await.unwrap();
    assert_eq!(sent, Enqueued::Enqueued);
    let is_encrypted = query_scalar::<_, bool>("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
    assert!(is_encrypted.fetch_one(database.pool()).await.unwrap());

    let refused = [
        with(&server, "verify-full", Some(&other)),
        with(&server, "verify-ca", Some(&other)),
        // Mozilla's roots alone
        with(&server, "verify-full", None),
        // the certificate is for an address
        with(&server, "verify-full", Some(&root)).replace("127.0.0.1", "localhost"),
    ];
    for url in refused {
        assert!(Database::connect(&url).await.is_err(), "{url}");
    }
}

/// X5: `require` refuses a server without TLS.
#[tokio::test]
async fn server_without_tls_is_refused_by_require() {
    let Some(server) = OwnServer::start().await else {
        return skip(
            module_path!(),
            "the programs of PostgreSQL under /usr/lib/postgresql",
        );
    };
    assert!(Database::connect(&with(&server, "require", None)).await.is_err());
    assert!(Database::connect(&with(&server, "disable", None)).await.is_ok());
}
