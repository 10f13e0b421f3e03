// GraphQL of the service with npm clients: the audits of `graphql-http`, persisted queries and batches
// of Apollo Client and urql, deferred fragments of Apollo Client, and the schema that the service printed to `schema.graphqls`.
// usage: node graph.mjs ISSUER

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { ApolloClient, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { Defer20220824Handler, GraphQL17Alpha9Handler } from "@apollo/client/incremental";
import { BatchHttpLink } from "@apollo/client/link/batch-http";
import { createPersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { Client, fetchExchange } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { buildClientSchema, buildSchema, getIntrospectionQuery, lexicographicSortSchema, printSchema } from "graphql";
import { auditServer } from "graphql-http";
import { GRAPH, bearer, listening, run, sha256 } from "./desk.mjs";

const authorization = await bearer();

// A client with an empty cache, and its recorded requests.
function apollo({ Link = HttpLink, ...options } = {}) {
  const { said, listen } = listening();
  const terminal = new Link({ uri: GRAPH, fetch: listen, headers: { authorization } });
  const link = createPersistedQueryLink({ sha256, ...options }).concat(terminal);
  return { said, client: new ApolloClient({ link, cache: new InMemoryCache() }) };
}

function urql(options = {}) {
  const { said, listen } = listening();
  const exchanges = [persistedExchange(options), fetchExchange];
  const client = new Client({ url: GRAPH, exchanges, fetch: listen, fetchOptions: { headers: { authorization } } });
  return { said, client };
}

const SUBJECT = "demo-service";
const named = (name) => `query ${name} { viewer { subject } charges(first: 1) { edges { node { id } } } }`;
const create = (name) =>
  `mutation ${name}($amount: Int!) { createCharge(amount: $amount, currency: "eur") { amount version } }`;

const checks = {
  async "all 61 audits of GraphQL over HTTP pass, the optional ones too"() {
    const audits = await auditServer({ url: GRAPH });
    const missed = audits.filter(({ status }) => status !== "ok").map(({ id, name, status, reason }) => ({ id, name, status, reason }));
    assert.deepEqual(missed, []);
    assert.equal(audits.length, 61);
  },

  async "the printed schema equals the served one, and graphql-js prints it alike"() {
    const printed = readFileSync(new URL("schema.graphqls", import.meta.url), "utf8");
    const written = (schema) => `${printSchema(lexicographicSortSchema(schema))}\n`;
    assert.equal(written(buildSchema(printed)), printed);
    const query = getIntrospectionQuery({ specifiedByUrl: true, inputValueDeprecation: true, oneOf: true });
    const headers = { authorization, "content-type": "application/json" };
    const response = await fetch(GRAPH, { method: "POST", headers, body: JSON.stringify({ query }) });
    const { data, errors } = await response.json();
    assert.equal(errors, undefined);
    assert.match(printed, /^directive @defer\(/m);
    assert.equal(written(buildClientSchema(data)), printed);
  },

  async "Apollo Client sends a text once, then only its hash, also from another client"() {
    for (const [useGETForHashedQueries, hash] of [[false, "POST hash"], [true, "GET hash"]]) {
      const query = gql(named(useGETForHashedQueries ? "ApolloByGet" : "Apollo"));
      const [first, second] = [apollo({ useGETForHashedQueries }), apollo({ useGETForHashedQueries })];
      for (const { client } of [first, second]) {
        const { data, error } = await client.query({ query });
        assert.equal(error, undefined);
        assert.equal(data.viewer.subject, SUBJECT);
      }
      assert.deepEqual(first.said, [hash, "POST text+hash"]);
      assert.deepEqual(second.said, [hash]);
    }
  },

  async "Apollo Client merges deferred fragments in both formats"() {
    await apollo().client.mutate({ mutation: gql(create("ForDeferred")), variables: { amount: 600 } });
    const query = gql(`query Deferred {
      viewer { subject }
      ... @defer { charges(first: 1) { edges { node { id ... @defer { amount } } } } }
    }`);
    for (const [incrementalHandler, format] of [
      [new Defer20220824Handler(), "deferSpec=20220824"],
      [new GraphQL17Alpha9Handler(), "incrementalSpec=v0.2"],
    ]) {
      const types = [];
      const listen = async (url, options) => {
        const response = await fetch(url, options);
        types.push(response.headers.get("content-type"));
        return response;
      };
      const link = new HttpLink({ uri: GRAPH, fetch: listen, headers: { authorization } });
      const client = new ApolloClient({ link, cache: new InMemoryCache(), incrementalHandler });
      const results = await new Promise((resolve, reject) => {
        const results = [];
        client.watchQuery({ query }).subscribe((result) => {
          if (result.error) reject(result.error);
          results.push(result);
          if (result.dataState === "complete" && !result.loading) resolve(results);
        });
      });
      const withData = results.filter(({ data }) => data?.viewer);
      assert.equal(withData[0].data.charges, undefined);
      const { data } = withData.at(-1);
      assert.equal(data.viewer.subject, SUBJECT);
      assert.equal(typeof data.charges.edges[0].node.amount, "number");
      assert.deepEqual(types, [`multipart/mixed;boundary=graphql;${format}`]);
    }
  },

  async "Apollo Client persists a mutation and always sends it by POST"() {
    const mutation = gql(create("ApolloCreate"));
    const { said, client } = apollo({ useGETForHashedQueries: true });
    for (const amount of [700, 701]) {
      const { data } = await client.mutate({ mutation, variables: { amount } });
      assert.deepEqual([data.createCharge.amount, data.createCharge.version], [amount, 1]);
    }
    assert.deepEqual(said, ["POST hash", "POST text+hash", "POST hash"]);
  },

  async "Apollo Client gets the error of an invalid operation and keeps sending hashes"() {
    const { said, client } = apollo();
    await assert.rejects(client.query({ query: gql("query Wrong { viewer { shoeSize } }") }), ({ errors }) => {
      assert.deepEqual(errors.map(({ extensions }) => extensions.code), ["GRAPHQL_VALIDATION_FAILED"]);
      return true;
    });
    await client.query({ query: gql(named("Apollo")) });
    assert.deepEqual(said, ["POST hash", "POST text+hash", "POST hash"]);
  },

  async "Apollo Client batches texts and hashes"() {
    const { said, client } = apollo({ Link: BatchHttpLink });
    const ask = () => ["BatchedOne", "BatchedTwo"].map((name) => client.query({ query: gql(named(name)), fetchPolicy: "network-only" }));
    for (const answers of [await Promise.all(ask()), await Promise.all(ask())]) {
      assert.deepEqual(answers.map(({ data }) => data.viewer.subject), [SUBJECT, SUBJECT]);
    }
    assert.deepEqual(said, ["POST [hash,hash]", "POST [text+hash,text+hash]", "POST [hash,hash]"]);
  },

  async "urql sends a text once, then only its hash, by GET and by POST"() {
    for (const [preferGetForPersistedQueries, method] of [[undefined, "GET"], ["force", "GET"], [false, "POST"]]) {
      const query = named(`Urql${preferGetForPersistedQueries ?? ""}`);
      const [first, second] = [urql({ preferGetForPersistedQueries }), urql({ preferGetForPersistedQueries })];
      for (const { client } of [first, second]) {
        const { data, error } = await client.query(query, {}).toPromise();
        assert.equal(error, undefined);
        assert.equal(data.viewer.subject, SUBJECT);
      }
      assert.deepEqual(first.said, [`${method} hash`, `${method} text+hash`]);
      assert.deepEqual(second.said, [`${method} hash`]);
    }
  },

  async "urql persists a mutation and always sends it by POST"() {
    const { said, client } = urql({ enableForMutation: true, preferGetForPersistedQueries: "force" });
    for (const amount of [800, 801]) {
      const { data, error } = await client.mutation(create("UrqlCreate"), { amount }).toPromise();
      assert.equal(error, undefined);
      assert.equal(data.createCharge.amount, amount);
    }
    assert.deepEqual(said, ["POST hash", "POST text+hash", "POST hash"]);
  },
};

await run(checks, "the graph");
