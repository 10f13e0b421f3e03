#!/usr/bin/env python3
"""Compares the authorization server before and after its migration.

Usage: docs/migrations/oxide-auth/compare.py [--update] [NAME]

Each case starts both programs, and drives them as a browser, as clients and as a caller of the API
(`cases.py`). `differences.json` has the outcome of both programs for each case in which they
differ, with the reason. The exit status is 1 after any other difference, after a listed difference
that no longer occurs or has other outcomes, and if the guide lacks a reason. `--update` writes the
outcomes of the listed cases; `NAME` runs the cases with this text in their names, and shows their
outcomes.
"""

import base64
import hashlib
import http.client
import json
import os
import re
import socket
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

sys.dont_write_bytecode = True
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from cases import CASES
from differences import Judge, build

VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
WEB = ("notes-web", "notes-web-secret")
CALLBACK = {"notes-web": "https://notes.example/callback", "notes-app": "com.example.notes:/callback"}
# parameters and members with random values
RANDOM = {"access_token", "refresh_token", "code"}
# differences that occur in many cases: they are counted
EVERYWHERE = {"error_description": "refusals have an `error_description`", "iss": "responses through the browser have `iss`"}
BEARER = "`token_type` is `Bearer` instead of `bearer`"
SEE_OTHER = "the form is answered with 303 instead of 302"


def changed(values, changes):
    """The parameters with changes: None removes one, a list repeats it."""
    pairs = []
    for name, value in (values | changes).items():
        pairs += [(name, one) for one in (value if isinstance(value, list) else [value]) if one is not None]
    return pairs


def basic(client, secret):
    return {"authorization": "Basic " + base64.b64encode(f"{client}:{secret}".encode()).decode()}


