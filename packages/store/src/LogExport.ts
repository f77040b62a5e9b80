import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import * as Feed from "./Feed.ts"
import { MAX_FEED_PAGE } from "./Ledger.ts"
import * as LogFile from "./LogFile.ts"

/** Goes on where the chain is, up to where the log is settled by now, and ends it: text for a file, page by page. */
export const write = Effect.fn("LogExport.write")(function* (
  sql: PgClient.PgClient,
  chain: LogFile.Chain,
  append: (text: string) => Effect.Effect<void>,
) {
  const end = yield* Effect.orDie(Feed.settled(sql))
  let after = BigInt(chain.position)
  while (after < end) {
    const { events, upTo } = yield* Effect.orDie(Feed.read(sql, { after, limit: MAX_FEED_PAGE }))
    const lines = events.filter(({ position }) => position <= end).map((event) => chain.line(LogFile.entryOf(event)))
    if (lines.length > 0) yield* append(lines.join(""))
    after = upTo
  }
  yield* append(chain.end())
})
