"""An OpenID provider and an API on a loopback address, which misbehave on request.

A case sets attributes of `Provider`: functions that change the metadata, the response through the
browser, the ID token, the token response or the key set.
"""

import base64
import contextlib
import hashlib
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils

CLIENT, SECRET = "storefront", "a secret: with / special % characters +"


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value, length):
    return b64(value.to_bytes(length, "big"))


class Key:
    """A signing key with its public JWK."""

    def __init__(self, kid, algorithm):
        self.kid, self.algorithm = kid, algorithm
        if algorithm == "ES256":
            self.key = ec.generate_private_key(ec.SECP256R1())
            point = self.key.public_key().public_numbers()
            self.jwk = {"kty": "EC", "crv": "P-256", "x": number(point.x, 32), "y": number(point.y, 32)}
        elif algorithm == "EdDSA":
            self.key = ed25519.Ed25519PrivateKey.generate()
            self.jwk = {"kty": "OKP", "crv": "Ed25519", "x": b64(self.key.public_key().public_bytes_raw())}
        else:
            self.key = rsa.generate_private_key(65537, 2048)
            public = self.key.public_key().public_numbers()
            self.jwk = {"kty": "RSA", "n": number(public.n, 256), "e": number(public.e, 3)}
        self.jwk |= {"use": "sig", "alg": algorithm, **({"kid": kid} if kid else {})}

    def sign(self, text):
        if self.algorithm == "ES256":
            r, s = utils.decode_dss_signature(self.key.sign(text, ec.ECDSA(hashes.SHA256())))
            return r.to_bytes(32, "big") + s.to_bytes(32, "big")
        if self.algorithm == "EdDSA":
            return self.key.sign(text)
        pad = padding.PKCS1v15() if self.algorithm == "RS256" else padding.PSS(padding.MGF1(hashes.SHA256()), 32)
        return self.key.sign(text, pad, hashes.SHA256())


def hmac_sha256(secret, text):
    mac = hmac.HMAC(secret, hashes.SHA256())
    mac.update(text)
    return mac.finalize()


# generating RSA keys is slow: all cases share them
KEYS = {algorithm: Key(algorithm.lower(), algorithm) for algorithm in ("RS256", "PS256", "ES256", "EdDSA")}
NEXT = Key("next", "RS256")
UNNAMED = Key(None, "RS256")


def token_of(header, claims, sign):
    text = ".".join(b64(json.dumps(part).encode()) for part in (header, claims)).encode()
    return f"{text.decode()}.{b64(sign(text))}"


