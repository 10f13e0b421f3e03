//! A provider that follows a script.

use sha2::{Digest, Sha512};

use super::*;

/// Faults of an ID token.
#[derive(Clone, Default)]
pub(super) struct Lie {
    /// Changed members of the header and of the claims; `null` removes one.
    pub(super) header: Value,
    pub(super) claims: Value,
    /// Replaces the signature.
    pub(super) signature: Option<String>,
}

/// A provider with a script that tests can change.
#[derive(Clone)]
pub(super) struct Op {
    script: Arc<Mutex<Script>>,
}

pub(super) struct Script {
    pub(super) metadata: Value,
    /// The seeds of the published keys; the first one signs.
    pub(super) keys: Vec<u8>,
    pub(super) lie: Lie,
    /// Changed members of the token response.
    pub(super) token_response: Value,
    /// Keys to switch to when a code is redeemed, before anything is signed.
    pub(super) rotate_to: Option<Vec<u8>>,
    nonce: Option<String>,
    asked: HashMap<String, usize>,
}

fn metadata() -> Value {
    json!({
        "issuer": ISSUER,
        "authorization_endpoint": format!("{ISSUER}/authorize"),
        "token_endpoint": format!("{ISSUER}/token"),
        "jwks_uri": format!("{ISSUER}/jwks"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    })
}

/// The members of `base`, replaced by those of `others`.
pub(super) fn with(mut base: Value, others: &Value) -> Value {
    let members = base.as_object_mut().unwrap();
    for (name, value) in others.as_object().into_iter().flatten() {
        match value {
            Value::Null => members.remove(name),
            value => members.insert(name.clone(), value.clone()),
        };
    }
    base
}

pub(super) fn private_key(seed: u8) -> ed25519_dalek::SigningKey {
    ed25519_dalek::SigningKey::from_bytes(&[seed; 32])
}

pub(super) fn public_key(seed: u8) -> Value {
    let x = URL_SAFE_NO_PAD.encode(private_key(seed).verifying_key().as_bytes());
    json!({ "kty": "OKP", "crv": "Ed25519", "x": x, "kid": format!("k{seed}"), "alg": "EdDSA", "use": "sig" })
}

impl Op {
    pub(super) fn new() -> Self {
        let script = Script {
            metadata: metadata(),
            keys: vec![1],
            lie: Lie::default(),
            token_response: json!({}),
            rotate_to: None,
            nonce: None,
            asked: HashMap::new(),
        };
        Self {
            script: Arc::new(Mutex::new(script)),
        }
    }

    pub(super) fn lying(lie: Lie) -> Self {
        let op = Self::new();
        op.change(|script| script.lie = lie);
        op
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Script)) {
        change(&mut self.script.lock().unwrap());
    }

    pub(super) fn asked(&self, path: &str) -> usize {
        let script = self.script.lock().unwrap();
        script.asked.get(path).copied().unwrap_or_default()
    }

    /// Signs a user in; returns the query of the redirect.
    pub(super) fn authorize(&self, query: &str) -> String {
        let params = Params::parse(query.as_bytes()).unwrap();
        self.change(|script| script.nonce = params.optional("nonce").map(str::to_owned));
        let state = params.optional("state").unwrap();
        format!("code=c-1&state={state}&iss=https%3A%2F%2Fop.example%2Ftenant")
    }

    pub(super) fn transport(&self) -> Arc<dyn Transport> {
        let op = self.clone();
        Arc::new(transport_fn(move |request: Request<Bytes>| {
            let answer = op.script.lock().unwrap().answer(&request);
            async { Ok(answer) }
        }))
    }
}

impl Script {
    fn answer(&mut self, request: &Request<Bytes>) -> Response<Bytes> {
        assert_eq!(request.uri().host(), Some("op.example"));
        let path = request.uri().path().strip_prefix("/tenant").unwrap().to_owned();
        let body = match path.as_str() {
            "/.well-known/openid-configuration" => self.metadata.to_string(),
            "/jwks" => json!({ "keys": self.keys.iter().map(|seed| public_key(*seed)).collect::<Vec<_>>() })
                .to_string(),
            "/token" => self.tokens(&Params::parse(request.body()).unwrap()).to_string(),
            other => unreachable!("{other}"),
        };
        *self.asked.entry(path).or_default() += 1;
        let response = Response::builder().header("content-type", "application/json");
        response.body(body.into()).unwrap()
    }

    fn tokens(&mut self, form: &Params) -> Value {
        if let Some(keys) = self.rotate_to.take() {
            self.keys = keys;
        }
        // a refreshed ID token has no nonce
        let is_refresh = form.optional("grant_type") == Some("refresh_token");
        let nonce = self.nonce.clone().filter(|_| !is_refresh);
        let tokens = json!({
            "access_token": "at-1",
            "refresh_token": "rt-1",
            "token_type": "Bearer",
            "expires_in": 600,
            "id_token": self.id_token(nonce.as_deref()),
        });
        with(tokens, &self.token_response)
    }

    fn id_token(&self, nonce: Option<&str>) -> String {
        let seed = *self.keys.first().unwrap();
        let half: Vec<u8> = Sha512::digest("at-1").into_iter().take(32).collect();
        let claims = json!({
            "iss": ISSUER,
            "sub": "ada",
            "aud": CLIENT,
            "exp": NOW + 300,
            "iat": NOW,
            "auth_time": NOW,
            "nonce": nonce,
            "at_hash": URL_SAFE_NO_PAD.encode(half),
        });
        let header = json!({ "alg": "EdDSA", "typ": "JWT", "kid": format!("k{seed}") });
        let [header, claims] = [with(header, &self.lie.header), with(claims, &self.lie.claims)];
        let [header, claims] = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
        let signed = format!("{header}.{claims}");
        let signature = private_key(seed).sign(signed.as_bytes()).to_bytes();
        let signature = self
            .lie
            .signature
            .clone()
            .unwrap_or_else(|| URL_SAFE_NO_PAD.encode(signature));
        format!("{signed}.{signature}")
    }
}
