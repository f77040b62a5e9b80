import { Api } from "@waybill/api/Api"
import * as Readiness from "@waybill/store/Readiness"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

export const SystemLive = HttpApiBuilder.group(Api, "system", (handlers) =>
  handlers.handleAll({
    healthz: () => Effect.succeed({ status: "ok" as const }),
    readyz: () =>
      Effect.map(Readiness.problems, (problems) =>
        problems.length === 0 ? { status: "ok" as const } : { status: "unavailable" as const, problems },
      ),
  }),
)
