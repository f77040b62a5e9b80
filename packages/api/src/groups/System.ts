import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

const Ok = Schema.Struct({ status: Schema.Literal("ok") }).annotate({ identifier: "Ok" })

const Ready = Schema.Struct({
  status: Schema.Literal("ok"),
  cells_down: Schema.optionalKey(Schema.Array(Schema.String)).annotate({
    description: "Cells that do not answer, whose accounts get 503; left out if there are none",
  }),
}).annotate({ identifier: "Ready" })

const NotReady = Schema.Struct({
  status: Schema.Literal("unavailable"),
  problems: Schema.Array(Schema.String),
}).annotate({ identifier: "NotReady", description: "Why the service is not ready" })

/** Endpoints for load balancers and operators; outside /v1, without a key. */
export class System extends HttpApiGroup.make("system", { topLevel: true })
  .add(
    HttpApiEndpoint.get("healthz", "/healthz", { success: Ok }).annotateMerge(
      OpenApi.annotations({ summary: "Check liveness", description: "Answers without using the database." }),
    ),
    HttpApiEndpoint.get("readyz", "/readyz", {
      success: [Ready, NotReady.pipe(HttpApiSchema.status(503))],
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Check readiness",
        description: "200 once startup is complete and while the database answers; else 503.",
      }),
    ),
  )
  .annotateMerge(OpenApi.annotations({ title: "System", description: "For load balancers and operators." })) {}
