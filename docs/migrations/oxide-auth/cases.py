"""The cases: requests of browsers, clients and callers of the API."""

import time

CASES = {}


def case(name, steps, **settings):
    assert name not in CASES, name
    CASES[name] = {"steps": steps, "settings": settings}


def asks(name, client="notes-web", **changes):
    """An authorization request, and the decision if there is a page."""

    def steps(world):
        path = world.page(client, **changes)
        if path:
            world.decide(path)

    case(f"authorize: {name}", steps)


def redeems(name, client="notes-web", asked=None, **changes):
    """A token request for a good code."""
    case(f"token: {name}", lambda world: world.token(world.code(client, **(asked or {})), client, **changes))


# --- authorization requests

asks("with PKCE")
asks("public client", "notes-app")
asks("without PKCE", code_challenge=None, code_challenge_method=None)
asks("method plain", code_challenge="dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", code_challenge_method="plain")
asks("challenge without method", code_challenge_method=None)
asks("challenge too short", code_challenge="abc")
asks("unknown method", code_challenge_method="S512")
asks("unknown client", client_id="stranger")
asks("no client_id", client_id=None)
asks("wrong redirect_uri", redirect_uri="https://evil.example/callback")
asks("redirect_uri with a query", redirect_uri="https://notes.example/callback?x=1")
asks("redirect_uri with a slash", redirect_uri="https://notes.example/callback/")
asks("redirect_uri in capitals", redirect_uri="HTTPS://NOTES.EXAMPLE/callback")
asks("no redirect_uri", redirect_uri=None)
asks("malformed redirect_uri", redirect_uri="callback")
asks("no response_type", response_type=None)
asks("response_type token", response_type="token")
asks("response_type code token", response_type="code token")
asks("unknown scope", scope="notes:write")
asks("known and unknown scope", scope="notes:read notes:write")
asks("no scope", scope=None)
asks("empty scope", scope="")
asks("malformed scope", scope='notes:"read"')
asks("no state", state=None)
asks("state with all kinds of characters", state="a &=?/%+\"~")
asks("state that is not ASCII", state="ä")
asks("repeated state", state=["a", "b"])
asks("repeated client_id", client_id=["notes-web", "notes-app"])
asks("repeated scope", scope=["notes:read", "notes:read"])
asks("unknown parameters", foo="bar", nonce="n")
asks("response_mode fragment", response_mode="fragment")
asks("prompt none", prompt="none")


def denied(world):
    world.decide(world.page(), decision="deny")


def wrong_password(world):
    path = world.page()
    world.decide(path, password="wrong")
    world.decide(path)


def another_browser(world):
    path = world.page()
    world.cookies.clear()
    world.decide(path)


def twice(world):
    path = world.page()
    world.decide(path)
    world.decide(path)


def by_post(world):
    form = "response_type=code&client_id=notes-web&redirect_uri=https%3A%2F%2Fnotes.example%2Fcallback&scope=notes%3Aread&state=s"
    form += "&code_challenge_method=S256&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    response, text = world.send("POST", "/authorize", form)
    world.note("authorize", response, text)


case("decide: denied", denied)
case("decide: wrong password, then the right one", wrong_password)
case("decide: in another browser", another_browser)
case("decide: twice", twice)
case("authorize: parameters in a POST", by_post)

# --- token requests

redeems("good")
redeems("public client", "notes-app")
redeems("verifier is wrong", code_verifier="x" * 43)
redeems("verifier is too short", code_verifier="x")
redeems("no verifier", code_verifier=None)
redeems("code is wrong", code="another")
redeems("no code", code=None)
redeems("redirect_uri is another", redirect_uri="https://evil.example/callback")
redeems("no redirect_uri", redirect_uri=None)
redeems("secret is wrong", headers={"authorization": "Basic bm90ZXMtd2ViOndyb25n"})
redeems("no secret", headers={})
redeems("no secret, client_id in the form", headers={}, client_id="notes-web")
redeems("secret in the form", headers={}, client_id="notes-web", client_secret="notes-web-secret")
redeems("secret in the header and in the form", client_secret="notes-web-secret")
redeems("client_id of the form differs", client_id="notes-app")
redeems("unknown client", headers={"authorization": "Basic c3RyYW5nZXI6eA=="})
redeems("malformed header", headers={"authorization": "Basic ???"})
redeems("bearer in the header", headers={"authorization": "Bearer x"})
redeems("no grant_type", grant_type=None)
redeems("grant_type password", grant_type="password")
redeems("grant_type client_credentials", grant_type="client_credentials")
redeems("repeated code", code=["a", "b"])
redeems("unknown parameter", foo="bar")
redeems("by GET", method="GET")
redeems("by PUT", method="PUT")


