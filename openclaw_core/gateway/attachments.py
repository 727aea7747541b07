"""Images that a client sends with a message: checked at the door, before anything is stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openclaw_core.domain.pictures import unusable
from openclaw_core.errors import InvalidRequest

MAX_IMAGES = 8


def attached_images(value: Any) -> list[dict[str, str]]:
    """The `attachments` parameter, ``[{mimeType, content}]`` with base64 content, as images of a journal body.

    Raises InvalidRequest naming the first one that a model could not be shown: once stored, it would fail every
    later request of its session.
    """
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > MAX_IMAGES:
        raise InvalidRequest(f"The parameter 'attachments' must be a list of at most {MAX_IMAGES} images.")
    return [_image(number, item) for number, item in enumerate(value, 1)]


def _image(number: int, item: Any) -> dict[str, str]:
    fields: Mapping[str, Any] = item if isinstance(item, Mapping) else {}
    mime_type, data = fields.get("mimeType"), fields.get("content")
    if not isinstance(mime_type, str) or not isinstance(data, str):
        raise InvalidRequest(
            f"Attachment {number} lacks 'mimeType' or 'content'.", hint="Send the image as base64 text in 'content'."
        )
    why = unusable(data, mime_type)
    if why:
        raise InvalidRequest(
            f"Attachment {number} cannot be used: {why}.",
            code="attachment_refused",
            hint="Send a PNG, JPEG, GIF or WebP image within the limits.",
        )
    return {"data": data, "mimeType": mime_type}
