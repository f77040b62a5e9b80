import * as Migrations from "@waybill/store/postgres/Migrations"
import { Effect, type Redacted } from "effect"

/** Brings the empty template database into the state every test's own database starts from. */
export const prepareTemplate = (url: Redacted.Redacted): Promise<unknown> => Effect.runPromise(Migrations.migrate(url))
