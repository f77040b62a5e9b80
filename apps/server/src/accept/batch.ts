import * as ApiError from "@waybill/api/errors/ApiError"
import type { Batch, BatchAnswer, BatchResult, Judged } from "@waybill/api/schemas/Batch"
import { InvalidRequest } from "@waybill/api/errors/RequestRefusal"
import * as Violations from "@waybill/api/errors/Violations"
import * as Email from "@waybill/domain/email/Email"
import type * as Id from "@waybill/domain/values/Id"
import type { Refusal } from "@waybill/domain/values/Refusal"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Append, View } from "@waybill/store/commit/Commit"
import type { ContentRow } from "@waybill/store/commit/LogStorage"
import { Clock, Effect, Result } from "effect"
import * as Acceptance from "./acceptance.ts"
import { newIdAt } from "../operate/fresh.ts"
import { type Call, once } from "./commitRequest.ts"

interface Item {
  readonly id: Id.EmailId
  readonly draft: Result.Result<Acceptance.Draft, Refusal>
}

/** All messages in one commit: all of them, or, where the client said so, those that can be. */
export const sendBatch = Effect.fnUntraced(function* (
  call: Call & { readonly payload: Batch },
  from: Acceptance.Sender,
) {
  const permissive = call.payload.mode === "permissive"
  if (!permissive) yield* allWellFormed(call.payload.emails)
  const millis = yield* Clock.currentTimeMillis
  const items = call.payload.emails.map((judged): Item => ({ id: newIdAt("EmailId", millis), draft: draftOf(judged) }))
  const drafts = items.flatMap(({ draft }) => (Result.isSuccess(draft) ? [draft.success] : []))
  const asked = Timestamp.fromMillis(millis)
  const request_id = yield* ApiError.RequestId
  return yield* once<BatchAnswer, Refusal & { readonly status: 422 | 429 | 403 }>(call, {
    streams: items.map(({ id }) => ({ aggregate: Email, id, fresh: true })),
    needs: Acceptance.needsOf(drafts, asked),
    bytes: Acceptance.bytesOf(drafts),
    decide: (view) => decide(view, from, items, permissive, asked, request_id),
  })
})

const allWellFormed = (emails: ReadonlyArray<Judged>) => {
  // As many as of one message alone: a hundred times as much would be an answer larger than the request.
  const details = emails
    .flatMap((judged, nth) =>
      Result.isSuccess(judged)
        ? []
        : judged.failure.details.map((detail) => ({ ...detail, path: at(nth, detail.path) })),
    )
    .slice(0, Violations.MAX_DETAILS)
  return details.length === 0 ? Effect.void : Effect.fail(new InvalidRequest({ reason: "validation_failed", details }))
}

const at = (nth: number, path: string): string =>
  `emails[${nth}]${path === "" || path.startsWith("[") ? path : `.${path}`}`

const draftOf = (judged: Judged): Item["draft"] =>
  Result.isSuccess(judged)
    ? Result.succeed(Acceptance.draft(judged.success))
    : Result.fail(new InvalidRequest({ reason: "validation_failed", details: judged.failure.details }))

type Refused = Refusal & { readonly status: 422 | 429 | 403 }

const decide = (
  view: View,
  from: Acceptance.Sender,
  items: ReadonlyArray<Item>,
  permissive: boolean,
  asked: Timestamp.Timestamp,
  request_id: string,
) => {
  const append: Array<Append> = []
  const content: Array<ContentRow> = []
  const data: Array<BatchResult> = []
  let before = 0
  let room = Violations.MAX_DETAILS
  for (const [index, { draft, id }] of items.entries()) {
    const verdict = Result.flatMap(draft, (draft) => Acceptance.accept(view, from, id, draft, asked, before))
    if (Result.isSuccess(verdict)) {
      const { created_at, decision, recipients } = verdict.success
      append.push(...decision.append)
      content.push(...(decision.content ?? []))
      before += recipients
      data.push({ index, id, status: "queued", created_at, error: null })
      continue
    }
    if (!permissive) return Result.fail(ofMessage(index, verdict.failure))
    const { error } = ApiError.toBody(verdict.failure, request_id)
    const details = error.details.slice(0, Math.max(1, room))
    room -= details.length
    data.push({ index, id: null, status: null, created_at: null, error: { ...error, details } })
  }
  return Result.succeed({ append, content, answer: { object: "batch" as const, data } })
}

/** The same refusal, saying which message it is about. */
const ofMessage = (nth: number, refusal: Refusal): Refused => ({
  _tag: refusal._tag,
  status: refusal.status as Refused["status"],
  code: refusal.code,
  reason: refusal.reason,
  message: `Message ${nth} of the batch: ${refusal.message}`,
  details: (refusal.details ?? [{ path: "", message: refusal.message }]).map((detail) => ({
    ...detail,
    path: at(nth, detail.path),
  })),
  ...(refusal.retry_after_s === undefined ? {} : { retry_after_s: refusal.retry_after_s }),
})
