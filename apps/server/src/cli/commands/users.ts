import * as Id from "@waybill/domain/values/Id"
import * as Team from "@waybill/domain/account/Team"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Members from "@waybill/store/readmodels/Members"
import * as SecondFactors from "@waybill/store/users/SecondFactors"
import * as Users from "@waybill/store/users/Users"
import { Effect, Option, Redacted } from "effect"
import { Command } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import { CommandRefused } from "../../process/CommandRefused.ts"
import * as NewIds from "../../process/NewIds.ts"
import * as CellsLeftOut from "../CellsLeftOut.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import * as CliStore from "../CliStore.ts"

/** Random bytes of a password: impossible to guess, and short enough to copy by hand. */
const PASSWORD_BYTES = 18

const user = Options.argument("user", "User id, usr_…, or email address")

const find = Effect.fnUntraced(function* (named: string) {
  const matches = yield* named.includes("@")
    ? Users.findByEmail(named)
    : Effect.map(Users.find(Id.UserId.make(named)), Option.toArray)
  const [one, ...others] = matches
  if (one === undefined) return yield* new CommandRefused({ message: `There is no user ${named}.` })
  if (others.length > 0) {
    const ids = matches.map(({ id }) => id).join(", ")
    return yield* new CommandRefused({
      message: `${matches.length} users have the address ${named}, in different accounts. Choose one by id: ${ids}`,
    })
  }
  return one
})

/** Records a change before it is made. A user without an account has no log to record it in. */
const record = Effect.fnUntraced(function* (id: Id.UserId, decide: typeof Team.setPassword) {
  const member = yield* Members.find(id)
  if (Option.isNone(member)) return
  const { account_id } = member.value
  const store = yield* EventStore
  yield* store.commit(Team, { account_id, stream_id: Team.STREAM_ID }, decide(yield* NewIds.now, id))
})

const list = DataCommand.command({}, function* ({ json }) {
  const columns = ["email", "name", "role", "status", "operator", "id", "account_id"]
  const { missing, rows } = yield* Users.list()
  yield* Output.print(rows, { json, columns })
  yield* CellsLeftOut.refuse(missing)
})

const operator = DataCommand.record(
  {
    user,
    on: Options.isSet("on", "Make the user an operator"),
    off: Options.isSet("off", "Remove the operator role"),
  },
  function* ({ off, on, user }) {
    if (on === off) return yield* new CommandRefused({ message: "Set either --on or --off." })
    const { email, id } = yield* find(user)
    yield* Users.setOperator(id, on)
    return { id, email, operator: on }
  },
)

const password = DataCommand.record({ user }, function* ({ json, user }) {
  const { email, id } = yield* find(user)
  yield* record(id, Team.setPassword)
  const newPassword = Buffer.from(SecureRandom.randomBytesUnsafe(PASSWORD_BYTES)).toString("base64url")
  yield* Users.setPassword(id, Redacted.make(newPassword))
  if (!json)
    yield* Output.say("New password, shown once. Share it over a secure channel. All sessions of the user have ended.")
  return { id, email, password: newPassword }
})

const resetFactors = DataCommand.record({ user }, function* ({ json, user }) {
  const { email, id } = yield* find(user)
  const had = yield* SecondFactors.of(id)
  const hasAny = had.authenticator || had.passkeys > 0 || had.provider
  if (hasAny) {
    yield* record(id, Team.removeFactors)
    yield* SecondFactors.remove(id)
  }
  if (!json)
    yield* Output.say(
      hasAny
        ? "Removed. The user now signs in with the password only. All sessions of the user have ended."
        : "Nothing to remove: the user signs in with the password only.",
    )
  return { id, email, ...had }
})

export const users = DataCommand.group({
  list: ["List users of the dashboard and their accounts", list],
  operator: ["Give or remove the operator role, which manages the instance in the dashboard", operator],
  password: ["Set a new password for a user and end their sessions", password],
  "reset-factors": [
    "Remove a user's authenticator, passkeys and link to the identity provider, and end their sessions",
    resetFactors,
  ],
}).with(Command.provide(CliStore.layer))
