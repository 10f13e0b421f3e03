"""PyPI `pyairtable`: `peer.py SECRET HEADER` raises if the header of the body on stdin is wrong."""

import sys

from pyairtable.models.webhook import WebhookNotification

secret, header = sys.argv[1:]
WebhookNotification.from_request(sys.stdin.buffer.read().decode(), header, secret)
