// npm clients as they come, against the service: sign-in, refresh and what else each can do. The only
// option is the one that turns PKCE on, where a client has it off by default.
// usage: node stock.mjs ISSUER

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { Auth, skipCSRFCheck } from "@auth/core";
import { OAuth2Client as BadgatewayClient } from "@badgateway/oauth2-client";
import { OAuth2Client, CodeChallengeMethod, generateCodeVerifier, generateState } from "arctic";
import NextAuth from "next-auth";
import * as oauth from "oauth4webapi";
import { Issuer, custom, generators } from "openid-client";
import OAuth2Strategy from "passport-oauth2";
import OpenIDConnectStrategy from "passport-openidconnect";
import { AuthorizationCode } from "simple-oauth2";
import { Browser } from "../openid-client/browser.mjs";

const ISSUER = new URL(process.argv[2]).origin;
const PERSON = { email: "ada@example.com", password: "correct horse battery staple" };
const APPLICATION = "http://127.0.0.1:9999";
const CALLBACK = new URL("/callback", APPLICATION);
const SIGNED_OUT = new URL("/signed-out", APPLICATION);
const WEB = { id: "demo-web", secret: "demo-web-secret" };
// registered for client_secret_post, which passport uses
const POST = { id: "demo-post", secret: "demo-post-secret" };
// its registration relaxes `state`
const STATELESS = { id: "demo-stateless", secret: "demo-stateless-secret" };
const SCOPE = "openid email profile read:charges";

const endpoint = (path) => new URL(path, ISSUER).href;
const signIn = (url, callback = CALLBACK, browser = new Browser()) =>
  browser.signIn(new URL(url), callback, { person: PERSON });

async function apiAccepts(token) {
  const response = await fetch(endpoint("/v1/charges"), { headers: { authorization: `Bearer ${token}` } });
  assert.equal(response.status, 200);
}

// Opens `url` in a browser that is signed in; returns the parameters of the redirect to the client.
async function silently(browser, url) {
  const response = await browser.open(new URL(url));
  const location = new URL(response.headers.get("location"));
  assert.equal(location.origin + location.pathname, CALLBACK.href);
  return location;
}

// Checks that a sign-out ends the session: the next silent request needs a sign-in.
async function signsOut(browser, url, silentUrl) {
  const response = await browser.open(new URL(url));
  const location = new URL(response.headers.get("location"));
  assert.equal(location.origin + location.pathname, SIGNED_OUT.href);
  const after = await silently(browser, silentUrl);
  assert.equal(after.searchParams.get("error"), "login_required");
}

