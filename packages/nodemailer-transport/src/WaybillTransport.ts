import { randomUUID } from "node:crypto"
import * as Api from "./Api.ts"
import * as Translation from "./Translation.ts"
import type { ComposedMail } from "./Translation.ts"
import { TransportError } from "./TransportError.ts"

export { TransportError, type Code, type FieldProblem } from "./TransportError.ts"
export type { ComposedMail } from "./Translation.ts"

export const VERSION = "1.0.0-rc.1"
export const DEFAULT_URL = "http://127.0.0.1:3025"
export const DEFAULT_TIMEOUT_MS = 30_000
export const DEFAULT_RETRIES = 2

export interface WaybillOptions {
  /** An API key with the scope `email:send`; that in `WAYBILL_KEY`, or else `WAYBILL_API_KEY`, by default. */
  readonly key?: string
  /** Address of the service, without `/v1`. */
  readonly url?: string
  /** Time for an answer. */
  readonly timeoutMs?: number
  /** How often a message is sent again after a lost answer or a 5xx. Nothing is sent twice. */
  readonly retries?: number
  readonly fetch?: typeof fetch
}

/** Fields of a message that Waybill has beside those of nodemailer. */
export interface WaybillFields {
  /** The message is accepted once in 24 hours under this key. */
  readonly idempotencyKey?: string
  readonly tags?: ReadonlyArray<string>
  /** Pairs for identifying the message, which recipients do not get. */
  readonly metadata?: Readonly<Record<string, string>>
  /** When to send, at most 30 days ahead. A text is ISO 8601 with an offset or `Z`. */
  readonly scheduledAt?: Date | string
  readonly tracking?: { readonly opens?: boolean; readonly clicks?: boolean }
  /** Adds headers for one-click unsubscribing. */
  readonly listUnsubscribe?: boolean
  /** Finds answers by the address that they go to, and sends them on to `replyTo` if asked. */
  readonly replyTracking?: boolean | { readonly forward?: boolean }
}

/** The result of `sendMail`: the fields of nodemailer's SMTP transport, and the id of the message. */
export interface WaybillInfo {
  readonly id: string
  /** The Message-ID that recipients see. */
  readonly messageId: string
  readonly envelope: { readonly from: string; readonly to: Array<string> }
  readonly accepted: Array<string>
  readonly rejected: Array<string>
  readonly pending: Array<string>
  readonly response: string
}

type Done<A> = (error: Error | null, value?: A) => void

export interface WaybillTransport {
  readonly name: string
  readonly version: string
  readonly supportsAbortSignal: true
  send(mail: ComposedMail, callback: Done<WaybillInfo>): void
  /** Checks the connection and that the key may send. */
  verify(): Promise<true>
  verify(callback: Done<true>): void
}

const environment = (name: string): string | undefined => process.env[name] || undefined

/** Returns a transport for `nodemailer.createTransport`. */
export const waybill = (options: WaybillOptions = {}): WaybillTransport => {
  const key = options.key ?? environment("WAYBILL_KEY") ?? environment("WAYBILL_API_KEY")
  if (typeof key !== "string" || key === "")
    throw new TransportError("`key` is missing: set WAYBILL_KEY, or pass an API key as waybill({ key }).", {
      code: "ENOAUTH",
    })
  const connection: Api.Connection = {
    key,
    url: (options.url ?? DEFAULT_URL).replace(/\/+$/, "").replace(/\/v1$/, ""),
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    retries: options.retries ?? DEFAULT_RETRIES,
    fetch: options.fetch ?? fetch,
  }
  function verify(): Promise<true>
  function verify(callback: Done<true>): void
  function verify(callback?: Done<true>): Promise<true> | void {
    const verified = Api.verify(connection).then((): true => true)
    return callback === undefined ? verified : settle(verified, callback)
  }
  return {
    name: "Waybill",
    version: VERSION,
    supportsAbortSignal: true,
    send: (mail, callback) => settle(sendMail(connection, mail), callback),
    verify,
  }
}

/** Calls back outside the promise, so that an error of the callback is not taken for one of the message. */
const settle = <A>(promise: Promise<A>, callback: Done<A>): void => {
  promise.then(
    (value) => setImmediate(callback, null, value),
    (error: Error) => setImmediate(callback, error),
  )
}

const sendMail = async (connection: Api.Connection, mail: ComposedMail): Promise<WaybillInfo> => {
  const message = await Translation.translate(mail)
  const idempotencyKey = message.idempotencyKey ?? randomUUID()
  const { id, isReplayed } = await Api.send(connection, { ...message, idempotencyKey })
  const domain = message.from.slice(message.from.lastIndexOf("@") + 1)
  return {
    id,
    messageId: `<${id}@${domain.toLowerCase()}>`,
    envelope: { from: message.from, to: [...message.recipients] },
    accepted: [...message.recipients],
    rejected: [],
    pending: [],
    response: `250 Queued as ${id}${isReplayed ? " (idempotent replay)" : ""}`,
  }
}
