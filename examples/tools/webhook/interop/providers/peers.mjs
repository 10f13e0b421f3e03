// All peers: one library that signs or verifies the webhooks of a provider.
//
// `sign(request, key, now)` returns the headers of a request `{ method, url, body, id }`;
// `verify(request, key)` tells whether the library accepts them. `how` names the function of the
// library that made or confirmed the signatures.

import { readFileSync } from "node:fs";
import { at } from "./clock.mjs";
import business from "./peers/business.mjs";
import chat from "./peers/chat.mjs";
import code from "./peers/code.mjs";
import payments from "./peers/payments.mjs";
import standard from "./peers/standard.mjs";

/** Time of all signatures, in seconds. */
export const NOW = Number(process.env.NOW ?? 1700000000);

export const peers = [...business, ...chat, ...code, ...payments, ...standard];

/** Name and version of the library, for example `npm stripe 23.1.0`. */
export function release({ library }) {
  if (library === "pyairtable") {
    const pinned = readFileSync("requirements.txt", "utf8").match(/^pyairtable==(\S+)/m);
    return `PyPI pyairtable ${pinned[1]}`;
  }
  return `npm ${library} ${JSON.parse(readFileSync(`node_modules/${library}/package.json`, "utf8")).version}`;
}

/** Requests of a peer, without headers. */
export function requestsOf(peer) {
  return peer.requests.map(({ body, id, query = null, method = "POST", type = "application/json" }) => {
    const base = peer.url ?? "https://example.com/hooks";
    return { method, query, url: query === null ? base : `${base}?${query}`, body, id, type };
  });
}

/** Headers of the signed request. */
export async function signed(peer, request, key = peer.keys[0]) {
  const headers = await at(NOW, () => peer.sign(request, key, NOW));
  return { ...headers, ...peer.extra?.(NOW), "content-type": request.type };
}

/** Text at a JSON pointer, or null. */
function textAt(body, pointer) {
  let value;
  try {
    value = JSON.parse(body);
  } catch {
    return null;
  }
  for (const token of pointer.slice(1).split("/")) value = value?.[token];
  return value === undefined ? null : String(value);
}

/** Id by which the receiver detects a repetition, or null for a digest. */
export function idOf(peer, headers, body) {
  if (peer.id?.pointer) return textAt(body, peer.id.pointer);
  return peer.id?.header ? headers[peer.id.header] : null;
}

/** Whether the library accepts the request; an exception is a refusal. */
export async function accepts(peer, request, key = peer.keys[0], second = peer.keys[1]) {
  try {
    return await at(NOW, () => (second === undefined ? peer.verify(request, key) : peer.verify(request, key, second)));
  } catch (error) {
    if (error instanceof TypeError || error instanceof ReferenceError || process.env.DEBUG) throw error;
    return false;
  }
}

/** Key of the same form that did not sign. */
export function wrongKey(peer) {
  if (peer.wrongKey !== undefined) return peer.wrongKey;
  const [key] = peer.keys;
  const place = key.length > 12 ? 10 : 1;
  return replaced(key, place);
}

/** The text with another character at `place`, which is valid in base64 and hexadecimal. */
export function replaced(text, place) {
  return text.slice(0, place) + (text[place] === "a" ? "b" : "a") + text.slice(place + 1);
}
