import { useSuspenseQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate, useParams } from "@tanstack/react-router"
import { ArrowLeft } from "lucide-react"
import { useEffect } from "react"
import * as queries from "../api/Queries.ts"
import { useLive } from "../api/useEventStream.ts"
import type { EmailWithContent } from "../api/Records.ts"
import { isOverlaid, isTyping } from "../shell/useShortcuts.ts"
import { useMay } from "../shell/useSession.ts"
import { Badge, State } from "../ui/display/Badge.tsx"
import { CopyButton } from "../ui/controls/CopyButton.tsx"
import { size } from "../ui/display/formatBytes.ts"
import { Facts, Panel } from "../ui/layout/Screen.tsx"
import { exactly, Time, useNow } from "../ui/display/Time.tsx"
import { Actions } from "./EmailActions.tsx"
import { Content } from "./EmailContent.tsx"
import { shownState } from "./EmailTable.tsx"
import { EMAIL_TYPES } from "./LiveEmails.ts"
import { Recipients } from "./Recipients.tsx"
import { Timeline } from "./Timeline.tsx"
import { Foreign } from "../ui/display/UntrustedText.tsx"

/** Where nothing is left to happen. Whoever may follow the stream is told; others ask now and then. */
const FINAL: ReadonlySet<string> = new Set(["delivered", "bounced", "failed", "suppressed", "canceled", "complained"])
const POLL_MS = 3_000

export const Email = () => {
  const { id } = useParams({ from: "/shell/emails/$id" })
  const client = useQueryClient()
  const isAdmin = useMay("admin")
  const { data: email } = useSuspenseQuery({
    ...queries.email(id),
    refetchInterval: ({ state }) => (isAdmin || FINAL.has(state.data?.status ?? "") ? false : POLL_MS),
  })
  const { data: events } = useSuspenseQuery({
    ...queries.emailEvents(id),
    refetchInterval: isAdmin || FINAL.has(email.status) ? false : POLL_MS,
  })
  const refresh = () => void client.invalidateQueries({ queryKey: ["email", id] })
  useLive({
    types: EMAIL_TYPES,
    enabled: isAdmin,
    onBegin: refresh,
    onEvent: ({ stream_id }) => {
      if (stream_id === id) refresh()
    },
  })
  useBack()
  const now = useNow()
  return (
    <div className="mx-auto w-full max-w-[88rem] px-4 py-6 sm:px-8">
      <Link to="/emails" className="inline-flex items-center gap-1.5 rounded-md text-sm text-ink-2 hover:text-ink">
        <ArrowLeft size={14} aria-hidden />
        Emails
      </Link>
      <header className="mt-3 flex flex-wrap items-start gap-x-4 gap-y-3">
        <div className="min-w-0 grow basis-96">
          <h1 className="text-xl font-semibold tracking-tight break-words">
            {email.subject === "" ? "No subject" : <Foreign text={email.subject} />}
          </h1>
          <p className="mt-1.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-ink-2">
            <State state={shownState(email, now)} />
            <span className="truncate">
              <Foreign text={email.from} />
            </span>
            <span aria-hidden>→</span>
            <span className="truncate">
              <Foreign text={[...email.to, ...email.cc, ...email.bcc].slice(0, 3).join(", ")} />
            </span>
            {email.recipients.length > 3 ? <Badge>+{email.recipients.length - 3}</Badge> : undefined}
          </p>
        </div>
        <Actions email={email} onChanged={refresh} />
      </header>
      <div className="mt-6 grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_22rem] xl:grid-cols-[minmax(0,1fr)_26rem]">
        <div className="flex min-w-0 flex-col gap-5">
          <Content email={email} events={events.data} />
        </div>
        <div className="flex min-w-0 flex-col gap-5">
          <Panel title="Recipients">
            <Recipients recipients={email.recipients} />
          </Panel>
          <Panel title="Timeline">
            <Timeline events={events.data} />
          </Panel>
          <Panel title="About this message">
            <Facts
              facts={[
                ["Id", <Id key="id" text={email.id} />],
                ["Message-ID", <Id key="mid" text={email.message_id} />],
                [
                  "Sent",
                  <time key="at" dateTime={email.created_at}>
                    {exactly(email.created_at)}
                  </time>,
                ],
                ...(email.scheduled_at === null ? [] : [["Scheduled for", exactly(email.scheduled_at)] as const]),
                ...(email.next_attempt_at === null
                  ? []
                  : [["Next attempt", <Time key="next" iso={email.next_attempt_at} />] as const]),
                ["Attempts", email.attempts],
                ["Size", size(email.size_bytes)],
                ["Domain", email.domain],
                ["Sent by", email.api_key_id === null ? "the dashboard" : <Id key="key" text={email.api_key_id} />],
                ...(email.reply_to.length === 0 ? [] : [["Reply to", email.reply_to.join(", ")] as const]),
                ...(email.tags.length === 0 ? [] : [["Tags", email.tags.join(", ")] as const]),
                ["Tracked", tracked(email.tracking)],
                ...(email.opens + email.clicks === 0
                  ? []
                  : [["Opens, clicks", `${email.opens}, ${email.clicks}`] as const]),
              ]}
            />
          </Panel>
        </div>
      </div>
    </div>
  )
}

const tracked = ({ clicks, opens }: EmailWithContent["tracking"]): string =>
  [...(opens ? ["opens"] : []), ...(clicks ? ["clicks"] : [])].join(" and ") || "no"

const Id = ({ text }: { readonly text: string }) => (
  <span className="flex items-center gap-1">
    <code className="min-w-0 truncate font-mono text-xs" title={text}>
      {text}
    </code>
    <CopyButton text={text} />
  </span>
)

/** `u` goes up, as in mail programs. */
const useBack = () => {
  const navigate = useNavigate()
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "u" && !isTyping(event.target) && !isOverlaid() && !event.metaKey && !event.ctrlKey)
        void navigate({ to: "/emails" })
    }
    window.addEventListener("keydown", onKey)
    return () => window.removeEventListener("keydown", onKey)
  }, [navigate])
}
