// npm `openid-client` as a client of the service: every flow that both support, and refusals.
// usage: node relying_party.mjs ISSUER

import assert from "node:assert/strict";
import * as oidc from "openid-client";
import * as oauth from "oauth4webapi";
import { Browser } from "./browser.mjs";
import {
  EVERYTHING, ISSUER, NATIVE_CALLBACK, PERSON, WEB_CALLBACK,
  answered, charges, discovered, isChallenged, isRefused, native, request, run, service, signedIn, web,
} from "./desk.mjs";

// the robot authenticates with private_key_jwt; this demo key is public
const ROBOT_KEY = { kty: "EC", crv: "P-256", x: "VbPAsZ2OPmp88PaTKKiTQ1c7fPBQrbydb2MEGT3WeJs", y: "73d5GJUIaBUv5YYN2YnprF4OTZiOg5UHy2Nasnb5Ul0", d: "ziHHJz_3s2yWQkM6v6vLzp9q8pegWFR-vLDurx18844" };
const signedBy = async (jwk) => {
  const key = await crypto.subtle.importKey("jwk", jwk, { name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]);
  return discovered("demo-robot", oidc.PrivateKeyJwt({ key, kid: "robot-1" }));
};
const robot = await signedBy(ROBOT_KEY);

const isActive = async (token) => (await oidc.tokenIntrospection(web, token)).active;
const isUnauthorized = (call) => isChallenged(call, undefined);

