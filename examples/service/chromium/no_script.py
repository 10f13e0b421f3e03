"""The console without JavaScript: every page but the explorer, the API reference and live rows."""

PAGES = {
    "/": "Charged today",
    "/console/charges": "Money taken from customers",
    "/console/deliveries": "One row for each event",
    "/console/endpoints": "Endpoints",
    "/console/requests": "The last thousand requests",
    "/console/applications": "Token families",
    "/problems": "Every refusal of the API",
    "/account": "Ada Lovelace",
    "/console/explorer?op=refund": "The explorer needs JavaScript.",
    "/console/reference": "The API reference needs JavaScript.",
}


def walk_without_script(visit, browser, credentials):
    browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
    sign_in(visit, browser, credentials)
    for path, text in PAGES.items():
        browser.go(visit.url + path)
        browser.read(text)
        assert not browser.run("return document.documentElement.classList.contains('js')"), path
    browser.go(visit.url + "/console/explorer?op=refund")
    browser.read("mutation Refund($id: ID!, $amount: Int)")
    browser.press("Schema as text")
    browser.read("type Query {")
    charge_and_refund(visit, browser)
    use_an_endpoint(visit, browser)
    find_and_filter(visit, browser)
    browser.go(visit.url + "/account")
    browser.press("Sign out")
    browser.arrive(r"/login\?notice=signed-out")
    browser.go(visit.url)
    browser.read("See an example client")
    print(f"  ✓ without JavaScript: {len(PAGES)} pages", flush=True)


def sign_in(visit, browser, credentials):
    email, password = credentials
    browser.go(visit.url + "/console/charges?status=refunded")
    browser.fill("Email", email)
    browser.fill("Password", "incorrect horse")
    browser.press("Sign in")
    browser.read("Email and password do not match.")
    browser.fill("Password", password)
    browser.press("Sign in")
    browser.arrive(r"/console/charges\?status=refunded")


def charge_and_refund(visit, browser):
    browser.go(visit.url + "/console/charges#new")
    browser.fill("Amount", "0.00")
    browser.press("Charge")
    browser.read("Nothing was changed.")
    browser.fill("Amount", "20.00")
    browser.press("Charge")
    browser.read("Charge created")
    browser.press("Refund…")
    browser.fill("Amount in EUR", "5.00")
    browser.press("Refund the amount")
    browser.read("The refund is requested")


def use_an_endpoint(visit, browser):
    browser.go(visit.url + "/console/endpoints")
    # the form is there at once only as long as there is no endpoint
    browser.press("New endpoint")
    browser.fill("Address", "http://127.0.0.1:9/plain")
    browser.press("Register")
    browser.read("Copy the secret now")
    browser.press("Go to the endpoint")
    browser.press("Send a test event")
    browser.read("endpoint.test to 127.0.0.1:9")


def find_and_filter(visit, browser):
    browser.go(visit.url + "/console/requests?q=/token")
    browser.press("POST /token")
    browser.read("What each stage decided")
    request = browser.url().rsplit("/", 1)[1]
    browser.go(visit.url)
    field = browser.named("input", "Find anything by its id")
    field.type(request + "\n")
    browser.arrive(f"/console/requests/{request}")
    browser.read("What it did")
    browser.named("input", "Find anything by its id").type("no-such-id\n")
    browser.arrive(r"/console/requests\?q=no-such-id")
    browser.read("Nothing has “no-such-id”")
