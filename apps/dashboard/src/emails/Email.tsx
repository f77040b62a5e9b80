import * as SearchText from "@waybill/domain/search/SearchText"
import { useQuery, useSuspenseQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate, useParams } from "@tanstack/react-router"
import { useEffect } from "react"
import * as Queries from "../api/Queries.ts"
import { useEventStream } from "../live/useEventStream.ts"
import type { EmailWithContent } from "../api/Records.ts"
import * as Keyboard from "../ui/controls/Keyboard.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { Badge, StatusBadge } from "../ui/display/Badge.tsx"
import { CopyButton } from "../ui/controls/CopyButton.tsx"
import { formatBytes } from "../ui/display/formatBytes.ts"
import { DescriptionList } from "../ui/layout/DescriptionList.tsx"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import { formatWithZone, RelativeTime, useNow } from "../ui/display/Time.tsx"
import { ReceiptMenu } from "../receipts/ReceiptMenu.tsx"
import { RequestLink, useRequest } from "../requests/RequestLink.tsx"
import { Conversation } from "./Conversation.tsx"
import { DeliveryExplanation } from "./DeliveryExplanation.tsx"
import { Notice } from "./Notice.tsx"
import { EmailActions } from "./EmailActions.tsx"
import { EmailContent } from "./EmailContent.tsx"
import { shownStatus } from "@waybill/domain/search/shownStatus"
import * as LiveEmails from "./LiveEmails.ts"
import { RecipientMenu } from "./RecipientMenu.tsx"
import { Recipients } from "./Recipients.tsx"
import { Timeline } from "./Timeline.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { useKeyNames, useTemplateNames } from "../session/Names.ts"

/** Statuses that no longer change. */
const FINAL_STATUSES: ReadonlySet<string> = new Set([
  "delivered",
  "bounced",
  "failed",
  "suppressed",
  "canceled",
  "complained",
])
/** Statuses of emails that nothing was sent of. */
const QUIET_STATUSES: ReadonlySet<string> = new Set(["scheduled", "canceled"])
/** Refetch interval for users without access to the event stream. */
const POLL_MS = 3_000

