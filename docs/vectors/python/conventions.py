"""Conventions of HTTP APIs: preconditions, rate limits, waits, idempotency, problems, cursors."""

import base64
import hashlib
import hmac
import json
import re
from datetime import datetime, timezone

from base64url import decode


def values(headers, name):
    return [value for own, value in headers if own == name]


# HTTP-date, RFC 9110, section 5.6.7

FORMS = ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"]


def parse_date(text, now):
    """Seconds since 1970, or None for a text that is no date."""
    for form in FORMS:
        try:
            date = datetime.strptime(text.strip(), form).replace(tzinfo=timezone.utc)
        except ValueError:
            continue
        if "%y" in form:
            date = date.replace(year=full_year(date.year % 100, now))
        weekday = re.match(r"\w+", text.strip())[0]
        is_real = weekday in (date.strftime("%a"), date.strftime("%A"))
        return int(date.timestamp()) if is_real else None
    return None


def full_year(two_digits, now):
    """The latest year with these digits that is at most 50 years ahead."""
    last = datetime.fromtimestamp(now, timezone.utc).year + 50
    return last - (last - two_digits) % 100


# preconditions, RFC 9110, section 13.2.2


def precondition(case, _):
    method, headers, resource = case["method"], case["headers"], case.get("resource")
    if method in ("OPTIONS", "TRACE", "CONNECT"):
        return "proceed"
    is_read = method in ("GET", "HEAD", "QUERY")
    tag = (resource or {}).get("entity_tag")
    if_match = read_tags(values(headers, "if-match"), strong(tag), strong)
    if if_match is None:
        unchanged = dates(case, "if-unmodified-since", lambda modified, since: modified <= since)
    else:
        unchanged = if_match == "listed" or (if_match == "any" and resource is not None)
    if unchanged is False:
        return "precondition-failed"
    if_none_match = read_tags(values(headers, "if-none-match"), opaque(tag), opaque)
    if case["required"] and not is_read and unchanged is not True and if_none_match != "any":
        return "precondition-required"
    if if_none_match is None:
        later = lambda modified, since: modified > since
        changed = dates(case, "if-modified-since", later) if is_read else None
    else:
        outcomes = {"any": resource is None, "malformed": is_read, "unlisted": True, "listed": False}
        changed = outcomes[if_none_match]
    if changed is not False:
        return "proceed"
    return "not-modified" if is_read else "precondition-failed"


def strong(tag):
    return None if tag is None or tag.startswith("W/") else tag


def opaque(tag):
    return tag and tag.removeprefix("W/")


def read_tags(lines, current, form):
    if not lines:
        return None
    members = [member.strip() for line in lines for member in line.split(",") if member.strip()]
    tags = [member for member in members if re.fullmatch(r'(W/)?"[^"]*"', member)]
    stars = members.count("*")
    others = len(members) - len(tags) - stars
    if (stars, len(tags), others) == (1, 0, 0):
        return "any"
    if stars or (others and not tags):
        return "malformed"
    is_listed = current is not None and current in map(form, tags)
    return "listed" if is_listed else "unlisted"


def dates(case, name, holds):
    found = values(case["headers"], name)
    since = parse_date(found[0], case["now"]) if len(found) == 1 else None
    modified = (case.get("resource") or {}).get("last_modified")
    return None if since is None or modified is None else holds(modified, since)


# rate limits, in nanoseconds

SECOND = 10**9
TEN_YEARS = 10 * 365 * 86_400 * SECOND


