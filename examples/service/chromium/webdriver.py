"""WebDriver client (https://www.w3.org/TR/webdriver2/) for chromedriver, on the standard library."""

import base64
import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
PATIENCE = 20
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--window-size=1280,800",
]


def wait(what, condition):
    """Waits until `condition` returns a true value; returns it."""
    end = time.monotonic() + PATIENCE
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"timeout: {what}")
        time.sleep(0.05)


class Process:
    """A program whose output is read. It and its children end with this script."""

    def __init__(self, words, **options):
        self.lines = queue.Queue()
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True, **options)
        # reads in the background, so that the pipe never fills up and reads can time out
        threading.Thread(target=self.keep_reading, daemon=True).start()

    def keep_reading(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def print(self, what, pattern):
        """Waits for a line with `pattern` after the lines read so far; returns the match."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                line = self.lines.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"timeout: {what}") from None
            if line is None:
                # keeps the end mark for the next call
                self.lines.put(None)
                raise AssertionError(f"no {what}: the program has ended")
            if found := re.search(pattern, line):
                return found

    def end(self):
        group = self.process.pid
        for number in (signal.SIGTERM, signal.SIGKILL):
            # the whole group, since a browser outlives a crashed driver
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=PATIENCE)


class Driver:
    """A chromedriver on a free port."""

    def __init__(self):
        self.browsers = []
        self.process = Process(["chromedriver", "--port=0"])
        try:
            port = self.process.print("start of chromedriver", r"started successfully on port (\d+)")
        except BaseException:
            self.process.end()
            raise
        self.url = f"http://127.0.0.1:{port[1]}"

    def ask(self, method, path, body=None, timeout=60):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        # ignores proxies of the environment for this local connection
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=timeout) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise AssertionError(f"{method} {path}: {value['error']}: {value['message']}") from None

    def end(self):
        """Ends every browser, then the driver."""
        try:
            for browser in self.browsers:
                # a browser that does not respond ends with its driver
                with contextlib.suppress(Exception):
                    self.ask("DELETE", browser.path, timeout=PATIENCE)
        finally:
            self.process.end()


class Browser:
    """One browser with an empty profile."""

    def __init__(self, driver, profile):
        options = {"args": [*FLAGS, f"--user-data-dir={profile}"]}
        capabilities = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        session = driver.ask("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.driver, self.path = driver, f"/session/{session['sessionId']}"
        driver.browsers.append(self)

    def ask(self, method, path, body=None):
        return self.driver.ask(method, self.path + path, body)

    def go(self, url):
        self.ask("POST", "/url", {"url": url})

    def url(self):
        return self.ask("GET", "/url")

    def run(self, script, *arguments):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def text(self):
        return self.run("return document.body.innerText")

    def run_async(self, script):
        """Runs a script that calls its last argument with the result."""
        return self.ask("POST", "/execute/async", {"script": script, "args": []})

    def key(self, key, number, text="", modifiers=0):
        """Presses and releases a key; `number` is its Windows code, modifier 2 is Ctrl."""
        # letters have codes such as KeyA
        code = f"Key{key.upper()}" if len(key) == 1 and key.isalpha() else key
        common = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers}
        self.devtools("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        self.devtools("Input.dispatchKeyEvent", type="keyUp", **common)

    def devtools(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def complaints(self):
        """New messages in the browser's log."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})]

    def all(self, selector):
        found = self.ask("POST", "/elements", {"using": "css selector", "value": selector})
        return [Element(self, element[ELEMENT]) for element in found]

    def named(self, selector, label):
        """The one visible element with the accessible name `label`."""

        def shown():
            found = [element for element in self.all(selector) if element.label() == label and element.is_shown()]
            assert len(found) < 2, f"{len(found)} times {label}"
            return found

        return wait(f"{selector} {label!r} on {self.url()}", shown)[0]

    def fill(self, label, text):
        self.named("input", label).type(text)

    def press(self, label):
        self.named("button, a, summary", label).click()

    def arrive(self, path):
        """Waits until the page at `path` has loaded."""
        script = "return document.readyState === 'complete' && location.pathname + location.search"
        return wait(f"{path}, not {self.url()}", lambda: re.fullmatch(path, self.run(script) or ""))

    def read(self, text):
        wait(f"{text!r} on {self.url()}", lambda: text in self.text())

    def picture(self, file):
        """Saves a picture of the whole page."""
        size = self.devtools("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        data = self.devtools("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"]
        file.write_bytes(base64.b64decode(data))


class Element:
    def __init__(self, browser, name):
        self.browser, self.path = browser, f"/element/{name}"

    def label(self):
        return self.browser.ask("GET", self.path + "/computedlabel")

    def is_shown(self):
        return self.browser.ask("GET", self.path + "/displayed")

    def click(self):
        self.browser.ask("POST", self.path + "/click", {})

    def type(self, text):
        self.browser.ask("POST", self.path + "/clear", {})
        self.browser.ask("POST", self.path + "/value", {"text": text})
