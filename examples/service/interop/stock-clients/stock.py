#!/usr/bin/env python3
"""Python clients as they come, against the service: Authlib, requests-oauthlib, PyJWT, joserfc.

usage: stock.py ISSUER
"""

import os
import sys
import urllib.parse
from html.parser import HTMLParser

# the service is on a loopback address without TLS
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

import jwt
import requests
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from joserfc import jwt as jose
from joserfc.jwk import ECKey, KeySet
from requests_oauthlib import OAuth2Session

ISSUER = sys.argv[1].rstrip("/")
EMAIL, PASSWORD = "ada@example.com", "correct horse battery staple"
CALLBACK = "http://127.0.0.1:9999/callback"
WEB = ("demo-web", "demo-web-secret")
SCOPE = ["openid", "email", "profile", "read:charges"]
# the key of demo-robot is public: the client is for tests only
ROBOT_KEY = {
    "kty": "EC", "crv": "P-256", "kid": "robot-1",
    "x": "VbPAsZ2OPmp88PaTKKiTQ1c7fPBQrbydb2MEGT3WeJs",
    "y": "73d5GJUIaBUv5YYN2YnprF4OTZiOg5UHy2Nasnb5Ul0",
    "d": "ziHHJz_3s2yWQkM6v6vLzp9q8pegWFR-vLDurx18844",
}


class Form(HTMLParser):
    """The first form of a page: its target, fields and last button."""

    def __init__(self, page):
        super().__init__()
        self.action, self.fields = None, {}
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form" and self.action is None:
            self.action = attributes["action"]
        elif tag in ("input", "button") and attributes.get("name"):
            self.fields[attributes["name"]] = attributes.get("value") or ""


def sign_in(url):
    """Signs in through the pages of the service; returns the URL of the redirect to the client."""
    browser = requests.Session()
    answer = browser.get(url, allow_redirects=False)
    for _ in range(10):
        if location := answer.headers.get("location"):
            url = urllib.parse.urljoin(answer.url, location)
            if url.startswith(CALLBACK):
                return url
            answer = browser.get(url, allow_redirects=False)
            continue
        assert answer.status_code == 200, f"{answer.url}: {answer.status_code}"
        form = Form(answer.text)
        form.fields.update({"email": EMAIL, "password": PASSWORD} if "password" in form.fields else {})
        answer = browser.post(urllib.parse.urljoin(answer.url, form.action), form.fields, allow_redirects=False)
    raise AssertionError(f"no redirect to the client: {answer.url}")


def api_accepts(token):
    answer = requests.get(f"{ISSUER}/v1/charges", headers={"authorization": f"Bearer {token}"}, timeout=20)
    assert answer.status_code == 200, answer.text


def authlib_signs_in():
    """Authlib: sign-in with PKCE, without nonce; refresh, introspection, revocation; ID token with joserfc"""
    client = AuthlibSession(*WEB, scope=SCOPE, redirect_uri=CALLBACK, code_challenge_method="S256")
    verifier = "a" * 48
    url, state = client.create_authorization_url(f"{ISSUER}/authorize", code_verifier=verifier)
    back = sign_in(url)
    token = client.fetch_token(f"{ISSUER}/token", authorization_response=back, code_verifier=verifier, state=state)
    keys = KeySet.import_key_set(requests.get(f"{ISSUER}/.well-known/jwks.json", timeout=20).json())
    claims = jose.decode(token["id_token"], keys, algorithms=["RS256"]).claims
    assert (claims["sub"], claims["aud"]) == ("usr_ada", "demo-web"), claims
    renewed = client.refresh_token(f"{ISSUER}/token", token["refresh_token"])
    api_accepts(renewed["access_token"])
    told = client.introspect_token(f"{ISSUER}/oauth/introspect", renewed["access_token"]).json()
    assert told["active"] is True, told
    assert client.revoke_token(f"{ISSUER}/oauth/revoke", renewed["refresh_token"]).status_code == 200


def authlib_asserts():
    """Authlib: private_key_jwt with its defaults, the token endpoint as audience and one hour"""
    endpoint = f"{ISSUER}/token"
    key = ECKey.import_key(ROBOT_KEY)
    client = AuthlibSession("demo-robot", key, scope="read:charges", token_endpoint_auth_method="private_key_jwt")
    # the algorithm of the registered key; audience and lifetime are the defaults
    client.register_client_auth_method(PrivateKeyJWT(endpoint, alg="ES256"))
    token = client.fetch_token(endpoint, grant_type="client_credentials")
    api_accepts(token["access_token"])


def requests_oauthlib_signs_in():
    """requests-oauthlib: sign-in with PKCE, without nonce; refresh; ID token with PyJWT"""
    client = OAuth2Session(WEB[0], scope=SCOPE, redirect_uri=CALLBACK, pkce="S256")
    url, _ = client.authorization_url(f"{ISSUER}/authorize")
    token = client.fetch_token(f"{ISSUER}/token", authorization_response=sign_in(url), client_secret=WEB[1])
    key = jwt.PyJWKClient(f"{ISSUER}/.well-known/jwks.json").get_signing_key_from_jwt(token["id_token"])
    claims = jwt.decode(token["id_token"], key, algorithms=["RS256"], audience=WEB[0], issuer=ISSUER)
    assert claims["sub"] == "usr_ada", claims
    renewed = client.refresh_token(f"{ISSUER}/token", auth=WEB)
    api_accepts(renewed["access_token"])


for check in (authlib_signs_in, authlib_asserts, requests_oauthlib_signs_in):
    check()
    print(f"  ✓ {check.__doc__}")
