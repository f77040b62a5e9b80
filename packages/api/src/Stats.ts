import * as DomainName from "@waybill/domain/DomainName"
import * as Timestamp from "@waybill/domain/Timestamp"
import { Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authorization } from "./Authorization.ts"
import { about } from "./Endpoint.ts"
import * as Page from "./Page.ts"
import * as Rules from "./Rules.ts"
import { Validation } from "./Validation.ts"

/** The stretch that one answer covers: a year by the day, a month by the hour. */
export const MAX_STATS_DAYS = 366
export const MAX_HOURLY_STATS_DAYS = 31
/** As many as the store goes through. */
export const MAX_SHOWN_TAGS = 1_000

const Group = Schema.Literals(["hour", "day", "domain", "tag"])
export type Group = typeof Group.Type
const isGroup = Schema.is(Group)

const GROUPS = "takes hour or day, domain or tag, or one of each with a comma between"

/** `day`, `domain`, or one unit of time and one of the others: `day,tag`. */
const Groups = Schema.String.annotate({
  description:
    "hour or day, domain or tag, or one of each with a comma between; without it one row for the whole stretch",
  examples: ["day", "hour,domain"],
}).pipe(
  Schema.decodeTo(
    Schema.Array(Group),
    SchemaTransformation.transformEffect<ReadonlyArray<Group>, string>({
      decode: (text) => {
        const words = text.split(",").map((word) => word.trim())
        const groups = words.filter(isGroup)
        const times = groups.filter((group) => group === "hour" || group === "day")
        const isOneOfEach = times.length <= 1 && groups.length - times.length <= 1
        return groups.length === words.length && isOneOfEach
          ? Effect.succeed(groups)
          : Effect.fail(new SchemaIssue.InvalidValue({ message: GROUPS }))
      },
      encode: (groups) => Effect.succeed(groups.join(",")),
    }),
  ),
)

/** How far both ends may be apart, in milliseconds. */
export const longest = (groups: ReadonlyArray<Group> = []): number =>
  (groups.includes("hour") ? MAX_HOURLY_STATS_DAYS : MAX_STATS_DAYS) * Timestamp.DAY

const Query = Schema.Struct({
  from: Schema.optionalKey(Timestamp.FromIso),
  to: Schema.optionalKey(Timestamp.FromIso),
  group_by: Schema.optionalKey(Groups),
  domain: Schema.optionalKey(DomainName.FromText),
  tag: Schema.optionalKey(Schema.String.check(Rules.oneLine)),
}).check(
  Schema.makeFilter(({ from, group_by, to }) => {
    if (from === undefined || to === undefined) return true
    if (from >= to) return { path: ["from"], issue: "must be before `to`" }
    const most = longest(group_by)
    const issue = `is more than ${most / Timestamp.DAY} days before \`to\``
    return Timestamp.between(from, to) <= most || { path: ["from"], issue }
  }),
)
export type Query = typeof Query.Type

const count = Schema.Natural

const Latency = Schema.Struct({
  p50: Schema.Natural,
  p90: Schema.Natural,
  p95: Schema.Natural,
  p99: Schema.Natural,
}).annotate({ identifier: "StatsLatency" })

export const StatsRow = Schema.Struct({
  at: Schema.NullOr(Timestamp.Timestamp).annotate({
    description: "When the hour or day begins; `null` unless grouped by one",
  }),
  domain: Schema.NullOr(Schema.String).annotate({ description: "`null` unless grouped by it" }),
  tag: Schema.NullOr(Schema.String).annotate({ description: "`null` unless grouped by it" }),
  accepted: count.annotate({ description: "Recipients of accepted messages" }),
  delivered: count,
  deferred: count.annotate({ description: "Attempts that were put off; a recipient may have several" }),
  bounced: count,
  failed: count,
  suppressed: count,
  complained: count,
  opened: count.annotate({ description: "Opens that were seen of tracked mail; a message may have several" }),
  clicked: count.annotate({ description: "Clicks that were seen in tracked mail; a message may have several" }),
  latency_ms: Schema.NullOr(Latency).annotate({
    description:
      "From acceptance, or the time that it was scheduled for, to delivery; within 5 %. `null` where nothing was delivered",
  }),
}).annotate({ identifier: "StatsRow" })
export type StatsRow = typeof StatsRow.Type

export const Stats = Schema.Struct({
  object: Schema.Literal("stats"),
  from: Timestamp.Timestamp.annotateKey({ description: "As asked for, rounded down to the hour" }),
  to: Timestamp.Timestamp.annotateKey({ description: "As asked for, rounded up to the hour; not included" }),
  group_by: Schema.Array(Group),
  up_to_position: Page.Position.annotateKey({
    description:
      "Every event of the account up to here is counted, exactly once; what `GET /events` shows after it will be",
  }),
  more_tags: Schema.Boolean.annotate({
    description: `By tag, an answer shows the first ${MAX_SHOWN_TAGS} of the account's tags by name. Whether there are more: ask for one of them with \`tag\``,
  }),
  data: Schema.Array(StatsRow).annotate({ description: "Oldest first; what has nothing to count has no row" }),
}).annotate({ identifier: "Stats" })
export type Stats = typeof Stats.Type

export class Statistics extends HttpApiGroup.make("stats")
  .add(
    HttpApiEndpoint.get("get", "/stats", { query: Query, success: Stats }).annotateMerge(
      about(
        "Count what happened",
        "email:logs:read",
        `By the hour in which it happened, the last 24 hours unless asked otherwise. Counted behind the log, each event exactly once. At most ${MAX_STATS_DAYS} days, by the hour ${MAX_HOURLY_STATS_DAYS}. A message with several tags counts under each of them; an answer by tag shows ${MAX_SHOWN_TAGS} tags, and says in \`more_tags\` whether there are more.`,
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Statistics", description: "How much, how well and how fast." })) {}
