import { valueOr } from "@waybill/runtime/flow/valueOr"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Email from "@waybill/domain/email/Email"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as EmailRefusal from "@waybill/domain/email/EmailRefusal"
import type * as InboundRefusal from "@waybill/domain/inbound/InboundRefusal"
import * as Id from "@waybill/domain/values/Id"
import { permits } from "@waybill/domain/account/permits"
import type * as Scope from "@waybill/domain/account/Scope"
import * as Team from "@waybill/domain/account/Team"
import * as Content from "@waybill/store/content/Content"
import * as Domains from "@waybill/store/readmodels/Domains"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Option, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as ReturnPathKeys from "../../installation/ReturnPathKeys.ts"
import { feedbackHeaders } from "../../worker/delivery/feedbackHeaders.ts"
import * as OutgoingMessages from "../../worker/delivery/OutgoingMessages.ts"
import { StoppedLinks } from "../../links/StoppedLinks.ts"
import * as TrackedLinks from "../../links/TrackedLinks.ts"
import * as UnsubscribeLinks from "../../links/UnsubscribeLinks.ts"
import { found } from "../../web/found.ts"
import { Admitted } from "../../requests/Admitted.ts"
import * as InboundPreview from "./InboundPreview.ts"
import * as ForeignContent from "./ForeignContent.ts"
import * as Responses from "../../web/Responses.ts"

/** References in the HTML that may be replaced by an inline picture; later ones show none. */
export const MAX_PICTURES = 2_000
/** Total bytes of inline pictures embedded in a preview. */
export const MAX_INLINE_BYTES = 8 * 1024 * 1024

/**
 * Policy for untrusted HTML in a frame: no scripts, forms, frames or origin. Remote images only on request, because
 * loading them tells the sender that the mail was opened.
 */
const policy = (images: boolean): string =>
  `${framePolicy(images)}; sandbox allow-popups allow-popups-to-escape-sandbox`

/** Policy for a page of the dashboard's origin, whose frame is sandboxed by its element. */
const framePolicy = (images: boolean): string =>
  [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `img-src data:${images ? " https: http:" : ""}`,
    "font-src data:",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join("; ")

/** Account of the signed-in user, if their role has a scope. API keys read mail through the API. */
const accountWith = Effect.fnUntraced(function* (scope: Scope.Scope) {
  const admitted = yield* Admitted
  const user = admitted !== undefined && "user" in admitted ? admitted.user : undefined
  if (user === undefined || !permits(Team.SCOPES[user.role], scope))
    return yield* new RequestRefusal.NoSuchRoute({ method: "GET", path: "/preview" })
  return user.account_id
})

/**
 * An empty page, into which the editor of templates writes what was rendered. The page has the editor's origin, so that
 * it can be written without being loaded again, and runs no script: neither its policy nor its frame allows one.
 */
const templateFrame = Effect.andThen(accountWith("templates:read"), () => shown("<title>Preview</title>", framePolicy))

const isEmailId = Schema.is(Id.EmailId)

/** The account whose mail is asked for, live or test. */
const requestedAccount = Effect.gen(function* () {
  const owner = yield* accountWith("email:logs:read")
  const { url } = yield* HttpServerRequest.HttpServerRequest
  const isTest = new URL(url, "http://x").searchParams.get("livemode") === "false"
  return isTest ? Livemode.testAccountOf(owner) : owner
})

const requestedEmail = Effect.gen(function* () {
  const account_id = yield* requestedAccount
  const { id = "" } = yield* HttpRouter.params
  if (!isEmailId(id)) return yield* new EmailRefusal.EmailNotFound()
  const store = yield* EventStore
  const state = yield* store.state(Email, { account_id, stream_id: id })
  return state._tag === "NotCreated" ? yield* new EmailRefusal.EmailNotFound() : { account_id, message: state }
})

const content = Effect.gen(function* () {
  const { account_id, message } = yield* requestedEmail
  const finding = Content.findComplete(account_id, message.accepted.content)
  return yield* found(finding, () => new EmailRefusal.ContentExpired())
})

const framed = (body: string) => shown(`<base target="_blank">${body}`, policy)

const html = Effect.flatMap(content, (whole) => framed(withPictures(whole)))

const received = Effect.flatMap(Effect.flatMap(requestedAccount, InboundPreview.html), framed)

const shown = Effect.fnUntraced(function* (body: string, policyOf: (images: boolean) => string) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const images = new URL(request.url, "http://x").searchParams.get("images") === "1"
  return HttpServerResponse.html(`<!doctype html>${body}`).pipe(
    HttpServerResponse.setHeaders({
      // The header counts more than a <meta> of the mail, which was written for its bytes in transit.
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policyOf(images),
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "private, no-store",
    }),
  )
})

