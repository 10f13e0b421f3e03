// Shared by the suites: the clients of the service and the sign-in of the demo user.

import assert from "node:assert/strict";
import * as oidc from "openid-client";
import { Browser } from "./browser.mjs";

export const ISSUER = new URL(process.argv[2]);
// the demo's user and clients, as the service registers them
export const PERSON = { email: "ada@example.com", password: "correct horse battery staple" };
export const WEB_CALLBACK = new URL("http://127.0.0.1:9999/callback");
// a native application listens on any port; its registration names none
export const NATIVE_CALLBACK = new URL("http://127.0.0.1:53219/callback");
// the service sorts scopes
export const EVERYTHING = "email openid profile read:charges write:charges";

const execute = [oidc.allowInsecureRequests];
export const discovered = (id, authentication, options = {}) =>
  oidc.discovery(ISSUER, id, undefined, authentication, { execute: [...execute, oidc.enableNonRepudiationChecks], ...options });

export const web = await discovered("demo-web", oidc.ClientSecretBasic("demo-web-secret"));
export const native = await discovered("demo-native", oidc.None());
export const service = await discovered("demo-service", oidc.ClientSecretBasic("demo-service-secret"));

// An authorization request: its URL and the checks for its response. With a DPoP handle, the code is
// bound to its key.
export async function request(client, callback, { scope = EVERYTHING, prompt, pushed = false, dpop } = {}) {
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
    ...(prompt && { prompt }),
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

// openid-client reads the challenge instead of the body.
export const isChallenged = (call, error, status = 401) =>
  assert.rejects(call, (thrown) => {
    assert.deepEqual([thrown.status, thrown.cause?.[0]?.parameters.error], [status, error], String(thrown));
    return true;
  });

export const charges = (client, tokens, dpop) =>
  oidc.fetchProtectedResource(client, tokens.access_token, new URL("/v1/charges", ISSUER), "GET", undefined, undefined, { DPoP: dpop });

// Runs the checks of a suite; ends at the first failure.
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
