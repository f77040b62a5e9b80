import * as Email from "@waybill/domain/email/Email"
import type { Address } from "@waybill/domain/values/Address"
import type { AccountId, EmailId } from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Follower from "@waybill/store/feed/Follower"
import * as EmailStats from "@waybill/store/statistics/EmailStats"
import * as EmailStatsFollower from "@waybill/store/statistics/EmailStatsFollower"
import { Effect, Layer, Result } from "effect"
import * as Database from "../../support/postgres/Database.ts"
import { send } from "../commit/commits.ts"

export const Store = EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh))
export const BEGAN = Timestamp.Timestamp.make("2026-11-21T09:00:00.000Z")
export const later = (millis: number) => Timestamp.plus(BEGAN, millis)

export const outcome = {
  code: 250,
  enhanced_code: null,
  response: null,
  mx: null,
  tls: null,
  duration_ms: 5,
  category: null,
}

export const accept = (account_id: AccountId, over: Readonly<Record<string, unknown>>) =>
  Effect.orDie(EventStore.use((store) => store.transact(send(account_id, {}, over))))

export const happens = (account_id: AccountId, stream_id: EmailId, ...events: ReadonlyArray<Email.Event>) =>
  EventStore.use((store) =>
    Effect.forEach(events, (event) => store.commit(Email, { account_id, stream_id }, () => Result.succeed([event]))),
  )

export const to = (...names: ReadonlyArray<string>) => names.map((name) => ({ address: `${name}@example.org` }))
export const address = (name: string) => `${name}@example.org` as Address
export const delivered = (name: string, at: Timestamp.Timestamp): Email.Event => ({
  _tag: "EmailDelivered",
  recipient: address(name),
  ...outcome,
  attempt: 1,
  at,
})

export const followToTheEnd = Effect.gen(function* () {
  while ((yield* Follower.step(EmailStatsFollower.follower)).events > 0);
})

export const day = (
  account_id: AccountId,
  by: Partial<EmailStats.Query["by"]> = {},
  over: Partial<EmailStats.Query> = {},
) =>
  EmailStats.find({
    account_id,
    from: "2026-11-21T00:00:00.000Z",
    to: "2026-11-22T00:00:00.000Z",
    by: { time: null, domain: false, tag: false, ...by },
    ...over,
  })
