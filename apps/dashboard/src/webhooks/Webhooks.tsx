import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { Plus, Webhook as Icon } from "lucide-react"
import { useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { Webhook, WebhookWithSecret } from "../api/Records.ts"
import { Button } from "../ui/controls/Button.tsx"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { ChoiceFilter } from "../ui/controls/FilterSelect.tsx"
import { SearchField, useTypedText } from "../ui/controls/SearchField.tsx"
import { defined } from "../api/defined.ts"
import { eventName } from "../ui/display/eventName.ts"
import { RelativeTime } from "../ui/display/Time.tsx"
import { type Column, Table } from "../ui/layout/Table.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { ResponseStatus } from "./ResponseStatus.tsx"
import { SigningSecret, VERIFY } from "./SigningSecret.tsx"
import { WebhookForm } from "./WebhookForm.tsx"
import * as WebhookStatus from "./WebhookStatus.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { NoMatches } from "../ui/feedback/NoMatches.tsx"
import { FilterBar } from "../ui/layout/FilterBar.tsx"
import { RowsPanel } from "../ui/layout/RowsPanel.tsx"

export const Webhooks = () => {
  const search = useSearch({ from: "/shell/webhooks" })
  const navigate = useNavigate({ from: "/webhooks" })
  const query = useQuery(Queries.webhooks)
  const [created, setCreated] = useState<WebhookWithSecret>()
  const { status } = search
  const change = (next: Partial<Record<"q" | "status", string | undefined>> & { readonly new?: true | undefined }) =>
    void navigate({ search: (current) => defined({ ...current, ...next }), replace: true })
  const setDialogOpen = (open: boolean) => change({ new: open ? true : undefined })
  const typed = useTypedText(search.q ?? "", (text) => change({ q: text }))
  const q = typed.text.trim().toLowerCase()
  const rows = (query.data?.data ?? []).filter(
    (webhook) =>
      [webhook.url, webhook.description ?? "", ...webhook.events].some((text) => text.toLowerCase().includes(q)) &&
      (status === undefined || WebhookStatus.of(webhook) === status),
  )
  const button = (
    <Button variant="primary" icon={<Plus size={15} />} onClick={() => setDialogOpen(true)}>
      Create webhook
    </Button>
  )
  return (
    <Screen
      title="Webhooks"
      hint="Signed event notifications, retried until your endpoint accepts them."
      actions={button}
    >
      <FilterBar search={<SearchField label="Search webhooks" placeholder="URL, description or event" typed={typed} />}>
        <ChoiceFilter label="Status" choices={STATUSES} value={status} onChange={(next) => change({ status: next })} />
      </FilterBar>
      <RowsPanel
        query={query}
        rows={rows}
        empty={
          query.data?.data.length === 0 ? (
            <EmptyState
              icon={<Icon size={20} />}
              title="No webhooks yet"
              action={button}
              examples={[{ name: "JavaScript", code: VERIFY }]}
            >
              Your endpoints appear here. Create a webhook to receive deliveries, bounces and complaints as they happen.
            </EmptyState>
          ) : (
            <NoMatches name="webhooks" onClear={() => change({ q: undefined, status: undefined })} />
          )
        }
      >
        {(shown) => <Table isCards isList label="Webhooks" rows={shown} keyOf={({ id }) => id} columns={COLUMNS} />}
      </RowsPanel>
      <Dialog
        open={search.new === true}
        onOpenChange={setDialogOpen}
        onClosed={() => setCreated(undefined)}
        requiresClose={created !== undefined}
        title={created === undefined ? "Create webhook" : "Signing secret"}
        description={
          created === undefined ? undefined : "Use it to verify webhook requests. Copy it now: it is shown only once."
        }
      >
        {created === undefined ? (
          <WebhookForm onCancel={() => setDialogOpen(false)} onCreated={setCreated} />
        ) : (
          <SigningSecret
            secret={created.secret}
            onDone={() => void navigate({ to: "/webhooks/$id", params: { id: created.id } })}
          />
        )}
      </Dialog>
    </Screen>
  )
}

const STATUSES = [
  { value: "enabled", name: "Enabled" },
  { value: "failing", name: "Failing" },
  { value: "disabled", name: "Disabled" },
]

const COLUMNS: ReadonlyArray<Column<Webhook>> = [
  {
    name: "Endpoint",
    main: true,
    cell: ({ description, id, url }) => (
      <Link to="/webhooks/$id" params={{ id }} className="block hover:underline">
        <span className="block truncate font-medium">{url}</span>
        {description === null || description === "" ? undefined : (
          <UntrustedText className="block truncate text-xs text-ink-3" text={description} />
        )}
      </Link>
    ),
  },
  {
    name: "Status",
    cell: (webhook) => <WebhookStatus.Shown webhook={webhook} hasLength />,
  },
  {
    name: "Events",
    wide: true,
    cell: ({ events }) => (
      <span title={events.join(", ")} className="text-xs whitespace-nowrap text-ink-3">
        {events.includes("*")
          ? "All events"
          : events.length === 1
            ? eventName(events[0] ?? "")
            : `${events.length} events`}
      </span>
    ),
  },
  {
    name: "Last call",
    number: true,
    wide: true,
    cell: ({ last_call }) =>
      last_call === null ? (
        <span className="text-xs whitespace-nowrap text-ink-3">None yet</span>
      ) : (
        <span
          className="flex items-center justify-end gap-2 text-xs whitespace-nowrap text-ink-3"
          title={last_call.error ?? undefined}
        >
          <ResponseStatus status={last_call.status} />
          <RelativeTime iso={last_call.at} />
        </span>
      ),
  },
]
