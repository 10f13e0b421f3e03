// `@defer` of the service with Relay: npm `relay-compiler` compiles against the printed schema, and
// `relay-runtime` merges the parts that `meros` splits.
// usage: node relay.mjs ISSUER

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { meros } from "meros/browser";
import relay from "relay-runtime";
import { GRAPH, bearer, run } from "./desk.mjs";

const { Environment, Network, Observable, RecordSource, Store, createOperationDescriptor, getSingularSelector } = relay;
const authorization = await bearer();
const folder = fileURLToPath(new URL(".", import.meta.url));
const compiler = fileURLToPath(new URL("node_modules/relay-compiler/cli.js", import.meta.url));
const require = createRequire(import.meta.url);

const post = (query, variables, accept) =>
  fetch(GRAPH, { method: "POST", headers: { authorization, accept, "content-type": "application/json" }, body: JSON.stringify({ query, variables }) });

// The network layer of Relay's documentation for incremental delivery: an entry of `incremental` is
// a payload with its label and path.
const network = Network.create(({ text }, variables) =>
  Observable.create((sink) => {
    const read = async () => {
      const response = await post(text, variables, "multipart/mixed;deferSpec=20220824, application/json");
      assert.equal(response.headers.get("content-type"), 'multipart/mixed;boundary=graphql;deferSpec=20220824');
      for await (const { json, body } of await meros(response)) {
        assert.ok(json);
        const { incremental, hasNext, ...first } = body;
        const payloads = incremental ?? [first];
        for (const [at, payload] of payloads.entries()) {
          sink.next({ ...payload, extensions: { is_final: !hasNext && at === payloads.length - 1 } });
        }
      }
    };
    read().then(() => sink.complete(), (error) => sink.error(error));
  }));

const checks = {
  "relay-compiler takes the printed schema and @defer"() {
    // the compiler knows this ending only
    copyFileSync(`${folder}schema.graphqls`, `${folder}schema.graphql`);
    execFileSync(process.execPath, [compiler, "relay.config.json"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  },

  async "relay-runtime merges deferred fragments"() {
    const { data } = await (await post('mutation { createCharge(amount: 650, currency: "eur") { id } }', {}, "application/json")).json();
    const query = require("./relay/__generated__/DeferredQuery.graphql.js");
    const environment = new Environment({ network, store: new Store(new RecordSource()), deferDeduplicatedFields: true });
    const operation = createOperationDescriptor(query, { first: 2 });
    let payloads = 0;
    await new Promise((resolve, reject) => environment.execute({ operation }).subscribe({ next: () => (payloads += 1), error: reject, complete: resolve }));
    assert.ok(payloads > 2, `${payloads} payloads`);
    const page = environment.lookup(operation.fragment).data;
    assert.equal(page.viewer.subject, "demo-service");
    const { node } = page.charges.edges[0];
    assert.equal(node.id, data.createCharge.id);
    const fragment = (name, of) => environment.lookup(getSingularSelector(require(`./relay/__generated__/${name}.graphql.js`), of));
    const rest = fragment("Deferred_rest", node);
    const { amount, currency, customer } = rest.data;
    assert.deepEqual({ amount, currency, customer }, { amount: 650, currency: "eur", customer: null });
    const state = fragment("Deferred_state", rest.data);
    assert.deepEqual(state.data, { status: "succeeded", version: 1 });
    assert.ok(!rest.isMissingData && !state.isMissingData);
  },
};

await run(checks, "Relay");
