import type * as Email from "@waybill/domain/email/Email"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import type * as EmailStats from "@waybill/store/statistics/EmailStats"
import * as EmailStatsFollower from "@waybill/store/statistics/EmailStatsFollower"
import * as Follower from "@waybill/store/feed/Follower"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import { outcome, BEGAN, Store, accept, address, day, delivered, happens, later, to } from "./statsMail.ts"

layer(Store, { excludeTestServices: true })("recipients by status", (it) => {
  const failing = (_tag: "EmailBounced" | "EmailFailed" | "EmailDeferred", name: string, at: Timestamp.Timestamp) =>
    ({
      _tag,
      recipient: address(name),
      ...outcome,
      attempt: 1,
      bounce_type: "hard",
      next_attempt_at: later(60_000),
      at,
    }) as unknown as Email.Event
  const complained = (name: string, at: Timestamp.Timestamp): Email.Event => ({
    _tag: "EmailComplained",
    recipient: address(name),
    feedback_type: null,
    at,
  })
  const statuses = (row: EmailStats.Row | undefined) =>
    Object.fromEntries(Object.entries(row?.recipient_counts ?? {}).filter(([, n]) => n !== 0))

  for (const page of [1, 3, 1_000])
    it.effect(
      `count each recipient once, by its current status in the hour of acceptance, in pages of ${page}`,
      function* () {
        const account_id = id("AccountId")
        const names = ["deferred", "late", "angry", "gone", "failed", "blocked", "both", "waiting"]
        const email = yield* accept(account_id, { to: to(...names), tags: ["spring"], created_at: BEGAN })
        const canceled = yield* accept(account_id, { to: to("ana", "bob", "cleo"), created_at: later(Timestamp.HOUR) })
        yield* happens(
          account_id,
          email,
          failing("EmailDeferred", "deferred", later(1)),
          delivered("deferred", later(Timestamp.HOUR)),
          delivered("late", later(2)),
          failing("EmailBounced", "late", later(2 * Timestamp.HOUR)),
          delivered("angry", later(3)),
          complained("angry", later(3 * Timestamp.HOUR)),
          failing("EmailBounced", "gone", later(4)),
          failing("EmailFailed", "failed", later(5)),
          { _tag: "EmailSuppressed", recipient: address("blocked"), reason: "manual", at: later(6) },
          failing("EmailDeferred", "both", later(7)),
          failing("EmailDeferred", "both", later(8)),
        )
        yield* happens(
          account_id,
          canceled,
          delivered("ana", later(Timestamp.HOUR + 1)),
          failing("EmailDeferred", "bob", later(Timestamp.HOUR + 2)),
          { _tag: "EmailCanceled", at: later(Timestamp.HOUR + 3) },
        )
        while ((yield* Follower.step(EmailStatsFollower.follower, page)).events > 0);
        const [first, second, ...others] = (yield* day(account_id, { time: "hour" })).rows
        assert.deepStrictEqual(statuses(first), {
          queued: 1,
          deferred: 1,
          delivered: 1,
          bounced: 2,
          failed: 1,
          suppressed: 1,
          complained: 1,
        })
        assert.deepStrictEqual(statuses(second), { delivered: 1, canceled: 2 })
        for (const row of [first, second]) {
          const sum = Object.values(row?.recipient_counts ?? {}).reduce((a, b) => a + b, 0)
          assert.strictEqual(sum, row?.accepted)
        }
        // Later hours have events, but no recipients.
        assert.deepStrictEqual(others.map(statuses), [{}, {}])
        const [tagged] = (yield* day(account_id, {}, { tag: "spring" })).rows
        assert.deepStrictEqual(statuses(tagged), statuses(first))
        const sql = yield* Sql
        const [row] = yield* sql<{ readonly n: number }>`
          SELECT count(*)::int AS n FROM email_stats WHERE account_id = ${account_id} AND count < 1`
        assert.strictEqual(row?.n, 0)
      },
    )
})
