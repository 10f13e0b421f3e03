// What every suite here knows of the service and its clients, and how it signs somebody in.

import assert from "node:assert/strict";
import * as oidc from "openid-client";
import { Browser } from "./browser.mjs";

export const ISSUER = new URL(process.argv[2]);
// the demo's user and clients, as the service puts them into its database
export const PERSON = { email: "ada@example.com", password: "correct horse battery staple" };
export const WEB_CALLBACK = new URL("http://127.0.0.1:9999/callback");
// a native application listens wherever there is room; its registration names no port
export const NATIVE_CALLBACK = new URL("http://127.0.0.1:53219/callback");
// the service names scopes in order
export const EVERYTHING = "email openid profile read:charges write:charges";

const execute = [oidc.allowInsecureRequests];
export const discovered = (id, authentication, options = {}) =>
  oidc.discovery(ISSUER, id, undefined, authentication, { execute: [...execute, oidc.enableNonRepudiationChecks], ...options });

export const web = await discovered("demo-web", oidc.ClientSecretBasic("demo-web-secret"));
export const native = await discovered("demo-native", oidc.None());
export const service = await discovered("demo-service", oidc.ClientSecretBasic("demo-service-secret"));

// One authorization request: where to send the browser, and what its answer is checked against. With a handle of a key it is bound to
// that from its beginning.
export async function request(client, callback, { scope = EVERYTHING, pushed = false, dpop } = {}) {
  const checks = {
    pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
    expectedState: oidc.randomState(),
    expectedNonce: oidc.randomNonce(),
    idTokenExpected: true,
  };
  const parameters = {
    redirect_uri: callback.href,
    scope,
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: "S256",
    ...(dpop && !pushed && { dpop_jkt: await dpop.calculateThumbprint() }),
  };
  const build = pushed ? oidc.buildAuthorizationUrlWithPAR : oidc.buildAuthorizationUrl;
  return { url: await build(client, parameters, { DPoP: dpop }), checks };
}

export async function answered(client, callback, options) {
  const { url, checks } = await request(client, callback, options);
  const answer = await new Browser().signIn(url, callback, { person: PERSON });
  return { answer, checks };
}

export async function signedIn(client, callback, options) {
  const { answer, checks } = await answered(client, callback, options);
  return oidc.authorizationCodeGrant(client, answer, checks, undefined, { DPoP: options?.dpop });
}

export const isRefused = (call, error) => assert.rejects(call, { error, status: 400 });

// With a challenge the peer reads that and leaves the body.
export const isChallenged = (call, error, status = 401) =>
  assert.rejects(call, (thrown) => {
    assert.deepEqual([thrown.status, thrown.cause?.[0]?.parameters.error], [status, error], String(thrown));
    return true;
  });

export const charges = (client, tokens, dpop) =>
  oidc.fetchProtectedResource(client, tokens.access_token, new URL("/v1/charges", ISSUER), "GET", undefined, undefined, { DPoP: dpop });

// Runs what a suite checks, by name, and ends at the first that fails.
export async function run(checks, subject) {
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
    } catch (error) {
      console.error(`interop: ${name}: failed`);
      throw error;
    }
    console.log(`  ok  ${name}`);
  }
  console.log(`interop: ${Object.keys(checks).length} checks of ${subject} with npm openid-client agree`);
}