class Provider:
    """A provider with one client; the defaults are correct."""

    def __init__(self):
        self.keys = [KEYS["RS256"]]
        self.signer = KEYS["RS256"]
        self.codes, self.families, self.tokens, self.pushed, self.log = {}, {}, {}, {}, []
        self.requires_par = False
        self.lifetime, self.rotates, self.lock = 3600, True, threading.Lock()
        self.metadata = lambda document: document
        self.callback = lambda pairs: pairs
        self.jwks = lambda document: document
        self.id_token = lambda header, claims, sign: token_of(header, claims, sign)
        self.token = lambda form, response: response
        self.api = lambda path, response: response
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler(self))
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.issuer = self.url
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def respond(self, method, path, query, headers, form):
        """Returns status, headers and body."""
        if path.endswith("/.well-known/openid-configuration"):
            return as_json(self.metadata(self.document()))
        if path == "/jwks":
            return as_json(self.jwks({"keys": [key.jwk for key in self.keys]}))
        if path == "/authorize":
            return self.authorize(dict(query))
        if path == "/par":
            self.pushed["urn:pushed:1"] = dict(form)
            return as_json({"request_uri": "urn:pushed:1", "expires_in": 60}, 201)
        if path == "/token":
            with self.lock:
                return self.token(dict(form), self.grant(dict(form), headers))
        if path in ("/orders", "/stock"):
            token = headers.get("authorization", "").removeprefix("Bearer ")
            needed = {"/orders": "orders:read", "/stock": "stock:read"}[path]
            if needed not in self.tokens.get(token, "").split():
                refusal = 401, {"www-authenticate": 'Bearer error="invalid_token"'}, b""
                return self.api(path, refusal)
            return self.api(path, (200, {"content-type": "text/plain"}, f"{path[1:]} of 1815".encode()))
        return 404, {}, b""

    def document(self):
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [self.signer.algorithm],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        }

    def authorize(self, query):
        if "request_uri" in query:
            query = self.pushed.pop(query["request_uri"])
        elif self.requires_par:
            return 400, {}, b"the request must be pushed"
        code = secrets.token_urlsafe(16)
        self.codes[code] = query
        pairs = [("code", code), ("state", query["state"]), ("iss", self.issuer)]
        separator = "&" if "?" in query["redirect_uri"] else "?"
        location = query["redirect_uri"] + separator + urlencode(self.callback(pairs))
        return 302, {"location": location}, b""

    def grant(self, form, headers):
        kind, credentials = headers.get("authorization", " ").split(" ", 1)
        client, _, secret = base64.b64decode(credentials).decode().partition(":")
        if kind != "Basic" or (unquote_plus(client), unquote_plus(secret)) != (CLIENT, SECRET):
            return as_json({"error": "invalid_client"}, 401)
        if form["grant_type"] == "client_credentials":
            return as_json(self.issue(form["scope"], None, None))
        if form["grant_type"] == "refresh_token":
            return self.refresh(form["refresh_token"])
        request = self.codes.pop(form["code"], None)
        challenge = b64(hashlib.sha256(form["code_verifier"].encode()).digest())
        if not request or (request["code_challenge"], request["redirect_uri"]) != (challenge, form["redirect_uri"]):
            return as_json({"error": "invalid_grant"}, 400)
        family = {"current": secrets.token_urlsafe(16), "scope": request["scope"], "active": True}
        self.families[family["current"]] = family
        return as_json(self.issue(family["scope"], family["current"], request["nonce"]))

    def refresh(self, presented):
        family = self.families.get(presented)
        if not family or not family["active"] or family["current"] != presented:
            if family:
                # reuse: the whole family is revoked
                family["active"] = False
            return as_json({"error": "invalid_grant"}, 400)
        if not self.rotates:
            return as_json(self.issue(family["scope"], None, None))
        family["current"] = secrets.token_urlsafe(16)
        self.families[family["current"]] = family
        return as_json(self.issue(family["scope"], family["current"], None))

    def issue(self, scope, refresh_token, nonce):
        access_token = secrets.token_urlsafe(16)
        self.tokens[access_token] = scope
        body = {"access_token": access_token, "token_type": "Bearer", "expires_in": self.lifetime}
        if refresh_token:
            body |= {"refresh_token": refresh_token}
        if nonce:
            body |= {"id_token": self.identity(access_token, nonce)}
        return body

    def identity(self, access_token, nonce):
        now = int(time.time())
        half = hashlib.sha256(access_token.encode()).digest()[:16]
        claims = {"iss": self.issuer, "sub": "1815", "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": nonce}
        claims |= {"at_hash": b64(half), "name": "Ada <Lovelace>", "email": "ada@example.com", "email_verified": True}
        header = {"alg": self.signer.algorithm, "typ": "JWT"} | ({"kid": self.signer.kid} if self.signer.kid else {})
        return self.id_token(header, claims, self.signer.sign)


def as_json(document, status=200):
    # a case may return a complete response instead of a document
    if isinstance(document, tuple):
        return document
    return status, {"content-type": "application/json"}, json.dumps(document).encode()


def handler(provider):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def answer(self):
            at = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
            headers = {name.lower(): value for name, value in self.headers.items()}
            query, form = parse_qsl(at.query), parse_qsl(body)
            provider.log.append((self.command, at.path, query, headers, form))
            status, fields, body = provider.respond(self.command, at.path, query, headers, form)
            self.send_response(status)
            for name, value in fields.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = answer

        def handle(self):
            # the client may have given up
            with contextlib.suppress(ConnectionError):
                super().handle()

        def log_message(self, *_):
            pass

    return Handler
