// Compares the command `webhook` and the libraries, in both directions: `check.mjs FOLDER`.
//
// FOLDER has the committed fixtures: what the libraries sign must be there, byte for byte.

import { readFileSync, readdirSync } from "node:fs";
import { sign, verify } from "./command.mjs";
import { NOW, accepts, peers, replaced, requestsOf, signed, wrongKey } from "./peers.mjs";

let checks = 0;

function expect(isEqual, message) {
  if (!isEqual) {
    console.error(`mismatch: ${message}`);
    process.exit(1);
  }
  checks += 1;
}

function expectStatus(peer, request, status, what) {
  const answer = verify(peer, request);
  const text = `${peer.provider}: ${what}: expected exit ${status}, got ${answer.status}`;
  expect(answer.status === status, `${text}\n${answer.stdout}${answer.stderr}body: ${request.body}`);
}

const list = (names) => (Array.isArray(names) ? names : [names]);

/** A later time in seconds, milliseconds or RFC 3339, within the tolerance. */
function later(value) {
  if (/T\d\d:\d\d:\d\d/.test(value)) return value.replace(/(T\d\d:\d\d:)\d\d/, "$159");
  return value.replace(/\d{10}/, (seconds) => String(Number(seconds) + 1));
}

function withHeaders(request, names, change) {
  const changed = list(names).filter((name) => name in request.headers);
  const entries = changed.map((name) => [name, change(request.headers[name])]);
  return { ...request, headers: { ...request.headers, ...Object.fromEntries(entries) } };
}

/** Changes the last signature of a header, before its padding. */
const forge = (value) => replaced(value, value.length - 9);

/** Requests that must be refused, with their names. */
function mutations(peer, request) {
  const all = [
    ["another signature", withHeaders(request, peer.signature, forge)],
    ["another key", { ...request, keys: [wrongKey(peer)] }],
    ["another provider", { ...request, provider: peer.other, keys: [otherKey(peer)] }],
  ];
  // a token does not sign the body
  if (!peer.isToken) all.push(["another body", { ...request, body: tampered(peer, request.body) }]);
  if (peer.timestamp) all.push(["another timestamp", withHeaders(request, peer.timestamp, later)]);
  return all;
}

/** Key in the form of the other provider. */
function otherKey(peer) {
  return peers.find(({ provider }) => provider === peer.other)?.keys[0] ?? "another-secret-0123456789";
}

/** The body with one more byte, or with one more member if the library writes the JSON again. */
function tampered(peer, body) {
  if (peer.reparses) return body.replace("{", '{"x":1,');
  return peer.tamper?.(body) ?? `${body} `;
}

/** The library signs, `webhook verify` reads. */
async function checkTheirs(peer, request) {
  const theirs = { ...request, headers: await signed(peer, request) };
  expect(await accepts(peer, theirs), `${peer.library} refuses its own signature: ${request.body}`);
  expectStatus(peer, theirs, 0, `signature of ${peer.library}`);
  for (const [what, mutated] of mutations(peer, theirs)) expectStatus(peer, mutated, 1, what);
}

/** `webhook sign` signs, the library reads. */
async function checkOurs(peer, request) {
  const extra = peer.extra?.(NOW);
  const ours = { ...request, headers: { ...sign(peer, request), ...extra, "content-type": request.type } };
  expect(await accepts(peer, ours), `${peer.library} refuses our signature: ${JSON.stringify(ours)}`);
  if (peer.isToken) {
    const other = withHeaders(ours, peer.signature, forge);
    expect(!(await accepts(peer, other)), `${peer.library} accepts another token`);
    return;
  }
  const body = tampered(peer, request.body);
  expect(!(await accepts(peer, { ...ours, body })), `${peer.library} accepts our signature of another body`);
}

/** Committed requests: accepted by the library and the command. */
async function checkFixture(peer, fixture) {
  const base = peer.url ?? "https://example.com/hooks";
  for (const request of fixture.requests) {
    const url = request.query === null ? base : `${base}?${request.query}`;
    const full = { ...request, url };
    expect(await accepts(peer, full, ...fixture.keys), `${peer.library} refuses the fixture of ${peer.provider}`);
    expectStatus(peer, { ...full, keys: fixture.keys }, 0, "committed fixture");
  }
}

/** The fixtures that `make.mjs` writes now are those of the repository. */
function checkFolders(committed, written) {
  const names = readdirSync(written).sort();
  expect(readdirSync(committed).sort().join() === names.join(), "fixtures are missing or left over: run `run --update`");
  for (const name of names) {
    const texts = [committed, written].map((folder) => readFileSync(`${folder}/${name}`, "utf8"));
    expect(texts[0] === texts[1], `${name} is not what its library signs: run \`run --update\``);
  }
}

const [committed, written] = process.argv.slice(2);
checkFolders(committed, written);
for (const peer of peers) {
  await checkFixture(peer, JSON.parse(readFileSync(`${committed}/${peer.provider}.json`, "utf8")));
  for (const request of requestsOf(peer)) {
    await checkTheirs(peer, request);
    if (!peer.isKeyPair && request.method === "POST") await checkOurs(peer, request);
  }
}
const libraries = new Set(peers.map(({ library }) => library));
console.log(`providers: ${checks} checks with ${libraries.size} libraries agree`);
process.exit(0);
