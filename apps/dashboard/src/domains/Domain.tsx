import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import * as DnsAdvice from "@waybill/domain/domain/DnsAdvice"
import { RefreshCw, RotateCcwKey, Trash2 } from "lucide-react"
import { useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { Domain as DomainData } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { ConfirmDialog } from "../ui/feedback/ConfirmDialog.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { MoreMenu } from "../ui/controls/Menu.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { formatDateTime, RelativeTime } from "../ui/display/Time.tsx"
import { showToast } from "../ui/feedback/Toasts.tsx"
import { DomainReports } from "../domainReports/DomainReports.tsx"
import { useHistoryItem } from "../session/useHistoryItem.tsx"
import { Receiving } from "./Receiving.tsx"
import { DomainMail } from "./DomainMail.tsx"
import { needsNoDns } from "./needsNoDns.ts"
import { DomainRecords } from "./DomainRecords.tsx"
import { Tracking } from "./Tracking.tsx"
import { useEd25519 } from "./Ed25519.tsx"

/** Refetch interval while the domain is pending. */
const POLL_MS = 10_000

export const Domain = () => {
  const { name } = useParams({ from: "/shell/domains/$name" })
  const client = useQueryClient()
  const navigate = useNavigate()
  const canEdit = useHasScope("domains:write")
  const { data: domain } = useSuspenseQuery({
    ...Queries.domain(name),
    refetchInterval: ({ state }) => (state.data?.status === "pending" ? POLL_MS : false),
  })
  const [removing, setRemoving] = useState(false)
  const [rotating, setRotating] = useState(false)
  const updateCache = (next: DomainData) => {
    client.setQueryData(Queries.domain(name).queryKey, next)
    void client.invalidateQueries({ queryKey: ["domains"], exact: true })
  }
  const verify = useMutation({
    mutationFn: () => Api.post<DomainData>(`/domains/${encodeURIComponent(name)}/verify`),
    onSuccess: (next) => {
      updateCache(next)
      if (next.status === "verified") showToast(`${name} verified.`)
    },
  })
  const history = useHistoryItem(domain.id)
  const ed25519 = useEd25519(domain, updateCache)
  return (
    <Screen
      back={{ to: "/domains", name: "Domains" }}
      title={domain.name}
      status={<StatusBadge status={domain.status} />}
      hint={<VerificationStatus domain={domain} />}
      actions={
        canEdit ? (
          <>
            {needsNoDns(domain) ? undefined : (
              <Button
                icon={<RefreshCw size={14} className={verify.isPending ? "animate-spin" : ""} />}
                busy={verify.isPending}
                onClick={() => verify.mutate()}
              >
                Verify DNS
              </Button>
            )}
            <MoreMenu
              isFramed
              label="Domain actions"
              items={[
                { name: "Rotate DKIM key", icon: <RotateCcwKey size={15} />, onSelect: () => setRotating(true) },
                ...ed25519.items,
                ...history,
                "separator",
                { name: "Delete domain", icon: <Trash2 size={15} />, danger: true, onSelect: () => setRemoving(true) },
              ]}
            />
          </>
        ) : undefined
      }
    >
      <ErrorMessage error={verify.error} />
      <ErrorMessage error={ed25519.error} />
      <DomainMail name={domain.name} />
      {needsNoDns(domain) ? (
        <p className="text-sm text-ink-2">{DnsAdvice.NEEDS_NO_DNS}</p>
      ) : (
        <>
          <p className="text-sm [overflow-wrap:anywhere] text-ink-2">
            Publish these records at the DNS provider of {domain.zone ?? domain.name}. Only those marked as required are
            needed to send; the others are recommended.{" "}
            {domain.zone === null
              ? "If the form of your provider adds the name of the zone, leave that part out at the end of the name."
              : `Most providers add ${domain.zone} to what you enter: enter the host there, and the full name elsewhere.`}
          </p>
          <DomainRecords domain={domain} />
        </>
      )}
      <Receiving key={`receiving ${domain.id}`} domain={domain} canEdit={canEdit} onChanged={updateCache} />
      <Tracking key={domain.id} domain={domain} canEdit={canEdit} onChanged={updateCache} />
      <DomainReports key={`reports of ${domain.id}`} name={domain.name} />
      <ConfirmDialog
        open={rotating}
        onClose={() => setRotating(false)}
        title="Rotate DKIM key?"
        isDestructive={false}
        action="Rotate key"
        onConfirm={async () => {
          updateCache(await Api.post<DomainData>(`/domains/${encodeURIComponent(name)}/dkim/rotate`))
          showToast("New DKIM key created. Publish its record to activate it.")
        }}
      >
        A new DNS record appears here. Mail is signed with the old key until the new record is verified.
      </ConfirmDialog>
      {ed25519.dialogs}
      <ConfirmDialog
        open={removing}
        onClose={() => setRemoving(false)}
        title={`Delete ${domain.name}?`}
        action="Delete domain"
        confirmationText={domain.name}
        onConfirm={async () => {
          await Api.remove(`/domains/${encodeURIComponent(name)}`)
          await client.invalidateQueries({ queryKey: ["domains"], exact: true })
          showToast(`${name} deleted.`)
          await navigate({ to: "/domains" })
        }}
      >
        You can no longer send from this domain, and email that is still queued from it fails.
      </ConfirmDialog>
    </Screen>
  )
}

const VerificationStatus = ({ domain }: { readonly domain: DomainData }) => {
  if (domain.verified_at !== null && domain.status === "verified")
    return <>Verified {formatDateTime(domain.verified_at)}</>
  return (
    <>
      {domain.last_checked_at === null ? (
        "Not checked yet"
      ) : (
        <>
          Last checked <RelativeTime iso={domain.last_checked_at} />
        </>
      )}
      {domain.next_check_at === null ? undefined : (
        <>
          . Next check <RelativeTime isAhead iso={domain.next_check_at} />
        </>
      )}
    </>
  )
}
