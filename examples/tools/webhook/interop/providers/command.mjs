// The command `webhook`, whose path is in the environment variable WEBHOOK.

import { spawnSync } from "node:child_process";
import { NOW } from "./peers.mjs";

function run(words, body) {
  const { status, stdout, stderr, error } = spawnSync(process.env.WEBHOOK, words, { input: body, encoding: "utf8" });
  if (error) throw error;
  return { status, stdout, stderr };
}

function common(name, keys, { url, query }, signsUrl) {
  const secrets = keys.flatMap((key) => ["--secret", key]);
  const target = signsUrl || query !== null ? ["--url", url] : [];
  return ["--as", name, ...secrets, ...target];
}

/** Exit status and words of `webhook verify`. */
export function verify(peer, { provider = peer.provider, keys = peer.keys, ...request }) {
  const headers = Object.entries(request.headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
  const options = ["--method", request.method, "--now", String(NOW), ...headers];
  return run(["verify", ...common(provider, keys, request, peer.url !== undefined), ...options], request.body);
}

/** Headers of `webhook sign`. */
export function sign(peer, request) {
  const id = peer.id?.header ? ["--id", request.id] : [];
  const timestamp = peer.timestamp ? ["--timestamp", String(NOW)] : [];
  const words = ["sign", ...common(peer.provider, [peer.keys[0]], request, peer.url !== undefined), ...id, ...timestamp];
  const { status, stdout, stderr } = run(words, request.body);
  if (status !== 0) throw new Error(`webhook sign --as ${peer.provider} failed: ${stderr}`);
  const lines = stdout.trimEnd().split("\n");
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(": ")).toLowerCase(), line.slice(line.indexOf(": ") + 2)]));
}
