import * as Account from "@waybill/domain/account/Account"
import type * as Id from "@waybill/domain/values/Id"
import * as Plan from "@waybill/domain/account/Plan"
import * as SteeringHeader from "@waybill/domain/account/SteeringHeader"
import * as CellName from "@waybill/store/routing/CellName"
import * as Placement from "@waybill/store/cells/Placement"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { CommandRefused } from "../../process/CommandRefused.ts"
import * as NewIds from "../../process/NewIds.ts"
import * as AccountArgument from "../AccountArgument.ts"
import * as CellsLeftOut from "../CellsLeftOut.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import * as CliStore from "../CliStore.ts"

const COLUMNS = ["id", "name", "plan", "created_at"]

const plan = Flag.Literals("plan", Plan.ALL)

const account = AccountArgument.account

/** Changes an account. A command that changes nothing succeeds. */
const change = (account_id: Id.AccountId, decide: ReturnType<typeof Account.changePlan>) =>
  EventStore.use((store) => store.commit(Account, { account_id, stream_id: account_id }, decide))

const create = DataCommand.record(
  {
    name: Argument.String("name").pipe(Argument.withSchema(Account.Name)),
    plan: plan.pipe(Flag.withDefault("free" as const)),
  },
  function* ({ name, plan }) {
    const at = yield* NewIds.now
    const account_id = yield* NewIds.newId("AccountId")
    yield* Placement.place(account_id)
    yield* change(account_id, Account.create(at, account_id, name, plan))
    return yield* AccountArgument.find(account_id)
  },
).with(Command.provide(CliStore.layerOrNew))

const move = DataCommand.record(
  {
    account,
    to: Options.text("to", "Name of the cell that the account moves to"),
    giveUp: Options.isSet("give-up", "Give up a move that was interrupted: the account stays in its cell"),
  },
  function* ({ account, giveUp, json, to }) {
    if (Option.isSome(to) === giveUp) return yield* new CommandRefused({ message: "Set either --to or --give-up." })
    const id = yield* AccountArgument.idOf(account)
    if (Option.isNone(to)) {
      const given = yield* AccountMove.giveUp(id)
      return { account: id, cell: given.from, given_up: given.to }
    }
    const moved = yield* AccountMove.move(id, to.value, { report: (line) => (json ? Effect.void : Output.say(line)) })
    return { ...moved }
  },
).with(Command.provide(CliStore.layer))

const list = DataCommand.command({}, function* ({ json }) {
  const { missing, rows: accounts } = yield* Accounts.all()
  const columns = accounts.some(({ cell }) => cell !== CellName.FIRST) ? [...COLUMNS, "cell"] : COLUMNS
  yield* Output.print(accounts, { json, columns })
  yield* CellsLeftOut.refuse(missing)
}).with(Command.provide(CliStore.layer))

const setPlan = DataCommand.record(
  { account, plan: Argument.Literals("plan", Plan.ALL) },
  function* ({ account, plan }) {
    const id = yield* AccountArgument.idOf(account)
    yield* change(id, Account.changePlan(yield* NewIds.now, plan))
    return yield* AccountArgument.find(id)
  },
).with(Command.provide(CliStore.layer))

const limitFlag = (name: string, meaning: string) =>
  Flag.Int(name).pipe(Flag.withDescription(`${meaning}; the limit of the plan if left out`), Flag.optional)

const MIB = 1024 * 1024

const limits = DataCommand.record(
  {
    account,
    send: limitFlag("send", "Sends per minute"),
    logs: limitFlag("logs", "Log reads per minute"),
    other: limitFlag("other", "Other requests per minute"),
    monthly: limitFlag("monthly", "Recipients per month"),
    scheduled: limitFlag("scheduled-mib", "MiB of content of scheduled mail"),
  },
  function* ({ account, logs, monthly, other, scheduled, send }) {
    const id = yield* AccountArgument.idOf(account)
    const limits = yield* Schema.decodeUnknownEffect(Account.Limits)({
      send: Option.getOrNull(send),
      logs: Option.getOrNull(logs),
      other: Option.getOrNull(other),
      monthly_emails: Option.getOrNull(monthly),
      ...(Option.isSome(scheduled) ? { scheduled_bytes: scheduled.value * MIB } : {}),
    })
    yield* change(id, Account.changeLimits(yield* NewIds.now, limits))
    return yield* AccountArgument.find(id)
  },
).with(Command.provide(CliStore.layer))

const retention = DataCommand.record(
  {
    account,
    content: Flag.Int("content").pipe(
      Flag.withDescription("Days to keep bodies and attachments, 0 to 365"),
      Flag.withDefault(Account.DEFAULT_RETENTION_DAYS),
    ),
    log: Options.int("log", "Days to keep the history of a finished message, 7 to 3650; for ever if left out"),
    deliveries: Flag.Int("deliveries").pipe(
      Flag.withDescription("Days to keep webhook deliveries, 7 to 365"),
      Flag.withDefault(Account.DEFAULT_DELIVERY_DAYS),
    ),
  },
  function* ({ account, content, deliveries, log }) {
    const id = yield* AccountArgument.idOf(account)
    const content_days = yield* Schema.decodeUnknownEffect(Account.RetentionDays)(content)
    const keeping = yield* Schema.decodeUnknownEffect(Account.Keeping)({
      log_days: Option.getOrNull(log),
      delivery_days: deliveries,
    })
    yield* change(id, Account.changeRetention(yield* NewIds.now, content_days))
    yield* change(id, Account.changeKeeping(yield* NewIds.now, keeping))
    return yield* AccountArgument.find(id)
  },
).with(Command.provide(CliStore.layer))

const links = DataCommand.record(
  {
    account,
    on: Options.isSet("on", "Links redirect"),
    off: Options.isSet("off", "Links answer 410"),
  },
  function* ({ account, off, on }) {
    const id = yield* AccountArgument.idOf(account)
    if (on === off) return yield* new CommandRefused({ message: "Set either --on or --off." })
    yield* change(id, Account.changeLinks(yield* NewIds.now, on))
    return yield* AccountArgument.find(id)
  },
).with(Command.provide(CliStore.layer))

const headers = DataCommand.record(
  {
    account,
    allow: Options.several(
      "allow",
      "Header that the account may send, such as X-PM-Tag or X-Mailgun-*",
      SteeringHeader.MAX_ALLOWED,
    ),
    none: Options.isSet("none", "Allow none"),
  },
  function* ({ account, allow, none }) {
    const id = yield* AccountArgument.idOf(account)
    if (none === allow.length > 0) return yield* new CommandRefused({ message: "Set either --allow or --none." })
    const names = yield* Schema.decodeUnknownEffect(SteeringHeader.Allowed)(allow)
    yield* change(id, Account.changeAllowedHeaders(yield* NewIds.now, names))
    return yield* AccountArgument.find(id)
  },
).with(Command.provide(CliStore.layer))

export const accounts = DataCommand.group({
  create: ["Create an account", create],
  list: ["List accounts", list],
  plan: ["Change the plan of an account", setPlan],
  limits: ["Set all limits of an account", limits],
  retention: ["Set how long an account's content, history and webhook deliveries are kept", retention],
  links: ["Disable or enable the links of an account's tracked mail", links],
  headers: ["Set all headers that an account may send although mail providers obey them", headers],
  move: [
    "Move an account to another cell while it is in use. A move that was interrupted is continued by the same command",
    move,
  ],
})
