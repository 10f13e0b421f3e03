"""The cases: each misbehaviour of the provider or the browser, and the steps of the browser."""

import json
import threading
import time
from urllib.parse import parse_qsl, urlencode, urlsplit

from provider import CLIENT, KEYS, NEXT, SECRET, UNNAMED, hmac_sha256, token_of

CASES = {}


def case(name, setup=lambda provider: None, steps=lambda browser: login_and_look(browser), sent=lambda *_: []):
    assert name not in CASES, name
    CASES[name] = {"setup": setup, "steps": steps, "sent": sent}


def login_and_look(browser):
    browser.login()
    browser.get("/")


def setting(**attributes):
    return lambda provider: provider.__dict__.update(attributes)


def once(name, response, path=None):
    """The first response of an endpoint is another; each program gets it."""

    def setup(provider):
        asked = []

        def change(*arguments):
            if path and arguments[0] != path:
                return arguments[-1]
            asked.append(1)
            return response if len(asked) == 1 else arguments[-1]

        setattr(provider, name, change)

    return setup


def requests(provider, app):
    """The requests that the provider received, without random values."""

    def shown(name, value):
        if name == "scope":
            value = " ".join(sorted(value.split()))
        random = ("code", "code_verifier", "code_challenge", "state", "nonce", "refresh_token")
        return f"{name}={'…' if name in random else value.replace(app.address, 'APP')}"

    lines = []
    for method, path, query, headers, form in provider.log:
        fields = sorted(shown(name, value) for name, value in query + form)
        scheme = headers.get("authorization", "").split(" ")[0]
        lines.append(" ".join(["provider:", method, path, scheme, *fields]).replace("  ", " ").rstrip())
    return lines


def tokens_asked(provider, app):
    return [f"token requests: {sum(path == '/token' for _, path, *_ in provider.log)}"]


# --- what works


def whole_visit(browser):
    browser.get("/")
    browser.get("/orders")
    browser.login()
    for path in ("/", "/orders", "/orders", "/stock", "/stock"):
        browser.get(path)
    browser.logout()
    browser.get("/")
    browser.get("/orders")


def cookies(browser):
    browser.login()
    browser.logout()
    browser.notes += browser.set_cookies


def logout_without_field(browser):
    browser.login()
    browser.logout(with_fields=False)
    browser.get("/")


case("a whole visit", steps=whole_visit)
case("requests of a visit", steps=whole_visit, sent=requests)
case("cookies", steps=cookies)
case("logout by a form without a CSRF field", steps=logout_without_field)
for algorithm in ("ES256", "PS256", "EdDSA"):
    case(f"id token signed with {algorithm}", setting(signer=KEYS[algorithm], keys=[KEYS[algorithm]]))
case("key and id token without kid", setting(signer=UNNAMED, keys=[UNNAMED]))
case("id token without kid, one key in the set", setting(id_token=lambda h, c, s: token_of({"alg": h["alg"]}, c, s)))


# --- the response through the browser


def answered(change, again=False):
    """The browser delivers a changed response."""

    def steps(browser):
        pairs = parse_qsl(browser.authorize(browser.start()))
        browser.send("GET", "/callback?" + urlencode(change(pairs)))
        browser.get("/")
        if again:
            browser.send("GET", "/callback?" + urlencode(pairs))
            browser.get("/")

    return steps


def replaced(**values):
    return lambda pairs: [(name, values.get(name, value)) for name, value in pairs if values.get(name, value) is not None]


def silent_about_iss(document):
    return {name: value for name, value in document.items() if "iss_parameter" not in name}


