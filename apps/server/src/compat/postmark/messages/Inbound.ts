import type { InboundEmail, InboundWhole } from "@waybill/api/groups/Inbound"
import { postmarkHeaders } from "@waybill/mail/inbound/postmarkHeaders"
import type { Route } from "../../Door.ts"
import * as Native from "../../Native.ts"
import { route } from "../../route.ts"
import * as PostmarkInbound from "../../../webhookFormats/PostmarkInbound.ts"
import * as Filters from "../Filters.ts"
import * as Paging from "../Paging.ts"
import * as Refusals from "../Refusals.ts"

/** Postmark's states of a received mail. Those of calls are not told: each webhook has the results of its own. */
const STATUSES: ReadonlySet<string> = new Set(["processed", "blocked", "queued", "scheduled", "failed"])

const isBlocked = ({ status }: InboundEmail): boolean => status === "rejected"

const list = route(
  "GET /messages/inbound",
  {
    endpoint: "inbound.list",
    query: [...Filters.LIST, "recipient", "fromemail", "subject", "mailboxhash", "tag", "status"],
  },
  function* ({ query }) {
    const stream = query.get("messagestream") ?? PostmarkInbound.STREAM
    if (stream !== PostmarkInbound.STREAM) return yield* new Refusals.StreamNotFound({ stream })
    const range = yield* Paging.rangeOf(query)
    const status = query.get("status")?.toLowerCase()
    if (status !== undefined && !STATUSES.has(status))
      return yield* Native.refuse("status", `must be one of ${[...STATUSES].join(", ")}`)
    const filters = Filters.native({
      to: query.get("recipient"),
      from: query.get("fromemail"),
      subject: query.get("subject"),
      status: status === "blocked" ? "rejected" : undefined,
      created_after: yield* Paging.from(query),
      created_before: yield* Paging.until(query),
    })
    const isTold = status === undefined || status === "processed" || status === "blocked"
    if (!isTold || query.get("tag")) return Native.ok({ TotalCount: 0, InboundMessages: [] })
    const hash = query.get("mailboxhash")
    const pick = (mail: InboundEmail) =>
      (hash === null || mail.mailbox_hash === hash) && (status !== "processed" || !isBlocked(mail)) ? [mail] : []
    const found = yield* Filters.respelled(Paging.read("/v1/inbound", filters, range, pick, fieldsOf))
    return Native.ok({ TotalCount: found.total, InboundMessages: found.entries })
  },
)

const details = route("GET /messages/inbound/:id/details", "inbound.get", function* (_, { id }) {
  const mail = yield* find(id)
  return Native.ok({
    ...fieldsOf(mail),
    TextBody: mail.text ?? "",
    HtmlBody: mail.html ?? "",
    StrippedTextReply: PostmarkInbound.isReply(mail) ? (mail.stripped_text ?? "") : "",
    Headers: postmarkHeaders(
      PostmarkInbound.findingsOf(mail),
      mail.headers.map(({ name, value }) => ({ Name: name, Value: value })),
    ),
    BlockedReason: isBlocked(mail) ? "A route of the account refuses it." : "",
  })
})

const find = (id: string | undefined) => Native.get<typeof InboundWhole.Type>(Native.path`/v1/inbound/${id}`)

const fieldsOf = (mail: InboundEmail) => ({
  ...PostmarkInbound.fieldsOf(mail),
  Status: isBlocked(mail) ? "Blocked" : "Processed",
  Attachments: mail.attachments.map(({ content_id, content_type, filename, size_bytes }) => ({
    Name: filename,
    ContentType: content_type,
    ContentLength: size_bytes,
    ContentID: content_id,
  })),
})

/** A mail that a rule refuses has been refused while its server waited, so that none waits to be let through. */
const bypass = route("PUT /messages/inbound/:id/bypass", "inbound.get", function* (_, { id }) {
  yield* find(id)
  return yield* new Refusals.NotWaiting()
})

/** Calls the webhooks again, as far as the routes of the account say so. */
const retry = route("PUT /messages/inbound/:id/retry", "inbound.replay", function* (_, { id }) {
  yield* Native.post(Native.path`/v1/inbound/${id}/replay`, {})
  return Native.ok({ ErrorCode: 0, Message: "OK" })
})

export const routes: ReadonlyArray<Route> = [list, details, bypass, retry]
