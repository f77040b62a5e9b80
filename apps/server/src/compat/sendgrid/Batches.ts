import * as Account from "@waybill/domain/account/Account"
import * as KeyLimits from "@waybill/domain/account/KeyLimits"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as SendBatch from "@waybill/domain/account/SendBatch"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Schema } from "effect"
import * as NewIds from "../../process/NewIds.ts"
import { accountOf } from "../../requests/accountOf.ts"
import { Admitted } from "../../requests/Admitted.ts"
import type { Route } from "../Door.ts"
import * as Native from "../Native.ts"
import { route } from "../route.ts"
import * as BatchId from "./BatchId.ts"

/** Refuses an id that was not made here for the account. */
export const check = Effect.fnUntraced(function* (batch_id: string) {
  if (!BatchId.isOf(accountOf(yield* Admitted), batch_id))
    return yield* Native.refuse("batch_id", "must be the id of a batch, which POST /v3/mail/batch makes")
})

const make = route("POST /v3/mail/batch", { endpoint: "emails.send", bucket: "other" }, function* () {
  return Native.created({ batch_id: BatchId.make(accountOf(yield* Admitted)) })
})

const get = route("GET /v3/mail/batch/:id", { endpoint: "emails.send", bucket: "other" }, function* (_, { id = "" }) {
  yield* check(id)
  return Native.ok({ batch_id: id })
})

/**
 * The account with the statuses of its batches. Test mail is in an account without a stream, so that its batches are in that
 * of the live account. Batches may have mail of several domains, which a key bound to one may not stop.
 */
const owner = Effect.gen(function* () {
  const admitted = yield* Admitted
  const domain = admitted !== undefined && "key" in admitted ? admitted.key.domain : null
  if (domain !== null) return yield* new KeyLimits.KeyBoundToDomain({ bound: domain, subject: "endpoint" })
  const account_id = accountOf(admitted)
  const live = Livemode.liveAccountOf(account_id)
  const ref = { account_id: live, stream_id: live }
  return { account_id, ref, store: yield* EventStore, now: yield* NewIds.now }
})

const Stop = Schema.Struct({ batch_id: Schema.String, status: SendBatch.Status })
const Change = Schema.Struct({ status: SendBatch.Status })

const change = Effect.fnUntraced(function* (batch_id: string, status: SendBatch.Status | null) {
  const { account_id, now, ref, store } = yield* owner
  const counts = (id: string) => BatchId.isOf(account_id, id)
  yield* store.commit(Account, ref, Account.changeBatch(now, batch_id, status, counts))
})

const stopped = Effect.gen(function* () {
  const { account_id, ref, store } = yield* owner
  const state = yield* store.state(Account, ref)
  const batches = state._tag === "Account" ? (state.batches ?? []) : []
  return batches.filter(({ batch_id }) => BatchId.isOf(account_id, batch_id))
})

/** Returns the status of a batch as a list of one; refuses a batch without one. */
const stoppedBy = Effect.fnUntraced(function* (id: string) {
  yield* check(id)
  const found = (yield* stopped).filter(({ batch_id }) => batch_id === id)
  return found.length === 0 ? yield* Native.missing("No batch with this id is paused or canceled.") : found
})

const stop = route(
  "POST /v3/user/scheduled_sends",
  { endpoint: "emails.cancel", body: Stop },
  function* ({ body: { batch_id, status } }) {
    yield* check(batch_id)
    const before = (yield* stopped).find((each) => each.batch_id === batch_id)
    if (before !== undefined) {
      const already = `has the status ${before.status} already; change it with PATCH, or end it with DELETE`
      return yield* Native.refuse("batch_id", already)
    }
    yield* change(batch_id, status)
    return Native.created({ batch_id, status })
  },
)

const list = route("GET /v3/user/scheduled_sends", "emails.cancel", function* () {
  return Native.ok(yield* stopped)
})

const status = route("GET /v3/user/scheduled_sends/:id", "emails.cancel", function* (_, { id = "" }) {
  return Native.ok(yield* stoppedBy(id))
})

const update = route(
  "PATCH /v3/user/scheduled_sends/:id",
  { endpoint: "emails.cancel", body: Change },
  function* ({ body }, { id = "" }) {
    yield* stoppedBy(id)
    yield* change(id, body.status)
    return Native.NOTHING
  },
)

const end = route("DELETE /v3/user/scheduled_sends/:id", "emails.cancel", function* (_, { id = "" }) {
  yield* stoppedBy(id)
  yield* change(id, null)
  return Native.NOTHING
})

export const routes: ReadonlyArray<Route> = [make, get, stop, list, status, update, end]