class World:
    """A running program, and its browser, clients and callers; notes their responses."""

    def __init__(self, program, settings):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        settings = {"LISTEN": self.address, "SPEED": "1"} | settings
        self.process = subprocess.Popen([program], env=os.environ | settings, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout.readline().startswith("listening")
        self.notes, self.cookies, self.everywhere = [], {}, Counter()

    def close(self):
        self.process.kill()
        self.process.wait()

    def send(self, method, path, form=None, headers=None):
        connection = http.client.HTTPConnection(self.address, timeout=20)
        headers = dict(headers or {})
        body = form if isinstance(form, str) else form and urlencode(form)
        if body is not None:
            headers.setdefault("content-type", "application/x-www-form-urlencoded")
        if self.cookies:
            headers["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        connection.request(method, path, body=body, headers=headers)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        for cookie in response.headers.get_all("set-cookie") or []:
            name, value = cookie.split(";")[0].split("=", 1)
            self.cookies[name] = value
        return response, text

    def note(self, step, response, text):
        """Notes a response without its random values, and without what differs everywhere."""
        status = response.status
        if status == 303:
            status, _ = 302, self.everywhere.update([SEE_OTHER])
        location = response.headers.get("location")
        challenge = response.headers.get("www-authenticate")
        shown = []
        if location:
            base, separator, query = location.partition("?")
            pairs = self.shown(parse_qsl(query))
            shown.append(base + separator + " ".join(sorted(pairs)))
        if challenge:
            shown.append(challenge)
        media = response.headers.get("content-type", "")
        if media.startswith("application/json"):
            body = json.loads(text)
            shown.append(" ".join(sorted(self.shown(body.items()))))
        elif media.startswith("text/html"):
            if "Reason: " in text:
                text = "refused, " + text[text.index("Reason: ") :]
            text = re.sub(r"<(style|title)>.*?</\1>", "", text, flags=re.DOTALL)
            shown.append("page: " + re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", text)).strip())
        elif not location:
            shown.append(text)
        line = f"{step}: {status} {' '.join(shown)}".replace(self.address, "SERVER").rstrip()
        self.notes.append(line)

    def shown(self, pairs):
        pairs = dict(pairs)
        if pairs.get("token_type") == "Bearer":
            pairs["token_type"], _ = "bearer", self.everywhere.update([BEARER])
        if "expires_in" in pairs:
            # a second may have begun
            pairs["expires_in"] = (pairs["expires_in"] + 9) // 10 * 10
        pairs = pairs.items()
        self.everywhere.update(EVERYWHERE[name] for name, _ in pairs if name in EVERYWHERE)
        return [f"{name}={'…' if name in RANDOM else value}" for name, value in pairs if name not in EVERYWHERE]

    def page(self, client="notes-web", note=True, **changes):
        """Asks for authorization; returns the URL of the page, None after a refusal."""
        values = {"response_type": "code", "client_id": client, "redirect_uri": CALLBACK[client], "scope": "notes:read"}
        values |= {"state": "s", "code_challenge": CHALLENGE, "code_challenge_method": "S256"}
        path = "/authorize?" + urlencode(changed(values, changes))
        response, text = self.send("GET", path)
        location = response.headers.get("location", "")
        if location.startswith("/sign-in?"):
            path = location
            response, text = self.send("GET", path)
        is_page = "<form" in text
        if note or not is_page:
            self.note("authorize", response, text)
        return path if is_page else None

    def decide(self, path, note=True, **changes):
        """Sends the form of the page; returns the code."""
        fields = changed({"user": "ada", "password": "correct horse", "decision": "allow"}, changes)
        response, text = self.send("POST", path, fields)
        location = response.headers.get("location", "")
        if location.startswith("/sign-in?"):
            response, text = self.send("GET", location)
        code = dict(parse_qsl(urlsplit(location).query)).get("code")
        if note or not code:
            self.note("decide", response, text)
        return code

    def code(self, client="notes-web", **changes):
        """A code, or None after a refusal."""
        path = self.page(client, note=False, **changes)
        return path and self.decide(path, note=False)

    def token(self, redeemed, /, client="notes-web", headers=None, method="POST", step="token", **changes):
        """Redeems a code; returns the response."""
        values = {"grant_type": "authorization_code", "code": redeemed, "redirect_uri": CALLBACK[client], "code_verifier": VERIFIER}
        if client == "notes-web":
            headers = basic(*WEB) if headers is None else headers
        else:
            values |= {"client_id": client}
        return self.ask(step, method, changed(values, changes), headers)

    def refresh(self, presented, /, client="notes-web", headers=None, step="refresh", **changes):
        values = {"grant_type": "refresh_token", "refresh_token": presented}
        if client == "notes-web":
            headers = basic(*WEB) if headers is None else headers
        else:
            values |= {"client_id": client}
        return self.ask(step, "POST", changed(values, changes), headers)

    def ask(self, step, method, form, headers):
        response, text = self.send(method, "/token", form, headers)
        self.note(step, response, text)
        try:
            return json.loads(text)
        except ValueError:
            return {}

    def tokens(self, client="notes-web"):
        """Tokens of a sign-in, without notes."""
        kept, self.notes = self.notes, []
        tokens = self.token(self.code(client), client)
        assert "access_token" in tokens, self.notes
        self.notes = kept
        return tokens

    def notes_of(self, token, step="notes", scheme="Bearer", path="/notes", headers=None):
        response, text = self.send("GET", path, headers={"authorization": f"{scheme} {token}"} if headers is None else headers)
        self.note(step, response, text)


def run(program, package, case):
    world = World(program, {"LIFETIME": "900"} | case["settings"].get(package, {}))
    try:
        case["steps"](world)
    finally:
        world.close()
    return world.notes, world.everywhere


def main(arguments):
    programs = {package: build(HERE / package) for package in ("before", "after")}
    judge = Judge(HERE, CASES, arguments)
    chosen = judge.chosen()
    with ThreadPoolExecutor(4) as pool:
        both = lambda case: [run(program, package, case) for package, program in programs.items()]
        outcomes = dict(zip(chosen, pool.map(both, chosen.values())))
    for name, ((one, absent), (other, present)) in outcomes.items():
        judge.reasons.update(present)
        judge.judge(name, one, other, is_allowed=not absent)
    return judge.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
