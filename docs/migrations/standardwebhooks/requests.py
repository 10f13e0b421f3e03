"""The requests of `compare_http.py standardwebhooks`, and the differences that the guide lists."""

import base64
import hashlib
import hmac
import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAYMENTS = "whsec_" + base64.b64encode(b"payments-payments-payments").decode()
MEMBERS = "whsec_" + base64.b64encode(b"members-members-members-").decode()
OTHER = "whsec_" + base64.b64encode(b"another-another-another-").decode()


def key(secret):
    text = secret.removeprefix("whsec_").strip()
    return base64.b64decode(text + "=" * (-len(text) % 4))


def token(secret, id, timestamp, body):
    text = id.encode() + b"." + str(timestamp).encode() + b"." + body
    return "v1," + base64.b64encode(hmac.digest(key(secret), text, hashlib.sha256)).decode()


def signed(body, id="msg_1", at=0, secret=PAYMENTS, prefix="webhook-", written=None, tokens="{}"):
    """Headers of a message; `written` is another writing of the timestamp, `tokens` surrounds the token."""
    timestamp = int(time.time()) + at
    return {
        prefix + "id": id,
        prefix + "timestamp": (written or "{}").format(timestamp),
        prefix + "signature": tokens.format(token(secret, id, timestamp, body)),
    }


def payment_cases():
    """Pairs of a name and the requests of the case, each a function of the body of a payment."""
    old, new = token(OTHER, "msg_1", 1, b""), "v1," + "A" * 43 + "="

    def one(name, change=lambda headers: headers, **options):
        return name, lambda body: [(list(change(signed(body, **options)).items()), body)]

    yield one("valid")
    yield "tampered body", lambda body: [(list(signed(body).items()), body + b" ")]
    yield one("wrong secret", secret=OTHER)
    for at in (-310, -290, 290, 310):
        yield one(f"timestamp {at} s from now", at=at)
    for name in ("id", "timestamp", "signature"):
        yield one(f"no {name}", lambda headers, name=name: {k: v for k, v in headers.items() if not k.endswith(name)})
    yield one("no headers", lambda headers: {})
    yield one("two signatures, the second is right", tokens=old + " {}")
    yield one("two signatures, the first is right", tokens="{} " + old)
    yield one("two signatures, joined by a comma and a space", tokens="{}, " + old)
    yield one("two signatures, joined by a comma", tokens="{}," + old)
    yield one("two spaces between signatures", tokens="{}  " + old)
    yield one("16 signatures", tokens=(new + " ") * 15 + "{}")
    yield one("17 signatures", tokens=(new + " ") * 16 + "{}")
    yield one("two lines, the second is right", lambda headers: {"Webhook-Signature": new} | headers)
    yield one("two lines, the first is right", lambda headers: headers | {"Webhook-Signature": new})
    yield one("two lines of the id", lambda headers: headers | {"Webhook-Id": "msg_2"})
    yield one("unknown version", lambda headers: headers | {"webhook-signature": "v2" + headers["webhook-signature"][2:]})
    yield one("version in upper case", lambda headers: headers | {"webhook-signature": headers["webhook-signature"].replace("v1", "V1")})
    yield one("unknown version beside the known one", tokens="v1a,AAAA v2,BBBB {}")
    yield one("no version", lambda headers: headers | {"webhook-signature": headers["webhook-signature"][3:]})
    yield one("signature is not base64", lambda headers: headers | {"webhook-signature": "v1,&&&"})
    yield one("signature without padding", lambda headers: headers | {"webhook-signature": headers["webhook-signature"].rstrip("=")})
    yield one("half a signature", lambda headers: headers | {"webhook-signature": headers["webhook-signature"][:20]})
    yield one("empty signature", lambda headers: headers | {"webhook-signature": ""})
    yield one("odd case of the names", lambda headers: {name.swapcase().replace("I", "i"): value for name, value in headers.items()})
    yield one("svix headers at the payments", prefix="svix-")
    yield one("timestamp with a plus", written="+{}")
    yield one("timestamp with a zero in front", written="0{}")
    yield one("timestamp with a fraction", written="{}.0")
    yield one("timestamp is no number", written="soon")
    yield one("timestamp at the lower limit of an integer", written="-9223372036854775808")
    yield one("id with a dot", id="msg.1")
    yield one("id with a space", id="msg 1")
    yield one("id of 256 bytes", id="m" * 256)
    yield one("id of 257 bytes", id="m" * 257)
    yield one("empty id", id="")
    yield one("id is not ASCII", lambda headers: headers | {"webhook-id": "msg_\u00e9".encode("latin-1")})
    again = lambda body: (list(signed(body).items()), body)
    yield "the same event twice", lambda body: [again(body), again(body)]
    yield "the same id with another body", lambda body: [again(body), again(body + b"\n")]
    yield "an event that fails, twice", lambda body: [again(b"[]"), again(b"[]")]
    yield "empty body", lambda body: [again(b"")]
    yield "body is not UTF-8", lambda body: [again(b'{"type":"\xff"}')]
    yield "event of another type", lambda body: [again(b'{"type":"invoice.created","data":null}')]
    yield "event before its order", lambda body: [again(body.replace(b"order-", b"none-"))]
    for size in (1_500_000, 2_500_000):
        yield f"body of {size} bytes", lambda body, size=size: [again(body.ljust(size))]



