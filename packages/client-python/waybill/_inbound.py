from __future__ import annotations

from typing import Iterator, List, Optional, Sequence, Union

from . import types as t
from ._pages import Group, pages
from ._sender import Sender


class Inbound(Group):
    """Mail that came in."""

    def __init__(self, sender: Sender) -> None:
        super().__init__(sender)
        self.routes = Routes(sender)

    def list(self, query: Optional[t.InboundQuery] = None) -> t.InboundEmailPage:
        return self._send("GET /v1/inbound", query=query)

    def all(self, query: Optional[t.InboundQuery] = None) -> Iterator[t.InboundEmail]:
        """Iterates over all matching mail, newest first. `limit` is the size of a page."""
        return pages(self.list, query)

    def get(self, id: str) -> t.InboundEmailWhole:
        """Returns a mail with its texts and headers."""
        return self._send("GET /v1/inbound/{id}", id)

    def raw(self, id: str) -> bytes:
        """Returns a mail as it came."""
        return self._send("GET /v1/inbound/{id}/raw", id, binary=True)

    def attachment(self, id: str, attachment: str) -> bytes:
        """Returns the bytes of a file."""
        return self._send("GET /v1/inbound/{id}/attachments/{attachment}", id, attachment, binary=True)

    def receipt(self, id: str, *, redact: Sequence[str] = ()) -> bytes:
        """Like `emails.receipt`, of a received mail."""
        return self._send("GET /v1/inbound/{id}/receipt", id, query={"redact": redact or None}, binary=True)

    def remove(self, id: str) -> t.InboundEmailDeleted:
        """Deletes a mail with its content."""
        return self._send("DELETE /v1/inbound/{id}", id)

    def test(self, mail: t.InboundTest, *, idempotency_key: Optional[str] = None) -> t.InboundEmail:
        """Lets a made-up mail come in."""
        return self._send("POST /v1/test/inbound", body=mail, idempotency_key=idempotency_key)

    def replay(self, id: str, *, idempotency_key: Optional[str] = None) -> t.InboundEmail:
        """Applies the routes again as if the mail had just come, and calls the webhooks."""
        return self._send("POST /v1/inbound/{id}/replay", id, idempotency_key=idempotency_key)

    def reply(self, id: str, reply: t.InboundReply, *, idempotency_key: Optional[str] = None) -> t.Acknowledgement:
        """Sends an answer, whose recipient, subject and thread follow from the mail."""
        return self._send("POST /v1/inbound/{id}/reply", id, body=reply, idempotency_key=idempotency_key)

    def forward(
        self, id: str, to: Union[str, List[str]], *, idempotency_key: Optional[str] = None
    ) -> t.Acknowledgement:
        """Sends a received mail on as it came."""
        return self._send("POST /v1/inbound/{id}/forward", id, body={"to": to}, idempotency_key=idempotency_key)


class Routes(Group):
    """Rules for what happens to received mail."""

    def list(self) -> t.InboundRoutePage:
        """Returns all routes, in the order in which they are tried."""
        return self._send("GET /v1/inbound/routes")

    def get(self, id: str) -> t.InboundRoute:
        return self._send("GET /v1/inbound/routes/{id}", id)

    def create(self, route: t.InboundRouteCreation, *, idempotency_key: Optional[str] = None) -> t.InboundRoute:
        return self._send("POST /v1/inbound/routes", body=route, idempotency_key=idempotency_key)

    def update(self, id: str, change: t.InboundRouteChange) -> t.InboundRoute:
        return self._send("PATCH /v1/inbound/routes/{id}", id, body=change)

    def remove(self, id: str) -> t.InboundRouteDeleted:
        return self._send("DELETE /v1/inbound/routes/{id}", id)

    def test(self, mail: t.InboundRouteTrial) -> t.InboundRouteTest:
        """Says which routes would apply to a mail, and why."""
        return self._send("POST /v1/inbound/routes/test", body=mail)


class Threads(Group):
    def get(self, id: str) -> t.Thread:
        """Returns a conversation: sent and received mail, in order."""
        return self._send("GET /v1/threads/{id}", id)
