import * as Id from "@waybill/domain/values/Id"
import * as Team from "@waybill/domain/account/Team"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Members from "@waybill/store/readmodels/Members"
import * as SecondFactors from "@waybill/store/users/SecondFactors"
import * as Users from "@waybill/store/users/Users"
import { Data, Effect, Option, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import { now } from "../../operate/fresh.ts"
import * as output from "../output.ts"
import { withStore } from "../CliStore.ts"

/** As long as the first owner's: beyond guessing, short enough to copy by hand. */
const PASSWORD_BYTES = 18

class NoSuchUser extends Data.TaggedError("NoSuchUser")<{ readonly message: string }> {}

const user = Argument.String("user").pipe(Argument.withDescription("The user's id, usr_…, or their email address"))

const find = Effect.fnUntraced(function* (named: string) {
  const found = yield* named.includes("@")
    ? Users.findByEmail(named)
    : Effect.map(Users.find(Id.UserId.make(named)), Option.toArray)
  const [one, ...others] = found
  if (one === undefined) return yield* new NoSuchUser({ message: `nobody signs in here as ${named}` })
  if (others.length > 0) {
    const ids = found.map(({ id }) => id).join(", ")
    return yield* new NoSuchUser({
      message: `${found.length} users have the address ${named}, each in an account of its own. Name one by its id: ${ids}`,
    })
  }
  return one
})

/** Written down before it is done; whoever belongs to no account has no log that it could stand in. */
const record = Effect.fnUntraced(function* (id: Id.UserId, decide: typeof Team.setPassword) {
  const member = yield* Members.find(id)
  if (Option.isNone(member)) return
  const { account_id } = member.value
  const store = yield* EventStore
  yield* store.commit(Team, { account_id, stream_id: Team.STREAM_ID }, decide(yield* now, id))
})

const list = Command.make(
  "list",
  { json: output.json },
  Effect.fn(function* ({ json }) {
    const columns = ["id", "email", "name", "operator", "account_id", "role", "status"]
    yield* output.print(
      (yield* Users.list()).map((each) => ({ ...each })),
      { json, columns },
    )
  }),
).pipe(Command.withDescription("List who signs in to the dashboard, and for which account"))

const operator = Command.make(
  "operator",
  {
    user,
    on: Flag.Boolean("on").pipe(Flag.withDescription("They run the instance from now on"), Flag.withDefault(false)),
    off: Flag.Boolean("off").pipe(Flag.withDescription("They no longer do"), Flag.withDefault(false)),
    json: output.json,
  },
  Effect.fn(function* ({ json, off, on, user }) {
    if (on === off) return yield* new NoSuchUser({ message: "say either --on or --off" })
    const { email, id } = yield* find(user)
    yield* Users.setOperator(id, on)
    yield* output.printOne({ id, email, operator: on }, { json })
  }),
).pipe(Command.withDescription("Let somebody run the instance in the dashboard, or no longer"))

const password = Command.make(
  "password",
  { user, json: output.json },
  Effect.fn(function* ({ json, user }) {
    const { email, id } = yield* find(user)
    yield* record(id, Team.setPassword)
    const made = Buffer.from(SecureRandom.randomBytesUnsafe(PASSWORD_BYTES)).toString("base64url")
    yield* Users.setPassword(id, Redacted.make(made))
    if (!json) yield* output.say("A new password, shown this once. Every session of theirs has ended.")
    yield* output.printOne({ id, email, password: made }, { json })
  }),
).pipe(Command.withDescription("Give somebody who lost their password a new one, and end their sessions"))

const resetFactors = Command.make(
  "reset-factors",
  { user, json: output.json },
  Effect.fn(function* ({ json, user }) {
    const { email, id } = yield* find(user)
    const had = yield* SecondFactors.of(id)
    const any = had.authenticator || had.passkeys > 0 || had.provider
    if (any) {
      yield* record(id, Team.removeFactors)
      yield* SecondFactors.remove(id)
    }
    if (!json)
      yield* output.say(
        any
          ? "Removed. They sign in with their password alone, and every session of theirs has ended."
          : "There is none: they sign in with their password alone already.",
      )
    yield* output.printOne({ id, email, ...had }, { json })
  }),
).pipe(
  Command.withDescription(
    "Remove somebody's authenticator, passkeys and binding to the identity provider, and end their sessions",
  ),
)

export const users = Command.make("users").pipe(
  Command.withDescription("Who signs in to the dashboard"),
  Command.withSubcommands([list, operator, password, resetFactors]),
  Command.provide(withStore),
)
