import * as Account from "@waybill/domain/account/Account"
import * as KeyLimits from "@waybill/domain/account/KeyLimits"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as SendBatch from "@waybill/domain/account/SendBatch"
import type { AccountId } from "@waybill/domain/values/Id"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Schema } from "effect"
import * as NewIds from "../../process/NewIds.ts"
import { accountOf } from "../../requests/accountOf.ts"
import { Admitted } from "../../requests/Admitted.ts"
import { decodeBody } from "../decodeBody.ts"
import type { Route } from "../Door.ts"
import * as Native from "../Native.ts"
import * as BatchId from "./BatchId.ts"

/** Refuses an id that was not made here for the account. */
export const check = Effect.fnUntraced(function* (batch_id: string) {
  if (!BatchId.isOf(accountOf(yield* Admitted), batch_id))
    return yield* Native.refuse("batch_id", "must be the id of a batch, which POST /v3/mail/batch makes")
})

const make: Route = {
  method: "POST",
  path: "/v3/mail/batch",
  endpoint: "emails.send",
  handle: () => Effect.map(Admitted, (admitted) => Native.created({ batch_id: BatchId.make(accountOf(admitted)) })),
}

const get: Route = {
  method: "GET",
  path: "/v3/mail/batch/:id",
  endpoint: "emails.send",
  handle: (_, { id = "" }) => Effect.as(check(id), Native.ok({ batch_id: id })),
}

/**
 * The account with the statuses of its batches. Test mail is in an account without a stream, so that its batches are in that
 * of the live account. Batches may have mail of several domains, which a key bound to one may not stop.
 */
const owner = Effect.gen(function* () {
  const admitted = yield* Admitted
  const domain = admitted !== undefined && "key" in admitted ? admitted.key.domain : null
  if (domain !== null) return yield* new KeyLimits.KeyBoundToDomain({ bound: domain, subject: "endpoint" })
  const account_id = accountOf(admitted) as AccountId
  const live = Livemode.liveAccountOf(account_id)
  const ref = { account_id: live, stream_id: live }
  return { account_id, ref, store: yield* EventStore, now: yield* NewIds.now }
})

const Stop = Schema.Struct({ batch_id: Schema.String, status: SendBatch.Status })
const Change = Schema.Struct({ status: SendBatch.Status })

/** Its emails are held or canceled when their time comes, as at SendGrid. Until then they are as they were. */
const stop: Route = {
  method: "POST",
  path: "/v3/user/scheduled_sends",
  endpoint: "emails.cancel",
  body: Stop,
  handle: Effect.fnUntraced(function* ({ body }) {
    const { batch_id, status } = yield* decodeBody(Stop, body)
    yield* check(batch_id)
    const { account_id, now, ref, store } = yield* owner
    const counts = (id: string) => BatchId.isOf(account_id, id)
    yield* store.commit(Account, ref, Account.stopBatch(now, batch_id, status, counts))
    return Native.created({ batch_id, status })
  }),
}

const stopped = Effect.gen(function* () {
  const { account_id, ref, store } = yield* owner
  const state = yield* store.state(Account, ref)
  const batches = state._tag === "Account" ? (state.batches ?? []) : []
  return batches.filter(({ batch_id }) => BatchId.isOf(account_id, batch_id))
})

const list: Route = {
  method: "GET",
  path: "/v3/user/scheduled_sends",
  endpoint: "emails.cancel",
  handle: () => Effect.map(stopped, Native.ok),
}

/** A list of one. */
const status: Route = {
  method: "GET",
  path: "/v3/user/scheduled_sends/:id",
  endpoint: "emails.cancel",
  handle: Effect.fnUntraced(function* (_, { id = "" }) {
    yield* check(id)
    const found = (yield* stopped).filter(({ batch_id }) => batch_id === id)
    return found.length === 0 ? yield* new SendBatch.NotChanged() : Native.ok(found)
  }),
}

const changing = Effect.fnUntraced(function* (id: string, status: SendBatch.Status | null) {
  yield* check(id)
  const { now, ref, store } = yield* owner
  yield* store
    .commit(Account, ref, Account.changeBatch(now, id, status))
    .pipe(Effect.catchTag("NothingNew", () => Effect.void))
  return { status: 204, body: undefined }
})

const change: Route = {
  method: "PATCH",
  path: "/v3/user/scheduled_sends/:id",
  endpoint: "emails.cancel",
  body: Change,
  handle: Effect.fnUntraced(function* ({ body }, { id = "" }) {
    return yield* changing(id, (yield* decodeBody(Change, body)).status)
  }),
}

const end: Route = {
  method: "DELETE",
  path: "/v3/user/scheduled_sends/:id",
  endpoint: "emails.cancel",
  handle: (_, { id = "" }) => changing(id, null),
}

export const routes: ReadonlyArray<Route> = [make, get, stop, list, status, change, end]
