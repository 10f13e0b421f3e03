"""Subscribers over server-sent events, multipart responses and WebSocket, which resume."""

import asyncio
import base64
import json
import os
import time
from collections import Counter

from web import BROKEN, chunks, opened, read_head

QUERY = "subscription { chargeUpdated { id version } }"
MULTIPART = "multipart/mixed;subscriptionSpec=1.0"
PROTOCOL = {
    "connection": "upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-protocol": "graphql-transport-ws",
}


class Interval:
    """A subscription, from the time at which it was certainly open to its end."""

    def __init__(self):
        self.opened_at, self.ended_at, self.end = time.monotonic(), None, None
        self.heard = set()  # charges and versions

    def hear(self, payload):
        charge = payload["data"]["chargeUpdated"]
        self.heard.add((charge["id"], charge["version"]))


class Subscriber:
    """A client that subscribes again whenever its subscription ends."""

    def __init__(self, traffic, transport):
        self.traffic, self.transport = traffic, transport
        self.intervals = []
        self.ends = Counter()

    async def listen(self):
        subscribe = {"websocket": self.over_websocket}.get(self.transport, self.over_http)
        while True:
            before = len(self.intervals)
            try:
                end = await subscribe(await self.traffic.service_token())
            except BROKEN:
                end = "broke"
            if len(self.intervals) > before:
                self.intervals[-1].ended_at = time.monotonic()
                self.intervals[-1].end = end
                self.ends[end] += 1
            await asyncio.sleep(0.1)

    def is_open(self):
        return bool(self.intervals) and self.intervals[-1].ended_at is None

    def open(self):
        self.intervals.append(Interval())
        return self.intervals[-1]

    async def over_http(self, token):
        accept = "text/event-stream" if self.transport == "events" else MULTIPART
        fields = token | {"accept": accept, "content-type": "application/json"}
        body = json.dumps({"query": QUERY}).encode()
        reader, writer = await opened(self.traffic.port, "POST", "/graphql", fields, body)
        try:
            status, _ = await read_head(reader)
            if status != 200:
                return f"refused with {status}"
            interval, text = self.open(), ""
            async for chunk in chunks(reader):
                text += chunk.decode()
                *lines, text = text.split("\n")
                self.read(interval, lines)
                if "event: complete" in lines:
                    return "completed"
            return "ended by the server"
        finally:
            writer.close()

    @staticmethod
    def read(interval, lines):
        for line in lines:
            message = line.strip().removeprefix("data: ")
            if message.startswith("{") and "chargeUpdated" in message:
                message = json.loads(message)
                interval.hear(message.get("payload", message))

    async def over_websocket(self, token):
        fields = PROTOCOL | {"sec-websocket-key": base64.b64encode(os.urandom(16)).decode()}
        reader, writer = await opened(self.traffic.port, "GET", "/graphql", fields)
        try:
            status, _ = await read_head(reader)
            if status != 101:
                return f"refused with {status}"
            return await self.converse(reader, writer, token)
        finally:
            writer.close()

    async def converse(self, reader, writer, token):
        def say(message):
            write_frame(writer, 1, json.dumps(message).encode())

        interval = None
        say({"type": "connection_init", "payload": {"Authorization": token["authorization"]}})
        while True:
            kind, payload = await read_frame(reader)
            if kind == 8:
                return f"closed with {int.from_bytes(payload[:2])}"
            if kind == 9:
                write_frame(writer, 10, payload)
            if kind != 1:
                continue
            message = json.loads(payload)
            match message["type"], message.get("id"):
                case "connection_ack", _:
                    # operations begin in order: with the answer to the second the first is open
                    for number, query in enumerate([QUERY, "{ __typename }"]):
                        say({"type": "subscribe", "id": str(number), "payload": {"query": query}})
                case "next", "0":
                    # the subscription may hear a change before the second answer
                    interval = interval or self.open()
                    interval.hear(message["payload"])
                case "complete", "1":
                    interval = interval or self.open()
                case "complete", "0":
                    return "completed"
                case "ping", _:
                    say({"type": "pong"})
                case "error", _:
                    return "refused by an error"


def write_frame(writer, kind, payload):
    """Writes a frame under a mask of zeros."""
    length = len(payload)
    size = bytes([0x80 | length]) if length < 126 else bytes([0x80 | 126]) + length.to_bytes(2)
    writer.write(bytes([0x80 | kind]) + size + bytes(4) + payload)


async def read_frame(reader):
    """Reads an unfragmented frame: its opcode and its payload."""
    first, second = await reader.readexactly(2)
    length = second & 127
    if length >= 126:
        length = int.from_bytes(await reader.readexactly(2 if length == 126 else 8))
    return first & 15, await reader.readexactly(length)
