"""Canonical base64url without padding, RFC 4648 §5."""

import base64
import binascii


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text):
    """The bytes, or None for another spelling."""
    try:
        data = base64.b64decode(text.encode() + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if encode(data) == text else None
