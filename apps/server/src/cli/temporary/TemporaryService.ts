import type { AccountId } from "@waybill/domain/values/Id"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import { Effect, Layer, type Redacted } from "effect"
import * as Installation from "../../boot/Installation.ts"
import type { Postgres } from "../../boot/Postgres.ts"
import { serve } from "../../boot/serve.ts"
import * as Service from "../../boot/Service.ts"
import { type Settings, urlOf } from "../../boot/Settings.ts"
import * as NewApiKeys from "../../operate/NewApiKeys.ts"
import * as Output from "../Output.ts"

/** Creates the first account in a template. Its secrets are given to nobody. */
export const install = (settings: Settings, url: Redacted.Redacted) =>
  Installation.ensure().pipe(Effect.provide(Layer.merge(Service.store(settings, url), Service.instance(settings))))

/** Runs the service, and prints one line of JSON when it is ready: its address and a new administrative key. */
export const run = (settings: Settings, postgres: Postgres["Service"]) =>
  serve(settings, postgres, () =>
    Effect.gen(function* () {
      const [account] = yield* Accounts.list()
      if (account === undefined) return yield* Effect.die(new Error("the template has no account"))
      const { secret } = yield* Effect.orDie(
        NewApiKeys.createApiKey(account.id as AccountId, "temporary", {
          name: "Temporary",
          scopes: ["admin"],
          domain: null,
          allowed_ips: [],
          expires_at: null,
        }),
      )
      yield* Output.printJson({
        object: "temporary_instance",
        url: urlOf(settings),
        smtp: { host: settings.host, port: settings.smtpPort },
        account_id: account.id,
        key: secret,
      })
    }),
  )
