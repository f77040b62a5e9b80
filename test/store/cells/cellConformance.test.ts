import { EventStore } from "@waybill/store/commit/EventStore"
import { Layer } from "effect"
import { layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { conformance } from "../commit/eventStore.suite.ts"
import { inTheCell } from "./inTheCell.ts"

layer(EventStore.layer().pipe(Layer.provideMerge(inTheCell), Layer.provideMerge(Database.layerFresh)), {
  excludeTestServices: true,
})("the event store in a cell", conformance)
