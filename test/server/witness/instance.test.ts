import { Sql } from "@waybill/store/postgres/Sql"
import { parseNote, parseVkey, verifyNote } from "@waybill/verify/SignedNote"
import { Duration, Effect } from "effect"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import * as Cosigner from "../../../apps/server/src/witness/Cosigner.ts"
import * as SeenLogs from "../../../apps/server/src/witness/SeenLogs.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { memoryFolder } from "../../support/memoryFolder.ts"
import * as Database from "../../support/postgres/Database.ts"
import { freePort, WaybillCommand } from "../../support/process/service.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"
import { load } from "../processes/clients.ts"

/** Minutes for which witnesses are killed and come back; by default each is killed once. */
const MINUTES = Number(process.env["WAYBILL_WITNESS_MINUTES"] ?? 0)
const KILLS = 2
/** Mails a second, less if the machine takes fewer, and those between the death of a witness and its return. */
const MAILS_PER_SECOND = 50
const MAILS_BETWEEN = 50
/** Generous, because test machines can be slow. */
const WAIT = Duration.minutes(3)
const TIMEOUT = MINUTES * 60_000 + 10 * 60_000
const LOOPBACK = "127.0.0.0/8"

/** A witness as a command, which is killed and started again with the same folder. */
const witnessOf = async (name: string, instance: string) => {
  const folder = await memoryFolder("witness")
  const port = await freePort()
  const key = await Cosigner.fromFile(name, join(folder, "witness.key"))
  const file = join(folder, "witness.json")
  const config = {
    name,
    listen: { host: "127.0.0.1", port },
    folder: ".",
    follow_seconds: 1,
    allow_networks: [LOOPBACK],
    logs: [{ url: instance }],
  }
  await fs.writeFile(file, JSON.stringify(config))
  let command: WaybillCommand | undefined
  let earlier = ""
  return {
    name,
    folder,
    key: key.text,
    setting: `http://127.0.0.1:${port}=${key.text}`,
    start: async () => {
      command = new WaybillCommand(["witness", "--config", file], {})
      await command.waitForOutput("witness started")
    },
    kill: async () => {
      earlier += (await command?.stop("SIGKILL"))?.output ?? ""
    },
    output: () => earlier + (command?.output ?? ""),
    /** Size of the largest checkpoint that it has signed. */
    size: async (origin: string) => {
      const response = await fetch(`http://127.0.0.1:${port}/${await SeenLogs.nameOf(origin)}/checkpoint`)
      const text = await response.text()
      return response.status === 200 ? Number(text.split("\n")[1]) : 0
    },
  }
}

layer(World.layer, { excludeTestServices: true })("two witnesses of an instance", (it) => {
  it.effect(
    "sign its log under load, are killed and come back, and refuse a second history",
    function* () {
      const { url } = yield* Database.Fresh
      const port = yield* Effect.promise(freePort)
      const instance = `http://127.0.0.1:${port}`
      const origin = `127.0.0.1:${port}/log`
      const witnesses = yield* Effect.acquireRelease(
        Effect.promise(() =>
          Promise.all(["w1", "w2"].map((name) => witnessOf(`witness.example.org/${name}`, instance))),
        ),
        (all) =>
          Effect.promise(() =>
            Promise.all(
              all.map(async ({ folder, kill }) => {
                await kill()
                await fs.rm(folder, { recursive: true, force: true })
              }),
            ),
          ),
      )
      const service = yield* ServiceProcess.start(url, {
        PORT: String(port),
        BASE_URL: instance,
        LOG_LEVEL: "Info",
        WITNESSES: witnesses.map(({ setting }) => setting).join(","),
        WITNESS_ALLOW_NETWORKS: LOOPBACK,
      })
      yield* Effect.promise(() => Promise.all(witnesses.map(({ start }) => start())))
      const { key } = yield* ServiceProcess.signUp(service, { limits: { send: 1_000_000 } })
      const began = performance.now()
      const clients = load(() => [service], key, MAILS_PER_SECOND)

      const more = (mails: number) =>
        Effect.suspend(() => {
          const enough = clients.answers.length + mails
          return World.until(
            Effect.sync(() => clients.answers.length),
            (now) => now >= enough,
            WAIT,
          )
        })

      const end = performance.now() + MINUTES * 60_000
      let kill = 0
      for (; kill < KILLS || performance.now() < end; kill++) {
        const witness = witnesses[kill % witnesses.length] ?? assert.fail()
        yield* more(MAILS_BETWEEN)
        yield* Effect.promise(witness.kill)
        yield* more(MAILS_BETWEEN)
        yield* Effect.promise(witness.start)
        const before = yield* Effect.promise(() => witness.size(origin))
        yield* more(1)
        yield* World.until(
          Effect.promise(() => witness.size(origin)),
          (size) => size > before,
          WAIT,
        )
      }
      yield* clients.end
      const seconds = (performance.now() - began) / 1000
      assert.deepStrictEqual(ServiceProcess.countByStatus(clients.answers), { 200: clients.answers.length })
      for (const { output } of witnesses) assert.notInclude(output(), "two histories")
      const mails = clients.answers.length
      const sizes = yield* Effect.promise(() => Promise.all(witnesses.map(({ size }) => size(origin))))
      const perSecond = Math.round(mails / seconds)
      yield* Effect.log("killed witnesses", { kills: kill, seconds: Math.round(seconds), mails, perSecond, sizes })

      // A receipt carries the signatures of both over its checkpoint, and their keys.
      const id = String(clients.answers.at(-1)?.json.id)
      const receiptOf = Effect.promise(() => service.request("GET", `/v1/email/${id}/receipt`, { key }))
      const { json: receipt } = yield* World.until(receiptOf, ({ json }) => json.cosignatures?.length === 2, WAIT)
      const note = parseNote(`${receipt.checkpoint}${receipt.cosignatures.map((line: string) => `${line}\n`).join("")}`)
      for (const { key } of witnesses) {
        assert.include(receipt.keys, key)
        const verdict = yield* Effect.promise(async () => verifyNote(note, await parseVkey(key)))
        assert.strictEqual(verdict.result, "valid")
      }

      // The tree is built anew, with other salts: the instance signs a second history under the name of the first.
      const sql = yield* Sql
      yield* sql`TRUNCATE log_leaves, log_tiles, log_heads`
      yield* sql`UPDATE followers SET position = 0 WHERE name = 'log_tree'`
      const body = { from: "hi@acme.test", to: "ana@example.org", subject: "Another history", text: "Hello." }
      yield* Effect.promise(() => service.request("POST", "/v1/email/send", { key, body }))
      const isNamed = Effect.sync(() => witnesses.every(({ output }) => output().includes("has shown two histories")))
      yield* World.until(isNamed, (named) => named, WAIT)
      yield* World.until(
        Effect.sync(() => service.output()),
        (output) => output.includes("as one of another history"),
        WAIT,
      )
      for (const { folder, output } of witnesses) {
        const line =
          output()
            .split("\n")
            .find((text) => text.includes("has shown two histories")) ?? "{}"
        const { larger, origin: named, proof, smaller } = JSON.parse(line)
        assert.strictEqual(named, origin)
        assert.isAtMost(smaller.size, larger.size)
        assert.include(proof, folder)
      }
    },
    TIMEOUT,
  )
})
