"""Receivers of webhooks on loopback, and the event loop that all servers of the faults share."""

import asyncio
import base64
import hashlib
import hmac
import json
import threading
import time
from collections import Counter
from email.utils import formatdate

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
KEY = base64.b64decode(SECRET.removeprefix("whsec_"))


class Loop:
    """An event loop on a thread of its own."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)


LOOP = Loop()


async def read_request(reader):
    """Reads a request; returns its first line, its fields by lower-case name, and its body."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.split(":", 1) for line in lines if line)
    fields = {name.lower(): value.strip() for name, value in pairs}
    body = await reader.readexactly(int(fields.get("content-length", 0)))
    return first, fields, body


def write_response(writer, status, body=b"", fields=()):
    """Writes a response with the true `Date`."""
    lines = [f"HTTP/1.1 {status} -", f"date: {formatdate(usegmt=True)}", f"content-length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in fields]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def sign(event_id, timestamp, body):
    """Signs a message by Standard Webhooks."""
    signed = f"{event_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()


class Sink:
    """A receiver that verifies signatures and counts events by their id."""

    def __init__(self, host="127.0.0.1", *, delay=0, hangs=False, tolerance=None):
        self.delay, self.hangs, self.tolerance = delay, hangs, tolerance
        self.arrived = {}  # id: monotonic time of the first arrival
        self.acknowledged = {}  # id: monotonic time of the first response with 200
        self.interrupted = {}  # id: monotonic time at which a sender went away before the response
        self.latencies = []  # seconds since the amount was chosen, which is a time in microseconds
        self.counts = Counter()
        server = LOOP.run(asyncio.start_server(self.serve, host, 0, backlog=1024))
        self.url = "http://{}:{}/".format(*server.sockets[0].getsockname())

    async def serve(self, reader, writer):
        try:
            while True:
                _, fields, body = await read_request(reader)
                status = await self.respond(fields, body, reader)
                if status is None:
                    break
                write_response(writer, status)
                await writer.drain()
                if status == 200:
                    self.acknowledged.setdefault(fields["webhook-id"], time.monotonic())
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def respond(self, fields, body, reader):
        """Returns the status of the response; `None` if the sender has gone."""
        event_id, timestamp = fields["webhook-id"], fields["webhook-timestamp"]
        if not hmac.compare_digest(sign(event_id, timestamp, body), fields["webhook-signature"]):
            self.counts["forged"] += 1
            return 400
        if self.tolerance and abs(time.time() - int(timestamp)) > self.tolerance:
            self.counts["stale"] += 1
            return 400
        now = time.monotonic()
        self.counts["repeated"] += event_id in self.arrived
        self.arrived.setdefault(event_id, now)
        if self.hangs:
            await reader.read(1)
            return None
        amount = json.loads(body)["data"]["object"]["amount"]
        self.latencies.append((now, (int(now * 1e6) - amount) % 2**32 / 1e6))
        if self.delay:
            await asyncio.sleep(self.delay)
            if reader.at_eof():
                self.interrupted[event_id] = time.monotonic() - self.delay
                return None
        return 200
