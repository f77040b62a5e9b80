import * as Conservation from "@waybill/store/operations/Conservation"
import { Data, Effect, Runtime } from "effect"
import { Command } from "effect/cli"
import { EXIT_DIFFERENCE } from "../exitCodes.ts"
import * as output from "../output.ts"
import { withStore } from "../CliStore.ts"

class OutOfBalance extends Data.TaggedError("OutOfBalance")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = EXIT_DIFFERENCE
}

const webhooks = Command.make(
  "webhooks",
  { json: output.json },
  Effect.fn(function* ({ json }) {
    const balances = yield* Conservation.webhooks()
    yield* output.print(
      balances.map((each) => ({ ...each })),
      { json, columns: ["account_id", "webhook_id", "events", "deliveries", "missing", "stray"] },
    )
    const wrong = balances.filter(({ deliveries, events, stray }) => deliveries !== events || stray.length > 0)
    if (wrong.length > 0)
      return yield* new OutOfBalance({ message: `the deliveries of ${count(wrong, "webhook")} do not add up` })
  }),
).pipe(Command.withDescription("Prove that every matching event has its webhook delivery"))

const emails = Command.make(
  "emails",
  { json: output.json },
  Effect.fn(function* ({ json }) {
    const balances = yield* Conservation.emails()
    yield* output.print(
      balances.map((each) => ({ ...each })),
      { json, columns: ["account_id", "day", "accepted", "final", "in_flight", "astray"] },
    )
    const wrong = balances.filter((each) => each.accepted !== each.final + each.in_flight || each.astray > 0)
    if (wrong.length > 0)
      return yield* new OutOfBalance({ message: `the recipients of ${count(wrong, "day")} do not add up` })
  }),
).pipe(Command.withDescription("Prove that every accepted recipient is final or in flight"))

const work = Command.make(
  "work",
  { json: output.json },
  Effect.fn(function* ({ json }) {
    const balances = yield* Conservation.work()
    yield* output.print(
      balances.map((each) => ({ ...each })),
      { json, columns: ["kind", "waiting", "missing", "stray"] },
    )
    const wrong = balances.filter(({ missing, stray }) => missing.length > 0 || stray.length > 0)
    if (wrong.length > 0)
      return yield* new OutOfBalance({ message: `the outbox is not what waits, in ${count(wrong, "kind")} of work` })
  }),
).pipe(Command.withDescription("Prove that whatever waits has its row in the outbox, and nothing else"))

const count = (wrong: ReadonlyArray<unknown>, what: string): string =>
  `${wrong.length} ${what}${wrong.length === 1 ? "" : "s"}`

export const audit = Command.make("audit").pipe(
  Command.withDescription("Count the log against what follows from it"),
  Command.withSubcommands([webhooks, emails, work]),
  Command.provide(withStore),
)
