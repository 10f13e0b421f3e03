"""PKCE (RFC 7636), redirect URIs (RFC 8252) and DPoP (RFC 9449)."""

import hashlib
import json
import re

from base64url import decode, encode
from curves import ed25519_key, verify_ed25519, verify_p256

URI = re.compile(r"([A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*")
AUTHORITY = re.compile(r"(?P<host>[A-Za-z0-9.\-_~%]+|\[[0-9A-Fa-f:.]+\])(:(?P<port>\d*))?")


def sha256(text):
    return encode(hashlib.sha256(text.encode()).digest())


# PKCE


def is_verifier(text):
    return re.fullmatch(r"[A-Za-z0-9\-._~]{43,128}", text) is not None


def challenge(case, _):
    return sha256(case["verifier"]) if is_verifier(case["verifier"]) else None


def pair(case, _):
    if len(decode(case["challenge"]) or b"") != 32:
        return "invalid-challenge"
    if not is_verifier(case["verifier"]):
        return "invalid-verifier"
    return "matches" if sha256(case["verifier"]) == case["challenge"] else "differs"


# redirect URIs

ANY_PORT = {
    "loopback-any-port": ["http://127.0.0.1", "http://[::1]"],
    "localhost-any-port": ["http://localhost"],
}


def split_authority(rest):
    """The authority after `//` by its grammar, or None."""
    text = re.split(r"[/?#]", rest[2:])[0] if rest.startswith("//") else ""
    found = AUTHORITY.fullmatch(text)
    return found if found and int(found["port"] or 0) <= 65535 else None


def is_redirect_uri(uri):
    if len(uri) > 2048 or not URI.fullmatch(uri) or "#" in uri or ":" not in uri:
        return False
    scheme, _, rest = uri.partition(":")
    authority = split_authority(rest)
    if scheme == "https":
        return authority is not None
    if scheme == "http":
        loopback = ("127.0.0.1", "[::1]", "[0:0:0:0:0:0:0:1]", "localhost")
        return authority is not None and authority["host"] in loopback
    is_private = re.fullmatch(r"[a-z][a-z0-9+\-]*\.[a-z0-9+\-.]*", scheme) is not None
    return is_private and rest != "" and (not rest.startswith("//") or "@" not in rest.split("/")[2])


def redirect_uri(case, _):
    return is_redirect_uri(case["uri"])


def split_origin(uri, origins):
    """Origin, port and the rest, or None."""
    for origin in origins:
        found = re.fullmatch(r"(:(?P<port>\d*))?(?P<path>([/?].*)?)", uri.removeprefix(origin))
        if uri.startswith(origin) and found:
            return (origin, found["port"], found["path"])
    return None


def redirect(case, _):
    registered, presented = case["registered"], case["presented"]
    origins = ANY_PORT.get(case["rule"])
    own = origins and split_origin(registered, origins)
    if not is_redirect_uri(registered) or (origins and (own is None or own[1] is not None)):
        return "invalid-registration"
    if not is_redirect_uri(presented):
        return "invalid-uri"
    if not origins:
        return "matches" if registered == presented else "differs"
    found = split_origin(presented, origins)
    is_same = found is not None and (found[0], found[2]) == (own[0], own[2])
    has_port = is_same and (found[1] is None or (found[1] != "" and 1 <= int(found[1]) <= 65535))
    return "matches" if has_port else "differs"


# DPoP

# members that a thumbprint hashes, in their order (RFC 7638, section 3.2)
HASHED = {"EC": ["crv", "kty", "x", "y"], "OKP": ["crv", "kty", "x"], "RSA": ["e", "kty", "n"]}
ALGORITHMS = {("EC", "P-256"): "ES256", ("OKP", "Ed25519"): "EdDSA", ("RSA", None): "RS256"}


def thumbprint(case, _=None):
    jwk = case.get("jwk")
    if not isinstance(jwk, dict):
        return None
    algorithm = ALGORITHMS.get((jwk.get("kty"), jwk.get("crv")))
    if algorithm is None or "d" in jwk or jwk.get("use", "sig") != "sig":
        return None
    if jwk.get("alg", algorithm) != algorithm:
        return None
    members = HASHED[jwk["kty"]]
    if any(len(decode(jwk[name]) or b"") != 32 for name in members if name in "xy"):
        return None
    return sha256(json.dumps({name: jwk[name] for name in members}, separators=(",", ":")))


