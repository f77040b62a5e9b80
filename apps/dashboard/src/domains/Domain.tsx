import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams } from "@tanstack/react-router"
import { ArrowLeft, MoreHorizontal, RefreshCw, RotateCcwKey, Trash2 } from "lucide-react"
import { useState } from "react"
import * as queries from "../api/Queries.ts"
import type { Domain as Record, DomainRecord } from "../api/Records.ts"
import { post, remove } from "../api/Api.ts"
import { useMay } from "../shell/useSession.ts"
import { Badge, State, type Tone } from "../ui/display/Badge.tsx"
import { Button, IconButton } from "../ui/controls/Button.tsx"
import { CopyField } from "../ui/controls/CopyButton.tsx"
import { Confirm } from "../ui/feedback/Dialog.tsx"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { Menu } from "../ui/controls/Menu.tsx"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import { exactly, Time } from "../ui/display/Time.tsx"
import { say } from "../ui/feedback/Toasts.tsx"
import { Tracking } from "./Tracking.tsx"
import { isEd25519, useEd25519 } from "./useEd25519.tsx"

/** While DNS is waited for, the answer may come at any moment. */
const POLL_MS = 10_000

export const Domain = () => {
  const { name } = useParams({ from: "/shell/domains/$name" })
  const client = useQueryClient()
  const navigate = useNavigate()
  const may = useMay("domains:write")
  const { data: domain } = useSuspenseQuery({
    ...queries.domain(name),
    refetchInterval: ({ state }) => (state.data?.status === "pending" ? POLL_MS : false),
  })
  const [removing, setRemoving] = useState(false)
  const [rotating, setRotating] = useState(false)
  const keep = (next: Record) => {
    client.setQueryData(queries.domain(name).queryKey, next)
    void client.invalidateQueries({ queryKey: ["domains"], exact: true })
  }
  const verify = useMutation({
    mutationFn: () => post<Record>(`/domains/${encodeURIComponent(name)}/verify`),
    onSuccess: (next) => {
      keep(next)
      if (next.status === "verified") say(`${name} is verified.`)
    },
  })
  const ed25519 = useEd25519(domain, keep)
  return (
    <Screen
      title={
        <span className="flex items-center gap-3">
          <Link to="/domains" aria-label="Back to the domains" className="rounded-md text-ink-3 hover:text-ink">
            <ArrowLeft size={16} />
          </Link>
          <span className="truncate">{domain.name}</span>
          <State state={domain.status} />
        </span>
      }
      hint={<Standing domain={domain} />}
      actions={
        may ? (
          <>
            <Button
              icon={<RefreshCw size={14} className={verify.isPending ? "animate-spin" : ""} />}
              busy={verify.isPending}
              onClick={() => verify.mutate()}
            >
              Verify now
            </Button>
            <Menu
              trigger={
                <IconButton label="More for this domain" className="border border-line-strong bg-raised">
                  <MoreHorizontal size={16} />
                </IconButton>
              }
              items={[
                { name: "Rotate the DKIM key", icon: <RotateCcwKey size={15} />, onSelect: () => setRotating(true) },
                ...ed25519.items,
                "line",
                {
                  name: "Remove the domain",
                  icon: <Trash2 size={15} />,
                  danger: true,
                  onSelect: () => setRemoving(true),
                },
              ]}
            />
          </>
        ) : undefined
      }
    >
      {verify.error === null ? undefined : <ErrorNote error={verify.error} />}
      {ed25519.error === null ? undefined : <ErrorNote error={ed25519.error} />}
      <p className="text-sm text-ink-2">
        Publish these records where {domain.name} is managed. Only the first is required to send; the others make
        bounces find their way back and tell the world what to do with forgeries.
      </p>
      {domain.records.map((record) => (
        <OneRecord key={`${record.type} ${record.name} ${record.value}`} record={record} />
      ))}
      <Tracking key={domain.id} domain={domain} may={may} onChanged={keep} />
      <Confirm
        open={rotating}
        onOpenChange={setRotating}
        title="Rotate the DKIM key?"
        action="Make a new key"
        onConfirm={async () => {
          keep(await post<Record>(`/domains/${encodeURIComponent(name)}/dkim/rotate`))
          say("A new key waits for its record.")
        }}
      >
        A new record appears here. The old key signs until DNS shows the new one, so nothing is interrupted.
      </Confirm>
      {ed25519.dialogs}
      <Confirm
        open={removing}
        onOpenChange={setRemoving}
        title={`Remove ${domain.name}?`}
        action="Remove"
        typed={domain.name}
        onConfirm={async () => {
          await remove(`/domains/${encodeURIComponent(name)}`)
          await client.invalidateQueries({ queryKey: ["domains"], exact: true })
          say(`${name} is removed.`)
          await navigate({ to: "/domains" })
        }}
      >
        Nothing can be sent from it any more, and mail that is still queued from it fails.
      </Confirm>
    </Screen>
  )
}

