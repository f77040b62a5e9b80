import * as Backup from "@waybill/store/backup/Backup"
import * as Restore from "@waybill/store/backup/Restore"
import { Clock, Effect, Layer, Option } from "effect"
import { Command } from "effect/cli"
import { resolve } from "node:path"
import { Postgres } from "../../installation/Postgres.ts"
import * as BackupFolder from "../../operate/BackupFolder.ts"
import * as Version from "../../process/Version.ts"
import * as Settings from "../../settings/Settings.ts"
import * as CellsLeftOut from "../CellsLeftOut.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"

export const backup = DataCommand.command(
  { to: Options.text("to", "File to write; by default a new one in BACKUP_TO, or else in the current folder") },
  function* ({ json, to }) {
    const { backupTo } = yield* Settings.load
    const { url } = yield* Postgres
    const named = BackupFolder.nameAt(yield* Clock.currentTimeMillis)
    const file = Option.getOrElse(to, () =>
      resolve(
        Option.getOrElse(backupTo, () => "."),
        named,
      ),
    )
    const { bytes, elsewhere, row_bytes, tables } = yield* Backup.make(url, file, Version.VERSION)
    yield* Output.tell(
      json,
      { file, bytes, tables, row_bytes },
      `Wrote ${file}: ${tables} tables, ${row_bytes} bytes of rows in ${bytes}. The instance key is not in it: keep a copy elsewhere.`,
    )
    yield* CellsLeftOut.refuse(
      [],
      elsewhere.map((cell) => ({ cell, why: "it has a server of its own; run the command with its DATABASE_URL" })),
    )
  },
).with(Command.provide(Layer.unwrap(Effect.map(Settings.load, Postgres.layer))))

export const restore = DataCommand.command(
  {
    file: Options.argument("file", "A file of `waybill backup`"),
    check: Options.isSet("check", "Only read the whole file and check it; no database is needed"),
  },
  function* ({ check, file, json }) {
    // A file that cannot be used makes no database.
    const restored = yield* check
      ? Restore.check(file)
      : Effect.gen(function* () {
          yield* Restore.check(file)
          const settings = yield* Settings.load
          const { url } = yield* Postgres.reachOrMake(settings)
          return yield* Restore.restore(url, file)
        }).pipe(Effect.scoped)
    const { made_at, release, row_bytes, tables } = restored
    yield* Output.tell(
      json,
      { file, made_at, release, tables, row_bytes },
      `${check ? "Checked" : "Restored"} ${file}: ${tables} tables, ${row_bytes} bytes of rows, made at ${made_at} by ${release}.`,
    )
  },
)
