from __future__ import annotations

import base64
import http.client
import json
import os
import random
import re
import threading
import time
import uuid
from datetime import datetime, timezone
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple
from urllib import error, parse, request

from ._error import WaybillError
from ._key import is_well_formed_key

DEFAULT_URL = "http://127.0.0.1:3025"
#: Limits that last for hours or days: a caller decides whether to wait so long.
LONG_LIMITS = ("monthly_quota", "suppression_changes")
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 30.0
#: Header with the position of a write, in responses of a service with read replicas. Later requests send it back so
#: that reads include the write.
POSITION_HEADER = "X-Waybill-Position"
MAX_POSITIONS = 16


class Sender:
    """Sends requests, and repeats those that failed for a while."""

    def __init__(self, api_key: Optional[str], base_url: Optional[str], retries: int, timeout: float) -> None:
        environment = os.environ.get("WAYBILL_KEY") or os.environ.get("WAYBILL_API_KEY")
        key = environment if api_key is None else api_key
        if key is None:
            problem = "There is no API key. Set WAYBILL_KEY, or give the key to the client."
            raise WaybillError("invalid_key", problem)
        if not is_well_formed_key(key):
            raise WaybillError("invalid_key", "This is not a complete Waybill API key (wb_…).")
        url = (base_url or os.environ.get("WAYBILL_URL") or DEFAULT_URL).rstrip("/")
        self._base = url[: -len("/v1")] if url.endswith("/v1") else url
        if parse.urlsplit(self._base).scheme not in ("http", "https"):
            raise WaybillError.invalid("base_url", "is not an http or https URL")
        self._key = key
        self._retries = retries
        self._timeout = timeout
        self._writes = WritePositions()
        self._opener = request.build_opener(_NoRedirect())

    def send(
        self,
        operation: str,
        *parts: str,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        idempotency_key: Optional[str] = None,
        binary: bool = False,
    ) -> Any:
        method, _, template = operation.partition(" ")
        values = iter(parts)
        path = re.sub(r"\{\w+\}", lambda _: parse.quote(next(values), safe=""), template)
        fields = list(_query_fields(query or {}))
        url = self._base + path + (f"?{parse.urlencode(fields)}" if fields else "")
        headers = {"Authorization": f"Bearer {self._key}", "Accept": "application/json"}
        # Makes a retry safe: the service runs requests with the same key once.
        if method == "POST":
            headers["Idempotency-Key"] = idempotency_key or str(uuid.uuid4())
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body, default=_encode, allow_nan=False).encode()
        begun, positions = self._writes.begin()
        if positions:
            headers[POSITION_HEADER] = positions
        # The `wait` of a request adds to the normal timeout.
        waits = re.match(r"\d+", str((query or {}).get("wait", "")))
        timeout = self._timeout + (int(waits.group()) if waits else 0)
        tries = 0
        while True:
            try:
                return self._attempt(request.Request(url, data, headers, method=method), timeout, begun, binary)
            except WaybillError as failure:
                if tries >= self._retries or not _is_repeated(failure):
                    raise
                time.sleep(_backoff(tries) if failure.retry_after is None else failure.retry_after)
                tries += 1

    def _attempt(self, call: request.Request, timeout: float, begun: int, binary: bool) -> Any:
        try:
            with self._opener.open(call, timeout=timeout) as response:
                status, headers, text = response.status, response.headers, response.read()
        except error.HTTPError as refused:
            with refused:
                status, headers, text = refused.code, refused.headers, _read_safely(refused)
        except (OSError, http.client.HTTPException) as cause:
            problem = cause.reason if isinstance(cause, error.URLError) else cause
            message = f"no response from {self._base}: {problem or type(cause).__name__}"
            raise WaybillError("connection_failed", message) from cause
        if call.get_method() != "GET":
            self._writes.add(begun, headers.get(POSITION_HEADER))
        if not 200 <= status < 300:
            raise _error_of(status, headers, text)
        if binary:
            return text
        try:
            return json.loads(text)
        except ValueError as cause:
            message = f"{self._base} is not a Waybill API: no JSON."
            raise WaybillError("bad_answer", message, status=status) from cause


class _NoRedirect(request.HTTPRedirectHandler):
    """The API never redirects; another host must not get the key."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class WritePositions:
    """Positions of the last writes.

    Positions cannot be compared, and responses may arrive out of order. A write replaces the positions that it sent
    when it began; positions of concurrent writes are all kept.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._writes = 0
        self._positions: List[Tuple[int, str]] = []

    def begin(self) -> Tuple[int, str]:
        with self._lock:
            return self._writes, ",".join(position for _, position in self._positions)

    def add(self, begun: int, position: Optional[str]) -> None:
        if position is None:
            return
        with self._lock:
            self._writes += 1
            concurrent = [(write, each) for write, each in self._positions if write > begun]
            self._positions = [*concurrent, (self._writes, position)][-MAX_POSITIONS:]


def _is_repeated(failure: WaybillError) -> bool:
    if failure.status == 429:
        return failure.reason not in LONG_LIMITS
    return failure.code == "connection_failed" or failure.status >= 500


def _backoff(tries: int) -> float:
    """Adds jitter, so that clients which failed together do not retry together."""
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2**tries) * (0.5 + random.random() / 2)


def _read_safely(response: Any) -> bytes:
    try:
        return bytes(response.read())
    except (OSError, http.client.HTTPException):
        return b""


def _error_of(status: int, headers: Mapping[str, str], text: bytes) -> WaybillError:
    request_id = headers.get("X-Request-Id")
    waits = headers.get("Retry-After", "")
    retry_after = float(waits) if re.fullmatch(r"\d+(?:\.\d+)?", waits) else None
    try:
        body = json.loads(text)
        refusal: Dict[str, Any] = body["error"]
        code, message = refusal["code"], refusal["message"]
    except (ValueError, KeyError, TypeError):
        # A proxy may answer with a page of its own.
        message = f"The service answered with HTTP {status}."
        return WaybillError("bad_answer", message, status=status, request_id=request_id, retry_after=retry_after)
    return WaybillError(
        str(code),
        str(message),
        reason=refusal.get("reason"),
        status=status,
        request_id=request_id or refusal.get("request_id"),
        details=refusal.get("details") or (),
        retry_after=retry_after,
    )


def _query_fields(query: Mapping[str, Any]) -> Iterator[Tuple[str, str]]:
    for name, value in query.items():
        if value is None:
            continue
        if isinstance(value, Mapping):
            # Pairs are parameters of their own: `metadata.order`.
            yield from ((f"{name}.{key}", str(each)) for key, each in value.items())
            continue
        if isinstance(value, (list, tuple)):
            # Several tags are several parameters; other lists are separated by commas.
            values = value if name == "tag" else [",".join(value)]
        else:
            values = [value]
        for each in values:
            if isinstance(each, bool):
                yield name, "true" if each else "false"
            else:
                yield name, _encode(each) if isinstance(each, datetime) else str(each)


def _encode(value: Any) -> str:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise WaybillError.invalid(str(value), "has no time zone; use datetime.now(timezone.utc)")
        return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode("ascii")
    raise TypeError(f"{type(value).__name__} cannot be sent to Waybill")
