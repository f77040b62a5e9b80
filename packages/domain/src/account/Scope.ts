import { Schema } from "effect"
import type { Detail } from "../values/Refusal.ts"

export const Scope = Schema.Literals([
  "email:send",
  "email:logs:read",
  "domains:read",
  "domains:write",
  "webhooks:manage",
  "admin",
]).annotate({ identifier: "Scope" })
export type Scope = typeof Scope.Type

export const ALL = Scope.literals

/** Whether the granted scopes include the needed one. `admin` implies all others. */
export const permits = (granted: ReadonlyArray<Scope>, needed: Scope): boolean =>
  granted.includes(needed) || granted.includes("admin")

export class MissingScope extends Schema.TaggedError<MissingScope>()("MissingScope", { required_scope: Scope }) {
  readonly status = 403
  readonly code = "forbidden"
  readonly reason = "missing_scope"
  override get message() {
    return `This API key does not have the scope ${this.required_scope}.`
  }
  get details(): ReadonlyArray<Detail> {
    return [{ path: "required_scope", message: this.required_scope }]
  }
}