export const Email = () => {
  const { id } = useParams({ from: "/shell/emails/$id" })
  const client = useQueryClient()
  const canStream = useHasScope("events:read")
  const { data: email } = useSuspenseQuery({
    ...Queries.email(id),
    refetchInterval: ({ state }) => (canStream || FINAL_STATUSES.has(state.data?.status ?? "") ? false : POLL_MS),
  })
  const { data: events } = useSuspenseQuery({
    ...Queries.emailEvents(id),
    refetchInterval: canStream || FINAL_STATUSES.has(email.status) ? false : POLL_MS,
  })
  const refresh = () => void client.invalidateQueries({ queryKey: ["email", id] })
  useEventStream({
    types: LiveEmails.EMAIL_EVENT_TYPES,
    enabled: canStream,
    onStart: refresh,
    onEvent: ({ stream_id }) => {
      if (stream_id === id) refresh()
    },
  })
  useBackKey()
  const request = useRequest(events.data[0]?.request_id ?? null)
  const now = useNow()
  const only = email.recipients.length === 1 ? email.recipients[0] : undefined
  return (
    <Screen
      name={email.subject === "" ? "No subject" : email.subject}
      back={{ to: "/emails", name: "Emails" }}
      title={email.subject === "" ? "No subject" : <UntrustedText text={email.subject} />}
      hint={
        <p className="flex min-h-8 flex-wrap items-center gap-x-2 gap-y-1">
          <StatusBadge status={shownStatus(email, now)} />
          {email.livemode ? undefined : <Badge tone="warn">Test</Badge>}
          <UntrustedText className="max-w-full truncate" text={email.from} />
          <span className="flex max-w-full min-w-0 items-center gap-x-2">
            <span aria-hidden>→</span>
            <span className="truncate">
              <UntrustedText text={[...email.to, ...email.cc, ...email.bcc].slice(0, 3).join(", ")} />
            </span>
            {only === undefined ? undefined : (
              <RecipientMenu address={only.address} isSuppressed={only.suppression !== null} />
            )}
            {email.recipients.length > 3 ? <Badge>+{email.recipients.length - 3}</Badge> : undefined}
          </span>
        </p>
      }
      actions={
        <>
          <ReceiptMenu id={id} of="email" />
          <EmailActions email={email} onChanged={refresh} />
        </>
      }
    >
      {QUIET_STATUSES.has(shownStatus(email, now)) ? (
        <Notice email={email} events={events.data} />
      ) : (
        <DeliveryExplanation email={email} />
      )}
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_22rem] xl:grid-cols-[minmax(0,1fr)_26rem]">
        <div className="flex min-w-0 flex-col gap-5 max-lg:order-2">
          <EmailContent email={email} events={events.data} />
          <Answers id={id} />
          <Panel title="Details">
            <DescriptionList
              items={[
                ["ID", <Id key="id" text={email.id} />],
                ["Message-ID", <Id key="mid" text={email.message_id} />],
                [
                  "Accepted",
                  <time key="at" dateTime={email.created_at}>
                    {formatWithZone(email.created_at)}
                  </time>,
                ],
                email.scheduled_at !== null && ["Scheduled for", formatWithZone(email.scheduled_at)],
                email.next_attempt_at !== null && [
                  "Next attempt",
                  <RelativeTime key="next" isAhead iso={email.next_attempt_at} />,
                ],
                ["Attempts", email.attempts],
                ["Size", formatBytes(email.size_bytes)],
                [
                  "Domain",
                  <Link key="domain" to="/domains/$name" params={{ name: email.domain }} className="link">
                    {email.domain}
                  </Link>,
                ],
                request !== undefined && ["Request", <RequestLink key="request" request={request} />],
                email.forward_of !== null && [
                  "Forward of",
                  <Link
                    key="forward"
                    to="/received"
                    search={{ id: email.forward_of }}
                    className="block truncate font-mono text-xs link"
                  >
                    {email.forward_of}
                  </Link>,
                ],
                email.resend_of !== null && ["Copy of", <EmailLink key="original" id={email.resend_of} />],
                email.copies.length > 0 && [
                  email.copies.length === 1 ? "Copy" : "Copies",
                  <span key="copies" className="flex flex-col gap-1">
                    {email.copies.map((id) => (
                      <EmailLink key={id} id={id} />
                    ))}
                  </span>,
                ],
                email.template !== null && ["Template", <UsedTemplate key="template" template={email.template} />],
                ["Sent by", <Submitter key="key" keyId={email.api_key_id} />],
                email.reply_to.length > 0 && ["Reply-to", email.reply_to.join(", ")],
                email.tags.length > 0 && ["Tags", <Tags key="tags" tags={email.tags} />],
                Object.keys(email.metadata).length > 0 && [
                  "Metadata",
                  <MetadataList key="metadata" metadata={email.metadata} />,
                ],
                ["Tracking", trackingOf(email.tracking)],
                email.opens + email.clicks > 0 && ["Opens / clicks", `${email.opens} / ${email.clicks}`],
              ]}
            />
          </Panel>
        </div>
        {/* On a phone the recipients and the timeline come before the content. */}
        <div className="flex min-w-0 flex-col gap-5 max-lg:order-1">
          {/* The only recipient stands above already, with its state. */}
          {email.recipients.length === 1 ? undefined : (
            <Panel title="Recipients">
              <Recipients recipients={email.recipients} isScheduled={shownStatus(email, now) === "scheduled"} />
            </Panel>
          )}
          <Panel title="Timeline">
            <Timeline events={events.data} />
          </Panel>
        </div>
      </div>
    </Screen>
  )
}

