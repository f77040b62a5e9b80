import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { KeyRound, Plus } from "lucide-react"
import { useState } from "react"
import * as queries from "../api/Queries.ts"
import type { ApiKey } from "../api/Records.ts"
import { remove } from "../api/Api.ts"
import { State } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { Confirm } from "../ui/feedback/Dialog.tsx"
import { Empty } from "../ui/feedback/EmptyState.tsx"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { Panel, Screen, SkeletonRows } from "../ui/layout/Screen.tsx"
import { Time } from "../ui/display/Time.tsx"
import { say } from "../ui/feedback/Toasts.tsx"
import { NewApiKey } from "./CreateApiKey.tsx"
import { Foreign } from "../ui/display/UntrustedText.tsx"

export const ApiKeys = () => {
  const search = useSearch({ from: "/shell/settings/api-keys" })
  const navigate = useNavigate({ from: "/settings/api-keys" })
  const client = useQueryClient()
  const query = useQuery(queries.apiKeys)
  const [revoking, setRevoking] = useState<ApiKey>()
  const create = (open: boolean) => void navigate({ search: open ? { new: true } : {}, replace: true })
  const keys = query.data?.data ?? []
  const usable = keys.filter(({ status }) => status === "active")
  const gone = keys.filter(({ status }) => status !== "active")
  const button = (
    <Button look="solid" icon={<Plus size={15} />} onClick={() => create(true)}>
      New API Key
    </Button>
  )
  return (
    <Screen
      title="API Keys"
      hint="What your applications send with. A key is shown once, when it is made."
      actions={button}
    >
      <Panel>
        {query.isPending ? (
          <SkeletonRows />
        ) : query.isError ? (
          <div className="p-4">
            <ErrorNote error={query.error} onRetry={() => void query.refetch()} />
          </div>
        ) : keys.length === 0 ? (
          <Empty icon={<KeyRound size={20} />} title="No key yet" action={button}>
            Make one for each application, with no more rights than it needs.
          </Empty>
        ) : (
          <KeyList keys={usable} onRevoke={setRevoking} />
        )}
      </Panel>
      {gone.length === 0 ? undefined : (
        <details className="group">
          <summary className="cursor-pointer rounded-md px-1 text-sm text-ink-2 hover:text-ink">
            {gone.length} revoked or expired
          </summary>
          <Panel className="mt-3">
            <KeyList keys={gone} />
          </Panel>
        </details>
      )}
      <NewApiKey open={search.new === true} onOpenChange={create} />
      <Confirm
        open={revoking !== undefined}
        onOpenChange={(open) => {
          if (!open) setRevoking(undefined)
        }}
        title={`Revoke “${revoking?.name ?? ""}”?`}
        action="Revoke"
        onConfirm={async () => {
          if (revoking === undefined) return
          await remove(`/api-keys/${revoking.id}`)
          await client.invalidateQueries({ queryKey: ["api-keys"] })
          say(`“${revoking.name}” is revoked.`)
        }}
      >
        Every later request with it is refused, at once and for good. Whatever still uses{" "}
        <code className="font-mono text-ink">{revoking?.prefix}…</code> stops working.
      </Confirm>
    </Screen>
  )
}

const KeyList = ({
  keys,
  onRevoke,
}: {
  readonly keys: ReadonlyArray<ApiKey>
  readonly onRevoke?: (key: ApiKey) => void
}) => (
  <ul className="divide-y divide-line">
    {keys.map((key) => (
      <li key={key.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
        <div className="min-w-0 grow basis-full sm:basis-56">
          <p className="flex items-center gap-2">
            <span className="truncate text-sm font-medium">
              <Foreign text={key.name} />
            </span>
            {key.status === "active" ? undefined : <State state={key.status} />}
          </p>
          <p className="mt-0.5 flex flex-wrap gap-x-2 text-xs text-ink-3">
            <code className="font-mono">{key.prefix}…</code>
            {key.domain === null ? undefined : <span>only {key.domain}</span>}
            {key.allowed_ips.length === 0 ? undefined : <span>only from {key.allowed_ips.join(", ")}</span>}
            {key.expires_at === null || key.status !== "active" ? undefined : (
              <span>
                expires <Time iso={key.expires_at} />
              </span>
            )}
          </p>
        </div>
        <ul className="flex flex-wrap gap-1">
          {key.scopes.map((scope) => (
            <li key={scope}>
              <code className="rounded-md bg-hover px-1.5 py-0.5 font-mono text-[11px] text-ink-2">{scope}</code>
            </li>
          ))}
        </ul>
        <p className="grow text-xs text-ink-3 sm:w-28 sm:grow-0 sm:text-right">
          {key.last_used_at === null ? (
            "never used"
          ) : (
            <>
              used <Time iso={key.last_used_at} />
            </>
          )}
        </p>
        {onRevoke === undefined ? undefined : (
          <Button small onClick={() => onRevoke(key)}>
            Revoke
          </Button>
        )}
      </li>
    ))}
  </ul>
)
