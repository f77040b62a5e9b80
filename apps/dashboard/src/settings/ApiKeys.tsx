import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { permits } from "@waybill/domain/account/permits"
import * as SearchText from "@waybill/domain/search/SearchText"
import { KeyRound } from "lucide-react"
import { useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { ApiKey } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { Badge, StatusBadge, statusChoices } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { ChoiceFilter } from "../ui/controls/FilterSelect.tsx"
import { ConfirmDialog } from "../ui/feedback/ConfirmDialog.tsx"
import { RelativeTime } from "../ui/display/Time.tsx"
import { showToast } from "../ui/feedback/Toasts.tsx"
import { CreateApiKey } from "./CreateApiKey.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { ListScreen } from "../ui/layout/ListScreen.tsx"
import type { Column } from "../ui/layout/Table.tsx"
import { useListSearch } from "../ui/layout/useListSearch.ts"
import { useKeyNames, useMemberNames } from "../session/Names.ts"

const MODES = [
  { value: "live", name: "Live" },
  { value: "test", name: "Test" },
]
const STATUSES = statusChoices("active", "revoked", "expired")

export const ApiKeys = () => {
  const list = useListSearch<"mode" | "status">()
  const client = useQueryClient()
  const query = useQuery(Queries.apiKeys)
  const members = useMemberNames()
  const keys = useKeyNames()
  const [revoking, setRevoking] = useState<ApiKey>()
  // Keys that no longer work are shown when they are asked for.
  const { mode, status = "active" } = list.search
  const q = list.typed.text.trim().toLowerCase()
  return (
    <ListScreen
      title="API keys"
      hint="Keys your applications use to call the API. A key is shown only once, when you create it."
      create="Create API key"
      list={list}
      search={["Search API keys", "Name, prefix, scope or domain"]}
      filters={
        <>
          <ChoiceFilter label="Status" choices={STATUSES} {...list.filter("status")} value={status} />
          <ChoiceFilter label="Mode" choices={MODES} {...list.filter("mode")} />
        </>
      }
      query={query}
      rows={query.data?.data.filter(
        (key) => key.status === status && (mode === undefined || key.mode === mode) && textsOf(key).includes(q),
      )}
      columns={columnsOf(setRevoking, (id) => members.get(id) ?? keys.get(id))}
      noun="API keys"
      empty={{
        icon: <KeyRound size={20} />,
        title: "No API keys yet",
        children: "Your keys appear here. Create one per application, with only the scopes it needs.",
      }}
    >
      <CreateApiKey open={list.isCreating} onClose={() => list.setCreating(false)} />
      <ConfirmDialog
        open={revoking !== undefined}
        onClose={() => setRevoking(undefined)}
        title={`Revoke “${revoking?.name ?? ""}”?`}
        action="Revoke key"
        onConfirm={async () => {
          if (revoking === undefined) return
          await Api.remove(`/api-keys/${revoking.id}`)
          await client.invalidateQueries({ queryKey: ["api-keys"] })
          showToast(`“${revoking.name}” revoked.`)
        }}
      >
        Applications that use <code className="font-mono text-ink">{revoking?.prefix}…</code> stop working immediately.
        You cannot restore a revoked key.
      </ConfirmDialog>
    </ListScreen>
  )
}

/** Returns the texts in which a search for keys looks. */
const textsOf = ({ domain, name, prefix, scopes }: ApiKey): string =>
  [name, prefix, domain ?? "", ...scopes].join("\n").toLowerCase()

/** Scopes that a row shows on its line; the title of the line has all. */
const SHOWN_SCOPES = 2

/** Returns the columns. `nameOf` has the names of members and keys. */
const columnsOf = (
  onRevoke: (key: ApiKey) => void,
  nameOf: (id: string) => string | undefined,
): ReadonlyArray<Column<ApiKey>> => [
  { name: "Name", main: true, cell: (key) => <KeyName apiKey={key} creator={nameOf(key.created_by ?? "")} /> },
  { name: "Mode", cell: ({ mode }) => <Badge tone={mode === "test" ? "warn" : "neutral"}>{MODE_NAMES[mode]}</Badge> },
  {
    name: "Scopes",
    wide: true,
    cell: ({ scopes }) => (
      <ul className="flex gap-1 whitespace-nowrap" title={scopes.join(", ")}>
        {scopes.slice(0, SHOWN_SCOPES).map((scope) => (
          <li key={scope}>
            <code className="rounded-md bg-hover px-1.5 py-0.5 font-mono text-[11px] text-ink-2">{scope}</code>
          </li>
        ))}
        {scopes.length > SHOWN_SCOPES ? (
          <li className="text-xs text-ink-3">
            +{scopes.length - SHOWN_SCOPES}
            <span className="sr-only">: {scopes.slice(SHOWN_SCOPES).join(", ")}</span>
          </li>
        ) : undefined}
      </ul>
    ),
  },
  {
    name: "Last used",
    number: true,
    wide: true,
    small: true,
    cell: (key) => <LastUse apiKey={key} />,
  },
  {
    name: "Actions",
    hiddenName: true,
    number: true,
    cell: (key) =>
      key.status === "active" ? (
        <Button
          small
          variant="ghost"
          className="-mr-2.5"
          aria-label={`Revoke ${key.name}`}
          onClick={() => onRevoke(key)}
        >
          Revoke
        </Button>
      ) : undefined,
  },
]

/** When a key was used last, with its requests. */
const LastUse = ({ apiKey: { id, last_used_at }, label }: { readonly apiKey: ApiKey; readonly label?: string }) =>
  last_used_at === null ? (
    "Never used"
  ) : (
    <Link to="/requests" search={{ api_key_id: id }} className="link" title="Requests with this key">
      {label} <RelativeTime iso={last_used_at} />
    </Link>
  )

const MODE_NAMES = { live: "Live", test: "Test" } as const

const KeyName = ({ apiKey: key, creator }: { readonly apiKey: ApiKey; readonly creator: string | undefined }) => (
  <>
    <p className="flex items-center gap-2">
      <UntrustedText className="truncate font-medium" text={key.name} />
      {key.status === "active" ? undefined : <StatusBadge status={key.status} />}
    </p>
    <p className="mt-0.5 flex flex-wrap gap-x-2 text-xs text-ink-3">
      <code className="font-mono">{key.prefix}…</code>
      {/* On a phone there are no columns for these. */}
      <span className="sm:hidden">{key.scopes.join(", ")}</span>
      <span className="sm:hidden">
        <LastUse apiKey={key} label="Last used" />
      </span>
      <span>
        Created <RelativeTime iso={key.created_at} />
        {creator === undefined ? undefined : (
          <>
            {" by "}
            <UntrustedText text={creator} />
          </>
        )}
      </span>
      {key.domain === null ? undefined : <span>Domain: {key.domain}</span>}
      {key.allowed_ips.length === 0 ? undefined : <span>Allowed IPs: {key.allowed_ips.join(", ")}</span>}
      {key.expires_at === null || key.status !== "active" ? undefined : (
        <span>
          Expires <RelativeTime iso={key.expires_at} />
        </span>
      )}
      {key.last_used_at === null || !permits(key.scopes, "email:send") ? undefined : (
        <Link to="/emails" search={{ search: SearchText.write("key", key.id) }} className="link">
          View its emails
        </Link>
      )}
    </p>
  </>
)
