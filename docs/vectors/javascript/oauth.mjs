// PKCE (RFC 7636), redirect URIs (RFC 8252) and DPoP (RFC 9449).
import { createHash, createPublicKey, verify } from "node:crypto";

const URI = /^([A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*$/;
const sha256 = (text) => createHash("sha256").update(text).digest("base64url");

function base64url(text) {
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : undefined;
}

// PKCE

const isVerifier = (text) => /^[A-Za-z0-9\-._~]{43,128}$/.test(text) && !text.includes("\n");

export function challenge({ verifier }) {
  return isVerifier(verifier) ? sha256(verifier) : null;
}

export function pair({ challenge, verifier }) {
  if (base64url(challenge)?.length !== 32) return "invalid-challenge";
  if (!isVerifier(verifier)) return "invalid-verifier";
  return sha256(verifier) === challenge ? "matches" : "differs";
}

// Redirect URIs

const LOOPBACK = ["http://127.0.0.1", "http://[::1]"];
const ANY_PORT = { "loopback-any-port": LOOPBACK, "localhost-any-port": ["http://localhost"] };

function isRedirectUri(uri) {
  if (uri.length > 2048 || !URI.test(uri) || uri.includes("#") || !URL.canParse(uri)) return false;
  const colon = uri.indexOf(":");
  const [scheme, rest] = [uri.slice(0, colon), uri.slice(colon + 1)];
  const authority = rest.startsWith("//") ? rest.slice(2).split(/[/?#]/)[0] : "";
  if (authority.includes("@")) return false;
  if (scheme === "https") return authority !== "";
  const { hostname } = new URL(uri);
  if (scheme === "http") return authority !== "" && ["127.0.0.1", "[::1]", "localhost"].includes(hostname);
  return scheme.includes(".") && rest !== "";
}

export const redirectUri = ({ uri }) => isRedirectUri(uri);

export function redirect({ rule, registered, presented }) {
  const origins = ANY_PORT[rule];
  const parts = (uri) => {
    const origin = origins.find((origin) => uri.startsWith(origin));
    const tail = /^(?::(?<port>\d*))?(?<path>(?:[/?].*)?)$/.exec(uri.slice(origin?.length));
    return origin && tail ? { origin, port: tail.groups.port, path: tail.groups.path } : undefined;
  };
  const own = origins && parts(registered);
  const isValid = isRedirectUri(registered) && (!origins || (own && own.port === undefined));
  if (!isValid) return "invalid-registration";
  if (!isRedirectUri(presented)) return "invalid-uri";
  if (!origins) return registered === presented ? "matches" : "differs";
  const found = parts(presented);
  const port = found?.port ?? "1";
  const isSame = found?.origin === own.origin && found.path === own.path && port >= 1 && port <= 65535 && port !== "";
  return isSame ? "matches" : "differs";
}

// DPoP

// members that a thumbprint hashes, in their order (RFC 7638, section 3.2)
const HASHED = { EC: ["crv", "kty", "x", "y"], OKP: ["crv", "kty", "x"], RSA: ["e", "kty", "n"] };
const ALGORITHMS = { EC: { "P-256": "ES256" }, OKP: { Ed25519: "EdDSA" }, RSA: { undefined: "RS256" } };
const SIZES = { x: 32, y: 32 };

export function thumbprint({ jwk }) {
  const algorithm = ALGORITHMS[jwk?.kty]?.[jwk.crv];
  if (algorithm === undefined || "d" in jwk || (jwk.use ?? "sig") !== "sig") return null;
  if ((jwk.alg ?? algorithm) !== algorithm) return null;
  const members = HASHED[jwk.kty];
  for (const name of members.filter((name) => name in SIZES)) {
    if (base64url(jwk[name])?.length !== SIZES[name]) return null;
  }
  return sha256(JSON.stringify(Object.fromEntries(members.map((name) => [name, jwk[name]]))));
}

export const tokenHash = ({ token }) => sha256(token);

export function url({ url }) {
  if (!/^https?:\/\/[^/?#@]+([/?#]|$)/i.test(url) || !URI.test(url) || !URL.canParse(url)) return null;
  const { protocol, host, pathname } = new URL(url);
  const escapes = pathname.replace(/%[0-9A-Fa-f]{2}/g, (escape) => {
    const character = String.fromCharCode(parseInt(escape.slice(1), 16));
    return /[A-Za-z0-9\-._~]/.test(character) ? character : escape.toUpperCase();
  });
  return `${protocol}//${host}${escapes}`;
}

export function proof(request) {
  const { reason, thumbprint } = verifyProof(request);
  return reason ? { accepted: false, reason } : { accepted: true, thumbprint };
}

function verifyProof({ proofs, ...request }) {
  if (proofs.length !== 1) return { reason: proofs.length === 0 ? "missing" : "repeated" };
  const segments = proofs[0].split(".");
  const [head, payload, signature] = segments.map(base64url);
  if (segments.length !== 3 || !head || !payload || !signature) return { reason: "malformed" };
  const header = JSON.parse(head);
  const claims = JSON.parse(payload);
  if ("crit" in header) return { reason: "malformed" };
  if (!/^(ES|RS|PS)\d{3}$|^EdDSA$/.test(header.alg)) return { reason: "unsupported-algorithm" };
  if (header.typ !== "dpop+jwt") return { reason: "wrong-type" };
  if (!["ES256", "EdDSA"].includes(header.alg)) return { reason: "unsupported-algorithm" };
  const own = thumbprint(header);
  if (own === null || ALGORITHMS[header.jwk.kty][header.jwk.crv] !== header.alg) return { reason: "unusable-key" };
  const reason = refusalOf(claims, request);
  if (reason) return { reason };
  const key = { key: createPublicKey({ key: header.jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" };
  const hash = header.alg === "EdDSA" ? null : "sha256";
  const isSigned = verify(hash, Buffer.from(segments.slice(0, 2).join(".")), key, signature);
  return isSigned ? { thumbprint: own } : { reason: "signature-mismatch" };
}

function refusalOf({ jti, htm, htu, iat, exp, nbf, ath }, { method, url: own, access_token: token, now, window }) {
  const areTexts = [jti, htm, htu].every((claim) => typeof claim === "string");
  if (!areTexts || typeof iat !== "number" || jti.length < 1 || jti.length > 256) return "malformed";
  if (htm !== method) return "wrong-method";
  if (url({ url: htu }) === null || url({ url: htu }) !== url({ url: own })) return "wrong-uri";
  if (now >= (exp ?? Infinity) + 10 || now >= iat + Math.min(window, 300)) return "too-old";
  if (Math.max(iat, nbf ?? 0) > now + 10) return "not-yet-valid";
  return token !== undefined && ath !== sha256(token) ? "wrong-access-token" : undefined;
}
