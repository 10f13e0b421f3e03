// Verification of webhooks by a scheme of the table `schemes`, in the order of checks that README.md
// lists.
import { createHash, createHmac, createPublicKey, timingSafeEqual, verify } from "node:crypto";

const TIMESTAMP = /^(0|[1-9][0-9]{0,11})$/;
const EVENT_ID = /^[!-\-/-~]{1,256}$/;

class Refused extends Error {}
const refuse = (reason) => {
  throw new Refused(reason);
};

export function judge(request, { schemes }) {
  const scheme = schemes[request.scheme];
  try {
    const signed = check(request, scheme);
    return { accepted: true, ...identify(request, scheme, signed) };
  } catch (error) {
    if (error instanceof Refused) return { accepted: false, reason: error.message };
    throw error;
  }
}

function check(request, scheme) {
  const keys = readKeys(scheme, request.keys);
  const body = bodyOf(request);
  const found = readSignatures(scheme.signature, request, body);
  const timestamp = scheme.timestamp && readTimestamp(scheme.timestamp.from, request, body, found.timestamp);
  const names = scheme.id.headers ?? (scheme.id.envelope && [scheme.id.envelope]);
  const id = names && onlyHeader(request, names);
  const form = scheme.signed.includes("sorted-form") ? signedForm(request.query, body) : "";
  if (scheme.signed.includes("url") && request.url === undefined) refuse("no-url");
  if (names && !EVENT_ID.test(id)) refuse("invalid-id");
  const seconds = scheme.timestamp && readTime(scheme.timestamp.unit, timestamp);
  const message = { request, body, timestamp, id, form };
  const text = Buffer.concat(pieces(scheme, message));
  checkSignature(scheme, keys, found.signatures, text);
  if (scheme.timestamp) checkAge(seconds, request.now, request.tolerance ?? scheme.timestamp.tolerance);
  return message;
}

function checkAge(seconds, now, tolerance) {
  if (now - seconds > tolerance) refuse("too-old");
  if (seconds - now > tolerance) refuse("too-new");
}

function bodyOf({ body }) {
  return typeof body === "string" ? Buffer.from(body, "base64") : Buffer.alloc(body.count, body.byte);
}

// Keys

function readKeys(scheme, texts) {
  if (texts.length < 1 || texts.length > 8) refuse("invalid-key");
  return texts.map((text) => readKey(scheme, text) ?? refuse("invalid-key"));
}

function readKey({ check, key }, text) {
  if (check === "ed25519") return ed25519Key(key, text);
  if (check === "ecdsa-p256-sha256") {
    const lines = text.split("\n").filter((line) => !line.startsWith("-----"));
    return createPublicKey({ key: Buffer.from(lines.join(""), "base64"), format: "der", type: "spki" });
  }
  if (text.trim() !== text) return undefined;
  const bytes = {
    utf8: () => Buffer.from(text),
    hex: () => hexBytes(text.toLowerCase()),
    base64: () => base64Bytes(text),
    whsec: () => base64Bytes(text.replace(/^whsec_/, "")),
  }[key]();
  return bytes?.length > 0 ? bytes : undefined;
}

// the y of every point of small order, and those of the same points that are not reduced
const SMALL_ORDERS = [
  "0100000000000000000000000000000000000000000000000000000000000000",
  "0000000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
];

function hasSmallOrder(point) {
  const y = Buffer.from(point);
  y[31] &= 0x7f;
  return SMALL_ORDERS.includes(y.toString("hex"));
}

function ed25519Key(encoding, text) {
  if (encoding === "whpk" && !text.startsWith("whpk_")) return undefined;
  const bytes = encoding === "hex" ? hexBytes(text.toLowerCase()) : base64Bytes(text.replace(/^whpk_/, ""));
  if (bytes?.length !== 32 || hasSmallOrder(bytes)) return undefined;
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") }, format: "jwk" });
}

// Encodings: one spelling of each value

