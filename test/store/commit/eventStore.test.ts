import { EventStore } from "@waybill/store/commit/EventStore"
import { Layer } from "effect"
import { layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { conformance } from "./eventStore.suite.ts"

layer(EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh)), { excludeTestServices: true })(
  "the event store",
  conformance,
)
