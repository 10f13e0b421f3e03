// Shared by the suites: the GraphQL endpoint, a token, and a recording `fetch`.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";

const ISSUER = new URL(process.argv[2]);
export const GRAPH = new URL("/graphql", ISSUER).href;

export const sha256 = (text) => createHash("sha256").update(text).digest("hex");

// A token of demo-service with all its scopes.
export async function bearer() {
  const response = await fetch(new URL("/token", ISSUER), {
    method: "POST",
    headers: { authorization: `Basic ${btoa("demo-service:demo-service-secret")}` },
    body: new URLSearchParams({ grant_type: "client_credentials", scope: "read:charges write:charges write:refunds" }),
  });
  assert.equal(response.status, 200);
  return `Bearer ${(await response.json()).access_token}`;
}

// A `fetch` that records the method of each request, and whether it has a text, a hash or a batch.
export function listening() {
  const said = [];
  const listen = async (url, options) => {
    const body = options.body ? JSON.parse(options.body) : Object.fromEntries(new URL(url).searchParams);
    const told = (one) => [one.query ? "text" : null, one.extensions ? "hash" : null].filter(Boolean).join("+");
    said.push(`${options.method} ${Array.isArray(body) ? `[${body.map(told)}]` : told(body)}`);
    return fetch(url, options);
  };
  return { said, listen };
}

// Runs the checks of a suite; ends at the first failure.
export async function run(checks, about) {
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
    } catch (error) {
      console.error(`interop: ${name}: failed`);
      throw error;
    }
    console.log(`  ok  ${name}`);
  }
  console.log(`interop: ${Object.keys(checks).length} checks of ${about} agree`);
}
