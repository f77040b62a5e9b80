import * as ApiError from "@waybill/api/errors/ApiError"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as Operate from "@waybill/api/groups/Operate"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Account from "@waybill/domain/account/Account"
import * as Id from "@waybill/domain/values/Id"
import type { Refusal } from "@waybill/domain/values/Refusal"
import * as CellName from "@waybill/store/routing/CellName"
import { Cells, definitionUrlOf, urlOf } from "@waybill/store/routing/Cells"
import * as Databases from "@waybill/store/routing/Databases"
import * as Placement from "@waybill/store/cells/Placement"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as AccountUsage from "@waybill/store/operations/AccountUsage"
import * as CellList from "@waybill/store/operations/CellList"
import * as ProviderHooks from "@waybill/store/providers/ProviderHooks"
import * as SourcePools from "@waybill/store/sources/SourcePools"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import * as Status from "@waybill/store/rebuild/Status"
import * as RebuildMarkers from "@waybill/store/rebuild/RebuildMarkers"
import { Provenance } from "@waybill/store/log/Provenance"
import * as InstanceStats from "@waybill/store/statistics/InstanceStats"
import { Data, Duration, Effect, Layer, type Redacted, Result, Schema } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import * as SqlErrors from "@waybill/store/postgres/SqlErrors"
import { onlyUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as NewIds from "../../process/NewIds.ts"
import { Replays } from "../../operate/Replays.ts"
import * as Version from "../../process/Version.ts"
import type * as Role from "../../settings/Role.ts"
import * as Settings from "../../settings/Settings.ts"
import { addressViews } from "../../sources/addressViews.ts"
import { Admitted } from "../../requests/Admitted.ts"
import * as Authorization from "../../web/Authorization.ts"
import * as RequestTarget from "../../requests/RequestTarget.ts"
import * as DashboardRoute from "./DashboardRoute.ts"
import { inviteWithAccount } from "../api/MemberHandlers.ts"

/** Period over which rates are averaged. */
export const RATE_PERIOD = Duration.seconds(10)

class Refused extends Data.TaggedError("Refused")<{ readonly message: string; readonly reason: string }> {
  readonly status = 422
}

/** Admits operators only, in a session of the dashboard; keys belong to one account. Everybody else gets a 404. */
const operator = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const admitted = yield* Admitted
  if (admitted === undefined || !("user" in admitted) || !admitted.user.operator)
    return yield* new RequestRefusal.NoSuchRoute({ method: request.method, path: RequestTarget.pathOf(request.url) })
  return admitted
})

/** Records the operator as the actor in the account's log. */
const byOperator = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const { address, user } = yield* operator
  const request_id = yield* ApiError.RequestId
  const provenance = Authorization.provenanceOf({ type: "operator", id: user.user_id }, request_id, address)
  return yield* Effect.provideService(effect, Provenance, provenance)
})

const json = <A, E extends Refusal, R>(effect: Effect.Effect<A, E, R>) => DashboardRoute.json(operator, effect)

const { bodyOf } = DashboardRoute

const accounts = Effect.gen(function* () {
  const month = (yield* NewIds.now).slice(0, "2026-11".length)
  const { missing, rows } = yield* AccountUsage.accounts(month)
  return {
    data: rows.map(({ cell, emails, members, record }): Operate.AccountSummary => ({
      id: record.id,
      name: record.name,
      plan: record.plan,
      created_at: record.created_at,
      members,
      emails,
      monthly_emails: record.limits.monthly_emails,
      links_stopped_at: record.links_stopped_at ?? null,
      cell,
    })),
    unreachable: missing,
  } satisfies Operate.Accounts
})

/** Creates an account, and a link with which its first owner sets a password. */
const create = byOperator(
  Effect.gen(function* () {
    const { name, owner, plan } = yield* bodyOf(Operate.NewAccount)
    const account_id = yield* NewIds.newId("AccountId")
    const cell = yield* Placement.place(account_id)
    const created = Account.create(yield* NewIds.now, account_id, name, plan)(Account.initial)
    const inviting = inviteWithAccount(
      { endpoint: { method: "POST", path: `${Operate.PREFIX}/accounts` } },
      { email: owner, name: null, role: "owner" },
      { aggregate: Account, id: account_id, events: Result.getOrThrow(created) },
    ).pipe(Effect.provideService(CurrentKey, { account_id, key_id: null, scopes: ["admin"], domain: null }))
    const invited = yield* inCell(cell, inviting)
    return { id: account_id, link: invited.body }
  }),
)

const isAccountId = Schema.is(Id.AccountId)

const change = byOperator(
  Effect.gen(function* () {
    const { id = "" } = yield* HttpRouter.params
    if (!isAccountId(id)) return yield* new Account.AccountNotFound()
    const { links_followed, plan } = yield* bodyOf(Operate.AccountChange)
    const store = yield* EventStore
    const commit = (decide: ReturnType<typeof Account.changePlan>) =>
      store.commit(Account, { account_id: id, stream_id: id }, decide)
    const at = yield* NewIds.now
    if (plan !== undefined) yield* commit(Account.changePlan(at, plan))
    if (links_followed !== undefined) yield* commit(Account.changeLinks(at, links_followed))
    return { id }
  }),
)

const queues = Effect.gen(function* () {
  const [{ position, queue, workers }, per_second] = yield* Effect.all([
    InstanceStats.read(),
    InstanceStats.eventRates(RATE_PERIOD),
  ])
  return { queue, workers, position, per_second } satisfies Operate.Queues
})