def token_hash(case, _):
    return sha256(case["token"])


def url(case, _=None):
    """The URL by RFC 3986, sections 6.2.2 and 6.2.3, without query and fragment; or None."""
    scheme, colon, rest = case["url"].partition(":")
    scheme = scheme.lower()
    authority = split_authority(rest) if URI.fullmatch(rest) else None
    if not colon or scheme not in ("http", "https") or authority is None:
        return None
    port = authority["port"] or ""
    is_default = port in ("", {"http": "80", "https": "443"}[scheme])
    path = re.split(r"[?#]", rest[2 + len(authority[0]) :])[0]
    path = re.sub("%[0-9A-Fa-f]{2}", lambda found: normal(found[0]), path)
    host = authority["host"].lower()
    return f"{scheme}://{host}{'' if is_default else ':' + port}{without_dots(path)}"


def normal(escape):
    character = chr(int(escape[1:], 16))
    return character if re.fullmatch(r"[A-Za-z0-9\-._~]", character) else escape.upper()


def without_dots(path):
    """RFC 3986, section 5.2.4."""
    segments = []
    for segment in path.split("/")[1:]:
        if segment == "..":
            del segments[-1:]
        elif segment != ".":
            segments.append(segment)
    is_folder = path.endswith(("/.", "/.."))
    return "/" + "/".join([*segments, ""] if is_folder else segments)


class Refused(Exception):
    """The reason of a refusal."""


def proof(case, _):
    try:
        return {"accepted": True, "thumbprint": verify(case)}
    except Refused as refused:
        return {"accepted": False, "reason": str(refused)}


def verify(case):
    if len(case["proofs"]) != 1:
        raise Refused("repeated" if case["proofs"] else "missing")
    segments = case["proofs"][0].split(".")
    decoded = [decode(segment) for segment in segments]
    if len(segments) != 3 or None in decoded:
        raise Refused("malformed")
    header, claims = json.loads(decoded[0]), json.loads(decoded[1])
    if "crit" in header:
        raise Refused("malformed")
    is_known = re.fullmatch(r"(ES|RS|PS)\d{3}|EdDSA", header["alg"])
    if is_known and header.get("typ") != "dpop+jwt":
        raise Refused("wrong-type")
    if header["alg"] not in ("ES256", "EdDSA"):
        raise Refused("unsupported-algorithm")
    own, jwk = thumbprint(header), header["jwk"]
    if own is None or ALGORITHMS[(jwk["kty"], jwk["crv"])] != header["alg"]:
        raise Refused("unusable-key")
    check_claims(claims, case)
    signed, signature = ".".join(segments[:2]).encode(), decoded[2]
    if not (len(signature) == 64 and is_signed(jwk, signed, signature)):
        raise Refused("signature-mismatch")
    return own


def is_signed(jwk, signed, signature):
    if jwk["kty"] == "OKP":
        return verify_ed25519(ed25519_key(decode(jwk["x"])), signed, signature)
    point = [int.from_bytes(decode(jwk[name]), "big") for name in "xy"]
    numbers = [int.from_bytes(half, "big") for half in (signature[:32], signature[32:])]
    return verify_p256(tuple(point), signed, *numbers)


def check_claims(claims, case):
    texts = [claims.get(name) for name in ("jti", "htm", "htu")]
    iat, now = claims.get("iat"), case["now"]
    are_texts = all(isinstance(text, str) for text in texts)
    if not are_texts or not isinstance(iat, int) or not 1 <= len(texts[0]) <= 256:
        raise Refused("malformed")
    if texts[1] != case["method"]:
        raise Refused("wrong-method")
    if url({"url": texts[2]}) is None or url({"url": texts[2]}) != url(case):
        raise Refused("wrong-uri")
    if now >= claims.get("exp", float("inf")) + 10 or now >= iat + min(case["window"], 300):
        raise Refused("too-old")
    if max(iat, claims.get("nbf", 0)) > now + 10:
        raise Refused("not-yet-valid")
    token = case.get("access_token")
    if token is not None and claims.get("ath") != sha256(token):
        raise Refused("wrong-access-token")
