// MSAL for Node against the service behind TLS: sign-in, token from the cache, refresh.
// usage: NODE_EXTRA_CA_CERTS=CERTIFICATE node msal_node.mjs ISSUER

import assert from "node:assert/strict";
import { ConfidentialClientApplication, CryptoProvider, PublicClientApplication } from "@azure/msal-node";
import { Browser } from "../openid-client/browser.mjs";

const ISSUER = new URL(process.argv[2]);
const PERSON = { email: "ada@example.com", password: "correct horse battery staple" };
const SCOPES = ["read:charges", "email"];
// the two settings that an authority other than Microsoft's needs
const AUTHORITY = { authority: ISSUER.origin, knownAuthorities: [ISSUER.host] };
const system = { protocolMode: "OIDC" };

async function signsIn(application, redirectUri) {
  const { verifier, challenge } = await new CryptoProvider().generatePkceCodes();
  const request = { scopes: SCOPES, redirectUri, state: "state of the session" };
  const url = await application.getAuthCodeUrl({ ...request, codeChallenge: challenge, codeChallengeMethod: "S256" });
  const back = await new Browser().signIn(new URL(url), new URL(redirectUri), { person: PERSON });
  const code = back.searchParams.get("code");
  const tokens = await application.acquireTokenByCode({ ...request, code, codeVerifier: verifier });
  assert.equal(tokens.idTokenClaims.sub, "usr_ada");
  const [account] = await application.getTokenCache().getAllAccounts();
  const cached = await application.acquireTokenSilent({ account, scopes: SCOPES });
  assert.deepEqual([cached.fromCache, cached.accessToken], [true, tokens.accessToken]);
  const renewed = await application.acquireTokenSilent({ account, scopes: SCOPES, forceRefresh: true });
  assert.equal(renewed.fromCache, false);
  assert.notEqual(renewed.accessToken, tokens.accessToken);
  const headers = { authorization: `Bearer ${renewed.accessToken}` };
  assert.equal((await fetch(new URL("/v1/charges", ISSUER), { headers })).status, 200);
}

// MSAL sends the secret in the form
const web = new ConfidentialClientApplication({
  auth: { ...AUTHORITY, clientId: "demo-post", clientSecret: "demo-post-secret" }, system,
});
await signsIn(web, "http://127.0.0.1:9999/callback");
console.log("  ✓ MSAL for Node, web application: sign-in, token from the cache, refresh");
const native = new PublicClientApplication({ auth: { ...AUTHORITY, clientId: "demo-native" }, system });
await signsIn(native, "http://127.0.0.1:53219/callback");
console.log("  ✓ MSAL for Node, native application: sign-in, token from the cache, refresh");
