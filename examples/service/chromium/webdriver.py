"""A browser driven over the WebDriver protocol (https://www.w3.org/TR/webdriver2/) by chromedriver, with the standard library alone."""

import base64
import json
import re
import subprocess
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
]


def wait(what, condition):
    """What `condition` answers once that is something."""
    end = time.monotonic() + PATIENCE
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.05)


class Driver:
    """A chromedriver on a port of its own choice."""

    def __init__(self):
        self.browsers = []
        self.process = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if port := re.search(r"started successfully on port (\d+)", line):
                self.url = f"http://127.0.0.1:{port[1]}"
                return
        raise AssertionError("chromedriver does not start")

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        # no proxy of the environment stands between this script and its own machine
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise AssertionError(f"{method} {path}: {value['error']}: {value['message']}") from None

    def end(self):
        """Ends every browser, however the walk went, and then itself."""
        for browser in self.browsers:
            browser.ask("DELETE", "")
        self.process.terminate()
        self.process.wait()


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

    def devtools(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def complaints(self):
        """What the browser has had to say since it was asked last."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})]

    def all(self, selector):
        found = self.ask("POST", "/elements", {"using": "css selector", "value": selector})
        return [Element(self, element[ELEMENT]) for element in found]

    def named(self, selector, label):
        """The one shown element that assistive technology calls `label`."""

        def shown():
            found = [element for element in self.all(selector) if element.label() == label and element.is_shown()]
            assert len(found) < 2, f"{len(found)} times {label}"
            return found

        return wait(f"{selector} {label!r} on {self.url()}", shown)[0]

    def fill(self, label, text):
        self.named("input", label).type(text)

    def press(self, label):
        self.named("button, a", label).click()

    def arrive(self, path):
        """Waits for a page that has loaded."""
        script = "return document.readyState === 'complete' && location.pathname + location.search"
        return wait(f"{path}, not {self.url()}", lambda: re.fullmatch(path, self.run(script) or ""))

    def read(self, text):
        wait(f"{text!r} on {self.url()}", lambda: text in self.text())

    def picture(self, file):
        """The whole page, however long it is."""
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
