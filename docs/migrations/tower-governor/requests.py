"""The requests of `compare_http.py tower-governor`, and the differences that the guide lists."""

import time

KEYS = {"PARTNERS": "ada:key-of-ada,bob:key-of-bob", "PROXY": "127.0.0.1"}


def forwarded(*addresses):
    """Requests for a price by way of the proxy, each with this `X-Forwarded-For`."""
    return [("GET", "/prices/abc", [("X-Forwarded-For", address)]) for address in addresses]


def partner(key, address="198.51.100.1"):
    return "GET", "/partners/prices/abc", [("X-Api-Key", key), ("X-Forwarded-For", address)]


def with_source(source, requests):
    return [(*request, b"", source) for request in requests]


PRICE = ("GET", "/prices/abc")
CLIENTS = [f"203.0.113.{number}" for number in range(1, 8)]

# each case has a service of its own, with full quotas
CASES = {
    "burst of an address": [PRICE] * 7,
    "two clients of the proxy": forwarded(*["203.0.113.1"] * 6, *["203.0.113.2"] * 2),
    "HEAD of an exhausted address": [PRICE] * 5 + [("HEAD", "/prices/abc")],
    "no limit on /health": [("GET", "/health")] * 20,
    "unknown path": [("GET", "/nowhere")] * 7,
    "wrong method": [("DELETE", "/prices/abc")] * 7,
    "HEAD counts": [("HEAD", "/prices/abc")] * 7,
    "burst of a key": [partner("key-of-ada")] * 5,
    "two keys of one address": [partner("key-of-ada")] * 2 + [partner("key-of-bob")] * 4,
    "one key from two addresses": [partner("key-of-ada", address) for address in CLIENTS[:5]],
    "no key": [("GET", "/partners/prices/abc")] * 6,
    "empty key": [partner("")] * 2,
    "an unknown key, again and again": [partner("guess")] * 7,
    "many unknown keys from many addresses": [partner(f"guess-{number}", address) for number, address in enumerate(CLIENTS)],
    "refusals by key, then the address": [partner("key-of-ada")] * 6 + forwarded("198.51.100.1"),
    "a client that is no proxy sends X-Forwarded-For": with_source("127.0.0.2", forwarded(*CLIENTS)),
    "a client of the proxy sends X-Forwarded-For": forwarded(*[f"{claimed}, 198.51.100.7" for claimed in CLIENTS]),
    "X-Real-IP": [("GET", "/prices/abc", [("X-Real-IP", address)]) for address in CLIENTS],
    "Forwarded": [("GET", "/prices/abc", [("Forwarded", f"for={address}")]) for address in CLIENTS],
    "address with a port": forwarded(*[f"{address}:4711" for address in CLIENTS]),
    "unknown, then an address": forwarded(*[f"unknown, {address}" for address in CLIENTS]),
    "an address, then unknown": forwarded(*[f"{address}, unknown" for address in CLIENTS]),
    "text that is no address": forwarded(*["nonsense"] * 7),
    "neighbours in one IPv6 /64": forwarded(*[f"2001:db8:1:2::{number}" for number in range(1, 8)]),
    "IPv6 addresses of several /64": forwarded(*[f"2001:db8:1:{number}::1" for number in range(1, 8)]),
    "IPv4, and the same in IPv6": forwarded(*["203.0.113.1", "::ffff:203.0.113.1"] * 3),
    "orders": [("POST", "/orders")] * 3 + [("GET", "/orders")] * 3,
    "logins": [("POST", "/login")] * 4,
    "logins of two clients of the proxy": [("POST", "/login", [("X-Forwarded-For", address)]) for address in CLIENTS[:3]],
}


def observe(start):
    observed = {}
    for name, requests in CASES.items():
        with start(**KEYS) as service:
            observed[name] = {"answers": [service.send(*request) for request in requests]}
    with start(**KEYS) as service:
        drain(service)
        began = time.monotonic()
        while (answer := service.send(*PRICE))["status"] == 429 and time.monotonic() < began + 10:
            time.sleep(0.02)
        observed["refill"] = {"answers": [answer], "effect": f"after {time.monotonic() - began:.0f} s"}
    with start(**KEYS) as service:
        refused = drain(service)
        time.sleep(int(refused["headers"]["retry-after"][0]))
        observed["retry after `retry-after`"] = {"answers": [service.send(*PRICE)]}
    return observed


