import * as ApiKeySecret from "@waybill/domain/account/ApiKeySecret"
import * as Refusal from "@waybill/domain/values/Refusal"
import { Data } from "effect"
import type { Violations } from "./Violations.ts"

/** Refusals of a request before any domain rule applies. Their reasons belong to the HTTP layer. */
export class InvalidRequest extends Data.TaggedError("InvalidRequest")<{
  readonly reason:
    | "validation_failed"
    | "unknown_field"
    | "malformed_json"
    | "malformed_request"
    | "payload_too_large"
    | "headers_too_large"
    | "unsupported_media_type"
    | "request_timeout"
  readonly details: ReadonlyArray<Refusal.Detail>
  /** The message, if the first detail does not give it. */
  readonly summary?: string
  /** Number of violations besides those in `details`. */
  readonly more?: number
}> {
  readonly status = 400
  override get message() {
    const { more = 0 } = this
    const others = this.details.length - 1 + more
    if (others <= 0) return this.first
    const counted = `${this.first} ${others} more ${others === 1 ? "error is" : "errors are"}`
    return more === 0
      ? `${counted} in \`details\`.`
      : `${counted} found; \`details\` lists the first ${this.details.length}.`
  }
  /** The first error as a sentence, for readers who do not see `details`. */
  get first() {
    const [first] = this.details
    if (first === undefined) return this.summary ?? "The request is not valid."
    const words =
      this.summary ?? (first.path === "" ? `The body ${first.message}` : `\`${first.path}\` ${first.message}`)
    return /[.?]$/u.test(words) ? words : `${words}.`
  }
}

export const isInvalid = (value: object): value is InvalidRequest => value instanceof InvalidRequest

/** Refuses a request for its violations. */
export const invalid = ({ details, more, unknown }: Violations): InvalidRequest =>
  unknown === undefined
    ? new InvalidRequest({ reason: "validation_failed", details, more })
    : new InvalidRequest({ reason: "unknown_field", details, more, summary: unknown })

export class NoSuchRoute extends Refusal.of("NoSuchRoute", 404, "route_not_found")<{
  readonly method: string
  readonly path: string
  /** Where to look instead, as a sentence. */
  readonly advice?: string
  /** Methods of the path, for the `Allow` header; absent if there is no such path. */
  readonly allowed_methods?: ReadonlyArray<string>
}> {
  override get message() {
    const route = `There is no ${this.method} ${this.path}.`
    return ApiKeySecret.hideIn(this.advice === undefined ? route : `${route} ${this.advice}`)
  }
}

/** An id, or another name of an object in a path, that no object can have. */
export class MalformedId extends Refusal.of("MalformedId", 404, "malformed_id")<{
  readonly details: ReadonlyArray<Refusal.Detail>
}> {
  override get message() {
    const [first] = this.details
    return first === undefined ? "The path is not valid." : `In the path, \`${first.path}\` ${first.message}.`
  }
}

/** A request that the log does not have: unknown, of another account, too old, or not logged. */
export class RequestNotFound extends Refusal.of("RequestNotFound", 404, "request_not_found") {
  override readonly message = "There is no such request in the request log, which keeps requests for some days only."
}

/** The header that takes a key, and the key as it stands there. */
interface KeyHeader {
  readonly name: string
  readonly value: string
}
const BEARER: KeyHeader = { name: "Authorization", value: "Bearer <key>" }

const messagesFor = ({ name, value }: KeyHeader) => ({
  missing: `No API key was sent. Send one in the header: ${name}: ${value}.`,
  elsewhere: `The API key was sent in another header. Send it in this one: ${name}: ${value}.`,
  unschemed: `The ${name} header does not begin with Bearer. Send the key as: ${name}: ${value}.`,
  malformed: `The ${name} header does not contain a complete API key. A key is ${ApiKeySecret.MARK} or ${ApiKeySecret.TEST_MARK} and ${ApiKeySecret.BODY_CHARS + ApiKeySecret.CHECKSUM_CHARS} characters; copy it whole.`,
  mistyped: `The API key in the ${name} header is mistyped: its checksum does not match. Copy it again.`,
  unknown: "This API key does not exist.",
  expired: "This API key has expired.",
  revoked: "This API key has been revoked.",
  address_not_allowed: "This API key is not allowed from this address.",
})

export class Unauthorized extends Data.TaggedError("Unauthorized")<{
  readonly why: keyof ReturnType<typeof messagesFor>
}> {
  readonly status = 401
  get reason() {
    return this.why === "missing" || this.why === "elsewhere" ? "api_key_missing" : "api_key_invalid"
  }
  override get message() {
    return this.messageFor(BEARER)
  }
  /** Words the message for a header in which another service takes keys. */
  messageFor(header: KeyHeader): string {
    return messagesFor(header)[this.why]
  }
}

/** A key of another service was sent. */
export class ForeignKey extends Refusal.of("ForeignKey", 401, "api_key_invalid")<{ readonly service: string }> {
  override get message() {
    return this.messageFor(BEARER)
  }
  messageFor({ name, value }: KeyHeader): string {
    return `This is a key of ${this.service}. Waybill takes its own keys, which begin with ${ApiKeySecret.MARK}, in the header: ${name}: ${value}.`
  }
}

/** The cause of a 500 is logged under the request id and never shown. */
export class InternalError extends Refusal.of("InternalError", 500, "internal_error") {
  override readonly message = "Internal error. The cause is logged under this request's id."
}

/** Seconds that a client should wait after a refusal for lack of capacity. */
const OVERLOADED_RETRY_SECONDS = 5

/** A memory or connection budget is exhausted. Nothing was accepted, so the same request can be sent again. */
export class Overloaded extends Refusal.of("Overloaded", 503, "overloaded")<{
  readonly budget: "connections" | "request_bodies" | "answers" | "parsing"
}> {
  readonly retry_after_s = OVERLOADED_RETRY_SECONDS
  override readonly message = `${EXHAUSTED[this.budget]} Nothing was accepted; send the request again after ${this.retry_after_s} s.`
}

const EXHAUSTED = {
  connections: "Too many connections are open.",
  request_bodies: "Too many large requests are arriving at once.",
  answers: "Too many large answers are waiting to be read.",
  parsing: "Too many messages wait to be parsed, of this account or of the instance.",
} as const

/** The message exists, but parsing it exceeds the time or memory limit per message. */
export class MessageUnreadable extends Refusal.of("MessageUnreadable", 422, "message_unreadable") {
  override readonly message = "This message is too complex to display. Download it in the dashboard instead."
}

/** A different request body under an idempotency key that is in use. */
export class IdempotencyKeyReused extends Refusal.of("IdempotencyKeyReused", 422, "idempotency_key_reused") {
  override readonly message =
    "This Idempotency-Key was used for another request in the last 24 hours. A new request needs a new key."
  readonly details = [{ path: "Idempotency-Key", message: "was used for another request in the last 24 hours" }]
}
