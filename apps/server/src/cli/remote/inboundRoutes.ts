import * as Forward from "@waybill/domain/inbound/Forward"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import { call } from "./ApiClient.ts"
import * as Flags from "./Flags.ts"

const id = Argument.String("id").pipe(Argument.withDescription("Id of a route, rte_…"))

const to = Options.text("to", "A recipient: an address, *@domain or name+*@domain")
const from = Options.text("from", "The sender: an address, *@domain or name+*@domain")
const subject = Options.text("subject", "Part of the subject")
const VERDICTS = ["pass", "fail", "none"] as const
const verdict = Flag.Literals("verdict", VERDICTS).pipe(
  Flag.withDescription("The finding of DMARC about the sender"),
  Flag.optional,
)

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
  "list",
  "List routes in the order in which they are tried",
  {},
  ["position", "id", "match", "action", "enabled", "stop"],
  function* () {
    return (yield* call((client) => client.inbound.routes.list())).data
  },
  shown,
)

const ACTIONS = ["webhook", "forward", "reject", "drop", "store"] as const

const add = DataCommand.record(
  "add",
  "Add a route",
  {
    action: Argument.Literals("action", ACTIONS).pipe(Argument.withDescription("What the route does with the mail")),
    to,
    from,
    subject,
    verdict,
    webhook: Options.text("webhook", "Id of the only webhook that is called"),
    forwardTo: Flag.String("forward-to").pipe(
      Flag.withDescription("Address that the mail is sent on to; may be repeated"),
      Flag.between(0, Forward.MAX_TARGETS),
    ),
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
).pipe(Command.withAlias("create"))

const remove = DataCommand.record("remove", "Delete a route", { id }, function* ({ id }) {
  return yield* call((client) => client.inbound.routes.remove(id))
})

const required = (name: string, description: string) => Flag.String(name).pipe(Flag.withDescription(description))

const test = DataCommand.told(
  "test",
  "Say which routes would apply to a mail, and why",
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

export const inboundRoutes = Command.make("routes").pipe(
  Command.withDescription("Rules for what happens to received mail"),
  Command.withSubcommands([list, add, test, remove]),
)
