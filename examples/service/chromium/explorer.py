"""The explorer and the API reference in Chromium: GraphiQL and Redoc with the person's session."""

from webdriver import wait

# brackets in the editors of GraphiQL, whose colours its vendored theme sets
SYNTAX = ".graphiql-container .view-line span[class*='bracket-highlighting']"
# what axe finds in GraphiQL and Redoc, by rule; everything else is ours to mend
GRAPHIQL = {
    # a tab of the editor holds its own button to close
    "nested-interactive": "li.graphiql-tab[role=tab]",
    # the theme of the editor sets the colours of words, such as those of comments
    "color-contrast": ".graphiql-container .view-line [class*='mtk']",
}
# each operation has a heading of level 5 below one of level 2
REDOC = {"heading-order": "#reference [id^='operation/'] h5"}

ANSWER = "return document.querySelector('.graphiql-response')?.innerText.replace(/\\s+/g, '') ?? ''"
SUGGESTED = "return [...document.querySelectorAll('.suggest-widget .monaco-list-row')].map((row) => row.innerText)"
CHANGE = """
const [done] = arguments;
const { token } = document.getElementById("graphiql").dataset;
const body = JSON.stringify({ query: 'mutation { createCharge(amount: 7700, currency: "eur") { id } }' });
const headers = { "Content-Type": "application/json", "X-CSRF-Token": token };
fetch("/console/explorer/operation", { method: "POST", headers, body }).then((response) => response.text()).then(done);
"""


def answer(browser, text):
    """Waits until the answer on screen has `text`, without white space."""
    wait(f"{text!r} in the answer", lambda: text in browser.run(ANSWER))


def example(browser, name):
    """Opens an example operation in a tab of its own."""
    browser.run("[...document.querySelectorAll('.pick a')].find((link) => link.firstChild.data === arguments[0]).click()", name)


def run(browser):
    browser.named("button", "Execute query (Ctrl-Enter)").click()
    # away from the button, whose tooltip covers others
    browser.devtools("Input.dispatchMouseEvent", type="mouseMoved", x=640, y=90)
    wait("the tooltip closes", lambda: not browser.run("return document.querySelector('[data-radix-popper-content-wrapper]')"))


def meters(browser, text):
    read = "return document.getElementById('meters').innerText.replace(/\\s+/g, ' ')"
    wait(f"{text!r} in the meters", lambda: text in browser.run(read))


def explore(visit, browser):
    browser.press("Explorer")
    browser.arrive("/console/explorer")
    meters(browser, "Cost 16 of 10,000 Depth 5 of 15 Aliases 0 of 30")
    run(browser)
    answer(browser, '"charges":{"edges":[')
    visit.look(browser, "explorer", vendored=SYNTAX, known=GRAPHIQL)
    complete(browser)
    example(browser, "Too much")
    browser.read("MAX_ALIASES_EXCEEDED")
    run(browser)
    answer(browser, '"code":"MAX_ALIASES_EXCEEDED"')
    visit.look(browser, "too-much", expected=["400"], vendored=SYNTAX, known=GRAPHIQL)
    subscribe(browser)
    remember(browser)
    assert not browser.complaints()


def complete(browser):
    """Completion knows the schema, from introspection with the session."""
    example(browser, "Partial result")
    wait("the example", lambda: "Partial" in browser.run("return document.querySelector('.graphiql-query-editor').innerText"))
    browser.run("document.querySelector('.graphiql-query-editor textarea, .graphiql-query-editor .native-edit-context').focus()")
    browser.key("Home", 36, modifiers=2)
    browser.key("End", 35)
    browser.key("Enter", 13, text="\r")
    for letter in "ch":
        browser.key(letter, ord(letter.upper()), text=letter)
    wait("completion", lambda: any(row.startswith("charges") for row in browser.run(SUGGESTED)))
    browser.key("Escape", 27)


def subscribe(browser):
    """A subscription hears a change that another request makes, and stops."""
    example(browser, "Changes")
    meters(browser, "Depth 2 of 15 Aliases 0 of 30 Fields at the root 1")
    run(browser)
    stop = browser.named("button", "Stop query (Ctrl-Enter)")
    created = browser.run_async(CHANGE).split('"id":"')[1].split('"')[0]
    answer(browser, f'"chargeUpdated":{{"id":"{created}","amount":7700')
    stop.click()
    browser.named("button", "Execute query (Ctrl-Enter)")


def remember(browser):
    """The history has what ran, also after the page is loaded again."""
    browser.go(browser.url())
    browser.named("button", "Show History").click()
    for name in ("Charges", "TooMuch", "Changes"):
        wait(f"{name} in the history", lambda: name in browser.run("return document.querySelector('.graphiql-history')?.innerText ?? ''"))


def read_the_reference(visit, browser):
    browser.press("API reference")
    browser.arrive("/console/reference")
    browser.read("Request a refund of an amount")
    visit.look(browser, "reference", known=REDOC)
