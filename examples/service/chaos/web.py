"""HTTP over asyncio: a client, and a round-robin proxy before the processes of the desk."""

import asyncio
import json

BROKEN = (OSError, EOFError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError)


class Answer:
    """A whole response."""

    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    def field(self, name):
        return next((value for key, value in self.fields if key == name), "")

    def json(self):
        return json.loads(self.body)


async def read_head(reader):
    """Reads the head of a response: its status and its fields, names in lower case."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").rstrip().split("\r\n")
    pairs = (line.split(":", 1) for line in lines)
    return int(first.split(" ")[1]), [(name.lower(), value.strip()) for name, value in pairs]


async def chunks(reader):
    """Yields the chunks of a body; raises `EOFError` if the connection breaks before its end."""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        yield (await reader.readexactly(size + 2))[:-2]
    await reader.readexactly(2)


async def opened(port, method, path, fields, body=b""):
    """Sends a request on a connection of its own; returns the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
    fields = {"host": f"127.0.0.1:{port}", "connection": "close", "content-length": len(body)} | fields
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    await writer.drain()
    return reader, writer


async def fetch(port, method, path, fields=(), body=b"", seconds=20):
    """Sends a request and reads the response; raises one of `BROKEN` if there is none."""

    async def exchange():
        reader, writer = await opened(port, method, path, dict(fields), body)
        try:
            status, found = await read_head(reader)
            if ("transfer-encoding", "chunked") in found:
                content = b"".join([chunk async for chunk in chunks(reader)])
            else:
                length = next((int(value) for name, value in found if name == "content-length"), 0)
                content = await reader.readexactly(length)
            return Answer(status, found, content)
        finally:
            writer.close()

    return await asyncio.wait_for(exchange(), seconds)


class Balancer:
    """A round-robin proxy. It asks each process for /readyz ten times a second and sends new
    connections to those that are ready; if a process refuses a connection, it tries the next one. It
    repeats no request."""

    def __init__(self, desks):
        self.desks, self.turn = desks, 0
        self.ready, self.forwarding = set(), set()

    async def start(self, port):
        self.server = await asyncio.start_server(self.forward, "127.0.0.1", port, backlog=1024)
        self.checks = [asyncio.create_task(self.check(desk)) for desk in self.desks]

    async def check(self, desk):
        while True:
            try:
                is_ready = (await fetch(desk.port, "GET", "/readyz", seconds=1)).status == 200
            except BROKEN:
                is_ready = False
            (self.ready.add if is_ready else self.ready.discard)(desk)
            await asyncio.sleep(0.1)

    async def connect(self):
        self.turn += 1
        order = [self.desks[(self.turn + index) % len(self.desks)] for index in range(len(self.desks))]
        # without a ready process each is tried, so that clients see its own answer
        for desk in sorted(order, key=lambda desk: desk not in self.ready):
            try:
                return await asyncio.open_connection("127.0.0.1", desk.port)
            except OSError:
                continue
        return None

    async def forward(self, reader, writer):
        # the loop keeps no reference to its tasks
        self.forwarding.add(task := asyncio.current_task())
        if connected := await self.connect():
            await asyncio.gather(pump(reader, connected[1]), pump(connected[0], writer))
            connected[1].close()
        writer.close()
        self.forwarding.discard(task)


async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
    except BROKEN:
        # the other side must see a break too, not an end
        writer.transport.abort()
