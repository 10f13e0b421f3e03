"""What schemathesis is told of the desk beside its document, and which of its failures are none."""

import json

import schemathesis

# Whatever a test registers for webhooks, nothing leaves this machine: nobody listens there.
NOWHERE = "https://127.0.0.1:9/"


def because(*details):
    return lambda problem: {fault["detail"] for fault in problem["errors"]} <= set(details)


def two_cursors(problem):
    return problem["parameter"] == "before"


def anything(problem):
    return True


# (failure, operation, status, problem), and what the problem must say: why a request that its schema allows is refused all the
# same. A schema says how a value looks, and not which values there are at the moment.
EXCEPTIONS = {
    # RFC 9110, 13.1.1: a tag that is not the current one must fail
    ("RejectedPositiveData", "PUT /v1/charges/{id}", 412, "precondition-failed"): anything,
    # RFC 9110, 13.2.1: preconditions come before what is wrong with the content
    ("AcceptedNegativeData", "PUT /v1/charges/{id}", 412, "precondition-failed"): anything,
    # RFC 6585, 3: a write that names no state
    ("RejectedPositiveData", "PUT /v1/charges/{id}", 428, "precondition-required"): anything,
    # RFC 9110, 15.5.21: right by its form, and other money than the charge is of
    ("RejectedPositiveData", "PUT /v1/charges/{id}", 422, "invalid-body"): because("cannot change", "no such customer"),
    # RFC 9110, 15.5.21: right by its form, and nobody's id
    ("RejectedPositiveData", "POST /v1/charges", 422, "invalid-body"): because("no such customer"),
}
for path in ("/v1/charges", "/v1/charges/{id}/refunds", "/v1/customers", "/v1/webhook-deliveries"):
    # RFC 9110, 15.5.1: cursors are signed, so that only those of the desk are any, and of two there must be one
    EXCEPTIONS["RejectedPositiveData", f"GET {path}", 400, "invalid-cursor"] = anything
    EXCEPTIONS["RejectedPositiveData", f"GET {path}", 400, "invalid-page-request"] = two_cursors


# RFC 9110, 15.5.14 and 15.5.15, and RFC 6585, 5: what is refused for its size, on whatever path, is refused
SIZES = {(413, "content-too-large"), (414, "target-too-long"), (431, "fields-too-large")}


@schemathesis.hook
def before_call(context, case, kwargs):
    body = case.body
    if case.operation.label == "POST /v1/webhook-endpoints" and isinstance(body, dict):
        if isinstance(body.get("url"), str):
            body["url"] = NOWHERE


@schemathesis.hook
def filter_failure(context, failure, case, response):
    try:
        problem = json.loads(response.content)
        kind = problem["type"].rsplit("/", 1)[-1]
        name, answered = type(failure).__name__, (response.status_code, kind)
        if name == "AcceptedNegativeData" and answered in SIZES:
            return False
        key = (name, case.operation.label, *answered)
        return not (key in EXCEPTIONS and EXCEPTIONS[key](problem))
    except (ValueError, KeyError, TypeError, AttributeError):
        return True
