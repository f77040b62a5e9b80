import * as Operate from "@waybill/api/groups/Operate"
import { AccountRecord } from "@waybill/api/groups/Account"
import * as Stats from "@waybill/api/groups/Stats"
import * as Checks from "@waybill/api/schemas/Checks"
import type { Account, Session, StatsRow } from "@waybill/client/Waybill"
import * as Plan from "@waybill/domain/account/Plan"
import * as Address from "@waybill/domain/values/Address"
import * as DomainName from "@waybill/domain/values/DomainName"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, Schema } from "effect"
import { clipped } from "./ToolAnswer.ts"
import { ask, askFor, tool, untrusted } from "./Tool.ts"

const count = Schema.Natural

const Row = Schema.Struct({
  at: Schema.optional(Schema.String),
  domain: Schema.optional(Schema.String),
  template: Schema.optional(Schema.NullOr(Schema.String)),
  template_version: Schema.optional(Schema.NullOr(count)),
  accepted: count,
  delivered: count,
  deferred: count,
  bounced: count,
  failed: count,
  suppressed: count,
  complained: count,
  opened: count,
  clicked: count,
  recipient_counts: Schema.Record(Schema.String, count),
  latency_ms: Schema.optional(Schema.toEncoded(Stats.StatsRow.fields.latency_ms)),
  untrusted: Schema.optional(untrusted({ tag: Schema.String })),
})

const statistics = tool({
  name: "get_statistics",
  title: "Get statistics",
  description:
    "Counts accepted, delivered, deferred, bounced, failed, suppressed, complained, opened and clicked mail of a range, by default of the last 24 hours, with the time to delivery.",
  input: Schema.Struct({
    from: Schema.optionalKey(Timestamp.FromIso),
    to: Schema.optionalKey(Timestamp.FromIso),
    group_by: Schema.optionalKey(
      Schema.Array(Schema.Literals(["hour", "day", "domain", "tag"]))
        .check(Checks.items(1, 2, "groups"))
        .annotate({ description: "hour or day, domain or tag, or one of each; without it, one row for the range" }),
    ),
    domain: Schema.optionalKey(DomainName.FromText),
    tag: Schema.optionalKey(Schema.String.check(Checks.oneLine)),
  }),
  facts: { more_tags: Schema.optional(Schema.Boolean) },
  row: Row,
  run: (waybill, query) =>
    ask(() => waybill.stats.get(query)).pipe(
      Effect.map((stats) => ({
        summary:
          stats.data.length === 0
            ? `No mail from ${stats.from} to ${stats.to}.`
            : `Statistics from ${stats.from} to ${stats.to}. They follow the log a moment later.`,
        facts: stats.more_tags ? { more_tags: true } : {},
        rows: stats.data.map(statisticsRow),
      })),
    ),
})

const statisticsRow = ({ at, domain, latency_ms, tag, ...counts }: StatsRow) => ({
  at: at ?? undefined,
  domain: domain ?? undefined,
  ...counts,
  latency_ms: latency_ms ?? undefined,
  ...(tag === null ? {} : { untrusted: { tag: clipped(tag) } }),
})

const suppression = tool({
  name: "check_suppression",
  title: "Check whether an address is suppressed",
  description: "Tells whether an address is on the suppression list, since when, and why. Mail to it is not sent.",
  input: Schema.Struct({ email: Address.FromText }),
  facts: {
    suppressed: Schema.Boolean,
    reason: Schema.optional(Schema.String),
    created_at: Schema.optional(Schema.String),
    email_id: Schema.optional(Schema.NullOr(Schema.String)),
    untrusted: untrusted({ email: Schema.String }),
  },
  run: (waybill, { email }) =>
    askFor(() => waybill.suppressions.get(email)).pipe(
      Effect.map((found) =>
        found === undefined
          ? { summary: "The address is not suppressed.", facts: { suppressed: false, untrusted: { email } } }
          : {
              summary: "The address is suppressed: mail to it is not sent.",
              facts: {
                suppressed: true,
                reason: found.reason,
                created_at: found.created_at,
                email_id: found.email_id,
                untrusted: { email },
              },
            },
      ),
    ),
})

const account = tool({
  name: "get_account",
  title: "Get the account",
  description: "Shows the plan, the usage and the limits of the account, and what the key of this connection may do.",
  input: Operate.Nothing,
  facts: {
    account: Schema.String,
    plan: Plan.Plan,
    usage: Schema.toEncoded(AccountRecord.fields.usage),
    limits: Schema.toEncoded(AccountRecord.fields.limits),
    content_days: count,
    key: Schema.Struct({ scopes: Schema.Array(Schema.String), bound_to_domain: Schema.NullOr(Schema.String) }),
  },
  run: (waybill) =>
    Effect.all([ask(() => waybill.account.get()), ask(() => waybill.session.get())]).pipe(
      Effect.map(([account, session]) => accountAnswer(account, session)),
    ),
})

const accountAnswer = ({ content_days, limits, name, plan, usage }: Account, { domain, scopes }: Session) => ({
  summary: `${usage.emails} recipients were accepted in ${usage.month}${
    limits.monthly_emails === null ? "; the volume is unlimited" : `, of ${limits.monthly_emails}`
  }.`,
  facts: { account: clipped(name), plan, usage, limits, content_days, key: { scopes, bound_to_domain: domain } },
})

export const all = [statistics, suppression, account]
