#!/usr/bin/env python3
"""Python clients as they come, against the service: Authlib, requests-oauthlib, PyJWT, joserfc,
httpx-oauth, requests_oauth2client, python-social-auth.

usage: stock.py ISSUER
"""

import asyncio
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
from httpx_oauth.clients.openid import OpenID
from joserfc import jwt as jose
from joserfc.jwk import ECKey, KeySet
from requests_oauth2client import OAuth2Client, PkceUtils
from requests_oauthlib import OAuth2Session
from social_core.backends.open_id_connect import OpenIdConnectAuth
from social_core.storage import AssociationMixin, BaseStorage, NonceMixin
from social_core.strategy import BaseStrategy

ISSUER = sys.argv[1].rstrip("/")
EMAIL, PASSWORD = "ada@example.com", "correct horse battery staple"
CALLBACK = "http://127.0.0.1:9999/callback"
WEB = ("demo-web", "demo-web-secret")
# registered for client_secret_post
POST = ("demo-post", "demo-post-secret")
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


def sign_in(url, callback=CALLBACK):
    """Signs in through the pages of the service; returns the URL of the redirect to the client."""
    browser = requests.Session()
    answer = browser.get(url, allow_redirects=False)
    for _ in range(10):
        if location := answer.headers.get("location"):
            url = urllib.parse.urljoin(answer.url, location)
            if url.startswith(callback):
                return url
            answer = browser.get(url, allow_redirects=False)
            continue
        assert answer.status_code == 200, f"{answer.url}: {answer.status_code}"
        form = Form(answer.text)
        form.fields.update({"email": EMAIL, "password": PASSWORD} if "password" in form.fields else {})
        answer = browser.post(urllib.parse.urljoin(answer.url, form.action), form.fields, allow_redirects=False)
    raise AssertionError(f"no redirect to the client: {answer.url}")


def parameters(url):
    """The query of a URL."""
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))


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


def httpx_oauth_signs_in():
    """httpx-oauth: sign-in with PKCE, without nonce; userinfo, refresh, revocation"""

    async def run():
        client = OpenID(*WEB, f"{ISSUER}/.well-known/openid-configuration")
        # the package passes the parameters of PKCE on
        verifier = "a" * 48
        challenge = PkceUtils.derive_challenge(verifier)
        url = await client.get_authorization_url(
            CALLBACK, state="state of the session", scope=SCOPE, code_challenge=challenge, code_challenge_method="S256"
        )
        code = parameters(sign_in(url))["code"]
        token = await client.get_access_token(code, CALLBACK, verifier)
        assert await client.get_id_email(token["access_token"]) == ("usr_ada", EMAIL)
        renewed = await client.refresh_token(token["refresh_token"])
        api_accepts(renewed["access_token"])
        await client.revoke_token(renewed["refresh_token"], "refresh_token")

    asyncio.run(run())


def requests_oauth2client_signs_in():
    """requests_oauth2client: sign-in, userinfo, refresh, introspection, revocation; DPoP by a pushed request"""
    # `testing` admits a service without TLS
    options = {"issuer": ISSUER, "client_id": POST[0], "client_secret": POST[1], "redirect_uri": CALLBACK, "testing": True}
    client = OAuth2Client.from_discovery_endpoint(**options)
    request = client.authorization_request(scope=" ".join(SCOPE))
    token = client.authorization_code(request.validate_callback(sign_in(request.uri)), validate=True)
    assert client.userinfo(token)["email"] == EMAIL
    renewed = client.refresh_token(token)
    api_accepts(str(renewed))
    assert client.introspect_token(renewed)["active"] is True
    assert client.revoke_refresh_token(renewed.refresh_token) is True

    client = OAuth2Client.from_discovery_endpoint(**options, dpop_bound_access_tokens=True)
    request = client.authorization_request(scope=" ".join(SCOPE))
    pushed = client.pushed_authorization_request(request)
    # the release fails to validate ID tokens beside DPoP
    token = client.authorization_code(request.validate_callback(sign_in(pushed.uri)), validate=False)
    for token in (token, client.refresh_token(token)):
        assert token.token_type == "DPoP", token
        answer = requests.get(f"{ISSUER}/v1/charges", auth=token, timeout=20)
        assert answer.status_code == 200, answer.text


class Nonces(NonceMixin):
    kept = set()

    @classmethod
    def use(cls, server_url, timestamp, salt):
        cls.kept.add(salt)
        return True

    @classmethod
    def consume(cls, server_url, timestamp, salt):
        known = salt in cls.kept
        cls.kept.discard(salt)
        return known


class Associations(AssociationMixin):
    """Nonces of ID tokens."""

    kept = {}

    @classmethod
    def store(cls, server_url, association):
        record = cls()
        vars(record).update(vars(association), id=association.handle)
        cls.kept[association.handle] = record

    @classmethod
    def get(cls, server_url=None, handle=None, **_):
        return [cls.kept[handle]] if handle in cls.kept else []

    @classmethod
    def remove(cls, ids):
        for handle in ids:
            del cls.kept[handle]


class Storage(BaseStorage):
    association, nonce = Associations, Nonces


class Strategy(BaseStrategy):
    """The part of a framework, without the framework."""

    def __init__(self):
        super().__init__(storage=Storage)
        self.session, self.data = {}, {}

    def get_setting(self, name):
        return {
            "SOCIAL_AUTH_OIDC_OIDC_ENDPOINT": ISSUER,
            "SOCIAL_AUTH_OIDC_KEY": POST[0],
            "SOCIAL_AUTH_OIDC_SECRET": POST[1],
            "SOCIAL_AUTH_OIDC_SCOPE": ["read:charges"],
            "SOCIAL_AUTH_OIDC_USE_PKCE": True,
            # its refresh sends the secret in the form, whatever this setting says
            "SOCIAL_AUTH_OIDC_TOKEN_ENDPOINT_AUTH_METHOD": "client_secret_post",
        }[name]

    def request_data(self, merge=True):
        return self.data

    def session_get(self, name, default=None):
        return self.session.get(name, default)

    def session_set(self, name, value):
        self.session[name] = value

    def session_pop(self, name):
        return self.session.pop(name, None)

    def build_absolute_uri(self, path=None):
        return path

    def redirect(self, url):
        return url

    def authenticate(self, backend, *_, response, **__):
        return response


def social_auth_signs_in():
    """python-social-auth: sign-in with its backend `oidc`, nonce and at_hash; userinfo, refresh"""
    strategy = Strategy()
    url = OpenIdConnectAuth(strategy, redirect_uri=CALLBACK).start()
    strategy.data = parameters(sign_in(url))
    client = OpenIdConnectAuth(strategy, redirect_uri=CALLBACK)
    client.data = strategy.data
    user = client.complete()
    assert user["email"] == EMAIL, user
    api_accepts(client.refresh_token(user["refresh_token"])["access_token"])


CHECKS = (
    authlib_signs_in,
    authlib_asserts,
    requests_oauthlib_signs_in,
    httpx_oauth_signs_in,
    requests_oauth2client_signs_in,
    social_auth_signs_in,
)
if __name__ == "__main__":
    for check in CHECKS:
        check()
        print(f"  ✓ {check.__doc__}")
