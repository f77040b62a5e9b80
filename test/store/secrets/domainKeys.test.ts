import { PgClient } from "@effect/sql-pg"
import type * as Aggregate from "@waybill/domain/values/Aggregate"
import * as Domain from "@waybill/domain/domain/Domain"
import * as DomainCheck from "@waybill/domain/domain/DomainCheck"
import type { Refusal } from "@waybill/domain/values/Refusal"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as DkimKeys from "@waybill/mail/dkim/DkimKey"
import * as DomainKeys from "@waybill/store/secrets/DomainKeys"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as InstanceKey from "@waybill/store/secrets/InstanceKey"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Secrets } from "@waybill/store/secrets/Secrets"
import { Clock, Context, Effect, Layer, Option, Redacted } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { NOWHERE } from "../../support/nowhere.ts"
import { asService, replayUrls } from "../../support/cells/testCell.ts"

const Store = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(...replayUrls(url)))).pipe(
  Layer.provideMerge(World.layer),
)

type Decide = Aggregate.Decide<Domain.State, Domain.Event, Refusal>
const happens = Effect.fnUntraced(function* (
  { account_id, domain_id }: World.SendingDomain,
  decide: (at: Timestamp.Timestamp) => Decide,
) {
  const { commit } = yield* EventStore
  const at = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
  yield* Effect.orDie(commit(Domain, { account_id, stream_id: domain_id }, decide(at)))
})

const seal = ({ account_id, domain_id: id }: World.SendingDomain, purpose: string) =>
  Effect.flatMap(Secrets, (secrets) => secrets.seal({ account_id, id, purpose }, Buffer.from("private")))

/** Starts a rotation to a new RSA key, which signs once it is found in DNS. */
const rotate = Effect.fnUntraced(function* (from: World.SendingDomain, selector: string) {
  const key_ref = `dkim:${selector}`
  yield* seal(from, key_ref)
  const public_key = (yield* DkimKeys.generateEd25519).record.replace(/^.*p=/u, "")
  yield* happens(from, (at) => Domain.rotateDkim(at, { selector, algorithm: "rsa", public_key, key_ref }))
})

const shown = (from: World.SendingDomain) => happens(from, DomainCheck.verifyReserved)

interface Key {
  readonly name: string
  readonly expires: boolean
}

const keys = Effect.flatMap(PgClient.PgClient, (sql) =>
  Effect.orDie(sql<Key>`
    SELECT d.name || ' ' || purpose AS name, expires_at IS NOT NULL AS expires
    FROM secrets s JOIN domains d USING (account_id, id) ORDER BY 1`),
)
const names = (all: ReadonlyArray<Key>, expires: boolean) =>
  all.flatMap((key) => (key.expires === expires ? [key.name] : []))

const run = (statement: string) => Effect.flatMap(PgClient.PgClient, (sql) => Effect.orDie(sql.unsafe(statement)))
/** An earlier time, by functions that do not depend on the time zone, because Citus takes no others in an update. */
const earlier = (column: string, n: number) =>
  `${column} = (${column} AT TIME ZONE 'UTC' - interval '${n} days') AT TIME ZONE 'UTC'`
const days = (n: number) => run(`UPDATE secrets SET ${earlier("created_at", n)}, ${earlier("expires_at", n)}`)

layer(Store, { excludeTestServices: true })("unused DKIM keys", (it) => {
  // threat: database-copy
  it.effect("expire, while keys in use or pending stay, and the log still folds without them", function* () {
    const { sweep } = yield* Secrets
    const acme = yield* World.verifiedDomain("acme.test")
    const gone = yield* World.verifiedDomain("gone.test")
    yield* rotate(acme, "wb2")
    yield* World.addEd25519Key(acme)
    yield* shown(acme)
    // Signing and pending keys of both kinds, and one of a rotation that was given up.
    yield* rotate(acme, "wb3")
    yield* World.addEd25519Key(acme, "wbe2")
    yield* seal(acme, "dkim:wb9")
    yield* World.addEd25519Key(gone)
    yield* happens(gone, Domain.remove)

    yield* DomainKeys.retire()
    assert.deepStrictEqual(names(yield* keys, true), [], "their commit may still come")
    yield* days(2)
    yield* DomainKeys.retire()
    const used = ["dkim:wb2", "dkim:wb3", "dkim:wbe1", "dkim:wbe2"].map((purpose) => `acme.test ${purpose}`)
    const over = ["acme.test dkim:wb1", "acme.test dkim:wb9", "gone.test dkim:wb1", "gone.test dkim:wbe1"]
    assert.deepStrictEqual([names(yield* keys, false), names(yield* keys, true)], [used, over])

    yield* days(DomainKeys.RETIRED_DAYS - 1)
    yield* DomainKeys.retire()
    assert.strictEqual(yield* sweep, 0)
    yield* days(1)
    assert.strictEqual(yield* sweep, over.length)
    assert.deepStrictEqual(names(yield* keys, false), used)

    yield* shown(acme)
    yield* days(2)
    yield* DomainKeys.retire()
    assert.deepStrictEqual(names(yield* keys, true), ["acme.test dkim:wb2", "acme.test dkim:wbe1"])
    yield* happens(acme, Domain.removeEd25519)
    yield* DomainKeys.retire()
    assert.deepStrictEqual(names(yield* keys, false), ["acme.test dkim:wb3"])
    yield* days(DomainKeys.RETIRED_DAYS)
    yield* sweep
    assert.deepStrictEqual((yield* Rebuild.verify("domains", { release: "test" })).differences, [])
    yield* Rebuild.rebuild("domains", { release: "test" })
    const text = Option.some(Redacted.make(`${InstanceKey.generate()}\n${World.INSTANCE_KEY}`))
    const keyring = InstanceKey.InstanceKey.layer({ file: NOWHERE, text })
    const anew = Context.get(yield* Layer.build(Layer.fresh(Layer.provide(Secrets.layer, keyring))), Secrets)
    // The signing key and the witness.
    assert.deepStrictEqual(yield* anew.rotate, { resealed: 2, unreadable: 0, unreachable: [] })
  })

  it.effect("are searched daily by a worker", () =>
    Effect.gen(function* () {
      const { url } = yield* Database.Fresh
      const from = yield* World.verifiedDomain("daily.test")
      yield* seal(from, "dkim:wb9")
      yield* days(2)
      yield* Layer.build(World.worker(url, {}))
      yield* asService(run("SELECT id FROM graphile_worker.add_job('sweep_secrets')"))
      const expiring = Effect.map(keys, (all) => names(all, true).filter((name) => name.startsWith("daily.test ")))
      yield* World.until(expiring, (found) => found.length > 0)
      assert.deepStrictEqual(yield* expiring, ["daily.test dkim:wb9"])
    }).pipe(Effect.scoped),
  )

  it.effect("are retained if their domain names them again", function* () {
    const from = yield* World.verifiedDomain("back.test")
    yield* days(2)
    yield* run("UPDATE secrets SET expires_at = now() + interval '1 day' WHERE account_id <> ''")
    yield* DomainKeys.retire()
    const kept = (yield* keys).filter(({ name }) => name.startsWith(`${from.name} `))
    assert.deepStrictEqual(kept, [{ name: "back.test dkim:wb1", expires: false }])
  })
})
