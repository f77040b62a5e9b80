import { Effect, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import * as CellDatabase from "../database/CellDatabase.ts"
import * as DatabaseUrl from "../postgres/DatabaseUrl.ts"
import { Sql } from "../postgres/Sql.ts"
import * as CellName from "../routing/CellName.ts"
import { Cells } from "../routing/Cells.ts"
import { CellKeys, type CellKeysShape, type SealedUrl } from "../routing/CellKeys.ts"
import { inCell } from "../routing/CurrentCell.ts"
import * as CellSchema from "./CellSchema.ts"
import * as PositionNumbers from "./PositionNumbers.ts"

const ENCODING = "UTF8"

const refused = (message: string) => new CellSchema.CellRefused({ message })

const unlessUnfit = <A, R>(name: string, work: Effect.Effect<A, CellDatabase.CellDatabaseUnfit, R>) =>
  Effect.mapError(work, ({ message }) => refused(`the cell ${name} cannot be there: ${message}`))

/** Name of the cell of this installation that a database belongs to. */
const ownerOf = (sql: Sql, identity: string) =>
  Effect.map(
    sql<{ readonly name: string }>`SELECT name FROM cells WHERE identity::text = ${identity}`,
    ([row]) => row?.name,
  )

const requireUrl = (url: Redacted.Redacted) => {
  const problem = DatabaseUrl.cellProblemOf(Redacted.value(url))
  return problem === undefined ? Effect.void : Effect.fail(refused(`the address of the cell is wrong: ${problem}`))
}

/** Nothing can be sealed without the key. */
const requireKey = (keys: CellKeysShape) =>
  Effect.mapError(Effect.try({ try: () => keys.seal("", Redacted.make("")), catch: (cause) => cause }), () =>
    refused("the address of a cell is sealed with the instance key, which this machine does not have"),
  )

/** Makes a cell of an empty database on a server of its own. All that can be refused is refused before anything is changed. */
export const make = Effect.fn("ServerCell.make")(
  function* (name: string, url: Redacted.Redacted) {
    const sql = yield* Sql
    const { refresh } = yield* Cells
    const keys = yield* CellKeys
    const cell = yield* CellSchema.parseName(name)
    yield* requireUrl(url)
    yield* CellSchema.refusePending(sql)
    yield* CellSchema.refuseUnnumbered(sql)
    yield* requireKey(keys)
    if ((yield* sql`SELECT FROM cells WHERE name = ${cell}`).length > 0)
      return yield* refused(`there is a cell ${cell} already`)
    const { encoding } = yield* unlessUnfit(cell, CellDatabase.look(url))
    if (encoding !== ENCODING)
      return yield* refused(
        `the database at this address has the encoding ${encoding}, which cannot hold all mail; make one with ${ENCODING}`,
      )
    const identity = randomUUID()
    const found = yield* CellDatabase.mark(url, identity).pipe(Effect.mapError(({ message }) => refused(message)))
    if (found.identity !== null) {
      const owner = yield* ownerOf(sql, found.identity)
      return yield* refused(
        owner === undefined
          ? `the database at this address belongs to a cell of another installation, or to one that was not made to the end; give an empty database`
          : `the database at this address is the cell ${owner} already`,
      )
    }
    if (found.tables > 0)
      return yield* refused(
        "the database at this address is not empty, such as that of another installation; give an empty one",
      )
    const making = Effect.gen(function* () {
      yield* unlessUnfit(cell, CellDatabase.requireFit({ identity, url, schema: CellName.FIRST, isNode: false }))
      yield* unlessUnfit(cell, CellDatabase.migrate(url))
      const numbers = yield* PositionNumbers.take(sql)
      yield* unlessUnfit(cell, PositionNumbers.begin(url, numbers))
      yield* sql.withTransaction(
        Effect.gen(function* () {
          // No migration meanwhile, which would not know of the cell.
          yield* sql`LOCK TABLE cells, schema_migrations IN SHARE ROW EXCLUSIVE MODE`
          yield* CellSchema.refusePending(sql)
          if ((yield* sql`SELECT FROM cells WHERE name = ${cell}`).length > 0)
            return yield* refused(`there is a cell ${cell} already`)
          yield* sql`
            INSERT INTO cells (name, state, identity, address)
            VALUES (${cell}, 'open', ${identity}::uuid, ${JSON.stringify(keys.seal(identity, url))}::jsonb)`
          yield* CellSchema.noteChange(sql)
        }),
      )
    })
    // The commit may have happened although it was not confirmed.
    const unmark = Effect.flatMap(ownerOf(sql, identity), (owner) =>
      owner === undefined ? Effect.asVoid(CellDatabase.unmark(url, identity)) : Effect.void,
    )
    yield* Effect.onError(making, () => Effect.ignoreCause(unmark))
    yield* refresh
    return cell
  },
  (work) => inCell(CellName.FIRST, CellSchema.inTurn(work)),
)

interface Addressed {
  readonly identity: string
  readonly address: SealedUrl
  /** Last position that the cell was seen to have given (`PositionNumbers.note`). */
  readonly noted: bigint | null
}

/** Whether the former database of a cell still takes writes at an address that leads to another one than the new address. */
const isStillServed = (former: Redacted.Redacted, identity: string, url: Redacted.Redacted) =>
  Effect.gen(function* () {
    const found = yield* CellDatabase.look(former)
    return found.identity === identity && !(yield* CellDatabase.isSame(former, url))
  }).pipe(
    // A standby, or one that does not answer. One that is full serves those who are there.
    Effect.catch(({ isFull = false }) => Effect.succeed(isFull)),
  )

/**
 * Gives a cell another address, at which its database is now, such as a promoted standby. Processes follow within seconds. Refuses
 * to leave a database that still takes writes, and an older copy: what is not in the other one would be lost.
 */
export const readdress = Effect.fn("ServerCell.readdress")(
  function* (cell: CellName.CellName, url: Redacted.Redacted, { isLeft = false } = {}) {
    const sql = yield* Sql
    const { refresh } = yield* Cells
    const keys = yield* CellKeys
    yield* requireUrl(url)
    const [row] = yield* sql<Addressed>`
      SELECT identity::text AS identity, address, noted_position AS noted FROM cells WHERE name = ${cell} AND address IS NOT NULL`
    if (row === undefined)
      return yield* refused(`the cell ${cell} is a schema of the first cell's server and has no address`)
    const { address, identity, noted } = row
    yield* requireKey(keys)
    yield* unlessUnfit(cell, CellDatabase.requireFit({ identity, url, schema: CellName.FIRST, isNode: false }))
    if (!isLeft && (yield* isStillServed(keys.open(identity, address), identity, url)))
      return yield* refused(
        `the former database of ${cell} still answers and takes writes: stop its server and run this again, or leave what was written there with --leave-former`,
      )
    const last = yield* unlessUnfit(cell, CellDatabase.lastPosition(url))
    if (!isLeft && noted !== null && last < noted)
      return yield* refused(
        `the database at this address is an older copy of ${cell}: it has given no position after ${last}, and ${cell} had given ${noted}. Give the address of a database that has them, or leave what was acknowledged since with --leave-former`,
      )
    yield* sql.withTransaction(
      Effect.andThen(
        sql`
          UPDATE cells SET address = ${JSON.stringify(keys.seal(identity, url))}::jsonb, noted_position = ${last}
          WHERE name = ${cell}`,
        CellSchema.noteChange(sql),
      ),
    )
    yield* refresh
  },
  (work) => inCell(CellName.FIRST, work),
)
