"""Images: recognised by their first bytes, and what vendors take (behaviour.md 2.4)."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import ClassVar

_HEAD = 64 * 1024
"""Base64 characters that are looked at: enough for the header behind a JPEG's metadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What the header of an image says; sizes in pixels, 0 where the header was cut off."""

    max_base64: ClassVar[int] = 5_000_000
    """Vendors refuse an image whose base64 text is longer than about 5 MB."""
    max_pixels: ClassVar[int] = 8000
    """The longest side that vendors take."""

    mime_type: str
    width: int
    height: int

    @property
    def text(self) -> str:
        """For people: format and size."""
        return f"{self.mime_type}, {self.width} x {self.height} pixels" if self.width else self.mime_type


def recognise_picture(head: bytes) -> Picture | None:
    """The image that begins with `head` (PNG, JPEG, GIF, WebP), None when it is none of them."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return _picture("image/png", _big(head[16:20]), _big(head[20:24]))
    if head.startswith((b"GIF87a", b"GIF89a")):
        return _picture("image/gif", _little(head[6:8]), _little(head[8:10]))
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _webp(head)
    if head.startswith(b"\xff\xd8\xff"):
        return _jpeg(head)
    return None


def oversize(data: str) -> str:
    """Why vendors would refuse an image (base64 text) for its size, or an empty text."""
    if len(data) > Picture.max_base64:
        return f"{len(data) // 4 * 3} bytes; at most {Picture.max_base64 // 4 * 3} can be shown"
    picture = recognise_picture(_head(data))
    if picture is not None and max(picture.width, picture.height) > Picture.max_pixels:
        return f"{picture.width} x {picture.height} pixels; at most {Picture.max_pixels} a side can be shown"
    return ""


def unusable(data: str, mime_type: str) -> str:
    """Why this is no image that a model can be shown, or an empty text: size, kind, encoding."""
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return "its data is not base64"
    picture = recognise_picture(_head(data))
    if picture is None:
        return "it is not a PNG, JPEG, GIF or WebP image"
    if picture.mime_type != mime_type:
        return f"it is {picture.mime_type}, not {mime_type}"
    return oversize(data)


def _head(data: str) -> bytes:
    try:
        return base64.b64decode(data[:_HEAD])
    except (binascii.Error, ValueError):
        return b""


def _picture(mime_type: str, width: int, height: int) -> Picture:
    return Picture(mime_type=mime_type, width=width, height=height if width else 0)


def _big(raw: bytes) -> int:
    return int.from_bytes(raw, "big")


def _little(raw: bytes) -> int:
    return int.from_bytes(raw, "little")


def _webp(head: bytes) -> Picture:
    kind = head[12:16]
    if kind == b"VP8X":
        return _picture("image/webp", _little(head[24:27]) + 1, _little(head[27:30]) + 1)
    if kind == b"VP8L":
        bits = _little(head[21:25])
        return _picture("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    return _picture("image/webp", _little(head[26:28]) & 0x3FFF, _little(head[28:30]) & 0x3FFF)


def _jpeg(head: bytes) -> Picture:
    """Go from segment to segment until the frame header, which holds the size."""
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if marker == 0xFF:  # fill byte
            at += 1
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return _picture("image/jpeg", _big(head[at + 7 : at + 9]), _big(head[at + 5 : at + 7]))
        at += 2 + _big(head[at + 2 : at + 4])
    return _picture("image/jpeg", 0, 0)
