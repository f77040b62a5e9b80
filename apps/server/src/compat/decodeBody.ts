import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Violations from "@waybill/api/errors/Violations"
import { Effect, Schema } from "effect"

/** Decodes a body of another service's API; refuses unknown fields, and lists all violations. */
export const decodeBody = <A, I>(schema: Schema.Codec<A, I>, body: unknown) =>
  Schema.decodeUnknownEffect(schema)(body, { errors: "all", onExcessProperty: "error" }).pipe(
    Effect.mapError(
      ({ issue }) =>
        new RequestRefusal.InvalidRequest({
          reason: "validation_failed",
          details: Violations.fromIssue(issue, "Waybill has no meaning for it, so leave it out").details,
        }),
    ),
  )
