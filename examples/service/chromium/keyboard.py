"""Every place of the console by the keyboard alone, with a visible focus at each step."""

from webdriver import wait

PLACES = {
    "Charges": "/console/charges",
    "Deliveries": "/console/deliveries",
    "Endpoints": "/console/endpoints",
    "Requests": "/console/requests",
    "Applications": "/console/applications",
    "Break it": "/console/break-it",
    "Explorer": "/console/explorer",
    "API reference": "/console/reference",
    "Problems": "/problems",
    "Example client": "/client",
    "Overview": "/",
}
# longest way through a page, in steps
STEPS = 400

FOCUSED = """
const element = document.activeElement;
if (!element || element === document.body) return null;
const { outlineStyle, outlineWidth } = getComputedStyle(element);
const { top, bottom, left, right } = element.getBoundingClientRect();
return {
  name: (element.getAttribute("aria-label") || element.innerText || element.value || element.name || "").trim().split("\\n")[0],
  is_visible: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2,
  is_shown: bottom > 0 && right > 0 && top < innerHeight && left < innerWidth,
  is_in_widget: Boolean(element.closest(".graphiql-container, #reference")),
  tag: element.tagName,
};
"""
BEGIN = "document.activeElement.blur(); scrollTo(0, 0); document.getSelection().removeAllRanges();"


def step(browser):
    """Presses Tab; returns the focused element, or None at the end of the page."""
    browser.key("Tab", 9)
    focused = browser.run(FOCUSED)
    if focused and not focused["is_in_widget"]:
        assert focused["is_visible"], f"no visible focus on {browser.url()}: {focused}"
        assert focused["is_shown"], f"focus outside the window on {browser.url()}: {focused}"
    return focused


def reach(browser, name):
    """Reaches the link or button `name` by Tab and presses Enter."""
    for _ in range(STEPS):
        focused = step(browser)
        if focused and focused["name"] == name:
            browser.key("Enter", 13, text="\r")
            return
    raise AssertionError(f"{name!r} is not reached by Tab on {browser.url()}")


def whole_page(browser):
    """Steps through the page to its end; no element keeps the focus."""
    names = []
    for _ in range(STEPS):
        focused = step(browser)
        if focused is None or focused["name"] == "Skip to the content":
            if names:
                return names
            continue
        names.append(focused["name"])
    raise AssertionError(f"the focus does not leave {browser.url()}: {names[-3:]}")


def tab_through(visit, browser):
    browser.go(visit.url)
    for name, path in PLACES.items():
        if name == "Overview":
            browser.go(visit.url + "/console/charges")
        reach(browser, name)
        browser.arrive(path)
        if path not in ("/console/explorer", "/console/reference"):
            whole_page(browser)
            browser.run(BEGIN)
    leave_the_editor(visit, browser)
    skip(visit, browser)
    print(f"  ✓ keyboard: {len(PLACES)} places", flush=True)


def leave_the_editor(visit, browser):
    """Tab passes an editor; Enter goes into it, where Tab is a character until Ctrl+M frees it."""
    browser.go(visit.url + "/console/explorer")
    wait("the editor", lambda: browser.run("return Boolean(document.querySelector('.graphiql-query-editor .view-line'))"))
    is_inside = "return Boolean(document.activeElement.closest('.graphiql-query-editor .monaco-editor'))"
    for _ in range(STEPS):
        if browser.run("return document.activeElement.matches('.graphiql-query-editor .graphiql-editor')"):
            break
        assert not browser.run(is_inside), "Tab goes into the editor"
        step(browser)
    browser.key("Enter", 13, text="\r")
    wait("the focus inside the editor", lambda: browser.run(is_inside))
    step(browser)
    assert browser.run(is_inside), "Tab is no character in the editor"
    browser.key("m", 77, modifiers=2)
    step(browser)
    assert not browser.run(is_inside), "Ctrl+M does not free Tab"


def skip(visit, browser):
    """The first stop of a page skips its navigation."""
    browser.go(visit.url + "/console/charges")
    reach(browser, "Skip to the content")
    assert browser.run("return location.hash") == "#main"
    focused = step(browser)
    assert browser.run("return document.activeElement.closest('main') !== null"), focused
