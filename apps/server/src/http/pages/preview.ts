import { NoSuchRoute, Overloaded } from "@waybill/api/errors/RequestRefusal"
import * as Email from "@waybill/domain/email/Email"
import { EmailNotFound } from "@waybill/domain/email/EmailRefusal"
import * as Id from "@waybill/domain/values/Id"
import * as Scope from "@waybill/domain/account/Scope"
import * as Team from "@waybill/domain/account/Team"
import * as Content from "@waybill/store/content/Content"
import * as Domains from "@waybill/store/readmodels/Domains"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Option, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as ApiError from "@waybill/api/errors/ApiError"
import { composed, type Sender } from "../../worker/delivery/outgoing.ts"
import { StoppedLinks } from "../../links/StoppedLinks.ts"
import { trackingKeys, trackingOf, type Way } from "../../links/tracking.ts"
import { unsubscribeKeys, unsubscribeUrl } from "../../links/unsubscribe.ts"
import { Admitted } from "../middleware/Admitted.ts"
import { respond } from "../middleware/Edge.ts"

/** Places of the HTML that may show a picture of the mail; those behind them show none. */
export const MAX_PLACES = 2_000
/** Pictures that a mail brings along are shown inside it up to so many bytes together. */
export const MAX_INLINE_BYTES = 8 * 1024 * 1024

/**
 * A stranger's HTML, in a frame of ours: no script, no form, no frame, no origin, and nothing from the network unless
 * the reader asks for the pictures, since those tell the sender that the mail was opened.
 */
const policy = (images: boolean): string =>
  [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `img-src data:${images ? " https: http:" : ""}`,
    "font-src data:",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
    "sandbox allow-popups allow-popups-to-escape-sandbox",
  ].join("; ")

/** Whoever the edge let in by their session; a key reads mail at the API. */
const reader = Effect.gen(function* () {
  const admitted = yield* Admitted
  const user = admitted !== undefined && "user" in admitted ? admitted.user : undefined
  if (user === undefined || !Scope.permits(Team.SCOPES[user.role], "email:logs:read"))
    return yield* new NoSuchRoute({ method: "GET", path: "/preview" })
  return user.account_id
})

const isEmailId = Schema.is(Id.EmailId)

const asked = Effect.gen(function* () {
  const account_id = yield* reader
  const { id = "" } = yield* HttpRouter.params
  if (!isEmailId(id)) return yield* new EmailNotFound()
  const store = yield* EventStore
  const state = yield* store.state(Email, { account_id, stream_id: id })
  return state._tag === "Unborn" ? yield* new EmailNotFound() : { account_id, message: state }
})

const content = Effect.gen(function* () {
  const { account_id, message } = yield* asked
  const whole = yield* Content.whole(account_id, message.accepted.content)
  return Option.isNone(whole) ? yield* new EmailNotFound() : whole.value
})

const html = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const body = withPictures(yield* content)
  const images = new URL(request.url, "http://x").searchParams.get("images") === "1"
  return HttpServerResponse.html(`<!doctype html><base target="_blank">${body}`).pipe(
    HttpServerResponse.setHeaders({
      "content-security-policy": policy(images),
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "private, no-store",
    }),
  )
})

/** Shows pictures in their places. One pass over the HTML, and one look into an index for each place. */
const withPictures = ({ attachments, html }: Content.Whole): string => {
  const pictures = picturesIn(attachments)
  if (html === null || pictures.size === 0) return html ?? ""
  let left = MAX_INLINE_BYTES
  let places = 0
  let at = 0
  const parts: Array<string> = []
  for (const { 0: written, 1: cid = "", index } of html.matchAll(CID)) {
    if (++places > MAX_PLACES) break
    const found = pictures.get(cid) ?? pictures.get(decodeURIComponentOr(cid))
    if (found === undefined || !found.content_type.startsWith("image/") || found.bytes.length > left) continue
    left -= found.bytes.length
    const content = Buffer.from(found.bytes).toString("base64")
    parts.push(html.slice(at, index), `data:${found.content_type.split(";")[0]};base64,${content}`)
    at = index + written.length
  }
  parts.push(html.slice(at))
  return parts.join("")
}

const CID = /\bcid:([^"'\s)>]{1,1000})/giu

/** The first of each content id, as a reader finds it. */
const picturesIn = (attachments: Content.Whole["attachments"]) => {
  const byId = new Map<string, Picture>()
  for (const { bytes, content_id, content_type } of attachments)
    if (content_id !== null && !byId.has(content_id)) byId.set(content_id, { bytes, content_type })
  return byId
}

interface Picture {
  readonly bytes: Uint8Array
  readonly content_type: string
}

const decodeURIComponentOr = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Never shown by the browser itself: saved as a file, whatever it says it is. */
const attachment = Effect.gen(function* () {
  const { attachments } = yield* content
  const { nth = "" } = yield* HttpRouter.params
  const found = attachments[Number(nth)]
  if (found === undefined) return yield* new EmailNotFound()
  return HttpServerResponse.uint8Array(found.bytes, {
    contentType: "application/octet-stream",
    headers: {
      "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(found.filename)}`,
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-store",
    },
  })
})

/** What goes onto the wire, but for the signature: reading is no reason to take a private key into the hand. */
const raw = (sender: Pick<Sender, "track" | "unsubscribeUrl">) =>
  Effect.gen(function* () {
    const { account_id, message } = yield* asked
    const domain = yield* Domains.find(account_id, message.accepted.domain_id)
    const { bytes } = yield* composed(
      account_id,
      { message, content: undefined, domain: Option.getOrNull(domain) },
      sender,
    ).pipe(
      Effect.mapError((error) => (error._tag === "Busy" ? new Overloaded({ budget: "parsing" }) : new EmailNotFound())),
    )
    return HttpServerResponse.uint8Array(bytes, {
      contentType: "text/plain; charset=utf-8",
      headers: {
        "content-security-policy": "sandbox; default-src 'none'",
        "x-content-type-options": "nosniff",
        "cache-control": "private, no-store",
      },
    })
  })

type Refused = EmailNotFound | NoSuchRoute | Overloaded

/** The bodies of messages for the dashboard's frames; `base` and `way` are where links that a message carries lead to. */
export const layer = (base: string, way: Pick<Way, "base" | "customers">) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const [key = new Uint8Array()] = yield* unsubscribeKeys
      const [secretKey = new Uint8Array()] = yield* trackingKeys
      const links = {
        unsubscribeUrl: unsubscribeUrl(base, key),
        track: trackingOf({ ...way, secretKey, stopped: yield* StoppedLinks }),
      }
      const refused = (refusal: Refused) => Effect.map(ApiError.RequestId, (id) => respond(refusal, id))
      const mended = <R>(handler: Effect.Effect<HttpServerResponse.HttpServerResponse, Refused, R>) =>
        Effect.catch(handler, refused)
      yield* router.add("GET", "/preview/emails/:id", mended(html))
      yield* router.add("GET", "/preview/emails/:id/raw", mended(raw(links)))
      yield* router.add("GET", "/preview/emails/:id/attachments/:nth", mended(attachment))
    }),
  )
