// Conventions of HTTP APIs: preconditions, rate limits, waits, idempotency, problems, cursors.
import { createHash, createHmac } from "node:crypto";
import { parseDate } from "./dates.mjs";

const values = (headers, name) => headers.filter(([own]) => own === name).map(([, value]) => value);

// Preconditions, RFC 9110, section 13.2.2

export function precondition(request) {
  const { method, headers, resource, required } = request;
  if (["OPTIONS", "TRACE", "CONNECT"].includes(method)) return "proceed";
  const isRead = ["GET", "HEAD", "QUERY"].includes(method);
  const ifMatch = readTags(values(headers, "if-match"), resource, isSameStrong);
  const unchanged =
    ifMatch === undefined
      ? compareDates(request, "if-unmodified-since", (modified, since) => modified <= since)
      : ifMatch === "listed" || (ifMatch === "any" && resource !== undefined);
  if (unchanged === false) return "precondition-failed";
  const ifNoneMatch = readTags(values(headers, "if-none-match"), resource, isSameWeak);
  if (required && !isRead && unchanged !== true && ifNoneMatch !== "any") return "precondition-required";
  const changed = hasChanged(request, ifNoneMatch, isRead);
  if (changed !== false) return "proceed";
  return isRead ? "not-modified" : "precondition-failed";
}

function hasChanged(request, ifNoneMatch, isRead) {
  if (ifNoneMatch === undefined) {
    return isRead ? compareDates(request, "if-modified-since", (modified, since) => modified > since) : undefined;
  }
  if (ifNoneMatch === "any") return request.resource === undefined;
  if (ifNoneMatch === "malformed") return isRead;
  return ifNoneMatch === "unlisted";
}

function compareDates({ headers, resource, now }, name, holds) {
  const found = values(headers, name);
  const since = found.length === 1 ? parseDate(found[0], now) : undefined;
  if (since === undefined || resource?.last_modified === undefined) return undefined;
  return holds(resource.last_modified, since);
}

