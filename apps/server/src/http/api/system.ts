import { Api } from "@waybill/api/Api"
import * as Readiness from "@waybill/store/operations/Readiness"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { joined } from "../../operate/joined.ts"

export const SystemLive = HttpApiBuilder.group(Api, "system", (handlers) =>
  Effect.sync(() => {
    // Anybody may ask, as often as they like; together they take one connection of the database.
    const problems = joined(Readiness.problems)
    return handlers.handleAll({
      healthz: () => Effect.succeed({ status: "ok" as const }),
      readyz: () =>
        Effect.map(problems, (found) =>
          found.length === 0 ? { status: "ok" as const } : { status: "unavailable" as const, problems: found },
        ),
    })
  }),
)
