"""Verification of webhooks by a scheme of the table `schemes`, in the order of checks that
README.md lists."""

import base64
import binascii
import hashlib
import hmac
import json
import re
from datetime import datetime
from urllib.parse import parse_qsl

from curves import ed25519_key, verify_ed25519, verify_p256

TIMESTAMP = re.compile(r"0|[1-9][0-9]{0,11}")
EVENT_ID = re.compile(r"[!-\-/-~]{1,256}")
RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
HASHES = {"hmac-sha1": "sha1", "hmac-sha256": "sha256", "hmac-sha512": "sha512"}


class Refused(Exception):
    """The reason of a refusal."""


def judge(request, file):
    scheme = file["schemes"][request["scheme"]]
    try:
        message = Message(request, scheme)
        message.check()
    except Refused as refused:
        return {"accepted": False, "reason": str(refused)}
    return {"accepted": True, **message.identify()}


class Message:
    def __init__(self, request, scheme):
        self.request, self.scheme, self.headers = request, scheme, request["headers"]
        self.keys = self.read_keys()
        body = request["body"]
        is_repeated = isinstance(body, dict)
        self.body = bytes([body["byte"]]) * body["count"] if is_repeated else base64.b64decode(body)
        self.signatures, self.tokens, self.pair = [], 0, None
        self.read_signatures()
        self.timestamp = self.read_timestamp()
        self.names = None
        if isinstance(scheme["id"], dict):
            envelope = [scheme["id"]["envelope"]] if "envelope" in scheme["id"] else None
            self.names = scheme["id"].get("headers", envelope)
        self.id = self.only_header(self.names) if self.names else None
        self.form = self.signed_form() if "sorted-form" in scheme["signed"] else ""
        if "url" in scheme["signed"] and "url" not in request:
            raise Refused("no-url")

    def check(self):
        if self.names and not EVENT_ID.fullmatch(self.id):
            raise Refused("invalid-id")
        seconds = self.read_time()
        self.check_signature(b"".join(self.pieces()))
        if seconds is not None:
            tolerance = self.request.get("tolerance", self.scheme["timestamp"]["tolerance"])
            age = self.request["now"] - seconds
            if abs(age) > tolerance:
                raise Refused("too-old" if age > 0 else "too-new")

    # keys

    def read_keys(self):
        keys = [read_key(self.scheme, text) for text in self.request["keys"]]
        if not 1 <= len(keys) <= 8 or None in keys:
            raise Refused("invalid-key")
        return keys

    # fields

    def lines(self, name):
        return [value for own, value in self.headers if own == name]

    def only_header(self, names):
        found = next((lines for lines in map(self.lines, names) if lines), None)
        if found is None:
            raise Refused("missing-header")
        if len(found) > 1:
            raise Refused("repeated-header")
        return found[0]

    def read_signatures(self):
        place, grammar = self.scheme["signature"]["from"], self.scheme["signature"]["grammar"]
        if "pointer" in place:
            text = text_at(self.body, place["pointer"])
            if text is None:
                raise Refused("no-usable-signature")
            self.add_signatures(grammar, text)
            return
        values = [value for name in place["headers"] for value in self.lines(name)]
        if not values:
            raise Refused("missing-header")
        for at, value in enumerate(values):
            if sum(map(len, values[: at + 1])) > 4096:
                raise Refused("too-many-signatures")
            self.add_signatures(grammar, value)

    def add_signatures(self, grammar, value):
        if "tag" in grammar:
            for token in filter(None, value.split(" ")):
                self.tokens += 1
                if self.tokens > 16:
                    raise Refused("too-many-signatures")
                tag, comma, signature = token.removesuffix(",").partition(",")
                if tag == grammar["tag"] and comma and "," not in signature:
                    self.push(signature)
        elif "separator" in grammar:
            for pair in value.split(grammar["separator"]):
                name, equals, text = pair.strip().partition("=")
                if equals and name == grammar["signature"]:
                    self.push(text)
                elif equals and name == grammar["timestamp"]:
                    if self.pair is not None:
                        raise Refused("repeated-header")
                    self.pair = text
        else:
            value, prefix = value.strip(), grammar["prefix"]
            self.push(value.removeprefix(prefix) if value.startswith(prefix) else "")

    def push(self, signature):
        if len(self.signatures) == 16:
            raise Refused("too-many-signatures")
        self.signatures.append(signature)

    def read_timestamp(self):
        field = self.scheme["timestamp"]
        if field is None:
            return None
        place = field["from"]
        if place != "pair" and "headers" in place:
            return self.only_header(place["headers"])
        text = self.pair if place == "pair" else text_at(self.body, place["pointer"])
        if text is None:
            raise Refused("invalid-timestamp")
        return text

    def read_time(self):
        if self.timestamp is None:
            return None
        unit = self.scheme["timestamp"]["unit"]
        if unit == "seconds" and TIMESTAMP.fullmatch(self.timestamp):
            return int(self.timestamp)
        if unit == "milliseconds" and re.fullmatch(r"[1-9][0-9]{0,14}", self.timestamp):
            return int(self.timestamp) // 1000
        if unit == "rfc3339" and RFC3339.fullmatch(self.timestamp):
            return int(datetime.fromisoformat(self.timestamp.upper()).timestamp())
        raise Refused("invalid-timestamp")

    # signed text

    def pieces(self, with_timestamp=True):
        for part in self.scheme["signed"]:
            if isinstance(part, dict):
                yield part["text"].encode()
            elif part == "timestamp":
                if with_timestamp:
                    yield self.timestamp.encode()
            elif part == "url":
                yield self.request["url"].encode()
                if "query" in self.request:
                    yield from (b"?", self.request["query"].encode())
            else:
                texts = {"id": self.id, "method": self.request.get("method", "POST"), "sorted-form": self.form}
                yield self.body if part == "body" else texts[part].encode()

    def signed_form(self):
        query = parse_qsl(self.request.get("query", ""), keep_blank_values=True)
        digests = [value for name, value in query if name == "bodySHA256"]
        if digests:
            own = hashlib.sha256(self.body).hexdigest()
            if any(digest != own for digest in digests):
                raise Refused("mismatch")
            return ""
        pairs = set(parse_qsl(self.body.decode(errors="replace"), keep_blank_values=True))
        pairs = sorted((name.encode(), value.encode()) for name, value in pairs)
        return b"".join(name + value for name, value in pairs).decode()

    # signatures

    def check_signature(self, signed):
        check = self.scheme["check"]
        if check == "token":
            if not any(key == text.encode() for key in self.keys for text in self.signatures):
                raise Refused("mismatch")
            return
        decode = hex_bytes if self.scheme["encoding"] == "hex" else base64_bytes
        decoded = [data for data in map(decode, self.signatures) if data is not None]
        if check in HASHES:
            macs = [hmac.digest(key, signed, HASHES[check]) for key in self.keys]
            usable = [data for data in decoded if len(data) == len(macs[0])]
            is_right = any(hmac.compare_digest(mac, data) for mac in macs for data in usable)
        elif check == "ed25519":
            usable = [data for data in decoded if len(data) == 64]
            is_right = len(usable) <= 4 and any(
                verify_ed25519(key, signed, data) for key in self.keys for data in usable
            )
        else:
            usable = [numbers for numbers in map(der_numbers, decoded) if numbers]
            is_right = len(usable) <= 4 and any(
                verify_p256(key, signed, *numbers) for key in self.keys for numbers in usable
            )
        if not usable:
            raise Refused("no-usable-signature")
        if check not in HASHES and len(usable) > 4:
            raise Refused("too-many-signatures")
        if not is_right:
            raise Refused("mismatch")

    # ids that detect duplicates

    def hashed(self, pieces):
        texts = [self.request["scheme"].encode(), *pieces]
        framed = b"".join(len(text).to_bytes(8, "big") + text for text in texts)
        return "sha256:" + hashlib.sha256(framed).hexdigest()

    def as_id(self, text):
        return text if EVENT_ID.fullmatch(text) else self.hashed([text.encode()])

    def identify(self):
        source = self.scheme["id"]
        if "headers" in source:
            return {"id": self.as_id(self.id)}
        if "envelope" in source:
            document = parse(self.body)
            found = document.get("id") if isinstance(document, dict) else None
            if not isinstance(found, str) or not EVENT_ID.fullmatch(found):
                return {"reason": "missing-envelope-id"}
            return {"id": found} if found == self.id else {"reason": "id-mismatch"}
        text = text_at(self.body, source["pointer"]) if isinstance(source, dict) else None
        return {"id": self.as_id(text) if text else self.hashed(self.pieces(with_timestamp=False))}


