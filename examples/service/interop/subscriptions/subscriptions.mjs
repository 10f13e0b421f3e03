// Subscriptions of the service with npm `graphql-ws` over WebSocket, `graphql-sse` in both modes, and
// Apollo Client over multipart responses.
// usage: node subscriptions.mjs ISSUER

import assert from "node:assert/strict";
import { ApolloClient, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { ApolloClient as ApolloClient3, HttpLink as HttpLink3, InMemoryCache as InMemoryCache3 } from "@apollo/client-3/core/index.js";
import { createClient as createSse } from "graphql-sse";
import { CloseCode, createClient as createWs } from "graphql-ws";
import { WebSocket } from "ws";

const ISSUER = new URL(process.argv[2]);
const GRAPH = new URL("/graphql", ISSUER);
const SOCKET = Object.assign(new URL(GRAPH), { protocol: "ws:" }).href;
const PROTOCOL = "graphql-transport-ws";

async function bearer() {
  const response = await fetch(new URL("/token", ISSUER), {
    method: "POST",
    headers: { authorization: `Basic ${btoa("demo-service:demo-service-secret")}` },
    body: new URLSearchParams({ grant_type: "client_credentials", scope: "read:charges write:charges" }),
  });
  assert.equal(response.status, 200);
  return `Bearer ${(await response.json()).access_token}`;
}
const TOKEN = await bearer();

const QUERY = "{ viewer { subject } }";
const UPDATES = "subscription { chargeUpdated { amount version } }";

async function charged(amount) {
  const query = `mutation { createCharge(amount: ${amount}, currency: "eur") { amount } }`;
  const response = await fetch(GRAPH, {
    method: "POST",
    headers: { authorization: TOKEN, "content-type": "application/json" },
    body: JSON.stringify({ query }),
  });
  assert.deepEqual(await response.json(), { data: { createCharge: { amount } } });
}

const overWebSocket = (options = {}) =>
  createWs({ url: SOCKET, webSocketImpl: WebSocket, connectionParams: { Authorization: TOKEN }, retryWait: async () => {}, ...options });
const overEvents = (options = {}) =>
  createSse({ url: GRAPH.href, headers: { authorization: TOKEN }, retry: async () => {}, ...options });
const overOneStream = (options = {}) =>
  overEvents({ url: new URL("/graphql/stream", ISSUER).href, singleConnection: true, ...options });

// Apollo Client 4 and 3, each with its HttpLink, and the statuses and media types of the responses.
function overMultipart({ token = TOKEN, ...options } = {}) {
  return [
    [ApolloClient, HttpLink, InMemoryCache],
    [ApolloClient3, HttpLink3, InMemoryCache3],
  ].map(([Client, Link, Cache]) => {
    const received = [];
    const recorded = async (...request) => {
      const response = await fetch(...request);
      received.push(`${response.status} ${response.headers.get("content-type")}`);
      return response;
    };
    const headers = token ? { authorization: token } : {};
    const link = new Link({ uri: GRAPH.href, headers, fetch: recorded, ...options });
    return { received, client: new Client({ link, cache: new Cache() }) };
  });
}

const MULTIPART = '200 multipart/mixed;boundary=graphql;subscriptionSpec=1.0';

// Results of a subscription of Apollo Client; `return` unsubscribes.
function pushed(client, text) {
  const [results, waiting] = [[], []];
  const push = (result) => (waiting.shift() ?? ((value) => results.push(value)))(result);
  const subscription = client.subscribe({ query: gql(text) }).subscribe({
    next: ({ data, errors, error = errors }) => push({ value: error ? { error } : { data: plain(data) } }),
    error: (error) => push({ value: { error } }),
    complete: () => push({ done: true }),
  });
  return {
    next: async () => results.shift() ?? new Promise((resolve) => waiting.push(resolve)),
    return: async () => {
      subscription.unsubscribe();
      push({ done: true });
    },
  };
}

// The selected fields, without the `__typename` that Apollo Client adds.
const plain = (data) => data && JSON.parse(JSON.stringify(data, (key, value) => (key === "__typename" ? undefined : value)));

// Codes of the errors of a result.
const codes = (error) => (error.graphQLErrors ?? error.errors ?? error).map(({ extensions }) => extensions.code);

// Result of an operation with one result.
async function once(client, query) {
  const results = [];
  for await (const result of client.iterate({ query })) results.push(result);
  assert.equal(results.length, 1);
  return results[0];
}

// Creates charges until the subscription, which may not be active yet, receives one of `amount`.
async function hears(updates, amount) {
  let heard;
  const listening = until(updates, amount).then((value) => (heard = value));
  for (let tries = 0; !heard && tries < 100; tries += 1) {
    await charged(amount);
    await Promise.race([listening, new Promise((resolve) => setTimeout(resolve, 50))]);
  }
  assert.deepEqual(heard, { data: { chargeUpdated: { amount, version: 1 } } });
}

// The update for `amount`; skips earlier ones.
async function until(updates, amount) {
  for (;;) {
    const { value } = await updates.next();
    if (value.data.chargeUpdated.amount === amount) return value;
  }
}

async function subscribes(client) {
  const [one, other] = [client.iterate({ query: UPDATES }), client.iterate({ query: UPDATES })];
  await hears(one, 1001);
  await hears(other, 1002);
  await charged(1003);
  await Promise.all([until(one, 1003), until(other, 1003)]);
  await one.return();
  await charged(1004);
  await until(other, 1004);
  assert.equal((await one.next()).done, true);
  await other.return();
}

const answers = async (client) => {
  assert.deepEqual(await once(client, QUERY), { data: { viewer: { subject: "demo-service" } } });
  const mutation = 'mutation { createCharge(amount: 700, currency: "eur") { amount } }';
  assert.deepEqual(await once(client, mutation), { data: { createCharge: { amount: 700 } } });
};

// Close code of a raw connection after `messages` were sent.
function closedWith(messages, { protocols = [PROTOCOL] } = {}) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(SOCKET, protocols);
    socket.on("open", () => {
      for (const message of messages) socket.send(typeof message === "string" ? message : JSON.stringify(message));
    });
    socket.on("error", reject);
    socket.on("close", (code, reason) => {
      assert.ok(reason.length > 0 && reason.length <= 123, String(reason));
      resolve(code);
    });
  });
}
const init = { type: "connection_init" };
const subscribe = { id: "1", type: "subscribe", payload: { query: UPDATES } };