const Standing = ({ domain }: { readonly domain: Record }) => {
  if (domain.verified_at !== null && domain.status === "verified") return <>Verified {exactly(domain.verified_at)}</>
  return (
    <>
      {domain.last_checked_at === null ? (
        "Not checked yet"
      ) : (
        <>
          Last checked <Time iso={domain.last_checked_at} />
        </>
      )}
      {domain.next_check_at === null ? undefined : (
        <>
          , checked again <Time iso={domain.next_check_at} />
        </>
      )}
    </>
  )
}

const PURPOSES: { readonly [P in DomainRecord["purpose"]]: readonly [name: string, why: string] } = {
  dkim: ["DKIM", "Proves that the mail is yours and was not changed."],
  return_path: ["Return path", "Brings bounces back here, under your own name."],
  spf: ["SPF", "Lists who may send for the return path."],
  dmarc: ["DMARC", "Says what receivers do with mail that only claims to be yours."],
  tracking: ["Links", "Has the links of tracked mail lead over your own name."],
}

const TONES: { readonly [S in DomainRecord["status"]]: readonly [tone: Tone, word: string] } = {
  not_checked: ["calm", "Not checked"],
  verified: ["good", "Found"],
  missing: ["warn", "Missing"],
  mismatch: ["bad", "Different"],
  unavailable: ["calm", "No answer"],
}

const SECOND_SIGNATURE =
  "A second signature beside the RSA one, made while DNS shows this record. Without it mail goes out just the same."

/** What resolvers say in their own tongue. */
const WORDS: { readonly [code: string]: string } = {
  NXDOMAIN: "DNS knows no such name yet. After a change it may take a while until everybody sees it.",
  NODATA: "The name is there, but has no record of this type yet.",
}

const OneRecord = ({ record }: { readonly record: DomainRecord }) => {
  const [name, why] = PURPOSES[record.purpose]
  const [tone, word] = TONES[record.status]
  const isSecond = isEd25519(record)
  return (
    <Panel
      title={
        <span className="flex items-center gap-2">
          {name}
          <Badge>{record.type}</Badge>
          {isSecond ? <Badge>Ed25519</Badge> : undefined}
          {record.required ? <Badge tone="blue">Required</Badge> : undefined}
        </span>
      }
      actions={
        <Badge tone={tone} dot>
          {word}
        </Badge>
      }
    >
      <div className="flex flex-col gap-3 p-4">
        <p className="text-sm text-ink-2">{isSecond ? SECOND_SIGNATURE : why}</p>
        <div className="grid gap-3 sm:grid-cols-[minmax(0,16rem)_minmax(0,1fr)]">
          <Part label="Host" text={record.host} />
          <Part label="Value" text={record.value} />
        </div>
        {record.error === null ? undefined : (
          <p className="rounded-lg bg-warn-soft px-3 py-2 text-sm text-warn first-letter:uppercase">
            {WORDS[record.error] ?? record.error}
          </p>
        )}
        {record.status === "verified" || record.found.length === 0 ? undefined : (
          <div>
            <p className="mb-1 text-xs font-medium text-ink-3">What DNS answered</p>
            <ul className="flex flex-col gap-1">
              {record.found.map((answer) => (
                <li key={answer} className="rounded-lg bg-sunken px-2.5 py-1.5 font-mono text-xs break-all text-ink-2">
                  {answer}
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </Panel>
  )
}

const Part = ({ label, text }: { readonly label: string; readonly text: string }) => (
  <div className="min-w-0">
    <p className="mb-1 text-xs font-medium text-ink-3">{label}</p>
    <CopyField text={text} label={`Copy the ${label.toLowerCase()}`} />
  </div>
)