/** Replaces references to attached pictures in one pass, with one index lookup each. */
const withPictures = ({ attachments, html }: Content.CompleteContent): string => {
  const pictures = picturesIn(attachments)
  if (html === null || pictures.size === 0) return html ?? ""
  let left = MAX_INLINE_BYTES
  let references = 0
  let end = 0
  const parts: Array<string> = []
  for (const { 0: match, 1: cid = "", index } of html.matchAll(CID)) {
    if (++references > MAX_PICTURES) break
    const picture = pictures.get(cid) ?? pictures.get(decodeURIComponentOr(cid))
    if (picture === undefined || !picture.content_type.startsWith("image/") || picture.bytes.length > left) continue
    left -= picture.bytes.length
    const content = Buffer.from(picture.bytes).toString("base64")
    parts.push(html.slice(end, index), `data:${picture.content_type.split(";")[0]};base64,${content}`)
    end = index + match.length
  }
  parts.push(html.slice(end))
  return parts.join("")
}

const CID = /\bcid:([^"'\s)>]{1,1000})/giu

/** The first attachment of each content id, as mail clients resolve it. */
const picturesIn = (attachments: Content.CompleteContent["attachments"]) => {
  const byId = new Map<string, Picture>()
  for (const { bytes, content_id, content_type } of attachments)
    if (content_id !== null && !byId.has(content_id)) byId.set(content_id, { bytes, content_type })
  return byId
}

interface Picture {
  readonly bytes: Uint8Array
  readonly content_type: string
}

const decodeURIComponentOr = (text: string): string => valueOr(() => decodeURIComponent(text), text)

const attachment = Effect.gen(function* () {
  const { attachments } = yield* content
  const { nth = "" } = yield* HttpRouter.params
  const file = attachments[Number(nth)]
  if (file === undefined) return yield* new EmailRefusal.EmailNotFound()
  return ForeignContent.download(file.bytes, file.filename)
})

/**
 * The message as it was, will be or would have been sent, in any state: composing it again gives the same bytes. Without
 * the DKIM signature, since reading a mail should not load a private key.
 */
const raw = Effect.fnUntraced(function* (sender: OutgoingMessages.Composer) {
  const { account_id, message } = yield* requestedEmail
  const { domain_id } = message.accepted
  const domain = domain_id === null ? Option.none() : yield* Domains.find(account_id, domain_id)
  const { bytes } = yield* OutgoingMessages.compose(
    account_id,
    { message, content: undefined, domain: Option.getOrNull(domain) },
    sender,
  ).pipe(
    Effect.mapError((error) => {
      if (error._tag === "StoreUnavailable") return error
      if (error._tag === "Busy") return new RequestRefusal.Overloaded({ budget: "parsing" })
      return error.category === "content_expired"
        ? new EmailRefusal.ContentExpired()
        : new RequestRefusal.MessageUnreadable()
    }),
  )
  return HttpServerResponse.uint8Array(bytes, {
    contentType: "text/plain; charset=utf-8",
    headers: {
      ...ForeignContent.HEADERS,
      "x-waybill-attempted": String(message.recipients.some(({ attempts }) => attempts > 0)),
    },
  })
})

type Refused =
  | InboundRefusal.ContentExpired
  | InboundRefusal.InboundNotFound
  | EmailRefusal.ContentExpired
  | EmailRefusal.EmailNotFound
  | RequestRefusal.MessageUnreadable
  | RequestRefusal.NoSuchRoute
  | RequestRefusal.Overloaded

/** Message bodies for the dashboard's frames. `base` and `settings` are the addresses that links in messages use. */
export const layer = <R>(
  base: string,
  settings: Pick<TrackedLinks.LinkSettings, "base" | "customers">,
  returning: Effect.Effect<Pick<OutgoingMessages.Composer, "forwarder" | "replyAddress">, never, R>,
) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const [key = new Uint8Array()] = yield* UnsubscribeLinks.unsubscribeKeys
      const [secretKey = new Uint8Array()] = yield* TrackedLinks.trackingKeys
      const sender = {
        feedbackHeaders: feedbackHeaders(yield* ReturnPathKeys.returnPathKey),
        unsubscribeUrl: UnsubscribeLinks.unsubscribeUrl(base, key),
        track: TrackedLinks.trackingOf({ ...settings, secretKey, stopped: yield* StoppedLinks }),
        ...(yield* returning),
      }
      const withRefusals = <R>(
        handler: Effect.Effect<HttpServerResponse.HttpServerResponse, Refused | StoreUnavailable, R>,
      ) => Effect.catch(handler, Responses.refused)
      yield* router.add("GET", "/preview/emails/:id", withRefusals(html))
      yield* router.add("GET", "/preview/inbound/:id", withRefusals(received))
      yield* router.add("GET", "/preview/template", withRefusals(templateFrame))
      yield* router.add("GET", "/preview/emails/:id/raw", withRefusals(raw(sender)))
      yield* router.add("GET", "/preview/emails/:id/attachments/:nth", withRefusals(attachment))
    }),
  )
