// npm `standardwebhooks`: `sign SECRET ID BODY` prints headers, `verify SECRET HEADERS BODY` throws
// on an invalid signature.
const { readFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { Webhook } = createRequire(process.env.PEERS + "/")("standardwebhooks");

const [verb, secret, given, file] = process.argv.slice(2);
const body = readFileSync(file, "utf8");
const peer = new Webhook(secret);
if (verb === "sign") {
  const now = new Date();
  console.log(`webhook-id: ${given}`);
  console.log(`webhook-timestamp: ${Math.floor(now.getTime() / 1000)}`);
  console.log(`webhook-signature: ${peer.sign(given, now, body)}`);
} else {
  const lines = readFileSync(given, "utf8").trim().split("\n");
  const headers = lines.map((line) => [line.split(": ")[0].toLowerCase(), line.slice(line.indexOf(": ") + 2)]);
  peer.verify(body, Object.fromEntries(headers));
}
