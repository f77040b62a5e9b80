import type { PgClient } from "@effect/sql-pg"
import type * as Id from "@waybill/domain/values/Id"
import type * as Network from "@waybill/domain/values/Network"
import type * as Plan from "@waybill/domain/account/Plan"
import type { Networks } from "@waybill/mail/dns/Network"
import { Admission } from "@waybill/store/admission/Admission"
import type { Availability } from "@waybill/store/availability/Availability"
import { EventStore } from "@waybill/store/commit/EventStore"
import type { EventKinds } from "@waybill/store/feed/EventKinds"
import { InstanceKey } from "@waybill/store/secrets/InstanceKey"
import * as RequestLogWriter from "@waybill/store/requests/RequestLogWriter"
import { KeyUses } from "@waybill/store/admission/KeyUses"
import { Secrets } from "@waybill/store/secrets/Secrets"
import { Context, Duration, Effect, Layer, Option, Redacted, type Scope as EffectScope } from "effect"
import { HttpServer } from "effect/http"
import type { SqlClient } from "effect/sql"
import { Sql } from "@waybill/store/postgres/Sql"
import type { BudgetLimits } from "../../../apps/server/src/web/ByteBudget.ts"
import type { Limits as Documents } from "../../../apps/server/src/http/pages/DocumentWindows.ts"
import { Instance } from "../../../apps/server/src/settings/Instance.ts"
import type { Timeouts } from "../../../apps/server/src/http/NodeServer.ts"
import * as LogRoutes from "../../../apps/server/src/http/pages/LogRoutes.ts"
import * as KnownHooks from "../../../apps/server/src/providers/KnownHooks.ts"
import * as HookRoutes from "../../../apps/server/src/providers/HookRoutes.ts"
import * as Server from "../../../apps/server/src/http/Server.ts"
import * as TrackingHosts from "../../../apps/server/src/links/TrackingHosts.ts"
import * as tracking from "../../../apps/server/src/http/pages/TrackingRoutes.ts"
import * as UnsubscribePage from "../../../apps/server/src/http/pages/UnsubscribePage.ts"
import { DEFAULT_MAX_BODY_BYTES } from "../../../apps/server/src/settings/HttpSettings.ts"
import * as StoppedLinks from "../../../apps/server/src/links/StoppedLinks.ts"
import * as Visits from "../../../apps/server/src/links/Visits.ts"
import { dnsZones, type Zones } from "../mail/dnsZones.ts"
import type { CompatHosts } from "../../../apps/server/src/settings/CompatHosts.ts"
import * as DatabaseClock from "../DatabaseClock.ts"
import * as Database from "../postgres/Database.ts"
import { nextMillisecond } from "../WallClock.ts"
import * as Programs from "../../../apps/server/src/templates/Programs.ts"
import * as World from "./World.ts"

export interface Setup {
  readonly transport?: "capture" | "relay" | "direct"
  readonly allowedNetworks?: ReadonlyArray<string>
  readonly attachmentNetworks?: ReadonlyArray<string>
  readonly trustedProxies?: Networks
  readonly doorHosts?: CompatHosts
  readonly maxBodyBytes?: number
  readonly timeouts?: Timeouts
  readonly connections?: { readonly total: number; readonly perAddress: number }
  readonly budgets?: { readonly bodies: BudgetLimits; readonly answers: BudgetLimits }
  readonly documents?: Documents
  readonly tracks?: boolean
  readonly trackingHost?: string
  readonly zones?: Zones
  readonly transparency?: boolean
  /** Logs requests. */
  readonly requestLog?: boolean
  /** Stops the clock of the database, so that no rate window ends during a test. */
  readonly minuteStands?: boolean
  /** Interval at which numbers of providers' hooks are written; at once by default. */
  readonly hooksEvery?: Duration.Duration
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // Tests read responses of every kind.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
}

export interface RequestOptions {
  readonly key?: string | null
  readonly body?: unknown
  /** Body that is sent as it is. */
  readonly raw?: string | Uint8Array
  /** URL of another node than the first. */
  readonly node?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Service that runs in this process on a database of its own, with functions to call it. */
export class HttpWorld extends Context.Service<
  HttpWorld,
  {
    readonly url: string
    readonly sql: Sql
    /** Starts one more node on the same database and returns its URL. */
    readonly another: Effect.Effect<string, never, EffectScope.Scope>
    readonly request: (method: string, path: string, options?: RequestOptions) => Effect.Effect<Answer>
    readonly account: (plan?: Plan.Plan) => Effect.Effect<Id.AccountId>
    readonly key: (
      account: Id.AccountId,
      options?: World.KeyOptions,
    ) => Effect.Effect<{ readonly id: string; readonly secret: string }>
  }
>()("test/HttpWorld") {
  static readonly layer = (setup: Setup = {}) =>
    Layer.effect(
      HttpWorld,
      Effect.gen(function* () {
        const { address } = yield* HttpServer.HttpServer
        const url = HttpServer.formatAddress(address)
        const services = yield* Effect.context<EventStore>()
        return HttpWorld.of({
          url,
          sql: yield* Sql,
          another: Layer.build(Layer.fresh(served(setup).pipe(Layer.provide(nodeStore)))).pipe(
            Effect.map((built) => HttpServer.formatAddress(Context.get(built, HttpServer.HttpServer).address)),
            Effect.provideContext(
              yield* Effect.context<
                PgClient.PgClient | SqlClient.SqlClient | InstanceKey | Availability | EventKinds
              >(),
            ),
            Effect.orDie,
          ),
          request: (method, path, options) =>
            Effect.promise(() => sendRequest(options?.node ?? url, method, path, options)),
          account: (plan = "business") => World.account({ plan }).pipe(Effect.provideContext(services)),
          key: (account_id, options) => World.key(account_id, options).pipe(Effect.provideContext(services)),
        })
      }),
    ).pipe(
      Layer.provideMerge(served(setup)),
      Layer.provideMerge(setup.requestLog === true ? requestLog : Layer.empty),
      Layer.provideMerge(store),
      Layer.provideMerge(setup.minuteStands === true ? DatabaseClock.layer : Database.layerFresh),
    )
}

const requestLog = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => RequestLogWriter.layer(url)))

