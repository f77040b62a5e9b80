from __future__ import annotations

from datetime import datetime
from typing import Any, Iterator, List, Mapping, Optional, Sequence, Union

from . import types as t
from ._inbound import Inbound, Threads
from ._pages import LARGEST_PAGE, Group, pages
from ._sender import Sender
from ._templates import Templates

Time = Union[datetime, str]
Message = Union[t.EmailMessage, t.TemplatedMessage]
LARGEST_FEED_PAGE = 1_000


class Waybill:
    """The client: `Waybill()` with the key in `WAYBILL_KEY`, or `Waybill("wb_…")`.

    A client can be used by several threads. Every call that changes something has a random idempotency key, so that a
    lost answer is requested again and nothing is done twice.
    """

    def __init__(
        self,
        api_key: Optional[str] = None,
        *,
        base_url: Optional[str] = None,
        retries: int = 4,
        timeout: float = 30.0,
    ) -> None:
        sender = Sender(api_key, base_url, retries, timeout)
        self._sender = sender
        self.emails = Emails(sender)
        self.logs = Logs(sender)
        self.domains = Domains(sender)
        self.suppressions = Suppressions(sender)
        self.events = Events(sender)
        self.inbound = Inbound(sender)
        self.threads = Threads(sender)
        self.templates = Templates(sender)

    def request(
        self,
        operation: str,
        *parts: str,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        idempotency_key: Optional[str] = None,
    ) -> Any:
        """Calls any other endpoint. `operation` is as in the reference, `GET /v1/requests/{id}`; `parts` fill it in."""
        return self._sender.send(operation, *parts, query=query, body=body, idempotency_key=idempotency_key)


class Emails(Group):
    def send(self, email: Message, *, idempotency_key: Optional[str] = None) -> t.Acknowledgement:
        """Sends an email. One without `html`, `text` and `template` is accepted, and arrives empty."""
        return self._send("POST /v1/email/send", body=email, idempotency_key=idempotency_key)

    def send_batch(
        self,
        emails: Sequence[Message],
        *,
        mode: str = "all_or_nothing",
        idempotency_key: Optional[str] = None,
    ) -> t.BatchAnswer:
        """Sends up to 100 emails. In `permissive` mode each is accepted or refused separately."""
        body = {"emails": list(emails), "mode": mode}
        return self._send("POST /v1/email/send/batch", body=body, idempotency_key=idempotency_key)

    def get(self, id: str, *, as_of: Optional[Time] = None) -> t.EmailLogWithContent:
        """Like `logs.get`, also for a key that may only send; it sees the content of mail that it sent itself."""
        return self._send("GET /v1/email/{id}", id, query={"as_of": as_of})

    def cancel(self, id: str, *, idempotency_key: Optional[str] = None) -> t.EmailLog:
        return self._send("POST /v1/email/{id}/cancel", id, idempotency_key=idempotency_key)

    def reschedule(self, id: str, scheduled_at: Time) -> t.EmailLog:
        return self._send("PATCH /v1/email/{id}", id, body={"scheduled_at": scheduled_at})

    def resend(self, id: str, *, idempotency_key: Optional[str] = None) -> t.Acknowledgement:
        return self._send("POST /v1/email/{id}/resend", id, idempotency_key=idempotency_key)

    def receipt(self, id: str, *, redact: Sequence[str] = ()) -> bytes:
        """Returns what happened to the email as JSON with a proof that anybody can check. `redact` hides fields."""
        return self._send("GET /v1/email/{id}/receipt", id, query={"redact": redact or None}, binary=True)


class Logs(Group):
    def list(self, query: Optional[t.LogsQuery] = None) -> t.EmailLogPage:
        return self._send("GET /v1/email/logs", query=query)

    def all(self, query: Optional[t.LogsQuery] = None) -> Iterator[t.EmailLog]:
        """Iterates over all matching messages, newest first; with `before`, from that message towards newer ones.

        Reads each page only when needed. `limit` is the size of a page.
        """
        page_query: t.LogsQuery = {"limit": LARGEST_PAGE}
        page_query.update(query or {})
        is_forward = page_query.get("before") is not None
        while True:
            page = self.list(page_query)
            yield from reversed(page["data"]) if is_forward else page["data"]
            if not page["has_more"] or page["next_cursor"] is None:
                return
            page_query["before" if is_forward else "after"] = page["next_cursor"]

    def get(self, id: str, *, as_of: Optional[Time] = None) -> t.EmailLogWithContent:
        """With `as_of`, returns the record as it was at that time."""
        return self._send("GET /v1/email/logs/{id}", id, query={"as_of": as_of})

    def events(self, id: str) -> t.EventPage:
        """Returns the timeline: all events of the message."""
        return self._send("GET /v1/email/logs/{id}/events", id)


class Domains(Group):
    def list(self) -> t.DomainPage:
        return self._send("GET /v1/domains")

    def get(self, domain: str) -> t.Domain:
        return self._send("GET /v1/domains/{domain}", domain)

    def add(self, name: str, *, idempotency_key: Optional[str] = None) -> t.Domain:
        return self._send("POST /v1/domains", body={"name": name}, idempotency_key=idempotency_key)

    def verify(self, domain: str) -> t.Domain:
        return self._send("POST /v1/domains/{domain}/verify", domain)

    def rotate_dkim(self, domain: str, *, idempotency_key: Optional[str] = None) -> t.Domain:
        return self._send("POST /v1/domains/{domain}/dkim/rotate", domain, idempotency_key=idempotency_key)

    def update(self, domain: str, change: t.DomainChange) -> t.Domain:
        """Turns open and click tracking on or off, or sets the tracking domain."""
        return self._send("PATCH /v1/domains/{domain}", domain, body=change)

    def remove(self, domain: str) -> t.DomainDeleted:
        return self._send("DELETE /v1/domains/{domain}", domain)


class Suppressions(Group):
    def list(self, query: Optional[t.SuppressionsQuery] = None) -> t.SuppressionPage:
        return self._send("GET /v1/suppressions", query=query)

    def all(self, query: Optional[t.SuppressionsQuery] = None) -> Iterator[t.Suppression]:
        return pages(self.list, query)

    def get(self, email: str) -> t.Suppression:
        return self._send("GET /v1/suppressions/{email}", email)

    def add(self, suppression: t.SuppressionAddition, *, idempotency_key: Optional[str] = None) -> t.Suppression:
        return self._send("POST /v1/suppressions", body=suppression, idempotency_key=idempotency_key)

    def batch(self, batch: t.SuppressionBatch, *, idempotency_key: Optional[str] = None) -> t.SuppressionBatchAnswer:
        """Adds or removes up to 1,000 addresses. A text that is not an address is rejected alone."""
        return self._send("POST /v1/suppressions/batch", body=batch, idempotency_key=idempotency_key)

    def remove(self, email: str) -> t.SuppressionRemoved:
        return self._send("DELETE /v1/suppressions/{email}", email)


class Events(Group):
    def list(self, query: Optional[t.EventsQuery] = None) -> t.EventFeed:
        """Returns events in order. Continue with `next_position`; `wait` waits for new ones."""
        return self._send("GET /v1/events", query=query)

    def all(self, after_position: str = "0", *, types: Optional[List[str]] = None) -> Iterator[t.Event]:
        """Iterates over all existing events after a position."""
        query: t.EventsQuery = {"limit": LARGEST_FEED_PAGE, "after_position": after_position}
        if types is not None:
            query["types"] = types
        while True:
            page = self.list(query)
            yield from page["data"]
            if not page["has_more"]:
                return
            query["after_position"] = page["next_position"]
