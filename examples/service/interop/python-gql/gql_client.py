#!/usr/bin/env python3
"""The Python client gql as it comes, against the service: queries, mutations, batches and
introspection by each of its HTTP transports, subscriptions by each of its WebSocket transports and
as multipart responses.

usage: gql_client.py ISSUER [SERVER]
"""

import asyncio
import base64
import json
import subprocess
import sys
import urllib.request
from contextlib import aclosing
from pathlib import Path

from gql import Client, GraphQLRequest, gql
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.aiohttp_websockets import AIOHTTPWebsocketsTransport
from gql.transport.exceptions import TransportConnectionFailed, TransportQueryError
from gql.transport.httpx import HTTPXAsyncTransport, HTTPXTransport
from gql.transport.requests import RequestsHTTPTransport
from gql.transport.websockets import WebsocketsTransport
from graphql import GraphQLError

ISSUER = sys.argv[1].rstrip("/")
GRAPH = f"{ISSUER}/graphql"
SOCKET = GRAPH.replace("http", "ws", 1)
# The transport by `websockets` compares the case of a response header. actix-web writes the names
# in lower case, so there the client is told the subprotocol.
LOWER_CASE = sys.argv[2:] == ["service-actix"]
# limit of each check in seconds
PATIENCE = 60


def bearer():
    request = urllib.request.Request(
        f"{ISSUER}/token", data=b"grant_type=client_credentials&scope=read:charges%20write:charges"
    )
    basic = base64.b64encode(b"demo-service:demo-service-secret").decode()
    request.add_header("authorization", f"Basic {basic}")
    with urllib.request.urlopen(request) as response:
        return f"Bearer {json.load(response)['access_token']}"


TOKEN = bearer()
HEADERS = {"Authorization": TOKEN}
VIEWER = "query Viewer { viewer { subject } }"
CREATE = "mutation Create($amount: Int!) { createCharge(amount: $amount, currency: \"eur\") { id amount version } }"
UPDATES = "subscription Updates { chargeUpdated { amount version } }"
SUBJECT = {"viewer": {"subject": "demo-service"}}

synchronous = [RequestsHTTPTransport, HTTPXTransport]
asynchronous = [AIOHTTPTransport, HTTPXAsyncTransport]
sockets = [WebsocketsTransport, AIOHTTPWebsocketsTransport]


def by_http(transport, **options):
    return Client(transport=transport(url=GRAPH, headers=HEADERS), **options)


def by_socket(transport, token=TOKEN, **options):
    if LOWER_CASE and transport is WebsocketsTransport:
        options["subprotocols"] = [WebsocketsTransport.GRAPHQLWS_SUBPROTOCOL]
    payload = {"Authorization": token} if token else {}
    return Client(transport=transport(url=SOCKET, init_payload=payload, **options), fetch_schema_from_transport=False)


def create(amount):
    return GraphQLRequest(CREATE, variable_values={"amount": amount})


def codes(error):
    return [each["extensions"]["code"] for each in error.errors]


async def refused(awaitable, kind=TransportQueryError):
    """The error by which `awaitable` fails."""
    try:
        answer = await awaitable
    except kind as error:
        return error
    raise AssertionError(f"answered {answer}")


async def operations(session):
    """A query, a mutation with variables, and an operation that the server refuses."""
    assert await session.execute(gql(VIEWER)) == SUBJECT
    created = (await session.execute(create(700)))["createCharge"]
    assert (created["amount"], created["version"]) == (700, 1), created
    error = await refused(session.execute(gql("{ viewer { shoeSize } }")))
    assert codes(error) == ["GRAPHQL_VALIDATION_FAILED"], error
    error = await refused(session.execute(GraphQLRequest(CREATE, variable_values={"amount": "many"})))
    assert codes(error) == ["BAD_USER_INPUT"], error


def update(amount):
    return {"chargeUpdated": {"amount": amount, "version": 1}}


async def hears(session, writer, first):
    """A subscription gets the updates in order. Creates charges until the first update arrives,
    because the subscription may not be active yet."""
    async with aclosing(session.subscribe(gql(UPDATES))) as updates:
        pending = asyncio.ensure_future(anext(updates))
        while not (await asyncio.wait([pending], timeout=0.05))[0]:
            await writer.execute(create(first))
        assert pending.result() == update(first), pending.result()
        await writer.execute(create(first + 1))
        async for heard in updates:
            if heard == update(first + 1):
                return
            assert heard == update(first), heard


class Synchronous:
    """A session without `async`, for `operations`."""

    def __init__(self, session):
        self.session = session

    async def execute(self, request):
        return self.session.execute(request)


async def each_http_transport_executes():
    for transport in synchronous:
        with by_http(transport) as session:
            await operations(Synchronous(session))
    for transport in asynchronous:
        async with by_http(transport) as session:
            await operations(session)