const isSameStrong = (one, other) => one === other && !one.startsWith("W/");
const isSameWeak = (one, other) => one.replace(/^W\//, "") === other.replace(/^W\//, "");

function readTags(lines, resource, isSame) {
  if (lines.length === 0) return undefined;
  const members = lines.flatMap((line) => line.match(/(W\/)?"[^"\s]*"|[^,\s]+/g) ?? []);
  const tags = members.filter((member) => /^(W\/)?"/.test(member));
  const current = resource?.entity_tag;
  if (members.length === 1 && members[0] === "*") return "any";
  if (current !== undefined && tags.some((tag) => isSame(tag, current))) return members.includes("*") ? "malformed" : "listed";
  const others = members.length - tags.length;
  return members.includes("*") || (tags.length === 0 && others > 0) ? "malformed" : "unlisted";
}

// Rate limits

const TEN_YEARS = 10n * 365n * 86_400n * 1_000_000_000n;
const SKEW = 60n * 1_000_000_000n;

export function quota({ limit, period, burst }) {
  const time = BigInt(period);
  if (limit === 0 || time === 0n || burst === 0) return "zero";
  const interval = intervalOf({ limit, period });
  return interval * BigInt(burst) > TEN_YEARS || interval * BigInt(limit) > TEN_YEARS ? "too-long" : String(interval);
}

const intervalOf = ({ limit, period }) => (BigInt(period) + BigInt(limit) - 1n) / BigInt(limit);

export function sequence({ quota, state: first, requests }) {
  let state = BigInt(first);
  return requests.map(({ now: text, cost }) => {
    const [now, interval] = [BigInt(text), intervalOf(quota)];
    const latest = now + interval * BigInt(quota.burst);
    const from = state > latest + SKEW || state < now ? now : state;
    const next = from + interval * BigInt(Math.min(cost, quota.burst));
    if (next > latest) return { denied: String(next - latest) };
    state = next;
    return { allowed: String(next) };
  });
}

// Waits

const LONGEST = 2 ** 31;
const seconds = (text) => (/^[0-9]+$/.test(text) ? Math.min(Number(text), LONGEST) : undefined);

export function retryAfter({ value, now }) {
  const text = value.trim();
  const date = parseDate(text, now);
  const wait = seconds(text) ?? (date === undefined ? undefined : Math.max(date - now, 0));
  return wait === undefined ? null : Math.min(wait, LONGEST);
}

export function wait({ headers, now }) {
  const [date] = values(headers, "date");
  const answered = (date && parseDate(date, now)) ?? now;
  const longest = (waits) => (waits.length > 0 ? Math.max(...waits) : undefined);
  const named = values(headers, "retry-after").map((value) => retryAfter({ value, now: answered }));
  const quotas = values(headers, "ratelimit").flatMap((value) => value.split(","));
  const exhausted = quotas.map(exhaustedFor).filter((wait) => wait !== undefined);
  const resets = ["ratelimit-reset", "x-ratelimit-reset"].map((name) => reset(values(headers, name), answered));
  return (
    longest(named.filter((wait) => wait !== null)) ?? longest(exhausted) ?? resets.find((wait) => wait !== undefined) ?? null
  );
}

function exhaustedFor(quota) {
  const parameters = Object.fromEntries(quota.split(";").slice(1).map((part) => part.trim().split("=")));
  return seconds(parameters.r ?? "") === 0 ? seconds(parameters.t ?? "") : undefined;
}

function reset(found, answered) {
  const value = found.length === 1 ? seconds(found[0]) : undefined;
  return value === undefined || value < 1e9 ? value : Math.max(value - answered, 0);
}

// The schedule of deliveries: half of the gap, and a share of the whole gap

export function delay({ gaps, attempts, jitter }) {
  if (gaps.length > 31) return "too-many-attempts";
  if (gaps.includes(0)) return "zero-gap";
  if (gaps.some((gap) => gap > 604_800)) return "gap-too-long";
  if (gaps.some((gap, at) => gap < gaps[at - 1])) return "shrinking-gap";
  if (attempts === 0) return "0";
  if (gaps[attempts - 1] === undefined) return "exhausted";
  const gap = BigInt(gaps[attempts - 1]) * 1_000_000_000n;
  return String(gap / 2n + ((gap * BigInt(jitter)) >> 64n));
}

// Idempotency

export function idempotencyKey({ values: lines }) {
  if (lines.length === 0) return "absent";
  const value = lines[0].trim();
  const string = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/.exec(value);
  const bare = /^[!#-+\--[\]-~]*$/.test(value) ? value : undefined;
  const key = string ? string[1].replace(/\\(.)/g, "$1") : bare;
  return lines.length === 1 && key?.length >= 1 && key.length <= 255 ? { key } : "invalid";
}

// SHA-256 over a prefix and fields, each after its length as 64 bits.
function hashFields(prefix, fields) {
  const hash = createHash("sha256").update(prefix);
  for (const field of fields.map((field) => Buffer.from(field))) {
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(field.length));
    hash.update(length).update(field);
  }
  return hash.digest();
}

export function fingerprint({ method, target, content_type: type, body }) {
  const fields = [method, target, type ?? "", Buffer.from(body, "base64")];
  return hashFields("idempotency fingerprint 1", fields).toString("hex");
}

export function recordKey({ principal, method, route, key }) {
  return hashFields("idempotency record 1", [principal, method, route, key]).toString("hex");
}

export function claim({ record, may_run_again: mayRunAgain, now }) {
  if (record === undefined || now >= record.expires_at) return "claimed";
  if (!record.is_same_request) return "mismatched";
  if (record.lease_until === undefined) return "settled";
  if (now < record.lease_until) return "in-flight";
  return mayRunAgain ? "claimed" : "outcome-unknown";
}

// Problems, RFC 9457, section 3.1

export function problem({ body, extension }) {
  let members;
  try {
    members = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(body, "base64")));
  } catch {
    return null;
  }
  if (members === null || typeof members !== "object" || Array.isArray(members)) return null;
  const text = (name) => (typeof members[name] === "string" ? members[name] : null);
  const { status, [extension]: value } = members;
  return {
    type: text("type") ?? "about:blank",
    title: text("title"),
    status: Number.isInteger(status) && status >= 100 && status <= 599 ? status : null,
    detail: text("detail"),
    instance: text("instance"),
    extension: typeof value === "string" || Number.isInteger(value) ? value : null,
  };
}

// Cursors

export function cursor({ cursor, keys, now, ...request }) {
  const bytes = Buffer.from(cursor, "base64url");
  const [payload, tag] = [bytes.subarray(0, -16), bytes.subarray(-16)];
  const isSigned = ([id, secret]) => {
    const mac = createHmac("sha256", Buffer.from(secret, "hex")).update(payload).digest();
    return payload[1] === id && mac.subarray(0, 16).equals(tag);
  };
  if (cursor.length > 512 || bytes.toString("base64url") !== cursor || payload[0] !== 1) return "invalid";
  if (!keys.some(isSigned)) return "invalid";
  if (!payload.subarray(11, 27).equals(bindingOf(request))) return "mismatched";
  if (payload.readBigUInt64BE(3) <= BigInt(now)) return "expired";
  const direction = ["forward", "backward"][payload[2]];
  return { position: { direction, values: readValues(payload.subarray(27)) } };
}

function bindingOf({ route, principal, sort, filters }) {
  const sorted = [...filters].sort((one, other) => Buffer.compare(Buffer.from(one[0]), Buffer.from(other[0])));
  return hashFields("cursor binding 1", [route, principal, sort, ...sorted.flat()]).subarray(0, 16);
}

function readValues(bytes) {
  const found = [];
  for (let rest = bytes; rest.length > 0; ) {
    const tag = rest[0];
    if (tag === 0) found.push("null");
    if (tag === 1 || tag === 2) found.push({ bool: tag === 2 });
    if (tag === 3) found.push({ integer: String(rest.readBigInt64BE(1)) });
    const length = tag >= 4 ? rest.readUInt16BE(1) : 0;
    const content = rest.subarray(3, 3 + length);
    if (tag === 4) found.push({ text: content.toString() });
    if (tag === 5) found.push({ bytes: content.toString("hex") });
    rest = rest.subarray(tag >= 4 ? 3 + length : tag === 3 ? 9 : 1);
  }
  return found;
}
