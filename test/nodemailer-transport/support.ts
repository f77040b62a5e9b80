import * as SandboxTransport from "@waybill/mail/transport/SandboxTransport"
import * as Sandbox from "@waybill/store/content/Sandbox"
import { Effect, Layer } from "effect"
import nodemailer, { type SendMailOptions } from "nodemailer"
import {
  TransportError,
  waybill,
  type WaybillFields,
  type WaybillInfo,
  type WaybillOptions,
} from "../../packages/nodemailer-transport/src/WaybillTransport.ts"
import * as Database from "../support/postgres/Database.ts"
import { HttpWorld } from "../support/world/HttpWorld.ts"
import * as World from "../support/world/World.ts"

export type Mail = SendMailOptions & WaybillFields

export const MAIL = { from: "Acme <hi@acme.test>", to: "ana@example.org", subject: "Hello", text: "Hi" } as const

/** Sends a message by nodemailer through the transport. */
export const sendBy = async (options: WaybillOptions, mail: Mail, defaults: object = {}): Promise<WaybillInfo> =>
  (await nodemailer.createTransport(waybill(options), defaults).sendMail(mail)) as unknown as WaybillInfo

/** Returns the error with which nodemailer does not send a message. */
export const failureBy = async (options: WaybillOptions, mail: Mail): Promise<TransportError> => {
  const error: unknown = await sendBy(options, mail).then(
    () => new Error(`it was sent: ${JSON.stringify(mail)}`),
    (error: unknown) => error,
  )
  if (error instanceof TransportError) return error
  throw error
}

/** A captured message, as the API returns it. */
interface Captured {
  readonly recipients: ReadonlyArray<string>
  readonly subject: string
  readonly text: string
  readonly html: string | null
  readonly raw: string
  readonly attachments: ReadonlyArray<{
    readonly filename: string
    readonly content_type: string
    readonly content_id: string | null
    readonly content: string
  }>
}

/** An account with the domain acme.test, a key that only sends, and a worker that captures mail. */
export const setUp = Effect.gen(function* () {
  const world = yield* HttpWorld
  const account = yield* world.account()
  const { secret: admin } = yield* world.key(account)
  const { secret: key } = yield* world.key(account, { scopes: ["email:send"] })
  yield* world.request("POST", "/v1/domains", { key: admin, body: { name: "acme.test" } })
  const { url: database } = yield* Database.Fresh
  const capture = yield* Layer.build(Layer.unwrap(Effect.map(Sandbox.recorder, SandboxTransport.layer)))
  yield* Layer.build(World.worker(database, { capture: Layer.succeedContext(capture) }))
  const options = { key, url: world.url }
  const captured = (id: string): Effect.Effect<Captured> =>
    Effect.map(
      World.until(world.request("GET", `/v1/sandbox/messages/${id}`, { key: admin }), ({ status }) => status === 200),
      ({ json }): Captured => ({ ...json, raw: Buffer.from(json.raw, "base64").toString() }),
    )
  const send = (mail: Partial<Mail>, defaults?: object) =>
    Effect.promise(() => sendBy(options, { ...MAIL, ...mail }, defaults))
  return {
    account,
    admin,
    world,
    options,
    send,
    captured,
    /** Sends and returns the result with the captured message. */
    deliver: (mail: Partial<Mail>) =>
      Effect.flatMap(send(mail), (info) => Effect.map(captured(info.id), (message) => ({ info, message }))),
    fail: (mail: Partial<Mail>) => Effect.promise(() => failureBy(options, { ...MAIL, ...mail })),
  }
})

/** Headers of raw mail by their names in lower case, unfolded. */
export const headersOf = (raw: string): Readonly<Record<string, string>> => {
  const head = raw.slice(0, raw.indexOf("\r\n\r\n")).replaceAll(/\r\n(?=[ \t])/gu, "")
  return Object.fromEntries(
    head
      .split("\r\n")
      .map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 2)]),
  )
}
