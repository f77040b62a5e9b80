import type { Schema } from "effect"

/** A template of another language, which its library renders, too. */
export interface KnownTemplate {
  readonly name: string
  readonly source: string
  readonly variables: Readonly<Record<string, Schema.Json>>
}
