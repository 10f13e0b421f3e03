"""The load: charges and refunds under keys, sign-ins, refreshes, and the receiver of webhooks."""

import asyncio
import base64
import hashlib
import hmac
import json
import random
import re
import time
from collections import Counter, defaultdict
from urllib.parse import parse_qs, urlencode, urlsplit

from sink import read_request, write_response
from web import BROKEN, fetch

FORM = {"content-type": "application/x-www-form-urlencoded"}
SERVICE = {"authorization": "Basic " + base64.b64encode(b"demo-service:demo-service-secret").decode()}
SCOPE = "read:charges write:charges write:refunds"
REDIRECT = "http://127.0.0.1:9999/callback"
EMAIL, PASSWORD = "ada@example.com", "correct horse battery staple"
BROWSER = {"accept": "text/html", "user-agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"}
# a client that gets no definite answer for this long gives up
PATIENCE = 90


class Interrupted(Exception):
    """A step of a sign-in failed, and the user begins again."""


class Traffic:
    """Requests by way of the balancer, and their outcomes."""

    def __init__(self, port, seed):
        self.port, self.random = port, random.Random(seed)
        self.statuses, self.breaks = Counter(), Counter()
        self.failures = []  # of requests, for the rolling restart and the soak
        self.durations = []  # the time of each answer, its route, and the seconds until it came
        self.is_over = False
        self.renewing, self.token_ends = asyncio.Lock(), 0

    async def send(self, method, path, fields=(), body=b""):
        began = time.monotonic()
        try:
            answer = await fetch(self.port, method, path, fields, body)
        except BROKEN as broken:
            self.breaks[type(broken).__name__] += 1
            self.failures.append(f"{method} {path.split('?')[0]}: {broken!r}")
            raise
        self.statuses[answer.status] += 1
        route = f"{method} {re.sub('ch_[0-9a-z]+', '{id}', path.split('?')[0])}"
        self.durations.append((time.monotonic(), route, time.monotonic() - began))
        if answer.status >= 500 or answer.status == 429:
            self.failures.append(f"{method} {path.split('?')[0]}: {answer.status} {answer.body[:300]}")
        return answer

    async def pause(self, least, most):
        await asyncio.sleep(self.random.uniform(least, most))

    async def definite(self, method, path, fields=(), body=b""):
        """Repeats a request until it has a definite answer; `None` if it gets none."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                answer = await self.send(method, path, fields, body)
            except BROKEN:
                await self.pause(0.05, 0.3)
                continue
            is_in_flight = answer.status == 409 and b"idempotency-in-flight" in answer.body
            if answer.status < 500 and answer.status != 429 and not is_in_flight:
                return answer
            await self.pause(0.1, 0.5)
        return None

    async def service_token(self):
        """The header with an access token that is valid for a minute at least."""
        async with self.renewing:
            if self.token_ends < time.monotonic() + 60:
                body = urlencode({"grant_type": "client_credentials", "scope": SCOPE}).encode()
                answer = (await self.definite("POST", "/token", SERVICE | FORM, body)).json()
                self.token = {"authorization": f"Bearer {answer['access_token']}"}
                self.token_ends = time.monotonic() + answer["expires_in"]
            return self.token


class Order:
    """A request under a key, and its answers."""

    def __init__(self, key, path, body):
        self.key, self.path, self.body = key, path, body
        self.sent_at, self.acknowledged_at = time.monotonic(), None
        self.is_abandoned = False
        self.answers = []  # status and body, one for each definite answer

    @property
    def resource(self):
        """The acknowledged resource; `None` without an acknowledgement."""
        accepted = [body for status, body in self.answers if status in (201, 202)]
        return json.loads(accepted[0]) if accepted else None

    async def fields(self, traffic):
        fields = {"content-type": "application/json", "idempotency-key": self.key}
        return await traffic.service_token() | fields

    async def ask(self, traffic):
        answer = await traffic.definite("POST", self.path, await self.fields(traffic), self.body)
        if answer:
            self.answers.append((answer.status, answer.body))
            self.acknowledged_at = self.acknowledged_at or time.monotonic()


class Shop:
    """Clients that create charges and refund them."""

    def __init__(self, traffic, seed):
        self.traffic, self.seed = traffic, seed
        self.charges, self.refunds = [], []

    def order(self, orders, path, body):
        key = f"chaos-{self.seed}-{'charge' if orders is self.charges else 'refund'}-{len(orders)}"
        if orders is self.charges:
            body["description"] = key
        order = Order(key, path, json.dumps(body).encode())
        orders.append(order)
        return order

    async def sell(self):
        traffic = self.traffic
        while not traffic.is_over:
            body = {"amount": traffic.random.randrange(500, 1000), "currency": "eur"}
            charge = self.order(self.charges, "/v1/charges", body)
            if traffic.random.random() < 0.1:
                await self.abandon(charge)
            else:
                await charge.ask(traffic)
            if charge.resource and traffic.random.random() < 0.3:
                path = f"/v1/charges/{charge.resource['id']}/refunds"
                refund = self.order(self.refunds, path, {"amount": traffic.random.randrange(1, 100)})
                await refund.ask(traffic)
            if traffic.random.random() < 0.2 and not charge.is_abandoned:
                await charge.ask(traffic)
            await traffic.pause(0.1, 0.4)

    async def abandon(self, order):
        """Sends a request once: a client that never learns the outcome."""
        fields = await order.fields(self.traffic)
        try:
            answer = await self.traffic.send("POST", order.path, fields, order.body)
        except BROKEN:
            order.is_abandoned = True
            return
        order.is_abandoned = answer.status != 201
        if answer.status == 201:
            order.answers.append((answer.status, answer.body))
            order.acknowledged_at = time.monotonic()


class User:
    """A user of the native application: signs in by the code flow with PKCE, and refreshes."""

    def __init__(self, traffic):
        self.traffic = traffic
        self.chains = []  # for each sign-in: pairs of a refresh token and its successor
        self.counts = Counter()

    async def use(self):
        while not self.traffic.is_over:
            try:
                token = await self.sign_in()
            except (*BROKEN, Interrupted):
                self.counts["sign-ins begun again"] += 1
                await self.traffic.pause(0.2, 0.6)
                continue
            self.counts["sign-ins"] += 1
            chain = []
            self.chains.append(chain)
            for _ in range(self.traffic.random.randrange(4, 12)):
                await self.traffic.pause(0.2, 0.8)
                token = await self.refresh(token, chain)
                if not token or self.traffic.is_over:
                    break

    async def refresh(self, token, chain):
        """Refreshes, and repeats the request if it had no answer; `None` if the chain has ended."""
        body = {"grant_type": "refresh_token", "client_id": "demo-native", "refresh_token": token}
        body = urlencode(body).encode()
        # now and then two tabs refresh at once, which ends the chain
        is_raced = self.traffic.random.random() < 0.05
        answers = [self.traffic.definite("POST", "/token", FORM, body) for _ in range(1 + is_raced)]
        found = [answer for answer in await asyncio.gather(*answers) if answer and answer.status == 200]
        chain.extend((token, answer.json()["refresh_token"]) for answer in found)
        self.counts["refreshes"] += len(found)
        if is_raced or not found:
            self.counts["chains ended by two tabs" if is_raced else "chains ended by a lost answer"] += 1
            return None
        return chain[-1][1]

    async def sign_in(self):
        cookies, verifier = {}, "".join(self.traffic.random.choices("abcdefghijklmnop", k=48))
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "response_type": "code",
            "client_id": "demo-native",
            "redirect_uri": REDIRECT,
            "scope": SCOPE,
            "state": "s",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        login = await self.step(cookies, "GET", f"/authorize?{urlencode(query)}")
        interaction = parse_qs(urlsplit(login).query).get("interaction", [""])[0]
        form = {"interaction": interaction, "csrf_token": await self.csrf(cookies, login)}
        consent = await self.step(cookies, "POST", "/login", form | {"email": EMAIL, "password": PASSWORD})
        form["csrf_token"] = await self.csrf(cookies, consent)
        back = await self.step(cookies, "POST", "/consent", form | {"decision": "allow"})
        code = parse_qs(urlsplit(back).query).get("code", [""])[0]
        body = {"grant_type": "authorization_code", "client_id": "demo-native", "code": code}
        body |= {"redirect_uri": REDIRECT, "code_verifier": verifier}
        answer = await self.traffic.send("POST", "/token", FORM, urlencode(body).encode())
        if answer.status != 200:
            raise Interrupted
        return answer.json()["refresh_token"]

    async def visit(self, cookies, method, path, form=None):
        fields = BROWSER | {"cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
        body = urlencode(form).encode() if form else b""
        answer = await self.traffic.send(method, path, fields | (FORM if form else {}), body)
        for name, value in answer.fields:
            if name == "set-cookie":
                name, _, value = value.split(";")[0].partition("=")
                cookies[name] = value
        return answer

    async def step(self, cookies, method, path, form=None):
        """Sends a request that redirects; returns the target."""
        answer = await self.visit(cookies, method, path, form)
        if answer.status not in (302, 303):
            raise Interrupted
        return answer.field("location")

    async def csrf(self, cookies, path):
        answer = await self.visit(cookies, "GET", path)
        found = re.search(rb'name="csrf_token" value="([^"]+)"', answer.body)
        if not found:
            raise Interrupted
        return found[1].decode()


class Receiver:
    """A receiver of webhooks that verifies signatures and collects the ids of events."""

    def __init__(self):
        self.events = defaultdict(dict)  # type and charge: ids and the times of their arrival
        self.counts = Counter()

    async def start(self):
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.url = "http://127.0.0.1:{}/".format(server.sockets[0].getsockname()[1])

    async def register(self, traffic, token):
        body = json.dumps({"url": self.url}).encode()
        fields = token | {"content-type": "application/json"}
        answer = await traffic.send("POST", "/v1/webhook-endpoints", fields, body)
        self.key = base64.b64decode(answer.json()["secret"].removeprefix("whsec_"))

    async def serve(self, reader, writer):
        try:
            while True:
                _, fields, body = await read_request(reader)
                write_response(writer, 200 if self.accept(fields, body) else 400)
                await writer.drain()
        except BROKEN:
            pass
        finally:
            writer.close()

    def accept(self, fields, body):
        signed = f"{fields['webhook-id']}.{fields['webhook-timestamp']}.".encode() + body
        signature = base64.b64encode(hmac.new(self.key, signed, hashlib.sha256).digest()).decode()
        if f"v1,{signature}" not in fields["webhook-signature"].split(" "):
            self.counts["forged"] += 1
            return False
        event = json.loads(body)
        ids = self.events[event["type"], event["data"]["object"]["id"]]
        self.counts["repeated" if fields["webhook-id"] in ids else "arrived"] += 1
        ids.setdefault(fields["webhook-id"], time.monotonic())
        return True
