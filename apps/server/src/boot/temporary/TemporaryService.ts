import * as Accounts from "@waybill/store/readmodels/Accounts"
import { Effect, Layer, type Redacted } from "effect"
import * as Installation from "../service/Installation.ts"
import type { Postgres } from "../../installation/Postgres.ts"
import * as Serve from "../service/Serve.ts"
import * as Service from "../service/Service.ts"
import { type Settings, urlOf } from "../../settings/Settings.ts"
import * as Output from "../../cli/Output.ts"
import type { Controls } from "./Instructions.ts"
import * as TestAccess from "./TestAccess.ts"

/** Creates the first account in a template. Its secrets are given to nobody. */
export const install = (settings: Settings, url: Redacted.Redacted) =>
  Effect.andThen(Installation.ensure(), TestAccess.liftLimits).pipe(
    Effect.provide(Layer.merge(Service.store(settings, url), Service.instance(settings))),
  )

/** Runs the service, and prints one line of JSON when it is ready: its address, and new keys with a clock. */
export const run = (settings: Settings, postgres: Postgres["Service"], controls: Controls) =>
  Serve.serveWith(settings, postgres, {
    scripts: controls.scripts,
    meanwhile: Effect.gen(function* () {
      const [account] = yield* Accounts.list()
      if (account === undefined) return yield* Effect.die(new Error("the template has no account"))
      const access = yield* TestAccess.create(account.id)
      controls.resetClock = yield* TestAccess.clockReset(account.id, access.test_clock)
      return { account_id: account.id, ...access }
    }),
    ready: (access) =>
      Output.printJson({
        object: "temporary_instance",
        url: urlOf(settings),
        smtp: { host: settings.host, port: settings.smtpPort },
        ...access,
      }),
  })
