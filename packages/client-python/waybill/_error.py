from __future__ import annotations

from typing import List, Optional, Sequence

from .types import ErrorDetail


class WaybillError(Exception):
    """A refusal by the API, or a failure to reach it."""

    #: One of the seven codes of the API, or a code of the client: `connection_failed` if there was no response,
    #: `bad_answer` if the response was not from the API, `invalid_key`.
    code: str
    message: str
    #: The specific cause.
    reason: Optional[str]
    #: HTTP status; 0 without a response.
    status: int
    #: Include this id in support requests.
    request_id: Optional[str]
    details: List[ErrorDetail]
    #: Seconds to wait after a 429 or 503.
    retry_after: Optional[float]

    def __init__(
        self,
        code: str,
        message: str,
        *,
        reason: Optional[str] = None,
        status: int = 0,
        request_id: Optional[str] = None,
        details: Sequence[ErrorDetail] = (),
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.reason = reason
        self.status = status
        self.request_id = request_id
        self.details = list(details)
        self.retry_after = retry_after

    @classmethod
    def invalid(cls, path: str, message: str) -> WaybillError:
        """Returns the refusal of a value that the client checks, in the form of the API's refusals."""
        details: List[ErrorDetail] = [{"path": path, "message": message}]
        return cls("invalid_request", f"`{path}` {message}.", reason="validation_failed", details=details)
