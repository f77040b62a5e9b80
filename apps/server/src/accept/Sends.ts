import * as ApiError from "@waybill/api/errors/ApiError"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Violations from "@waybill/api/errors/Violations"
import type { Batch, BatchAnswer, BatchResult, DecodedMessage } from "@waybill/api/schemas/send/Batch"
import * as Sendable from "@waybill/api/schemas/send/Sendable"
import type { TemplatedMessage } from "@waybill/api/schemas/send/TemplatedMessage"
import * as Content from "@waybill/domain/email/Content"
import * as EmailRefusal from "@waybill/domain/email/EmailRefusal"
import type { Refusal } from "@waybill/domain/values/Refusal"
import type * as Id from "@waybill/domain/values/Id"
import { nearestName } from "@waybill/domain/values/nearestName"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Domains from "@waybill/store/readmodels/Domains"
import type { IdempotencyRef } from "@waybill/store/idempotency/IdempotencyRef"
import { Clock, Effect, Result } from "effect"
import { HttpApiSchema } from "effect/http-api"
import * as NewIds from "../process/NewIds.ts"
import * as Templating from "../templates/Templating.ts"
import * as AcceptCommit from "./AcceptCommit.ts"
import { commitTemplated } from "./commitTemplated.ts"
import * as Draft from "./Draft.ts"
import * as Rehearsal from "./Rehearsal.ts"
import * as RequestCommit from "./RequestCommit.ts"
import * as Warnings from "./Warnings.ts"

type Refused = Refusal & { readonly status: 422 | 429 | 403 }
type Verdicts = ReadonlyArray<AcceptCommit.Verdict<Refusal>>

/** Most domains of an account that a mistyped one is compared with. */
const MAX_COMPARED_DOMAINS = 100
/** Unknown domains of a batch that are compared with them: each may take 4 ms, for which other commits wait. */
const MAX_COMPARED_OF_BATCH = 5

/** Returns the domains of the account, one of which was probably meant; none if they cannot be read. */
const domainsOf = (account_id: Id.AccountId) =>
  Effect.orElseSucceed(Domains.names(account_id, MAX_COMPARED_DOMAINS), (): ReadonlyArray<string> => [])

/** Fails with the refusal of one message and the domain that was probably meant. */
export const failWithNearest = (account_id: Id.AccountId) => (refusal: EmailRefusal.DomainNotVerified) =>
  Effect.flatMap(domainsOf(account_id), (domains) =>
    Effect.fail(EmailRefusal.withNearest(refusal, nearestName(refusal.domain, domains))),
  )

/** The answer to a send, and what is told beside it unless the answer repeats one. */
interface Sent<A> {
  readonly answer: A
  /** The variables of each message that were written without a value. */
  readonly missing: ReadonlyArray<ReadonlyArray<string>>
  readonly sums?: Rehearsal.Sums
}

const SENT = {
  encode: (ref: IdempotencyRef, { answer }: Sent<unknown>) => RequestCommit.PLAIN.encode(ref, answer),
  decode: (ref: IdempotencyRef, stored: Uint8Array) => ({
    answer: RequestCommit.PLAIN.decode(ref, stored),
    missing: [],
  }),
}

