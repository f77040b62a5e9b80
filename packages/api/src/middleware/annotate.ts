import type * as Scope from "@waybill/domain/account/Scope"
import { Context } from "effect"
import { OpenApi } from "effect/http-api"
import { FurtherScope, RequiredScope } from "./Authorization.ts"

/** OpenAPI annotations of an endpoint: summary, description, and the required scope, or two of which one suffices. */
export const annotate = (
  summary: string,
  scope: Scope.Scope | "any key" | readonly [Scope.Scope, Scope.Scope],
  description: string,
): Context.Context<RequiredScope> => {
  const [required, further] = typeof scope === "string" ? [scope] : scope
  const names = further === undefined ? `\`${required}\`` : `\`${required}\` or \`${further}\``
  const text = `${description} Scope: ${names}.`
  const annotations = OpenApi.annotations({ summary, description: text }) as Context.Context<RequiredScope>
  if (required === "any key") return annotations
  const scoped = Context.add(annotations, RequiredScope, required)
  return further === undefined ? scoped : Context.add(scoped, FurtherScope, further)
}
