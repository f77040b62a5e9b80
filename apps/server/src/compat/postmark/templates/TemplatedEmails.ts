import * as ApiError from "@waybill/api/errors/ApiError"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import type { Acknowledgement } from "@waybill/api/groups/Emails"
import { type BatchAnswer, MAX_BATCH } from "@waybill/api/schemas/send/Batch"
import { Effect, Result } from "effect"
import { Instance } from "../../../settings/Instance.ts"
import { decodeBody } from "../../decodeBody.ts"
import type { Route } from "../../Door.ts"
import { entriesOf } from "../../entriesOf.ts"
import * as Native from "../../Native.ts"
import * as Respelling from "../../Respelling.ts"
import * as Accepted from "../Accepted.ts"
import { errorOf } from "../errorOf.ts"
import * as PostmarkMessage from "../PostmarkMessage.ts"
import * as Refusals from "../Refusals.ts"
import * as Spelling from "../Spelling.ts"
import * as TemplateNumber from "./TemplateNumber.ts"

type Naming = Effect.Success<typeof TemplateNumber.naming>

const decode = Effect.fnUntraced(function* (body: unknown, nameOf: Naming) {
  const message = yield* decodeBody(PostmarkMessage.TemplatedMessage, PostmarkMessage.inCase(body))
  const details = PostmarkMessage.templatedProblems(message)
  if (details.length > 0) return yield* new RequestRefusal.InvalidRequest({ reason: "validation_failed", details })
  const name = message.TemplateAlias ?? (yield* nameOf(String(message.TemplateId ?? "")))
  return { message, name }
})

type Decoded = Effect.Success<ReturnType<typeof decode>>

const nativeOf = ({ message, name }: Decoded, tracks: boolean) => {
  const { html: _, subject: __, text: ___, ...native } = PostmarkMessage.toNative(message, tracks)
  return { ...native, template: { id: name, variables: message.TemplateModel ?? {} } }
}

const spellingOf = ({ message }: Decoded): Respelling.Spelling => {
  const spelling = Spelling.of(message)
  return (path) => {
    if (path.startsWith("template")) return message.TemplateAlias === undefined ? "TemplateId" : "TemplateAlias"
    return spelling(path.replace(/^emails\[\d+\]\.?/u, ""))
  }
}

const send: Route = {
  method: "POST",
  path: "/email/withTemplate",
  endpoint: "emails.send",
  body: PostmarkMessage.TemplatedMessage,
  bucket: "send",
  handle: Effect.fnUntraced(function* ({ body, headers }) {
    const decoded = yield* decode(body, TemplateNumber.nameOf)
    const { tracks } = yield* Instance
    const { created_at, id } = yield* Native.call<Acknowledgement>({
      method: "POST",
      path: "/v1/email/send",
      body: nativeOf(decoded, tracks),
      headers: Native.idempotency(headers),
    }).pipe(
      PostmarkMessage.takesCopiesAlone,
      Respelling.changed((error) => Spelling.refusal(decoded.message, error, spellingOf(decoded))),
    )
    return Native.ok(yield* Accepted.answer(decoded.message, id, created_at))
  }),
}

const messagesOf = (body: unknown) => {
  const list: unknown =
    typeof body === "object" && body !== null && !Array.isArray(body)
      ? Object.entries(body).find(([name]) => name.toLowerCase() === "messages")?.[1]
      : body
  return Array.isArray(list) && list.length > PostmarkMessage.MAX_MESSAGES
    ? Effect.fail(new Refusals.TooManyMessages({ most: PostmarkMessage.MAX_MESSAGES }))
    : entriesOf(list, PostmarkMessage.MAX_MESSAGES, "messages")
}

/** Accepts or refuses each message separately, as the batch without templates does. */
const batch: Route = {
  method: "POST",
  path: "/email/batchWithTemplates",
  endpoint: "emails.sendBatch",
  body: PostmarkMessage.TemplatedBatch,
  bucket: "send",
  handle: Effect.fnUntraced(function* ({ body, headers }) {
    const bodies = yield* messagesOf(body)
    const nameOf = yield* TemplateNumber.naming
    const decoded = yield* Effect.forEach(bodies, (each) =>
      Effect.result(Effect.andThen(Effect.yieldNow, decode(each, nameOf))),
    )
    const whole = decoded.flatMap((each) => (Result.isSuccess(each) ? [each.success] : []))
    const { tracks } = yield* Instance
    const results: Array<BatchAnswer["data"][number]> = []
    for (let start = 0; start < whole.length; start += MAX_BATCH) {
      const { data } = yield* Native.call<BatchAnswer>({
        method: "POST",
        path: "/v1/email/send/batch",
        body: {
          emails: whole.slice(start, start + MAX_BATCH).map((each) => nativeOf(each, tracks)),
          mode: "permissive",
        },
        headers: Native.idempotency(headers, start / MAX_BATCH),
      }).pipe(PostmarkMessage.takesCopiesAlone)
      results.push(...data)
    }
    const answers = yield* Effect.forEach(whole, (each, nth) => resultOf(each, results[nth]))
    let next = 0
    return Native.ok(
      decoded.map((each) =>
        Result.isSuccess(each) ? answers[next++] : errorOf(400, ApiError.toBody(each.failure, "").error).body,
      ),
    )
  }),
}

const resultOf = (decoded: Decoded, result: BatchAnswer["data"][number] | undefined) =>
  result?.error
    ? Effect.succeed(errorOf(400, Spelling.refusal(decoded.message, result.error, spellingOf(decoded))).body)
    : Accepted.answer(decoded.message, result?.id ?? "", result?.created_at ?? "")

export const routes: ReadonlyArray<Route> = [send, batch]
