import * as SearchText from "@waybill/domain/search/SearchText"
import { Effect } from "effect"
import { Argument, Prompt } from "effect/cli"
import { CommandRefused } from "../../../process/CommandRefused.ts"
import * as DataCommand from "../../DataCommand.ts"
import { IsInteractive } from "../../IsInteractive.ts"
import * as Options from "../../Options.ts"
import * as Output from "../../Output.ts"
import { call, firstOf } from "../ApiClient.ts"

/** Most emails of a search that one command cancels. */
const MAX_CANCELED = 1_000

/** Fields of a search that say which emails wait. */
const WAITING = ["is", "scheduled"] as const

/** Cancels an email. One of a search may have been sent meanwhile. */
const cancelOne = (id: string) =>
  Effect.map(
    call((client) => client.emails.cancel(id)),
    ({ status }) => ({ id, status: status as string }),
  )

const confirm = Effect.fnUntraced(function* (count: number) {
  const emails = count === 1 ? "1 email" : `${count} emails`
  if (!(yield* IsInteractive))
    return yield* new CommandRefused({ message: `${emails} would be canceled. Confirm with --yes.` })
  if (!(yield* Prompt.run(Prompt.Confirm({ message: `Cancel ${emails}?`, initial: false }))))
    return yield* new CommandRefused({ message: "Nothing was canceled." })
})

export const cancel = DataCommand.command(
  {
    search: Options.argument(
      "search",
      "Email id, msg_…; or a search for emails that wait, such as `to:ana` or `scheduled:tomorrow`",
    ).pipe(Argument.variadic({ min: 1 })),
    yes: Options.isSet("yes", "Cancel all that a search finds without asking"),
  },
  function* ({ json, search, yes }) {
    const text = search.join(" ")
    if (/^msg_[0-9a-z]{26}$/u.test(text)) return yield* Output.printOne(yield* cancelOne(text), { json })
    // An unset variable of a script must not cancel everything.
    if (SearchText.tokensOf(text).length === 0)
      return yield* new CommandRefused({
        message: "Say which emails: an id, or a search such as scheduled:tomorrow. All that wait are is:queued.",
      })
    const q = WAITING.some((field) => SearchText.valuesOf(text, field).length > 0) ? text : `${text} is:queued`
    const found = yield* firstOf((client) => client.logs.all({ q }), MAX_CANCELED)
    if (found.more !== undefined)
      yield* Output.complain(`Only the first ${MAX_CANCELED} are canceled; run it again for more.`)
    const waiting = found.rows.filter(({ status }) => status === "queued")
    if (waiting.length > 0 && !yes) yield* confirm(waiting.length)
    const rows = yield* Effect.forEach(waiting, ({ id }) =>
      Effect.catchIf(
        cancelOne(id),
        ({ error }) => error.status === 422,
        ({ error }) => Effect.succeed({ id: id as string, status: error.reason ?? error.code }),
      ),
    )
    yield* Output.print(rows, { json, columns: ["id", "status"] })
  },
)