export function base64Bytes(text) {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : undefined;
}

function hexBytes(text) {
  const bytes = Buffer.from(text, "hex");
  return bytes.toString("hex") === text ? bytes : undefined;
}

// Fields of the request

function lines(request, name) {
  return request.headers.filter(([own]) => own === name).map(([, value]) => value);
}

function onlyHeader(request, names) {
  for (const name of names) {
    const found = lines(request, name);
    if (found.length > 1) refuse("repeated-header");
    if (found.length === 1) return found[0];
  }
  return refuse("missing-header");
}

function readSignatures({ from, grammar }, request, body) {
  const found = { signatures: [], tokens: 0, timestamp: undefined };
  if (from.pointer !== undefined) {
    const text = textAt(body, from.pointer) ?? refuse("no-usable-signature");
    addSignatures(grammar, text, found);
    return found;
  }
  const values = from.headers.flatMap((name) => lines(request, name));
  if (values.length === 0) refuse("missing-header");
  let bytes = 0;
  for (const value of values) {
    bytes += value.length;
    if (bytes > 4096) refuse("too-many-signatures");
    addSignatures(grammar, value, found);
  }
  return found;
}

function addSignatures(grammar, value, found) {
  if (grammar.tag !== undefined) {
    for (const token of value.split(" ").filter((token) => token !== "")) {
      found.tokens += 1;
      if (found.tokens > 16) refuse("too-many-signatures");
      const parts = token.replace(/,$/, "").split(",");
      if (parts.length === 2 && parts[0] === grammar.tag) push(found, parts[1]);
    }
  } else if (grammar.separator !== undefined) {
    for (const pair of value.split(grammar.separator).map((pair) => pair.trim())) {
      const [name, ...rest] = pair.split("=");
      if (rest.length === 0) continue;
      if (name === grammar.signature) {
        push(found, rest.join("="));
      } else if (name === grammar.timestamp) {
        if (found.timestamp !== undefined) refuse("repeated-header");
        found.timestamp = rest.join("=");
      }
    }
  } else {
    const text = value.trim();
    push(found, text.startsWith(grammar.prefix) ? text.slice(grammar.prefix.length) : "");
  }
}

function push(found, signature) {
  if (found.signatures.length === 16) refuse("too-many-signatures");
  found.signatures.push(signature);
}

function readTimestamp(from, request, body, inPair) {
  if (from === "pair") return inPair ?? refuse("invalid-timestamp");
  if (from.pointer !== undefined) return textAt(body, from.pointer) ?? refuse("invalid-timestamp");
  return onlyHeader(request, from.headers);
}

function readTime(unit, text) {
  if (unit === "seconds" && TIMESTAMP.test(text)) return Number(text);
  if (unit === "milliseconds" && /^[1-9][0-9]{0,14}$/.test(text)) return Math.floor(Number(text) / 1000);
  if (unit === "rfc3339" && /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(text)) {
    return Math.floor(Date.parse(text) / 1000);
  }
  return refuse("invalid-timestamp");
}

// Signed text

function pieces(scheme, { request, body, timestamp, id, form }, withTimestamp = true) {
  return scheme.signed.flatMap((part) => {
    if (part.text !== undefined) return [Buffer.from(part.text)];
    if (part === "timestamp") return withTimestamp ? [Buffer.from(timestamp)] : [];
    if (part === "id") return [Buffer.from(id)];
    if (part === "body") return [body];
    if (part === "method") return [Buffer.from(request.method ?? "POST")];
    if (part === "sorted-form") return [Buffer.from(form)];
    const query = request.query === undefined ? [] : ["?", request.query];
    return [request.url, ...query].map((text) => Buffer.from(text));
  });
}

