import { Schema } from "effect"
import { nullIfAbsent } from "./nullIfAbsent.ts"

/** An optional request field. `null` means the same as absent. */
export const optional = <S extends Schema.Top>(schema: S, description: string) =>
  nullIfAbsent(Schema.NullOr(schema).annotate({ description }))
