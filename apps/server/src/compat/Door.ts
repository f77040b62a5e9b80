import type { PgClient } from "@effect/sql-pg"
import type * as RateLimit from "@waybill/domain/account/RateLimit"
import type { Detail, Refusal } from "@waybill/domain/values/Refusal"
import type { Dns } from "@waybill/mail/dns/Dns"
import type { InstanceKey } from "@waybill/store/secrets/InstanceKey"
import type { EventStore } from "@waybill/store/commit/EventStore"
import { Context, Data, type Effect, type Result, type Schema } from "effect"
import type { Verdicts } from "../accept/RequestCommit.ts"
import type { Instance } from "../settings/Instance.ts"
import type { Programs } from "../templates/Programs.ts"
import type { Endpoint } from "./Endpoints.ts"

/** A request in the words of another service, its body parsed. */
export interface DoorRequest {
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | undefined>>
  /** `undefined` for a request without a body. */
  readonly body: unknown
}

/** A request to Waybill's own API that a door translates to. */
export interface NativeRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE"
  /** Path and query, such as `/v1/email/logs?limit=10`. */
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  /** `undefined` for an answer without a body. */
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The answer of Waybill's own API. */
export interface NativeAnswer extends Answer {
  /** The verdict on each message of a send; undefined for an answer that repeats one, and for other requests. */
  readonly verdicts?: Verdicts | undefined
}

/** A refusal of Waybill's own API, with its violations as the other service names their fields. */
export class NativeError extends Data.TaggedError("NativeError")<{
  readonly refusal: Refusal
  readonly details: ReadonlyArray<Detail>
}> {
  readonly status = this.refusal.status
  readonly reason = this.refusal.reason
  override readonly message = this.refusal.message
  readonly retry_after_s = this.refusal.retry_after_s
}

/** Returns the refusal itself, whose class has the facts that its message tells people. */
export const causeOf = (refusal: Refusal): Refusal => (refusal instanceof NativeError ? refusal.refusal : refusal)

/** Calls Waybill's own API on behalf of the request in progress, which was admitted before; refusals fail. */
export class NativeApi extends Context.Service<
  NativeApi,
  {
    readonly call: (request: NativeRequest) => Effect.Effect<NativeAnswer, NativeError>
  }
>()("@waybill/server/compat/Door/NativeApi") {}

/**
 * Services that a door may use: Waybill's own API, DNS to fetch files by URL, the keys that sign links to files, the log for
 * the batches of SendGrid, and the templates that Postmark's numbers mean, which our own API has not.
 */
export type DoorServices = EventStore | Instance | PgClient.PgClient | Programs | NativeApi | Dns | InstanceKey

export type Params = Readonly<Record<string, string>>

/** One route of a door. */
export interface Route {
  readonly method: string
  readonly path: string
  /** The rate window that the route counts in. */
  readonly bucket: RateLimit.Bucket
  /** The query parameters that it takes; none by default. */
  readonly query?: ReadonlyArray<string>
  /** Those of them that may be repeated. */
  readonly lists?: ReadonlyArray<string>
  /**
   * The endpoint of our own API that the route is translated to. A key that may not call it is refused before the body is
   * read. `undefined` for a route that refuses every request.
   */
  readonly endpoint: Endpoint | undefined
  /** The body that it takes; absent if it takes none. */
  readonly body?: Schema.Top
  readonly handle: (request: DoorRequest, params: Params) => Effect.Effect<Answer, Refusal, DoorServices>
  /** Checks a request with the service's public test key, without an account: nothing is kept, and nothing is sent. */
  readonly trial?: Trial
}

/** A route that matches a path, with its decoded parameters. */
export interface RouteMatch {
  readonly route: Route
  readonly params: Params
}

export type Trial = (request: DoorRequest) => Effect.Effect<Answer, Refusal, Instance>

/**
 * Another service's API under a path of its own. A door translates requests, answers and errors, and holds no rules: what
 * it calls decides, with the same keys, scopes, limits and tenants.
 */
export interface Door {
  /** The path that all its routes begin with, such as `/compat/resend`. */
  readonly prefix: string
  /** The value of an Authorization header that holds the key, wherever the other service's clients send it. */
  readonly authorization: (headers: DoorRequest["headers"]) => string | undefined
  /** Whether its ids are UUIDs. Ours are read everywhere. */
  readonly hasUuids: boolean
  readonly routes: ReadonlyArray<Route>
  /** Whether a path is one of the other service, by any method. */
  readonly isKnown: (path: string) => boolean
  /**
   * Returns the route of a request; fails with the refusal of a path that the door does not have, or Waybill has no meaning
   * for. The body of such a request is not read.
   */
  readonly find: (method: string, path: string) => Result.Result<RouteMatch, Refusal>
  readonly handle: (request: DoorRequest, match: RouteMatch) => Effect.Effect<Answer, Refusal, DoorServices>
  /** Whether a request has the public key of the other service with which programs only try its API. */
  readonly isTrial: (headers: DoorRequest["headers"]) => boolean
  /** The answer to a refused request in the other service's shape. `path` is that of the request, below the door. */
  readonly errorOf: (refusal: Refusal, path?: string) => Answer
}
