const CLIENT = "demo-native", REDIRECT = location.origin + "/callback";
const SCOPE = "openid email profile read:charges write:charges write:refunds";
const el = (id) => document.getElementById(id);
const base64url = (bytes) => btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));
let token = sessionStorage.getItem("access_token"), refresh = sessionStorage.getItem("refresh_token");
const rows = new Map();

el("sign-in").onclick = async () => {
  const verifier = random(), state = random();
  sessionStorage.setItem("pending", JSON.stringify({ verifier, state }));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const query = new URLSearchParams({ response_type: "code", client_id: CLIENT, redirect_uri: REDIRECT, scope: SCOPE, state,
    nonce: random(), code_challenge: base64url(new Uint8Array(digest)), code_challenge_method: "S256" });
  location.assign("/authorize?" + query);
};

async function finishSignIn() {
  const query = new URLSearchParams(location.search), pending = JSON.parse(sessionStorage.getItem("pending") || "null");
  sessionStorage.removeItem("pending");
  history.replaceState(null, "", "/");
  if (!pending || query.get("state") !== pending.state || query.get("iss") !== location.origin) return fail("The answer does not belong to this sign-in.");
  if (query.get("error")) return fail("Refused: " + query.get("error"));
  await askForTokens({ grant_type: "authorization_code", code: query.get("code"), redirect_uri: REDIRECT, code_verifier: pending.verifier });
}
const fail = (text) => { el("sign-in-error").textContent = text; };

async function askForTokens(form) {
  const response = await fetch("/token", { method: "POST", body: new URLSearchParams({ client_id: CLIENT, ...form }) });
  const body = await response.json();
  if (!response.ok) { signOut(); fail(body.error_description || body.error); return false; }
  token = body.access_token; refresh = body.refresh_token;
  sessionStorage.setItem("access_token", token); sessionStorage.setItem("refresh_token", refresh);
  return true;
}

async function call(path, options = {}) {
  const go = () => fetch(path, { ...options, headers: { ...options.headers, Authorization: "Bearer " + token } });
  let response = await go();
  if (response.status === 401 && await askForTokens({ grant_type: "refresh_token", refresh_token: refresh })) response = await go();
  if (!response.ok && response.status !== 401) {
    const problem = await response.clone().json().catch(() => ({ title: response.statusText }));
    el("problem").textContent = problem.title + (problem.detail ? ": " + problem.detail : "");
  }
  return response;
}

const money = (units, currency) => new Intl.NumberFormat(undefined, { style: "currency", currency }).format(units / 100);
function show(charge, first) {
  const row = rows.get(charge.id) || document.createElement("tr");
  const cells = [charge.id.slice(0, 14) + "…" + (charge.description ? " " + charge.description : ""),
    money(charge.amount, charge.currency), money(charge.amount_refunded, charge.currency), charge.status.replace("_", " ")];
  row.replaceChildren(...cells.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
  const cell = document.createElement("td");
  if (charge.status !== "refunded") {
    const button = Object.assign(document.createElement("button"), { textContent: "Refund", className: "quiet" });
    button.onclick = () => { button.disabled = true; call("/v1/charges/" + charge.id + "/refunds",
      { method: "POST", headers: { "Content-Type": "application/json", "Idempotency-Key": random() }, body: "{}" }); };
    cell.append(button);
  }
  row.append(cell);
  if (!rows.has(charge.id)) { rows.set(charge.id, row); first ? el("charges").prepend(row) : el("charges").append(row); }
}

let next = null;
async function load() {
  const response = await call("/v1/charges?limit=10" + (next ? "&after=" + encodeURIComponent(next) : ""));
  if (!response.ok) return;
  const page = await response.json();
  page.data.forEach((charge) => show(charge, false));
  next = page.next_cursor; el("more").hidden = !page.has_more;
}
el("more").onclick = load;

el("new-charge").onsubmit = async (event) => {
  event.preventDefault(); el("problem").textContent = "";
  const body = { amount: Number(el("amount").value), currency: el("currency").value, description: el("description").value };
  await call("/v1/charges", { method: "POST", headers: { "Content-Type": "application/json", "Idempotency-Key": random() }, body: JSON.stringify(body) });
};

async function listen() {
  const query = "subscription { chargeUpdated { id amount currency amountRefunded status description version } }";
  const response = await call("/graphql", { method: "POST", headers: { "Content-Type": "application/json", Accept: "text/event-stream" }, body: JSON.stringify({ query }) });
  if (!response.ok) return;
  el("live").textContent = "· live";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    text += value;
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const data = text.slice(0, end).split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5)).join("");
      const charge = data && JSON.parse(data).data?.chargeUpdated;
      if (charge) show({ ...charge, amount_refunded: charge.amountRefunded }, true);
    }
  }
  el("live").textContent = "";
  if (token) setTimeout(listen, 2000);
}

function signOut() {
  if (refresh) fetch("/oauth/revoke", { method: "POST", body: new URLSearchParams({ client_id: CLIENT, token: refresh }) });
  sessionStorage.clear(); token = refresh = null;
  el("signed-in").hidden = true; el("signed-out").hidden = false;
}
el("sign-out").onclick = signOut;

(async () => {
  if (location.pathname === "/callback") await finishSignIn();
  if (!token) return;
  el("signed-out").hidden = true; el("signed-in").hidden = false;
  await load(); listen();
})();
