// Signatures for libraries that only verify, texts of bodies, and fixed key pairs.

import { createECDH, createHmac, createPrivateKey, createPublicKey, sign } from "node:crypto";

/** HMAC of the parts with SHA-256; `key` is text or bytes. */
export function hmac(key, encoding, ...parts) {
  return hmacWith("sha256", key, encoding, ...parts);
}

export function hmacWith(digest, key, encoding, ...parts) {
  const mac = createHmac(digest, key);
  for (const part of parts) mac.update(part);
  return mac.digest(encoding);
}

/** JSON as most senders write it. */
export const compact = (value) => JSON.stringify(value);

/** JSON with tabs, carriage returns, an escape and spaces, which a parser would not keep. */
export function unusual(value) {
  const text = JSON.stringify(value, null, "\t").replace(/": /g, '" :  ').replace(/\n/g, "\r\n");
  return `${text.replace("ë", "\\u00eb").replace("/", "\\/")} \n`;
}

/** JSON in ASCII. */
export function escaped(value) {
  const escape = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(/[\u0080-\uffff]/g, escape);
}

/** Time in the form of RFC 3339. */
export const rfc3339 = (seconds) => new Date(seconds * 1000).toISOString().replace(".000Z", "Z");

/** Ed25519 key pair of a seed of 32 equal bytes. */
export function ed25519(byte) {
  const prefix = Buffer.from("302e020100300506032b657004220420", "hex");
  const der = Buffer.concat([prefix, Buffer.alloc(32, byte)]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const publicBytes = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32);
  return { publicBytes, sign: (text) => sign(null, Buffer.from(text), key) };
}

/** P-256 key pair of a private number of 32 equal bytes. Its signatures are random. */
export function p256(byte) {
  const pair = createECDH("prime256v1");
  pair.setPrivateKey(Buffer.alloc(32, byte));
  const point = pair.getPublicKey();
  const part = (start) => point.subarray(start, start + 32).toString("base64url");
  const d = pair.getPrivateKey("base64url");
  const key = createPrivateKey({ key: { kty: "EC", crv: "P-256", d, x: part(1), y: part(33) }, format: "jwk" });
  const spki = createPublicKey(key).export({ format: "der", type: "spki" }).toString("base64");
  return { spki, sign: (text) => sign("sha256", Buffer.from(text), key).toString("base64") };
}
