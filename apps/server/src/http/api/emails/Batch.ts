import * as ApiError from "@waybill/api/errors/ApiError"
import { RefusedInBatch } from "@waybill/api/errors/RefusedInBatch"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Violations from "@waybill/api/errors/Violations"
import type { Batch, BatchAnswer, BatchResult, DecodedMessage } from "@waybill/api/schemas/send/Batch"
import type { Refusal } from "@waybill/domain/values/Refusal"
import { Effect, Result } from "effect"
import { HttpApiSchema } from "effect/http-api"
import type * as AcceptCommit from "../../../accept/AcceptCommit.ts"
import * as Draft from "../../../accept/Draft.ts"
import * as RequestCommit from "../../../accept/RequestCommit.ts"
import * as Send from "../../../accept/Send.ts"
import * as Warnings from "../../../accept/Warnings.ts"

type Refused = Refusal & { readonly status: 422 | 429 | 403 }
type Verdicts = ReadonlyArray<AcceptCommit.Verdict<Refusal>>

/** Accepts all messages of a batch in one commit or, in permissive mode, those that are acceptable. */
export const send = Effect.fnUntraced(function* (call: RequestCommit.Call & { readonly payload: Batch }) {
  const { emails, mode } = call.payload
  if (mode !== "permissive") yield* checkAllWellFormed(emails)
  const request_id = yield* ApiError.RequestId
  const answering = (verdicts: Verdicts): Result.Result<BatchAnswer, Refused> =>
    mode === "permissive" ? permissiveAnswer(verdicts, request_id) : strictAnswer(verdicts)
  const sent = yield* Send.send(yield* Send.callerOf(call), emails.map(outgoingOf), answering)
  const { body, headers } = RequestCommit.response(sent)
  const accepted = body.data.flatMap(({ id, index }) => {
    const command = id === null ? undefined : sent.commands[index]
    return command === undefined ? [] : [[index, command] as const]
  })
  return HttpApiSchema.withHeaders({ body, headers: { ...headers, ...Warnings.ofBatch(accepted) } })
})

const outgoingOf = (decoded: DecodedMessage): Draft.Outgoing<RequestRefusal.InvalidRequest> =>
  Result.isSuccess(decoded)
    ? Draft.outgoing(decoded.success)
    : Result.fail(RequestRefusal.invalid(decoded.failure.violations))

const checkAllWellFormed = (emails: ReadonlyArray<DecodedMessage>) => {
  // Limited as for a single message; a hundred times as many would make the answer larger than the request.
  const violations = Violations.join(
    emails.flatMap((judged, index) => (Result.isSuccess(judged) ? [] : [inBatch(index, judged.failure.violations)])),
  )
  return Violations.isNone(violations) ? Effect.void : Effect.fail(RequestRefusal.invalid(violations))
}

const inBatch = (index: number, { details, more, unknown }: Violations.Violations): Violations.Violations => ({
  more,
  details: details.map((detail) => ({ ...detail, path: RefusedInBatch.pathOf(index, detail.path) })),
  unknown: unknown === undefined ? undefined : `Message ${index} of the batch: ${unknown}`,
})

const queued = (index: number, { created_at, id }: AcceptCommit.Accepted): BatchResult => ({
  index,
  id,
  status: "queued",
  created_at,
  error: null,
})

const batchOf = (data: ReadonlyArray<BatchResult>): BatchAnswer => ({ object: "batch", data })

/** The first refused message refuses the batch. */
const strictAnswer = (verdicts: Verdicts): Result.Result<BatchAnswer, Refused> => {
  const data: Array<BatchResult> = []
  for (const [index, verdict] of verdicts.entries()) {
    if (Result.isFailure(verdict))
      return Result.fail(new RefusedInBatch({ index, refusal: verdict.failure }) as Refused)
    data.push(queued(index, verdict.success))
  }
  return Result.succeed(batchOf(data))
}

const permissiveAnswer = (verdicts: Verdicts, request_id: string): Result.Result<BatchAnswer, never> => {
  let detailsLeft = Violations.MAX_DETAILS
  const data = verdicts.map((verdict, index): BatchResult => {
    if (Result.isSuccess(verdict)) return queued(index, verdict.success)
    const { error } = ApiError.toBody(verdict.failure, request_id)
    const details = error.details.slice(0, Math.max(1, detailsLeft))
    detailsLeft -= details.length
    return { index, id: null, status: null, created_at: null, error: { ...error, details } }
  })
  return Result.succeed(batchOf(data))
}