def drain(service):
    """Takes all units of the address; returns the first refusal."""
    while (answer := service.send(*PRICE))["status"] == 200:
        pass
    return answer


def allowed_and_refused(before, after):
    """Pairs of responses with the same status."""
    pairs = zip(before.get("answers", []), after.get("answers", []))
    return [(one["headers"], other["headers"], one, other) for one, other in pairs if one["status"] == other["status"]]


def reset(before, after):
    return [other.pop("x-ratelimit-reset") for _, other, *_ in allowed_and_refused(before, after) if "x-ratelimit-reset" in other]


def seconds(before, after):
    return [one.pop("x-ratelimit-after") for one, *_ in allowed_and_refused(before, after) if "x-ratelimit-after" in one]


def rounded(before, after):
    found = []
    for one, other, *_ in allowed_and_refused(before, after):
        if "retry-after" in one and int(other["retry-after"][0]) == int(one["retry-after"][0]) + 1:
            found.append(other.update({"retry-after": one["retry-after"]}))
    return found


def problem(before, after):
    found = []
    for one, other, was, is_ in allowed_and_refused(before, after):
        if was["status"] == 429 and other.get("content-type") == ["application/problem+json"]:
            del other["content-type"], other["cache-control"]
            is_["body"] = was["body"]
            found.append(other)
    return found


def unlimited_method(before, after):
    return [one.pop("x-ratelimit-whitelisted") for one, *_ in allowed_and_refused(before, after) if "x-ratelimit-whitelisted" in one]


RULES = [
    ("`x-ratelimit-reset` is added, in Unix time", reset),
    ("`x-ratelimit-after` is not sent", seconds),
    ("`retry-after` is rounded up instead of down", rounded),
    ("a 429 is a problem document", problem),
    ("`x-ratelimit-whitelisted` is not sent", unlimited_method),
]
PEER = "a forwarding header is read only if a listed proxy sent it, from its last address"
ONE = "only `x-forwarded-for` is read, or only `forwarded`"
NETWORK = "IPv6 addresses of one /64 count as one client"
TIGHTEST = "with two limits, the fields describe the one with the smaller share left"
LIMITED = [200] * 5 + [429] * 2

# the outcomes before and after
DIFFERS = {
    "burst of a key": (TIGHTEST, [200, 200, 200, 429, 429], [200, 200, 200, 429, 429]),
    "two keys of one address": (TIGHTEST, [200] * 5 + [429], [200] * 5 + [429]),
    "one key from two addresses": (TIGHTEST, [200, 200, 200, 429, 429], [200, 200, 200, 429, 429]),
    "refusals by key, then the address": (
        "a refused request takes no unit from the other limit",
        [200, 200, 200, 429, 429, 429, 429],
        [200, 200, 200, 429, 429, 429, 200],
    ),
    "no key": ("the text of the 401 is that of the handler", [401] * 5 + [429], [401] * 5 + [429]),
    "an unknown key, again and again": ("requests with an unknown key count only against the limit of their address", [401] * 3 + [429] * 4, [401] * 5 + [429] * 2),
    "a client that is no proxy sends X-Forwarded-For": (PEER, [200] * 7, LIMITED),
    "a client of the proxy sends X-Forwarded-For": (PEER, [200] * 7, LIMITED),
    "an address, then unknown": (PEER, [200] * 7, LIMITED),
    "X-Real-IP": (ONE, [200] * 7, LIMITED),
    "Forwarded": (ONE, [200] * 7, LIMITED),
    "address with a port": ("an address with a port is read", LIMITED, [200] * 7),
    "neighbours in one IPv6 /64": (NETWORK, [200] * 7, LIMITED),
    "IPv4, and the same in IPv6": ("an IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) counts as the IPv4 address", [200] * 6, [200] * 5 + [429]),
    "retry after `retry-after`": ("a retry after `retry-after` passes", [429], [200]),
}
