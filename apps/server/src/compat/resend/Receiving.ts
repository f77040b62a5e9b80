import type { InboundEmail, InboundWhole } from "@waybill/api/groups/Inbound"
import * as AttachmentLink from "@waybill/mail/tokens/AttachmentLink"
import { Effect } from "effect"
import type { Route } from "../Door.ts"
import * as FileLinks from "./FileLinks.ts"
import * as Native from "../Native.ts"
import { route } from "../route.ts"
import * as ResendReceived from "../../webhookFormats/ResendReceived.ts"
import * as Paging from "./Paging.ts"

const fieldsOf = (mail: InboundEmail) => ({
  id: mail.id,
  ...ResendReceived.fieldsOf(mail),
  reply_to: mail.reply_to.map(({ address }) => address),
  attachments: ResendReceived.filesOf(mail),
})

const list = route("GET /emails/receiving", { endpoint: "inbound.list", query: Paging.NAMES }, function* ({ query }) {
  const { data, has_more } = yield* Native.get<Native.List<InboundEmail>>(`/v1/inbound${Paging.queryOf(query)}`)
  return Paging.listOf(data.map(fieldsOf), has_more)
})

/** The first of several headers of a name is the one that was added last. */
const headersOf = (headers: (typeof InboundWhole.Type)["headers"]) =>
  Object.fromEntries(headers.toReversed().map(({ name, value }) => [name.toLowerCase(), value]))

const FORMATS = ["data_uri", "cid"]

const get = route(
  "GET /emails/receiving/:id",
  { endpoint: "inbound.get", query: ["html_format"] },
  function* ({ headers: asked, query }, { id }) {
    const format = query.get("html_format") ?? "data_uri"
    if (!FORMATS.includes(format)) return yield* Native.refuse("html_format", `must be one of ${FORMATS.join(", ")}`)
    const inline = format === "cid" ? "" : "?inline_images=true"
    const mail = yield* Native.get<typeof InboundWhole.Type>(`${Native.path`/v1/inbound/${id}`}${inline}`)
    const { expires_at, urlOf } = yield* FileLinks.of(mail, asked["host"])
    const { headers, html, text } = mail
    // A mail has a header as long as its content is kept.
    const raw = headers.length === 0 ? null : { download_url: urlOf(AttachmentLink.WHOLE), expires_at }
    return Native.ok({ object: "email", ...fieldsOf(mail), html, text, headers: headersOf(headers), raw })
  },
)

const filesOf = Effect.fnUntraced(function* (id: string | undefined, host: string | undefined) {
  const mail = yield* Native.get<InboundEmail>(Native.path`/v1/inbound/${id}`)
  const { expires_at, urlOf } = yield* FileLinks.of(mail, host)
  return ResendReceived.filesOf(mail).map((file, nth) => ({ ...file, download_url: urlOf(nth), expires_at }))
})

const MISSING = "This mail has no attachment with this id."
const attachments = FileLinks.routesOf("/emails/receiving/:id/attachments", "inbound.get", filesOf, MISSING)

/** Received mail, whose paths begin as those of emails: they are looked for before them. */
export const routes: ReadonlyArray<Route> = [list, get, ...attachments]
