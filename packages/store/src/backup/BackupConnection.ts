import { Effect, type Redacted } from "effect"
import type pg from "pg"
import * as OwnConnection from "../database/OwnConnection.ts"
import * as DatabaseUrl from "../postgres/DatabaseUrl.ts"
import * as Sockets from "../postgres/Sockets.ts"
import * as BackupFile from "./BackupFile.ts"

/** Settings of a backup and of a restore: no limit of time, and text of values that does not depend on the role. */
export const SESSION = `
  SET search_path = ''; SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0;
  SET datestyle = ISO; SET intervalstyle = postgres; SET extra_float_digits = 3; SET bytea_output = hex`

/** Runs work on a connection of its own, which is closed with the work, also while a statement runs. */
export const use = <A>(url: Redacted.Redacted, work: (client: pg.Client, signal: AbortSignal) => Promise<A>) =>
  Effect.tryPromise({
    try: async (signal) => {
      const client = await OwnConnection.open(url, "waybill backup")
      // The server ends a statement whose client is gone.
      const leave = () => Sockets.destroy(client)
      signal.addEventListener("abort", leave, { once: true })
      try {
        const result = await work(client, signal)
        await client.end()
        return result
      } catch (cause) {
        leave()
        throw cause
      } finally {
        signal.removeEventListener("abort", leave)
      }
    },
    catch: (cause) => (cause instanceof DatabaseUrl.ConnectFailed ? cause : BackupFile.refusalOf(cause)),
  })