def payment(order):
    return json.dumps({"type": "payment.succeeded", "data": {"order": order, "amount": 100}}).encode()


def observe_payments(start, observed):
    """Each case has a service of its own, so that all cases can have the same id."""
    for name, requests in payment_cases():
        with subscriber() as (url, received), start(PAYMENTS_SECRET=PAYMENTS, MEMBERS_SECRET=MEMBERS) as service:
            service.json("POST", "/subscribers", {"id": "s", "url": url + "/ok"})
            service.json("PUT", "/orders/order-1", {"price": 100})
            answers = [service.send("POST", "/hooks/payments", headers, body) for headers, body in requests(payment("order-1"))]
            paid = service.json("GET", "/orders/order-1")["paid"]
            wait_until(lambda: len(received) >= paid // 100)
            observed[name] = {"answers": answers, "effect": f"{paid} paid, {len(received)} sent"}
    with start(PAYMENTS_SECRET=PAYMENTS, MEMBERS_SECRET=MEMBERS) as service:
        observed["GET"] = {"answers": [service.send("GET", "/hooks/payments")]}


def observe_members(start, observed):
    """Svix: its own headers, those of the standard, and both."""
    body = b'{"type":"user.created","data":{"id":"u1","mail":"ada@example.org"}}'
    svix = lambda **options: signed(body, secret=MEMBERS, prefix="svix-", **options)
    standard = lambda **options: signed(body, secret=MEMBERS, prefix="webhook-", **options)
    forged = {"svix-signature": "v1," + "A" * 43 + "="}
    cases = {
        "svix headers": svix(),
        "webhook headers": standard(),
        "svix headers and forged webhook headers": svix() | signed(body, secret=OTHER),
        "webhook headers and forged svix headers": standard() | signed(body, secret=OTHER, prefix="svix-"),
        "webhook headers and a forged svix-signature": standard() | forged,
        "svix id and timestamp, webhook-signature": {k.replace("svix-s", "webhook-s"): v for k, v in svix().items()},
        "id of webhook, the others of svix": {k.replace("svix-i", "webhook-i"): v for k, v in svix().items()},
        "svix headers with the secret of the payments": signed(body, prefix="svix-"),
        "svix timestamp before 1970": svix(written="-1"),
        "svix headers in odd case": {"Svix-Id" if k == "svix-id" else k.upper(): v for k, v in svix().items()},
        "svix timestamp at the lower limit": svix(written="-9223372036854775808"),
    }
    for name, headers in cases.items():
        with start(PAYMENTS_SECRET=PAYMENTS, MEMBERS_SECRET=MEMBERS) as service:
            answers = [service.send("POST", "/hooks/members", list(headers.items()), body) for _ in range(2)]
            observed["members: " + name] = {"answers": answers, "effect": len(service.json("GET", "/members"))}


def observe_secrets(start, observed):
    """Secrets with which the service starts, and verifies a message of the same secret."""
    encoded = base64.b64encode(bytes(range(232, 256))).decode()
    short, long, odd = (base64.b64encode(b"s" * length).decode() for length in (16, 100, 25))
    secrets = {
        "whsec_ and base64": "whsec_" + encoded,
        "base64 without prefix": encoded,
        "16 bytes": "whsec_" + short,
        "100 bytes": "whsec_" + long,
        "without padding": "whsec_" + odd.rstrip("="),
        "url-safe base64": "whsec_" + base64.urlsafe_b64encode(bytes(range(232, 256))).decode(),
        "newline at the end": "whsec_" + encoded + "\n",
        "prefix in upper case": "WHSEC_" + encoded,
        "prefix of a private key": "whsk_" + encoded,
        "prefix alone": "whsec_",
        "empty": "",
    }
    for name, secret in secrets.items():
        with start(PAYMENTS_SECRET=secret, MEMBERS_SECRET=MEMBERS) as service:
            if isinstance(service, str):
                observed["secret: " + name] = {"does not start": service}
                continue
            body = b'{"type":"ping","data":null}'
            sender = secret.replace("-", "+").replace("_", "/").replace("whsec/", "whsec_")
            answer = service.send("POST", "/hooks/payments", list(signed(body, secret=sender).items()), body)
            observed["secret: " + name] = {"answers": [answer]}


def observe_sent(start, observed):
    """The messages that two subscribers get, one of which fails at first, before and after a rotation."""
    with subscriber() as (url, received), start(PAYMENTS_SECRET=PAYMENTS, MEMBERS_SECRET=MEMBERS) as service:
        secrets = {}
        for name in ("ok", "flaky"):
            secrets[name] = [service.json("POST", "/subscribers", {"id": name, "url": f"{url}/{name}"})["secret"]]
        for round, order in enumerate(("order-1", "order-2")):
            service.json("PUT", f"/orders/{order}", {"price": 100})
            if round:
                secrets["ok"].append(service.json("POST", "/subscribers/ok/rotate")["secret"])
            body = payment(order)
            service.send("POST", "/hooks/payments", list(signed(body, id=order).items()), body)
            wait_until(lambda: len(received) >= 3 * (round + 1))
        messages = sorted((describe(message, secrets) for message in received), key=json.dumps)
        observed["sent: messages"] = {"messages": messages}
        observed["sent: bytes of a secret"] = {"bytes": len(key(secrets["ok"][0]))}
        observed["sent: the same id at each attempt"] = {"ids": len({message["headers"]["webhook-id"] for message in received})}
        prefixes = {message["headers"]["webhook-id"].split("_")[0] for message in received}
        observed["sent: prefix of an id"] = {"prefixes": sorted(prefixes)}
        rotations = [service.send("POST", "/subscribers/ok/rotate")["status"] for _ in range(8)]
        observed["sent: nine rotations within a day"] = {"statuses": rotations}


def describe(message, secrets):
    """A message without its id and time, with the position of the secret of each token."""
    headers, name = message["headers"], message["path"].strip("/")
    id, timestamp, body = headers["webhook-id"], headers["webhook-timestamp"], message["body"].encode()
    assert abs(int(timestamp) - time.time()) < 10
    made = [token(secret, id, timestamp, body) for secret in secrets[name]]
    tokens = [made.index(one) for one in headers["webhook-signature"].split(" ")]
    kept = {header: value for header, value in headers.items() if header not in ("webhook-id", "webhook-timestamp", "webhook-signature", "host")}
    return {"to": name, "headers": kept, "secrets of the tokens": tokens, "body": message["body"]}


@contextmanager
def subscriber():
    """A server that records messages. `/flaky` fails at the first attempt of each message."""
    received = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            headers = {name.lower(): value for name, value in self.headers.items()}
            first = all(headers["webhook-id"] != other["headers"]["webhook-id"] or other["path"] != self.path for other in received)
            received.append({"path": self.path, "headers": headers, "body": body})
            self.send_response(500 if first and self.path == "/flaky" else 204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", received
    finally:
        server.shutdown()
        server.server_close()


def wait_until(condition):
    end = time.monotonic() + 10
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)


def observe(start):
    observed = {}
    observe_payments(start, observed)
    observe_members(start, observed)
    observe_secrets(start, observed)
    observe_sent(start, observed)
    return observed


def pairs(before, after):
    return zip(before.get("answers", []), after.get("answers", []))


def accepted(before, after):
    found = [after for before, after in pairs(before, after) if (before["status"], after["status"]) == (204, 200)]
    for answer in found:
        answer["status"] = 204
    return found


def refused(before, after):
    """The text of the error became a problem document that is the same for each reason."""
    found = False
    for one, other in pairs(before, after):
        problem = other.get("headers", {}).get("content-type") == ["application/problem+json"]
        if problem and one["status"] == other["status"] and one["headers"] != other["headers"]:
            found = True
            other.update(one)
    return found


def refused_secret(before, after):
    """The program ends with a message of its library."""
    if "does not start" in before and "does not start" in after:
        before["does not start"] = after["does not start"]
        return True
    return False


RULES = [
    ("an accepted event gets 200 instead of 204", accepted),
    ("a refusal is a problem document, the same for every reason", refused),
    ("the messages about invalid secrets differ", refused_secret),
]

PROXY = "signatures in several lines, or joined by a proxy, are read"
ID = "an id that is empty, longer than 256 bytes, or has a dot or a space is refused"
WRITING = "a timestamp with a plus or a zero in front is refused"
EMPTY = "an empty secret is refused"
BOTH = "`webhook-signature` is read beside `svix-signature`"
PAID, NOT = "100 paid, 1 sent", "0 paid, 0 sent"
NO_SECRET = {"does not start": 'Error: InvalidSecret("the secret is empty")\n'}

# the outcomes before and after
DIFFERS = {
    "the same event twice": ("a duplicate is acknowledged and not handled again", [204, 204, "200 paid, 2 sent"], [204, 204, PAID]),
    "the same id with another body": ("an id with another body gets 409", [204, 204, "200 paid, 2 sent"], [204, 409, PAID]),
    "an event that fails, twice": ("the retry of a failed event gets 503 until the lease of 30 s ends", [400, 400, NOT], [400, 503, NOT]),
    "two signatures, joined by a comma and a space": (PROXY, [400, NOT], [200, PAID]),
    "two lines, the second is right": (PROXY, [400, NOT], [200, PAID]),
    "17 signatures": ("more than 16 signatures are refused", [204, PAID], [400, NOT]),
    "two lines of the id": ("a request with two lines `webhook-id` or `webhook-timestamp` is refused", [204, PAID], [400, NOT]),
    "timestamp with a plus": (WRITING, [204, PAID], [400, NOT]),
    "timestamp with a zero in front": (WRITING, [204, PAID], [400, NOT]),
    "timestamp at the lower limit of an integer": ("a timestamp far in the past is refused; standardwebhooks panics", ["the connection is closed", NOT], [400, NOT]),
    "id with a dot": (ID, [204, PAID], [400, NOT]),
    "id with a space": (ID, [204, PAID], [400, NOT]),
    "id of 257 bytes": (ID, [204, PAID], [400, NOT]),
    "empty id": (ID, [204, PAID], [400, NOT]),
    "body is not UTF-8": ("a body that is not UTF-8 is verified, and refused by the parser of JSON", [400, NOT], [400, NOT]),
    "body of 1500000 bytes": ("a body of more than 1 MiB is refused; the limit of axum is 2 MB", [204, PAID], [413, NOT]),
    "members: webhook headers and forged svix headers": (BOTH, [400, 400, 0], [200, 200, 1]),
    "members: webhook headers and a forged svix-signature": (BOTH, [400, 400, 0], [200, 200, 1]),
    "secret: prefix alone": (EMPTY, [204], NO_SECRET),
    "secret: empty": (EMPTY, [204], NO_SECRET),
    "sent: bytes of a secret": ("a generated secret has 32 bytes instead of 24", {"bytes": 24}, {"bytes": 32}),
    "sent: prefix of an id": ("a generated id begins with `evt_`", {"prefixes": ["msg"]}, {"prefixes": ["evt"]}),
    "sent: nine rotations within a day": ("a subscriber has at most eight secrets", {"statuses": [200] * 8}, {"statuses": [200] * 6 + [409] * 2}),
}
