import type { Event, StreamQuery, Waybill } from "@waybill/client/Waybill"
import { DateTime, Duration, Effect, Option } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import * as DataCommand from "../../DataCommand.ts"
import * as Output from "../../Output.ts"
import * as OutputStyle from "../../OutputStyle.ts"
import * as TerminalTable from "../../TerminalTable.ts"
import { ApiClient, attempt } from "../ApiClient.ts"
import * as Flags from "../Flags.ts"
import { follow } from "./follow.ts"
import * as Forwarder from "./Forwarder.ts"

/** Most addresses that one session calls. */
const MAX_TARGETS = 5
const TYPE_WIDTH = 22
const POSITION = /^(?:0|pos_[0-9a-z]{26})$/u

const isUrl = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && /^https?:$/u.test(url.protocol)
}

const forwardTo = Flag.String("forward-to").pipe(
  Flag.withDescription("Address that is called, such as http://localhost:3000/hooks; repeat for several"),
  Flag.between(1, MAX_TARGETS),
  Flag.mapEffect((urls) => {
    const value = urls.find((url) => !isUrl(url))
    const expected = "an address with http:// or https://, such as http://localhost:3000/hooks"
    return value === undefined
      ? Effect.succeed(urls)
      : Effect.fail(new CliError.InvalidValue({ option: "forward-to", value, expected, kind: "flag" }))
  }),
)

/** A start in the past. */
type Start = Pick<StreamQuery, "after_position" | "created_after">

const from = Flag.String("from").pipe(
  Flag.withDescription("First replay events since then: a position (pos_…), or how long ago, such as 1h"),
  Flag.mapEffect((value): Effect.Effect<Start, CliError.CliError> =>
    POSITION.test(value)
      ? Effect.succeed({ after_position: value })
      : Effect.mapBoth(Flags.timeOf(value), {
          onSuccess: (created_after) => ({ created_after }),
          onFailure: (form) =>
            new CliError.InvalidValue({ option: "from", value, expected: `a position (pos_…), ${form}`, kind: "flag" }),
        }),
  ),
  Flag.optional,
)

export const listen = DataCommand.command(
  {
    forwardTo,
    from,
    types: Flags.types("Only these types; all that webhooks receive by default"),
  },
  function* ({ forwardTo, from, json, types }) {
    const { client, url } = yield* ApiClient
    const account = yield* attempt(() => client.account.get())
    const secret = yield* Forwarder.makeSecret
    yield* json
      ? Output.printJson({ secret, url, account_id: account.id, forward_to: forwardTo })
      : Output.say(
          `Webhooks of ${account.name} (${account.id}) at ${url} are forwarded to ${forwardTo.join(", ")}.`,
          `Signing secret of this session: ${secret}`,
        )
    const query = {
      ...Option.getOrElse(from, (): Start => ({})),
      ...(types.length === 0 ? {} : { types }),
      include: "webhook_payload" as const,
    }
    const forwardAll = Effect.fnUntraced(function* (event: Event) {
      if (event.webhook_payload === null || event.webhook_payload === undefined) return
      const payload = yield* completed(client, event.webhook_payload)
      yield* Effect.forEach(
        forwardTo,
        (target) =>
          Effect.flatMap(Forwarder.forward(target, event.id, payload, secret), (call) =>
            json
              ? Output.printJson({ event: payload, position: event.position, ...call })
              : showCall(event, call, forwardTo.length > 1),
          ),
        { discard: true, concurrency: "unbounded" },
      )
    })
    yield* follow(client, query, json ? Effect.void : Output.say("Ready. Ctrl-C stops."), forwardAll)
  },
)
  .with(
    Command.withExamples([
      { command: "waybill listen --forward-to http://localhost:3000/hooks" },
      {
        command: "waybill listen --forward-to http://localhost:3000/hooks --from 1h --types email.bounced",
        description: "First replays the bounces of the last hour",
      },
    ]),
  )
  .with(Command.provide(ApiClient.layer))

type Payload = NonNullable<Event["webhook_payload"]>

/** The feed has the record of a received mail, and a webhook its texts and links too. A key that may not read mail gets none. */
const completed = (client: Waybill, payload: Payload): Effect.Effect<Payload> => {
  const { id } = payload["data"] as { readonly id?: string }
  if (payload["type"] !== "email.received" || id === undefined) return Effect.succeed(payload)
  return attempt(() => client.inbound.get(id)).pipe(
    Effect.map((data): Payload => ({ ...payload, data })),
    Effect.orElseSucceed(() => payload),
  )
}

const showCall = Effect.fnUntraced(function* (
  { id, stream_id, type }: Event,
  { duration_ms, problem, status, url }: Forwarder.Call,
  namesUrl: boolean,
) {
  const time = DateTime.formatIso(yield* DateTime.now).slice(11, 19)
  const answer = `${status ?? "no answer"}  ${Duration.toMillis(duration_ms)} ms`
  const isTerminal = yield* OutputStyle.isTerminal
  yield* Output.say(
    [
      time,
      type.padEnd(TYPE_WIDTH),
      ...(isTerminal ? [TerminalTable.shortId(stream_id)] : [stream_id, id]),
      ...(namesUrl ? [url] : []),
      answer,
      ...(problem === null || problem === "" ? [] : [problem]),
    ].join("  "),
  )
})