const nodeStore = Layer.mergeAll(Secrets.layer, Admission.layer).pipe(
  Layer.provideMerge(KeyUses.layer),
  Layer.provideMerge(Programs.layer),
  Layer.provideMerge(EventStore.layer()),
)

const store = nodeStore.pipe(
  Layer.provideMerge(InstanceKey.layer({ file: "", text: Option.some(Redacted.make(World.INSTANCE_KEY)) })),
)

const served = (setup: Setup) => {
  const {
    allowedNetworks = [],
    attachmentNetworks = [],
    budgets,
    connections,
    documents,
    doorHosts = new Map(),
    hooksEvery = Duration.zero,
    maxBodyBytes = DEFAULT_MAX_BODY_BYTES,
    timeouts,
    trackingHost = null,
    tracks = false,
    transparency = true,
    transport = "capture",
    trustedProxies = [],
    zones = {},
  } = setup
  return Server.HttpLive({
    host: "127.0.0.1",
    port: 0,
    maxBodyBytes,
    trustedProxies,
    doorHosts,
    also: {
      routes: Layer.mergeAll(
        tracking.layer(trustedProxies),
        UnsubscribePage.layer(trustedProxies),
        Layer.provide(HookRoutes.layer(trustedProxies), Layer.succeed(KnownHooks.HOME_EVERY, hooksEvery)),
        LogRoutes.layer({ baseUrl: LOG_URL, isPublic: transparency }),
      ),
      open: (path: string) => UnsubscribePage.isOpen(path) || tracking.isOpen(path) || HookRoutes.isOpen(path),
      visit: tracking.isVisit,
      document: LogRoutes.isOpen,
    },
    ...(timeouts === undefined ? {} : { timeouts }),
    ...(connections === undefined ? {} : { connections }),
    ...(budgets === undefined ? {} : { budgets }),
    ...(documents === undefined ? {} : { documents }),
  }).pipe(
    Layer.provide([
      dnsZones(zones),
      StoppedLinks.layer,
      trackingHost === null ? TrackingHosts.none : TrackingHosts.layer([], Duration.millis(200)),
      Visits.layer,
    ]),
    Layer.provideMerge(
      Layer.succeed(Instance, {
        transport,
        returnPath: { kind: "cname", label: "bounce", target: "bounces.waybill.example" },
        allowedNetworks: allowedNetworks as ReadonlyArray<Network.Network>,
        attachmentNetworks: attachmentNetworks as ReadonlyArray<Network.Network>,
        baseUrl: null,
        tracks,
        trackingHost,
        mailHost: "mx.waybill.example",
        inboundDomain: "in.waybill.example",
        submission: null,
      }),
    ),
  )
}

/** Address of the service as its log has it. */
export const LOG_URL = "https://waybill.example"

const sendRequest = async (
  url: string,
  method: string,
  path: string,
  { body, headers = {}, key, raw }: RequestOptions = {},
): Promise<Answer> => {
  const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: "manual",
    headers: {
      ...(key === undefined || key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(sent === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(sent === undefined ? {} : { body: sent as BodyInit }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: parsed(text) }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Status and reason of a refusal. */
export const reasonOf = ({ json, status }: Pick<Answer, "json" | "status">): readonly [number, string | undefined] => [
  status,
  json?.error?.reason,
]

/** Status and first field of a refusal of malformed input. */
export const fieldOf = ({ json, status }: Pick<Answer, "json" | "status">): readonly [number, string | undefined] => [
  status,
  json?.error?.details?.[0]?.path,
]

export const statusesOf = (answers: ReadonlyArray<Pick<Answer, "status">>): ReadonlyArray<number> =>
  answers.map(({ status }) => status)

/** Email that every domain `acme.test` may send. */
export const EMAIL = { from: "Acme <hi@acme.test>", to: "ana@example.org", subject: "Hello", text: "Hi" }

/** Creates an account with a key that may do everything and with the domains, and returns what its owner does. */
export const signUp = Effect.fnUntraced(function* ({ domains = [], plan = "business" }: SignUp = {}) {
  const world = yield* HttpWorld
  const account = yield* world.account(plan)
  const { id: key_id, secret: key } = yield* world.key(account)
  const call = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
    world.request(method, path, { key, body, headers })
  for (const name of domains) yield* call("POST", "/v1/domains", { name })
  return {
    world,
    account,
    key,
    key_id,
    /** Sends a request with the account's key. */
    call,
    /** Sends an email in a millisecond of its own and returns its id. */
    send: (change: object = {}) =>
      Effect.map(
        Effect.andThen(nextMillisecond, call("POST", "/v1/email/send", { ...EMAIL, ...change })),
        ({ json }) => json.id as string,
      ),
    /** Creates another key of the account and returns its secret. */
    keyWith: (options: World.KeyOptions) => Effect.map(world.key(account, options), ({ secret }) => secret),
    /** Record of an email. */
    log: (id: string) => Effect.map(call("GET", `/v1/email/logs/${id}`), ({ json }) => json),
  }
})

export interface SignUp {
  readonly domains?: ReadonlyArray<string>
  readonly plan?: Plan.Plan
}
