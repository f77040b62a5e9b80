import * as Id from "@waybill/domain/values/Id"
import { Flag } from "effect/cli"

// Flags as most commands have them.

/** Flag that is set or not. */
export const isSet = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

/** Flag with a text, which may be left out. */
export const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

/** Flag with a number, which may be left out. */
export const int = (name: string, description: string) =>
  Flag.Int(name).pipe(Flag.withDescription(description), Flag.optional)

/** Account of a command of operators. Commands that need no database import it without the code that reads accounts. */
export const account = Flag.String("account").pipe(
  Flag.withDescription("Account id, acc_…; the only account of the instance if left out"),
  Flag.withSchema(Id.AccountId),
  Flag.optional,
)