const checks = {
  async "openid-client 5: sign-in with RS256 and no nonce, userinfo, refresh, silent renewal, introspection, sign-out"() {
    const issuer = await Issuer.discover(ISSUER);
    const client = new issuer.Client({
      client_id: WEB.id, client_secret: WEB.secret, redirect_uris: [CALLBACK.href], response_types: ["code"],
    });
    const start = (more = {}) => {
      const checks = { state: generators.state(), code_verifier: generators.codeVerifier() };
      const code_challenge = generators.codeChallenge(checks.code_verifier);
      const { state } = checks;
      const url = client.authorizationUrl({ scope: SCOPE, state, code_challenge, code_challenge_method: "S256", ...more });
      return { url, checks };
    };
    const finish = (url, checks) => client.callback(CALLBACK.href, client.callbackParams(url), checks);
    const browser = new Browser();
    const { url, checks } = start();
    const tokens = await finish((await signIn(url, CALLBACK, browser)).href, checks);
    assert.equal(tokens.claims().sub, "usr_ada");
    assert.equal((await client.userinfo(tokens)).email, PERSON.email);
    const refreshed = await client.refresh(tokens);
    assert.equal(refreshed.claims().sub, "usr_ada");
    await apiAccepts(refreshed.access_token);
    assert.equal((await client.introspect(refreshed.access_token)).active, true);

    const again = start({ prompt: "none", id_token_hint: tokens.id_token });
    const renewed = await finish((await silently(browser, again.url)).href, again.checks);
    await apiAccepts(renewed.access_token);
    const out = client.endSessionUrl({ id_token_hint: tokens.id_token, post_logout_redirect_uri: SIGNED_OUT.href });
    await signsOut(browser, out, start({ prompt: "none" }).url);
    const revoked = await client.introspect(refreshed.access_token);
    assert.equal(revoked.active, false);
  },

  async "openid-client 5: private_key_jwt with its default audience and algorithm"() {
    const issuer = await Issuer.discover(ISSUER);
    const jwk = { kty: "EC", crv: "P-256", kid: "robot-1", x: "VbPAsZ2OPmp88PaTKKiTQ1c7fPBQrbydb2MEGT3WeJs", y: "73d5GJUIaBUv5YYN2YnprF4OTZiOg5UHy2Nasnb5Ul0", d: "ziHHJz_3s2yWQkM6v6vLzp9q8pegWFR-vLDurx18844" };
    const client = new issuer.Client({ client_id: "demo-robot", token_endpoint_auth_method: "private_key_jwt" }, { keys: [jwk] });
    const tokens = await client.grant({ grant_type: "client_credentials", scope: "read:charges" });
    await apiAccepts(tokens.access_token);
  },

  async "NextAuth 4: sign-in with its checks `pkce` and `state`, session"() {
    process.env.NEXTAUTH_URL = APPLICATION;
    const options = {
      secret: "a secret of the application", logger: { error() {}, warn() {}, debug() {} },
      providers: [{
        id: "desk", name: "Desk", type: "oauth", wellKnown: endpoint("/.well-known/openid-configuration"),
        idToken: true, checks: ["pkce", "state"], clientId: WEB.id, clientSecret: WEB.secret,
        authorization: { params: { scope: SCOPE } },
        profile: ({ sub, name, email }) => ({ id: sub, name, email }),
      }],
    };
    const cookies = {};
    // a route of Next.js, without Next.js
    const call = (segments, { method = "GET", query = {}, body } = {}) => new Promise((resolve, reject) => {
      const headers = {};
      const answer = (more) => {
        for (const line of [headers["set-cookie"] ?? []].flat()) {
          const [name, value] = line.split(";")[0].split("=");
          cookies[name] = decodeURIComponent(value);
        }
        resolve({ redirect: headers.location, ...more });
      };
      const req = { method, headers: {}, query: { ...query, nextauth: segments }, body, cookies: { ...cookies } };
      const res = {
        status: () => res,
        getHeader: (name) => headers[name.toLowerCase()],
        setHeader: (name, value) => { headers[name.toLowerCase()] = value; return res; },
        json: (body) => answer({ body }), send: (body) => answer({ body }), end: () => answer({}),
        redirect: (status, to) => answer({ redirect: to ?? status }),
      };
      (NextAuth.default ?? NextAuth)(req, res, options).catch(reject);
    });
    const { body } = await call(["csrf"]);
    const begun = await call(["signin", "desk"], { method: "POST", body: { csrfToken: body.csrfToken } });
    const back = await signIn(begun.redirect, new URL("/api/auth/callback/desk", APPLICATION));
    const query = Object.fromEntries(back.searchParams);
    const finished = await call(["callback", "desk"], { query });
    assert.ok(!finished.redirect.includes("error"), finished.redirect);
    const session = await call(["session"]);
    assert.deepEqual([session.body.user.name, session.body.user.email], ["Ada Lovelace", PERSON.email]);
  },

  async "Auth.js 5: sign-in with its default checks, without state and nonce; session"() {
    const config = {
      trustHost: true, secret: "a secret of the application", skipCSRFCheck,
      providers: [{
        id: "desk", name: "Desk", type: "oidc", issuer: ISSUER, clientId: STATELESS.id, clientSecret: STATELESS.secret,
      }],
    };
    const cookies = {};
    // a route of a framework, without the framework
    const call = async (path, init) => {
      const cookie = Object.entries(cookies).map((pair) => pair.join("=")).join("; ");
      const response = await Auth(new Request(new URL(path, APPLICATION), { headers: { cookie }, ...init }), config);
      for (const line of response.headers.getSetCookie()) {
        const [, name, value] = line.match(/^([^=]+)=([^;]*)/);
        cookies[name] = value;
      }
      return response;
    };
    const begun = await call("/auth/signin/desk", { method: "POST" });
    const back = await signIn(begun.headers.get("location"), new URL("/auth/callback/desk", APPLICATION));
    assert.equal(back.searchParams.has("state"), false);
    const finished = await call(back);
    assert.ok(!finished.headers.get("location").includes("error"), finished.headers.get("location"));
    const session = await (await call("/auth/session")).json();
    assert.deepEqual([session.user.name, session.user.email], ["Ada Lovelace", PERSON.email]);
  },

  async "@badgateway/oauth2-client: sign-in with PKCE, refresh, introspection, revocation"() {
    const client = new BadgatewayClient({ server: ISSUER, clientId: WEB.id, clientSecret: WEB.secret });
    const [state, codeVerifier] = [generateState(), generateCodeVerifier()];
    const request = { redirectUri: CALLBACK.href, state, codeVerifier };
    const url = await client.authorizationCode.getAuthorizeUri({ ...request, scope: SCOPE.split(" ") });
    const back = await signIn(url);
    const tokens = await client.authorizationCode.getTokenFromCodeRedirect(back.href, request);
    const next = await client.refreshToken(tokens);
    await apiAccepts(next.accessToken);
    assert.equal((await client.introspect(next)).active, true);
    await client.revoke(next);
    assert.equal((await client.introspect(next)).active, false);
  },

  async "simple-oauth2: sign-in with PKCE, refresh, revocation"() {
    const client = new AuthorizationCode({
      client: WEB, auth: { tokenHost: ISSUER, authorizePath: "/authorize", tokenPath: "/token", revokePath: "/oauth/revoke" },
    });
    // the package passes the parameters of PKCE on
    const [redirect_uri, state, code_verifier] = [CALLBACK.href, generateState(), generateCodeVerifier()];
    const code_challenge = createHash("sha256").update(code_verifier).digest("base64url");
    const url = client.authorizeURL({ redirect_uri, scope: SCOPE, state, code_challenge, code_challenge_method: "S256" });
    const code = (await signIn(url)).searchParams.get("code");
    const token = await (await client.getToken({ code, redirect_uri, code_verifier })).refresh();
    await apiAccepts(token.token.access_token);
    await token.revokeAll();
    await assert.rejects(token.refresh());
  },

  async "oauth4webapi: sign-in without nonce, refresh, revocation"() {
    const insecure = { [oauth.allowInsecureRequests]: true };
    const issuer = new URL(ISSUER);
    const found = await oauth.discoveryRequest(issuer, insecure);
    const as = await oauth.processDiscoveryResponse(issuer, found);
    const client = { client_id: WEB.id };
    const authentication = oauth.ClientSecretBasic(WEB.secret);
    const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
    const url = new URL(as.authorization_endpoint);
    url.search = new URLSearchParams({
      client_id: WEB.id, redirect_uri: CALLBACK.href, response_type: "code", scope: SCOPE, state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256",
    });
    const params = oauth.validateAuthResponse(as, client, await signIn(url), state);
    const answer = await oauth.authorizationCodeGrantRequest(as, client, authentication, params, CALLBACK.href, verifier, insecure);
    const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer, { requireIdToken: true });
    assert.equal(oauth.getValidatedIdTokenClaims(tokens).sub, "usr_ada");
    const refresh = await oauth.refreshTokenGrantRequest(as, client, authentication, tokens.refresh_token, insecure);
    const next = await oauth.processRefreshTokenResponse(as, client, refresh);
    await apiAccepts(next.access_token);
    const revoked = await oauth.revocationRequest(as, client, authentication, next.refresh_token, insecure);
    await oauth.processRevocationResponse(revoked);
  },

  async "arctic: sign-in with PKCE, without nonce; refresh, revocation"() {
    const client = new OAuth2Client(WEB.id, WEB.secret, CALLBACK.href);
    const [state, verifier] = [generateState(), generateCodeVerifier()];
    const url = client.createAuthorizationURLWithPKCE(endpoint("/authorize"), state, CodeChallengeMethod.S256, verifier, SCOPE.split(" "));
    const back = await signIn(url);
    assert.equal(back.searchParams.get("state"), state);
    const tokens = await client.validateAuthorizationCode(endpoint("/token"), back.searchParams.get("code"), verifier);
    assert.ok(tokens.idToken());
    const next = await client.refreshAccessToken(endpoint("/token"), tokens.refreshToken(), []);
    await apiAccepts(next.accessToken());
    await client.revokeToken(endpoint("/oauth/revoke"), next.refreshToken());
  },

  async "passport-oauth2: sign-in with `pkce` and `state`"() {
    await passport(new OAuth2Strategy({
      authorizationURL: endpoint("/authorize"), tokenURL: endpoint("/token"), clientID: POST.id,
      clientSecret: POST.secret, callbackURL: CALLBACK.href, scope: SCOPE, state: true, pkce: true,
    }, (access, refresh, profile, done) => done(null, { access })));
  },

  async "passport-openidconnect: sign-in with PKCE by its two hooks"() {
    // the package knows no PKCE: its hooks add the challenge and the verifier
    const verifier = randomBytes(32).toString("base64url");
    const code_challenge = createHash("sha256").update(verifier).digest("base64url");
    const strategy = new OpenIDConnectStrategy({
      issuer: ISSUER, authorizationURL: endpoint("/authorize"), tokenURL: endpoint("/token"),
      userInfoURL: endpoint("/userinfo"), clientID: POST.id, clientSecret: POST.secret, callbackURL: CALLBACK.href,
      scope: SCOPE,
    }, (issuer, profile, context, idToken, access, refresh, done) => done(null, { access, profile }));
    strategy.authorizationParams = () => ({ code_challenge, code_challenge_method: "S256" });
    const { getOAuthAccessToken } = strategy._oauth2;
    strategy._oauth2.getOAuthAccessToken = function (code, params, done) {
      getOAuthAccessToken.call(this, code, { ...params, code_verifier: verifier }, done);
    };
    const user = await passport(strategy);
    assert.equal(user.profile.id, "usr_ada");
  },

  async "an application that sends no state signs in if its registration allows that, and no other"() {
    const verifier = generators.codeVerifier();
    const url = (id) => `${endpoint("/authorize")}?${new URLSearchParams({
      client_id: id, redirect_uri: CALLBACK.href, response_type: "code", scope: SCOPE,
      code_challenge: generators.codeChallenge(verifier), code_challenge_method: "S256",
    })}`;
    const client = new OAuth2Client(STATELESS.id, STATELESS.secret, CALLBACK.href);
    const code = (await signIn(url(STATELESS.id))).searchParams.get("code");
    await apiAccepts((await client.validateAuthorizationCode(endpoint("/token"), code, verifier)).accessToken());
    const refused = await signIn(url(WEB.id));
    assert.equal(refused.searchParams.get("error"), "invalid_request");
    assert.match(refused.searchParams.get("error_description"), /state/);
  },

  async "without PKCE every client is refused, with a description"() {
    const url = new URL(endpoint("/authorize"));
    url.search = new URLSearchParams({ client_id: WEB.id, redirect_uri: CALLBACK.href, response_type: "code", scope: SCOPE, state: "s" });
    const refused = await signIn(url);
    assert.equal(refused.searchParams.get("error"), "invalid_request");
    assert.match(refused.searchParams.get("error_description"), /code_challenge/);
  },
};

// Runs a strategy of passport as its middleware does: a redirect, then the callback.
async function passport(strategy) {
  const request = (query) => ({ query, body: {}, session, headers: {}, connection: {}, url: "/callback", method: "GET" });
  const session = {};
  const run = (query) => new Promise((resolve, reject) => {
    const bound = Object.create(strategy);
    Object.assign(bound, {
      redirect: (to) => resolve({ to }), success: (user) => resolve({ user }), error: reject,
      fail: (why) => reject(new Error(why?.message ?? String(why))), pass: () => reject(new Error("passed")),
    });
    bound.authenticate(request(query), {});
  });
  const { to } = await run({});
  const back = await signIn(to);
  const { user } = await run(Object.fromEntries(back.searchParams));
  await apiAccepts(user.access);
  return user;
}

custom.setHttpOptionsDefaults({ timeout: 20_000 });
for (const [name, check] of Object.entries(checks)) {
  await check();
  console.log(`  ✓ ${name}`);
}
