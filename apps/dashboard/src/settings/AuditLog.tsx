import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { Link, type LinkProps, useNavigate } from "@tanstack/react-router"
import { Copy, ScrollText, SquareTerminal } from "lucide-react"
import { defined } from "../api/defined.ts"
import * as Queries from "../api/Queries.ts"
import type { AuditEntry } from "../api/Records.ts"
import { copy } from "../ui/controls/CopyButton.tsx"
import { DateFilter } from "../ui/controls/DateFilter.tsx"
import { ChoiceFilter } from "../ui/controls/FilterSelect.tsx"
import { MoreMenu } from "../ui/controls/Menu.tsx"
import { RelativeTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import * as DisabledReason from "../webhooks/DisabledReason.ts"
import { ListScreen } from "../ui/layout/ListScreen.tsx"
import type { Column } from "../ui/layout/Table.tsx"
import { useListSearch } from "../ui/layout/useListSearch.ts"

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
  const list = useListSearch<"actor" | "since" | "stream">()
  const { actor, q, since, stream } = list.search
  const query = useInfiniteQuery(Queries.audit(defined({ q, stream, actor_id: actor, created_after: since })))
  return (
    <ListScreen
      title="Audit log"
      hint="Changes to keys, domains, webhooks, templates, routes, suppressions, members and the account. Mail has its own log."
      list={list}
      search={["Search audit log", "Action, name, address or id"]}
      filters={
        <>
          <ChoiceFilter label="Object" choices={OBJECTS} {...list.filter("stream")} />
          <ChoiceFilter label="By" choices={useActors()} {...list.filter("actor")} />
          <DateFilter label="Since" {...list.filter("since")} />
        </>
      }
      query={query}
      columns={COLUMNS}
      noun="changes"
      empty={{
        icon: <ScrollText size={20} />,
        title: "No changes yet",
        children: "Changes by API keys, members and operators appear here and are never deleted.",
      }}
    />
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
    small: true,
    cell: ({ address }) => address ?? "–",
  },
  { name: "Time", number: true, small: true, cell: ({ occurred_at }) => <RelativeTime iso={occurred_at} /> },
  { name: "Details", hiddenName: true, number: true, cell: (entry) => <Details entry={entry} /> },
]

/** Changed fields that a row shows; the details have all. */
const MAX_SHOWN = 2

/** Field of an event in words: `svix_headers` is "svix headers", `draft.html` is "html". Only versions have a number. */
const fieldName = (field: string): string =>
  field === "number" ? "version" : field.replace(/^(?:draft|limits)\./u, "").replaceAll(/[._]+/gu, " ")

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
    <MoreMenu
      label="Details"
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

/** The name of what was changed. Records that have a screen lead to it. */
const Target = ({ entry: { stream, stream_id, target_name, type } }: { readonly entry: AuditEntry }) => {
  if (stream === "account") return "This account"
  const name = <UntrustedText text={target_name ?? stream_id} />
  if (type.endsWith(".deleted") || target_name === null) return name
  const screens: { readonly [S in AuditEntry["stream"]]?: LinkProps } = {
    domain: { to: "/domains/$name", params: { name: target_name } },
    inbound_route: { to: "/routes" },
    template: { to: "/templates/$id", params: { id: stream_id } },
    webhook: { to: "/webhooks/$id", params: { id: stream_id } },
  }
  const screen = screens[stream]
  if (screen === undefined) return name
  return (
    <Link {...screen} className="hover:underline">
      {stream === "inbound_route" ? "Mail to " : ""}
      {name}
    </Link>
  )
}

/** Types whose words differ from their name. */
const ACTIONS: Readonly<Record<string, string>> = {
  "domain.checked": "Domain DNS checked",
  "domain.dkim_rotated": "Domain DKIM key rotated",
  "domain.dkim_activated": "Domain DKIM key activated",
  "domain.ed25519_made": "Domain Ed25519 key created",
  "domain.ed25519_activated": "Domain Ed25519 key activated",
  "domain.ed25519_suspended": "Domain Ed25519 key suspended",
  "domain.ed25519_removed": "Domain Ed25519 key removed",
  "domain.tracking_domain_set": "Domain tracking domain set",
  "account.keeping_changed": "Account content retention changed",
  "account.links_changed": "Account link settings changed",
  "account.allowed_headers_changed": "Allowed headers changed",
  "account.batch_changed": "Batch of emails paused, canceled or resumed",
  "account.address_erased": "Address erased",
  "member.link_made": "Member sign-in link created",
  "member.factors_removed": "Member two-factor removed",
}

/** Says the type of a change in words: `api_key.revoked` is "API key revoked". */
const actionOf = (type: string): string => {
  const words = ACTIONS[type] ?? type.replaceAll(/[._]/gu, " ").replace(/^api key/u, "API key")
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
