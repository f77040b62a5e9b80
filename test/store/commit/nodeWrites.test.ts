import * as StoredContent from "@waybill/store/content/StoredContent"
import { rowsOf } from "@waybill/store/log/BatchTable"
import * as Email from "@waybill/domain/email/Email"
import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import type { AccountId } from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { makeDeps } from "@waybill/store/commit/EventStore"
import * as GroupCommit from "@waybill/store/commit/GroupCommit"
import * as PostgresLogStorage from "@waybill/store/commit/PostgresLogStorage"
import * as IdKey from "@waybill/store/postgres/IdKey"
import { Sql } from "@waybill/store/postgres/Sql"
import { FIRST } from "@waybill/store/routing/CellName"
import * as PipelinedConnection from "@waybill/store/database/PipelinedConnection"
import { Effect, Result } from "effect"
import { createHash, randomUUID } from "node:crypto"
import { assert, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import * as Database from "../../support/postgres/Database.ts"
import { send } from "./commits.ts"

const MONTH = "2026-11"
const NOW = Timestamp.Timestamp.make("2026-11-21T09:00:00.000Z")
const MAILS = 5

/** A mail with what the statements of acceptance read and write; its size is that of its content. */
const mail = (account_id: AccountId, text: string) => {
  const bytes = Buffer.from(text)
  const sha256 = createHash("sha256").update(bytes).digest("hex")
  const { decide, ...commit } = send(account_id, {}, { subject: `Subject ${text.length % 3}` })
  return {
    ...commit,
    idempotency: { account_id, route: "send", key: randomUUID(), fingerprint: text, encode: () => bytes },
    needs: { month: MONTH, domains: ["acme.test"], addresses: ["ana@example.org"] },
    decide: (view: Parameters<typeof decide>[0]) =>
      Result.map(decide(view), (decision) => ({
        ...decision,
        rows: [rowsOf(StoredContent.table, [{ account_id, sha256, bytes, expires_on: "2027-01-01" }])],
      })),
  }
}

layer(Database.layerFresh, { excludeTestServices: true })("the statements of a node of Citus", (it) => {
  it.effect("read and write the same as the one of Postgres", function* () {
    const sql = yield* Sql
    const written: Array<unknown> = []
    for (const isPerTable of [false, true]) {
      const account_id = id("AccountId")
      const storage = PostgresLogStorage.make({
        sql,
        connection: yield* PipelinedConnection.make(sql),
        place: { schema: isPerTable ? "cell_b" : FIRST, isPerTable },
      })
      const group = yield* GroupCommit.make({ storage, ...makeDeps() })
      // The second batch finds the usage, the subjects and one content of the first.
      const emails = []
      for (const first of ["a", "b"]) {
        const texts = Array.from({ length: MAILS }, (_, nth) => (nth === 0 ? "same" : first.repeat(nth)))
        const sent = yield* Effect.forEach(texts, (text) => group.submit(mail(account_id, text)), {
          concurrency: "unbounded",
        })
        emails.push(...sent.flatMap((each) => (each._tag === "Committed" ? [each.answer] : [])))
      }
      const outcome = { _tag: "Delivered", words: { ...DeliveryOutcome.NO_RESPONSE, attempt: 1 } } as const
      yield* Effect.forEach(
        emails.slice(0, MAILS),
        (email) =>
          group.submit({
            account_id,
            streams: [{ aggregate: Email, id: email }],
            decide: (view) => {
              const state = view.state(Email, email)
              const to = state._tag === "Message" ? state.recipients.map(({ address }) => address) : []
              return Result.map(
                EmailReport.record(
                  NOW,
                  to.map((recipient) => ({ ...outcome, recipient })),
                )(state),
                (events) => ({
                  append: [{ aggregate: Email, id: email, events }],
                  answer: email,
                }),
              )
            },
          }),
        { concurrency: "unbounded" },
      )
      const key = IdKey.of(account_id)
      written.push([
        yield* sql`SELECT type, version, count(*)::int AS n FROM events WHERE account_id = ${account_id} GROUP BY 1, 2 ORDER BY 1, 2`,
        yield* sql`SELECT version, status, listed, facets, count(*)::int AS n FROM email_log WHERE account_id = ${key}::uuid
          GROUP BY 1, 2, 3, 4 ORDER BY 1`,
        yield* sql`SELECT term, folded FROM email_subjects WHERE account_id = ${key}::uuid ORDER BY 1`,
        yield* sql`SELECT encode(sha256, 'hex') AS hash, uses FROM content WHERE account_id = ${account_id} ORDER BY 1`,
        yield* sql`SELECT kind, ready, attempt, payload FROM outbox WHERE account_id = ${account_id} ORDER BY id`,
        yield* sql`SELECT fingerprint, encode(answer, 'hex') AS answer FROM idempotency_keys WHERE account_id = ${account_id}
          ORDER BY 1`,
        yield* sql`SELECT month, accepted::int AS accepted FROM monthly_usage WHERE account_id = ${account_id}`,
      ])
    }
    const [together, apart] = written
    assert.deepStrictEqual(apart, together)
    assert.lengthOf((together as ReadonlyArray<ReadonlyArray<unknown>>)[4] ?? [], MAILS)
  })
})
