// The graph of the service, asked from outside: the audits of GraphQL over HTTP by npm `graphql-http`.
// usage: node graph.mjs ISSUER

import assert from "node:assert/strict";
import { auditServer } from "graphql-http";

const ISSUER = new URL(process.argv[2]);
const GRAPH = new URL("/graphql", ISSUER).href;

const checks = {
  async "all 61 audits of GraphQL over HTTP pass, the optional ones too"() {
    const audits = await auditServer({ url: GRAPH });
    const missed = audits.filter(({ status }) => status !== "ok").map(({ id, name, status, reason }) => ({ id, name, status, reason }));
    assert.deepEqual(missed, []);
    assert.equal(audits.length, 61);
  },
};

for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
  } catch (error) {
    console.error(`interop: ${name}: failed`);
    throw error;
  }
  console.log(`  ok  ${name}`);
}
console.log(`interop: ${Object.keys(checks).length} checks of the graph agree`);
