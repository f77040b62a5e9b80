import type { DomainId } from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Leases from "@waybill/store/outbox/Leases"
import { Duration, Effect } from "effect"
import * as DomainCommands from "../../operate/DomainCommands.ts"
import * as NewIds from "../../process/NewIds.ts"
import * as Pipelines from "../Pipelines.ts"
import * as Pipeline from "../Pipeline.ts"

/** Maximum number of domains that one process checks at once. */
export const MAX_CHECKS = 20
/** Pause after a check that changed nothing. */
export const UNCHANGED_PAUSE = Duration.minutes(5)

/** Checks the DNS of domains that are due. The event of a check says when the next one is due. */
export const checkDomains = () =>
  Pipelines.make(MAX_CHECKS, (bound) =>
    Pipeline.make({ kind: "domain_check", bound, prepare: () => Effect.succeed(check) }),
  )

const check = Effect.fnUntraced(function* (job: Pipeline.PipelineJob) {
  const { row } = job
  if (!job.start()) return yield* job.giveBack
  const committed = yield* DomainCommands.check(row.account_id, row.id as DomainId, row)
  if (committed !== undefined) return
  yield* Leases.postpone(row, Timestamp.plus(yield* NewIds.now, Duration.toMillis(UNCHANGED_PAUSE)))
})
