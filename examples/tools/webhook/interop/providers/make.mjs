// Writes the fixtures: `make.mjs FOLDER`. Each signature is confirmed by its library first.
//
// Signatures by ECDSA are random: those of an existing fixture stay while the library accepts them.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { NOW, accepts, idOf, peers, release, requestsOf, signed } from "./peers.mjs";

/** Headers of the first request, signed with an old and the current key. */
async function rotated(peer, request, headers) {
  const older = peer.oldKey ? await signed(peer, request, peer.oldKey) : null;
  return { ...headers, ...peer.join(headers, older, request, NOW), "content-type": request.type };
}

async function fixture(peer, committed) {
  const requests = [];
  const add = async (request, headers) => {
    const full = { ...request, headers };
    if (!(await accepts(peer, full))) throw new Error(`${peer.library} refuses a request of ${peer.provider}: ${request.body}`);
    const { method, query, body } = request;
    requests.push({ method, query, headers, body, id: idOf(peer, headers, body) });
  };
  for (const [index, request] of requestsOf(peer).entries()) {
    const kept = peer.isRandom ? committed?.requests[index]?.headers : undefined;
    const isKept = kept !== undefined && (await accepts(peer, { ...request, headers: kept }));
    await add(request, isKept ? kept : await signed(peer, request));
  }
  if (peer.join) {
    const [request] = requestsOf(peer);
    await add(request, await rotated(peer, request, await signed(peer, request)));
  }
  const source = `${release(peer)}, ${peer.how}`;
  return { provider: peer.provider, source, keys: peer.keys, ...(peer.url && { url: peer.url }), now: NOW, requests };
}

const [folder] = process.argv.slice(2);
for (const peer of peers) {
  const file = `${folder}/${peer.provider}.json`;
  const committed = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null;
  writeFileSync(file, `${JSON.stringify(await fixture(peer, committed), null, 2)}\n`);
}
console.log(`providers: ${peers.length} fixtures written`);
process.exit(0);
