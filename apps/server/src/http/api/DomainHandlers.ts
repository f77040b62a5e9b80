import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import type * as Contract from "@waybill/api/groups/Domains"
import type * as Aggregate from "@waybill/domain/values/Aggregate"
import * as Domain from "@waybill/domain/domain/Domain"
import type { DkimKey } from "@waybill/domain/domain/DkimKey"
import type * as DomainName from "@waybill/domain/values/DomainName"
import * as DomainRefusal from "@waybill/domain/domain/DomainRefusal"
import * as EmailRefusal from "@waybill/domain/email/EmailRefusal"
import type * as Id from "@waybill/domain/values/Id"
import * as KeyLimits from "@waybill/domain/account/KeyLimits"
import { NothingNew } from "@waybill/domain/values/Refusal"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Domains from "@waybill/store/readmodels/Domains"
import * as AccountCounts from "@waybill/store/facts/AccountCounts"
import type { View } from "@waybill/store/commit/Commit"
import { workOnStream } from "@waybill/store/commit/workOnStream"
import { Data, Effect, Option, Result } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { newDkimKey } from "../../operate/newDkimKey.ts"
import * as DomainCommands from "../../operate/DomainCommands.ts"
import { presentDomain } from "../../operate/presentDomain.ts"
import * as NewIds from "../../process/NewIds.ts"
import * as RequestCommit from "../../accept/RequestCommit.ts"
import { Instance, type RecordSettings } from "../../settings/Instance.ts"
import * as CallerReach from "../middleware/CallerReach.ts"
import * as DomainReportHandlers from "./DomainReportHandlers.ts"
import * as Records from "../../web/Records.ts"
import { found } from "../../web/found.ts"
import * as Handlers from "../middleware/Handlers.ts"

/** Attempts to rotate a key while other requests rotate too. Each attempt generates a key. */
const MAX_ROTATION_TRIES = 5

export const DomainHandlers = HttpApiBuilder.group(Api, "domains", (handlers) =>
  handlers.handleAll({
    list: Handlers.withKey(function* ({ account_id, domain }) {
      const instance = yield* Instance
      const visible = (yield* Domains.list(account_id)).filter(({ name }) => KeyLimits.allowsDomain(domain, name))
      return Records.completeList(visible.map((record) => presentDomain(record, instance)))
    }),
    get: ({ params }) => Effect.flatMap(find(params.domain), show),
    dmarc: ({ params, query }) =>
      Effect.flatMap(find(params.domain), (record) => DomainReportHandlers.dmarc(record, query)),
    tls: ({ params, query }) =>
      Effect.flatMap(find(params.domain), (record) => DomainReportHandlers.tls(record, query)),
    add: (call) => RequestCommit.commit(call, addition(call, call.payload.name ?? call.payload.domain)),
    verify: (call) => RequestCommit.commit(call, verification(call.params.domain)),
    rotateDkim: (call) => retryOnConflict(RequestCommit.commit(call, rotation(call.params.domain))),
    addEd25519: (call) => retryOnConflict(RequestCommit.commit(call, ed25519Addition(call.params.domain))),
    rotateEd25519: (call) => retryOnConflict(RequestCommit.commit(call, ed25519Rotation(call.params.domain))),
    removeEd25519: Effect.fnUntraced(function* ({ params }) {
      const { domain_id } = yield* find(params.domain)
      return yield* RequestCommit.commitRepeatable(yield* change(domain_id, Domain.removeEd25519))
    }),
    update: ({ params, payload }) => update(params.domain, payload),
    remove: ({ params }) =>
      Effect.flatMap(find(params.domain), ({ domain_id, name }) =>
        Effect.map(Handlers.remove("domain", Domain, domain_id, Domain.remove), (removed) => ({ ...removed, name })),
      ),
  }),
)

const find = Effect.fnUntraced(function* (reference: string) {
  const { account_id } = yield* CurrentKey
  const record = yield* found(Domains.find(account_id, reference), () => new DomainRefusal.DomainNotFound())
  yield* CallerReach.checkDomain(record.name)
  return record
})

const verification = Effect.fnUntraced(function* (reference: string) {
  const { account_id } = yield* CurrentKey
  const { domain_id } = yield* find(reference)
  yield* DomainCommands.check(account_id, domain_id)
  return yield* change(domain_id, () => () => Result.fail(new NothingNew()))
})

const show = (record: Domains.DomainRecord) => Effect.map(Instance, (instance) => presentDomain(record, instance))

