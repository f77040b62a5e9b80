from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, Mapping, Optional

from ._sender import Sender

LARGEST_PAGE = 100


class Group:
    """Calls about one kind of thing."""

    def __init__(self, sender: Sender) -> None:
        self._send = sender.send


def pages(read: Callable[[Any], Any], query: Optional[Mapping[str, Any]]) -> Iterator[Any]:
    """Iterates over the items of a list, newest first, and reads each page only when needed."""
    page_query: Dict[str, Any] = {"limit": LARGEST_PAGE, **(query or {})}
    while True:
        page = read(page_query)
        yield from page["data"]
        if not page["has_more"] or page["next_cursor"] is None:
            return
        page_query["after"] = page["next_cursor"]
