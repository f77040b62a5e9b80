import * as Migrations from "@waybill/store/database/Migrations"
import { Effect, type Redacted } from "effect"

/** Migrates the empty template database, from which every test database is copied. */
export const prepareTemplate = (url: Redacted.Redacted): Promise<unknown> => Effect.runPromise(Migrations.migrate(url))