case("state is wrong", steps=answered(replaced(state="another")))
case("state is wrong, then the right response", steps=answered(replaced(state="another"), again=True))
case("state is missing", steps=answered(replaced(state=None)))
case("state is repeated", steps=answered(lambda pairs: pairs + [pairs[1]]))
case("response is replayed", steps=answered(lambda pairs: pairs, again=True), sent=tokens_asked)
case("code is missing", steps=answered(replaced(code=None)))
case("code is repeated", steps=answered(lambda pairs: pairs + [("code", "another")]))
case("code is wrong", steps=answered(replaced(code="another")))
case("iss is wrong", steps=answered(replaced(iss="http://evil.example")), sent=tokens_asked)
case("iss is missing", steps=answered(replaced(iss=None)), sent=tokens_asked)
case("iss is missing, and the metadata do not announce it", setting(metadata=silent_about_iss), answered(replaced(iss=None)))
case("error access_denied", steps=answered(lambda pairs: [("error", "access_denied"), *pairs[1:]]))
case("error with a wrong state", steps=answered(lambda pairs: [("error", "access_denied"), ("state", "x"), pairs[2]]))
case("error with a wrong iss", steps=answered(lambda pairs: [("error", "access_denied"), pairs[1], ("iss", "http://evil.example")]))
case("code and error", steps=answered(lambda pairs: pairs + [("error", "access_denied")]), sent=tokens_asked)
case("unknown parameters", steps=answered(lambda pairs: pairs + [("session_state", "x"), ("scope", "openid")]))


def another_browser(browser):
    query = browser.authorize(browser.start())
    stranger = type(browser)(browser.app, browser.provider, browser.notes)
    stranger.send("GET", "/callback?" + query)
    browser.send("GET", "/callback?" + query)
    browser.get("/")


def two_tabs(browser):
    first, second = browser.authorize(browser.start()), browser.authorize(browser.start())
    browser.send("GET", "/callback?" + first)
    browser.send("GET", "/callback?" + second)
    browser.get("/")


case("response in another browser, then in the right one", steps=another_browser)
case("response without a login", steps=lambda browser: browser.get("/callback?code=x&state=y"))
case("two tabs sign in", steps=two_tabs)


# --- the ID token


def claims(**values):
    def change(header, known, sign):
        known = {name: value for name, value in (known | values).items() if value is not None}
        known = {name: value() if callable(value) else value for name, value in known.items()}
        return token_of(header, known, sign)

    return setting(id_token=change)


def unsigned(header, known, _):
    return token_of({"alg": "none"}, known, lambda text: b"")


def with_secret(header, known, _):
    return token_of({"alg": "HS256"}, known, lambda text: hmac_sha256(SECRET.encode(), text))


def ago(seconds):
    return lambda: int(time.time()) - seconds


case("nonce is wrong", claims(nonce="another"))
case("nonce is missing", claims(nonce=None))
case("id token expired an hour ago", claims(exp=ago(3600)))
case("id token expired two seconds ago", claims(exp=ago(2)))
case("id token is issued in an hour", claims(iat=ago(-3600)))
case("id token is issued in two seconds", claims(iat=ago(-2)))
case("nbf is in an hour", claims(nbf=ago(-3600)))
case("aud is another client", claims(aud="another"))
case("aud has this client and another", claims(aud=[CLIENT, "another"]))
case("aud has this client twice", claims(aud=[CLIENT, CLIENT]))
case("azp is another client", claims(azp="another"))
case("iss of the id token is another", claims(iss="http://evil.example"))
case("at_hash is wrong", claims(at_hash="AAAAAAAAAAAAAAAAAAAAAA"))
case("at_hash is missing", claims(at_hash=None))
case("sub is missing", claims(sub=None))
case("sub is empty", claims(sub=""))
case("iat is missing", claims(iat=None))
case("email_verified is a text", claims(email_verified="true"))
case("name is a number", claims(name=1815))
case("the id token is a logout token", claims(events={"http://schemas.openid.net/event/backchannel-logout": {}}))
case("alg none", setting(id_token=unsigned))
case("alg HS256 with the client secret", setting(id_token=with_secret))
case("alg HS256, announced by the provider", setting(id_token=with_secret, metadata=lambda d: d | {"id_token_signing_alg_values_supported": ["HS256"]}))
case("alg ES256, announced as RS256", setting(signer=KEYS["ES256"], keys=[KEYS["ES256"], KEYS["RS256"]], metadata=lambda d: d | {"id_token_signing_alg_values_supported": ["RS256"]}))
case("signature is wrong", setting(id_token=lambda h, c, s: token_of(h, c, lambda text: s(text + b"x"))))
case("crit in the header", setting(id_token=lambda h, c, s: token_of(h | {"crit": ["x"], "x": 1}, c, s)))
case("typ is at+jwt", setting(id_token=lambda h, c, s: token_of(h | {"typ": "at+jwt"}, c, s)))
case("id token is no JWT", setting(id_token=lambda h, c, s: "nonsense"))
case("id token is missing", setting(token=lambda form, response: without(response, "id_token")))


