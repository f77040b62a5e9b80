import * as Domain from "@waybill/domain/domain/Domain"
import * as DomainCheck from "@waybill/domain/domain/DomainCheck"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as DatabaseExamination from "@waybill/store/operations/DatabaseExamination"
import * as InstanceKey from "@waybill/store/secrets/InstanceKey"
import { Secrets } from "@waybill/store/secrets/Secrets"
import { Effect, Option, Redacted } from "effect"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Sql } from "@waybill/store/postgres/Sql"
import { checkDkimKeys } from "../../../apps/server/src/operate/doctor/checkDkimKeys.ts"
import { assert, it } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { NOWHERE } from "../../support/nowhere.ts"

const ring = (text: string) => InstanceKey.find({ file: NOWHERE, text: Option.some(Redacted.make(text)) })

const look = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  const { keys } = yield* DatabaseExamination.examine(url)
  const finding = yield* checkDkimKeys(keys, yield* ring(World.INSTANCE_KEY), "broken")
  return { keys, finding }
})

it.live("doctor, DKIM keys: a first key that cannot sign is broken, a second one is a warning", () =>
  Effect.gen(function* () {
    const sql = yield* Sql
    assert.strictEqual((yield* look).finding.status, "skipped")
    const from = yield* World.verifiedDomain("one.test")
    yield* World.addEd25519Key(from)
    yield* World.verifiedDomain("two.test")
    // A key that DNS has not shown signs nothing.
    assert.strictEqual((yield* look).finding.result, "2 keys open and sign")
    const { commit } = yield* EventStore
    const shown = DomainCheck.verifyReserved(Timestamp.fromMillis(Date.UTC(2999, 0, 1)))
    yield* Effect.orDie(commit(Domain, { account_id: from.account_id, stream_id: from.domain_id }, shown))
    const { finding: well, keys } = yield* look
    assert.deepStrictEqual([well.status, well.result], ["ok", "3 keys open and sign"])
    const elsewhere = yield* checkDkimKeys(keys, yield* ring(InstanceKey.generate()), "warning")
    assert.deepStrictEqual(
      [elsewhere.status, elsewhere.result],
      [
        "warning",
        "mail signed by wb1._domainkey.one.test, wb1._domainkey.two.test is deferred: the key cannot be opened or cannot sign",
      ],
    )
    assert.strictEqual((yield* checkDkimKeys(keys, Option.none(), "broken")).status, "skipped")

    const { seal } = yield* Secrets
    yield* seal({ account_id: from.account_id, id: from.domain_id, purpose: "dkim:wbe1" }, Buffer.from("no key"))
    const second = (yield* look).finding
    assert.strictEqual(second.status, "warning")
    assert.include(second.result, "the second signature of wbe1._domainkey.one.test:")
    yield* Effect.orDie(sql`DELETE FROM secrets WHERE id = ${from.domain_id}`)
    const first = (yield* look).finding
    assert.strictEqual(first.status, "broken")
    assert.include(first.result, "by wb1._domainkey.one.test ")
  }).pipe(Effect.provide(World.layer)),
)

it.live("doctor, instance key: is read and never created", function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "waybill-looked-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true })),
  )
  const found = yield* InstanceKey.find({ file: join(folder, "instance.key"), text: Option.none() })
  assert.isTrue(Option.isNone(found))
  assert.deepStrictEqual(yield* Effect.promise(() => readdir(folder)), [])
})
