from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from typing import Any, Dict, Mapping, Optional, Sequence, TypedDict, Union, cast

from ._error import WaybillError

#: Maximum difference between the clocks of sender and receiver. An older call may be a replay attack.
TOLERANCE_SECONDS = 5 * 60


class WebhookEvent(TypedDict):
    id: str
    type: str
    api_version: str
    created_at: str
    # Order of events of one object, such as an email or a domain, from 1. None for a test event.
    sequence: Optional[int]
    data: Dict[str, Any]


def verify_webhook(
    body: Union[bytes, str],
    headers: Mapping[str, str],
    secret: Union[str, Sequence[str]],
    now: Optional[float] = None,
) -> WebhookEvent:
    """Verifies a webhook call against your secrets and returns its event.

    `body` must be the raw body: parsing it and writing it again changes it. During a rotation, pass both secrets.
    Raises `WaybillError` if the call is not genuine, or older than five minutes.
    """
    sent = {name.lower(): value for name, value in headers.items()}
    id, timestamp = sent.get("webhook-id", ""), sent.get("webhook-timestamp", "")
    if id == "" or re.fullmatch("[0-9]{1,15}", timestamp) is None:
        raise _refuse("the webhook headers are missing")
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        raise _refuse("the timestamp is too old, or a clock is wrong")
    raw = body.encode() if isinstance(body, str) else bytes(body)
    text = f"{id}.{timestamp}.".encode() + raw
    signatures = [part[3:] for part in sent.get("webhook-signature", "").split(" ") if part.startswith("v1,")]
    for each in [secret] if isinstance(secret, str) else secret:
        expected = _sign(each, text)
        if any(hmac.compare_digest(signature.encode(), expected) for signature in signatures):
            return cast(WebhookEvent, json.loads(raw))
    raise _refuse("no signature matches your secrets")


def _sign(secret: str, text: bytes) -> bytes:
    encoded = secret[len("whsec_") :] if secret.startswith("whsec_") else secret
    try:
        key = base64.b64decode(encoded, validate=True)
    except ValueError:
        key = b""
    # Everybody can sign with an empty secret.
    if key == b"":
        raise _refuse("a secret is missing or incomplete (whsec_…)")
    return base64.b64encode(hmac.new(key, text, hashlib.sha256).digest())


def _refuse(problem: str) -> WaybillError:
    return WaybillError("unauthorized", f"Webhook refused: {problem}.", reason="webhook_not_verified")
