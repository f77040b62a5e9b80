import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Refusals from "@waybill/domain/values/Refusal"
import { Effect } from "effect"
import { hash } from "node:crypto"
import { causeOf, type DoorRequest, NativeApi, type NativeRequest } from "./Door.ts"

type Headers = DoorRequest["headers"]

/** A page of a list of our own API. */
export interface List<A> {
  readonly data: ReadonlyArray<A>
  readonly has_more: boolean
  readonly next_cursor: string | null
}

/** Builds a path of our own API from a template; values are encoded, so that none can change the route. */
export const path = (parts: TemplateStringsArray, ...values: ReadonlyArray<string | undefined>): string =>
  String.raw({ raw: parts }, ...values.map((value) => encodeURIComponent(value ?? "")))

/** Calls our own API and returns the body of its answer, whose type the caller knows from the API's schema. */
const call = <A>(request: NativeRequest) => Effect.map(answerOf(request), ({ body }) => body as A)

const answerOf = (request: NativeRequest) => Effect.flatMap(NativeApi, (native) => native.call(request))

export const get = <A>(path: string) => call<A>({ method: "GET", path })
export const patch = <A>(path: string, body: unknown) => call<A>({ method: "PATCH", path, body })
export const remove = <A>(path: string) => call<A>({ method: "DELETE", path })

/** Calls our own API as a client does that repeats its request safely; `nth` counts such calls of one request. */
export const post = <A>(path: string, headers: Headers, body?: unknown, nth = 0) =>
  call<A>({ method: "POST", path, body, headers: idempotency(headers, nth) })

/** Like `post`, for a send whose caller needs the verdict on each message beside the answer. */
export const send = <A>(path: string, headers: Headers, body: unknown, nth = 0) =>
  Effect.map(answerOf({ method: "POST", path, body, headers: idempotency(headers, nth) }), ({ body, verdicts }) => ({
    answer: body as A,
    verdicts,
  }))

/** Each of several calls for one request but the first has a key that is made of the client's. */
const idempotency = (headers: Headers, nth: number): Record<string, string> => {
  const key = headers["idempotency-key"]
  if (key === undefined) return {}
  return { "idempotency-key": nth === 0 ? key : hash("sha256", `${nth}/${key}`, "hex") }
}

/** A refusal of one field or query parameter, by the name that the other service gives it. */
export const refuse = (path: string, message: string) =>
  new RequestRefusal.InvalidRequest({ reason: "validation_failed", details: [{ path, message }] })

/** Something that there is not, in this account or in Waybill. */
class Missing extends Refusals.of("Missing", 404, "route_not_found")<{ readonly message: string }> {}
export const missing = (message: string) => new Missing({ message })

export const ok = (body: unknown) => ({ status: 200, body })
export const created = (body: unknown) => ({ status: 201, body })
export const NOTHING = { status: 204, body: undefined }

/** Maximum number of violations that a message lists, where a service's errors have no other place for them. */
const MAX_SHOWN = 20

/** Returns all violations of a refusal as one message. */
export const violationsOf = (refusal: Refusals.Refusal): string => {
  const { details = [] } = refusal
  const shown = details
    .slice(0, MAX_SHOWN)
    .map(({ message, path, sentence }) => sentence ?? (path === "" ? `The body ${message}` : `\`${path}\` ${message}`))
  const more = violationsBeyond(shown.length, refusal)
  return `${shown.join("; ")}${more > 0 ? `; and ${more} more` : ""}.`
}

/** Returns how many violations a refusal has besides the first ones. */
export const violationsBeyond = (shown: number, refusal: Refusals.Refusal): number => {
  const cause = causeOf(refusal)
  const more = RequestRefusal.isInvalid(cause) ? (cause.more ?? 0) : 0
  return (refusal.details ?? []).length + more - shown
}
