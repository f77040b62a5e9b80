import * as Table from "@waybill/domain/values/Table"
import type { EmailRecord, WithContent } from "@waybill/api/schemas/EmailRecord"
import type { EventRecord } from "@waybill/api/schemas/EventRecord"
import * as Address from "@waybill/domain/values/Address"
import { Result } from "effect"
import type { Route } from "../../Door.ts"
import * as Native from "../../Native.ts"
import { route } from "../../route.ts"
import * as Bounce from "../../../webhookFormats/PostmarkBounce.ts"
import * as Words from "../../../webhookFormats/PostmarkWords.ts"
import * as Filters from "../Filters.ts"
import * as Paging from "../Paging.ts"

/** Postmark's states of a message do not include its fate; that is in the events and the bounces. */
const STATUSES: Readonly<Record<string, string>> = {
  queued: "queued,deferred",
  sent: "sent,delivered,bounced,complained,failed,suppressed",
  processed: "sent,delivered,bounced,complained,failed,suppressed",
}

const list = route(
  "GET /messages/outbound",
  {
    endpoint: "logs.list",
    query: [...Filters.LIST, "recipient", "fromemail", "tag", "status", "subject", "metadata"],
    lists: ["tag", "metadata"],
  },
  function* ({ query }) {
    yield* Filters.checkStream(query)
    const range = yield* Paging.rangeOf(query)
    const status = query.get("status")?.toLowerCase()
    if (status !== undefined && !Object.hasOwn(STATUSES, status))
      return yield* Native.refuse("status", `must be one of ${Object.keys(STATUSES).join(", ")}`)
    const filters = Filters.native({
      to: query.get("recipient"),
      from: query.get("fromemail"),
      subject: query.get("subject"),
      status: status === undefined ? undefined : Table.at(STATUSES, status),
      created_after: yield* Paging.from(query),
      created_before: yield* Paging.until(query),
    })
    for (const tag of query.getAll("tag")) filters.append(...Words.tagFilter(tag))
    for (const pair of query.getAll("metadata"))
      for (const [name, value] of new URLSearchParams(pair)) filters.append(name, value)
    const pick = (record: EmailRecord) => [record]
    const found = yield* Filters.respelled(Paging.read("/v1/email/logs", filters, range, pick, fieldsOf))
    return Native.ok({ TotalCount: found.total, Messages: found.entries })
  },
)

/** Clients up to 4.0 leave out the end of the path. */
const details = ["/details", ""].map((end) =>
  route(`GET /messages/outbound/:id${end}`, "logs.get", function* (_, { id }) {
    const record = yield* Native.get<typeof WithContent.Type>(Native.path`/v1/email/logs/${id}`)
    const timeline = yield* Native.get<Native.List<EventRecord>>(Native.path`/v1/email/logs/${id}/events`)
    const { attachments = [], html = null, text = null } = record.content ?? {}
    return Native.ok({
      ...fieldsOf(record),
      TextBody: text ?? "",
      HtmlBody: html ?? "",
      // The message is composed when it is delivered, so that there is no source to show.
      Body: "",
      Attachments: attachments.map(({ filename }) => filename),
      MessageEvents: timeline.data.flatMap((event) => eventOf(event, record)),
    })
  }),
)

const fieldsOf = (record: EmailRecord) => ({
  ...Words.labelsOf(record),
  MessageID: record.id,
  To: record.to.map(mailboxOf),
  Cc: record.cc.map(mailboxOf),
  Bcc: record.bcc.map(mailboxOf),
  Recipients: record.recipients.map(({ address }) => address),
  ReceivedAt: record.created_at,
  From: record.from,
  Subject: record.subject,
  Attachments: [] as ReadonlyArray<string>,
  Status: record.status === "queued" || record.status === "deferred" ? "Queued" : "Sent",
  MessageStream: Words.STREAM,
  TrackOpens: record.tracking.opens,
  TrackLinks: record.tracking.clicks ? "HtmlOnly" : "None",
  Sandboxed: !record.livemode,
})

const mailboxOf = (text: string) => {
  const parsed = Address.parse(text)
  return Result.isSuccess(parsed)
    ? { Email: parsed.success.address, Name: parsed.success.name ?? "" }
    : { Email: text, Name: "" }
}

type Data = EventRecord["data"]

const text = (value: Data[string] | undefined): string => (typeof value === "string" ? value : "")

const deliveryOf = ({ code, mx, response }: Data) => ({
  DeliveryMessage: Words.detailsOf({ code, response }),
  DestinationServer: text(mx),
  DestinationIP: "",
})

/** The events that Postmark shows, each in its shape. */
const EVENTS: Readonly<
  Record<string, readonly [type: string, detailsOf: (data: Data, record: EmailRecord) => object]>
> = {
  "email.delivered": ["Delivered", deliveryOf],
  "email.delivery_delayed": ["Transient", deliveryOf],
  "email.bounced": ["Bounced", (data, record) => bounceOf(data, record)],
  "email.failed": ["Bounced", (data, record) => bounceOf(data, record)],
  "email.complained": ["SubscriptionChanged", () => ({ Origin: "Recipient", SuppressSending: "True" })],
  "email.opened": ["Opened", ({ user_agent }) => ({ Summary: text(user_agent) })],
  "email.clicked": [
    "LinkClicked",
    ({ url, user_agent }) => ({ Summary: text(user_agent), Link: text(url), ClickLocation: "HTML" }),
  ],
}

const bounceOf = (data: Data, { id, recipients }: EmailRecord) => ({
  Summary: deliveryOf(data).DeliveryMessage,
  BounceID: Bounce.idOf(
    id,
    recipients.findIndex(({ address }) => address === data["recipient"]),
  ),
})

const eventOf = ({ data, occurred_at, type }: EventRecord, record: EmailRecord) => {
  const known = Table.at(EVENTS, type)
  if (known === undefined) return []
  const [Type, detailsOf] = known
  return [{ Recipient: text(data["recipient"]), Type, ReceivedAt: occurred_at, Details: detailsOf(data, record) }]
}

export const routes: ReadonlyArray<Route> = [list, ...details]
