import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import { maxRangeMs, type StatsQuery, type StatsRow } from "@waybill/api/groups/Stats"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Cursors } from "@waybill/store/feed/Cursors"
import * as EmailStats from "@waybill/store/statistics/EmailStats"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as NewIds from "../../process/NewIds.ts"
import * as CallerReach from "../middleware/CallerReach.ts"

/** Period of statistics when no start is given. */
const DEFAULT_PERIOD_MS = 24 * Timestamp.HOUR

const GROUPS = ["template", "api_key", "provider"] as const

export const StatsHandlers = HttpApiBuilder.group(Api, "stats", (handlers) =>
  handlers.handle("get", ({ query }) =>
    Effect.gen(function* () {
      const { account_id } = yield* CurrentKey
      const { from, to } = periodOf(query, yield* NewIds.now)
      const group_by = query.group_by ?? []
      const domain = yield* CallerReach.domainFilter(query.domain)
      const { more_tags, position, rows } = yield* EmailStats.find({
        account_id,
        from,
        to,
        by: {
          time: group_by.includes("hour") ? "hour" : group_by.includes("day") ? "day" : null,
          domain: group_by.includes("domain"),
          tag: group_by.includes("tag"),
          group: GROUPS.find((group) => group_by.includes(group)),
        },
        ...(domain === undefined ? {} : { domain }),
        ...(query.tag === undefined ? {} : { tag: query.tag }),
        ...(query.template === undefined ? {} : { template: query.template }),
      })
      return {
        object: "stats" as const,
        livemode: Livemode.isLive(account_id),
        from,
        to,
        group_by,
        up_to_position: (yield* Cursors).ofProgress(account_id, position),
        more_tags,
        data: rows satisfies ReadonlyArray<StatsRow>,
      }
    }),
  ),
)

/**
 * Extends the requested period to full hours. A single given end is completed with the default period, within the
 * maximum.
 */
const periodOf = ({ from, group_by, to }: StatsQuery, at: Timestamp.Timestamp) => {
  const end = hourAfter(
    to ?? (from === undefined ? at : Timestamp.earliest(at, Timestamp.plus(from, maxRangeMs(group_by)))),
  )
  return { from: hourOf(from ?? Timestamp.plus(end, -DEFAULT_PERIOD_MS)), to: end }
}

const hourOf = (at: Timestamp.Timestamp): Timestamp.Timestamp =>
  Timestamp.fromMillis(Math.floor(Timestamp.toMillis(at) / Timestamp.HOUR) * Timestamp.HOUR)
const hourAfter = (at: Timestamp.Timestamp): Timestamp.Timestamp =>
  Timestamp.fromMillis(Math.ceil(Timestamp.toMillis(at) / Timestamp.HOUR) * Timestamp.HOUR)
