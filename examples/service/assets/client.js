// OAuth client of the console: signs in with PKCE, calls the API and subscribes over GraphQL.
const CLIENT = "demo-native";
const REDIRECT = location.origin + "/callback";
const SCOPE = "openid email profile read:charges write:charges write:refunds";
const el = (id) => document.getElementById(id);
const make = (tag, properties) => Object.assign(document.createElement(tag), properties);

// Signing in

const base64url = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));
let token = sessionStorage.getItem("access_token");
let refreshToken = sessionStorage.getItem("refresh_token");

async function signIn() {
  const verifier = random(), state = random();
  sessionStorage.setItem("pending", JSON.stringify({ verifier, state }));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  location.assign("/authorize?" + new URLSearchParams({
    response_type: "code", client_id: CLIENT, redirect_uri: REDIRECT, scope: SCOPE, state, nonce: random(),
    code_challenge: base64url(new Uint8Array(digest)), code_challenge_method: "S256",
  }));
}

async function finishSignIn() {
  const query = new URLSearchParams(location.search);
  const pending = JSON.parse(sessionStorage.getItem("pending"));
  sessionStorage.removeItem("pending");
  history.replaceState(null, "", "/client");
  if (!pending || query.get("state") !== pending.state || query.get("iss") !== location.origin) {
    throw new Error("The response does not belong to this sign-in. Sign in again.");
  }
  if (query.has("error")) throw new Error(query.get("error") === "access_denied" ? "You denied access." : query.get("error"));
  await askForTokens({ grant_type: "authorization_code", code: query.get("code"), redirect_uri: REDIRECT, code_verifier: pending.verifier });
}

async function askForTokens(form) {
  const response = await fetch("/token", { method: "POST", body: new URLSearchParams({ client_id: CLIENT, ...form }) });
  const body = await response.json();
  if (!response.ok) throw Object.assign(new Error(body.error_description ?? body.error), { refused: response.status < 500 });
  token = body.access_token;
  refreshToken = body.refresh_token;
  sessionStorage.setItem("access_token", token);
  sessionStorage.setItem("refresh_token", refreshToken);
}

// Single-flight refresh: reuse of a refresh token would revoke the whole token family.
let refreshing = null;
function refresh(expired) {
  if (expired !== token) return Promise.resolve();
  refreshing ??= askForTokens({ grant_type: "refresh_token", refresh_token: refreshToken }).finally(() => { refreshing = null; });
  return refreshing;
}

function signOut(why = "") {
  if (refreshToken) fetch("/oauth/revoke", { method: "POST", body: new URLSearchParams({ client_id: CLIENT, token: refreshToken }), keepalive: true });
  sessionStorage.clear();
  token = refreshToken = null;
  listening.abort();
  rows.clear();
  el("charges").replaceChildren();
  el("signed-in").hidden = true;
  el("signed-out").hidden = false;
  el("sign-in-error").textContent = why;
}

// Calling the API

async function call(path, options = {}) {
  const go = (bearer) => fetch(path, { ...options, headers: { ...options.headers, Authorization: "Bearer " + bearer } });
  const used = token;
  let response = await go(used);
  if (response.status === 401) {
    try {
      await refresh(used);
    } catch (error) {
      if (error.refused && token) signOut("You have been signed out. Sign in again.");
      throw error;
    }
    response = await go(token);
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({ title: response.statusText }));
  throw new Error([problem.title, problem.detail].filter(Boolean).join(": "));
}

const post = (path, key, body) =>
  call(path, { method: "POST", headers: { "Content-Type": "application/json", "Idempotency-Key": key }, body: JSON.stringify(body) });

/** Runs an action of the user and shows its failure. */
async function attempt(action) {
  el("problem").textContent = "";
  try {
    await action();
    return true;
  } catch (error) {
    el("problem").textContent = error instanceof TypeError ? "The service cannot be reached. Try again." : error.message;
    return false;
  }
}

// Showing charges

