import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { PgClient } from "@effect/sql-pg"
import type { Refusal } from "@waybill/domain/values/Refusal"
import { EventStore } from "@waybill/store/commit/EventStore"
import { InstanceKey } from "@waybill/store/secrets/InstanceKey"
import { Effect, Layer, Option, Redacted, Result } from "effect"
import { randomBytes } from "node:crypto"
import { dnsZones } from "../../../support/mail/dnsZones.ts"
import { testInstance } from "../../../support/world/testInstance.ts"
import {
  type Answer,
  type Door,
  NativeApi,
  NativeError,
  type NativeRequest,
} from "../../../../apps/server/src/compat/Door.ts"
import * as AbsentFields from "../../../../apps/server/src/compat/lenient/AbsentFields.ts"
import * as Postmark from "../../../../apps/server/src/compat/doors/Postmark.ts"
import * as Resend from "../../../../apps/server/src/compat/doors/Resend.ts"
import * as SendGrid from "../../../../apps/server/src/compat/doors/SendGrid.ts"
import { Instance } from "../../../../apps/server/src/settings/Instance.ts"
import * as Programs from "../../../../apps/server/src/templates/Programs.ts"

const services = Layer.mergeAll(
  // The log and the database are read by the routes of batches and templates only, which are tested against a service.
  Layer.succeed(EventStore, {} as EventStore["Service"]),
  Layer.succeed(PgClient.PgClient, {} as PgClient.PgClient),
  Programs.layer,
  dnsZones({}),
  InstanceKey.layer({ file: "", text: Option.some(Redacted.make(randomBytes(32).toString("base64"))) }),
  Layer.succeed(Instance, testInstance()),
)

/** A send of one message by each door, with a message that it takes. */
export const SENDS = {
  resend: { door: Resend.door, path: "/emails", message: { from: "a@acme.test", to: "b@x.test", subject: "x" } },
  postmark: {
    door: Postmark.door,
    path: "/email",
    message: { From: "a@acme.test", To: "b@x.test", Subject: "x", TextBody: "x" },
  },
  sendgrid: {
    door: SendGrid.door,
    path: "/v3/mail/send",
    message: {
      from: { email: "a@acme.test" },
      personalizations: [{ to: [{ email: "b@x.test" }] }],
      subject: "x",
      content: [{ type: "text/plain", value: "x" }],
    },
  },
} as const
export type Service = keyof typeof SENDS

/** Details with which our own API refuses every call, if there are any. */
type Refusing = ReadonlyArray<{ readonly path: string; readonly message: string }>

/** Lets a door handle a request, and returns its calls of our own API and how it refuses. */
export const handled = Effect.fnUntraced(function* (
  door: Door,
  path: string,
  body: unknown,
  { headers = {}, method = "POST", refusing = [] as Refusing } = {},
) {
  const calls: Array<NativeRequest> = []
  const refusal = new RequestRefusal.InvalidRequest({ reason: "validation_failed", details: refusing })
  const call = (request: NativeRequest): Effect.Effect<Answer, NativeError> => {
    calls.push(request)
    return refusing.length > 0
      ? Effect.fail(new NativeError({ refusal, details: refusing }))
      : Effect.succeed({ status: 200, body: { id: "msg_1", created_at: "", data: [] } })
  }
  const [name = "", query = ""] = path.split("?", 2)
  const match = door.find(method, name)
  const result = yield* Effect.fromResult(match).pipe(
    Effect.flatMap((found) => door.handle({ query: new URLSearchParams(query), headers, body }, found)),
    Effect.provideService(NativeApi, { call }),
    Effect.provide(services),
    Effect.result,
  )
  if (Result.isSuccess(result)) return { calls, answer: result.success, details: [], failure: undefined }
  const failure = result.failure as Refusal
  return { calls, answer: undefined, details: failure.details ?? [], failure: door.errorOf(failure).body }
})

/** Sends a message of a service with a change, and returns the fields that are refused; undefined if it was sent. */
export const refusedFields = (service: Service, change: object, refusing: Refusing = []) => {
  const { door, message, path } = SENDS[service]
  return Effect.map(
    handled(door, path, AbsentFields.withoutAbsent({ ...message, ...change }), { refusing }),
    ({ answer, calls, details }) =>
      answer !== undefined && calls.length > 0 ? undefined : details.map((detail) => detail.path),
  )
}
