import * as Account from "@waybill/domain/account/Account"
import type * as Id from "@waybill/domain/values/Id"
import * as Plan from "@waybill/domain/account/Plan"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Data, Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { newId, now } from "../../operate/fresh.ts"
import { account as id, find } from "../AccountArgument.ts"
import * as output from "../output.ts"
import { withStore, withStoreOrNew } from "../CliStore.ts"

const COLUMNS = ["id", "name", "plan", "created_at"]

const plan = Flag.Literals("plan", Plan.ALL)

const show = (id: Id.AccountId, json: boolean) =>
  Effect.flatMap(find(id), (found) => output.printOne({ ...found }, { json }))

class NeitherOrBoth extends Data.TaggedError("NeitherOrBoth")<{ readonly message: string }> {}

/** A change that changes nothing is no failure at the command line. */
const change = (account_id: Id.AccountId, decide: ReturnType<typeof Account.changePlan>) =>
  EventStore.use((store) => store.commit(Account, { account_id, stream_id: account_id }, decide)).pipe(
    Effect.catchTag("NothingNew", () => Effect.void),
  )

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(Argument.withSchema(Account.Name)),
    plan: plan.pipe(Flag.withDefault("free" as const)),
    json: output.json,
  },
  Effect.fn(function* ({ json, name, plan }) {
    const at = yield* now
    const account_id = yield* newId("AccountId")
    yield* change(account_id, Account.create(at, account_id, name, plan))
    yield* show(account_id, json)
  }),
).pipe(Command.withDescription("Make an account"))

const list = Command.make(
  "list",
  { json: output.json },
  Effect.fn(function* ({ json }) {
    yield* output.print(
      (yield* Accounts.list()).map((account) => ({ ...account })),
      { json, columns: COLUMNS },
    )
  }),
).pipe(Command.withDescription("List the accounts"))

const setPlan = Command.make(
  "plan",
  { id, plan: Argument.Literals("plan", Plan.ALL), json: output.json },
  Effect.fn(function* ({ id, json, plan }) {
    yield* change(id, Account.changePlan(yield* now, plan))
    yield* show(id, json)
  }),
).pipe(Command.withDescription("Put an account on a plan"))

const granted = (name: string, meaning: string) =>
  Flag.Int(name).pipe(Flag.withDescription(`${meaning}; left out, the number of the plan`), Flag.optional)

const limits = Command.make(
  "limits",
  {
    id,
    send: granted("send", "Sends a minute"),
    logs: granted("logs", "Log reads a minute"),
    other: granted("other", "Other requests a minute"),
    monthly: granted("monthly", "Recipients a month"),
    json: output.json,
  },
  Effect.fn(function* ({ id, json, logs, monthly, other, send }) {
    const limits = yield* Schema.decodeUnknownEffect(Account.Limits)({
      send: Option.getOrNull(send),
      logs: Option.getOrNull(logs),
      other: Option.getOrNull(other),
      monthly_emails: Option.getOrNull(monthly),
    })
    yield* change(id, Account.changeLimits(yield* now, limits))
    yield* show(id, json)
  }),
).pipe(Command.withDescription("Grant an account higher numbers, all at once"))

const retention = Command.make(
  "retention",
  {
    id,
    content: Flag.Int("content").pipe(
      Flag.withDescription("Days that bodies and attachments are kept, 0 to 365"),
      Flag.withDefault(Account.DEFAULT_RETENTION_DAYS),
    ),
    log: Flag.Int("log").pipe(
      Flag.withDescription("Days that the history of a message is kept once it is over, 7 to 3650; left out, for ever"),
      Flag.optional,
    ),
    deliveries: Flag.Int("deliveries").pipe(
      Flag.withDescription("Days that webhook deliveries are kept, 7 to 365"),
      Flag.withDefault(Account.DEFAULT_DELIVERY_DAYS),
    ),
    json: output.json,
  },
  Effect.fn(function* ({ content, deliveries, id, json, log }) {
    const content_days = yield* Schema.decodeUnknownEffect(Account.RetentionDays)(content)
    const keeping = yield* Schema.decodeUnknownEffect(Account.Keeping)({
      log_days: Option.getOrNull(log),
      delivery_days: deliveries,
    })
    yield* change(id, Account.changeRetention(yield* now, content_days))
    yield* change(id, Account.changeKeeping(yield* now, keeping))
    yield* show(id, json)
  }),
).pipe(
  Command.withDescription("Say how long an account's content, history and webhook deliveries are kept, all at once"),
)

const links = Command.make(
  "links",
  {
    id,
    on: Flag.Boolean("on").pipe(Flag.withDescription("They lead on"), Flag.withDefault(false)),
    off: Flag.Boolean("off").pipe(Flag.withDescription("They answer 410"), Flag.withDefault(false)),
    json: output.json,
  },
  Effect.fn(function* ({ id, json, off, on }) {
    if (on === off) return yield* new NeitherOrBoth({ message: "say either --on or --off" })
    yield* change(id, Account.changeLinks(yield* now, on))
    yield* show(id, json)
  }),
).pipe(Command.withDescription("Stop the links of an account's tracked mail, or let them lead on"))

export const accounts = Command.make("accounts").pipe(
  Command.withDescription("Accounts, their plans and limits"),
  Command.withSubcommands([
    create.pipe(Command.provide(withStoreOrNew)),
    list.pipe(Command.provide(withStore)),
    setPlan.pipe(Command.provide(withStore)),
    limits.pipe(Command.provide(withStore)),
    retention.pipe(Command.provide(withStore)),
    links.pipe(Command.provide(withStore)),
  ]),
)
