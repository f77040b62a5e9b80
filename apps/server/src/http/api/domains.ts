import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/Authorization"
import type * as Contract from "@waybill/api/groups/Domains"
import type * as Aggregate from "@waybill/domain/stream/Aggregate"
import * as Domain from "@waybill/domain/domain/Domain"
import type { DkimKey } from "@waybill/domain/domain/DkimKey"
import type * as DomainName from "@waybill/domain/domain/DomainName"
import {
  DomainAlreadyExists,
  DomainNotFound,
  NameTaken,
  NoEd25519Key,
  type NotBelowDomain,
  TooManyDomains,
  TrackingDomainsUnavailable,
} from "@waybill/domain/domain/DomainRefusal"
import { TrackingUnavailable } from "@waybill/domain/email/EmailRefusal"
import type * as Id from "@waybill/domain/values/Id"
import * as KeyReach from "@waybill/domain/account/KeyReach"
import { NothingNew } from "@waybill/domain/values/Refusal"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Domains from "@waybill/store/readmodels/Domains"
import * as AccountCounts from "@waybill/store/commit/AccountCounts"
import type { View } from "@waybill/store/commit/Commit"
import { Data, Effect, Option, Result } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { newDkimKey } from "../../operate/domainKeys.ts"
import * as domains from "../../operate/domains.ts"
import { now } from "../../operate/fresh.ts"
import { about, type Call, commit, onceMade } from "../../accept/commitRequest.ts"
import { Instance } from "../Instance.ts"
import { checkDomain } from "../middleware/keyReach.ts"
import { whole } from "./records.ts"

/** Each try makes a key; a customer who rotates from more hands at once than these has other worries. */
const MAX_ROTATION_TRIES = 5

export const DomainsLive = HttpApiBuilder.group(Api, "domains", (handlers) =>
  handlers.handleAll({
    list: () =>
      Effect.gen(function* () {
        const { account_id, domain } = yield* CurrentKey
        const instance = yield* Instance
        const own = (yield* Domains.list(account_id)).filter(({ name }) => KeyReach.reaches(domain, name))
        return whole(own.map((record) => present(record, instance)))
      }),
    get: ({ params }) => Effect.flatMap(find(params.domain), show),
    add: (call) => onceMade(call, addition(call, call.payload.name ?? call.payload.domain)),
    verify: (call) => onceMade(call, verification(call.params.domain)),
    rotateDkim: (call) => atLast(onceMade(call, rotation(call.params.domain))),
    addEd25519: (call) => atLast(onceMade(call, ed25519Addition(call.params.domain))),
    rotateEd25519: (call) => atLast(onceMade(call, ed25519Rotation(call.params.domain))),
    removeEd25519: ({ params }) =>
      Effect.gen(function* () {
        const { domain_id } = yield* find(params.domain)
        return yield* commit(yield* change(domain_id, Domain.removeEd25519))
      }),
    update: ({ params, payload }) => track(params.domain, payload),
    remove: ({ params }) =>
      Effect.flatMap(find(params.domain), ({ domain_id, name }) =>
        commit(
          about(Domain, domain_id, Domain.remove, () => ({
            object: "domain" as const,
            id: domain_id,
            name,
            deleted: true as const,
          })),
        ),
      ),
  }),
)

const find = Effect.fnUntraced(function* (reference: string) {
  const { account_id } = yield* CurrentKey
  const record = yield* Effect.mapError(
    Effect.fromOption(yield* Domains.find(account_id, reference)),
    () => new DomainNotFound(),
  )
  yield* checkDomain(record.name)
  return record
})

const verification = Effect.fnUntraced(function* (reference: string) {
  const { account_id } = yield* CurrentKey
  const { domain_id } = yield* find(reference)
  yield* domains.check(account_id, domain_id)
  return yield* change(domain_id, () => () => Result.fail(new NothingNew()))
})

const show = (record: Domains.DomainRecord) => Effect.map(Instance, (instance) => present(record, instance))

/** What to publish, each with what DNS answered when it was last asked. */
const present = (record: Domains.DomainRecord, ways: domains.Ways): Contract.Domain => {
  const { created_at, domain_id, last_checked_at, name, next_check_at, records, status, verified_at } = record
  return {
    object: "domain",
    id: domain_id,
    name,
    status,
    created_at,
    verified_at,
    last_checked_at,
    next_check_at,
    open_tracking: record.tracking?.opens ?? false,
    click_tracking: record.tracking?.clicks ?? false,
    tracking_domain: record.tracking_domain?.name ?? null,
    records: domains.expectedRecords(record, ways).map((expected) => {
      const finding = records.find(({ host, purpose }) => purpose === expected.purpose && host === expected.host)
      const { error, found, status } = finding ?? { status: "not_checked" as const, found: [], error: null }
      return { ...expected, status, found, error }
    }),
  }
}

