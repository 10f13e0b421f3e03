//! Authentication of a client: its secret or its keys.

use std::path::Path;

use oauth_core::RegisteredClient;
use oauth_core::jose::{Algorithm, KeySet};
use oauth_core::secret::ClientSecret;
use oauth_core::store::{ClientKeys, ClientSecrets};
use oauth_core::vocabulary::ClientId;
use zeroize::Zeroizing;

use super::Sources;
use super::table::ClientTable;

const METHOD: &str = "auth-method";
const SECRET_FILE: &str = "secret-file";
const SECRET_ENV: &str = "secret-env";
const KEYS_FILE: &str = "keys-file";
const ALGORITHM: &str = "signing-algorithm";

/// Fewest characters of a secret: it is stored as a fast hash, so that it must not be guessable.
const SHORTEST_SECRET: usize = 32;

/// Authentication method, by its name in the metadata of clients
/// ([RFC 7591 §2](https://www.rfc-editor.org/rfc/rfc7591#section-2)).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    None,
    SecretBasic,
    SecretPost,
    PrivateKeyJwt,
}

const METHODS: &[(&str, Method)] = &[
    ("none", Method::None),
    ("client_secret_basic", Method::SecretBasic),
    ("client_secret_post", Method::SecretPost),
    ("private_key_jwt", Method::PrivateKeyJwt),
];

/// Builds a client with this id and the authentication of its table. Without an id, the values are
/// only checked.
pub(super) fn client(
    table: &mut ClientTable<'_>,
    id: Option<ClientId>,
    sources: &Sources<'_>,
) -> Option<RegisteredClient> {
    let method = table.one_of(METHOD, METHODS);
    if method.is_none() && !table.is_refused(METHOD) {
        table.refuse(
            METHOD,
            "missing; name one of none, client_secret_basic, client_secret_post, private_key_jwt",
        );
    }
    let method = method?;
    let has_secret = matches!(method, Method::SecretBasic | Method::SecretPost);
    refuse_unused(table, has_secret, &[SECRET_FILE, SECRET_ENV]);
    refuse_unused(table, method == Method::PrivateKeyJwt, &[KEYS_FILE, ALGORITHM]);
    match method {
        Method::None => Some(RegisteredClient::public(id?)),
        Method::SecretBasic => {
            let secrets = secrets(table, sources);
            Some(RegisteredClient::confidential(id?, secrets?))
        }
        Method::SecretPost => {
            let secrets = secrets(table, sources);
            Some(RegisteredClient::confidential(id?, secrets?).with_secret_post())
        }
        Method::PrivateKeyJwt => {
            let keys = keys(table, sources);
            Some(RegisteredClient::keyed(id?, keys?))
        }
    }
}

fn refuse_unused(table: &mut ClientTable<'_>, is_used: bool, keys: &[&'static str]) {
    for key in keys.iter().filter(|_| !is_used) {
        if table.text(key).is_some() {
            table.refuse(key, "this `auth-method` does not use it; leave it out");
        }
    }
}

/// The secret of the file or of the variable. No message contains it.
fn secrets(table: &mut ClientTable<'_>, sources: &Sources<'_>) -> Option<ClientSecrets> {
    let (key, text) = match (table.text(SECRET_FILE), table.text(SECRET_ENV)) {
        (Some(_), Some(_)) => {
            table.refuse(
                SECRET_ENV,
                "the secret is given twice; remove `secret-file` or this",
            );
            return None;
        }
        (Some(path), None) => (SECRET_FILE, read(table, SECRET_FILE, &path, sources)?),
        (None, Some(name)) => match (sources.variable)(&name) {
            Some(text) => (SECRET_ENV, Zeroizing::new(text)),
            None => {
                table.refuse(SECRET_ENV, missing_variable(&name));
                return None;
            }
        },
        (None, None) => {
            if !table.is_refused(SECRET_FILE) && !table.is_refused(SECRET_ENV) {
                let fault = "missing; name a file of the secret, or a variable by `secret-env`";
                table.refuse(SECRET_FILE, fault);
            }
            return None;
        }
    };
    let text = text.trim_end_matches(['\r', '\n']);
    let Ok(secret) = text.parse::<ClientSecret>() else {
        table.refuse(key, "the secret is not one line of printable ASCII characters");
        return None;
    };
    if text.len() < SHORTEST_SECRET {
        let fault = "the secret has fewer than 32 characters; \
                     generate one, for example by `openssl rand -hex 32`";
        table.refuse(key, fault);
        return None;
    }
    Some(ClientSecrets::new(&secret))
}

/// Names the missing variable, unless the text may be a secret in its place.
fn missing_variable(name: &str) -> String {
    let is_name = name
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    match is_name && name.len() < SHORTEST_SECRET {
        true => format!("the environment has no variable `{name}`; set it"),
        false => {
            "the environment has no such variable; name one, such as SHOP_SECRET, not a secret".to_owned()
        }
    }
}

/// The public keys of the file, for assertions of the algorithm.
fn keys(table: &mut ClientTable<'_>, sources: &Sources<'_>) -> Option<ClientKeys> {
    let named = Algorithm::ALL.map(|algorithm| (algorithm.as_str(), algorithm));
    let algorithm = table.one_of(ALGORITHM, &named);
    if algorithm.is_none() && !table.is_refused(ALGORITHM) {
        table.refuse(
            ALGORITHM,
            "missing; name the algorithm of the client's assertions, for example ES256",
        );
    }
    let path: String = table.required(KEYS_FILE)?;
    let text = read(table, KEYS_FILE, &path, sources)?;
    let keys = match KeySet::parse(text.as_bytes()) {
        Ok(keys) => keys,
        Err(error) => {
            table.refuse(KEYS_FILE, format!("`{path}` is no JWK set: {error}"));
            return None;
        }
    };
    match ClientKeys::new(algorithm?, &keys) {
        Ok(keys) => Some(keys),
        Err(error) => {
            table.refuse(KEYS_FILE, format!("`{path}`: {error}"));
            None
        }
    }
}

fn read(
    table: &mut ClientTable<'_>,
    key: &'static str,
    path: &str,
    sources: &Sources<'_>,
) -> Option<Zeroizing<String>> {
    match (sources.read)(Path::new(path)) {
        Ok(text) => Some(Zeroizing::new(text)),
        Err(error) => {
            table.refuse(key, format!("cannot read `{path}`: {error}"));
            None
        }
    }
}
