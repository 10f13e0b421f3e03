#!/usr/bin/env python3
"""Compares the responses of a service before and after its migration.

Usage: docs/migrations/compare_http.py standardwebhooks|tower-governor

`requests.py` in the folder of the migration sends the same requests to both packages and returns
what it observed, by the name of the case. Differences that `requests.py` lists are removed and
counted; the guide has a row with the text of each. Any other difference is printed, as are listed
differences that do not occur or have no row, and the exit status is 1.
"""

import importlib.util
import json
import os
import socket
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

from compare import show
from differences import build

HERE = Path(__file__).parent
# the date, and fields of the connection
OMITTED = {"date", "content-length", "connection"}


class Service:
    """A running program that listens on a port of 127.0.0.1."""

    def __init__(self, port):
        self.port = port

    def send(self, method, path, headers=(), body=b"", source="127.0.0.1"):
        """Sends one request as its exact bytes; returns the status, headers and body of the response."""
        head = [(method + " " + path + " HTTP/1.1").encode(), b"Host: service", b"Connection: close"]
        head += [name.encode() + b": " + (value if isinstance(value, bytes) else value.encode()) for name, value in headers]
        head += [b"Content-Length: %d" % len(body)] if body or method != "GET" else []
        with socket.create_connection(("127.0.0.1", self.port), 20, (source, 0)) as connection:
            connection.settimeout(20)
            answer = b""
            try:
                connection.sendall(b"\r\n".join(head) + b"\r\n\r\n" + body)
            except OSError:
                pass  # the service answers before it has read the body
            try:
                while part := connection.recv(65536):
                    answer += part
            except OSError:
                pass
        return parse(answer)

    def json(self, method, path, value=None):
        """Sends JSON; returns the JSON of the response."""
        body = b"" if value is None else json.dumps(value).encode()
        answer = self.send(method, path, [("Content-Type", "application/json")], body)
        assert answer["status"] < 300, (method, path, answer)
        return json.loads(answer["body"] or "null")


def parse(answer):
    if not answer:
        return {"status": "the connection is closed"}
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        if name.lower() not in OMITTED:
            headers.setdefault(name.lower(), []).append(value.strip())
    return {"status": int(status.split()[1]), "headers": headers, "body": body.decode("latin-1")}


def starter(program):
    """Returns a function that starts the program with variables of its environment."""

    @contextmanager
    def start(**variables):
        environment = {**os.environ, "LISTEN": "127.0.0.1:0", **variables}
        process = subprocess.Popen([program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            line = process.stdout.readline()
            yield Service(int(line.rsplit(":", 1)[1])) if line else process.stderr.read()
        finally:
            process.kill()
            process.communicate()

    return start


def outcome(observed):
    """The statuses of the responses and their effect, or the whole observation if it has no response."""
    if "answers" not in observed:
        return observed
    return [answer["status"] for answer in observed["answers"]] + ([observed["effect"]] if "effect" in observed else [])


def remove_listed(name, before, after, listed, notes):
    """Removes the differences that are listed. A case of `DIFFERS` differs, and has its two outcomes."""
    notes.update([reason for reason, rule in listed.RULES if rule(before, after)])
    if name not in listed.DIFFERS:
        return before, after
    reason, *expected = listed.DIFFERS[name]
    notes[reason] += 1
    outcomes = [outcome(before), outcome(after)]
    as_listed = outcomes == expected and before != after
    return ({}, {}) if as_listed else ({"expected": expected}, {"found": outcomes})


def changed_lines(folder):
    command = ["git", "diff", "--no-index", "--numstat", folder / "before", folder / "after"]
    stat = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout
    rows = [line.split("\t") for line in stat.splitlines()]
    rows = [(added, removed, path.rsplit("/", 1)[-1].rstrip("}")) for added, removed, path in rows]
    total = sum(len(path.read_text().splitlines()) for path in (folder / "before/src").rglob("*.rs"))
    return [f"{path}: -{removed} +{added}" for added, removed, path in rows if path != "Cargo.lock"] + [f"{total} lines of Rust before"]


def main():
    folder = HERE / sys.argv[1]
    guide = folder.with_suffix(".md").read_text()
    spec = importlib.util.spec_from_file_location("requests_of_" + folder.name.replace("-", "_"), folder / "requests.py")
    listed = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(listed)
    before, after = (listed.observe(starter(build(folder / package))) for package in ("before", "after"))
    notes, faults = Counter(), 0
    for name in before:
        one, other = json.loads(json.dumps([before[name], after[name]]))
        one, other = remove_listed(name, one, other, listed, notes)
        if one != other:
            faults += 1
            show(name, one, other)
    for reason in {reason for reason, _ in listed.RULES} | {reason for reason, *_ in listed.DIFFERS.values()}:
        if not notes[reason]:
            faults += 1
            print(f"listed, and does not occur: {reason}")
        if f"| {reason} |" not in guide:
            faults += 1
            print(f"no row of the guide: {reason}")
    print(f"{len(before)} cases, {faults} faults")
    print(json.dumps(notes, indent=1))
    print("\n".join(changed_lines(folder)))
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
