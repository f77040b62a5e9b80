import * as Email from "@waybill/domain/Email"
import type { AccountId, EmailId } from "@waybill/domain/Id"
import type { Unit } from "@waybill/store/Unit"
import { Data, Effect, Result } from "effect"
import { id, opened, queued } from "../support/history.ts"

export class Refused extends Data.TaggedError("Refused")<{ readonly why: string }> {}

/** A decision for `commit`: one more opening of a message. */
export const open = (): Result.Result<[Email.Event], never> => Result.succeed([opened()])

/** A unit for `transact`: a new message. */
export const send = (
  account_id: AccountId,
  over: Partial<Unit<EmailId, Refused>> = {},
  fields: Readonly<Record<string, unknown>> = {},
): Unit<EmailId, Refused> => {
  const email = id("EmailId")
  return {
    account_id,
    streams: [{ aggregate: Email, id: email, fresh: true }],
    decide: () =>
      Result.succeed({ append: [{ aggregate: Email, id: email, events: [queued(email, fields)] }], answer: email }),
    ...over,
  }
}

export const committed = <A, E, R>(
  effect: Effect.Effect<{ readonly _tag: "Committed"; readonly answer: A } | { readonly _tag: "Replayed" }, E, R>,
) =>
  Effect.flatMap(effect, (done) =>
    done._tag === "Committed" ? Effect.succeed(done) : Effect.die(new Error("replayed instead of committed")),
  )
