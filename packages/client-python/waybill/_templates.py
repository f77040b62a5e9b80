from __future__ import annotations

from typing import Iterator, Optional

from . import types as t
from ._pages import Group, pages


class Templates(Group):
    """Templates of messages. `name` is an id or an alias."""

    def list(self, query: Optional[t.TemplatesQuery] = None) -> t.TemplatePage:
        return self._send("GET /v1/templates", query=query)

    def all(self, query: Optional[t.TemplatesQuery] = None) -> Iterator[t.ListedTemplate]:
        """Iterates over all matching templates, newest first. `limit` is the size of a page."""
        return pages(self.list, query)

    def get(self, name: str) -> t.Template:
        return self._send("GET /v1/templates/{template}", name)

    def create(self, template: t.TemplateCreation, *, idempotency_key: Optional[str] = None) -> t.Template:
        return self._send("POST /v1/templates", body=template, idempotency_key=idempotency_key)

    def update(self, name: str, change: t.TemplateChange) -> t.Template:
        """Changes the draft."""
        return self._send("PATCH /v1/templates/{template}", name, body=change)

    def archive(self, name: str) -> t.TemplateArchived:
        return self._send("DELETE /v1/templates/{template}", name)

    def publish(
        self,
        name: str,
        publication: Optional[t.TemplatePublication] = None,
        *,
        idempotency_key: Optional[str] = None,
    ) -> t.ListedTemplateVersion:
        """Makes the draft the next version, which is sent from now on."""
        body = publication or {}
        return self._send("POST /v1/templates/{template}/publish", name, body=body, idempotency_key=idempotency_key)

    def versions(self, name: str) -> t.TemplateVersionPage:
        return self._send("GET /v1/templates/{template}/versions", name)

    def version(self, name: str, number: int) -> t.TemplateVersion:
        return self._send("GET /v1/templates/{template}/versions/{number}", name, str(number))

    def rollback(self, name: str, version: int, *, idempotency_key: Optional[str] = None) -> t.Template:
        """Sends a former version from now on."""
        body = {"version": version}
        return self._send("POST /v1/templates/{template}/rollback", name, body=body, idempotency_key=idempotency_key)

    def duplicate(
        self,
        name: str,
        duplication: Optional[t.TemplateDuplication] = None,
        *,
        idempotency_key: Optional[str] = None,
    ) -> t.Template:
        body = duplication or {}
        return self._send("POST /v1/templates/{template}/duplicate", name, body=body, idempotency_key=idempotency_key)

    def render(self, name: str, rendering: Optional[t.TemplateRendering] = None) -> t.RenderedTemplate:
        """Returns what would be sent."""
        return self._send("POST /v1/templates/{template}/render", name, body=rendering or {})

    def push(self, push: t.TemplatePush, *, idempotency_key: Optional[str] = None) -> t.TemplatePushAnswer:
        """Creates, changes and publishes templates by their aliases: all of them, or none."""
        return self._send("POST /v1/templates/push", body=push, idempotency_key=idempotency_key)

    def validate(self, source: t.NewTemplateSource) -> t.TemplateValidation:
        """Returns what is wrong with a source, and the variables that it uses."""
        return self._send("POST /v1/templates/validate", body=source)