const addition = Effect.fnUntraced(function* (call: RequestCommit.Call, name: DomainName.DomainName | undefined) {
  if (name === undefined) return yield* Effect.die("a domain without a name passed its schema")
  const { account_id } = yield* CurrentKey
  yield* CallerReach.checkDomain(name)
  // Checked before a key is generated in vain; the commit checks again. With an idempotency key, a concurrent duplicate
  // may have an answer to repeat.
  if (call.headers?.["idempotency-key"] === undefined) {
    if (Option.isSome(yield* Domains.find(account_id, name)))
      return yield* new DomainRefusal.DomainAlreadyExists({ domain: name })
    if ((yield* AccountCounts.count(account_id, "domain", yield* NewIds.now)) >= Domain.MAX_DOMAINS)
      return yield* new DomainRefusal.TooManyDomains({ most: Domain.MAX_DOMAINS })
  }
  const instance = yield* Instance
  const { decide, ...work } = yield* DomainCommands.addition(account_id, name)
  return {
    ...work,
    decide: (view: View) =>
      Result.map(decide(view), (decision) => ({ ...decision, answer: answerOf(decision.answer, instance) })),
  }
})

const answerOf = (state: Domain.State, instance: RecordSettings): Contract.Domain => {
  if (state._tag !== "Domain") throw new Error("decided about a domain that does not exist")
  return presentDomain(state, instance)
}

/** Changes the tracking of a domain and whether it receives. Tracking needs an address for its links to be turned on. */
const update = Effect.fnUntraced(function* (
  reference: string,
  { click_tracking: clicks, open_tracking: opens, receiving, tracking_domain: name }: Contract.Change,
) {
  const record = yield* find(reference)
  const { trackingHost, tracks, ...ways } = yield* Instance
  if (!tracks && (opens === true || clicks === true))
    return yield* new EmailRefusal.TrackingUnavailable({ path: opens === true ? "open_tracking" : "click_tracking" })
  if (typeof name === "string") {
    if (trackingHost === null) return yield* new DomainRefusal.TrackingDomainsUnavailable()
    const others = DomainCommands.expectedRecords(record, { ...ways, trackingHost: null })
    if (others.some((other) => other.name === name))
      return yield* new DomainRefusal.NameTaken({ name, path: "tracking_domain" })
  }
  const changes = { tracking: { opens, clicks, domain: name }, receiving }
  return yield* RequestCommit.commitRepeatable(
    yield* change<Domain.TrackingDomainRefusal>(record.domain_id, (at) => Domain.update(at, changes)),
  )
})

type Decide<E> = (
  now: Timestamp.Timestamp,
) => Aggregate.Decide<Domain.State, Domain.Event, DomainRefusal.DomainNotFound | NothingNew | E>

const change = Effect.fnUntraced(function* <E = never>(id: Id.DomainId, decide: Decide<E>) {
  const instance = yield* Instance
  return workOnStream(Domain, id, decide, (state) => answerOf(state, instance))
})

/** Another request has created or removed a key in the meantime, so the selector chosen for this one may be in use. */
class SelectorTaken extends Data.TaggedError("SelectorTaken")<{}> {}

const retryOnConflict = <A, E, R>(change: Effect.Effect<A, E | SelectorTaken, R>): Effect.Effect<A, E, R> =>
  change.pipe(
    Effect.retry({ while: (error) => error instanceof SelectorTaken, times: MAX_ROTATION_TRIES }),
    Effect.catch((error) => (error instanceof SelectorTaken ? Effect.die(error) : Effect.fail(error))),
  )

const withNewKey = Effect.fnUntraced(function* <E>(
  record: Domains.DomainRecord,
  algorithm: DkimKey["algorithm"],
  decide: (
    now: Timestamp.Timestamp,
    dkim: DkimKey,
  ) => Aggregate.Decide<Domain.State, Domain.Event, E | DomainRefusal.DomainNotFound | NothingNew>,
) {
  const { account_id } = yield* CurrentKey
  const selector = Domain.nextSelector({ _tag: "Domain", ...record }, algorithm)
  const dkim = yield* newDkimKey(account_id, record.domain_id, algorithm, selector)
  return yield* change<SelectorTaken | E>(
    record.domain_id,
    (now) => (state) =>
      state._tag === "Domain" && Domain.nextSelector(state, algorithm) !== selector
        ? Result.fail(new SelectorTaken())
        : decide(now, dkim)(state),
  )
})

const rotation = Effect.fnUntraced(function* (reference: string) {
  return yield* withNewKey(yield* find(reference), "rsa", Domain.rotateDkim)
})

const ed25519Addition = Effect.fnUntraced(function* (reference: string) {
  const record = yield* find(reference)
  if (!Domain.hasEd25519(record)) return yield* withNewKey(record, "ed25519", Domain.addEd25519)
  // The domain has a key already, so none is generated.
  return yield* change<SelectorTaken>(record.domain_id, () => (state) => {
    if (state._tag !== "Domain") return Result.fail(new DomainRefusal.DomainNotFound())
    return Result.fail(Domain.hasEd25519(state) ? new NothingNew() : new SelectorTaken())
  })
})

const ed25519Rotation = Effect.fnUntraced(function* (reference: string) {
  const record = yield* find(reference)
  // Checked before a key is generated in vain; the commit checks again.
  if (!Domain.hasEd25519(record)) return yield* new DomainRefusal.NoEd25519Key({ domain: record.name })
  return yield* withNewKey(record, "ed25519", Domain.rotateEd25519)
})
