import { Effect } from "effect"
import { Command } from "effect/cli"
import * as Output from "./Output.ts"

type Config = Command.Command.Config
/** The values of a command's flags and arguments, with that of `--json`. */
type Given<Flags extends Config> = Command.Command.Config.Infer<Flags & { readonly json: typeof Output.json }>

type Yielded = Effect.Effect<unknown, unknown, unknown>
type Failure<Y> = [Y] extends [never] ? never : [Y] extends [Effect.Effect<unknown, infer E, unknown>] ? E : never
type Needs<Y> = [Y] extends [never] ? never : [Y] extends [Effect.Effect<unknown, unknown, infer R>] ? R : never

const run = <Y extends Yielded, A>(work: Generator<Y, A, never>): Effect.Effect<A, Failure<Y>, Needs<Y>> =>
  Effect.gen(() => work) as Effect.Effect<A, Failure<Y>, Needs<Y>>

const make = <const Name extends string, const Flags extends Config, E, R>(
  name: Name,
  description: string,
  flags: Flags,
  work: (given: Given<Flags>) => Effect.Effect<void, E, R>,
) => Command.make(name, { ...flags, json: Output.json }, work).pipe(Command.withDescription(description))

/** Makes a command with `--json`, whose work prints what there is to print. */
export const command = <const Name extends string, const Flags extends Config, Y extends Yielded>(
  name: Name,
  description: string,
  flags: Flags,
  work: (given: Given<Flags>) => Generator<Y, void, never>,
) => make(name, description, flags, (given) => run(work(given)))

/** Makes a command that prints what its work returns as JSON, and says it to people in words. */
export const told = <const Name extends string, const Flags extends Config, Y extends Yielded, A, E, R>(
  name: Name,
  description: string,
  flags: Flags,
  work: (given: Given<Flags>) => Generator<Y, A, never>,
  tell: (found: A, given: Given<Flags>) => Effect.Effect<void, E, R>,
) =>
  make(name, description, flags, (given) =>
    Effect.flatMap(run(work(given)), (found): Effect.Effect<void, E, R> =>
      jsonOf(given).json ? Output.printJson(found, 2) : tell(found, given),
    ),
  )

/** Makes a command that prints the record that its work returns; people may see it as `shown`. */
export const record = <const Name extends string, const Flags extends Config, Y extends Yielded, A extends object>(
  name: Name,
  description: string,
  flags: Flags,
  work: (given: Given<Flags>) => Generator<Y, A, never>,
  shown: (found: A) => object = (found) => found,
) => told(name, description, flags, work, (found) => Output.printOne(shown(found), { json: false }))

/** Makes a command that prints the rows that its work returns; people see these columns of them, or of what is `shown`. */
export const list = <const Name extends string, const Flags extends Config, Y extends Yielded, A extends object>(
  name: Name,
  description: string,
  flags: Flags,
  columns: ReadonlyArray<string>,
  work: (given: Given<Flags>) => Generator<Y, ReadonlyArray<A>, never>,
  shown: (found: A) => object = (found) => found,
  none?: string,
) => told(name, description, flags, work, (rows) => Output.print(rows.map(shown), { json: false, columns, none }))

/** Makes a command like `list`, of whose rows only the first may be shown. */
export const firstOf = <const Name extends string, const Flags extends Config, Y extends Yielded, A extends object>(
  name: Name,
  description: string,
  flags: Flags,
  columns: ReadonlyArray<string>,
  work: (given: Given<Flags>) => Generator<Y, Output.First<A>, never>,
  shown: (found: A) => object = (found) => found,
  none?: string,
) =>
  make(name, description, flags, (given) =>
    Effect.flatMap(run(work(given)), ({ more, rows }) => {
      const { json } = jsonOf(given)
      return Output.printFirst({ rows: json ? rows : rows.map(shown), more }, { json, columns, none })
    }),
  )

/** Every command has the flag, which the type of flags that are not known here does not say. */
const jsonOf = (given: unknown) => given as { readonly json: boolean }
