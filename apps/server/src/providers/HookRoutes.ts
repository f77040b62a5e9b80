import type { Networks } from "@waybill/mail/dns/Network"
import * as Table from "@waybill/domain/values/Table"
import { Clock, Context, Effect, Metric, Option, Predicate } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as ByteSize from "effect/ByteSize"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import * as FairSlots from "@waybill/runtime/flow/FairSlots"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as Bodies from "../web/Bodies.ts"
import { ByteBudget, type BudgetLimits } from "../web/ByteBudget.ts"
import * as ClientAddress from "../requests/ClientAddress.ts"
import * as AccessToken from "./AccessToken.ts"
import * as HookAddress from "./HookAddress.ts"
import { PROVIDERS, type Provider } from "./formats/ProviderEvent.ts"
import * as KnownHooks from "./KnownHooks.ts"
import { receiveCall } from "./receiveCall.ts"

/** Maximum size of a call. SendGrid sends up to 768 KB, SparkPost about as much. */
export const MAX_CALL_BYTES = 2 * 1024 * 1024
/** Calls that are checked and recorded at once; others wait. */
export const CALLS_AT_ONCE = 8
/** Calls of one hook that are checked at once, so that a slow or hostile one leaves room for the others. */
export const CALLS_PER_HOOK = 4
/** Maximum bytes of calls in memory per process, from the first byte to the answer. */
export const MAX_CALL_BYTES_HELD = 64 * 1024 * 1024
/** Maximum bytes per address, so that one whose calls wait leaves room for the others. */
export const MAX_CALL_BYTES_HELD_PER_ADDRESS = 16 * 1024 * 1024
/** Refused calls that a process logs within a minute; further ones are only counted. */
export const MAX_LOGGED_PER_MINUTE = 60

const CALL_BYTES_HELD: BudgetLimits = {
  total_bytes: MAX_CALL_BYTES_HELD,
  holder_bytes: MAX_CALL_BYTES_HELD_PER_ADDRESS,
}
const MINUTE_MS = 60_000
const TOO_LARGE = "body_too_large"
const NO_MEMORY = "overloaded"

export const isOpen = (path: string): boolean => path.startsWith(HookAddress.PATH)

/** Receives the calls by which mail providers report what became of mail that they were handed. */
export const layer = (trustedProxies: Networks) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const keys = yield* HookAddress.hookKeys
      const slots = FairSlots.make({ all: CALLS_AT_ONCE, perOwner: CALLS_PER_HOOK })
      const budget = new ByteBudget(CALL_BYTES_HELD)
      const hooks = yield* KnownHooks.make
      const warn = makeWarner()
      /** Finds the hook of a path, and answers where there is none. */
      const ofHook = <E, R>(
        isOffered: (provider: Provider) => boolean,
        respond: (arrived: Arrived) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
      ) =>
        Effect.gen(function* () {
          const { provider = "", token = "" } = yield* HttpRouter.params
          const request = yield* HttpServerRequest.HttpServerRequest
          const address = ClientAddress.ofRequest(request, trustedProxies)
          const isKnown = HookAddress.isProvider(provider) && isOffered(provider)
          const hook =
            isKnown && HookAddress.holds(keys, provider, token)
              ? yield* hooks.find(provider, HookAddress.hashOf(token))
              : Option.none<KnownHooks.KnownHook>()
          if (Option.isNone(hook) || !isKnown) {
            count(UNKNOWN, "refused")
            yield* warn({ from: address, reason: "no_such_hook" })
            return answer(404, "There is no such address. `waybill providers list` shows the ones that exist.")
          }
          const arrived = { provider, hook: hook.value, hooks, request, address, warn, inSlot: slots(hook.value.id) }
          return yield* Effect.provideService(respond(arrived), Bodies.ReadContext, {
            budget,
            holder: RateWindows.clientAddress(address).bucket,
            readmit: () => Effect.void,
          })
        })
      yield* router.add(
        "POST",
        `${HookAddress.PATH}:provider/:token`,
        ofHook(() => true, received),
      )
      yield* router.add(
        "POST",
        `${HookAddress.PATH}:provider/:token${HookAddress.ACCESS}`,
        ofHook((provider) => provider === "sparkpost", granted),
      )
    }),
  )