const nodes = Effect.gen(function* () {
  const [{ connections, size_bytes }, all] = yield* Effect.all([InstanceStats.read(), AccountUsage.nodes()])
  return { nodes: all, connections, size_bytes, release: Version.VERSION } satisfies Operate.Nodes
})

const providers = Effect.map(ProviderHooks.list(), (data): Operate.Providers => ({ data }))

const addresses = Effect.gen(function* () {
  const [data, pools] = yield* Effect.all([addressViews, SourcePools.list()])
  return { data, pools } satisfies Operate.SourceAddresses
})

const cells = Effect.map(CellList.list(), (data): Operate.Cells => ({ data }))

/** The settings with which this process started. Its roles may have come by a flag, and not by the environment. */
const settings = (roles: Role.Roles) =>
  Effect.map(Settings.describe, (rows): Operate.Settings => ({
    groups: Settings.GROUPS,
    data: rows.map((row) =>
      row.name === Settings.TABLE.roles.name && roles.join(",") !== row.default
        ? { ...row, value: roles.join(",") }
        : row,
    ),
  }))

const NOTHING = { versions: [], under_way: [] }
const CONCURRENT_CELLS = 8

const projections = (url: Redacted.Redacted) =>
  Effect.gen(function* () {
    const replays = yield* Replays
    const { names } = yield* Cells
    const cells = yield* names
    const state = Effect.all({ versions: Status.status(), under_way: RebuildMarkers.inProgress() })
    const stateOf = (cell: CellName.CellName) => {
      const reading = Effect.flatMap(Effect.all([definitionUrlOf(url, cell), urlOf(url, cell)]), ([there, log]) =>
        Effect.provide(state, Replay.layer(there, log)),
      )
      return cell === CellName.FIRST ? reading : Effect.timeout(reading, Databases.ANSWER_WITHIN)
    }
    const found = yield* Effect.forEach(
      cells,
      (cell) =>
        Effect.map(stateOf(cell), ({ under_way, versions }) => {
          const label = cells.length === 1 ? {} : { cell }
          return {
            versions: versions.map((each) => ({ ...each, ...label })),
            under_way: under_way.map((each) => ({ ...each, ...label })),
          }
        }).pipe(
          // The read models of a cell that does not answer are left out.
          Effect.catchCause((cause) => (cell === CellName.FIRST ? Effect.failCause(cause) : Effect.succeed(NOTHING))),
        ),
      { concurrency: CONCURRENT_CELLS },
    )
    return {
      versions: found.flatMap(({ versions }) => versions),
      under_way: found.flatMap(({ under_way }) => under_way),
      jobs: yield* replays.list,
    } satisfies Operate.Projections
  }).pipe(SqlErrors.orUnavailable, onlyUnavailable)

/** Name of a read model, as the command line takes it; validated because it becomes an argument of a command. */
const projectionName = Effect.gen(function* () {
  const { name = "" } = yield* HttpRouter.params
  if (!/^[a-z][a-z_]{0,40}$/u.test(name))
    return yield* new Refused({ reason: "no_such_projection", message: "There is no read model with this name." })
  return name
})

const begin = Effect.fnUntraced(function* (kind: "rebuild" | "verify") {
  yield* bodyOf(Operate.Nothing)
  const name = yield* projectionName
  const replays = yield* Replays
  if (!(yield* replays.begin(kind, name)))
    return yield* new Refused({
      reason: "replay_under_way",
      message: `A rebuild or verification of ${name} is already in progress.`,
    })
  return { name, kind }
})

const finish = Effect.fnUntraced(function* (argsOf: (name: string) => ReadonlyArray<string>) {
  const name = yield* projectionName
  const replays = yield* Replays
  const problem = yield* replays.run(argsOf(name))
  if (problem !== undefined) return yield* new Refused({ reason: "replay_refused", message: problem })
  return { name }
})

const swap = Effect.flatMap(bodyOf(Operate.Swap), ({ back }) =>
  finish((name) => ["swap", name, ...(back ? ["--back"] : [])]),
)

/** Routes of the dashboard's operator screens. */
export const layer = (url: Redacted.Redacted, roles: Role.Roles) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const replays = yield* Replays
      const started = yield* settings(roles)
      const at = (path: `/${string}`) => `${Operate.PREFIX}${path}` as `/${string}`
      const working = <A, E extends Refusal, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.provideService(json(effect), Replays, replays)
      yield* router.add("GET", at("/accounts"), json(accounts))
      yield* router.add("POST", at("/accounts"), json(create))
      yield* router.add("PATCH", at("/accounts/:id"), json(change))
      yield* router.add("GET", at("/queues"), json(queues))
      yield* router.add("GET", at("/nodes"), json(nodes))
      yield* router.add("GET", at("/cells"), json(cells))
      yield* router.add("GET", at("/settings"), json(Effect.succeed(started)))
      yield* router.add("GET", at("/providers"), json(providers))
      yield* router.add("GET", at("/addresses"), json(addresses))
      yield* router.add("GET", at("/projections"), working(projections(url)))
      yield* router.add("POST", at("/projections/:name/rebuild"), working(begin("rebuild")))
      yield* router.add("POST", at("/projections/:name/verify"), working(begin("verify")))
      yield* router.add("POST", at("/projections/:name/swap"), working(swap))
    }),
  ).pipe(Layer.provide(Replays.layer))
