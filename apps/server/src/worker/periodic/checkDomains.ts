import type { DomainId } from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Leases from "@waybill/store/outbox/Leases"
import { Duration, Effect } from "effect"
import * as domains from "../../operate/domains.ts"
import { now } from "../../operate/fresh.ts"
import * as Pipeline from "../Pipeline.ts"

/** Domains that one process asks DNS about at once. */
export const MAX_CHECKS = 20
/** A check that wrote nothing down is not made again before this. */
export const UNCHANGED_PAUSE = Duration.minutes(5)

/** Looks at the DNS of each domain whose time has come; the log then says when to look again. */
export const checkDomains = () =>
  Pipeline.make({ kind: "domain_check", inFlight: MAX_CHECKS, prepare: (jobs) => Effect.succeed(jobs.map(check)) })

const check = Effect.fnUntraced(function* (job: Pipeline.Job) {
  const { row } = job
  if (!job.start()) return yield* job.giveBack
  const settled = yield* domains.check(row.account_id, row.id as DomainId, row)
  if (settled !== undefined) return
  yield* Leases.postpone(row, Timestamp.plus(yield* now, Duration.toMillis(UNCHANGED_PAUSE)))
})
