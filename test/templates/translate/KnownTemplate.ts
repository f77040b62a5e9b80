import type { Schema } from "effect"

/** A template of another language, and what its library renders of it. */
export interface KnownTemplate {
  readonly name: string
  readonly source: string
  readonly variables: Readonly<Record<string, Schema.Json>>
  readonly rendered: string
}
