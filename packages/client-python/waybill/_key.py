import re
import zlib

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_KEY = re.compile(r"wb_(?:test_)?([0-9A-Za-z]{43})([0-9A-Za-z]{6})")


def is_well_formed_key(text: str) -> bool:
    """Whether a text has the format and checksum of an API key. Detects mistyped keys without a request."""
    match = _KEY.fullmatch(text)
    return match is not None and _checksum(match.group(1)) == match.group(2)


def _checksum(body: str) -> str:
    """CRC-32 in base 62."""
    rest, digits = zlib.crc32(body.encode("ascii")), ""
    while rest > 0:
        rest, digit = divmod(rest, 62)
        digits = _DIGITS[digit] + digits
    return digits.rjust(6, "0")
