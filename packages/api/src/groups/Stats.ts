import * as DomainName from "@waybill/domain/values/DomainName"
import * as EmailStatus from "@waybill/domain/email/EmailStatus"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as UnknownNames from "../errors/UnknownNames.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { annotate } from "../middleware/annotate.ts"
import * as Page from "../schemas/Page.ts"
import * as Livemode from "../schemas/Livemode.ts"
import * as Checks from "../schemas/Checks.ts"
import { Validation } from "../middleware/Validation.ts"

/** Longest range of one response: a year in days, a month in hours. */
export const MAX_STATS_DAYS = 366
export const MAX_HOURLY_STATS_DAYS = 31
/** The store computes at most this many tags. */
export const MAX_SHOWN_TAGS = 1_000

const Group = Schema.Literals(["hour", "day", "domain", "tag", "template", "api_key", "provider"])
export type Group = typeof Group.Type
const isGroup = Schema.is(Group)

const problemOf = (words: ReadonlyArray<string>): string => {
  const unknown = words.find((word) => !isGroup(word))
  return (unknown === undefined ? undefined : UnknownNames.suggest(unknown, Group.literals)) ?? GROUPS
}

const GROUPS = "must be hour or day; domain, tag, template, api_key or provider; or one of each separated by a comma"

/** A unit of time, another dimension, or one of each: `day`, `domain`, `day,tag`. */
const Groups = Schema.String.annotate({
  description:
    "hour or day; domain, tag, template, api_key or provider; or one of each separated by a comma; without it, one row for the whole range",
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
          : Effect.fail(new SchemaIssue.InvalidValue({ message: problemOf(words) }))
      },
      encode: (groups) => Effect.succeed(groups.join(",")),
    }),
  ),
)

/** Returns the longest range in milliseconds. */
export const maxRangeMs = (groups: ReadonlyArray<Group> = []): number =>
  (groups.includes("hour") ? MAX_HOURLY_STATS_DAYS : MAX_STATS_DAYS) * Timestamp.DAY

const ONE_OF: ReadonlySet<Group> = new Set(["tag", "template", "api_key", "provider"])

const StatsQuery = Schema.Struct({
  ...Livemode.query,
  from: Schema.optionalKey(Timestamp.FromIso),
  to: Schema.optionalKey(Timestamp.FromIso),
  group_by: Schema.optionalKey(Groups),
  domain: Schema.optionalKey(DomainName.FromText),
  tag: Schema.optionalKey(Schema.String.check(Checks.oneLine)),
  template: Schema.optionalKey(Id.TemplateId),
}).check(
  Schema.makeFilter(({ group_by = [], tag, template }) => {
    // Mail is counted by one of these at a time.
    const chosen = [
      ...(tag === undefined ? [] : ["tag"]),
      ...(template === undefined ? [] : ["template"]),
      ...group_by.filter((group) => ONE_OF.has(group)),
    ]
    const [first = "", second] = [...new Set(chosen)]
    return second === undefined || { path: [first], issue: `cannot be combined with \`${second}\`` }
  }),
  Schema.makeFilter(({ from, group_by, to }) => {
    if (from === undefined || to === undefined) return true
    if (from >= to) return { path: ["from"], issue: "must be before `to`" }
    const maximum = maxRangeMs(group_by)
    const issue = `is more than ${maximum / Timestamp.DAY} days before \`to\``
    return Timestamp.between(from, to) <= maximum || { path: ["from"], issue }
  }),
)
export type StatsQuery = typeof StatsQuery.Type

const count = Schema.Natural

const Latency = Schema.Struct({
  p50: Schema.Natural,
  p90: Schema.Natural,
  p95: Schema.Natural,
  p99: Schema.Natural,
}).annotate({ identifier: "StatsLatency" })

/** Every status, with its number of recipients. */
const StatusCounts = Schema.Record(EmailStatus.Status, count).annotate({ identifier: "StatsRecipientCounts" })

