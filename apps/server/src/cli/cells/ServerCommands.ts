import * as ServerCell from "@waybill/store/cells/ServerCell"
import * as CellChecks from "@waybill/store/cells/CellChecks"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as Reachable from "@waybill/store/routing/Reachable"
import * as CellStates from "@waybill/store/operations/CellStates"
import * as DirectoryAudit from "@waybill/store/recovery/DirectoryAudit"
import * as DirectoryRepair from "@waybill/store/recovery/DirectoryRepair"
import { Effect, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { CheckDiffers } from "../../process/CommandRefused.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import { MARK, StandardInput } from "../StandardInput.ts"
import * as CellFlags from "./CellFlags.ts"

/** Most characters of standard input that are read as an address. */
const MAX_URL_CHARS = 10_000

export const url = Flag.Redacted("url").pipe(
  Flag.withDescription(
    "Database of the cell on a server of its own, as postgres://user:password@host:5432/database; - reads it from standard input, and a password stands only there",
  ),
)

const refused = (message: string) => Effect.fail(new CellSchema.CellRefused({ message }))

/** Reads the address from standard input, so that its password is in no list of processes and no history of a shell. */
export const readUrl = Effect.fnUntraced(function* (given: Redacted.Redacted) {
  const text = Redacted.value(given)
  if (text !== MARK) return hasPassword(text) ? yield* refused(SHOWN) : given
  const read = yield* StandardInput
  const written = (yield* Effect.promise(() => read(MAX_URL_CHARS))).trim()
  return written === "" ? yield* refused("standard input has no address of a database") : Redacted.make(written)
})

/** Whether the text of an argument has a password, in its place or among the parameters. */
const hasPassword = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && (url.password !== "" || [...url.searchParams.keys()].some((name) => /password/iu.test(name)))
}

const SHOWN =
  "every user of this machine can see the password of an argument: write the address to standard input and give --url -"

export const address = DataCommand.command(
  {
    name: CellFlags.name,
    url,
    leaveFormer: Options.isSet("leave-former", "Leave what the former database has and this one lacks"),
  },
  function* ({ json, leaveFormer, name, url }) {
    const cell = yield* CellStates.requireCell(name)
    yield* ServerCell.readdress(cell, yield* readUrl(url), { isLeft: leaveFormer })
    const said = `The cell ${name} has its new address. Processes follow within seconds.`
    yield* Output.tell(json, { name, changed: true }, said)
  },
).with(
  Command.withExamples([
    { command: "waybill cells address cell_b --url - < url.txt", description: "Reads the address from a file" },
  ]),
)

/** Places accounts where they live, and says what is left to do. */
const repair = Effect.fnUntraced(function* (json: boolean) {
  const { accounts, left, names } = yield* DirectoryRepair.repair()
  if (json) return
  yield* Output.say(`Home placed ${accounts} accounts in their cells, and has learned ${names} of their names.`)
  for (const { account_id, cell } of left)
    yield* Output.say(`\`waybill accounts move --account ${account_id} --to ${cell}\` deletes its older rows.`)
})

export const check = DataCommand.command(
  {
    repair: Options.isSet(
      "repair",
      "Let home place accounts in the only cell that they live in, after it was restored",
    ),
  },
  function* ({ json, ...flags }) {
    const checks = yield* CellChecks.check()
    if (flags.repair) yield* repair(json)
    const differences = yield* DirectoryAudit.audit()
    const rows = checks.map((one) => {
      const found = differences.find(({ cell }) => cell === one.name)
      return one.ok && found !== undefined ? { ...one, ok: false, problem: DirectoryAudit.describe(found) } : one
    })
    yield* Output.print(rows, { json, columns: ["name", "ok", "problem"] })
    const failed = checks.filter(({ ok }) => !ok).map(({ name }) => name)
    if (failed.length > 0)
      return yield* new CheckDiffers({
        message: `these cells cannot be used: ${failed.join(", ")}. ${Reachable.ifLost(failed)}`,
      })
    if (differences.length > 0) return yield* new CheckDiffers({ message: DIFFERING })
  },
)

const DIFFERING =
  "home and its cells do not say the same of accounts. If home was restored from a backup, stop all processes: " +
  "docs/operating/backup.md#restore-home-beside-its-cells says what to do"