def read_key(scheme, text):
    check, encoding = scheme["check"], scheme["key"]
    if check == "ed25519":
        if encoding == "whpk" and not text.startswith("whpk_"):
            return None
        decode = hex_bytes if encoding == "hex" else base64_bytes
        data = decode(text.lower() if encoding == "hex" else text.removeprefix("whpk_"))
        return data and ed25519_key(data)
    if check == "ecdsa-p256-sha256":
        lines = [line for line in text.splitlines() if not line.startswith("-----")]
        # the key ends with the uncompressed point
        point = base64.b64decode("".join(lines))[-64:]
        return (int.from_bytes(point[:32], "big"), int.from_bytes(point[32:], "big"))
    if text.strip() != text:
        return None
    if encoding == "utf8":
        return text.encode() or None
    if encoding == "hex":
        return hex_bytes(text.lower()) or None
    return base64_bytes(text.removeprefix("whsec_") if encoding == "whsec" else text) or None


def base64_bytes(text):
    """The bytes of canonical base64, or None."""
    try:
        data = base64.b64decode(text.encode(), validate=True)
    except binascii.Error:
        return None
    return data if base64.b64encode(data).decode() == text else None


def hex_bytes(text):
    """The bytes of lowercase hexadecimal, or None."""
    return bytes.fromhex(text) if re.fullmatch(r"([0-9a-f]{2})*", text) else None


def der_numbers(data):
    """The two integers of a DER sequence that fills the text, or None."""
    found, rest = [], data[2:]
    if data[:1] != b"\x30" or data[1] != len(rest):
        return None
    while rest:
        if rest[:1] != b"\x02" or len(rest) < 2 + rest[1]:
            return None
        found.append(int.from_bytes(rest[2 : 2 + rest[1]], "big", signed=True))
        rest = rest[2 + rest[1] :]
    return found if len(found) == 2 else None


def parse(body):
    try:
        return json.loads(body.decode())
    except ValueError:
        return None


def text_at(body, pointer):
    """The string or integer at a JSON pointer (RFC 6901), or None."""
    value = parse(body)
    for token in pointer.split("/")[1:]:
        if isinstance(value, dict):
            value = value.get(token)
        elif isinstance(value, list) and token.isdigit() and int(token) < len(value):
            value = value[int(token)]
        else:
            return None
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    return str(value)