const checks = {
  async "graphql-ws: a query and a mutation"() {
    const client = overWebSocket();
    await answers(client);
    await client.dispose();
  },

  async "graphql-ws: subscriptions are pushed, each until the client completes it, on one connection"() {
    let opened = 0;
    const client = overWebSocket({ on: { opened: () => (opened += 1) } });
    await subscribes(client);
    assert.equal(opened, 1);
    await client.dispose();
  },

  async "graphql-ws: a refused operation gets an error with a code, and the connection stays open"() {
    const client = overWebSocket({ lazy: false });
    for (const [query, code] of [
      ["{ nothing }", "GRAPHQL_VALIDATION_FAILED"],
      ["subscription {", "GRAPHQL_PARSE_FAILED"],
    ]) {
      await assert.rejects(once(client, query), (errors) => errors[0].extensions.code === code);
    }
    await answers(client);
    await client.dispose();
  },

  async "graphql-ws: without a token a connection is anonymous, and a guarded subscription fails"() {
    const client = overWebSocket({ connectionParams: undefined });
    assert.deepEqual(await once(client, QUERY), { data: { viewer: null } });
    await assert.rejects(once(client, UPDATES), (errors) => errors[0].extensions.code === "UNAUTHENTICATED");
    await client.dispose();
  },

  async "graphql-ws: refused credentials close with 4403, and the client reconnects with fresh ones"() {
    const tokens = ["Bearer of.an.expired.token", TOKEN];
    const closed = [];
    const client = overWebSocket({
      connectionParams: async () => ({ Authorization: tokens.shift() }),
      on: { closed: ({ code }) => closed.push(code) },
    });
    assert.deepEqual(await once(client, QUERY), { data: { viewer: { subject: "demo-service" } } });
    assert.deepEqual(closed.slice(0, 1), [CloseCode.Forbidden]);
    assert.equal(tokens.length, 0);
    await client.dispose();
  },

  async "graphql-ws: its pings are answered"() {
    const client = overWebSocket({ lazy: false, keepAlive: 20 });
    await new Promise((resolve) => client.on("pong", (received) => received && resolve()));
    await client.dispose();
  },

  async "every close code that a client can cause"() {
    const codes = {
      4400: [["hello"], [init, { type: "start" }], [{ ...subscribe, payload: {} }]],
      4401: [[subscribe]],
      4403: [[{ ...init, payload: { Authorization: "Bearer nonsense" } }]],
      4429: [[init, init]],
    };
    for (const [code, all] of Object.entries(codes)) {
      for (const messages of all) assert.equal(await closedWith(messages), Number(code));
    }
    assert.equal(await closedWith([], { protocols: [] }), CloseCode.SubprotocolNotAcceptable);

    const socket = new WebSocket(SOCKET, PROTOCOL);
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.on("open", () => socket.send(JSON.stringify({ ...init, payload: { Authorization: TOKEN } })));
    socket.on("message", (text) => {
      if (JSON.parse(text).type !== "connection_ack") return;
      socket.send(JSON.stringify(subscribe));
      socket.send(JSON.stringify(subscribe));
    });
    assert.equal(await closed, CloseCode.SubscriberAlreadyExists);
  },

  async "a page of another site is refused before the handshake"() {
    for (const [origin, status] of [["https://evil.example", 403], ["null", 403], [ISSUER.origin, 101]]) {
      const answered = await new Promise((resolve, reject) => {
        const socket = new WebSocket(SOCKET, PROTOCOL, { origin });
        const told = (status, opened) => {
          opened.on("error", () => {});
          (opened.close ?? opened.destroy).call(opened);
          resolve(status);
        };
        socket.on("open", () => told(101, socket));
        socket.on("unexpected-response", (request, response) => told(response.statusCode, request));
        socket.on("error", reject);
      }).catch((error) => error);
      assert.equal(answered, status, origin);
    }
  },

  async "graphql-sse, distinct connections: operations and subscriptions"() {
    const client = overEvents();
    await answers(client);
    await subscribes(client);
    assert.equal((await once(client, "{ nothing }")).errors[0].extensions.code, "GRAPHQL_VALIDATION_FAILED");
    client.dispose();
  },

  async "graphql-sse, single connection: operations and subscriptions on one stream"() {
    let connected = 0;
    const client = overOneStream({ lazy: false, on: { connected: () => (connected += 1) } });
    await answers(client);
    await subscribes(client);
    assert.equal(connected, 1);
    client.dispose();
  },

  async "graphql-sse, single connection: an operation that fails validation is not accepted"() {
    const client = overOneStream({ retryAttempts: 0 });
    await assert.rejects(once(client, "{ nothing }"), ({ response }) => response.status === 400);
    client.dispose();
  },

  async "graphql-sse, single connection: after refused credentials the client reconnects with fresh ones"() {
    const tokens = ["Bearer of.an.expired.token", TOKEN];
    const client = overOneStream({ headers: async () => ({ authorization: tokens.shift() ?? TOKEN }) });
    await answers(client);
    assert.equal(tokens.length, 0);
    client.dispose();
  },

  async "Apollo Client over multipart: subscriptions are pushed until the client unsubscribes"() {
    for (const { client, received } of [...overMultipart(), ...overMultipart({ useGETForQueries: true })]) {
      await subscribes({ iterate: ({ query }) => pushed(client, query) });
      assert.deepEqual([...new Set(received)], [MULTIPART]);
    }
  },

  async "Apollo Client over multipart: a silent subscription gets heartbeats, which the client ignores"() {
    const silent = async ({ client }) => {
      const updates = pushed(client, UPDATES);
      await hears(updates, 1101);
      // longer than the interval of heartbeats
      await new Promise((resolve) => setTimeout(resolve, 6000));
      await charged(1102);
      await until(updates, 1102);
      await updates.return();
    };
    await Promise.all(overMultipart().map(silent));
  },

  async "Apollo Client over multipart: a query and a mutation are answered as JSON"() {
    for (const { client, received } of overMultipart()) {
      const { data } = await client.query({ query: gql(QUERY) });
      assert.equal(data.viewer.subject, "demo-service");
      const mutation = gql('mutation { createCharge(amount: 700, currency: "eur") { amount } }');
      assert.equal((await client.mutate({ mutation })).data.createCharge.amount, 700);
      assert.equal(received.filter((one) => one.includes("multipart")).length, 0);
    }
  },

  async "Apollo Client over multipart: a refused operation is a JSON response with its codes"() {
    const refused = [
      [TOKEN, "subscription { nothing }", "GRAPHQL_VALIDATION_FAILED"],
      [TOKEN, "subscription { chargeUpdated { amount } viewer { subject } }", "GRAPHQL_VALIDATION_FAILED"],
      [null, UPDATES, "UNAUTHENTICATED"],
    ];
    for (const [token, text, code] of refused) {
      for (const { client, received } of overMultipart({ token })) {
        const { value } = await pushed(client, text).next();
        assert.equal(codes(value.error)[0], code);
        assert.equal(received.length, 1);
        assert.match(received[0], /^(200 application\/json|400 application\/graphql-response\+json); charset=utf-8$/);
      }
    }
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
console.log(`interop: ${Object.keys(checks).length} checks of subscriptions agree`);
process.exit(0);
