import type { Event } from "@waybill/client/Waybill"
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import * as Output from "../../Output.ts"
import { ApiClient } from "../ApiClient.ts"
import * as Flags from "../Flags.ts"
import { follow } from "./follow.ts"

/** Facts of an event that a line of the log shows, in this order. */
const SHOWN = ["recipient", "code", "enhanced_code", "response", "next_attempt_at", "url", "reason"]
const TYPE_WIDTH = 22

const tail = Command.make(
  "tail",
  {
    types: Flags.types("Only these types; all events of emails by default"),
    since: Flags.time("since", "First show what happened since"),
    json: Output.json,
  },
  Effect.fn(function* ({ json, since, types }) {
    const { client } = yield* ApiClient
    const query = { ...Flags.present({ created_after: since }), ...(types.length === 0 ? {} : { types }) }
    const show = (event: Event) => {
      if (types.length === 0 && event.stream !== "email") return Effect.void
      return json ? Output.printJson(event) : Output.say(lineOf(event))
    }
    const ready = json || Option.isSome(since) ? Effect.void : Output.complain("Waiting for events. Ctrl-C stops.")
    yield* follow(client, query, ready, show)
  }),
).pipe(Command.withDescription("Show what happens to emails, as it happens"))

export const logs = Command.make("logs").pipe(
  Command.withDescription("Events as they happen"),
  Command.withSubcommands([tail]),
  Command.provide(ApiClient.layer),
)

const lineOf = ({ data, occurred_at, stream_id, type }: Event): string => {
  const facts = SHOWN.flatMap((name) =>
    typeof data[name] === "string" || typeof data[name] === "number" ? [String(data[name])] : [],
  )
  return [occurred_at, type.padEnd(TYPE_WIDTH), stream_id, ...facts].join("  ")
}