function money(units, currency) {
  const format = new Intl.NumberFormat(undefined, { style: "currency", currency });
  return format.format(units / 10 ** format.resolvedOptions().maximumFractionDigits);
}

const rows = new Map();

/** Shows a charge, unless a later version of it is shown already. */
function show(charge, place) {
  const known = rows.get(charge.id);
  if (known && known.version >= charge.version) return;
  const row = known?.row ?? make("tr");
  const what = make("td");
  what.append(make("div", { textContent: charge.description || "–" }), make("code", { textContent: charge.id.slice(0, 14) + "…", title: charge.id }));
  const state = make("td");
  state.append(make("span", { className: "state " + charge.status, textContent: charge.status.replace("_", " ") }));
  row.replaceChildren(
    what,
    make("td", { className: "number", textContent: money(charge.amount, charge.currency) }),
    make("td", charge.amount_refunded
      ? { className: "number refunded-amount", textContent: money(charge.amount_refunded, charge.currency) }
      : { className: "number refunded-amount nothing", textContent: "–" }),
    state,
    refundCell(charge),
  );
  if (!known) el("charges")[place](row);
  rows.set(charge.id, { row, version: charge.version });
  el("none").hidden = true;
}

function refundCell(charge) {
  const cell = make("td", { className: "action" });
  if (charge.status === "refunded") return cell;
  const key = random();
  const button = make("button", { type: "button", textContent: "Refund", className: "quiet" });
  button.setAttribute("aria-label", "Refund " + (charge.description || charge.id));
  // the refund is booked later; the subscription updates the row
  button.onclick = async () => {
    button.disabled = true;
    if (!await attempt(() => post("/v1/charges/" + charge.id + "/refunds", key, {}))) button.disabled = false;
  };
  cell.append(button);
  return cell;
}

let next = null;
async function load(after) {
  const response = await call("/v1/charges?limit=10" + (after ? "&after=" + encodeURIComponent(after) : ""));
  const page = await response.json();
  // a repeated first page holds charges newer than the rows shown
  const again = !after && rows.size > 0;
  for (const charge of again ? page.data.toReversed() : page.data) show(charge, again ? "prepend" : "append");
  if (again) return;
  next = page.next_cursor;
  el("more").hidden = !page.has_more;
  el("none").hidden = rows.size > 0;
}

// Listening to the graph

let listening = new AbortController();

async function listen(signal) {
  const query = "subscription { chargeUpdated { id amount currency amountRefunded status description version } }";
  const headers = { "Content-Type": "application/json", Accept: "text/event-stream" };
  const response = await call("/graphql", { method: "POST", headers, body: JSON.stringify({ query }), signal });
  el("live").hidden = false;
  // catches up on changes before the subscription
  await load();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const data = text.slice(0, end).split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5)).join("\n");
      const charge = data.trim() && JSON.parse(data).data?.chargeUpdated;
      if (charge) show({ ...charge, amount_refunded: charge.amountRefunded }, "prepend");
    }
  }
}

/** Keeps the subscription open until sign-out; a stream ends at the token's expiry. */
async function keepListening() {
  listening = new AbortController();
  const { signal } = listening;
  while (!signal.aborted) {
    await listen(signal).catch(() => {});
    el("live").hidden = true;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

// The page

// a retry of the same order, after a lost response, sends the same idempotency key
let order = null;
el("new-charge").onsubmit = async (event) => {
  event.preventDefault();
  const body = { amount: el("amount").valueAsNumber, currency: el("currency").value, description: el("description").value };
  if (JSON.stringify(order?.body) !== JSON.stringify(body)) order = { body, key: random() };
  if (await attempt(() => post("/v1/charges", order.key, body))) order = null;
};
el("sign-in").onclick = signIn;
el("sign-out").onclick = () => signOut();
el("more").onclick = () => attempt(() => load(next));

try {
  if (location.pathname === "/callback") await finishSignIn();
} catch (error) {
  signOut(error.message);
}
if (token) {
  el("signed-out").hidden = true;
  el("signed-in").hidden = false;
  keepListening();
}
