#!/usr/bin/env python3
"""oidc-client-ts in Chromium, with its defaults, against the service.

A page of another origin signs in by redirect, calls the API, renews by refresh token and by a hidden
frame with `prompt=none`, and signs out. The service must allow the origin of the page
(`--allow-origin http://127.0.0.1:9998`). Requires chromium and chromedriver.

usage: browser_app.py ISSUER OIDC_CLIENT_TS
"""

import contextlib
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

# no cache files beside the sources
sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
# the tree may be copied for its packages; the driver stays in the repository
sys.path.insert(0, sys.argv[3] if len(sys.argv) > 3 else str(HERE.parent.parent / "chromium"))
from webdriver import Browser, Driver, wait

ISSUER, LIBRARY = sys.argv[1].rstrip("/"), Path(sys.argv[2])
EMAIL, PASSWORD = "ada@example.com", "correct horse battery staple"
# the registration of demo-browser names this port for the page after a sign-out
PORT = 9998
ORIGIN = f"http://127.0.0.1:{PORT}"
PAGE = f"""<!DOCTYPE html><meta charset="utf-8"><title>Application</title><h1>Application</h1>
<script src="/oidc-client-ts.min.js"></script><script>
const manager = new oidc.UserManager({{
  authority: "{ISSUER}", client_id: "demo-browser", scope: "openid profile email read:charges",
  redirect_uri: location.origin + "/callback", silent_redirect_uri: location.origin + "/silent",
  post_logout_redirect_uri: location.origin + "/signed-out",
}});
const keep = (promise) => promise.then((value) => {{ window.result = {{ value }}; }}, (error) => {{ window.result = {{ error: String(error.error ?? error) }}; }});
if (location.pathname === "/callback") keep(manager.signinCallback().then((user) => user.profile.sub));
if (location.pathname === "/silent") manager.signinCallback();
</script>"""


class Application(BaseHTTPRequestHandler):
    """The application: one page, and the library."""

    def do_GET(self):
        is_library = self.path == "/oidc-client-ts.min.js"
        body = LIBRARY.read_bytes() if is_library else PAGE.encode()
        self.send_response(200)
        self.send_header("content-type", "text/javascript" if is_library else "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def result(browser, script=None):
    """Runs a script that returns a promise; returns its value or error."""
    if script:
        browser.run(f"window.result = undefined; keep({script});")
    found = wait(script or "the callback", lambda: browser.run("return window.result"))
    browser.run("window.result = undefined;")
    return found


def api(browser):
    script = f"""manager.getUser().then((user) => fetch("{ISSUER}/v1/charges",
        {{ headers: {{ authorization: "Bearer " + user.access_token }} }})).then((answer) => answer.status)"""
    assert result(browser, script) == {"value": 200}


def walk(browser):
    browser.go(f"{ORIGIN}/")
    assert result(browser, "manager.signinSilent()") == {"error": "login_required"}
    browser.run("manager.signinRedirect();")
    browser.arrive(r"/login\?interaction=.+")
    browser.fill("Email", EMAIL)
    browser.fill("Password", PASSWORD)
    browser.press("Sign in")
    browser.arrive(r"/consent\?interaction=.+")
    browser.press("Allow")
    browser.arrive(r"/callback\?.+")
    assert result(browser) == {"value": "usr_ada"}
    api(browser)
    print("  ✓ oidc-client-ts: sign-in by redirect, a call of the API from its origin", flush=True)

    token = "manager.getUser().then((user) => user.access_token)"
    first = result(browser, token)
    renewed = result(browser, "manager.signinSilent().then((user) => user.profile.sub)")
    assert renewed == {"value": "usr_ada"}, renewed
    second = result(browser, token)
    assert first != second
    print("  ✓ oidc-client-ts: renewal by refresh token", flush=True)

    forget = "manager.getUser().then((user) => { delete user.refresh_token; return manager.storeUser(user); }).then(() => true)"
    assert result(browser, forget) == {"value": True}
    renewed = result(browser, "manager.signinSilent().then((user) => user.profile.sub)")
    assert renewed == {"value": "usr_ada"}, renewed
    assert result(browser, token) != second
    api(browser)
    print("  ✓ oidc-client-ts: silent renewal in a hidden frame", flush=True)

    browser.run("manager.signoutRedirect();")
    browser.arrive(r"/signed-out.*")
    assert result(browser, "manager.signinSilent()") == {"error": "login_required"}
    print("  ✓ oidc-client-ts: sign-out, after which a renewal needs a sign-in", flush=True)


with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as ends:
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Application)
    ends.callback(server.server_close)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ends.callback(server.shutdown)
    driver = Driver()
    ends.callback(driver.end)
    walk(Browser(driver, Path(folder) / "profile"))