const trackingOf = ({ clicks, opens }: EmailWithContent["tracking"]): string =>
  opens && clicks ? "Opens and clicks" : opens ? "Opens" : clicks ? "Clicks" : "Off"

/** The template that the email was made of, with its version and language. */
const UsedTemplate = ({ template }: { readonly template: NonNullable<EmailWithContent["template"]> }) => {
  const { id, locale, version } = template
  const name = useTemplateNames().get(id)
  return (
    <span className="flex flex-wrap gap-x-2">
      <Link to="/templates/$id" params={{ id }} className="link">
        {name === undefined ? <Id text={id} /> : <UntrustedText text={name} />}
      </Link>
      <Link to="/templates/$id" params={{ id }} search={{ view: "versions" }} className="link">
        version {version}
      </Link>
      {locale === null ? undefined : (
        <Link to="/templates/$id" params={{ id }} search={{ language: locale }} className="link">
          {locale}
        </Link>
      )}
    </span>
  )
}

/** Name of the key that submitted the email; not for somebody who cannot see keys. */
const Submitter = ({ keyId }: { readonly keyId: string | null }) => {
  const name = useKeyNames().get(keyId ?? "")
  if (keyId === null) return "Dashboard"
  return (
    <Link to="/emails" search={{ search: `key:${keyId}` }} title="Show all emails with this key" className="link">
      API key <span className="empty:hidden">{name === undefined ? undefined : <UntrustedText text={name} />}</span>
    </Link>
  )
}

const Tags = ({ tags }: { readonly tags: ReadonlyArray<string> }) => (
  <span className="flex flex-wrap gap-x-2">
    {tags.map((tag) => (
      <Link
        key={tag}
        to="/emails"
        search={{ search: SearchText.write("tag", tag) }}
        title="Show all emails with this tag"
        className="min-w-0 link [overflow-wrap:anywhere]"
      >
        <UntrustedText text={tag} />
      </Link>
    ))}
  </span>
)

const EmailLink = ({ id }: { readonly id: string }) => (
  <Link to="/emails/$id" params={{ id }} className="block truncate font-mono text-xs link">
    {id}
  </Link>
)

const Id = ({ text }: { readonly text: string }) => (
  <span className="flex items-center gap-1">
    <code className="min-w-0 truncate font-mono text-xs" title={text}>
      {text}
    </code>
    <CopyButton text={text} />
  </span>
)

/** Returns to the list with `u`, as in Gmail. */
const useBackKey = () => {
  const navigate = useNavigate()
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (
        event.key === "u" &&
        !Keyboard.isTyping(event) &&
        !Keyboard.isDialogOpen() &&
        !event.metaKey &&
        !event.ctrlKey
      )
        void navigate({ to: "/emails" })
    }
    window.addEventListener("keydown", onKey)
    return () => window.removeEventListener("keydown", onKey)
  }, [navigate])
}

/** The conversation that an email began, once somebody has answered it. */
const Answers = ({ id }: { readonly id: string }) => {
  const canRead = useHasScope("inbound:read")
  const { data } = useQuery({ ...Queries.answerTo(id), enabled: canRead })
  const [answer] = data?.data ?? []
  return answer === undefined ? undefined : (
    <Panel title="Conversation">
      <Conversation id={answer.thread_id} own={id} />
    </Panel>
  )
}

/** The pairs of an email, each a link to all emails with it. */
const MetadataList = ({ metadata }: Pick<EmailWithContent, "metadata">) => (
  <ul className="flex flex-col gap-1">
    {Object.entries(metadata).map(([name, value]) => (
      <li key={name} className="wrap-anywhere">
        <Link
          to="/emails"
          search={{ search: SearchText.write("metadata", `${name}=${value}`) }}
          title="Show all emails with this pair"
          className="link"
        >
          <UntrustedText text={`${name}: ${value}`} />
        </Link>
      </li>
    ))}
  </ul>
)
