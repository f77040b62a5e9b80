import * as Forward from "@waybill/domain/inbound/Forward"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import { call } from "./ApiClient.ts"
import * as Flags from "./Flags.ts"
import * as ApiCommand from "./ApiCommand.ts"

const id = Options.argument("id", "Id of a route, rte_…")

const to = Options.text("to", "A recipient: an address, *@domain or name+*@domain")
const from = Options.text("from", "The sender: an address, *@domain or name+*@domain")
const subject = Options.text("subject", "Part of the subject")
const VERDICTS = ["pass", "fail", "none"] as const
const verdict = Options.oneOf("verdict", VERDICTS, "The finding of DMARC about the sender")

interface Listed {
  readonly id: string
  readonly position: number
  readonly match: Readonly<Record<string, string | null>>
  readonly action: { readonly type: string; readonly to: ReadonlyArray<string> | null }
  readonly enabled: boolean
  readonly stop: boolean
}

/** A row for people: conditions as words. */
const shown = ({ action, enabled, id, match, position, stop }: Listed) => ({
  position,
  id,
  match:
    Object.entries(match)
      .flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`]))
      .join(", ") || "every mail",
  action: action.to === null ? action.type : `${action.type} to ${action.to.join(", ")}`,
  enabled,
  stop,
})

const list = DataCommand.list(
  {},
  ["position", "id", "match", "action", "enabled", "stop"],
  function* () {
    return (yield* call((client) => client.inbound.routes.list())).data
  },
  shown,
)

const ACTIONS = ["webhook", "forward", "reject", "drop", "store"] as const

const add = DataCommand.record(
  {
    action: Options.word("action", ACTIONS, "What the route does with the mail"),
    to,
    from,
    subject,
    verdict,
    webhook: Options.text("webhook", "Id of the only webhook that is called"),
    forwardTo: Options.several("forward-to", "Address that the mail is sent on to", Forward.MAX_TARGETS),
    message: Options.text("message", "Text of the reply to a mail that is rejected"),
    position: Options.int("position", "Place among the routes"),
    stop: Options.isSet("stop", "Try no later route once this one applied"),
  },
  function* ({ action, forwardTo, from, message, position, stop, subject, to, verdict, webhook }) {
    const match = Flags.present({ to, from, subject, verdict })
    const given = Option.getOrUndefined
    const what =
      action === "webhook"
        ? { type: action, webhook_id: given(webhook) ?? null }
        : action === "reject"
          ? { type: action, message: given(message) ?? null }
          : action === "forward"
            ? { type: action, to: forwardTo }
            : { type: action }
    return yield* call((client) =>
      client.inbound.routes.create({ match, action: what, position: given(position) ?? null, stop }),
    )
  },
  shown,
).with(Command.withAlias("create"))

const remove = ApiCommand.record({ id }, ({ inbound }, { id }) => inbound.routes.remove(id))

const required = (name: string, description: string) => Flag.String(name).pipe(Flag.withDescription(description))

const test = DataCommand.told(
  {
    to: required("to", "Recipient of the mail"),
    from: required("from", "Sender of the mail"),
    subject: Options.text("subject", "Subject of the mail"),
    verdict,
  },
  function* ({ from, json: _, to, ...optional }) {
    return yield* call((client) => client.inbound.routes.test({ to, from, ...Flags.present(optional) }))
  },
  ({ routes, status }) =>
    Effect.andThen(
      Output.print(routes, { json: false, columns: ["id", "action", "applies", "reason"] }),
      Output.say(`The mail would be ${status}.`),
    ),
)

export const inboundRoutes = DataCommand.group({
  list: ["List routes in the order in which they are tried", list],
  add: ["Add a route", add],
  test: ["Say which routes would apply to a mail, and why", test],
  remove: ["Delete a route", remove],
})
