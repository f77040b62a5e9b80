import { Schema } from "effect"
import * as Refusal from "../values/Refusal.ts"

export const Scope = Schema.Literals([
  "email:send",
  "email:logs:read",
  "domains:read",
  "domains:write",
  "webhooks:manage",
  "events:read",
  "stats:read",
  "suppressions:read",
  "suppressions:write",
  "inbound:read",
  "inbound:write",
  "templates:read",
  "templates:write",
  "admin",
]).annotate({ identifier: "Scope" })
export type Scope = typeof Scope.Type

export const ALL = Scope.literals

export class MissingScope extends Refusal.of("MissingScope", 403, "missing_scope")<{ readonly required_scope: Scope }> {
  override readonly message = `This API key does not have the scope ${this.required_scope}. Create a key with ${this.required_scope}, in the dashboard under API keys.`
  readonly details = [{ path: "required_scope", message: this.required_scope }]
}