const checks = {
  async "OpenID Connect discovery and RFC 8414 metadata agree"() {
    const other = await discovered("demo-web", undefined, { algorithm: "oauth2" });
    const { supportsPKCE, ...metadata } = web.serverMetadata();
    assert.ok(web.serverMetadata().supportsPKCE());
    assert.deepEqual({ ...other.serverMetadata(), supportsPKCE: undefined }, { ...metadata, supportsPKCE: undefined });
  },

  async "code flow with PKCE: the user signs in and the client calls the API"() {
    const tokens = await signedIn(web, WEB_CALLBACK);
    const { sub, email, name, aud, at_hash } = tokens.claims();
    assert.deepEqual([sub, email, name, aud], ["usr_ada", PERSON.email, "Ada Lovelace", "demo-web"]);
    assert.ok(at_hash);
    assert.equal(tokens.token_type, "bearer");
    assert.equal(tokens.scope, EVERYTHING);
    assert.equal((await charges(web, tokens)).status, 200);
  },

  async "the access token follows RFC 9068"() {
    const tokens = await signedIn(web, WEB_CALLBACK);
    const call = new Request(new URL("/v1/charges", ISSUER), {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    const claims = await oauth.validateJwtAccessToken(web.serverMetadata(), call, ISSUER.origin, {
      [oauth.allowInsecureRequests]: true,
    });
    assert.equal(claims.client_id, "demo-web");
    assert.equal(claims.scope, EVERYTHING);
  },

  async "a native application signs in without a secret, on any port"() {
    const tokens = await signedIn(native, NATIVE_CALLBACK, { scope: "openid read:charges" });
    assert.equal(tokens.claims().aud, "demo-native");
    const next = await oidc.refreshTokenGrant(native, tokens.refresh_token);
    assert.equal((await charges(web, next)).status, 200);
  },

  async "a denial reaches the client as access_denied"() {
    // without the prompt, the consent of an earlier sign-in suffices
    const { url, checks } = await request(web, WEB_CALLBACK, { prompt: "consent" });
    const answer = await new Browser().signIn(url, WEB_CALLBACK, { person: PERSON, allow: false });
    await assert.rejects(oidc.authorizationCodeGrant(web, answer, checks), { error: "access_denied" });
  },

  async "a wrong code_verifier is refused and does not consume the code"() {
    const { answer, checks } = await answered(web, WEB_CALLBACK);
    const guess = { ...checks, pkceCodeVerifier: oidc.randomPKCECodeVerifier() };
    await isRefused(oidc.authorizationCodeGrant(web, answer, guess), "invalid_grant");
    assert.ok((await oidc.authorizationCodeGrant(web, answer, checks)).access_token);
  },

  async "one of four redemptions of a code succeeds, and a replay revokes its tokens"() {
    const { answer, checks } = await answered(web, WEB_CALLBACK);
    const calls = Array.from({ length: 4 }, () => oidc.authorizationCodeGrant(web, answer, checks));
    const bought = (await Promise.allSettled(calls)).filter(({ status }) => status === "fulfilled");
    assert.equal(bought.length, 1);
    await isRefused(oidc.authorizationCodeGrant(web, answer, checks), "invalid_grant");
    const [{ value: tokens }] = bought;
    assert.equal(await isActive(tokens.access_token), false);
    await isRefused(oidc.refreshTokenGrant(web, tokens.refresh_token), "invalid_grant");
  },

  async "userinfo returns the claims of the scopes until revocation"() {
    const tokens = await signedIn(web, WEB_CALLBACK);
    const { sub } = tokens.claims();
    const told = await oidc.fetchUserInfo(web, tokens.access_token, sub);
    assert.deepEqual(told, { sub, email: PERSON.email, name: "Ada Lovelace" });
    const less = await signedIn(web, WEB_CALLBACK, { scope: "openid profile" });
    assert.equal(less.claims().email, undefined);
    assert.deepEqual(await oidc.fetchUserInfo(web, less.access_token, sub), { sub, name: "Ada Lovelace" });
    const narrow = await oidc.refreshTokenGrant(web, less.refresh_token, { scope: "profile" });
    await isChallenged(oidc.fetchUserInfo(web, narrow.access_token, sub), "insufficient_scope", 403);
    await oidc.tokenRevocation(web, tokens.refresh_token);
    await isChallenged(oidc.fetchUserInfo(web, tokens.access_token, sub), "invalid_token", 401);
  },

  async "a refresh rotates the token and keeps the subject"() {
    const first = await signedIn(web, WEB_CALLBACK);
    const second = await oidc.refreshTokenGrant(web, first.refresh_token);
    assert.notEqual(second.refresh_token, first.refresh_token);
    assert.equal(second.claims().sub, first.claims().sub);
    assert.equal(second.claims().auth_time, first.claims().auth_time);
    const narrow = await oidc.refreshTokenGrant(web, second.refresh_token, { scope: "read:charges" });
    assert.equal(narrow.scope, "read:charges");
    await isRefused(oidc.refreshTokenGrant(web, narrow.refresh_token, { scope: "write:refunds" }), "invalid_scope");
    const whole = await oidc.refreshTokenGrant(web, narrow.refresh_token);
    assert.equal(whole.scope, EVERYTHING);
  },

  async "reuse: four uses of one refresh token revoke the token family"() {
    const tokens = await signedIn(web, WEB_CALLBACK);
    const calls = Array.from({ length: 4 }, () => oidc.refreshTokenGrant(web, tokens.refresh_token));
    const rotated = (await Promise.allSettled(calls)).filter(({ status }) => status === "fulfilled");
    assert.equal(rotated.length, 1);
    const [{ value: next }] = rotated;
    await isRefused(oidc.refreshTokenGrant(web, next.refresh_token), "invalid_grant");
    assert.equal(await isActive(next.access_token), false);
  },

  async "introspection describes active tokens to their audience"() {
    const tokens = await signedIn(web, WEB_CALLBACK);
    const told = await oidc.tokenIntrospection(web, tokens.access_token);
    const { active, sub, client_id, token_type, iss, aud, scope } = told;
    assert.deepEqual(
      { active, sub, client_id, token_type, iss, aud, scope },
      { active: true, sub: "usr_ada", client_id: "demo-web", token_type: "Bearer", iss: web.serverMetadata().issuer, aud: ISSUER.origin, scope: EVERYTHING },
    );
    assert.ok(await isActive(tokens.refresh_token));
    assert.deepEqual(await oidc.tokenIntrospection(web, "unknown"), { active: false });
    assert.deepEqual(await oidc.tokenIntrospection(service, tokens.refresh_token), { active: false });
    await isUnauthorized(oidc.tokenIntrospection(native, tokens.access_token));
  },

  async "revoking an access token ends it alone, a refresh token its family"() {
    const tokens = await signedIn(web, WEB_CALLBACK);
    await oidc.tokenRevocation(service, tokens.refresh_token);
    assert.ok(await isActive(tokens.refresh_token), "another client ended it");
    await oidc.tokenRevocation(web, tokens.access_token, { token_type_hint: "access_token" });
    assert.equal(await isActive(tokens.access_token), false);
    const next = await oidc.refreshTokenGrant(web, tokens.refresh_token);
    await oidc.tokenRevocation(web, next.refresh_token);
    assert.equal(await isActive(next.access_token), false);
    assert.equal(await isActive(next.refresh_token), false);
    await oidc.tokenRevocation(web, "unknown");
  },

  async "a pushed request can be used once"() {
    const { url, checks } = await request(web, WEB_CALLBACK, { pushed: true });
    assert.deepEqual([...url.searchParams.keys()].sort(), ["client_id", "request_uri"]);
    const answer = await new Browser().signIn(url, WEB_CALLBACK, { person: PERSON });
    const tokens = await oidc.authorizationCodeGrant(web, answer, checks);
    assert.equal(tokens.claims().sub, "usr_ada");
    const again = await new Browser().signIn(url, WEB_CALLBACK, { person: PERSON });
    await assert.rejects(oidc.authorizationCodeGrant(web, again, checks), { error: "invalid_request_uri" });
  },

  async "client credentials"() {
    const tokens = await oidc.clientCredentialsGrant(service, { scope: "read:charges" });
    assert.equal(tokens.refresh_token ?? tokens.id_token, undefined);
    assert.equal(tokens.scope, "read:charges");
    assert.equal((await charges(web, tokens)).status, 200);
    await isRefused(oidc.clientCredentialsGrant(service, { scope: "openid" }), "invalid_scope");
    await isRefused(oidc.clientCredentialsGrant(web), "unauthorized_client");
  },

  async "private_key_jwt: one assertion per request"() {
    assert.ok(robot.serverMetadata().token_endpoint_auth_methods_supported.includes("private_key_jwt"));
    const tokens = await oidc.clientCredentialsGrant(robot, { scope: "read:charges" });
    assert.equal((await charges(web, tokens)).status, 200);
    assert.equal((await oidc.tokenIntrospection(robot, tokens.access_token)).client_id, "demo-robot");
    await oidc.tokenRevocation(robot, tokens.access_token);
    assert.equal(await isActive(tokens.access_token), false);
  },

  async "an assertion is refused on replay, with another key or audience"() {
    let sent;
    const send = robot[oidc.customFetch];
    robot[oidc.customFetch] = (url, options) => {
      sent = { url, options };
      return (send ?? fetch)(url, options);
    };
    await oidc.clientCredentialsGrant(robot, { scope: "read:charges" });
    robot[oidc.customFetch] = send;
    assert.equal((await fetch(sent.url, sent.options)).status, 401);
    const { publicKey: _, privateKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign"]);
    const thief = await signedBy(await crypto.subtle.exportKey("jwk", privateKey));
    await isUnauthorized(oidc.clientCredentialsGrant(thief));
  },

  async "a wrong secret is refused"() {
    const thief = await discovered("demo-service", oidc.ClientSecretBasic("demo-service-secreT"));
    await isUnauthorized(oidc.clientCredentialsGrant(thief));
  },
};

await run(checks, "sign-ins");