# --- keys


def rotate(browser):
    browser.login()
    browser.provider.signer, browser.provider.keys = NEXT, [NEXT]
    login_and_look(type(browser)(browser.app, browser.provider, browser.notes))


def unknown_key(provider):
    provider.signer = NEXT


case("keys are rotated after the start", steps=rotate)
case("unknown kid", unknown_key)
case("key set fails at first", once("jwks", (500, {}, b"")), lambda b: (b.login(), login_and_look(b)))
case("key set is HTML", setting(jwks=lambda document: (200, {"content-type": "text/html"}, b"<p>")))
case("key set as application/jwk-set+json", setting(jwks=lambda d: (200, {"content-type": "application/jwk-set+json"}, json.dumps(d).encode())))
case("key set with a key of an unknown type", setting(jwks=lambda d: {"keys": [{"kty": "XYZ", "kid": "x"}, *d["keys"]]}))
case("key set with a key without use", setting(jwks=lambda d: {"keys": [{n: v for n, v in key.items() if n != "use"} for key in d["keys"]]}))
case("key set with a key for encryption alone", setting(jwks=lambda d: {"keys": [key | {"use": "enc"} for key in d["keys"]]}))
case("key set is empty", setting(jwks=lambda d: {"keys": []}))


# --- the token endpoint


def with_body(response, **values):
    status, headers, body = response
    body = {name: value for name, value in (json.loads(body) | values).items() if value is not None}
    return status, headers, json.dumps(body).encode()


def without(response, *names):
    return with_body(response, **dict.fromkeys(names))


def token(change):
    return setting(token=lambda form, response: change(response))


def of_type(media_type):
    headers = {"content-type": media_type} if media_type else {}
    return token(lambda response: (response[0], headers, response[2]))


def refusal(status, code):
    return token(lambda _: (status, {"content-type": "application/json"}, json.dumps({"error": code}).encode()))


case("token endpoint: HTML", token(lambda _: (200, {"content-type": "text/html"}, b"<h1>Maintenance</h1>")))
case("token endpoint: tokens as text/html", of_type("text/html"))
case("token endpoint: tokens without a content type", of_type(None))
case("token endpoint: tokens with a charset", of_type("application/json;charset=UTF-8"))
case("token endpoint: 500 with HTML", token(lambda _: (500, {"content-type": "text/html"}, b"<h1>Error</h1>")))
case("token endpoint: 500 without a body", token(lambda _: (500, {}, b"")))
case("token endpoint: 400 invalid_grant", refusal(400, "invalid_grant"))
case("token endpoint: 401 invalid_client", refusal(401, "invalid_client"))
case("token endpoint: 403 access_denied", refusal(403, "access_denied"))
case("token endpoint: 200 with an error", refusal(200, "invalid_grant"))
case("token endpoint: 201 with tokens", token(lambda response: (201, *response[1:])))
case("token endpoint: redirect", token(lambda response: (307, {"location": "/elsewhere"}, b"")))
case("token endpoint: token_type bearer", token(lambda r: with_body(r, token_type="bearer")))
case("token endpoint: token_type mac", token(lambda r: with_body(r, token_type="mac")))
case("token endpoint: no token_type", token(lambda r: without(r, "token_type")))
case("token endpoint: no access_token", token(lambda r: without(r, "access_token")))
case("token endpoint: access token with a line break", token(lambda r: with_body(r, access_token="a\nb")))
case("token endpoint: expires_in as a text", token(lambda r: with_body(r, expires_in="3600")))
case("token endpoint: expires_in is a fraction", token(lambda r: with_body(r, expires_in=3599.5)))
case("token endpoint: expires_in is negative", token(lambda r: with_body(r, expires_in=-1)))
case("token endpoint: expires_in is null", token(lambda r: (r[0], r[1], r[2].replace(b"3600", b"null"))))
case("token endpoint: no expires_in", token(lambda r: without(r, "expires_in")))
case("token endpoint: refresh token is empty", token(lambda r: with_body(r, refresh_token="")))
case("token endpoint: scope is empty", token(lambda r: with_body(r, scope="")))
case("token endpoint: further members", token(lambda r: with_body(r, session_state="x", not_before_policy=0)))
case("token endpoint: repeated member", token(lambda r: (r[0], r[1], r[2][:-1] + b', "token_type": "mac"}')))
case("token endpoint: 100 KiB", token(lambda r: with_body(r, padding="x" * 100_000)))
case("token endpoint: hangs for 15 seconds", token(lambda r: (time.sleep(15), r)[1]))


