import type { Acknowledgement } from "@waybill/api/groups/Emails"
import type { HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import type { Origin } from "../accept/Origin.ts"
import type { Door, PlainSend } from "../compat/Door.ts"
import * as DoorRequests from "../compat/DoorRequests.ts"
import * as Doors from "../compat/Doors.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Headers as Node gives them; it joins the values of a repeated one, except of `Set-Cookie`, which no client sends. */
export type TextHeaders = Readonly<Record<string, string | undefined>>

/** A path that takes one message: our own, or a door's. */
export interface Send {
  readonly authorization: Door["authorization"]
  /** Returns the body of our own send and how it is answered; `undefined` if only the normal path can tell. */
  readonly translate: (body: unknown) => Translated | undefined
  readonly originOf: (bytes: Buffer) => Origin | undefined
}

/** An answer as Node writes it. A text goes out together with the headers, bytes do not. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
}

export const toAnswer = ({ body, headers, status }: Response): Answer => ({
  status,
  headers,
  body: body._tag === "Uint8Array" ? body.body : undefined,
})

export interface Translated {
  readonly body: unknown
  readonly accepted: (acknowledgement: Acknowledgement, headers: object) => Answer
  readonly refused: (response: Response) => Response
}

export const ENDPOINT = { method: "POST", path: "/v1/email/send" } as const

const OWN_ANSWERS: Omit<Translated, "body"> = {
  accepted: (acknowledgement, headers) => {
    const body = JSON.stringify(acknowledgement)
    const length = String(Buffer.byteLength(body))
    return { status: 200, headers: { ...headers, "content-type": "application/json", "content-length": length }, body }
  },
  refused: (response) => response,
}

const OWN: Send = {
  authorization: ({ authorization }) => authorization,
  translate: (body) => ({ body, ...OWN_ANSWERS }),
  originOf: () => undefined,
}

const sendOf = (door: Door, { path, translate }: PlainSend): Send => ({
  authorization: door.authorization,
  translate: (sent) => {
    const translation = translate(sent)
    if (translation === undefined) return undefined
    const { answerOf, body, spelling } = translation
    return {
      body,
      accepted: (acknowledgement, replayed) => toAnswer(DoorRequests.responseOf(answerOf(acknowledgement), replayed)),
      refused: (response) => DoorRequests.inShapeOf(door, response, spelling),
    }
  },
  originOf: (bytes) => ({
    route: `${ENDPOINT.method} ${path}`,
    body: createHash("sha256").update(bytes).digest("hex"),
  }),
})

const SENDS: ReadonlyMap<string | undefined, Send> = new Map([
  [ENDPOINT.path, OWN],
  ...Doors.DOORS.flatMap((door): ReadonlyArray<[string, Send]> =>
    door.plainSend === undefined ? [] : [[door.plainSend.path, sendOf(door, door.plainSend)]],
  ),
])

const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/iu

/** Returns how to send what a request holds, if it is a plain one of at most `maxBytes`. */
export const find = ({ method, url }: IncomingMessage, headers: TextHeaders, maxBytes: number): Send | undefined => {
  const send = SENDS.get(url)
  if (send === undefined || method !== ENDPOINT.method || send.authorization(headers) === undefined) return undefined
  if (!JSON_TYPE.test(headers["content-type"] ?? "") || headers["content-encoding"] !== undefined) return undefined
  const bytes = Number(headers["content-length"] ?? 0)
  return bytes > 0 && bytes <= maxBytes ? send : undefined
}
