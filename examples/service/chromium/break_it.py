"""Break it in Chromium: each button causes its fault, the page tells its story, and the service heals."""

from webdriver import wait

PATH = "/console/break-it"
COUNTS = """
return Object.fromEntries([...document.querySelectorAll("section[aria-labelledby=promise] dt")]
  .map((name) => [name.innerText, Number(name.nextElementSibling.innerText)]));
"""
# sends the form of the page as another page would, and again with its key if there is no answer
CHARGE = """
const done = arguments[arguments.length - 1];
fetch("/console/charges").then((page) => page.text()).then((text) => {
  const form = new DOMParser().parseFromString(text, "text/html").querySelector("#new form");
  const fields = new URLSearchParams(new FormData(form));
  fields.set("amount", "13.37");
  const send = () => fetch("/console/charges", { method: "POST", body: fields });
  return send().catch(send);
}).then((answer) => done(answer.url), (error) => done(String(error)));
"""


def press(browser, label):
    """Presses a button; the look at a page and a live read can leave it below the bar."""
    browser.run("scrollTo(0, 0)")
    browser.press(label)


def charge(browser):
    made = browser.run_async(CHARGE)
    assert "/console/charges/ch_" in made, made


def reach(visit, browser, name, number):
    """Waits until a figure of the page is `number`."""

    def figure():
        browser.go(visit.url + PATH)
        return browser.run(COUNTS)[name] == number

    wait(f"{name}: {number}", figure)


def break_it(visit, browser, sign_in):
    browser.go(visit.url)
    press(browser, "Break it")
    browser.arrive(PATH)
    browser.read("Nothing is broken")
    press(browser, "Register the receiver")
    browser.arrive(PATH)
    assert "has no endpoint" not in browser.text()
    visit.look(browser, "break-it")
    kill_the_worker(visit, browser)
    hang_the_receiver(visit, browser)
    drop_an_answer(visit, browser)
    step_the_clock(browser, sign_in)


def kill_the_worker(visit, browser):
    press(browser, "Kill the delivery worker")
    browser.read("Delivery worker killed")
    charge(browser)
    press(browser, "Start it now")
    browser.read("Delivery worker started again")
    reach(visit, browser, "Events it acted on", 1)


def hang_the_receiver(visit, browser):
    press(browser, "Hang for 30 seconds")
    browser.read("The receiver hangs")
    charge(browser)
    reach(visit, browser, "Messages that hang", 1)
    press(browser, "Let it answer")
    browser.read("The receiver answers again")
    reach(visit, browser, "Events it acted on", 2)


def drop_an_answer(visit, browser):
    """The charge is made once, though its first answer is lost. The page tells it without a reload."""
    press(browser, "Drop the next answer")
    browser.read("The next answer will be dropped")
    press(browser, "Kill the delivery worker")
    press(browser, "Hang for 30 seconds")
    browser.read("Waits for a POST with a key")
    visit.look(browser, "broken")
    press(browser, "Let it answer")
    press(browser, "Start it now")
    charge(browser)
    browser.read("An answer was dropped")
    # the browser reports the lost answer, unless it has sent the request again by itself
    unexpected = [line for line in browser.complaints() if "ERR_" not in line]
    assert not unexpected, unexpected
    browser.go(visit.url + "/console/charges")
    assert browser.text().count("€13.37") == 3, browser.text()


def step_the_clock(browser, sign_in):
    """An idle session ends within the hour."""
    browser.go(browser.url().replace("/console/charges", PATH))
    press(browser, "Step by one hour")
    browser.arrive(r"/login\?return_to=/console/break-it")
    sign_in(browser)
    browser.arrive(PATH)
    browser.read("Clock stepped by one hour")
    print("  ✓ Break it: 4 faults", flush=True)