const addition = Effect.fnUntraced(function* (call: Call, name: DomainName.DomainName | undefined) {
  if (name === undefined) return yield* Effect.die("a domain without a name passed its schema")
  const { account_id } = yield* CurrentKey
  yield* checkDomain(name)
  // Asked before a key is made for nothing; the commit asks again, and there a twin that was first has an answer to give.
  if (call.headers?.["idempotency-key"] === undefined) {
    if (Option.isSome(yield* Domains.find(account_id, name))) return yield* new DomainAlreadyExists({ domain: name })
    if ((yield* AccountCounts.count(account_id, "domain", yield* now)) >= Domain.MAX_DOMAINS)
      return yield* new TooManyDomains({ most: Domain.MAX_DOMAINS })
  }
  const instance = yield* Instance
  const { decide, ...unit } = yield* domains.addition(account_id, name)
  return {
    ...unit,
    decide: (view: View) => Result.map(decide(view), (done) => ({ ...done, answer: answerOf(done.answer, instance) })),
  }
})

const answerOf = (state: Domain.State, ways: domains.Ways): Contract.Domain => {
  if (state._tag !== "Domain") throw new Error("decided about a domain that does not exist")
  return present(state, ways)
}

/** On needs an address of our own that links can lead to, and so does a name of theirs; off does not. */
const track = Effect.fnUntraced(function* (
  reference: string,
  { click_tracking: clicks, open_tracking: opens, tracking_domain: name }: Contract.Change,
) {
  const record = yield* find(reference)
  const { trackingHost, tracks, ...ways } = yield* Instance
  if (!tracks && (opens === true || clicks === true))
    return yield* new TrackingUnavailable({ path: opens === true ? "open_tracking" : "click_tracking" })
  if (typeof name === "string") {
    if (trackingHost === null) return yield* new TrackingDomainsUnavailable()
    const others = domains.expectedRecords(record, { ...ways, trackingHost: null })
    if (others.some((other) => other.name === name)) return yield* new NameTaken({ name, path: "tracking_domain" })
  }
  return yield* commit(
    yield* change<NotBelowDomain>(record.domain_id, (at) => Domain.track(at, { opens, clicks, domain: name })),
  )
})

type Decide<E> = (
  now: Timestamp.Timestamp,
) => Aggregate.Decide<Domain.State, Domain.Event, DomainNotFound | NothingNew | E>

const change = Effect.fnUntraced(function* <E = never>(id: Id.DomainId, decide: Decide<E>) {
  const instance = yield* Instance
  return about(Domain, id, decide, (state) => answerOf(state, instance))
})

/** Somebody made or removed a key since this one was made; a selector never means two keys. */
class Overtaken extends Data.TaggedError("Overtaken")<{}> {}

const atLast = <A, E, R>(change: Effect.Effect<A, E | Overtaken, R>): Effect.Effect<A, E, R> =>
  change.pipe(
    Effect.retry({ while: (error) => error instanceof Overtaken, times: MAX_ROTATION_TRIES }),
    Effect.catch((error) => (error instanceof Overtaken ? Effect.die(error) : Effect.fail(error))),
  )

const withNewKey = Effect.fnUntraced(function* <E>(
  record: Domains.DomainRecord,
  algorithm: DkimKey["algorithm"],
  decide: (
    now: Timestamp.Timestamp,
    dkim: DkimKey,
  ) => Aggregate.Decide<Domain.State, Domain.Event, E | DomainNotFound | NothingNew>,
) {
  const { account_id } = yield* CurrentKey
  const selector = Domain.nextSelector({ _tag: "Domain", ...record }, algorithm)
  const dkim = yield* newDkimKey(account_id, record.domain_id, algorithm, selector)
  return yield* change<Overtaken | E>(
    record.domain_id,
    (now) => (state) =>
      state._tag === "Domain" && Domain.nextSelector(state, algorithm) !== selector
        ? Result.fail(new Overtaken())
        : decide(now, dkim)(state),
  )
})

const rotation = Effect.fnUntraced(function* (reference: string) {
  return yield* withNewKey(yield* find(reference), "rsa", Domain.rotateDkim)
})

const ed25519Addition = Effect.fnUntraced(function* (reference: string) {
  const record = yield* find(reference)
  if (!Domain.hasEd25519(record)) return yield* withNewKey(record, "ed25519", Domain.addEd25519)
  // It has one, so none is made for nothing.
  return yield* change<Overtaken>(record.domain_id, () => (state) => {
    if (state._tag !== "Domain") return Result.fail(new DomainNotFound())
    return Result.fail(Domain.hasEd25519(state) ? new NothingNew() : new Overtaken())
  })
})

const ed25519Rotation = Effect.fnUntraced(function* (reference: string) {
  const record = yield* find(reference)
  // Asked before a key is made for nothing; the commit asks again.
  if (!Domain.hasEd25519(record)) return yield* new NoEd25519Key({ domain: record.name })
  return yield* withNewKey(record, "ed25519", Domain.rotateEd25519)
})
