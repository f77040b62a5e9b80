import type { Event } from "@waybill/client/Waybill"
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import * as DataCommand from "../../DataCommand.ts"
import * as Output from "../../Output.ts"
import * as OutputStyle from "../../OutputStyle.ts"
import { ApiClient } from "../ApiClient.ts"
import * as EmailList from "../emails/EmailList.ts"
import * as EventLines from "../emails/EventLines.ts"
import * as Flags from "../Flags.ts"
import { follow } from "./follow.ts"

const tail = DataCommand.command(
  {
    types: Flags.types("Only these types; all events of emails by default"),
    since: Flags.time("since", "First show what happened since"),
  },
  function* ({ json, since, types }) {
    const { client } = yield* ApiClient
    const { columns, ...style } = yield* OutputStyle.current
    const query = { ...Flags.present({ created_after: since }), ...(types.length === 0 ? {} : { types }) }
    const show = (event: Event) => {
      if (types.length === 0 && event.stream !== "email") return Effect.void
      if (json) return Output.printJson(event)
      return columns === undefined
        ? Output.say(EventLines.plain(event))
        : Output.sayColoured(EventLines.line(event, { ...style, columns }))
    }
    const ready = json || Option.isSome(since) ? Effect.void : Output.complain("Waiting for events. Ctrl-C stops.")
    yield* follow(client, query, ready, show)
  },
)

export const logs = DataCommand.command(
  { search: EmailList.search, limit: Flags.limit },
  function* ({ json, limit, search }) {
    yield* EmailList.print(search.length === 0 ? {} : { q: search.join(" ") }, limit, json)
  },
)
  .with(
    Command.withExamples([
      { command: "waybill logs 'to:ana is:bounced'", description: "Why did Ana not get it?" },
      { command: "waybill logs gmail.com is:deferred since:1h", description: "What does a provider put off?" },
    ]),
  )
  .with(Command.withSubcommands(DataCommand.named({ tail: ["Show what happens to emails, as it happens", tail] })))
  .with(Command.provide(ApiClient.layer))
