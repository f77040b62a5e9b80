import type * as T from "@waybill/client/Waybill"
import * as DeliveryRates from "@waybill/domain/explanation/DeliveryRates"
import { Clock, Duration, Effect, Option } from "effect"
import { Command } from "effect/cli"
import * as DataCommand from "../../DataCommand.ts"
import * as Output from "../../Output.ts"
import { ApiClient, call } from "../ApiClient.ts"
import * as Flags from "../Flags.ts"
import * as Options from "../../Options.ts"

const GROUPS = ["domain", "tag", "provider", "key", "day", "hour"] as const
type Group = (typeof GROUPS)[number]

const DEFAULT_PERIOD = Duration.days(7)
const NONE = "No email in this period."

const whole = (count: number): string => count.toLocaleString("en")

/** A share as text; absent while it is of nothing. */
const share = (part: number, of: number): string | null =>
  of === 0 ? null : DeliveryRates.percent(DeliveryRates.rate(part, of))

/** Outcomes that stand in the table only where there are any. */
const OTHERS = ["deferred", "queued", "sent", "suppressed", "canceled"] as const

/** Rows of a period: each recipient counts once, by its current status. */
const outcomesOf = ({ accepted, clicked, opened, recipient_counts: counts }: T.StatsRow) => {
  const [reached, ended] = [DeliveryRates.reached(counts), DeliveryRates.ended(counts)]
  const row = (status: string, count: number, of = 0) => ({ status, count: whole(count), rate: share(count, of) })
  const present = (status: string, count: number) => (count === 0 ? [] : [row(status, count)])
  return [
    row("accepted", accepted),
    row("delivered", reached, ended),
    row("bounced", counts.bounced, ended),
    row("failed", counts.failed, ended),
    row("complained", counts.complained, reached),
    ...OTHERS.flatMap((status) => present(status, counts[status])),
    ...present("opened", opened),
    ...present("clicked", clicked),
  ]
}

/** Names of keys, as far as the key of the command may list them. */
const keyNames = Effect.map(Effect.option(call((client) => client.apiKeys.list())), (page) =>
  Option.match(page, {
    onNone: () => new Map<string, string>(),
    onSome: ({ data }) => new Map(data.map(({ id, name }) => [id as string, name])),
  }),
)

const nameOf = (by: Group, { api_key_id, at, ...row }: T.StatsRow, keys: ReadonlyMap<string, string>) => {
  switch (by) {
    case "day":
      return at?.slice(0, "2026-11-30".length)
    case "hour":
      return at?.slice(0, "2026-11-30T18:00".length).replace("T", " ")
    case "key":
      return keys.get(api_key_id ?? "") ?? api_key_id
    default:
      return row[by]
  }
}

/** A row of the breakdown, with rates as the overview of the dashboard has them. */
const rowOf = (by: Group, row: T.StatsRow, keys: ReadonlyMap<string, string>) => {
  const { accepted, clicked, opened, recipient_counts: counts } = row
  return {
    [by]: nameOf(by, row, keys),
    accepted: whole(accepted),
    delivered: share(DeliveryRates.reached(counts), DeliveryRates.ended(counts)),
    bounced: share(counts.bounced, DeliveryRates.ended(counts)),
    complained: share(counts.complained, DeliveryRates.reached(counts)),
    opened: opened === 0 ? null : whole(opened),
    clicked: clicked === 0 ? null : whole(clicked),
  }
}

const sayBreakdown = Effect.fnUntraced(function* (by: Group, { data, more_tags }: T.Stats) {
  const keys = by === "key" ? yield* keyNames : new Map<string, string>()
  const found = data.filter(({ accepted }) => accepted > 0)
  const sorted = by === "day" || by === "hour" ? found : found.toSorted((one, other) => other.accepted - one.accepted)
  yield* Output.print(
    sorted.map((row) => rowOf(by, row, keys)),
    { json: false, columns: [by, "accepted", "delivered", "bounced", "complained", "opened", "clicked"], none: NONE },
  )
  if (more_tags) yield* Output.complain(`There are more tags: these are the first ${data.length} by name.`)
})

export const stats = DataCommand.told(
  {
    since: Flags.time("since", "Emails accepted at or after"),
    until: Flags.time("until", "Emails accepted before"),
    by: Options.oneOf("by", GROUPS, "A row for each of these; provider is where the mailboxes are"),
  },
  function* ({ by, since, until }) {
    const now = yield* Clock.currentTimeMillis
    const from = Option.getOrElse(since, () => new Date(now - Duration.toMillis(DEFAULT_PERIOD)))
    const groups = Option.map(by, (group) => (group === "key" ? "api_key" : group))
    return yield* call((client) => client.stats.get({ from, ...Flags.present({ to: until, group_by: groups }) }))
  },
  Effect.fnUntraced(function* (found, { by }) {
    if (Option.isSome(by)) return yield* sayBreakdown(by.value, found)
    const [row] = found.data
    yield* row === undefined
      ? Output.say(NONE)
      : Output.print(outcomesOf(row), { json: false, columns: ["status", "count", "rate"] })
  }),
)
  .with(
    Command.withExamples([
      { command: "waybill stats --since 24h", description: "How much was delivered since yesterday?" },
      { command: "waybill stats --by provider", description: "Where do emails bounce?" },
    ]),
  )
  .with(Command.provide(ApiClient.layer))
