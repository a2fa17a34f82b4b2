"""Checksums of crypto-currency addresses.

Sources: Base58Check as in Bitcoin's original client; Bech32 (BIP-173) and Bech32m (BIP-350); mixed-case checksum of
Ethereum addresses (EIP-55), over Keccak-256 as submitted to NIST (padding 0x01, hence not `hashlib.sha3_256`).
May import: the standard library.
"""

from __future__ import annotations

from functools import reduce
from hashlib import sha256

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BECH32_CONSTANTS = (1, 0x2BC830A3)
_MASK = (1 << 64) - 1


def base58check(address: str) -> bool:
    """True for 25 bytes in Base58 whose last four are the double SHA-256 of the others."""
    number = 0
    for char in address:
        digit = _BASE58.find(char)
        if digit < 0:
            return False
        number = number * 58 + digit
    zeros = len(address) - len(address.lstrip("1"))
    raw = bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")
    return len(raw) == 25 and sha256(sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:]


def bech32(address: str) -> bool:
    """True for a Bech32 or Bech32m string in one case with a valid checksum."""
    if address != address.lower() and address != address.upper():
        return False
    prefix, _, data = address.lower().rpartition("1")
    values = [_BECH32.find(char) for char in data]
    if not prefix or len(values) < 6 or len(address) > 90 or -1 in values:
        return False
    expanded = [ord(char) >> 5 for char in prefix] + [0] + [ord(char) & 31 for char in prefix]
    return reduce(_polymod, expanded + values, 1) in _BECH32_CONSTANTS


def _polymod(state: int, value: int) -> int:
    top = state >> 25
    state = (state & 0x1FFFFFF) << 5 ^ value
    for bit, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
        state ^= generator if top >> bit & 1 else 0
    return state


def eip55(address: str) -> bool:
    """True if the capitals of a `0x` address are those that its Keccak-256 hash asks for."""
    plain = address[2:].lower()
    digest = keccak256(plain.encode("ascii")).hex()
    wanted = (char.upper() if int(nibble, 16) >= 8 else char for char, nibble in zip(plain, digest, strict=False))
    return address[2:] == "".join(wanted)


def keccak256(message: bytes) -> bytes:
    """Keccak-256: rate 136 bytes, 24 rounds of keccak-f[1600]."""
    rate = 136
    padded = bytearray(message + b"\x01" + bytes(-(len(message) + 1) % rate))
    padded[-1] |= 0x80
    lanes = [0] * 25
    for block in range(0, len(padded), rate):
        for index in range(rate // 8):
            lanes[index] ^= int.from_bytes(padded[block + 8 * index : block + 8 * index + 8], "little")
        lanes = _permute(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])


def _permute(lanes: list[int]) -> list[int]:
    """keccak-f[1600]; lane (x, y) is `lanes[x + 5 * y]`. Round constants come from the LFSR of the specification."""
    register = 1
    for _ in range(24):
        columns = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
        lanes = [lane ^ columns[(i - 1) % 5] ^ _rotate(columns[(i + 1) % 5], 1) for i, lane in enumerate(lanes)]
        x, y, current = 1, 0, lanes[1]
        for step in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            current, lanes[x + 5 * y] = lanes[x + 5 * y], _rotate(current, (step + 1) * (step + 2) // 2)
        lanes = [
            lanes[i] ^ (~lanes[i - i % 5 + (i + 1) % 5] & lanes[i - i % 5 + (i + 2) % 5] & _MASK) for i in range(25)
        ]
        for bit in range(7):
            register = (register << 1) ^ ((register >> 7) * 0x171)
            if register & 2:
                lanes[0] ^= 1 << ((1 << bit) - 1)
    return lanes


def _rotate(lane: int, by: int) -> int:
    by %= 64
    return (lane << by | lane >> (64 - by)) & _MASK
