import { Option } from "effect"
import { Command } from "effect/cli"
import * as DataCommand from "../../DataCommand.ts"
import * as Options from "../../Options.ts"
import * as Output from "../../Output.ts"
import { ApiClient } from "../ApiClient.ts"
import * as WholeId from "../WholeId.ts"

export const receipt = DataCommand.plain(
  {
    id: Options.argument("id", "Id of an email, msg_…, or of a received mail, inb_…"),
    redact: Options.text("redact", "Fields whose values are hidden, such as recipient,subject"),
  },
  function* ({ id, redact }) {
    const query = Option.match(redact, { onNone: () => ({}), onSome: (fields) => ({ redact: fields }) })
    const receipt = yield* WholeId.call(id, ({ emails, inbound }, id) =>
      (id.startsWith("inb_") ? inbound : emails).receipt(id, query),
    )
    yield* Output.printJson(receipt, 2)
  },
).with(Command.provide(ApiClient.layer))