# --- refresh and calls of the API


def refresh(change=lambda response: response, **settings):
    """Access tokens that expire at once, and a changed response to the refresh."""

    def setup(provider):
        provider.lifetime = 5
        provider.token = lambda form, response: change(response) if form["grant_type"] == "refresh_token" else response
        provider.__dict__.update(settings)

    return setup


def orders_twice(browser):
    browser.login()
    browser.get("/orders")
    browser.get("/orders")
    browser.get("/")


def id_token_of(sub):
    def change(header, known, sign):
        return token_of(header, known | {"sub": sub}, sign)

    def setup(provider):
        refresh()(provider)

        def answer(form, response):
            if form["grant_type"] != "refresh_token":
                return response
            provider.id_token = change
            return with_body(response, id_token=provider.identity("x", "x"))

        provider.token = answer

    return setup


def at_once(browser):
    browser.login()

    def read():
        tab = type(browser)(browser.app, browser.provider, [])
        tab.cookies = browser.cookies
        tab.get("/orders")
        outcomes.append(tab.notes[0])

    outcomes, threads = [], [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    browser.notes += sorted(outcomes)
    browser.get("/orders")


def long_orders(browser):
    browser.login()
    status, _, body = browser.send("GET", "/orders", note=False)
    browser.notes.append(f"GET /orders: {status}, {len(body)} bytes")


def slowly(response):
    time.sleep(0.5)
    return response


def slow_refresh(provider):
    """Refresh tokens are compared at the arrival of the request; the response is slow."""
    refresh()(provider)
    inner = provider.respond

    def respond(method, path, query, headers, form):
        done = inner(method, path, query, headers, form)
        return slowly(done) if dict(form).get("grant_type") == "refresh_token" else done

    provider.respond = respond


def failing_refresh(response):
    """The first refresh fails before the provider processes it."""

    def setup(provider):
        refresh()(provider)
        inner, asked = provider.grant, []

        def grant(form, headers):
            if form["grant_type"] == "refresh_token":
                asked.append(1)
                if len(asked) == 1:
                    return response
            return inner(form, headers)

        provider.grant = grant

    return setup


def revoked_session(provider):
    refresh()(provider)
    provider.grant_all = provider.grant

    def grant(form, headers):
        if form["grant_type"] == "refresh_token":
            for family in provider.families.values():
                family["active"] = False
        return provider.grant_all(form, headers)

    provider.grant = grant


case("refresh with rotation", refresh(), orders_twice, tokens_asked)
case("refresh without rotation", refresh(rotates=False), orders_twice, tokens_asked)
case("refresh: requests", refresh(), lambda b: (b.login(), b.get("/orders")), lambda *a: [line for line in requests(*a) if "refresh" in line])
case("refresh: invalid_grant", revoked_session, orders_twice, tokens_asked)
case("refresh: 500 once", failing_refresh((500, {}, b"")), orders_twice, tokens_asked)
case("refresh: temporarily_unavailable as 400", failing_refresh((400, {"content-type": "application/json"}, b'{"error":"temporarily_unavailable"}')), orders_twice, tokens_asked)
case("refresh: id token of the same user", id_token_of("1815"), orders_twice)
case("refresh: id token of another user", id_token_of("1852"), orders_twice)
case("refresh: four requests at once", slow_refresh, at_once, tokens_asked)
case("access token expired, no refresh token", setting(lifetime=5, token=lambda form, r: without(r, "refresh_token")), orders_twice, tokens_asked)
case("API refuses the access token once", once("api", (401, {"www-authenticate": 'Bearer error="invalid_token"'}, b""), "/orders"), orders_twice, tokens_asked)
case("API: 500", setting(api=lambda path, response: (500, {}, b"")), orders_twice)
case("API: insufficient_scope", setting(api=lambda path, r: (403, {"www-authenticate": 'Bearer error="insufficient_scope"'}, b"")), orders_twice)
case("API: redirect", setting(api=lambda path, r: (302, {"location": "/stock"}, b"")), orders_twice)
for size in ("100 KiB", "2 MiB"):
    length = {"100 KiB": 100 << 10, "2 MiB": 2 << 20}[size]
    case(f"API: {size}", setting(api=lambda path, r, n=length: (200, {}, b"x" * n)), long_orders)


# --- client credentials


def stock_twice(browser):
    browser.get("/stock")
    browser.get("/stock")


def of_service(change):
    return lambda provider: setattr(provider, "token", lambda form, response: change(response))


case("client credentials: requests", steps=stock_twice, sent=lambda *a: [line for line in requests(*a) if "POST" in line or "stock" in line])
case("client credentials: token expires at once", setting(lifetime=5), stock_twice, tokens_asked)
case("client credentials: 500 once", once("token", (500, {}, b"")), stock_twice, tokens_asked)
case("client credentials: invalid_scope", refusal(400, "invalid_scope"), stock_twice, tokens_asked)
case("client credentials: API refuses the token once", once("api", (401, {"www-authenticate": "Bearer"}, b""), "/stock"), stock_twice, tokens_asked)
case("client credentials: tokens as text/plain", of_type("text/plain"), stock_twice)


# --- discovery


def metadata(**values):
    def change(document):
        return {name: value for name, value in (document | values).items() if value is not None}

    return setting(metadata=change)


def issuer_with(path):
    return lambda provider: setattr(provider, "issuer", provider.url + path)


case("metadata: another issuer", metadata(issuer="http://127.0.0.1:1"))
case("metadata: issuer with a path", issuer_with("/tenant"))
case("metadata: issuer with a slash at its end", issuer_with("/tenant/"))
case("metadata: no code_challenge_methods_supported", metadata(code_challenge_methods_supported=None))
case("metadata: code challenge method plain alone", metadata(code_challenge_methods_supported=["plain"]))
case("metadata: no response type code", metadata(response_types_supported=["id_token"]))
case("metadata: no response_types_supported", metadata(response_types_supported=None))
case("metadata: no subject_types_supported", metadata(subject_types_supported=None))
case("metadata: no id_token_signing_alg_values_supported", metadata(id_token_signing_alg_values_supported=None))
case("metadata: no jwks_uri", metadata(jwks_uri=None))
case("metadata: no token_endpoint", metadata(token_endpoint=None))
case("metadata: no authorization_endpoint", metadata(authorization_endpoint=None))
case("metadata: token endpoint by http on another host", metadata(token_endpoint="http://as.example/token"))
case("metadata: authorization endpoint with a query", lambda p: setattr(p, "metadata", lambda d: d | {"authorization_endpoint": p.url + "/authorize?tenant=x"}))
case("metadata: as text/html", setting(metadata=lambda d: (200, {"content-type": "text/html"}, json.dumps(d).encode())))
case("metadata: redirect", setting(metadata=lambda d: (302, {"location": "/elsewhere"}, b"")))
case("metadata: 500", setting(metadata=lambda d: (500, {}, b"")))
case("metadata: only secret in the form", metadata(token_endpoint_auth_methods_supported=["client_secret_post"]))


def pushed(required):
    def setup(provider):
        document = {"pushed_authorization_request_endpoint": f"{provider.url}/par"}
        metadata(**document, require_pushed_authorization_requests=required)(provider)
        provider.requires_par = required

    return setup


def parameters_in_browser(provider, app):
    return [f"in the browser: {' '.join(sorted(name for name, _ in query))}" for _, path, query, *_ in provider.log if path == "/authorize"]


case("pushed requests are offered", pushed(False), sent=parameters_in_browser)
case("pushed requests are required", pushed(True), sent=parameters_in_browser)
