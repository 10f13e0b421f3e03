// The Rust crate `openidconnect` against the service. This script is its browser.
// usage: node openidconnect.mjs ISSUER PROGRAM

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Browser } from "../openid-client/browser.mjs";

const [issuer, program] = process.argv.slice(2);
const person = { email: "ada@example.com", password: "correct horse battery staple" };

const client = spawn(program, [new URL(issuer).origin], { stdio: ["pipe", "pipe", "inherit"] });
const exit = once(client, "exit");
const lines = createInterface({ input: client.stdout })[Symbol.asyncIterator]();
const url = (await lines.next()).value;
assert.ok(url, "the client printed no URL");
const back = await new Browser().signIn(new URL(url), new URL("http://127.0.0.1:9999/callback"), { person });
client.stdin.end(`${back.href}\n`);
const token = (await lines.next()).value;
assert.deepEqual(await exit, [0, null]);
const response = await fetch(new URL("/v1/charges", issuer), { headers: { authorization: `Bearer ${token}` } });
assert.equal(response.status, 200);
console.log("  ✓ openidconnect: sign-in with PKCE, state and nonce, ID token, UserInfo, refresh");
