#!/usr/bin/env python3
"""Checks the vectors of this folder with implementations that share no code with the suite.

    docs/vectors/run.py              prints the number of cases of each list; exit 1 on a difference
    docs/vectors/run.py --self-test  changes one expectation of each list and demands the difference
"""

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER / "python"))

import conventions
import oauth
import webhooks

# file → list → implementation of one case
CHECKS = {
    "cursors.json": {"cases": conventions.cursor},
    "dpop.json": {
        "proofs": oauth.proof,
        "thumbprints": oauth.thumbprint,
        "token_hashes": oauth.token_hash,
        "urls": oauth.url,
    },
    "idempotency.json": {
        "decisions": conventions.claim,
        "fingerprints": conventions.fingerprint,
        "keys": conventions.idempotency_key,
        "record_keys": conventions.record_key,
    },
    "pkce.json": {"challenges": oauth.challenge, "pairs": oauth.pair},
    "preconditions.json": {"cases": conventions.precondition},
    "problems.json": {"received": conventions.problem},
    "rate-limits.json": {"quotas": conventions.quota, "sequences": conventions.sequence},
    "redirect-uris.json": {"matches": oauth.redirect, "uris": oauth.redirect_uri},
    "retries.json": {
        "delays": conventions.delay,
        "retry_after": conventions.retry_after,
        "waits": conventions.wait,
    },
    "webhook-signatures.json": {"cases": webhooks.judge},
    "webhook-providers.json": {"cases": webhooks.judge},
}


def differences(judge, cases, file):
    for case in cases:
        found = judge(case, file)
        # in Python `1 == True`
        if json.dumps(found, sort_keys=True) != json.dumps(case["expect"], sort_keys=True):
            yield {"name": case["name"], "expect": case["expect"], "found": found}


def flip(expect):
    """The expectation, changed: the opposite where there is one."""
    if isinstance(expect, bool):
        return not expect
    if isinstance(expect, dict) and isinstance(expect.get("accepted"), bool):
        return {**expect, "accepted": not expect["accepted"]}
    return {"not": expect}


def self_test(name, title, judge, cases, file):
    changed = [{**cases[0], "expect": flip(cases[0]["expect"])}, *cases[1:]]
    found = list(differences(judge, changed, file))
    if [difference["name"] for difference in found] != [cases[0]["name"]]:
        sys.exit(f"{name}, {title}: the changed expectation is not the only difference")


def main(words):
    total = failed = 0
    for path in sorted(FOLDER.glob("*.json")):
        file, name = json.loads(path.read_text()), path.name
        lists = sorted(key for key, value in file.items() if isinstance(value, list))
        if lists != sorted(CHECKS.get(name, {})):
            sys.exit(f"{name}: no implementation checks exactly the lists {lists}")
        for title in lists:
            judge, cases = CHECKS[name][title], file[title]
            if words == ["--self-test"]:
                self_test(name, title, judge, cases, file)
                continue
            for difference in differences(judge, cases, file):
                print(f"{name}, {title}: {json.dumps(difference)}", file=sys.stderr)
                failed += 1
            total += len(cases)
            print(f"{len(cases):5}  {name}, {title}")
    if words == ["--self-test"]:
        print("each changed expectation was found")
        return
    print(f"{total} cases, {failed} differences")
    sys.exit(failed > 0 or total == 0)


main(sys.argv[1:])