async def each_transport_fetches_the_schema_and_checks_operations_by_it():
    wrong = gql("{ viewer { shoeSize } }")
    for transport in synchronous:
        with by_http(transport, fetch_schema_from_transport=True) as session:
            assert session.execute(gql(VIEWER)) == SUBJECT
            error = await refused(Synchronous(session).execute(wrong), GraphQLError)
            assert "Cannot query field 'shoeSize'" in error.message, error
    clients = [by_http(it, fetch_schema_from_transport=True) for it in asynchronous]
    for transport in sockets:
        client = by_socket(transport)
        client.fetch_schema_from_transport = True
        clients.append(client)
    for client in clients:
        async with client as session:
            assert await session.execute(gql(VIEWER)) == SUBJECT
            error = await refused(session.execute(wrong), GraphQLError)
            assert "Cannot query field 'shoeSize'" in error.message, error


async def each_http_transport_sends_batches():
    requests = [GraphQLRequest(VIEWER), create(701), GraphQLRequest(VIEWER)]

    def judge(answers):
        assert [answers[0], answers[2]] == [SUBJECT, SUBJECT], answers
        assert answers[1]["createCharge"]["amount"] == 701, answers

    for transport in synchronous:
        with by_http(transport) as session:
            judge(session.execute_batch(requests))
    for transport in asynchronous:
        async with by_http(transport) as session:
            judge(await session.execute_batch(requests))
        # operations that start together go in one request
        async with by_http(transport, batch_interval=0.05) as session:
            judge(await asyncio.gather(*(session.execute(request) for request in requests)))


async def each_socket_transport_executes():
    for transport in sockets:
        async with by_socket(transport) as session:
            assert session.transport.subprotocol == transport.GRAPHQLWS_SUBPROTOCOL
            await operations(session)


async def each_socket_transport_subscribes():
    for number, transport in enumerate(sockets):
        # pings of the client are answered
        async with by_socket(transport, ping_interval=0.05, pong_timeout=5) as session, by_http(AIOHTTPTransport) as writer:
            first = 1200 + 100 * number
            await hears(session, writer, first)
            # two subscriptions and a query share a connection
            await asyncio.gather(
                hears_any(session, writer, first + 10),
                hears_any(session, writer, first + 20),
                operations(session),
            )
            await asyncio.wait_for(session.transport.pong_received.wait(), 5)


async def hears_any(session, writer, amount):
    """A subscription gets an update of `amount` between others."""
    async with aclosing(session.subscribe(gql(UPDATES))) as updates:

        async def heard():
            async for update in updates:
                if update["chargeUpdated"]["amount"] == amount:
                    return

        pending = asyncio.ensure_future(heard())
        while not (await asyncio.wait([pending], timeout=0.05))[0]:
            await writer.execute(create(amount))
        pending.result()


async def socket_without_credentials_is_anonymous():
    for transport in sockets:
        async with by_socket(transport, token=None) as session:
            assert await session.execute(gql(VIEWER)) == {"viewer": None}
            error = await refused(anext(session.subscribe(gql(UPDATES))))
            assert codes(error) == ["UNAUTHENTICATED"], error


async def socket_with_refused_credentials_is_closed():
    for transport in sockets:
        client = by_socket(transport, token="Bearer of.an.expired.token")
        await refused(client.connect_async(), TransportConnectionFailed)


async def invalid_subscription_fails_and_the_socket_stays_open():
    for transport in sockets:
        async with by_socket(transport) as session:
            error = await refused(anext(session.subscribe(gql("subscription { chargeUpdated { shoeSize } }"))))
            assert codes(error) == ["GRAPHQL_VALIDATION_FAILED"], error
            assert await session.execute(gql(VIEWER)) == SUBJECT


async def multipart_response_carries_a_subscription():
    async with by_http(AIOHTTPTransport) as session, by_http(AIOHTTPTransport) as writer:
        # less than the interval of heartbeats: an event does not wait for the part after it
        await asyncio.wait_for(hears(session, writer, 1500), 4)
        error = await refused(anext(session.subscribe(gql("subscription { chargeUpdated { shoeSize } }"))), Exception)
        assert "GRAPHQL_VALIDATION_FAILED" in str(error), error


async def command_prints_the_schema():
    command = [Path(sys.executable).with_name("gql-cli"), GRAPH, "--print-schema", "--headers", f"Authorization:{TOKEN}"]
    printed = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert "chargeUpdated" in printed.stdout, printed


CHECKS = [
    each_http_transport_executes,
    each_transport_fetches_the_schema_and_checks_operations_by_it,
    each_http_transport_sends_batches,
    each_socket_transport_executes,
    each_socket_transport_subscribes,
    socket_without_credentials_is_anonymous,
    socket_with_refused_credentials_is_closed,
    invalid_subscription_fails_and_the_socket_stays_open,
    multipart_response_carries_a_subscription,
    command_prints_the_schema,
]


async def main():
    for check in CHECKS:
        name = check.__name__.replace("_", " ")
        try:
            await asyncio.wait_for(check(), PATIENCE)
        except BaseException:
            print(f"interop: gql: {name}: failed", file=sys.stderr)
            raise
        print(f"  ok  gql: {name}")
    print(f"interop: {len(CHECKS)} checks of gql agree")


asyncio.run(main())
