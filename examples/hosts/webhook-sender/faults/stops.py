"""SIGTERM of each example program while an exchange is open."""

import http.client
import re
import signal
import socket
import subprocess
import threading
import time
from urllib.parse import parse_qs, urlsplit

from cases import DRAINED, require
from issuer import Issuer
from sender import Sender, environment, wait_for
from sink import Sink, sign

# seconds in which the exchange stays open
OPEN = 1.5


class Program:
    """A running program that listens on a port of its own."""

    def __init__(self, path, *words, **variables):
        command = [path, *words, "--listen", "127.0.0.1:0"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        self.process = subprocess.Popen(command, env=environment() | variables, **pipes)
        first = self.process.stdout.readline()
        listening = re.search(r"listening on (http://\S+)", first)
        require(listening, f"{path.name} does not start: {first}")
        self.url = urlsplit(listening[1])

    def connect(self):
        return http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=20)

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def end(self):
        try:
            return self.process.wait(DRAINED)
        finally:
            self.process.kill()


def stops(faults):
    """SIGTERM of each example program with an open exchange"""
    programs = Sender.program.parent
    yield "webhook-sender: " + stop_sender(faults)
    yield "webhook-receiver: " + stop_receiver(programs / "webhook-receiver")
    yield "oauth-login: " + stop_login(programs / "oauth-login")
    yield "protected-api: " + stop_api(programs / "protected-api")


def stop_sender(faults):
    sink = Sink(delay=OPEN)
    sender = Sender(faults.folder / "stops.sqlite", [sink.url], amounts=1)
    require(wait_for(lambda: sink.arrived, 20), f"no delivery: {sender.errors}")
    code, seconds = sender.terminate(DRAINED)
    require(code == 0, f"exit code {code}")
    require(sink.acknowledged and sender.dispositions["Acked"] == 1, "the delivery was cut off")
    return f"delivery finished, exit 0 in {seconds:.1f} s"


def stop_receiver(path):
    program = Program(path)
    body = b'{"id":"evt_1","type":"a.b","version":"1","created":1700000000,"data":{"object":{}}}'
    timestamp = str(int(time.time()))
    fields = {
        "content-type": "application/json",
        "content-length": len(body),
        "webhook-id": "evt_1",
        "webhook-timestamp": timestamp,
        "webhook-signature": sign("evt_1", timestamp, body),
    }
    head = ["POST / HTTP/1.1", f"host: {program.url.netloc}"] + [f"{name}: {value}" for name, value in fields.items()]
    with socket.create_connection((program.url.hostname, program.url.port), 20) as connection:
        connection.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + body[:10])
        time.sleep(0.5)
        begun = time.monotonic()
        program.terminate()
        time.sleep(OPEN)
        connection.sendall(body[10:])
        response = connection.recv(4096).split(b"\r\n")[0].decode()
    require(re.match(r"HTTP/1.1 2\d\d", response), f"response `{response}`")
    return finish(program, begun, response)


def stop_login(path):
    issuer = Issuer(OPEN)
    program = Program(path, "--issuer", issuer.url)
    connection = program.connect()
    connection.request("GET", "/login")
    response = connection.getresponse()
    response.read()
    location, cookie = response.getheader("location"), response.getheader("set-cookie")
    require(location and cookie, f"no sign-in begins: {response.status}")
    state = parse_qs(urlsplit(location).query)["state"][0]
    callback = f"/callback?code=code&state={state}"
    return stop_while_asking(program, issuer, callback, {"cookie": cookie.split(";")[0]})


def stop_api(path):
    issuer = Issuer(OPEN)
    program = Program(path, "--issuer", issuer.url, CLIENT_SECRET="demo-api-secret")
    return stop_while_asking(program, issuer, "/charges", {"authorization": "Bearer opaque"})


def stop_while_asking(program, issuer, target, fields):
    """Stops a program while it waits for its issuer; the response must arrive."""
    connection, statuses = program.connect(), []

    def exchange():
        connection.request("GET", target, headers=fields)
        statuses.append(connection.getresponse().status)

    client = threading.Thread(target=exchange, daemon=True)
    client.start()
    require(issuer.asked.wait(10), "the issuer is not asked")
    begun = time.monotonic()
    program.terminate()
    client.join(20)
    require(statuses, "the exchange was cut off")
    return finish(program, begun, f"status {statuses[0]}")


def finish(program, begun, response):
    code = program.end()
    require(code == 0, f"exit code {code}")
    return f"{response} after SIGTERM, exit 0 in {time.monotonic() - begun:.1f} s"
