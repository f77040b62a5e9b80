import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import * as Options from "../../Options.ts"
import * as Output from "../../Output.ts"
import { ApiClient } from "../ApiClient.ts"
import * as WholeId from "../WholeId.ts"

export const receipt = Command.make(
  "receipt",
  {
    id: Argument.String("id").pipe(Argument.withDescription("Id of an email, msg_…, or of a received mail, inb_…")),
    redact: Options.text("redact", "Fields whose values are hidden, such as recipient,subject"),
  },
  Effect.fn(function* ({ id, redact }) {
    const query = Option.match(redact, { onNone: () => ({}), onSome: (fields) => ({ redact: fields }) })
    const receipt = yield* WholeId.call(id, ({ emails, inbound }, id) =>
      (id.startsWith("inb_") ? inbound : emails).receipt(id, query),
    )
    yield* Output.printJson(receipt, 2)
  }),
).pipe(
  Command.withDescription("Print what happened to an email with a proof that anybody can check"),
  Command.provide(ApiClient.layer),
)
