// npm `openid-client` with DPoP-bound tokens (RFC 9449): the nonces of both servers, and refusals of
// stolen tokens. `oauth4webapi` verifies our tokens, proofs and metadata as an API does.
// usage: node possession.mjs ISSUER

import assert from "node:assert/strict";
import * as oidc from "openid-client";
import * as oauth from "oauth4webapi";
import {
  EVERYTHING, ISSUER, NATIVE_CALLBACK, WEB_CALLBACK,
  answered, charges, discovered, isChallenged, isRefused, native, run, service, signedIn, web,
} from "./desk.mjs";

const NATIVE_SCOPE = "openid read:charges";
const insecure = { [oauth.allowInsecureRequests]: true };

// DPoP handle with a new key: makes proofs and stores the nonces of each server.
const handle = async (client, alg) => oidc.getDPoPHandle(client, await oidc.randomDPoPKeyPair(alg));

// Requests that `client` sends during `call`, each with the status of its response.
async function sent(client, call) {
  const exchanges = [];
  const send = client[oidc.customFetch] ?? fetch;
  client[oidc.customFetch] = async (url, options) => {
    const response = await send(url, options);
    const { pathname } = new URL(url);
    // in a new minute a success carries a nonce, too
    const told = !response.ok && response.headers.has("dpop-nonce") ? " with a nonce" : "";
    exchanges.push({ url, options, seen: `${pathname} ${response.status}${told}` });
    return response;
  };
  try {
    return { result: await call(), exchanges, seen: exchanges.map(({ seen }) => seen) };
  } finally {
    client[oidc.customFetch] = send;
  }
}

