"""Every answer of a recorded tour, held to PyPI `httplint`: lint.py TOUR.json BASE-URL.

Warnings and faults are findings; exits non-zero on any that is not excepted below, by its name, place and status, with the section
that lets it be; and on an exception that nothing needs."""

import json
import re
import sys

from httplint.message import HttpRequestLinter, HttpResponseLinter
from httplint.note import levels

EXCEPTIONS = set()


def excepted(note, status, *places):
    EXCEPTIONS.update((note, place, status) for place in places)


# RFC 6749, 5.1: a sensitive response has `Pragma: no-cache`; httplint expects it in requests alone
excepted("REQUEST_HDR_IN_RESPONSE", 200, "POST /token", "POST /oauth/introspect", "POST /oauth/revoke")
excepted("REQUEST_HDR_IN_RESPONSE", 400, "POST /token")
# RFC 9111, 5.2.2.5 and 5.2.2.7: both are allowed; a cache without `no-store` support obeys
# `private`
excepted("CC_CONFLICTING", 200, "GET /v1/charges", "GET /v1/charges/{id}/refunds/{id}", "GET /v1/webhook-deliveries")
excepted("CC_CONFLICTING", 200, "GET /v1/webhook-deliveries/{id}.{id}", "POST /graphql")
excepted("CC_CONFLICTING", 201, "POST /v1/charges", "POST /v1/webhook-endpoints")
excepted("CC_CONFLICTING", 202, "POST /v1/charges/{id}/refunds", "POST /v1/webhook-deliveries/{id}.{id}/replays")
# RFC 9110, 15.3.3: a 202 points to a status monitor in any form; this one uses Location
excepted("LOCATION_UNDEFINED", 202, "POST /v1/charges/{id}/refunds", "POST /v1/webhook-deliveries/{id}.{id}/replays")
# RFC 9111, 5.2.2.9: `public` is allowed where it is redundant
excepted("STORE_PUBLIC_UNNECESSARY", 200, "GET /.well-known/openid-configuration", "GET /.well-known/jwks.json")
# not about the response: the tour sends invalid requests on purpose
excepted("STATUS_BAD_REQUEST", 400, "GET /v1/charges", "POST /token", "GET /login")
excepted("STATUS_BAD_REQUEST", 400, "GET /password/reset", "POST /password/reset")


def notes(exchange, base):
    request = HttpRequestLinter()
    target = base + exchange["path"]
    request.process_request_topline(exchange["method"].encode(), target.encode(), b"1.1")
    request.process_headers(encoded(exchange["sent"]))
    response = HttpResponseLinter(start_time=exchange["at"], _related=request)
    response.is_head_response = exchange["method"] == "HEAD"
    response.base_uri = target
    response.process_response_topline(b"1.1", str(exchange["status"]).encode())
    response.process_headers(encoded(exchange["fields"]))
    if exchange["content"] is not None:
        response.feed_content(exchange["content"].encode())
    # reading does not wait for the end of a stream
    response.finish_content(exchange["content"] is not None)
    return flat(response.notes)


def encoded(fields):
    return [(name.encode(), value.encode()) for name, value in fields]


def flat(found):
    for note in found:
        yield note
        yield from flat(note.subnotes)


def without_ids(path):
    return re.sub(r"(ch|re|cus|ep|evt)_[0-9a-f]{32}", "{id}", path)


def main(tour, base):
    with open(tour, encoding="utf-8") as file:
        exchanges = json.load(file)
    findings, used = {}, set()
    for exchange in exchanges:
        where = f"{exchange['method']} {without_ids(exchange['path'])}"
        for note in notes(exchange, base):
            if note.level not in (levels.WARN, levels.BAD):
                continue
            key = (type(note).__name__, where, exchange["status"])
            if key in EXCEPTIONS:
                used.add(key)
            else:
                findings.setdefault(key, (note.level.value, note.subject, note.summary))
    for (kind, where, status), (level, subject, summary) in findings.items():
        print(f"{where} ({status}): {level}: {kind} in {subject}: {summary}")
    unused = EXCEPTIONS - used
    for key in sorted(unused):
        print(f"no answer needs the exception {key} any more")
    print(f"httplint: {len(findings)} findings in {len(exchanges)} answers")
    return 1 if findings or unused or not exchanges else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
