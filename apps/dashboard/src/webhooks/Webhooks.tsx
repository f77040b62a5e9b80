import { shownWebhookStatus } from "@waybill/domain/webhook/shownWebhookStatus"
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { Webhook as Icon } from "lucide-react"
import { useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { Webhook, WebhookWithSecret } from "../api/Records.ts"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { ChoiceFilter } from "../ui/controls/FilterSelect.tsx"
import { eventName } from "../ui/display/eventName.ts"
import { RelativeTime } from "../ui/display/Time.tsx"
import { ResponseStatus } from "./ResponseStatus.tsx"
import { SigningSecret, VERIFY } from "./SigningSecret.tsx"
import { WebhookForm } from "./WebhookForm.tsx"
import * as WebhookStatus from "./WebhookStatus.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { ListScreen } from "../ui/layout/ListScreen.tsx"
import type { Column } from "../ui/layout/Table.tsx"
import { useListSearch } from "../ui/layout/useListSearch.ts"
import { statusChoices } from "../ui/display/Badge.tsx"

export const Webhooks = () => {
  const list = useListSearch<"status">()
  const navigate = useNavigate()
  const query = useQuery(Queries.webhooks)
  const [created, setCreated] = useState<WebhookWithSecret>()
  const { status } = list.search
  const q = list.typed.text.trim().toLowerCase()
  const close = () => list.setCreating(false)
  return (
    <ListScreen
      title="Webhooks"
      hint="Signed event notifications. A call that fails is repeated up to seven times, within about 28 hours."
      create="Create webhook"
      list={list}
      search={["Search webhooks", "URL, description or event"]}
      filters={<ChoiceFilter label="Status" choices={STATUSES} {...list.filter("status")} />}
      query={query}
      rows={query.data?.data.filter(
        (webhook) =>
          [webhook.url, webhook.description ?? "", ...webhook.events].some((text) => text.toLowerCase().includes(q)) &&
          (status === undefined || filteredAs(webhook) === status),
      )}
      columns={COLUMNS}
      isCards
      noun="webhooks"
      empty={{
        icon: <Icon size={20} />,
        title: "No webhooks yet",
        examples: [{ name: "JavaScript", code: VERIFY }],
        children:
          "Your endpoints appear here. Create a webhook to receive deliveries, bounces and complaints as they happen.",
      }}
    >
      <Dialog
        open={list.isCreating}
        onClose={close}
        onClosed={() => setCreated(undefined)}
        requiresClose={created !== undefined}
        title={created === undefined ? "Create webhook" : "Signing secret"}
        description={
          created === undefined ? undefined : "Use it to verify webhook requests. Copy it now: it is shown only once."
        }
      >
        {created === undefined ? (
          <WebhookForm onCancel={close} onCreated={setCreated} />
        ) : (
          <SigningSecret
            secret={created.secret}
            onDone={() => void navigate({ to: "/webhooks/$id", params: { id: created.id } })}
          />
        )}
      </Dialog>
    </ListScreen>
  )
}

/** The filter has one choice for all endpoints that accept no call. */
const filteredAs = (webhook: Webhook): string => {
  const shown = shownWebhookStatus(webhook)
  return shown === "not accepting" || shown === "not answering" ? "failing" : shown
}

const STATUSES = statusChoices("enabled", "failing", "disabled")

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
    small: true,
    cell: ({ events }) => (
      <span title={events.join(", ")}>
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
    small: true,
    cell: ({ last_call }) =>
      last_call === null ? (
        "None yet"
      ) : (
        <span className="flex items-center justify-end gap-2" title={last_call.error ?? undefined}>
          <ResponseStatus status={last_call.status} />
          <RelativeTime iso={last_call.at} />
        </span>
      ),
  },
]
