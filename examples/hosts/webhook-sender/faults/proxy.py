"""A TCP proxy whose connections can be frozen."""

import asyncio

from sink import LOOP


FOREVER = asyncio.Event()


class Proxy:
    """Forwards connections to a port of this machine."""

    def __init__(self, port):
        self.target = port
        self.frozen = asyncio.Event()
        self.connections = 0
        server = LOOP.run(asyncio.start_server(self.forward, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]

    def freeze(self):
        """Freezes the present connections, without closing them; returns their number."""

        async def swap():
            self.frozen.set()
            self.frozen = asyncio.Event()
            frozen, self.connections = self.connections, 0
            return frozen

        return LOOP.run(swap())

    async def forward(self, reader, writer):
        frozen = self.frozen
        try:
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except ConnectionError:
            writer.close()
            return
        self.connections += 1
        pumps = (pump(reader, server_writer, frozen), pump(server_reader, writer, frozen))
        await asyncio.gather(*pumps, return_exceptions=True)
        self.connections -= not frozen.is_set()


async def pump(reader, writer, frozen):
    try:
        while data := await reader.read(65536):
            if frozen.is_set():
                # neither forwarded nor closed
                await FOREVER.wait()
            writer.write(data)
            await writer.drain()
    finally:
        if not frozen.is_set():
            writer.close()
        else:
            await FOREVER.wait()
