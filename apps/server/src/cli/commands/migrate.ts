import * as Migrations from "@waybill/store/database/Migrations"
import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { CheckDiffers } from "../../process/CommandRefused.ts"
import { Postgres } from "../../installation/Postgres.ts"
import * as Settings from "../../settings/Settings.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Options from "../Options.ts"
import * as Output from "../Output.ts"

export const migrate = DataCommand.command(
  { check: Options.isSet("check", "Only check; fail if migrations are pending") },
  function* ({ check, json }) {
    const { url } = yield* Postgres
    const { applied, pending } = yield* check ? Migrations.check(url) : Migrations.migrate(url)
    yield* Output.printOne({ applied, pending }, { json })
    if (pending.length > 0) {
      return yield* new CheckDiffers({ message: `${pending.length} pending: ${pending.join(", ")}` })
    }
  },
)
  // A check does not create an embedded Postgres.
  .with(
    Command.provide(({ check }) =>
      Layer.unwrap(Effect.map(Settings.load, check ? Postgres.layer : Postgres.layerOrMake)),
    ),
  )