interface Arrived {
  readonly provider: Provider
  readonly hook: KnownHooks.KnownHook
  readonly hooks: KnownHooks.KnownHooks
  readonly request: HttpServerRequest.HttpServerRequest
  /** Address of the client. */
  readonly address: string
  readonly warn: ReturnType<typeof makeWarner>
  /** Runs work in a slot of the hook. */
  readonly inSlot: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Reads the body of a call before it has a slot, because a client may send it as slowly as it likes. */
const bodyOf = (maxBytes: number) =>
  Bodies.read().pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe(maxBytes)),
    Effect.mapBoth({
      onFailure: ({ _tag }) => (_tag === "HttpServerError" ? TOO_LARGE : NO_MEMORY),
      onSuccess: ({ bytes }) => bytes,
    }),
  )

const received = (arrived: Arrived) => {
  const { address, hook, hooks, inSlot, provider, request } = arrived
  const calling = Effect.flatMap(bodyOf(MAX_CALL_BYTES), (bytes) =>
    inSlot(receiveCall({ provider, hook, hooks, headers: request.headers, bytes, address })),
  )
  return orRefused(
    arrived,
    Effect.map(calling, () => {
      count(provider, "accepted")
      return answer(200, "Thank you")
    }),
  )
}

/** Answers the request for an access token by which SparkPost begins OAuth 2.0. */
const granted = (arrived: Arrived) =>
  orRefused(
    arrived,
    Effect.gen(function* () {
      const bytes = yield* bodyOf(AccessToken.MAX_REQUEST_BYTES)
      const client = AccessToken.clientOf(bytes, arrived.request.headers["content-type"] ?? "")
      if (client === undefined) return yield* Effect.fail("body_malformed")
      const { secret } = arrived.hook
      if (secret === "" || !AccessToken.isClient(secret, client)) return yield* Effect.fail("client_wrong")
      const body = {
        access_token: AccessToken.make(secret, yield* Clock.currentTimeMillis),
        token_type: "Bearer",
        expires_in: AccessToken.LIFETIME_S,
      }
      return HttpServerResponse.jsonUnsafe(body, { headers: NO_STORE })
    }),
  )

/** Counts and logs a refusal, which changes nothing. */
const orRefused = <R>(
  { address, hook, hooks, provider, warn }: Arrived,
  responding: Effect.Effect<HttpServerResponse.HttpServerResponse, string | StoreUnavailable, R>,
) =>
  Effect.catchIf(responding, Predicate.isString, (reason) =>
    Effect.gen(function* () {
      count(provider, "refused")
      yield* hooks.count(hook, { refused: 1, last_refusal: reason })
      yield* warn({ provider, hook: hook.id, from: address, reason })
      return answer(Table.at(STATUSES, reason) ?? 401, `Refused: ${reason}. Nothing was changed.`)
    }),
  )

const STATUSES: Readonly<Record<string, number>> = {
  [TOO_LARGE]: 413,
  body_malformed: 400,
  not_a_notification: 400,
  host_not_allowed: 400,
  // Amazon repeats the call.
  host_unreachable: 503,
  // The provider repeats the call.
  [NO_MEMORY]: 503,
  // An operator has to add the hook again; the provider repeats the call meanwhile.
  secret_missing: 503,
}

const NO_STORE = { "cache-control": "no-store" }

const answer = (status: number, text: string) => HttpServerResponse.text(`${text}\n`, { status, headers: NO_STORE })

/** Logs refused calls, up to a number a minute, because anybody can make one. */
const makeWarner = () => {
  let minute = 0
  let logged = 0
  return (fields: Readonly<Record<string, string>>) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const current = Math.floor(now / MINUTE_MS)
      if (current !== minute) [minute, logged] = [current, 0]
      return ++logged > MAX_LOGGED_PER_MINUTE
        ? Effect.void
        : Effect.logWarning("call of a mail provider was refused; nothing was changed", fields)
    })
}

const calls = Metric.counter("waybill_provider_calls_total", {
  description: "Calls of mail providers by provider and outcome",
  incremental: true,
})
const NO_SERVICES = Context.empty()
const UNKNOWN = "unknown"
/** Initializes every series at zero, because Prometheus computes an increase only from an existing value. */
const series = new Map(
  [...PROVIDERS, UNKNOWN].flatMap((provider) =>
    ["accepted", "refused"].map(
      (outcome) => [`${provider} ${outcome}`, Metric.withAttributes(calls, { provider, outcome })] as const,
    ),
  ),
)
for (const counter of series.values()) counter.valueUnsafe(NO_SERVICES)

const count = (provider: Provider | typeof UNKNOWN, outcome: "accepted" | "refused"): void =>
  series.get(`${provider} ${outcome}`)?.updateUnsafe(1, NO_SERVICES)
