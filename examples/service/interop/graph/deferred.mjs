// `@defer` and subscriptions of the service with Apollo Client 4, by both of its handlers, Apollo
// Client 3 and urql. The merged results equal those of the same operations without `@defer`.
// usage: node deferred.mjs ISSUER

import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { ApolloClient, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { ApolloClient as ApolloClient3, HttpLink as HttpLink3, InMemoryCache as InMemoryCache3 } from "@apollo/client-3/core/index.js";
import { Defer20220824Handler, GraphQL17Alpha9Handler } from "@apollo/client/incremental";
import { Client, fetchExchange, subscriptionExchange } from "@urql/core";
import { createClient as createWs } from "graphql-ws";
import { WebSocket } from "ws";
import { GRAPH, bearer, run } from "./desk.mjs";

const authorization = await bearer();
const SOCKET = Object.assign(new URL(GRAPH), { protocol: "ws:" }).href;
const PATIENCE = 20_000;

function within(promise, what) {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`${what} took too long`)), PATIENCE)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

const CREATE = `mutation Create($amount: Int!) {
  createCharge(amount: $amount, currency: "eur") { id ... @defer(label: "amount") { amount version } }
}`;

// Result for a client that does not accept parts.
async function wholeOf(query, variables) {
  const headers = { authorization, accept: "application/json", "content-type": "application/json" };
  return (await fetch(GRAPH, { method: "POST", headers, body: JSON.stringify({ query, variables }) })).json();
}

async function charged(amount) {
  const { data } = await wholeOf(CREATE, { amount });
  assert.equal(data.createCharge.amount, amount);
  return data.createCharge.id;
}

// Clients with an empty cache, and the media types of their responses.
function apollo() {
  return [
    ["Apollo Client 4, deferSpec", "deferSpec=20220824", ApolloClient, HttpLink, InMemoryCache, { incrementalHandler: new Defer20220824Handler() }],
    ["Apollo Client 4, incrementalSpec", "incrementalSpec=v0.2", ApolloClient, HttpLink, InMemoryCache, { incrementalHandler: new GraphQL17Alpha9Handler() }],
    ["Apollo Client 3", "deferSpec=20220824", ApolloClient3, HttpLink3, InMemoryCache3, {}],
  ].map(([name, format, Apollo, Link, Cache, options]) => {
    const types = [];
    const recording = async (...request) => {
      const response = await fetch(...request);
      types.push(response.headers.get("content-type"));
      return response;
    };
    const link = new Link({ uri: GRAPH, fetch: recording, headers: { authorization } });
    return { name, types, multipart: `multipart/mixed;boundary=graphql;${format}`, client: new Apollo({ link, cache: new Cache(), ...options }) };
  });
}

const plain = (data) => data && JSON.parse(JSON.stringify(data, (key, value) => (key === "__typename" ? undefined : value)));
const errorsOf = ({ error, errors }) => errors ?? error?.errors ?? error?.graphQLErrors ?? [];

// Results of a query, up to the first one that `isLast` accepts.
function watched(client, options, isLast) {
  const results = [];
  const last = new Promise((resolve, reject) => {
    const query = client.watchQuery({ errorPolicy: "all", ...options, query: gql(options.query) });
    const subscription = query.subscribe({
      next: (result) => {
        results.push({ data: plain(result.data), codes: errorsOf(result).map(({ extensions }) => extensions.code) });
        if (!isLast(results.at(-1))) return;
        setTimeout(() => subscription.unsubscribe());
        resolve(results);
      },
      error: reject,
    });
  });
  return within(last, options.query);
}

// Checks that a query arrives in parts, the first with `first`, and is whole at the end.
async function deferred(query, { first, ...options }) {
  for (const { name, client, types, multipart } of apollo()) {
    const { data: expected } = await wholeOf(query, options.variables);
    const isSame = ({ data }) => isDeepStrictEqual(data, expected);
    const results = (await watched(client, { query, ...options }, isSame)).filter(({ data }) => data && Object.keys(data).length);
    assert.deepEqual(results[0].data, first, name);
    assert.ok(results.length > 1, name);
    assert.deepEqual(types, [multipart], name);
  }
}

// the newest charges, first the last one
const ids = [];
for (const amount of [601, 602, 603]) ids.unshift(await charged(amount));
const edges = (node) => ids.map((id) => ({ node: node(id) }));

