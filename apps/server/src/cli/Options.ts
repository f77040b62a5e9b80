import * as Id from "@waybill/domain/values/Id"
import { Argument, Flag } from "effect/cli"

// Arguments and flags as most commands have them.

/** Argument with a text. */
export const argument = (name: string, description: string) =>
  Argument.String(name).pipe(Argument.withDescription(description))

/** Argument with one of several words. */
export const word = <const Words extends ReadonlyArray<string>>(name: string, words: Words, description: string) =>
  Argument.Literals(name, words).pipe(Argument.withDescription(description))

/** Flag that is set or not. */
export const isSet = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

/** Flag with a text, which may be left out. */
export const text = (name: string, description: string) => required(name, description).pipe(Flag.optional)

/** Flag with a text, which must be given. */
export const required = (name: string, description: string) => Flag.String(name).pipe(Flag.withDescription(description))

/** Flag with a text, which may be given so often. */
export const several = (name: string, description: string, most: number, least = 0) =>
  required(name, `${description}; repeat for several`).pipe(Flag.between(least, most))

/** Flag with one of several words, which may be left out. */
export const oneOf = <const Words extends ReadonlyArray<string>>(name: string, words: Words, description: string) =>
  Flag.Literals(name, words).pipe(Flag.withDescription(description), Flag.optional)

/** Flag with a number, which may be left out. */
export const int = (name: string, description: string) =>
  Flag.Int(name).pipe(Flag.withDescription(description), Flag.optional)

/** Account of a command of operators. Commands that need no database import it without the code that reads accounts. */
export const account = Flag.String("account").pipe(
  Flag.withDescription("Account id, acc_…; the only account of the instance if left out"),
  Flag.withSchema(Id.AccountId),
  Flag.optional,
)