/** Accepts a message. */
export const one = Effect.fnUntraced(
  function* (call: RequestCommit.Call & { readonly payload: Sendable.Sendable }) {
    const { payload } = call
    const sender = yield* AcceptCommit.currentSender
    const { at, id } = yield* NewIds.newEmail
    if (!Sendable.isTemplated(payload)) {
      const work = AcceptCommit.acceptDraft(sender, id, Draft.fromMessage(payload), at, AcceptCommit.queued)
      const { body, headers } = yield* RequestCommit.commit(call, Effect.succeed(work), RequestCommit.READY)
      return HttpApiSchema.withHeaders({ body, headers: { ...headers, ...Warnings.ofMessage(payload) } })
    }
    const accepting = ({ message, used }: Templating.Filled) =>
      AcceptCommit.acceptDraft(sender, id, Draft.fromMessage(message, used), at, (accepted) => ({
        answer: AcceptCommit.queued(accepted),
        missing: [used.missing ?? []],
      }))
    const sending = commitTemplated(yield* RequestCommit.targetOf(call), payload, accepting, SENT)
    const { body, headers } = RequestCommit.response(yield* sending)
    const warnings = Warnings.ofVariables(body.missing.flat())
    return HttpApiSchema.withHeaders({ body: body.answer, headers: { ...headers, ...warnings } })
  },
  (sending) =>
    Effect.catchIf(sending, EmailRefusal.isOfUnknownDomain, (refusal) =>
      Effect.flatMap(CurrentKey, ({ account_id }) => failWithNearest(account_id)(refusal)),
    ),
)

/** Accepts all messages of a batch in one commit or, in permissive mode, those that are acceptable. */
export const batch = Effect.fnUntraced(function* (
  call: RequestCommit.Call & { readonly payload: Batch },
  sender: AcceptCommit.Sender,
) {
  const { account_id } = sender
  const { emails, mode } = call.payload
  if (mode !== "permissive") yield* checkAllWellFormed(emails)
  const millis = yield* Clock.currentTimeMillis
  const request_id = yield* ApiError.RequestId
  const rehearsal = yield* Rehearsal.Current
  const begun = emails.map(begin)
  const ready = begun.every(isDrafted) ? begun : undefined
  const drafting = ready === undefined ? filled(account_id, begun) : Effect.succeed(ready)
  const workOn = (drafts: ReadonlyArray<Drafted>, domains: ReadonlyArray<string> | undefined) =>
    AcceptCommit.accept<Sent<BatchAnswer>, Refusal, Refused>({
      sender,
      rehearsal,
      at: Timestamp.fromMillis(millis),
      messages: drafts.map(({ draft }) => ({ id: NewIds.newIdAt("EmailId", millis), draft })),
      answer: (decided, sums) =>
        Result.flatMap(withNearest(decided, domains), (verdicts) => {
          const answer = mode === "permissive" ? permissiveAnswer(verdicts, request_id) : strictAnswer(verdicts)
          return Result.map(answer, (answer) => ({ answer, missing: drafts.map(({ missing }) => missing), sums }))
        }),
    })
  const send = (domains?: ReadonlyArray<string>) =>
    RequestCommit.commit(
      call,
      Effect.map(drafting, (drafts) => workOn(drafts, domains)),
      { encoding: SENT, isReady: ready !== undefined },
    )
  // The account's domains are read once a message has one that is none of them.
  const { body: sent, headers } = yield* Effect.catchIf(send(), EmailRefusal.isOfUnknownDomain, () =>
    Effect.flatMap(domainsOf(account_id), send),
  )
  if (rehearsal !== undefined && sent.sums !== undefined) rehearsal.sums = sent.sums
  const accepted = sent.answer.data.flatMap(({ id, index }) => (id === null ? [] : [index]))
  const empty = accepted.filter((index) => isEmpty(emails[index]))
  const incomplete = accepted.filter((index) => (sent.missing[index] ?? []).length > 0)
  const missing = new Map(incomplete.map((index) => [index, sent.missing[index] ?? []]))
  return HttpApiSchema.withHeaders({
    body: sent.answer,
    headers: { ...headers, ...Warnings.ofBatch(empty, missing) },
  })
})

/** Whether a message that brings its own words brings none. */
const isEmpty = (judged: DecodedMessage | undefined): boolean =>
  judged !== undefined &&
  Result.isSuccess(judged) &&
  !Sendable.isTemplated(judged.success) &&
  !Content.hasBody(judged.success)

/** A message to accept or the reason why it is malformed, and its variables that were written without a value. */
interface Drafted {
  readonly draft: Result.Result<Draft.Draft, Refusal>
  readonly missing: ReadonlyArray<string>
}

