import * as Database from "@waybill/store/postgres/Database"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Migrations from "@waybill/store/postgres/Migrations"
import { Provenance } from "@waybill/store/commit/Provenance"
import { Effect, Layer, type Redacted } from "effect"
import { userInfo } from "node:os"
import { Postgres } from "../boot/Postgres.ts"
import * as Settings from "../boot/Settings.ts"

/** An operator's hand is written into the log like everybody else's. */
const operator = Effect.sync(() => ({
  actor: { type: "operator" as const, id: userInfo().username },
  request_id: null,
  correlation_id: null,
  causation_id: null,
  address: null,
}))

const storeOn = <E>(prepare: (url: Redacted.Redacted) => Effect.Effect<unknown, E>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const settings = yield* Settings.load
      const database = Layer.unwrap(
        Effect.gen(function* () {
          const { url } = yield* Postgres
          yield* prepare(url)
          return Database.layer({ url, connections: 2, applicationName: "waybill cli" })
        }),
      )
      return EventStore.layer().pipe(
        Layer.provideMerge(database),
        Layer.provideMerge(Postgres.layer(settings)),
        Layer.merge(Layer.effect(Provenance, operator)),
      )
    }),
  )

/** A command on the log: beside a running service, or on the embedded Postgres started just for it. */
export const withStore = storeOn(Migrations.requireCurrent)

/** The first of all commands, where there is nothing yet. */
export const withStoreOrNew = storeOn(Migrations.requireCurrentOrMake)
