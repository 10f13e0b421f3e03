"""Verification with Ed25519 (RFC 8032) and ECDSA on P-256 (FIPS 186-5), by their formulas.

For tests alone: nothing here takes constant time.
"""

import hashlib


class Edwards:
    """The curve of Ed25519: -x² + y² = 1 + d x² y², RFC 8032 §5.1."""

    p = 2**255 - 19
    order = 2**252 + 27742317777372353535851937790883648493
    d = -121665 * pow(121666, -1, p) % p
    identity = (0, 1, 1, 0)

    def add(self, one, other):
        a = (one[1] - one[0]) * (other[1] - other[0]) % self.p
        b = (one[1] + one[0]) * (other[1] + other[0]) % self.p
        c = 2 * one[3] * other[3] * self.d % self.p
        f = 2 * one[2] * other[2] % self.p
        e, f, g, h = b - a, f - c, f + c, b + a
        return (e * f % self.p, g * h % self.p, f * g % self.p, e * h % self.p)

    def times(self, scalar, point):
        product = self.identity
        while scalar:
            if scalar & 1:
                product = self.add(product, point)
            point = self.add(point, point)
            scalar >>= 1
        return product

    def equal(self, one, other):
        return (one[0] * other[2] - other[0] * one[2]) % self.p == 0 and (
            one[1] * other[2] - other[1] * one[2]
        ) % self.p == 0

    def decode(self, data):
        """The point of 32 bytes, or None."""
        number = int.from_bytes(data, "little")
        sign, y = number >> 255, (number & ((1 << 255) - 1)) % self.p
        square = (y * y - 1) * pow(self.d * y * y + 1, -1, self.p) % self.p
        x = pow(square, (self.p + 3) // 8, self.p)
        if (x * x - square) % self.p:
            x = x * pow(2, (self.p - 1) // 4, self.p) % self.p
        if (x * x - square) % self.p:
            return None
        x = self.p - x if x & 1 != sign else x
        return (x, y, 1, x * y % self.p)

    def has_small_order(self, point):
        return self.equal(self.times(8, point), self.identity)


EDWARDS = Edwards()
ED25519_BASE = EDWARDS.decode((4 * pow(5, -1, Edwards.p) % Edwards.p).to_bytes(32, "little"))


def ed25519_key(data):
    """The point of a public key; None for one that is no point or has a small order."""
    point = EDWARDS.decode(data) if len(data) == 32 else None
    return None if point is None or EDWARDS.has_small_order(point) else (data, point)


def verify_ed25519(key, message, signature):
    """RFC 8032 §5.1.7 without the cofactor; commitments of small order are refused."""
    data, point = key
    commitment = EDWARDS.decode(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if commitment is None or EDWARDS.has_small_order(commitment) or scalar >= EDWARDS.order:
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + data + message).digest(), "little")
    right = EDWARDS.add(commitment, EDWARDS.times(challenge % EDWARDS.order, point))
    return EDWARDS.equal(EDWARDS.times(scalar, ED25519_BASE), right)


# y² = x³ - 3x + b, FIPS 186-5 and SP 800-186 §3.2.1.3
P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
P256_BASE = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def is_on_p256(point):
    x, y = point
    return x < P and y < P and (y * y - (x * x * x - 3 * x + B)) % P == 0


def add_p256(one, other):
    """The sum of two points; None is the point at infinity."""
    if one is None or other is None:
        return one or other
    (x, y), (u, v) = one, other
    if x == u and (y + v) % P == 0:
        return None
    slope = (3 * x * x - 3) * pow(2 * y, -1, P) if one == other else (v - y) * pow(u - x, -1, P)
    third = (slope * slope - x - u) % P
    return (third, (slope * (x - third) - y) % P)


def times_p256(scalar, point):
    product = None
    while scalar:
        if scalar & 1:
            product = add_p256(product, point)
        point = add_p256(point, point)
        scalar >>= 1
    return product


def verify_p256(point, message, r, s):
    """ECDSA with SHA-256, FIPS 186-5 §6.4.2."""
    if not (0 < r < N and 0 < s < N and is_on_p256(point)):
        return False
    digest = int.from_bytes(hashlib.sha256(message).digest(), "big")
    inverse = pow(s, -1, N)
    sum_of = add_p256(times_p256(digest * inverse % N, P256_BASE), times_p256(r * inverse % N, point))
    return sum_of is not None and sum_of[0] % N == r
