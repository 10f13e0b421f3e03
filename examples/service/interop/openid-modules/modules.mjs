// The modules of the OpenID Connect conformance plans Basic, Config, RP-Initiated Logout and
// Back-Channel Logout, restated for the service: each with PKCE, which the service requires.
// Compares the outcome with README.md.
// usage: node modules.mjs ISSUER [--update]

import assert from "node:assert/strict";
import { createHash, createVerify, createPublicKey, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { Browser } from "../openid-client/browser.mjs";

const ISSUER = new URL(process.argv[2]).origin;
const PERSON = { email: "ada@example.com", password: "correct horse battery staple" };
const CALLBACK = new URL("http://127.0.0.1:9999/callback");
const SIGNED_OUT = "http://127.0.0.1:9999/signed-out";
const LOGOUT = new URL("http://127.0.0.1:9999/backchannel-logout");
const WEB = { id: "demo-web", secret: "demo-web-secret" };
const POST = { id: "demo-post", secret: "demo-post-secret" };
const TABLE = new URL(process.argv.find((word) => word.startsWith("--table="))?.slice(8) ?? "README.md", import.meta.url);

const endpoint = (path) => new URL(path, ISSUER);
const random = () => randomBytes(32).toString("base64url");
const part = (token, index) => JSON.parse(Buffer.from(token.split(".")[index], "base64url"));
const json = async (url, options) => (await fetch(url, options)).json();

function authorizationUrl({ client = WEB, ...more } = {}) {
  const verifier = random();
  const parameters = {
    client_id: client.id, redirect_uri: CALLBACK.href, response_type: "code", scope: "openid", state: random(), nonce: random(),
    code_challenge: createHash("sha256").update(verifier).digest("base64url"), code_challenge_method: "S256", ...more,
  };
  for (const [name, value] of Object.entries(parameters)) if (value === undefined) delete parameters[name];
  const url = endpoint("/authorize");
  url.search = new URLSearchParams(parameters);
  return { url, verifier, ...parameters };
}

// The parameters of the redirect to the client.
async function authorize(request, browser = new Browser()) {
  const back = await browser.signIn(request.url, CALLBACK, { person: PERSON });
  const found = Object.fromEntries(back.searchParams);
  assert.equal(found.state, request.state);
  assert.equal(found.iss, ISSUER);
  return found;
}

function tokenRequest(form, client = WEB, inForm = false) {
  const authorization = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString("base64")}`;
  const secret = { client_id: client.id, client_secret: client.secret };
  const body = new URLSearchParams({ ...form, ...(inForm && secret) });
  return fetch(endpoint("/token"), { method: "POST", body, headers: inForm ? {} : { authorization } });
}

const redeem = (request, code, client, inForm) =>
  tokenRequest({ grant_type: "authorization_code", code, redirect_uri: CALLBACK.href, code_verifier: request.verifier }, client, inForm);

async function signIn(more = {}, browser) {
  const request = authorizationUrl(more);
  const { code, error } = await authorize(request, browser);
  assert.equal(error, undefined);
  const response = await redeem(request, code, more.client, more.client === POST);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("cache-control"), "no-store");
  const tokens = await response.json();
  const claims = await verified(tokens.id_token);
  assert.equal(claims.nonce, request.nonce);
  assert.equal(claims.aud, request.client_id);
  return { ...tokens, claims, request, code };
}

async function verified(token) {
  const { alg, kid } = part(token, 0);
  assert.equal(alg, "RS256");
  const { keys } = await json(endpoint("/.well-known/jwks.json"));
  const key = createPublicKey({ key: keys.find((key) => key.kid === kid), format: "jwk" });
  const [signed, signature] = [token.slice(0, token.lastIndexOf(".")), token.split(".")[2]];
  assert.ok(createVerify("RSA-SHA256").update(signed).verify(key, Buffer.from(signature, "base64url")));
  const claims = part(token, 1);
  assert.equal(claims.iss, ISSUER);
  assert.ok(claims.exp > Date.now() / 1000 && claims.iat <= Date.now() / 1000 + 5);
  return claims;
}

async function userinfo(token, options = { headers: { authorization: `Bearer ${token}` } }) {
  const response = await fetch(endpoint("/userinfo"), options);
  assert.equal(response.status, 200);
  const user = await response.json();
  assert.equal(user.sub, "usr_ada");
  return user;
}

// A request in a browser that is signed in and has the consent for the same scopes.
async function signedIn() {
  const browser = new Browser();
  return { browser, first: await signIn({}, browser) };
}

const isPage = async (response) => {
  assert.equal(response.status, 400);
  assert.equal(response.headers.get("location"), null);
  assert.match(response.headers.get("content-type"), /^text\/html/);
};

// The page that an interactive request leads to in a browser that is signed in.
async function page(browser, request) {
  let url = request.url;
  for (let step = 0; step < 5; step += 1) {
    const response = await browser.open(url);
    const location = response.headers.get("location");
    if (!location) return url.pathname;
    url = new URL(location, url);
    if (url.origin !== ISSUER) return url.href;
  }
  throw new Error(`too many redirects: ${url}`);
}

const endSession = (browser, parameters) => {
  const url = endpoint("/end_session");
  url.search = new URLSearchParams(parameters);
  return browser.open(url);
};
const isSignedIn = async (browser) => {
  const request = authorizationUrl({ prompt: "none" });
  const location = new URL((await browser.open(request.url)).headers.get("location"));
  return location.searchParams.has("code");
};
const asksFirst = async (parameters) => {
  const { browser, first } = await signedIn();
  const response = await endSession(browser, parameters(first));
  assert.equal(response.status, 200);
  assert.match(await response.text(), /Sign out\?/);
  assert.ok(await isSignedIn(browser));
};
const refusesSignOut = async (parameters) => {
  const { browser, first } = await signedIn();
  await isPage(await endSession(browser, parameters(first)));
  assert.ok(await isSignedIn(browser));
};
const succeeds = (more) => async () => { await signIn(more); };

const modules = {
  "oidcc-server": succeeds({}),
  async "oidcc-response-type-missing"() {
    const { error } = await authorize(authorizationUrl({ response_type: undefined }));
    assert.equal(error, "invalid_request");
  },
  async "oidcc-userinfo-get"() { await userinfo((await signIn()).access_token); },
  async "oidcc-userinfo-post-header"() {
    const { access_token: token } = await signIn();
    await userinfo(token, { method: "POST", headers: { authorization: `Bearer ${token}` } });
  },
  async "oidcc-userinfo-post-body"() {
    const { access_token } = await signIn();
    await userinfo(undefined, { method: "POST", body: new URLSearchParams({ access_token }) });
  },
  "oidcc-ensure-request-without-nonce-succeeds-for-code-flow": succeeds({ nonce: undefined }),
  async "oidcc-scope-profile"() {
    const { access_token } = await signIn({ scope: "openid profile" });
    assert.equal((await userinfo(access_token)).name, "Ada Lovelace");
  },
  async "oidcc-scope-email"() {
    const { access_token } = await signIn({ scope: "openid email" });
    assert.equal((await userinfo(access_token)).email, PERSON.email);
  },
  "oidcc-scope-address": "the service has no scope `address`",
  "oidcc-scope-phone": "the service has no scope `phone`",
  "oidcc-scope-all": "the service has neither `address` nor `phone`",
  async "oidcc-ensure-other-scope-order-succeeds"() {
    assert.equal((await signIn({ scope: "email openid" })).claims.email, PERSON.email);
  },
  "oidcc-display-page": succeeds({ display: "page" }),
  "oidcc-display-popup": succeeds({ display: "popup" }),
  async "oidcc-prompt-login"() {
    const { browser } = await signedIn();
    assert.equal(await page(browser, authorizationUrl({ prompt: "login" })), "/login");
  },
  async "oidcc-prompt-none-not-logged-in"() {
    assert.equal((await authorize(authorizationUrl({ prompt: "none" }))).error, "login_required");
  },
  async "oidcc-prompt-none-logged-in"() {
    const { browser, first } = await signedIn();
    const second = await signIn({ prompt: "none" }, browser);
    assert.deepEqual([second.claims.sub, second.claims.auth_time], [first.claims.sub, first.claims.auth_time]);
  },
  async "oidcc-max-age-1"() {
    const { browser } = await signedIn();
    await new Promise((resolve) => { setTimeout(resolve, 1_500); });
    assert.equal(await page(browser, authorizationUrl({ max_age: "1" })), "/login");
  },
  async "oidcc-max-age-10000"() {
    const { browser, first } = await signedIn();
    const second = await signIn({ max_age: "10000" }, browser);
    assert.equal(second.claims.auth_time, first.claims.auth_time);
  },
  "oidcc-ensure-request-with-unknown-parameter-succeeds": succeeds({ extra: "foobar" }),
  async "oidcc-id-token-hint"() {
    const { browser, first } = await signedIn();
    const second = await signIn({ prompt: "none", id_token_hint: first.id_token }, browser);
    assert.equal(second.claims.sub, first.claims.sub);
  },
  "oidcc-login-hint": succeeds({ login_hint: PERSON.email }),
  "oidcc-ui-locales": succeeds({ ui_locales: "se" }),
  "oidcc-claims-locales": succeeds({ claims_locales: "se" }),
  "oidcc-ensure-request-with-acr-values-succeeds": succeeds({ acr_values: "1 2" }),
  async "oidcc-codereuse"() {
    const { request, code, access_token, refresh_token } = await signIn();
    const again = await redeem(request, code);
    assert.deepEqual([again.status, (await again.json()).error], [400, "invalid_grant"]);
    assert.equal((await fetch(endpoint("/userinfo"), { headers: { authorization: `Bearer ${access_token}` } })).status, 401);
    const refresh = await tokenRequest({ grant_type: "refresh_token", refresh_token });
    assert.equal(refresh.status, 400);
  },
  "oidcc-codereuse-30seconds": "the same as `oidcc-codereuse`: the code is refused at once, for as long as its family is kept",
  async "oidcc-ensure-registered-redirect-uri"() {
    const { url } = authorizationUrl({ redirect_uri: "http://127.0.0.1:9999/other" });
    await isPage(await new Browser().open(url));
  },
  "oidcc-server-client-secret-post": succeeds({ client: POST }),
  async "oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported"() {
    const { error } = await authorize(authorizationUrl({ request: "eyJhbGciOiJub25lIn0.e30." }));
    assert.equal(error, "request_not_supported");
  },
  "oidcc-claims-essential": succeeds({ claims: JSON.stringify({ userinfo: { name: { essential: true } } }) }),
  "oidcc-ensure-request-object-with-redirect-uri": "the service refuses request objects",
  async "oidcc-refresh-token"() {
    const { refresh_token, claims } = await signIn();
    const response = await tokenRequest({ grant_type: "refresh_token", refresh_token });
    assert.equal(response.status, 200);
    const tokens = await response.json();
    const renewed = await verified(tokens.id_token);
    assert.deepEqual([renewed.sub, renewed.aud, renewed.auth_time, renewed.nonce], [claims.sub, claims.aud, claims.auth_time, undefined]);
    assert.notEqual(tokens.refresh_token, refresh_token);
  },
  "oidcc-ensure-request-with-valid-pkce-succeeds": succeeds({}),

  async "oidcc-server (response_mode=form_post)"() {
    const { browser } = await signedIn();
    const request = authorizationUrl({ response_mode: "form_post", prompt: "none" });
    const response = await browser.open(request.url);
    assert.equal(response.status, 200);
    const page = await response.text();
    assert.ok(page.includes(`action="${CALLBACK.href}"`));
    const inputs = [...page.matchAll(/name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]);
    const { code, state, iss } = Object.fromEntries(inputs);
    assert.deepEqual([state, iss], [request.state, ISSUER]);
    assert.equal((await redeem(request, code)).status, 200);
  },
  async "oidcc-server (response_mode=fragment)"() {
    const { browser } = await signedIn();
    // by default a client cannot request it
    const request = authorizationUrl({ response_mode: "fragment", prompt: "none" });
    const response = await browser.open(request.url);
    assert.equal(new URL(response.headers.get("location")).searchParams.get("error"), "invalid_request");
  },

  async "oidcc-discovery-endpoint-verification"() {
    const metadata = await json(endpoint("/.well-known/openid-configuration"));
    assert.equal(metadata.issuer, ISSUER);
    for (const name of ["authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri"]) assert.equal(new URL(metadata[name]).origin, ISSUER, name);
    assert.deepEqual(metadata.response_types_supported, ["code"]);
    assert.deepEqual(metadata.subject_types_supported, ["public"]);
    assert.ok(metadata.id_token_signing_alg_values_supported.includes("RS256"));
    assert.ok(metadata.scopes_supported.includes("openid"));
    assert.ok(metadata.claims_supported.length > 0);
    const { keys } = await json(metadata.jwks_uri);
    assert.ok(keys.every(({ kid, use, d }) => kid && use === "sig" && d === undefined));
  },

  async "oidcc-rp-initiated-logout-discovery-endpoint-verification"() {
    const metadata = await json(endpoint("/.well-known/openid-configuration"));
    assert.equal(metadata.end_session_endpoint, endpoint("/end_session").href);
  },
  async "oidcc-rp-initiated-logout"() {
    const { browser, first } = await signedIn();
    const state = random();
    const response = await endSession(browser, { id_token_hint: first.id_token, post_logout_redirect_uri: SIGNED_OUT, state });
    assert.equal(response.headers.get("location"), `${SIGNED_OUT}?state=${state}`);
    assert.equal(await isSignedIn(browser), false);
  },
  "oidcc-rp-initiated-logout-bad-post-logout-redirect-uri": () =>
    refusesSignOut(({ id_token }) => ({ id_token_hint: id_token, post_logout_redirect_uri: "https://evil.example/" })),
  "oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri": () =>
    refusesSignOut(({ id_token }) => ({ id_token_hint: id_token, post_logout_redirect_uri: `${SIGNED_OUT}?a=b` })),
  "oidcc-rp-initiated-logout-bad-id-token-hint": () =>
    refusesSignOut(() => ({ id_token_hint: "bad", post_logout_redirect_uri: SIGNED_OUT })),
  "oidcc-rp-initiated-logout-modified-id-token-hint": () =>
    refusesSignOut(({ id_token }) => {
      const [header, , signature] = id_token.split(".");
      const claims = Buffer.from(JSON.stringify({ ...part(id_token, 1), sub: "eve" })).toString("base64url");
      return { id_token_hint: [header, claims, signature].join("."), post_logout_redirect_uri: SIGNED_OUT };
    }),
  "oidcc-rp-initiated-logout-no-id-token-hint": () =>
    asksFirst(() => ({ client_id: WEB.id, post_logout_redirect_uri: SIGNED_OUT })),
  "oidcc-rp-initiated-logout-no-params": () => asksFirst(() => ({})),
  "oidcc-rp-initiated-logout-only-state": () => asksFirst(() => ({ state: random() })),
  async "oidcc-rp-initiated-logout-no-post-logout-redirect-uri"() {
    const { browser, first } = await signedIn();
    const response = await endSession(browser, { id_token_hint: first.id_token });
    assert.equal(new URL(response.headers.get("location"), ISSUER).origin, ISSUER);
    assert.equal(await isSignedIn(browser), false);
  },
  async "oidcc-rp-initiated-logout-no-state"() {
    const { browser, first } = await signedIn();
    const response = await endSession(browser, { id_token_hint: first.id_token, post_logout_redirect_uri: SIGNED_OUT });
    assert.equal(response.headers.get("location"), SIGNED_OUT);
    assert.equal(await isSignedIn(browser), false);
  },
  async "oidcc-backchannel-logout-discovery-endpoint-verification"() {
    const metadata = await json(endpoint("/.well-known/openid-configuration"));
    assert.equal(metadata.end_session_endpoint, endpoint("/end_session").href);
    assert.equal(metadata.backchannel_logout_supported, true);
    assert.equal(metadata.backchannel_logout_session_supported, true);
  },
  async "oidcc-backchannel-rp-initiated-logout"() {
    const { browser, first } = await signedIn();
    const request = await logoutRequest(first.claims.sid, async () => {
      const response = await endSession(browser, { id_token_hint: first.id_token, post_logout_redirect_uri: SIGNED_OUT });
      assert.equal(response.headers.get("location"), SIGNED_OUT);
    });
    assert.deepEqual([request.method, request.url], ["POST", LOGOUT.pathname]);
    assert.equal(request.type, "application/x-www-form-urlencoded");
    const token = new URLSearchParams(request.body).get("logout_token");
    const claims = await verified(token);
    assert.equal(part(token, 0).typ, "logout+jwt");
    assert.deepEqual([claims.aud, claims.sub, claims.sid], [WEB.id, first.claims.sub, first.claims.sid]);
    assert.deepEqual(claims.events, { "http://schemas.openid.net/event/backchannel-logout": {} });
    assert.ok(claims.jti && claims.exp - claims.iat <= 120 && claims.nonce === undefined);
  },
  "oidcc-frontchannel-rp-initiated-logout": "front-channel logout needs third-party cookies; the service does not offer it",
  "oidcc-session-management-rp-initiated-logout": "session management needs third-party cookies; the service does not offer it",
};

// The request to the URL for logout tokens that is about the session `sid`, while `run` runs and for ten
// seconds after it. The service also repeats those of earlier modules.
async function logoutRequest(sid, run) {
  const listener = createServer();
  const received = new Promise((resolve, reject) => {
    listener.on("request", async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      response.writeHead(200, { "cache-control": "no-store" }).end();
      const body = Buffer.concat(chunks).toString();
      const found = { method: request.method, url: request.url, type: request.headers["content-type"], body };
      if (part(new URLSearchParams(body).get("logout_token"), 1).sid === sid) resolve(found);
    });
    setTimeout(() => reject(new Error("no logout token came")), 10_000).unref();
  });
  // `run` may fail first
  received.catch(() => {});
  await once(listener.listen(LOGOUT.port, LOGOUT.hostname), "listening");
  try {
    await run();
    return await received;
  } finally {
    listener.close();
    listener.closeAllConnections();
  }
}

const rows = ["| module | outcome |", "|---|---|"];
for (const [name, check] of Object.entries(modules)) {
  const applies = typeof check === "function";
  if (applies) {
    try {
      await check();
    } catch (error) {
      console.error(`${name}: failed`);
      throw error;
    }
  }
  rows.push(`| \`${name}\` | ${applies ? "passes" : `does not apply: ${check}`} |`);
}
const [start, end] = ["<!-- modules -->\n", "<!-- end -->"];
const text = await readFile(TABLE, "utf8");
const [before, rest] = text.split(start);
const updated = `${before}${start}\n${rows.join("\n")}\n\n${end}${rest.split(end)[1]}`;
if (process.argv.includes("--update")) await writeFile(TABLE, updated);
else assert.equal(text, updated, "README.md does not list these outcomes: run modules.mjs with --update");
console.log(`  ✓ ${Object.values(modules).filter((check) => typeof check === "function").length} of ${rows.length - 2} modules apply and pass`);
