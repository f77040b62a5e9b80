import type { Suppression } from "@waybill/client/Waybill"
import * as DeliveryExplanation from "@waybill/domain/explanation/DeliveryExplanation"
import * as Id from "@waybill/domain/values/Id"
import { DateTime, Effect, Schema } from "effect"
import * as Diagnosis from "./Diagnosis.ts"
import { ask, askFor, tool, untrusted } from "./Tool.ts"

/** Maximum number of addresses whose suppression one diagnosis looks up: each is a request. */
const MAX_LOOKUPS = 10

export const explainDelivery = tool({
  name: "explain_delivery",
  title: "Explain why an email was not delivered",
  description:
    "Says in words what happened to an email, recipient by recipient, and what to do: from the servers' replies, the suppression list and the state of the sending domain. Use it to answer why somebody did not receive an email.",
  input: Schema.Struct({ id: Id.EmailId }),
  facts: {
    id: Schema.String,
    status: Schema.String,
    attempts: Schema.Natural,
    next_attempt_at: Schema.NullOr(Schema.String),
  },
  row: Schema.Struct({
    status: Schema.String,
    explanation: Schema.String,
    next_step: Schema.String,
    untrusted: untrusted({
      address: Schema.String,
      server: Schema.optional(Schema.String),
      response: Schema.optional(Schema.String),
    }),
  }),
  run: Effect.fnUntraced(function* (waybill, { id }) {
    const email = yield* ask(() => waybill.logs.get(id))
    const addresses = [
      ...new Set(
        email.recipients
          .filter(({ status }) => DeliveryExplanation.LOOKED_UP.has(status))
          .map(({ address }) => address),
      ),
    ]
    // Without the right to read them, the diagnosis says less and does not fail.
    const domain = yield* askFor(() => waybill.domains.get(email.domain)).pipe(
      Effect.catch(() => Effect.succeed(undefined)),
    )
    const found = yield* Effect.forEach(addresses.slice(0, MAX_LOOKUPS), (address) =>
      askFor(() => waybill.suppressions.get(address)).pipe(
        Effect.map((suppression): ReadonlyArray<readonly [string, Suppression | undefined]> => [
          [address, suppression],
        ]),
        Effect.catch(() => Effect.succeed([])),
      ),
    )
    const evidence = {
      email,
      domain,
      suppressions: new Map(found.flat()),
      now: DateTime.formatIso(yield* DateTime.now),
    }
    const recipients = Diagnosis.diagnose(evidence)
    return {
      summary: Diagnosis.summarize(evidence, recipients),
      facts: { id, status: email.status, attempts: email.attempts, next_attempt_at: email.next_attempt_at },
      rows: recipients,
    }
  }),
})
