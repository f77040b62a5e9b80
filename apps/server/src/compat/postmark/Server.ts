import type { AccountRecord } from "@waybill/api/groups/Account"
import type { Route } from "../Door.ts"
import * as Native from "../Native.ts"
import { route } from "../route.ts"
import * as Filters from "./Filters.ts"
import * as PostmarkInbound from "../../webhookFormats/PostmarkInbound.ts"
import * as Words from "../../webhookFormats/PostmarkWords.ts"

/** Postmark's server is the account of the key. What Waybill has in another form, such as webhooks, is empty. */
const server = route("GET /server", "account.get", function* () {
  const { inbound_domain, livemode, name } = yield* Native.get<AccountRecord>("/v1/account")
  return Native.ok({
    ID: Words.SERVER_ID,
    Name: name,
    ApiTokens: [],
    Color: "blue",
    SmtpApiActivated: true,
    RawEmailEnabled: false,
    DeliveryType: livemode ? "Live" : "Sandbox",
    ServerLink: "",
    InboundAddress: `${PostmarkInbound.STREAM}@${inbound_domain}`,
    InboundHookUrl: "",
    BounceHookUrl: "",
    OpenHookUrl: "",
    DeliveryHookUrl: "",
    ClickHookUrl: "",
    PostFirstOpenOnly: false,
    InboundDomain: inbound_domain,
    InboundHash: PostmarkInbound.STREAM,
    InboundSpamThreshold: 0,
    TrackOpens: false,
    TrackLinks: "None",
    IncludeBounceContentInHook: false,
    EnableSmtpApiErrorHooks: false,
  })
})

/** The stream that all sent mail goes through. */
const STREAM = {
  ID: Words.STREAM,
  ServerID: Words.SERVER_ID,
  Name: "Transactional",
  Description: "The mail that this account sends.",
  MessageStreamType: "Transactional",
  CreatedAt: "2020-01-01T00:00:00Z",
  UpdatedAt: "2020-01-01T00:00:00Z",
  ArchivedAt: null,
  ExpectedPurgeDate: null,
  SubscriptionManagementConfiguration: { UnsubscribeHandlingType: "None" },
}

/** The stream that received mail comes by. */
const INBOUND = {
  ...STREAM,
  ID: PostmarkInbound.STREAM,
  Name: "Inbound",
  Description: "The mail that this account receives.",
  MessageStreamType: "Inbound",
}

const streams = route(
  "GET /message-streams",
  { endpoint: "account.get", query: ["messagestreamtype", "includearchivedstreams", "count", "offset"] },
  function* ({ query }) {
    const type = query.get("messagestreamtype")?.toLowerCase() ?? "all"
    const found = [STREAM, INBOUND].filter((each) => type === "all" || type === each.MessageStreamType.toLowerCase())
    return Native.ok({ MessageStreams: found, TotalCount: found.length })
  },
)

const stream = route("GET /message-streams/:id", "account.get", function* (_, { id = "" }) {
  if (id === INBOUND.ID) return Native.ok(INBOUND)
  yield* Filters.checkStreamName(id)
  return Native.ok(STREAM)
})

export const routes: ReadonlyArray<Route> = [server, streams, stream]