def interval_of(quota):
    return -(-int(quota["period"]) // quota["limit"])


def quota(case, _):
    if 0 in (case["limit"], int(case["period"]), case["burst"]):
        return "zero"
    longest = interval_of(case) * max(case["burst"], case["limit"])
    return "too-long" if longest > TEN_YEARS else str(interval_of(case))


def sequence(case, _):
    state, decisions = int(case["state"]), []
    interval, burst = interval_of(case["quota"]), case["quota"]["burst"]
    for request in case["requests"]:
        now = int(request["now"])
        latest = now + interval * burst
        start = now if state > latest + 60 * SECOND else max(state, now)
        after = start + interval * min(request["cost"], burst)
        if after > latest:
            decisions.append({"denied": str(after - latest)})
        else:
            state = after
            decisions.append({"allowed": str(after)})
    return decisions


# waits

LONGEST = 2**31


def seconds(text):
    return min(int(text), LONGEST) if re.fullmatch("[0-9]+", text) else None


def retry_after(case, _=None):
    text = case["value"].strip()
    if seconds(text) is not None:
        return seconds(text)
    date = parse_date(text, case["now"])
    return None if date is None else min(max(date - case["now"], 0), LONGEST)


def wait(case, _):
    headers, answered = case["headers"], case["now"]
    for date in values(headers, "date")[:1]:
        answered = parse_date(date, answered) or answered
    named = [retry_after({"value": value, "now": answered}) for value in values(headers, "retry-after")]
    quotas = [quota for value in values(headers, "ratelimit") for quota in value.split(",")]
    for found in (named, map(exhausted_for, quotas)):
        waits = [wait for wait in found if wait is not None]
        if waits:
            return max(waits)
    resets = [reset(values(headers, name), answered) for name in ("ratelimit-reset", "x-ratelimit-reset")]
    return next((wait for wait in resets if wait is not None), None)


def exhausted_for(quota):
    parameters = dict(part.strip().split("=") for part in quota.split(";")[1:])
    return seconds(parameters.get("t", "")) if parameters.get("r") == "0" else None


def reset(found, answered):
    value = seconds(found[0]) if len(found) == 1 else None
    return value if value is None or value < 10**9 else max(value - answered, 0)


def delay(case, _):
    """The schedule of deliveries: half of the gap, and a share of the whole gap."""
    gaps, attempts = case["gaps"], case["attempts"]
    faults = [
        ("too-many-attempts", len(gaps) > 31),
        ("zero-gap", 0 in gaps),
        ("gap-too-long", max(gaps, default=0) > 604_800),
        ("shrinking-gap", gaps != sorted(gaps)),
    ]
    for name, is_made in faults:
        if is_made:
            return name
    if attempts == 0:
        return "0"
    if attempts > len(gaps):
        return "exhausted"
    gap = gaps[attempts - 1] * SECOND
    return str(gap // 2 + (gap * int(case["jitter"]) >> 64))


# idempotency


def idempotency_key(case, _):
    if not case["values"]:
        return "absent"
    value = case["values"][0].strip()
    string = re.fullmatch(r'"((?:[ !#-\[\]-~]|\\["\\])*)"', value)
    bare = re.fullmatch(r"[!#-+\--\[\]-~]*", value)
    key = re.sub(r"\\(.)", r"\1", string[1]) if string else bare and bare[0]
    return {"key": key} if len(case["values"]) == 1 and key and len(key) <= 255 else "invalid"


def hash_fields(prefix, fields):
    """SHA-256 over a prefix and fields, each after its length as 64 bits."""
    data = [field if isinstance(field, bytes) else field.encode() for field in fields]
    framed = b"".join(len(field).to_bytes(8, "big") + field for field in data)
    return hashlib.sha256(prefix.encode() + framed).digest()


def fingerprint(case, _):
    body = base64.b64decode(case["body"])
    fields = [case["method"], case["target"], case.get("content_type", ""), body]
    return hash_fields("idempotency fingerprint 1", fields).hex()


def record_key(case, _):
    fields = [case[name] for name in ("principal", "method", "route", "key")]
    return hash_fields("idempotency record 1", fields).hex()


def claim(case, _):
    record, now = case.get("record"), case["now"]
    if record is None or now >= record["expires_at"]:
        return "claimed"
    if not record["is_same_request"]:
        return "mismatched"
    if "lease_until" not in record:
        return "settled"
    if now < record["lease_until"]:
        return "in-flight"
    return "claimed" if case["may_run_again"] else "outcome-unknown"


# problems, RFC 9457, section 3.1


def problem(case, _):
    try:
        members = json.loads(base64.b64decode(case["body"]).decode())
    except ValueError:
        return None
    if not isinstance(members, dict):
        return None
    text = {name: value for name, value in members.items() if isinstance(value, str)}
    status, extension = members.get("status"), members.get(case["extension"])
    is_status = isinstance(status, int) and 100 <= status <= 599
    return {
        "type": text.get("type", "about:blank"),
        "title": text.get("title"),
        "status": status if is_status else None,
        "detail": text.get("detail"),
        "instance": text.get("instance"),
        "extension": extension if isinstance(extension, (int, str)) else None,
    }


# cursors


def cursor(case, _):
    text = case["cursor"]
    data = decode(text) or b""
    payload, tag = data[:-16], data[-16:]
    if len(text) > 512 or payload[:1] != b"\x01":
        return "invalid"
    secrets = [bytes.fromhex(secret) for number, secret in case["keys"] if number == payload[1]]
    macs = [hmac.digest(secret, payload, "sha256")[:16] for secret in secrets]
    if not any(hmac.compare_digest(mac, tag) for mac in macs):
        return "invalid"
    filters = [text for pair in sorted(case["filters"]) for text in pair]
    fields = [case["route"], case["principal"], case["sort"], *filters]
    if payload[11:27] != hash_fields("cursor binding 1", fields)[:16]:
        return "mismatched"
    if int.from_bytes(payload[3:11], "big") <= case["now"]:
        return "expired"
    direction = ["forward", "backward"][payload[2]]
    return {"position": {"direction": direction, "values": list(read_values(payload[27:]))}}


def read_values(rest):
    while rest:
        tag, rest = rest[0], rest[1:]
        length = {3: 8}.get(tag, 0)
        if tag >= 4:
            length, rest = int.from_bytes(rest[:2], "big"), rest[2:]
        content, rest = rest[:length], rest[length:]
        yield {
            0: lambda: "null",
            1: lambda: {"bool": False},
            2: lambda: {"bool": True},
            3: lambda: {"integer": str(int.from_bytes(content, "big", signed=True))},
            4: lambda: {"text": content.decode()},
            5: lambda: {"bytes": content.hex()},
        }[tag]()
