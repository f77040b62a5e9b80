import { system } from "@waybill/store/log/Provenance"
import { Effect, Redacted, type Scope } from "effect"
import pg from "pg"
import { urlInTestCell, WAITING_SESSIONS } from "../cells/testCell.ts"

/** Another client of the same database, with a connection of its own. */
export interface OtherClient {
  readonly query: (
    text: string,
    values?: ReadonlyArray<unknown>,
  ) => Effect.Effect<ReadonlyArray<Record<string, unknown>>>
}

export const otherClient = (url: Redacted.Redacted): Effect.Effect<OtherClient, never, Scope.Scope> =>
  homeClient(urlInTestCell(url))

/** The same of the server at an address, also where the cell of the tests is elsewhere. */
export const homeClient = (url: Redacted.Redacted): Effect.Effect<OtherClient, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const client = new pg.Client({ connectionString: Redacted.value(url) })
        client.on("error", () => {})
        await client.connect()
        return client
      }),
      (client) => Effect.promise(() => client.end()),
    ),
    (client) => ({
      query: (text, values = []) => Effect.promise(async () => (await client.query(text, [...values])).rows),
    }),
  )

/** Writes a stream's next event from the other client, in a transaction that stays open. */
export const takeVersion = (
  other: OtherClient,
  ref: { readonly account_id: string; readonly stream_id: string },
  version: number,
) =>
  Effect.andThen(
    other.query("BEGIN"),
    other.query(
      `INSERT INTO events (account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
        SELECT account_id, stream_id, $3::int, stream, 'EmailOpened', 'evt_rival_' || $3::int,
          '{"recipient": null, "user_agent": null, "ip": null, "at": "2026-11-21T09:05:00.000Z"}', $4, recorded_at
        FROM events WHERE account_id = $1 AND stream_id = $2 AND version = 1`,
      [ref.account_id, ref.stream_id, version, JSON.stringify({ ...system, schema_version: 1 })],
    ),
  )

/** Waits until a backend waits for a lock in this database, and returns its process id. */
export const blockedBackend = (watcher: OtherClient) =>
  watcher.query(WAITING_SESSIONS).pipe(
    Effect.repeat({ until: (rows) => rows.length > 0 }),
    Effect.map((rows) => Number(rows[0]?.["pid"])),
  )
