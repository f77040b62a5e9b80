import * as Forward from "@waybill/domain/inbound/Forward"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Output from "../Output.ts"
import { call } from "./ApiClient.ts"
import * as Flags from "./Flags.ts"

const id = Argument.String("id").pipe(Argument.withDescription("Id of a route, rte_…"))

const optional = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

const to = optional("to", "A recipient: an address, *@domain or name+*@domain")
const from = optional("from", "The sender: an address, *@domain or name+*@domain")
const subject = optional("subject", "Part of the subject")
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

const list = Command.make(
  "list",
  { json: Output.json },
  Effect.fn(function* ({ json }) {
    const { data } = yield* call((client) => client.inbound.routes.list())
    yield* Output.print(json ? data.map((route) => ({ ...route })) : data.map(shown), {
      json,
      columns: ["position", "id", "match", "action", "enabled", "stop"],
    })
  }),
).pipe(Command.withDescription("List routes in the order in which they are tried"))

const ACTIONS = ["webhook", "forward", "reject", "drop", "store"] as const

const add = Command.make(
  "add",
  {
    action: Argument.Literals("action", ACTIONS).pipe(Argument.withDescription("What the route does with the mail")),
    to,
    from,
    subject,
    verdict,
    webhook: optional("webhook", "Id of the only webhook that is called"),
    forwardTo: Flag.String("forward-to").pipe(
      Flag.withDescription("Address that the mail is sent on to; may be repeated"),
      Flag.between(0, Forward.MAX_TARGETS),
    ),
    message: optional("message", "Text of the reply to a mail that is rejected"),
    position: Flag.Int("position").pipe(Flag.withDescription("Place among the routes"), Flag.optional),
    stop: Flag.Boolean("stop").pipe(
      Flag.withDescription("Try no later route once this one applied"),
      Flag.withDefault(false),
    ),
    json: Output.json,
  },
  Effect.fn(function* ({ action, forwardTo, from, json, message, position, stop, subject, to, verdict, webhook }) {
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
    const route = yield* call((client) =>
      client.inbound.routes.create({ match, action: what, position: given(position) ?? null, stop }),
    )
    yield* Output.printOne(json ? { ...route } : shown(route), { json })
  }),
).pipe(Command.withDescription("Add a route"), Command.withAlias("create"))

const remove = Command.make(
  "remove",
  { id, json: Output.json },
  Effect.fn(function* ({ id, json }) {
    yield* Output.printOne({ ...(yield* call((client) => client.inbound.routes.remove(id))) }, { json })
  }),
).pipe(Command.withDescription("Delete a route"))

const required = (name: string, description: string) => Flag.String(name).pipe(Flag.withDescription(description))

const test = Command.make(
  "test",
  {
    to: required("to", "Recipient of the mail"),
    from: required("from", "Sender of the mail"),
    subject: optional("subject", "Subject of the mail"),
    verdict,
    json: Output.json,
  },
  Effect.fn(function* ({ from, json, to, ...optional }) {
    const tried = yield* call((client) => client.inbound.routes.test({ to, from, ...Flags.present(optional) }))
    if (json) return yield* Output.printJson(tried, 2)
    yield* Output.print(
      tried.routes.map((route) => ({ ...route })),
      { json, columns: ["id", "action", "applies", "reason"] },
    )
    yield* Output.say(`The mail would be ${tried.status}.`)
  }),
).pipe(Command.withDescription("Say which routes would apply to a mail, and why"))

export const inboundRoutes = Command.make("routes").pipe(
  Command.withDescription("Rules for what happens to received mail"),
  Command.withSubcommands([list, add, test, remove]),
)
