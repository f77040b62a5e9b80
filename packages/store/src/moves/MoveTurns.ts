import { Duration, Effect, Schedule } from "effect"
import type { SqlConnection } from "effect/sql"
import * as CellSchema from "../cells/CellSchema.ts"
import * as SqlErrors from "../postgres/SqlErrors.ts"
import type { CellName } from "../routing/CellName.ts"
import * as DirectoryRows from "../routing/directory/DirectoryRows.ts"

const LOOK_AGAIN = Duration.millis(250)
/** How long a move waits for the last steps of others. Requests of its account go on meanwhile. */
export const LONGEST_TURN = Duration.minutes(5)

const FROM = "($1::int, hashtext($2::text))"
const TO = "($1::int, hashtext($3::text))"
/** Takes both locks or none, so that moves in opposite directions do not wait for each other. */
const TAKE = `CASE WHEN NOT pg_try_advisory_lock_shared${FROM} THEN false
  WHEN pg_try_advisory_lock${TO} THEN true ELSE NOT pg_advisory_unlock_shared${FROM} END`
const END = `pg_advisory_unlock_shared${FROM} AND pg_advisory_unlock${TO}`

/**
 * Takes the turn of a move's last step, until the scope closes. The followers of a cell stand still while an account comes to it, and must
 * count the events of one that leaves it. So no other account comes to either cell meanwhile, or leaves the new one; several may
 * leave the old one. Returns whether the move had to wait.
 */
export const take = Effect.fnUntraced(function* (
  connection: SqlConnection.Connection,
  from: CellName,
  to: CellName,
  report: (line: string) => Effect.Effect<void> = () => Effect.void,
) {
  const run = (locks: string) =>
    SqlErrors.orUnavailable(
      connection.execute(`SELECT ${locks} AS is_done`, [DirectoryRows.TURNS, from, to], undefined),
    )
  let failed = 0
  const tried = Effect.gen(function* () {
    const [row] = (yield* run(TAKE)) as ReadonlyArray<{ readonly is_done: boolean }>
    if (row?.is_done === true) return true
    if (++failed === 1) yield* report(`waiting for the last step of another move from or to ${from} or ${to}`)
    return false
  })
  const taken = Effect.timeoutOrElse(
    Effect.repeat(tried, { until: (isTaken) => isTaken, schedule: Schedule.spaced(LOOK_AGAIN) }),
    { duration: LONGEST_TURN, orElse: () => Effect.fail(new CellSchema.CellRefused({ message: tooLong(from, to) })) },
  )
  yield* Effect.acquireRelease(taken, () => Effect.ignoreCause(run(END)), { interruptible: true })
  return failed > 0
})

const tooLong = (from: CellName, to: CellName): string =>
  `other moves from or to ${from} or ${to} were in their last step for ${Duration.toMinutes(LONGEST_TURN)} minutes: run the command ` +
  "again when they have ended"
