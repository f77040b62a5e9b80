import { Schema } from "effect"

export const Sha256 = Schema.String.check(
  Schema.isPattern(/^[0-9a-f]{64}$/u, { message: "must be a SHA-256 of 64 hexadecimal digits" }),
).pipe(Schema.brand("Sha256"))
export type Sha256 = typeof Sha256.Type
