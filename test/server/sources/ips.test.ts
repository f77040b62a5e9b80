import * as Account from "@waybill/domain/account/Account"
import type * as Email from "@waybill/domain/email/Email"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as SourcePools from "@waybill/store/sources/SourcePools"
import * as SourcePauses from "@waybill/store/sources/SourcePauses"
import { Effect, Layer } from "effect"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import * as SourceChoices from "../../../apps/server/src/sources/SourceChoices.ts"
import * as Transports from "../../../apps/server/src/worker/delivery/Transports.ts"
import * as Worker from "../../../apps/server/src/boot/service/Worker.ts"
import { directTransport, pair } from "../../mail/smtp/mxPair.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import * as World from "../../support/world/World.ts"

const TIMEOUT = 60_000
const ADDRESS = "127.0.0.31"

const waybill = (...args: ReadonlyArray<string>) => CommandLine.toEnd("ips", ...args)

const succeeds = (...args: ReadonlyArray<string>) =>
  Effect.map(waybill(...args), ({ code, output }) => {
    assert.strictEqual(code, 0, output)
    return output
  })

/** Runs a command that is refused, and returns its one line. */
const refused = (...args: ReadonlyArray<string>) =>
  Effect.map(waybill(...args), ({ code, output }) => {
    assert.notStrictEqual(code, 0, output)
    assert.strictEqual(output.trim().split("\n").length, 1, output)
    return output
  })

layer(World.layer, { excludeTestServices: true })("waybill ips", (it) => {
  it.effect(
    "adds, changes, pauses and removes addresses, with JSON for programs and one line for a mistake",
    function* () {
      const added = JSON.parse(
        yield* succeeds("add", ADDRESS, "--pool", "fine", "--ehlo", "Mail.Acme.Test", "--plan", "standard", "--json"),
      )
      assert.deepInclude(added, { address: ADDRESS, pool: "fine", ehlo: "mail.acme.test" })
      assert.deepInclude(added.warm_up, { plan: "standard", day: 1, days: 21 })
      assert.include(yield* refused("add", ADDRESS), "is a source address already")
      assert.include(yield* refused("add", "127.1"), "127.1 is not an IP address")
      assert.include(yield* refused("add", "127.0.0.32", "--pool", "Bad Name"), "The name of a pool")
      assert.include(yield* refused("add", "127.0.0.32", "--plan", "nothing"), "There is no warm-up plan nothing")
      const changed = JSON.parse(yield* succeeds("change", ADDRESS, "--plan", "standard", "--day", "4", "--json"))
      assert.strictEqual(changed.warm_up.day, 4)
      yield* succeeds("pause", ADDRESS, "--site", "google.com", "--reason", "ticket 1")
      const table = yield* succeeds("list")
      for (const part of ["address", ADDRESS, "fine", "standard, day 4 of 21", "google.com until resumed"])
        assert.include(table, part)
      yield* succeeds("resume", ADDRESS)
      assert.include(yield* refused("resume", ADDRESS, "--site", "google.com"), "is not paused for google.com")
      assert.include(yield* refused("pools", "remove", "fine"), "Pool fine is in use")
      yield* succeeds("remove", ADDRESS)
      yield* succeeds("pools", "remove", "fine")
      assert.include(yield* refused("remove", ADDRESS), "is no source address")
    },
    TIMEOUT,
  )

  it.effect(
    "keeps plans of the operator, which are checked, and that addresses use",
    function* () {
      const folder = mkdtempSync(join(tmpdir(), "waybill-plan-"))
      const file = join(folder, "plan.json")
      writeFileSync(file, JSON.stringify({ days: [{ "*": 5, "google.com": 9 }] }))
      yield* succeeds("plans", "add", "careful", file)
      assert.include(yield* succeeds("plans", "show", "careful"), "google.com")
      yield* succeeds("add", ADDRESS, "--plan", "careful")
      assert.include(yield* refused("plans", "remove", "careful"), "is in use by 1 addresses")
      writeFileSync(file, JSON.stringify({ days: [{ "*": 5, "gmail.com": 9 }] }))
      assert.include(yield* succeeds("plans", "add", "mistaken", file), "no rule names gmail.com")
      writeFileSync(file, JSON.stringify({ days: [{ "google.com": 9 }] }))
      assert.include(yield* refused("plans", "add", "wrong", file), "plan.json")
      yield* succeeds("remove", ADDRESS)
    },
    TIMEOUT,
  )

  // threat: internal-names
  it.effect(
    "assigns an account to a pool, whose mail waits with a reason in its timeline, and leaves after it",
    function* () {
      const { url } = yield* Database.Fresh
      const from = yield* World.verifiedDomain()
      const { account_id } = from
      const { commit } = yield* EventStore
      const born = Account.create(yield* NewIds.now, account_id, "Acme", "business")
      yield* Effect.orDie(commit(Account, { account_id, stream_id: account_id }, born))
      yield* succeeds("add", ADDRESS, "--pool", "own", "--ehlo", "own.acme.test")
      yield* succeeds("assign", "own", "--account", account_id, "--domain", from.name)
      assert.include(yield* succeeds("assignments"), from.name)
      yield* SourcePauses.pause(ADDRESS, SourcePauses.EVERY_SITE, "a remark that no customer may read")

      const servers = yield* pair({})
      const sources = yield* SourceChoices.make({ name: "host.test" })
      const direct = Transports.Transports.layer("direct", { direct: directTransport(servers, { sources }) })
      yield* Layer.build(
        Worker.layer({
          url,
          delivery: { returnPath: World.RETURN_PATH, nextAttempt: World.retrySoon },
        }).pipe(Layer.provide([direct, World.delivering])),
      )
      const ref = yield* World.send(from, { to: [{ address: "ana@acme.test" }] })
      const waits = yield* World.until(World.history(ref), ({ history }) => history.length > 1)
      const event = waits.history[1]?.event as Email.Event | undefined
      assert.deepStrictEqual(event?._tag === "EmailDeferred" ? [event.category, event.response] : event, [
        "source_address",
        'the addresses of pool "own" are paused',
      ])
      yield* succeeds("resume", ADDRESS)
      yield* sources.reload
      const other = yield* World.send(from, { to: [{ address: "ben@acme.test" }] })
      yield* World.settled(other)
      assert.deepInclude(servers.mx1?.mails[0], { remote: ADDRESS, helo: "own.acme.test" })
      yield* succeeds("unassign", "--account", account_id, "--domain", from.name)
      assert.include(yield* refused("unassign", "--account", account_id), "It is not assigned")
      // A domain that was removed is known by its id.
      yield* SourcePools.assign({ account_id, domain_id: "dom_removed", pool: "own" })
      yield* succeeds("unassign", "--account", account_id, "--domain", "dom_removed")
    },
    TIMEOUT,
  )
})