const drafted = (draft: Drafted["draft"], missing: Drafted["missing"] = []): Drafted => ({ draft, missing })

/** Returns the draft of a message, or a message that is to be made of a template first. */
const begin = (judged: DecodedMessage): Drafted | TemplatedMessage => {
  if (Result.isFailure(judged)) return drafted(Result.fail(RequestRefusal.invalid(judged.failure.violations)))
  const message = judged.success
  return Sendable.isTemplated(message) ? message : drafted(Result.succeed(Draft.fromMessage(message)))
}

const isDrafted = (begun: Drafted | TemplatedMessage): begun is Drafted => "draft" in begun

/** Makes the messages of templates one after another, each in turns of its own. */
const filled = Effect.fnUntraced(function* (
  account_id: Id.AccountId,
  begun: ReadonlyArray<Drafted | TemplatedMessage>,
) {
  const choices = begun.flatMap((each) => (isDrafted(each) ? [] : [each.template]))
  const found = yield* Templating.lookUp(account_id, choices)
  return yield* Effect.forEach(begun, (each) =>
    isDrafted(each)
      ? Effect.succeed(each)
      : Templating.fill(account_id, found, each).pipe(
          Effect.map(({ message, used }) => drafted(Result.succeed(Draft.fromMessage(message, used)), used.missing)),
          Effect.catchIf(Templating.isRefusal, (refusal) => Effect.succeed(drafted(Result.fail(refusal)))),
        ),
  )
})

const checkAllWellFormed = (emails: ReadonlyArray<DecodedMessage>) => {
  // Limited as for a single message; a hundred times as many would make the answer larger than the request.
  const violations = Violations.join(
    emails.flatMap((judged, index) => (Result.isSuccess(judged) ? [] : [inBatch(index, judged.failure.violations)])),
  )
  return Violations.isNone(violations) ? Effect.void : Effect.fail(RequestRefusal.invalid(violations))
}

const inBatch = (index: number, { details, more, unknown }: Violations.Violations): Violations.Violations => ({
  more,
  details: details.map((detail) => ({ ...detail, path: pathOf(index, detail.path) })),
  unknown: unknown === undefined ? undefined : `Message ${index} of the batch: ${unknown}`,
})

const pathOf = (index: number, path: string): string =>
  `emails[${index}]${path === "" || path.startsWith("[") ? path : `.${path}`}`

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
    if (Result.isFailure(verdict)) return Result.fail(refusalOfMessage(index, verdict.failure))
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

/**
 * Adds the domains that were probably meant. Without the account's domains it fails at the first message that needs them, so
 * that nothing is committed, nor an answer stored, before they are read.
 */
const withNearest = (verdicts: Verdicts, domains: ReadonlyArray<string> | undefined) => {
  const nearest = new Map<string, string | undefined>()
  return Result.all(
    verdicts.map((verdict) => {
      if (Result.isSuccess(verdict) || !EmailRefusal.isOfUnknownDomain(verdict.failure)) return Result.succeed(verdict)
      if (domains === undefined) return Result.fail(verdict.failure)
      const { domain } = verdict.failure
      if (!nearest.has(domain) && nearest.size < MAX_COMPARED_OF_BATCH)
        nearest.set(domain, nearestName(domain, domains))
      return Result.succeed(Result.fail(EmailRefusal.withNearest(verdict.failure, nearest.get(domain))))
    }),
  )
}

/** The refusal of a message as one of the batch, naming the message. */
const refusalOfMessage = (index: number, refusal: Refusal): Refused => ({
  _tag: refusal._tag,
  status: refusal.status as Refused["status"],
  reason: refusal.reason,
  message: `Message ${index} of the batch: ${refusal.message}`,
  details: (refusal.details ?? [{ path: "", message: refusal.message }]).map((detail) => ({
    ...detail,
    path: pathOf(index, detail.path),
  })),
  ...(refusal.retry_after_s === undefined ? {} : { retry_after_s: refusal.retry_after_s }),
})