export const StatsRow = Schema.Struct({
  at: Schema.NullOr(Timestamp.Timestamp).annotate({
    description: "Start of the hour or day; `null` unless grouped by one",
  }),
  domain: Schema.NullOr(Schema.String).annotate({ description: "`null` unless grouped by it" }),
  tag: Schema.NullOr(Schema.String).annotate({ description: "`null` unless grouped by it" }),
  template: Schema.NullOr(Schema.String).annotate({ description: "Id; `null` unless grouped by it" }),
  template_version: Schema.NullOr(Schema.Natural).annotate({
    description: "`null` unless grouped by template: each version has a row",
  }),
  api_key_id: Schema.NullOr(Schema.String).annotate({
    description: "`null` unless grouped by `api_key`. Mail that was sent in the dashboard has no key",
  }),
  provider: Schema.NullOr(Schema.String).annotate({
    description:
      "`null` unless grouped by it: gmail, outlook, yahoo, icloud and others by the domains of their mailboxes; `other` for all other domains, such as those of companies",
  }),
  accepted: count.annotate({ description: "Recipients of accepted messages" }),
  delivered: count.annotate({ description: "Recipients delivered in this period; some may bounce or complain later" }),
  deferred: count.annotate({ description: "Deferred attempts; a recipient may have several" }),
  bounced: count.annotate({ description: "Bounces, also of recipients that were delivered before" }),
  failed: count,
  suppressed: count,
  complained: count.annotate({ description: "Complaints of recipients that were delivered before" }),
  opened: count.annotate({ description: "Opens of tracked mail; a message may have several" }),
  clicked: count.annotate({ description: "Clicks in tracked mail; a message may have several" }),
  recipient_counts: StatusCounts.annotateKey({
    description:
      "Current status of the recipients accepted in this period. Each counts once, so the sum is `accepted`; the other fields count events by the time at which they happened",
  }),
  latency_ms: Schema.NullOr(Latency).annotate({
    description:
      "From acceptance, or the scheduled time, to delivery; accurate to 5 %. `null` if nothing was delivered",
  }),
}).annotate({ identifier: "StatsRow" })
export type StatsRow = typeof StatsRow.Type

export const Stats = Schema.Struct({
  object: Schema.Literal("stats"),
  livemode: Livemode.field("False for the statistics of test mail"),
  from: Timestamp.Timestamp.annotateKey({ description: "Start of the range, rounded down to the hour" }),
  to: Timestamp.Timestamp.annotateKey({ description: "End of the range, rounded up to the hour; exclusive" }),
  group_by: Schema.Array(Group),
  up_to_position: Page.Position.annotateKey({
    description:
      "Every event of the account up to this position is counted exactly once; later events are not counted yet",
  }),
  more_tags: Schema.Boolean.annotate({
    description: `Whether the account has more tags, or versions of templates if it is grouped by template. A response has the first ${MAX_SHOWN_TAGS} by name; query others with \`tag\``,
  }),
  data: Schema.Array(StatsRow).annotate({ description: "Oldest first; groups without events have no row" }),
}).annotate({ identifier: "Stats" })
export type Stats = typeof Stats.Type

export class Statistics extends HttpApiGroup.make("stats")
  .add(
    HttpApiEndpoint.get("get", "/stats", { query: StatsQuery, success: Stats }).annotateMerge(
      annotate(
        "Get statistics",
        "stats:read",
        `Counts events by the hour in which they happened, and accepted recipients by their current status (\`recipient_counts\`), by default for the last 24 hours. Counting is asynchronous; each event is counted exactly once. A range has at most ${MAX_STATS_DAYS} days, grouped by hour ${MAX_HOURLY_STATS_DAYS}. A message with several tags counts under each of them. A response by tag has ${MAX_SHOWN_TAGS} tags; \`more_tags\` tells whether there are more.`,
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Statistics", description: "Volume, outcomes and latency." })) {}
