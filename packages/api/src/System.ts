import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

const Ok = Schema.Struct({ status: Schema.Literal("ok") }).annotate({ identifier: "Ok" })

const NotReady = Schema.Struct({
  status: Schema.Literal("unavailable"),
  problems: Schema.Array(Schema.String),
}).annotate({ identifier: "NotReady", description: "Not ready: what it waits for" })

/** For whoever runs the service; outside /v1, without a key. */
export class System extends HttpApiGroup.make("system", { topLevel: true })
  .add(
    HttpApiEndpoint.get("healthz", "/healthz", { success: Ok }).annotateMerge(
      OpenApi.annotations({ summary: "Is the process alive", description: "Answers without asking anything else." }),
    ),
    HttpApiEndpoint.get("readyz", "/readyz", { success: [Ok, NotReady.pipe(HttpApiSchema.status(503))] }).annotateMerge(
      OpenApi.annotations({
        summary: "Can it serve",
        description: "200 from the end of the start on, while the database answers; else 503.",
      }),
    ),
  )
  .annotateMerge(OpenApi.annotations({ title: "System", description: "For load balancers and operators." })) {}
