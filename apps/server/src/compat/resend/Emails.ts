import { Effect, Schema } from "effect"
import { NativeApi } from "../Door.ts"
import { decodeBody } from "../decodeBody.ts"
import type { Route } from "../Routes.ts"

const Addresses = Schema.Union([Schema.String, Schema.Array(Schema.String)])

const Email = Schema.Struct({
  from: Schema.String,
  to: Addresses,
  subject: Schema.String,
  html: Schema.optional(Schema.String),
  text: Schema.optional(Schema.String),
})

const send: Route = {
  method: "POST",
  path: "/emails",
  bucket: "send",
  scope: "email:send",
  handle: Effect.fnUntraced(function* ({ body, headers }) {
    const email = yield* decodeBody(Email, body)
    const { call } = yield* NativeApi
    const key = headers["idempotency-key"]
    const sent = yield* call({
      method: "POST",
      path: "/v1/email/send",
      body: email,
      headers: key === undefined ? {} : { "idempotency-key": key },
    })
    return { status: 200, body: { id: (sent.body as { readonly id: string }).id } }
  }),
}

export const emails: ReadonlyArray<Route> = [send]
