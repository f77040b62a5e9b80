import type * as Scope from "@waybill/domain/account/Scope"
import { Context } from "effect"
import { OpenApi } from "effect/http-api"
import { RequiredScope } from "./Authorization.ts"

/** OpenAPI annotations of an endpoint: summary, description, and required scope. */
export const annotate = (
  summary: string,
  scope: Scope.Scope | "any key",
  description: string,
): Context.Context<RequiredScope> => {
  const text = `${description} Scope: \`${scope}\`.`
  const annotations = OpenApi.annotations({ summary, description: text }) as Context.Context<RequiredScope>
  return scope === "any key" ? annotations : Context.add(annotations, RequiredScope, scope)
}
