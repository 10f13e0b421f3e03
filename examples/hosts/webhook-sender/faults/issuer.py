"""An OpenID Connect issuer whose token and introspection endpoints respond slowly."""

import asyncio
import json
import threading

from sink import LOOP, read_request, write_response


class Issuer:
    """Refuses every code and every token, after `delay` seconds."""

    def __init__(self, delay):
        self.delay = delay
        self.asked = threading.Event()
        server = LOOP.run(asyncio.start_server(self.serve, "127.0.0.1", 0))
        self.url = "http://{}:{}".format(*server.sockets[0].getsockname())

    def metadata(self):
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "introspection_endpoint": f"{self.url}/introspect",
            "jwks_uri": f"{self.url}/jwks",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["EdDSA"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }

    async def serve(self, reader, writer):
        try:
            while True:
                first, _, _ = await read_request(reader)
                status, answer = await self.respond(first.split(" ")[1])
                fields = [("content-type", "application/json")]
                write_response(writer, status, json.dumps(answer).encode(), fields)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def respond(self, path):
        if path.startswith("/.well-known/"):
            return 200, self.metadata()
        if path == "/jwks":
            return 200, {"keys": []}
        self.asked.set()
        await asyncio.sleep(self.delay)
        if path == "/introspect":
            return 200, {"active": False}
        return 400, {"error": "invalid_grant"}
