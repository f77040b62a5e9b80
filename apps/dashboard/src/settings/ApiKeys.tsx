import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { KeyRound, Plus } from "lucide-react"
import { useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { ApiKey } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { ConfirmDialog } from "../ui/feedback/ConfirmDialog.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import { RelativeTime } from "../ui/display/Time.tsx"
import { showToast } from "../ui/feedback/Toasts.tsx"
import { CreateApiKey } from "./CreateApiKey.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"

export const ApiKeys = () => {
  const search = useSearch({ from: "/shell/settings/api-keys" })
  const navigate = useNavigate({ from: "/settings/api-keys" })
  const client = useQueryClient()
  const query = useQuery(Queries.apiKeys)
  const [revoking, setRevoking] = useState<ApiKey>()
  const setDialogOpen = (open: boolean) => void navigate({ search: open ? { new: true } : {}, replace: true })
  const keys = query.data?.data ?? []
  const active = keys.filter(({ status }) => status === "active")
  const inactive = keys.filter(({ status }) => status !== "active")
  const button = (
    <Button variant="primary" icon={<Plus size={15} />} onClick={() => setDialogOpen(true)}>
      Create API key
    </Button>
  )
  return (
    <Screen
      title="API keys"
      hint="Keys your applications use to call the API. A key is shown only once, when you create it."
      actions={button}
    >
      <Panel>
        {query.isPending ? (
          <SkeletonRows />
        ) : query.isError ? (
          <div className="p-4">
            <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
          </div>
        ) : keys.length === 0 ? (
          <EmptyState icon={<KeyRound size={20} />} title="No API keys yet" action={button}>
            Your keys appear here. Create one per application, with only the scopes it needs.
          </EmptyState>
        ) : (
          <KeyList keys={active} onRevoke={setRevoking} />
        )}
      </Panel>
      {inactive.length === 0 ? undefined : (
        <details className="group">
          <summary className="cursor-pointer rounded-md px-1 text-sm text-ink-2 hover:text-ink">
            {inactive.length} revoked or expired
          </summary>
          <Panel className="mt-3">
            <KeyList keys={inactive} />
          </Panel>
        </details>
      )}
      <CreateApiKey open={search.new === true} onOpenChange={setDialogOpen} />
      <ConfirmDialog
        open={revoking !== undefined}
        onOpenChange={(open) => {
          if (!open) setRevoking(undefined)
        }}
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
              <UntrustedText text={key.name} />
            </span>
            {key.status === "active" ? undefined : <StatusBadge status={key.status} />}
          </p>
          <p className="mt-0.5 flex flex-wrap gap-x-2 text-xs text-ink-3">
            <code className="font-mono">{key.prefix}…</code>
            {key.domain === null ? undefined : <span>Domain: {key.domain}</span>}
            {key.allowed_ips.length === 0 ? undefined : <span>Allowed IPs: {key.allowed_ips.join(", ")}</span>}
            {key.expires_at === null || key.status !== "active" ? undefined : (
              <span>
                Expires <RelativeTime iso={key.expires_at} />
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
            "Never used"
          ) : (
            <>
              Used <RelativeTime iso={key.last_used_at} />
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