function signedForm(query, body) {
  const digests = new URLSearchParams(query ?? "").getAll("bodySHA256");
  if (digests.length > 0) {
    const own = createHash("sha256").update(body).digest("hex");
    return digests.every((digest) => digest === own) ? "" : refuse("mismatch");
  }
  const pairs = [...new URLSearchParams(body.toString())].map(([name, value]) => ({ name, value }));
  const order = (one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other));
  pairs.sort((one, other) => order(one.name, other.name) || order(one.value, other.value));
  const isNew = ({ name, value }, at) => at === 0 || name !== pairs[at - 1].name || value !== pairs[at - 1].value;
  return pairs.filter(isNew).map(({ name, value }) => name + value).join("");
}

// Signatures

const HASHES = { "hmac-sha1": "sha1", "hmac-sha256": "sha256", "hmac-sha512": "sha512" };

function checkSignature({ check, encoding }, keys, texts, signed) {
  if (check === "token") {
    const isRight = texts.some((text) => keys.some((key) => key.equals(Buffer.from(text))));
    return isRight || refuse("mismatch");
  }
  const decode = encoding === "hex" ? hexBytes : base64Bytes;
  const decoded = texts.map(decode).filter((bytes) => bytes !== undefined);
  if (HASHES[check]) return checkMac(HASHES[check], keys, decoded, signed);
  const signatures = check === "ed25519" ? decoded.filter((bytes) => bytes.length === 64) : decoded.filter(isDer);
  if (signatures.length === 0) refuse("no-usable-signature");
  if (signatures.length > 4) refuse("too-many-signatures");
  const hash = check === "ed25519" ? null : "sha256";
  const isRight = (signature) =>
    !(check === "ed25519" && hasSmallOrder(signature.subarray(0, 32))) &&
    keys.some((key) => verify(hash, signed, key, signature));
  return signatures.some(isRight) || refuse("mismatch");
}

function checkMac(hash, keys, decoded, signed) {
  const macs = keys.map((key) => createHmac(hash, key).update(signed).digest());
  const signatures = decoded.filter((bytes) => bytes.length === macs[0].length);
  if (signatures.length === 0) refuse("no-usable-signature");
  const isRight = (signature) => macs.some((mac) => timingSafeEqual(mac, signature));
  return signatures.some(isRight) || refuse("mismatch");
}

// A sequence of two integers that fills the text.
function isDer(bytes) {
  const [first, second] = [bytes[3], bytes[5 + bytes[3]]];
  return bytes[0] === 0x30 && bytes[1] === bytes.length - 2 && first + second + 6 === bytes.length;
}

// Ids that detect duplicates

function identify({ scheme: name, ...request }, scheme, message) {
  const hashed = (texts) => {
    const hash = createHash("sha256");
    for (const text of [Buffer.from(name), ...texts]) {
      const length = Buffer.alloc(8);
      length.writeBigUInt64BE(BigInt(text.length));
      hash.update(length).update(text);
    }
    return `sha256:${hash.digest("hex")}`;
  };
  const asId = (text) => (EVENT_ID.test(text) ? text : hashed([Buffer.from(text)]));
  if (scheme.id.headers) return { id: asId(message.id) };
  if (scheme.id.envelope) {
    const id = member(message.body, "id");
    if (typeof id !== "string" || !EVENT_ID.test(id)) return { reason: "missing-envelope-id" };
    return id === message.id ? { id } : { reason: "id-mismatch" };
  }
  const text = scheme.id.pointer && textAt(message.body, scheme.id.pointer);
  return { id: text ? asId(text) : hashed(pieces(scheme, { ...message, request }, false)) };
}

function parse(body) {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    return undefined;
  }
}

function member(value, name) {
  const document = parse(value);
  return document && Object.hasOwn(document, name) ? document[name] : undefined;
}

// String or integer at a JSON pointer (RFC 6901).
function textAt(body, pointer) {
  let value = parse(body);
  for (const token of pointer.split("/").slice(1)) {
    value = value !== null && typeof value === "object" && Object.hasOwn(value, token) ? value[token] : undefined;
  }
  if (typeof value === "string") return value;
  return Number.isSafeInteger(value) ? String(value) : undefined;
}
