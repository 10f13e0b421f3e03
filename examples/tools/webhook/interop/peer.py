"""PyPI `standardwebhooks`: `sign SECRET ID BODY` prints headers, `verify SECRET HEADERS BODY` raises when they are wrong."""

import datetime
import pathlib
import sys

from standardwebhooks import Webhook

verb, secret, given, file = sys.argv[1:]
body = pathlib.Path(file).read_bytes().decode()
peer = Webhook(secret)
if verb == "sign":
    now = datetime.datetime.now(datetime.timezone.utc)
    print(f"webhook-id: {given}")
    print(f"webhook-timestamp: {int(now.timestamp())}")
    print(f"webhook-signature: {peer.sign(given, now, body)}")
else:
    lines = pathlib.Path(given).read_text().splitlines()
    peer.verify(body, {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)})
