// A reverse proxy with TLS on a loopback address, and the service behind it. The service is also
// served below `/tenant`, since MSAL for Python takes no authority without a path.
// usage: node behind_tls.mjs CERTIFICATE KEY SERVICE OPTION …

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:https";
import { createServer as createListener } from "node:net";

const [certificate, key, service, ...options] = process.argv.slice(2);

// a free port for the service, which prints its URL and not its port
const listener = createListener().listen(0, "127.0.0.1");
await once(listener, "listening");
const { port } = listener.address();
await new Promise((closed) => listener.close(closed));

const proxy = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (incoming, outgoing) => {
  const path = incoming.url.replace(/^\/tenant\//, "/");
  const headers = { ...incoming.headers, "x-forwarded-for": incoming.socket.remoteAddress };
  const forwarded = request({ host: "127.0.0.1", port, path, method: incoming.method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.rawHeaders);
    answer.pipe(outgoing);
  });
  forwarded.on("error", () => outgoing.destroy());
  incoming.pipe(forwarded);
});
proxy.listen(0, "127.0.0.1");
await once(proxy, "listening");
const url = `https://127.0.0.1:${proxy.address().port}`;
const own = ["--listen", `127.0.0.1:${port}`, "--base-url", url, "--trusted-proxy", "127.0.0.1"];
const running = spawn(service, [...own, ...options], { stdio: "inherit" });
running.on("exit", (code) => process.exit(code ?? 1));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => running.kill(signal));
