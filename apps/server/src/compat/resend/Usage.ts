import type { AccountRecord } from "@waybill/api/groups/Account"
import type { Stats } from "@waybill/api/groups/Stats"
import * as Domain from "@waybill/domain/domain/Domain"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock } from "effect"
import type { Route } from "../Door.ts"
import * as Native from "../Native.ts"
import { route } from "../route.ts"

/** Usage of something that Waybill does not have. */
const NONE = { used: 0, limit: 0 }

/** The usage of the account. Waybill has no limit per day; the day's emails are counted by the statistics. */
const usage = route("GET /usage", "account.get", function* () {
  const now = yield* Clock.currentTimeMillis
  const midnight = now - (now % Timestamp.DAY)
  const [from, to] = [Timestamp.fromMillis(midnight), Timestamp.fromMillis(midnight + Timestamp.DAY)]
  const account = yield* Native.get<AccountRecord>("/v1/account")
  const today = yield* Native.get<Stats>(`/v1/stats?from=${from}&to=${to}`)
  const domains = yield* Native.get<Native.List<unknown>>("/v1/domains")
  const ofDay = today.data.reduce((sum, { accepted }) => sum + accepted, 0)
  const emails = (used: number, limit: number | null, resets_at: string) => ({
    used,
    limit,
    sent: used,
    received: 0,
    resets_at,
  })
  return Native.ok({
    object: "usage",
    emails: {
      daily: emails(ofDay, null, to),
      monthly: emails(account.usage.emails, account.limits.monthly_emails, account.usage.resets_at),
    },
    contacts: NONE,
    segments: NONE,
    broadcasts: NONE,
    ai_credits: { ...NONE, next_increase_at: null },
    automation_runs: { ...NONE, resets_at: account.usage.resets_at },
    domains: { used: domains.data.length, limit: Domain.MAX_DOMAINS },
    rate_limit: { limit: account.limits.other_per_minute, duration: "1m" },
  })
})

export const routes: ReadonlyArray<Route> = [usage]
