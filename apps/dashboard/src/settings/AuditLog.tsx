import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { Copy, MoreHorizontal, ScrollText, SquareTerminal } from "lucide-react"
import { defined } from "../api/defined.ts"
import * as Queries from "../api/Queries.ts"
import type { AuditEntry } from "../api/Records.ts"
import { IconButton } from "../ui/controls/Button.tsx"
import { copy } from "../ui/controls/CopyButton.tsx"
import { DateFilter } from "../ui/controls/DateFilter.tsx"
import { ChoiceFilter } from "../ui/controls/FilterSelect.tsx"
import { Menu } from "../ui/controls/Menu.tsx"
import { SearchField, useTypedText } from "../ui/controls/SearchField.tsx"
import { RelativeTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { PagedRows } from "../ui/layout/PagedRows.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { type Column, Table } from "../ui/layout/Table.tsx"
import * as DisabledReason from "../webhooks/DisabledReason.ts"
import { actionOf } from "./actionOf.ts"
import { NoMatches } from "../ui/feedback/NoMatches.tsx"
import { FilterBar } from "../ui/layout/FilterBar.tsx"

const ACTORS = { api_key: "API key", user: "User", operator: "Operator", system: "Service" } as const

const OBJECTS = [
  { value: "api_key", name: "API keys" },
  { value: "domain", name: "Domains" },
  { value: "webhook", name: "Webhooks" },
  { value: "template", name: "Templates" },
  { value: "inbound_route", name: "Inbound routes" },
  { value: "suppression", name: "Suppressions" },
  { value: "team", name: "Members" },
  { value: "account", name: "Account" },
]

export const AuditLog = () => {
  const search = useSearch({ from: "/shell/settings/audit" })
  const navigate = useNavigate({ from: "/settings/audit" })
  const { actor, q, since, stream } = search
  const query = useInfiniteQuery(Queries.audit(defined({ q, stream, actor_id: actor, created_after: since })))
  const actors = useActors()
  const change = (next: Partial<Record<"q" | "stream" | "actor" | "since", string | undefined>>) =>
    void navigate({ search: (current) => defined({ ...current, ...next }), replace: true })
  const typed = useTypedText(q ?? "", (text) => change({ q: text }))
  return (
    <Screen
      title="Audit log"
      hint="Changes to keys, domains, webhooks, templates, routes, suppressions, members and the account. Mail has its own log."
    >
      <FilterBar
        search={<SearchField label="Search audit log" placeholder="Action, name, address or id" typed={typed} />}
      >
        <ChoiceFilter label="Object" choices={OBJECTS} value={stream} onChange={(next) => change({ stream: next })} />
        <ChoiceFilter label="By" choices={actors} value={actor} onChange={(next) => change({ actor: next })} />
        <DateFilter label="Since" value={since} onChange={(start) => change({ since: start })} />
      </FilterBar>
      <PagedRows
        query={query}
        isPending={typed.isPending}
        empty={
          Object.keys(search).length > 0 ? (
            <NoMatches name="changes" onClear={() => void navigate({ search: {}, replace: true })} />
          ) : (
            <EmptyState icon={<ScrollText size={20} />} title="No changes yet">
              Changes by API keys, members and operators appear here and are never deleted.
            </EmptyState>
          )
        }
      >
        {(rows) => <Table isList label="Audit log" rows={rows} keyOf={({ id }) => id} columns={COLUMNS} />}
      </PagedRows>
    </Screen>
  )
}

/** Members and API keys, by whom changes can be filtered. */
const useActors = () => {
  const members = useQuery(Queries.members)
  const keys = useQuery(Queries.apiKeys)
  return [
    ...(members.data?.data ?? []).map(({ email, id, name }) => ({ value: id as string, name: name || email })),
    ...(keys.data?.data ?? []).map(({ id, name }) => ({ value: id as string, name: name as string })),
  ]
}

const COLUMNS: ReadonlyArray<Column<AuditEntry>> = [
  {
    name: "Action",
    main: true,
    cell: (entry) => (
      <span className="block min-w-0">
        <span className="block truncate">
          <span className="font-medium">{actionOf(entry.type)}</span>{" "}
          <span className="text-ink-2 max-sm:block max-sm:truncate">
            <Target entry={entry} />
          </span>
        </span>
        <Changes entry={entry} />
        <span className="block truncate text-xs text-ink-3 sm:hidden">
          by <ActorName entry={entry} />
        </span>
      </span>
    ),
  },
  {
    name: "By",
    wide: true,
    cell: (entry) => (
      <span className="block max-w-52 truncate">
        <ActorName entry={entry} />
        {entry.actor_name === null ? undefined : (
          <span className="text-xs text-ink-3"> {ACTORS[entry.actor.type]}</span>
        )}
      </span>
    ),
  },
  {
    name: "IP address",
    wide: true,
    cell: ({ address }) => <span className="text-xs whitespace-nowrap text-ink-3">{address ?? "–"}</span>,
  },
  {
    name: "Time",
    number: true,
    cell: ({ occurred_at }) => (
      <span className="text-xs whitespace-nowrap text-ink-3">
        <RelativeTime iso={occurred_at} />
      </span>
    ),
  },
  { name: "Details", hiddenName: true, number: true, cell: (entry) => <Details entry={entry} /> },
]

/** Changed fields that a row shows; the details have all. */
const MAX_SHOWN = 2

/** Field of an event in words: `svix_headers` is "svix headers", `draft.html` is "html". */
const fieldName = (field: string): string => field.replace(/^(?:draft|limits)\./u, "").replaceAll(/[._]+/gu, " ")

/** A changed field, from what to what; one that was set for the first time has no value before. */
const Change = ({ change: { field, from, to } }: { readonly change: AuditEntry["changes"][number] }) =>
  // Why a webhook was disabled is a sentence of its own.
  field === "cause" ? (
    DisabledReason.ofReason(to ?? "")
  ) : (
    <>
      {fieldName(field)}: {from === null ? undefined : <UntrustedText text={`${from} → `} />}
      <UntrustedText text={to ?? "none"} />
    </>
  )

/** Fields that the entry changed, from what to what. */
const Changes = ({ entry: { changes } }: { readonly entry: AuditEntry }) =>
  changes.length === 0 ? undefined : (
    <span className="block text-xs text-ink-3">
      {changes.slice(0, MAX_SHOWN).map((change) => (
        <span key={change.field} className="block truncate">
          <Change change={change} />
        </span>
      ))}
      {changes.length > MAX_SHOWN ? `and ${changes.length - MAX_SHOWN} more in the details` : undefined}
    </span>
  )

/** Details: all that was changed, the type of the event, and the request that made it. */
const Details = ({ entry: { changes, request_id, type } }: { readonly entry: AuditEntry }) => {
  const navigate = useNavigate()
  return (
    <Menu
      trigger={
        <IconButton label="Details">
          <MoreHorizontal size={16} />
        </IconButton>
      }
      header={
        <div className="mb-1 max-h-72 max-w-md overflow-y-auto border-b border-line px-2.5 py-1.5 font-mono text-xs text-ink-3">
          {changes.length === 0 ? undefined : (
            <ul aria-label="Changes" className="mb-1.5 [overflow-wrap:anywhere] text-ink-2">
              {changes.map((change) => (
                <li key={change.field}>
                  <Change change={change} />
                </li>
              ))}
            </ul>
          )}
          <p>{type}</p>
          {request_id === null ? undefined : <p>{request_id}</p>}
        </div>
      }
      items={[
        { name: "Copy event type", icon: <Copy size={15} />, onSelect: () => void copy(type) },
        ...(request_id === null
          ? []
          : [
              { name: "Copy request ID", icon: <Copy size={15} />, onSelect: () => void copy(request_id) },
              {
                name: "View request",
                icon: <SquareTerminal size={15} />,
                onSelect: () => void navigate({ to: "/requests/$id", params: { id: request_id } }),
              },
            ]),
      ]}
    />
  )
}

const ActorName = ({ entry: { actor, actor_name } }: { readonly entry: AuditEntry }) => (
  <UntrustedText text={actor_name ?? ACTORS[actor.type]} />
)

/** The name of what was changed. Domains and webhooks lead to their screens. */
const Target = ({ entry: { stream, stream_id, target_name, type } }: { readonly entry: AuditEntry }) => {
  if (stream === "account") return "This account"
  const name = <UntrustedText text={target_name ?? stream_id} />
  if (type.endsWith(".deleted") || target_name === null) return name
  if (stream === "domain")
    return (
      <Link to="/domains/$name" params={{ name: target_name }} className="hover:underline">
        {name}
      </Link>
    )
  if (stream === "inbound_route")
    return (
      <Link to="/routes" className="hover:underline">
        Mail to {name}
      </Link>
    )
  if (stream === "template")
    return (
      <Link to="/templates/$id" params={{ id: stream_id }} className="hover:underline">
        {name}
      </Link>
    )
  if (stream === "webhook")
    return (
      <Link to="/webhooks/$id" params={{ id: stream_id }} className="hover:underline">
        {name}
      </Link>
    )
  return name
}