const checks = {
  async "Apollo Client: fragments of the entries of a list"() {
    await deferred('query List { charges(first: 3) { edges { node { id ... @defer(label: "rest") { amount customer { name } } } } } }', {
      first: { charges: { edges: edges((id) => ({ id })) } },
    });
  },

  async "Apollo Client: nested, overlapping and named fragments"() {
    const query = `query Nested {
      viewer { subject }
      ...Page @defer(label: "page")
      ... @defer(label: "again") { charges(first: 3) { edges { cursor node { id version } } pageInfo { hasNextPage } } }
    }
    fragment Page on Query { charges(first: 3) { edges { node { id ...Money @defer(label: "money") } } } }
    fragment Money on Charge { amount currency ... @defer { amountRefunded status version } }`;
    await deferred(query, { first: { viewer: { subject: "demo-service" } } });
  },

  async "Apollo Client: fields below an object that is also in the first part"() {
    await deferred("query Shared { charges(first: 3) { edges { node { id } } ... @defer { edges { node { id amount } } pageInfo { hasNextPage } } } }", {
      // the cache of Apollo Client 3 warns of fields that a later part has
      fetchPolicy: "no-cache",
      first: { charges: { edges: edges((id) => ({ id })) } },
    });
  },

  async "Apollo Client: the condition of a fragment is a variable"() {
    const query = "query If($late: Boolean!) { viewer { subject } ... @defer(if: $late) { charges(first: 3) { edges { node { id } } } } }";
    await deferred(query, { variables: { late: true }, first: { viewer: { subject: "demo-service" } } });
    for (const { name, client, types } of apollo()) {
      const { data } = (await watched(client, { query, variables: { late: false } }, ({ data }) => data?.charges)).at(-1);
      assert.deepEqual(data.charges.edges, edges((id) => ({ id })), name);
      assert.match(types.join(), /^application\/(graphql-response\+)?json; charset=utf-8$/, name);
    }
  },

  // Apollo Client 3 merges the null that the format has for a failed fragment
  async "Apollo Client 4: a failed fragment leaves the rest, and has its error"() {
    const query = `query Failed {
      viewer { subject }
      ... @defer(label: "bad") { charges(first: 1, after: "nonsense") { edges { node { id } } } }
      ... @defer(label: "good") { charge(id: "${ids[0]}") { amount } }
    }`;
    for (const { name, client, types, multipart } of apollo().slice(0, 2)) {
      const results = await watched(client, { query, fetchPolicy: "no-cache" }, ({ data, codes }) => data?.charge && codes.length);
      const { data, codes } = results.at(-1);
      assert.deepEqual(codes, ["BAD_USER_INPUT"], name);
      assert.deepEqual(data, { viewer: { subject: "demo-service" }, charge: { amount: 603 } }, name);
      assert.deepEqual(types, [multipart], name);
    }
  },

  async "urql: a query with @defer"() {
    const client = new Client({ url: GRAPH, exchanges: [fetchExchange], fetchOptions: { headers: { authorization } } });
    const query = 'query Urql { viewer { subject } ... @defer(label: "rest") { charges(first: 1) { edges { node { ... @defer { id amount } } } } } }';
    for (const preferGetMethod of [false, "force"]) {
      const { data, error } = await within(client.query(query, {}, { preferGetMethod, requestPolicy: "network-only" }).toPromise(), "urql");
      assert.equal(error, undefined);
      assert.equal(data.viewer.subject, "demo-service");
      assert.equal(typeof data.charges.edges[0].node.amount, "number");
    }
  },

  async "urql: deferred fragments in both formats, if its Accept asks for one"() {
    const query = `query Urql {
      viewer { subject }
      ... @defer(label: "rest") { charges(first: 3) { edges { node { id ... @defer { amount } } } } }
      ... @defer(label: "bad") { bad: charges(first: 1, after: "nonsense") { edges { cursor } } }
    }`;
    for (const format of ["deferSpec=20220824", "incrementalSpec=v0.2"]) {
      const headers = { authorization, accept: `multipart/mixed;${format}, application/json` };
      const client = new Client({ url: GRAPH, exchanges: [fetchExchange], fetchOptions: { headers } });
      const results = [];
      const last = new Promise((resolve) => client.query(query, {}).subscribe((result) => {
        results.push(result);
        if (!result.hasNext) resolve(result);
      }));
      const { data } = await within(last, `urql, ${format}`);
      assert.deepEqual(plain(results[0].data), { viewer: { subject: "demo-service" } }, format);
      const amounts = [603, 602, 601];
      assert.deepEqual(plain(data), { viewer: { subject: "demo-service" }, charges: { edges: ids.map((id, at) => ({ node: { id, amount: amounts[at] } })) } });
    }
  },

  async "Apollo Client 4: a mutation"() {
    for (const { name, client, types, multipart } of apollo().slice(0, 2)) {
      const { data, error } = await within(client.mutate({ mutation: gql(CREATE), variables: { amount: 604 } }), name);
      assert.equal(error, undefined, name);
      assert.equal(data.createCharge.amount, 604, name);
      assert.deepEqual(types, [multipart], name);
    }
  },

  async "urql: subscriptions by fetch and by graphql-ws"() {
    const byFetch = { exchanges: [fetchExchange], fetchSubscriptions: true, fetchOptions: { headers: { authorization } } };
    const socket = createWs({ url: SOCKET, webSocketImpl: WebSocket, connectionParams: { Authorization: authorization } });
    const forwardSubscription = ({ query, variables }) => ({
      subscribe: (sink) => ({ unsubscribe: socket.subscribe({ query, variables }, sink) }),
    });
    const bySocket = { exchanges: [subscriptionExchange({ forwardSubscription }), fetchExchange] };
    for (const [amount, options] of [[1301, byFetch], [1302, bySocket]]) {
      const client = new Client({ url: GRAPH, ...options });
      let heard = false;
      const updates = client.subscription("subscription Updates { chargeUpdated { amount } }", {});
      const { unsubscribe } = updates.subscribe(({ data, error }) => {
        assert.equal(error, undefined);
        heard ||= data.chargeUpdated.amount === amount;
      });
      // the subscription may not be active yet
      for (let tries = 0; !heard && tries < 100; tries += 1) {
        await charged(amount);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      unsubscribe();
      assert.ok(heard, `no update of ${amount}`);
    }
    await socket.dispose();
  },
};

await run(checks, "deferred fragments");
process.exit(0);
