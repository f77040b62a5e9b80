import type { Waybill } from "@waybill/client/Waybill"
import type { Option } from "effect"
import type { Command } from "effect/cli"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import * as ApiClient from "./ApiClient.ts"
import * as Flags from "./Flags.ts"
import * as WholeId from "./WholeId.ts"

type Config = Command.Command.Config
type Given<Inputs extends Config> = Command.Command.Config.Infer<Inputs>

/** Makes a command that prints the record of one call. Of an id that it takes, the begin is enough. */
export const record = <const Inputs extends Config, A extends object>(
  inputs: Inputs,
  request: (client: Waybill, given: Given<Inputs>) => Promise<A>,
  shown?: (found: A) => object,
) =>
  DataCommand.record(
    inputs,
    function* (given) {
      const { id } = given as { readonly id?: string }
      const whole = id === undefined ? given : { ...(given as object), id: yield* WholeId.find(id) }
      return yield* ApiClient.call((client) => request(client, whole as never))
    },
    shown,
  )

/** The flags that were given. */
type Filters<Given> = { readonly [K in keyof Given]?: Given[K] extends Option.Option<infer A> ? A : never }

/** Makes a command that lists the newest records that filters let through. */
export const list = <const Inputs extends Config, A extends object>(
  filters: Inputs,
  columns: ReadonlyArray<string>,
  none: string,
  read: (client: Waybill, filters: Filters<Given<Inputs>>) => AsyncIterable<A>,
  shown: (found: A) => object = (found) => found,
) =>
  DataCommand.command({ ...filters, limit: Flags.limit }, function* (given) {
    const { json, limit, ...chosen } = given as { readonly json: boolean; readonly limit: number }
    const filters = Flags.present(chosen) as Filters<Given<Inputs>>
    const { more, rows } = yield* ApiClient.firstOf((client) => read(client, filters), limit)
    yield* Output.printFirst({ rows: json ? rows : rows.map(shown), more }, { json, columns, none })
  })
