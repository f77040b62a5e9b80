import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import type { SuppressionRecord } from "@waybill/api/groups/Suppressions"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import * as SuppressionRefusal from "@waybill/domain/suppression/SuppressionRefusal"
import * as Databases from "@waybill/store/routing/Databases"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import * as Suppressions from "@waybill/store/readmodels/Suppressions"
import { workOnStream } from "@waybill/store/commit/workOnStream"
import { Effect, Result } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as NewIds from "../../process/NewIds.ts"
import * as RequestCommit from "../../accept/RequestCommit.ts"
import { changeSuppressions } from "../../accept/changeSuppressions.ts"
import * as LargeRequests from "../middleware/LargeRequests.ts"
import { found } from "../../web/found.ts"
import * as Handlers from "../middleware/Handlers.ts"

export const SuppressionHandlers = HttpApiBuilder.group(Api, "suppressions", (handlers) =>
  handlers.handleAll({
    list: Handlers.withKey(function* ({ account_id }, { query }) {
      const { livemode: _, ...filters } = query
      const page = yield* Suppressions.list({ account_id, ...filters })
      return { object: "list" as const, ...page, data: page.data.map(recordIn(account_id)) }
    }),
    get: Handlers.withKey(function* ({ account_id }, { params }) {
      const row = Suppressions.find(account_id, Suppression.streamId(params.email))
      return recordIn(account_id)(yield* found(row, () => new SuppressionRefusal.SuppressionNotFound()))
    }),
    add: Handlers.withKey(function* ({ account_id }, call) {
      const { email, reason } = call.payload
      const id = yield* NewIds.newId("SuppressionId")
      const work = workOnStream(
        Suppression,
        Suppression.streamId(email),
        (now) => Suppression.add(now, id, email, reason ?? "manual", null),
        (state) => recordIn(account_id)(recordOf(state)),
      )
      return yield* RequestCommit.commit(call, Effect.as(takeChanges(1), work))
    }),
    batch: (call) => {
      const { add, remove = [] } = call.payload
      const requested =
        add?.map(({ email, reason }) => ({ email, reason: reason ?? ("manual" as const) })) ??
        remove.map((email) => ({ email, reason: undefined }))
      const changing = Effect.andThen(takeChanges(requested.length), changeSuppressions(requested))
      return LargeRequests.inTurn(RequestCommit.commit(call, changing))
    },
    remove: ({ params }) => {
      const id = Suppression.streamId(params.email)
      return Effect.andThen(
        takeChanges(1),
        RequestCommit.commitRepeatable({
          streams: [{ aggregate: Suppression, id }],
          decide: (view) => {
            const before = view.state<Suppression.State>(Suppression, id)
            return Result.map(Suppression.remove(view.now)(before), (events) => ({
              append: [{ aggregate: Suppression, id, events }],
              answer: { object: "suppression" as const, id: recordOf(before).id, email: id, deleted: true as const },
            }))
          },
        }),
      )
    },
  }),
)

/** Takes changes from what the account has of a day. A repeated request takes none. */
const takeChanges = Effect.fnUntraced(function* (count: number) {
  const { account_id } = yield* CurrentKey
  const taking = RateWindows.takeOfDay(`${account_id}/suppressions`, count, SuppressionRefusal.MAX_CHANGES_PER_DAY)
  const wait_s = yield* Databases.ofAccount(account_id, taking)
  if (wait_s !== undefined) return yield* new SuppressionRefusal.TooManyChanges({ retry_after_s: wait_s })
})

/** Completes a record with its source and the mode of its account. */
const recordIn =
  (account_id: string) =>
  (record: Suppressions.SuppressionRecord): SuppressionRecord => ({
    ...record,
    source: record.email_id === null ? "request" : "email",
    livemode: Livemode.isLive(account_id),
  })

const recordOf = (state: Suppression.State) => {
  if (state._tag === "Absent") throw new Error("an address that was just suppressed is not")
  return Suppressions.recordOf(state)
}
