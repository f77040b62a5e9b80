import { Api } from "@waybill/api/Api"
import * as Readiness from "@waybill/store/operations/Readiness"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { shareRunning } from "../../operate/shareRunning.ts"

export const SystemHandlers = HttpApiBuilder.group(Api, "system", (handlers) =>
  Effect.sync(() => {
    // Concurrent requests share one check, so that this public endpoint uses one database connection at most.
    const check = shareRunning(Readiness.check)
    return handlers.handleAll({
      healthz: () => Effect.succeed({ status: "ok" as const }),
      readyz: () =>
        Effect.map(check, ({ cells_down, problems }) =>
          problems.length === 0
            ? { status: "ok" as const, ...(cells_down.length === 0 ? {} : { cells_down }) }
            : { status: "unavailable" as const, problems },
        ),
    })
  }),
)
