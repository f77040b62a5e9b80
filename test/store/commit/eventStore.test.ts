import { EventStore } from "@waybill/store/commit/EventStore"
import { Layer } from "effect"
import { layer } from "../../support/effectTest.ts"
import * as MemoryLogStorage from "../../support/MemoryLogStorage.ts"
import * as Database from "../../support/postgres/Database.ts"
import { conformance } from "./eventStore.suite.ts"

layer(MemoryLogStorage.layer, { excludeTestServices: true })("the event store in memory", conformance)

layer(EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh)), { excludeTestServices: true })(
  "the event store on Postgres",
  conformance,
)
