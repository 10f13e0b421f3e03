// Trusted documents: the service runs only the operations of `listed.json`, which Apollo Client and
// urql send by id.
// usage: node listed.mjs ISSUER

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { ApolloClient, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { createPersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { Client, fetchExchange } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { getOperationAST } from "graphql";
import { GRAPH, bearer, listening, run, sha256 } from "./desk.mjs";

const LISTED = JSON.parse(readFileSync(new URL("listed.json", import.meta.url), "utf8"));
const authorization = await bearer();

// Ids of the operations by name, as a client's build writes them.
const ids = new Map(Object.entries(LISTED).map(([id, text]) => [getOperationAST(gql(text)).name.value, id]));
const idOf = (document) => ids.get(getOperationAST(document)?.name?.value) ?? sha256("unlisted");

function apollo() {
  const { said, listen } = listening();
  const terminal = new HttpLink({ uri: GRAPH, fetch: listen, headers: { authorization } });
  const link = createPersistedQueryLink({ generateHash: idOf }).concat(terminal);
  return { said, client: new ApolloClient({ link, cache: new InMemoryCache() }) };
}

function urql(options) {
  const { said, listen } = listening();
  const persisted = persistedExchange({ enforcePersistedQueries: true, enableForMutation: true, ...options });
  const exchanges = [persisted, fetchExchange];
  const client = new Client({ url: GRAPH, exchanges, fetch: listen, fetchOptions: { headers: { authorization } } });
  return { said, client };
}

const codes = ({ errors, graphQLErrors }) => (errors ?? graphQLErrors).map(({ extensions }) => extensions.code);

const checks = {
  async "Apollo Client sends ids of the list"() {
    const { said, client } = apollo();
    const { data } = await client.query({ query: gql(LISTED["viewer-1"]) });
    assert.equal(data.viewer.subject, "demo-service");
    const { data: created } = await client.mutate({ mutation: gql(LISTED["create-1"]), variables: { amount: 900 } });
    assert.equal(created.createCharge.amount, 900);
    assert.deepEqual(said, ["POST hash", "POST hash"]);
  },

  async "Apollo Client gets an error for an unlisted id and does not send the text"() {
    const { said, client } = apollo();
    await assert.rejects(client.query({ query: gql("query Free { charges(first: 1) { edges { node { id } } } }") }), (error) => {
      assert.deepEqual(codes(error), ["PERSISTED_QUERY_NOT_IN_LIST"]);
      return true;
    });
    assert.deepEqual(said, ["POST hash"]);
  },

  async "urql sends ids of the list, and anything else is refused"() {
    for (const [preferGetForPersistedQueries, method] of [["force", "GET"], [false, "POST"]]) {
      const { said, client } = urql({ preferGetForPersistedQueries, generateHash: async (_, document) => idOf(document) });
      const listed = await client.query(LISTED["viewer-1"], {}).toPromise();
      assert.equal(listed.data.viewer.subject, "demo-service");
      const created = await client.mutation(LISTED["create-1"], { amount: 901 }).toPromise();
      assert.equal(created.data.createCharge.amount, 901);
      const free = await client.query("query Free { viewer { subject } }", {}).toPromise();
      assert.deepEqual(codes(free.error), ["PERSISTED_QUERY_NOT_IN_LIST"]);
      assert.deepEqual(said, [`${method} hash`, "POST hash", `${method} hash`]);
    }
  },

  async "a text is refused, listed or not, alone or in a batch"() {
    const post = (body) =>
      fetch(GRAPH, { method: "POST", headers: { authorization, "content-type": "application/json" }, body: JSON.stringify(body) });
    for (const query of [LISTED["viewer-1"], "{ viewer { subject } }", "{ __schema { types { name } } }"]) {
      assert.deepEqual(codes(await (await post({ query })).json()), ["PERSISTED_QUERY_ID_REQUIRED"]);
      const [first, second] = await (await post([{ documentId: "viewer-1" }, { query }])).json();
      assert.equal(first.data.viewer.subject, "demo-service");
      assert.deepEqual(codes(second), ["PERSISTED_QUERY_ID_REQUIRED"]);
    }
  },
};

await run(checks, "trusted documents");
