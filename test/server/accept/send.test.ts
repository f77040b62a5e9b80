import { PgClient } from "@effect/sql-pg"
import * as Sendable from "@waybill/api/schemas/send/Sendable"
import type { Commit, View } from "@waybill/store/commit/Commit"
import type { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Result, Schema } from "effect"
import * as AcceptCommit from "../../../apps/server/src/accept/AcceptCommit.ts"
import * as Draft from "../../../apps/server/src/accept/Draft.ts"
import * as RequestCommit from "../../../apps/server/src/accept/RequestCommit.ts"
import * as Send from "../../../apps/server/src/accept/Send.ts"
import { Programs } from "../../../apps/server/src/templates/Programs.ts"
import { assert, describe, it } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"

const MESSAGE = { from: "hi@acme.test", to: ["ana@example.org", "bo@example.org"], subject: "x", text: "x" }

/** What a decision reads of an account with a verified domain and one suppressed address. */
const viewWith = (suppressed: string | undefined) =>
  ({
    facts: {
      account: () => ({ plan: "free", limits: { monthly_emails: null }, granted: {}, content_days: 30 }),
      domain: () => ({ id: id("DomainId"), status: "verified" }),
      suppression: (_: string, address: string) => (address === suppressed ? "manual" : undefined),
      acceptedIn: () => 0,
      unsent: () => ({ bytes: 0, refunded: 0 }),
    },
  }) as unknown as View

/** A store whose batch has a conflict, so that each commit is decided once on each view. Its last decision is committed. */
const decidingOn = (...views: ReadonlyArray<View>) =>
  ({
    transact: <A, E>({ decide }: Commit<A, E>) => {
      const decided = views.map((view) => Result.map(decide(view), ({ answer }) => answer))
      return Effect.fromResult(decided.at(-1) ?? assert.fail("no view"))
    },
  }) as unknown as EventStore["Service"]

describe("a send that is decided about again", () => {
  it.effect("reports the last decision only", function* () {
    const message = yield* Schema.decodeUnknownEffect(Sendable.Sendable)(MESSAGE)
    const account_id = id("AccountId")
    const store = decidingOn(viewWith("bo@example.org"), viewWith(undefined))
    const reported: Array<RequestCommit.Verdicts> = []
    yield* Send.send(
      { sender: { account_id, key: null, tracks: false }, target: { store, account_id, idempotency: undefined } },
      [Draft.outgoing(message)],
      AcceptCommit.acknowledge,
    ).pipe(
      Effect.provideService(RequestCommit.TranslatedRequest, {
        route: "POST /compat/postmark/email",
        hashOfBody: () => "",
        onVerdicts: (verdicts) => reported.push(verdicts),
      }),
      // Only messages of templates and repeated requests read these.
      Effect.provideService(PgClient.PgClient, undefined as never),
      Effect.provideService(Programs, undefined as never),
    )
    assert.deepStrictEqual(
      reported.map((verdicts) => verdicts.map(Result.map(({ suppressed }) => suppressed))),
      [[Result.succeed([])]],
    )
  })
})
