import { shownWebhookStatus } from "@waybill/domain/webhook/shownWebhookStatus"
import { useQuery } from "@tanstack/react-query"
import { Link, type LinkProps } from "@tanstack/react-router"
import { CircleAlert, TriangleAlert } from "lucide-react"
import type { ReactNode } from "react"
import * as DeliveryRates from "@waybill/domain/explanation/DeliveryRates"
import * as Queries from "../api/Queries.ts"
import type { AccountQueue, Domain, Stats, Webhook } from "../api/Records.ts"
import * as SearchDates from "@waybill/domain/search/SearchDates"
import * as TimeRange from "./TimeRange.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { useSession } from "../session/useSession.ts"
import { Duration, useNow } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import * as DisabledReason from "../webhooks/DisabledReason.ts"
import { webhookName } from "../webhooks/webhookName.ts"
import * as Alarm from "./Alarm.ts"
import * as Mode from "../api/Mode.ts"
import { Panel } from "../ui/layout/Screen.tsx"

/** One thing that is wrong: a sentence, and where it is solved. */
interface Problem {
  readonly key: string
  readonly isBad: boolean
  readonly text: ReactNode
  readonly link: LinkProps
  readonly action: string
}

/** Webhooks that are named, and domains that have a sentence each. */
const MAX_NAMED = 3