def code_of_another_client(world):
    world.token(world.code("notes-app"), code_verifier="dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", redirect_uri="com.example.notes:/callback")


def replayed(world):
    code = world.code()
    first = world.token(code)
    world.notes_of(first.get("access_token"))
    world.token(code, step="again")
    world.notes_of(first.get("access_token"))
    world.refresh(first.get("refresh_token"))


def after_failure(world):
    code = world.code()
    world.token(code, code_verifier="x" * 43)
    world.token(code, step="again")


def as_json(world):
    world.ask("token", "POST", '{"grant_type":"authorization_code"}', {"content-type": "application/json"})


def headers_of(world):
    code = world.code()
    form = f"grant_type=authorization_code&code={code}&redirect_uri=https%3A%2F%2Fnotes.example%2Fcallback&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    response, _ = world.send("POST", "/token", form, {"authorization": "Basic bm90ZXMtd2ViOm5vdGVzLXdlYi1zZWNyZXQ="})
    world.notes += sorted(f"{name.lower()}: {value}" for name, value in response.headers.items() if name.lower() not in ("date", "content-length"))


case("token: code of another client", code_of_another_client)
case("token: replay of a code", replayed)
case("token: good after a wrong verifier", after_failure)
case("token: as JSON", as_json)
case("token: headers of the response", headers_of)

# --- refresh


def refreshed(world):
    first = world.tokens()
    second = world.refresh(first["refresh_token"])
    world.notes_of(first["access_token"], "old access token")
    world.notes_of(second.get("access_token"), "new access token")


def reused(world):
    first = world.tokens()
    second = world.refresh(first["refresh_token"])
    world.refresh(first["refresh_token"], step="old refresh token")
    world.notes_of(second.get("access_token"))
    world.refresh(second.get("refresh_token"), step="new refresh token")


def refreshes(name, client="notes-web", of=None, **changes):
    case(f"refresh: {name}", lambda world: world.refresh(world.tokens(of or client)["refresh_token"], client, **changes))


case("refresh: good", refreshed)
case("refresh: reuse of a refresh token", reused)
refreshes("public client", "notes-app")
refreshes("same scope", scope="notes:read")
refreshes("wider scope", scope="notes:read notes:write")
refreshes("another client", of="notes-app")
refreshes("secret is wrong", headers={"authorization": "Basic bm90ZXMtd2ViOndyb25n"})
refreshes("no secret", headers={})
refreshes("wrong refresh token", refresh_token="another")
refreshes("no refresh token", refresh_token=None)

# --- the API


def calls(name, **how):
    case(f"API: {name}", lambda world: world.notes_of(world.tokens()["access_token"], **how))


calls("good token")
calls("no token", headers={})
calls("wrong token", headers={"authorization": "Bearer another"})
calls("malformed token", headers={"authorization": "Bearer a b"})
calls("another scheme", scheme="Basic")
calls("scheme in lower case", scheme="bearer")
case("API: token in the query", lambda world: world.notes_of("", path=f"/notes?access_token={world.tokens()['access_token']}", headers={}))
case("API: refresh token", lambda world: world.notes_of(world.tokens()["refresh_token"]))


def expired(world):
    tokens = world.tokens()
    world.notes_of(tokens["access_token"])
    # in the program on oauth-core, the shortest lifetime of five minutes takes three seconds
    time.sleep(3.5)
    world.notes_of(tokens["access_token"], "after the expiry")
    world.refresh(tokens["refresh_token"])


case("API: expired token", expired, before={"LIFETIME": "3"}, after={"LIFETIME": "300", "SPEED": "100"})


# --- what else is there


def found(path):
    def steps(world):
        response, _ = world.send("GET", path)
        world.notes.append(f"{path}: {response.status}")

    return steps


case("metadata", found("/.well-known/oauth-authorization-server"))
