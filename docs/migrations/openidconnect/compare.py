#!/usr/bin/env python3
"""Compares the storefront before and after its migration.

Usage: docs/migrations/openidconnect/compare.py [--update] [NAME]

Needs the Python package `cryptography`. Each case starts both programs, each with a provider of its
own that misbehaves as the case says (`provider.py`, `cases.py`), and drives them as a browser.
`differences.json` has the outcome of both programs for each case in which they differ, with the
reason. The exit status is 1 after any other difference, after a listed difference that no longer
occurs or has other outcomes, and if the guide lacks a reason. `--update` writes the outcomes of the
listed cases; `NAME` runs the cases with this text in their names, and shows their outcomes.
"""

import http.client
import os
import queue
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlencode, urlsplit

sys.dont_write_bytecode = True
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from cases import CASES
from differences import Judge, build
from provider import CLIENT, SECRET, Provider

PATIENCE = 20


class App:
    """A running storefront."""

    def __init__(self, program, provider):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        settings = {"ISSUER": provider.issuer, "LISTEN": self.address, "API": provider.url}
        settings |= {"CLIENT_ID": CLIENT, "CLIENT_SECRET": SECRET}
        self.process = subprocess.Popen(
            [program], env=os.environ | settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.logged, self.lines = [], queue.Queue()
        for stream, take in ((self.process.stdout, self.lines.put), (self.process.stderr, self.logged.append)):
            threading.Thread(target=self.drain, args=(stream, take), daemon=True).start()

    def drain(self, stream, take):
        for line in stream:
            take(line.rstrip())
        take(None)

    def starts(self):
        line = self.lines.get(timeout=PATIENCE)
        return line is not None and line.startswith("listening")

    def close(self):
        self.process.kill()
        self.process.wait()


class Browser:
    """Sends requests to the app, keeps its cookies, and notes the responses."""

    def __init__(self, app, provider, notes):
        self.app, self.provider, self.notes, self.cookies, self.set_cookies = app, provider, notes, {}, []

    def send(self, method, target, form=None, note=True):
        at = urlsplit(target)
        connection = http.client.HTTPConnection(at.netloc or self.app.address, timeout=PATIENCE)
        headers = {"content-type": "application/x-www-form-urlencoded"} if form is not None else {}
        if self.cookies and not at.netloc:
            headers["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        path = (at.path or "/") + (f"?{at.query}" if at.query else "")
        try:
            connection.request(method, path, body=form, headers=headers)
            response = connection.getresponse()
            body = response.read().decode()
        except (TimeoutError, OSError, http.client.HTTPException) as error:
            self.notes.append(f"{method} {at.path}: {'no response' if isinstance(error, TimeoutError) else error}")
            return None, "", ""
        finally:
            connection.close()
        for cookie in response.headers.get_all("set-cookie") or []:
            pair, *attributes = [part for part in cookie.split("; ") if not part.startswith("Expires=")]
            name, value = pair.split("=", 1)
            self.set_cookies.append(f"{at.path}: {name}; {'; '.join(sorted(attributes))}")
            self.cookies[name] = value
            if not value or "max-age=0" in cookie.lower():
                del self.cookies[name]
        location = response.headers.get("location", "")
        if note and not at.netloc:
            # the field is compared by a case of its own
            shown = re.sub(r'<input type="hidden"[^>]*>', "", body or location)
            self.notes.append(f"{method} {at.path}: {response.status} {self.hide(shown)}".rstrip())
        return response.status, location, body

    def hide(self, text):
        return text.replace(self.provider.url, "PROVIDER").replace(self.app.address, "APP")

    def start(self):
        """Starts a sign-in, and returns the URL of the provider."""
        status, location, _ = self.send("GET", "/login", note=False)
        if status != 303:
            self.notes.append(f"GET /login: {status}")
        return location

    def authorize(self, url):
        """Follows the browser to the provider, and returns the query of the response."""
        return urlsplit(self.send("GET", url)[1]).query

    def login(self):
        self.send("GET", "/callback?" + self.authorize(self.start()))

    def get(self, path):
        return self.send("GET", path)

    def logout(self, with_fields=True):
        _, _, page = self.send("GET", "/", note=False)
        fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]+)"', page)
        self.send("POST", "/logout", urlencode(fields if with_fields else []))


def run(program, case):
    """Runs a case, and returns its outcome and the log of the program."""
    provider, notes = Provider(), []
    case["setup"](provider)
    app = App(program, provider)
    try:
        if app.starts():
            browser = Browser(app, provider, notes)
            case["steps"](browser)
        else:
            notes.append("does not start")
        notes += case["sent"](provider, app)
    finally:
        app.close()
        provider.close()
    return notes, [line for line in app.logged if line]


def main(arguments):
    before, after = build(HERE / "before"), build(HERE / "after")
    judge = Judge(HERE, CASES, arguments)
    for name, case in judge.chosen().items():
        (one, one_log), (other, other_log) = run(before, case), run(after, case)
        judge.judge(name, one, other, logs=(one_log, other_log))
    return judge.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