/** Says what is wrong now, before any figure: the worst first, and then webhooks, domains, rates, a backlog. Nothing if all is well. */
export const Attention = () => {
  const now = useNow()
  const canReadLogs = useHasScope("email:logs:read")
  const webhooks = useQuery({ ...Queries.webhooks, enabled: useHasScope("webhooks:manage") })
  const domains = useQuery({ ...Queries.domains, enabled: useHasScope("domains:read") })
  const { account_id } = useSession().session
  const { from, to, unit } = TimeRange.rangeOf(TimeRange.firstOf(account_id, now), now)
  const stats = useQuery({ ...Queries.stats(from, to, unit), enabled: canReadLogs })
  const queue = useQuery({ ...Queries.queue, enabled: canReadLogs })
  const problems = [
    ...ofWebhooks(webhooks.data?.data ?? []),
    ...ofDomains(domains.data?.data ?? []),
    ...(Mode.isSimulated() ? [] : ofRates(stats.data, now)),
    ...ofBacklog(queue.data, now),
  ].toSorted((one, other) => Number(other.isBad) - Number(one.isBad))
  if (problems.length === 0) return undefined
  return (
    <Panel title="Needs attention" className="overflow-hidden">
      <ul aria-label="Needs attention" className="divide-y divide-line">
        {problems.map(({ action, isBad, key, link, text }) => (
          <li key={key} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5 text-sm">
            <span className="flex min-w-0 grow basis-72 items-start gap-2.5">
              {isBad ? (
                <CircleAlert size={16} className="mt-0.5 shrink-0 text-bad" aria-hidden />
              ) : (
                <TriangleAlert size={16} className="mt-0.5 shrink-0 text-warn" aria-hidden />
              )}
              <span className="min-w-0 [overflow-wrap:anywhere]">{text}</span>
            </span>
            <Link {...link} className="shrink-0 rounded-md font-medium link max-sm:pl-6.5">
              {action}
            </Link>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

const ofWebhooks = (webhooks: ReadonlyArray<Webhook>): ReadonlyArray<Problem> =>
  (["disabled", "failing"] as const).flatMap((status): ReadonlyArray<Problem> => {
    const isBad = status === "disabled"
    const rows = webhooks.filter(isBad ? DisabledReason.isByService : (each) => shownWebhookStatus(each) === "failing")
    if (rows.length < 2)
      return rows.map((webhook) => ({
        key: webhook.id,
        isBad,
        text: <WebhookProblem webhook={webhook} isDisabled={isBad} />,
        link: { to: "/webhooks/$id", params: { id: webhook.id } },
        action: "View webhook",
      }))
    const text = (
      <>
        {rows.length} webhooks {isBad ? "were disabled and receive no events" : "accept no calls"}
        {rows.slice(0, MAX_NAMED).map((webhook, nth) => (
          <span key={webhook.id}>
            {nth === 0 ? ": " : ", "}
            <WebhookName webhook={webhook} />
          </span>
        ))}
        {rows.length > MAX_NAMED ? ` and ${rows.length - MAX_NAMED} more` : ""}.
      </>
    )
    return [{ key: status, isBad, text, link: { to: "/webhooks", search: { status } }, action: "View webhooks" }]
  })

interface WebhookProps {
  readonly webhook: Webhook
  readonly isDisabled: boolean
}

const WebhookProblem = ({ isDisabled, webhook }: WebhookProps) =>
  isDisabled ? (
    <>
      The webhook <WebhookName webhook={webhook} /> was disabled and receives no events. {DisabledReason.words(webhook)}
      .
    </>
  ) : (
    <>
      The webhook <WebhookName webhook={webhook} /> has accepted no call
      {webhook.failing_since === null ? undefined : (
        <>
          {" "}
          for <Duration since={webhook.failing_since} />
        </>
      )}
      .{" "}
      {webhook.last_call?.status
        ? `Its endpoint answers ${webhook.last_call.status}.`
        : "Its endpoint does not answer."}
    </>
  )

const ofDomains = (domains: ReadonlyArray<Domain>): ReadonlyArray<Problem> =>
  (["failed", "degraded"] as const).flatMap((status): ReadonlyArray<Problem> => {
    const rows = domains.filter((domain) => domain.status === status)
    const isBad = status === "failed"
    if (rows.length > MAX_NAMED)
      return [
        {
          key: status,
          isBad,
          text: isBad
            ? `${rows.length} domains cannot send: their DNS records were not found.`
            : `${rows.length} domains still send, but DNS records of theirs are missing or wrong.`,
          link: { to: "/domains", search: { status } },
          action: "View domains",
        },
      ]
    return rows.map(({ id, name }) => ({
      key: id,
      isBad,
      text: (
        <>
          <Name text={name} />{" "}
          {isBad
            ? "cannot send: its DNS records were not found."
            : "still sends, but a DNS record is missing or wrong."}
        </>
      ),
      link: { to: "/domains/$name", params: { name } },
      action: "Fix DNS records",
    }))
  })

const ofRates = (stats: Stats | undefined, now: number): ReadonlyArray<Problem> =>
  Alarm.ratesOf(stats?.data ?? [], now).map(({ before, name, rate, since, status }) => ({
    key: status,
    isBad: true,
    text: `The ${name} rate is ${DeliveryRates.percent(rate)} since yesterday${
      before === null ? "" : `, after ${DeliveryRates.percent(before)} in the days before`
    }. ${Alarm.warningOf(status)}`,
    link: { to: "/emails", search: { search: `since:${SearchDates.write(since, now)} anyone:${status}` } },
    action: status === "bounced" ? "View bounced emails" : "View complaints",
  }))

const number = new Intl.NumberFormat()

const ofBacklog = (queue: AccountQueue | undefined, now: number): ReadonlyArray<Problem> => {
  if (!queue?.oldest_at || !Alarm.isOld(queue.oldest_at, Alarm.WAITING_MS, now)) return []
  const { is_exact, oldest_at, pending } = queue
  const count = `${number.format(pending)}${is_exact ? "" : " or more"}`
  return [
    {
      key: "backlog",
      isBad: true,
      text: (
        <>
          {count === "1" ? "1 email waits" : `${count} emails wait`} to be sent, the oldest for{" "}
          <Duration since={oldest_at} />.
        </>
      ),
      link: { to: "/emails", search: { search: "is:queued" } },
      action: "View queued emails",
    },
  ]
}

/** A description is quoted, because it may be any word. */
const WebhookName = ({ webhook }: { readonly webhook: Webhook }) => {
  const isDescribed = webhook.description !== null && webhook.description !== ""
  return <Name text={isDescribed ? `“${webhook.description}”` : webhookName(webhook)} />
}

const Name = ({ text }: { readonly text: string }) => <UntrustedText as="strong" className="font-medium" text={text} />
