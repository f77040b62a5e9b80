import type { Acknowledgement } from "@waybill/api/groups/Emails"
import type { BatchAnswer } from "@waybill/api/schemas/Batch"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { Effect } from "effect"
import { HttpIncomingMessage } from "effect/http"
import * as HttpSettings from "../../settings/HttpSettings.ts"
import { Instance } from "../../settings/Instance.ts"
import { decodeBody } from "../decodeBody.ts"
import type { Route } from "../Door.ts"
import * as Native from "../Native.ts"
import * as Respelling from "../Respelling.ts"
import * as Message from "./Message.ts"
import * as Translation from "./Translation.ts"

/** Maximum number of recipients of all personalizations; as many as a batch of the largest plan has. */
export const MAX_RECIPIENTS = 10_000

/** Each personalization is an email of its own. Several are accepted together or not at all. */
const send: Route = {
  method: "POST",
  path: "/v3/mail/send",
  endpoint: "emails.send",
  body: Message.Message,
  bucket: "send",
  handle: Effect.fnUntraced(function* ({ body, headers: received }) {
    if (Translation.recipientsIn(body) > MAX_RECIPIENTS)
      return yield* Native.refuse("personalizations", `must have at most ${MAX_RECIPIENTS} recipients together`)
    const message = yield* decodeBody(Message.Message, body)
    const { personalizations } = message
    const [first] = personalizations
    if (first === undefined) return yield* Native.refuse("personalizations", "must not be empty")
    yield* checkCopies(message)
    const headers = Native.idempotency(received)
    const { tracks } = yield* Instance
    if (personalizations.length === 1) {
      const { id } = yield* Native.call<Acknowledgement>({
        method: "POST",
        path: "/v1/email/send",
        body: Translation.toNative(message, first, tracks),
        headers,
      }).pipe(Respelling.respelled(Translation.spellingOf(message)))
      return accepted([id])
    }
    const emails = personalizations.map((each) => Translation.toNative(message, each, tracks))
    const { data } = yield* Native.call<BatchAnswer>({
      method: "POST",
      path: "/v1/email/send/batch",
      body: { emails },
      headers,
    }).pipe(Respelling.respelled(Translation.spellingOf(message)))
    return accepted(data.flatMap(({ id }) => (id === null ? [] : [id])))
  }),
}

/**
 * Refuses a request before the content that its personalizations share is copied for each of them, if the copies would be
 * larger than a body that our own API takes.
 */
const checkCopies = Effect.fnUntraced(function* (message: Message.Message) {
  const copies = message.personalizations.length
  if (copies === 1) return
  const most = yield* HttpIncomingMessage.MaxBodySize
  if (Translation.sharedBytes(message) * copies > Number(most ?? HttpSettings.DEFAULT_MAX_BODY_BYTES))
    return yield* new RequestRefusal.InvalidRequest({ reason: "payload_too_large", details: [TOO_LARGE] })
})

const TOO_LARGE = {
  path: "personalizations",
  message: "make the request too large, because each gets a copy of the content; send fewer at once",
}

/** The header of SendGrid has one id. The ids of all emails of a request are in a header of our own. */
const accepted = (ids: ReadonlyArray<string>) => ({
  status: 202,
  body: undefined,
  headers: { "x-message-id": ids[0] ?? "", ...(ids.length > 1 ? { "x-message-ids": ids.join(",") } : {}) },
})

export const routes: ReadonlyArray<Route> = [send]
