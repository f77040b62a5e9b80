import { Effect } from "effect"
import { Command } from "effect/cli"
import * as Output from "./Output.ts"

type Config = Command.Command.Config
/** The values of a command's flags and arguments, with that of `--json`. */
type Given<Inputs extends Config> = Command.Command.Config.Infer<Inputs & { readonly json: typeof Output.json }>

type Yielded = Effect.Effect<unknown, unknown, unknown>
type Failure<Y> = [Y] extends [never] ? never : [Y] extends [Effect.Effect<unknown, infer E, unknown>] ? E : never
type Needs<Y> = [Y] extends [never] ? never : [Y] extends [Effect.Effect<unknown, unknown, infer R>] ? R : never

/** Runs steps with a scope of their own. */
const run = <Y extends Yielded, A>(work: Generator<Y, A, never>) =>
  Effect.scoped(Effect.gen(() => work) as Effect.Effect<A, Failure<Y>, Needs<Y>>)

/** A command that gets its name and its description where the commands are listed. */
export class Unnamed<C> {
  readonly named: (name: string, description: string) => C
  constructor(named: (name: string, description: string) => C) {
    this.named = named
  }
  /** Changes the command, as `Command.provide` does. */
  with<D>(change: (command: C) => D): Unnamed<D> {
    return new Unnamed((name, description) => change(this.named(name, description)))
  }
}

/** Commands by their names, each with what its help says. */
type Listed = Readonly<Record<string, readonly [description: string, command: Unnamed<Command.Command.Any>]>>
type CommandIn<Commands extends Listed> = {
  [Name in keyof Commands]: Commands[Name][1] extends Unnamed<infer C extends Command.Command.Any> ? C : never
}[keyof Commands]

/** Names commands. */
export const named = <const Commands extends Listed>(commands: Commands): ReadonlyArray<CommandIn<Commands>> =>
  Object.entries(commands).map(([name, [description, command]]) => command.named(name, description)) as never

/** Makes a command that has others, and does nothing without one of them. */
export const group = <const Commands extends Listed>(commands: Commands) =>
  new Unnamed((name, description) =>
    Command.make(name).pipe(Command.withDescription(description), Command.withSubcommands(named(commands))),
  )

/** Makes a command without `--json`, whose work prints what there is to print. */
export const plain = <const Inputs extends Config, Y extends Yielded>(
  inputs: Inputs,
  work: (given: Command.Command.Config.Infer<Inputs>) => Generator<Y, void, never>,
) =>
  new Unnamed((name, description) =>
    Command.make(name, inputs, (given) => run(work(given))).pipe(Command.withDescription(description)),
  )

const make = <const Inputs extends Config, E, R>(
  inputs: Inputs,
  work: (given: Given<Inputs>) => Effect.Effect<void, E, R>,
) =>
  new Unnamed((name, description) =>
    Command.make(name, { ...inputs, json: Output.json }, work).pipe(Command.withDescription(description)),
  )

/** Makes a command with `--json`, whose work prints what there is to print. */
export const command = <const Inputs extends Config, Y extends Yielded>(
  inputs: Inputs,
  work: (given: Given<Inputs>) => Generator<Y, void, never>,
) => make(inputs, (given) => run(work(given)))

/** Makes a command that prints what its work returns as JSON, and says it to people in words. */
export const told = <const Inputs extends Config, Y extends Yielded, A, E, R>(
  inputs: Inputs,
  work: (given: Given<Inputs>) => Generator<Y, A, never>,
  tell: (found: A, given: Given<Inputs>) => Effect.Effect<void, E, R>,
) =>
  make(inputs, (given) =>
    Effect.flatMap(run(work(given)), (found): Effect.Effect<void, E, R> =>
      // Every command has the flag, which the type of flags that are not known here does not say.
      (given as { readonly json: boolean }).json ? Output.printJson(found, 2) : tell(found, given),
    ),
  )

/** Makes a command that prints the record that its work returns; people may see it as `shown`. */
export const record = <const Inputs extends Config, Y extends Yielded, A extends object>(
  inputs: Inputs,
  work: (given: Given<Inputs>) => Generator<Y, A, never>,
  shown: (found: A) => object = (found) => found,
) => told(inputs, work, (found) => Output.printOne(shown(found), { json: false }))

/** Makes a command that prints the rows that its work returns; people see these columns of them, or of what is `shown`. */
export const list = <const Inputs extends Config, Y extends Yielded, A extends object>(
  inputs: Inputs,
  columns: ReadonlyArray<string>,
  work: (given: Given<Inputs>) => Generator<Y, ReadonlyArray<A>, never>,
  shown: (found: A) => object = (found) => found,
  none?: string,
) => told(inputs, work, (rows) => Output.print(rows.map(shown), { json: false, columns, none }))