const checks = {
  async "the metadata of both servers lists the algorithms of proofs"() {
    const { dpop_signing_alg_values_supported: algorithms } = web.serverMetadata();
    assert.ok(algorithms.includes("ES256"));
    const found = await oauth.resourceDiscoveryRequest(ISSUER, insecure);
    const api = await oauth.processResourceDiscoveryResponse(ISSUER, found);
    assert.deepEqual(api.authorization_servers, [web.serverMetadata().issuer]);
    assert.deepEqual(api.bearer_methods_supported, ["header"]);
    assert.deepEqual(api.dpop_signing_alg_values_supported, algorithms);
    assert.ok(api.scopes_supported.includes("read:charges"));
  },

  async "a client gets the nonce of each server once"() {
    const dpop = await handle(service);
    const buy = () => oidc.clientCredentialsGrant(service, { scope: "read:charges" }, { DPoP: dpop });
    const first = await sent(service, buy);
    assert.deepEqual(first.seen, ["/token 400 with a nonce", "/token 200"]);
    assert.equal(first.result.token_type, "dpop");
    const call = () => charges(service, first.result, dpop);
    const called = await sent(service, call);
    assert.deepEqual(called.seen, ["/v1/charges 401 with a nonce", "/v1/charges 200"]);
    assert.deepEqual((await sent(service, call)).seen, ["/v1/charges 200"]);
    // one nonce per origin: here both servers share it
    const back = await sent(service, buy);
    assert.deepEqual(back.seen, ["/token 400 with a nonce", "/token 200"]);
  },

  async "a code is redeemed for tokens bound to the client's key"() {
    const dpop = await handle(web);
    const tokens = await signedIn(web, WEB_CALLBACK, { dpop });
    assert.deepEqual([tokens.token_type, tokens.scope], ["dpop", EVERYTHING]);
    assert.equal((await charges(web, tokens, dpop)).status, 200);
    const told = await oidc.tokenIntrospection(web, tokens.access_token);
    assert.deepEqual([told.active, told.token_type], [true, "DPoP"]);
    assert.equal(told.cnf.jkt, await dpop.calculateThumbprint());
    const person = await oidc.fetchUserInfo(web, tokens.access_token, tokens.claims().sub, { DPoP: dpop });
    assert.equal(person.name, "Ada Lovelace");
  },

  async "a code with dpop_jkt requires that key"() {
    const [own, other] = [await handle(native), await handle(native)];
    for (const pushed of [false, true]) {
      const options = { scope: NATIVE_SCOPE, pushed, dpop: own };
      const { answer, checks } = await answered(native, NATIVE_CALLBACK, options);
      const redeem = (dpop) => oidc.authorizationCodeGrant(native, answer, checks, undefined, { DPoP: dpop });
      await assert.rejects(redeem(other), { status: 400 });
      await assert.rejects(redeem(undefined), { status: 400 });
      const tokens = await redeem(own);
      assert.equal((await charges(native, tokens, own)).status, 200);
    }
  },

  async "a pushed request requires the nonce, too"() {
    const dpop = await handle(web);
    const { result, seen } = await sent(web, () => signedIn(web, WEB_CALLBACK, { pushed: true, dpop }));
    assert.deepEqual(seen, ["/par 400 with a nonce", "/par 201", "/token 200"]);
    assert.equal((await charges(web, result, dpop)).status, 200);
  },

  async "a public client's refresh token requires its key"() {
    const [own, other] = [await handle(native), await handle(native)];
    const first = await signedIn(native, NATIVE_CALLBACK, { scope: NATIVE_SCOPE, dpop: own });
    const refresh = (dpop) => oidc.refreshTokenGrant(native, first.refresh_token, undefined, { DPoP: dpop });
    await assert.rejects(refresh(other), { status: 400 });
    await assert.rejects(refresh(undefined), { status: 400 });
    const second = await refresh(own);
    assert.notEqual(second.refresh_token, first.refresh_token);
    assert.equal(second.token_type, "dpop");
    assert.equal((await charges(native, second, own)).status, 200);
    await isChallenged(charges(native, second, other), "invalid_token");
  },

  async "a confidential client may refresh with another key"() {
    const [old, fresh] = [await handle(web), await handle(web)];
    const first = await signedIn(web, WEB_CALLBACK, { dpop: old });
    const second = await oidc.refreshTokenGrant(web, first.refresh_token, undefined, { DPoP: fresh });
    assert.equal((await charges(web, second, fresh)).status, 200);
    await isChallenged(charges(web, second, old), "invalid_token");
  },

  async "a stolen token is refused with another key, without a key, with a replayed proof"() {
    const [own, thief] = [await handle(service), await handle(service)];
    const tokens = await oidc.clientCredentialsGrant(service, { scope: "read:charges" }, { DPoP: own });
    await isChallenged(charges(service, tokens, thief), "invalid_token");
    await isChallenged(charges(service, tokens), "invalid_token");
    await isChallenged(oidc.fetchUserInfo(service, tokens.access_token, oidc.skipSubjectCheck), "invalid_token");
    const { exchanges } = await sent(service, () => charges(service, tokens, own));
    const { url, options } = exchanges.at(-1);
    const replayed = await fetch(url, options);
    assert.equal(replayed.status, 401);
    assert.match(replayed.headers.get("www-authenticate"), /^DPoP .*error="invalid_dpop_proof"/);
    const plain = await oidc.clientCredentialsGrant(service, { scope: "read:charges" });
    await isChallenged(charges(service, plain, own), "invalid_token");
    assert.equal((await charges(service, plain)).status, 200);
  },

  async "a challenge links to the metadata of the API"() {
    const refused = await charges(service, { access_token: "none" }).catch((thrown) => thrown);
    const [bearer] = refused.cause;
    const url = new URL(bearer.parameters.resource_metadata);
    const found = await oauth.processResourceDiscoveryResponse(ISSUER, await fetch(url));
    assert.equal(new URL(found.resource).href, ISSUER.href);
  },

  async "oauth4webapi accepts the token (RFC 9068) and the proof (RFC 9449)"() {
    const dpop = await handle(service);
    const tokens = await oidc.clientCredentialsGrant(service, { scope: "read:charges" }, { DPoP: dpop });
    const { exchanges } = await sent(service, () => charges(service, tokens, dpop));
    const { url, options } = exchanges.at(-1);
    const read = (scheme) => {
      const headers = new Headers(options.headers);
      headers.set("authorization", `${scheme} ${tokens.access_token}`);
      const call = new Request(url, { method: "GET", headers });
      return oauth.validateJwtAccessToken(service.serverMetadata(), call, ISSUER.origin, insecure);
    };
    const claims = await read("DPoP");
    assert.equal(claims.cnf.jkt, await dpop.calculateThumbprint());
    assert.deepEqual([claims.client_id, claims.scope], ["demo-service", "read:charges"]);
    await assert.rejects(read("Bearer"));
  },

  async "EdDSA keys are accepted"() {
    const dpop = await handle(service, "Ed25519");
    const tokens = await oidc.clientCredentialsGrant(service, { scope: "read:charges" }, { DPoP: dpop });
    assert.equal((await charges(service, tokens, dpop)).status, 200);
  },
};

await run(checks, "proofs of possession");
