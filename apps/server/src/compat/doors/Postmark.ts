import { type Absence, makeDoor } from "../makeDoor.ts"
import * as Native from "../Native.ts"
import { route } from "../route.ts"
import * as Bounces from "../postmark/Bounces.ts"
import * as Emails from "../postmark/Emails.ts"
import * as Engagement from "../postmark/messages/Engagement.ts"
import { errorOf } from "../postmark/errorOf.ts"
import * as Filters from "../postmark/Filters.ts"
import * as Inbound from "../postmark/messages/Inbound.ts"
import * as InboundRules from "../postmark/messages/InboundRules.ts"
import * as Outbound from "../postmark/messages/Outbound.ts"
import * as Server from "../postmark/Server.ts"
import * as Statistics from "../postmark/Statistics.ts"
import * as Suppressions from "../postmark/Suppressions.ts"
import * as TemplatedEmails from "../postmark/templates/TemplatedEmails.ts"
import * as Templates from "../postmark/templates/Templates.ts"
import * as Validate from "../postmark/templates/Validate.ts"

const PROGRAMS = "Waybill does not guess programs. Each open and click has its UserAgent, in the lists of messages."
const READ_TIMES = "Waybill does not measure how long a message is read."
const STREAMS = "Waybill has no message streams. Leave MessageStream out, or set it to outbound."
const SERVERS = "Waybill has no servers or account tokens. Each account has its own API keys, at /v1/api-keys."

/** Paths that Postmark's package calls and Waybill has no meaning for. */
const ABSENT: ReadonlyArray<Absence> = [
  ["/email/bulk", "Waybill has no broadcasts: it sends transactional mail only. Send to each recipient."],
  ["/messages/outbound/:/dump", "Waybill keeps no source of a message. Its details have the text and the HTML."],
  ["/stats/outbound/tracked", "Waybill does not count tracked messages. Each message has TrackOpens in its details."],
  ["/stats/outbound/opens/emailClients", PROGRAMS],
  ["/stats/outbound/opens/emailclients", PROGRAMS],
  ["/stats/outbound/opens/readTimes", READ_TIMES],
  ["/stats/outbound/opens/readtimes", READ_TIMES],
  ["/stats/outbound/clicks/browserFamilies", PROGRAMS],
  ["/stats/outbound/clicks/browserfamilies", PROGRAMS],
  ["/server", SERVERS, "PUT"],
  ["/servers", SERVERS],
  ["/domains", "Waybill has no domains in this form. They are at /v1/domains."],
  ["/senders", "Waybill has no sender signatures: add the domain at /v1/domains and send from all its addresses."],
  ["/webhooks", "Waybill has no webhooks in this form. They are at /v1/webhooks."],
  [
    "/triggers/tags",
    "Waybill has no triggers by tag. Track opens and clicks by a setting of the domain or of a message.",
  ],
  ["/data-removals", "Waybill has no data removals in this form. An operator erases an address."],
  ["/message-streams/:/archive", STREAMS],
  ["/message-streams/:/unarchive", STREAMS],
]

/** Other paths below these have a meaning, so that they are routes of their own. */
const STREAM_ROUTES = (["POST /message-streams", "PATCH /message-streams/:id"] as const).map((call) =>
  route(call, { endpoint: undefined }, function* () {
    return yield* Native.missing(STREAMS)
  }),
)

/** The API of Postmark, as the npm package `postmark` calls it. */
export const door = makeDoor({
  prefix: "/compat/postmark",
  hasUuids: true,
  authorization: (headers) => {
    // The package calls by the account's token to push templates.
    const token = headers["x-postmark-server-token"] ?? headers["x-postmark-account-token"]
    return token === undefined ? undefined : `Bearer ${token.trim()}`
  },
  isTrial: (headers) => headers["x-postmark-server-token"]?.trim() === "POSTMARK_API_TEST",
  routes: [
    ...Emails.routes,
    ...Engagement.routes,
    ...Outbound.routes,
    ...Inbound.routes,
    ...InboundRules.routes,
    ...Bounces.routes,
    ...Suppressions.routes,
    ...Server.routes,
    ...Statistics.routes,
    Validate.validate,
    ...Templates.routes,
    ...TemplatedEmails.routes,
    ...STREAM_ROUTES,
  ],
  queryOf: Filters.normalized,
  absent: ABSENT,
  errorOf,
})
