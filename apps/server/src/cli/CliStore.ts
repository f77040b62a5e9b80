import * as Availability from "@waybill/store/availability/Availability"
import * as Database from "@waybill/store/database/Database"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as EventKinds from "@waybill/store/feed/EventKinds"
import * as Migrations from "@waybill/store/database/Migrations"
import { Provenance } from "@waybill/store/log/Provenance"
import { Secrets } from "@waybill/store/secrets/Secrets"
import { Effect, Layer, type Redacted } from "effect"
import { userInfo } from "node:os"
import * as InstanceKeys from "../installation/InstanceKeys.ts"
import { Postgres } from "../installation/Postgres.ts"
import * as Settings from "../settings/Settings.ts"

/** Provenance of the events of a command. */
const operator = Effect.sync(() => ({
  actor: { type: "operator" as const, id: userInfo().username },
  request_id: null,
  correlation_id: null,
  causation_id: null,
  address: null,
}))

/** Connections of a command to each database: one holds the lock of a move, and one works. */
const CONNECTIONS = 2

const storeOn = <E>(prepare: (url: Redacted.Redacted) => Effect.Effect<unknown, E>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const settings = yield* Settings.load
      const database = Layer.unwrap(
        Effect.gen(function* () {
          const { url } = yield* Postgres
          yield* prepare(url)
          return Database.layer({ url, connections: CONNECTIONS, applicationName: "waybill cli" })
        }),
      )
      return EventStore.layer().pipe(
        Layer.provideMerge(EventKinds.layer({ release: undefined })),
        Layer.provideMerge(Availability.unwatched),
        Layer.provideMerge(database),
        Layer.provideMerge(InstanceKeys.cellKeysHere(settings)),
        Layer.provideMerge(Postgres.layer(settings)),
        Layer.merge(Layer.effect(Provenance, operator)),
      )
    }),
  )

/** Store of a command: that of a running service, or an embedded Postgres started for the command. */
export const layer = storeOn(Migrations.requireCurrent)

/** Store of a command that may be the first one: creates the schema if there is none. */
export const layerOrNew = storeOn(Migrations.requireCurrentOrCreate)

/** Store of a command that reads or seals secrets. */
export const sealed = Secrets.layer.pipe(
  Layer.provideMerge(Layer.unwrap(Effect.map(Settings.load, InstanceKeys.instanceKey))),
  Layer.provideMerge(layer),
)
