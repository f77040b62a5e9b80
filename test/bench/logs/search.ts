import type { PgClient } from "@effect/sql-pg"
import type * as Id from "@waybill/domain/values/Id"
import * as Database from "@waybill/store/database/Database"
import { Sql } from "@waybill/store/postgres/Sql"
import { Effect, Redacted, Schedule } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import { tenant } from "../accept/tenant.ts"
import * as Waybill from "../accept/Waybill.ts"
import * as Held from "../report/Held.ts"
import * as Measure from "../report/Measure.ts"
import * as TemporaryServer from "../report/TemporaryServer.ts"
import { write } from "./mail.ts"
import { recipient, recipientSql } from "./people.ts"

const SIZES = [2_000, 20_000, 200_000]
const WARM_UP = 5
/** Mails a second while searches run, to all accounts together. */
const SENDS_PER_SECOND = 60
/** Mails that each account sends in one burst before searches run. */
const BURST = 400
const EXACT = "exact address"

/** Parameters of the search for each kind of part, and how many of the mails have it. */
const PARTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [EXACT]: { to: "ana.smith0@gmail.com" },
  "part of a recipient: none": { recipient: "zzyzx" },
  "part of a recipient: one": { recipient: "ana.smith0@" },
  "part of a recipient: 1 in 2,000": { recipient: "ben.garcia" },
  "part of a recipient: 1 in 40": { recipient: "laura." },
  "part of a recipient: 1 in 3": { recipient: "@gmail.com" },
  "provider: 1 in 3": { provider: "gmail" },
  "provider: none": { provider: "comcast" },
  "word: none": { q: "zzyzx" },
  "word: one": { q: "ana.smith0" },
  "word: 1 in 2,000": { q: "ben.garcia" },
  "word: 1 in 50": { q: "kowalski" },
  "word: tag of ten": { q: "rare" },
  "word: most": { q: "acme" },
}

interface Owner {
  readonly size: number
  readonly key: string
}

/** Sends at a steady rate until it is stopped; returns the function that stops it. */
const steadily = (port: number, keys: ReadonlyArray<string>) => {
  let sent = 0
  const timer = setInterval(() => {
    const nth = sent++
    // Each account sends to all recipients in turn.
    void send(port, keys[nth % keys.length] ?? "", Math.floor(nth / keys.length))
  }, 1000 / SENDS_PER_SECOND)
  return () => clearInterval(timer)
}

const send = async (port: number, key: string, nth: number): Promise<void> => {
  const response = await fetch(`http://127.0.0.1:${port}/v1/email/send`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      from: "hi@acme.test",
      to: [recipient(nth)],
      subject: `Your order ${nth} has shipped`,
      text: `Order ${nth} is on its way.`,
    }),
  })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`a send was answered ${response.status}`)
}

/** Searches every account in turn within a round, so that other load on the machine affects all searches. */
const measure = async (port: number, owners: ReadonlyArray<Owner>, rounds: number) => {
  const latencies = new Map<string, Array<number>>()
  for (let round = -WARM_UP; round < rounds; round++)
    for (const [name, part] of Object.entries(PARTS))
      for (const { key, size } of owners) {
        const began = performance.now()
        const response = await fetch(`http://127.0.0.1:${port}/v1/email/logs?${new URLSearchParams(part).toString()}`, {
          headers: { authorization: `Bearer ${key}` },
        })
        await response.arrayBuffer()
        const took = performance.now() - began
        if (response.status !== 200) throw new Error(`a search was answered ${response.status}`)
        if (round >= 0) latencies.set(`${name} ${size}`, [...(latencies.get(`${name} ${size}`) ?? []), took])
      }
  return (name: string, size: number) => Measure.quantile(latencies.get(`${name} ${size}`) ?? [], 0.5)
}

/** Waits until the followers have read the log, whose statistics would be counted while searches run. */
const settle = Effect.gen(function* () {
  const sql = yield* Sql
  const isSettled = Effect.map(
    sql<{ readonly is_settled: boolean }>`
      SELECT coalesce(min(position) >= (SELECT max(position) FROM events), true) AS is_settled FROM followers
      WHERE name IN ('search_words', 'email_stats')`,
    ([row]) => row?.is_settled === true,
  )
  yield* Effect.repeat(isSettled, { until: (done) => done, schedule: Schedule.spaced("200 millis") })
})

const STATES = ["idle", "after a burst", "under delivery"] as const

/** Prints what a search for a part costs against one for an exact address, in accounts whose recipients have realistic names. */
export const search = async (rounds: number): Promise<void> => {
  const postgres = await Held.held(TemporaryServer.temporaryServer())
  const url = await TemporaryServer.freshDatabase(postgres)
  const within = <A, E>(effect: Effect.Effect<A, E, PgClient.PgClient>) =>
    Effect.runPromise(Effect.provide(effect, Database.layer({ url })))
  const home = await Held.acquire(
    () => fs.mkdtemp(path.join(os.tmpdir(), "waybill-search-")),
    (folder) => fs.rm(folder, { recursive: true, force: true }),
  )
  const service = await Held.acquire(
    () => Waybill.startBundled(Redacted.value(url), home, [], { TRANSPORT: "sandbox" }),
    ({ stop }) => stop(),
  )
  const owners: Array<Owner> = []
  for (const size of SIZES) {
    const [key = ""] = await tenant(url, 1)
    await Waybill.addDomain(service, key)
    const account_id = await within(
      Effect.flatMap(Sql, (sql) =>
        sql<{ readonly id: Id.AccountId }>`
        SELECT account_id AS id FROM api_keys ORDER BY account_id DESC LIMIT 1`.pipe(Effect.map(([row]) => row?.id)),
      ),
    )
    if (account_id === undefined) throw new Error("the account has no key")
    await within(Effect.flatMap(Sql, (sql) => write(sql, account_id, 0, size, recipientSql(size))))
    owners.push({ size, key })
  }
  const keys = owners.map(({ key }) => key)
  await within(settle)
  const idle = await measure(service.port, owners, rounds)
  for (let nth = 0; nth < BURST; nth++) await Promise.all(keys.map((key) => send(service.port, key, nth)))
  const burst = await measure(service.port, owners, rounds)
  const stop = steadily(service.port, keys)
  const busy = await measure(service.port, owners, rounds).finally(stop)
  const states = [idle, burst, busy]
  process.stdout.write(
    `${[
      `Milliseconds of GET /email/logs (p50), and as a multiple of that for an exact address. Under delivery: ${SENDS_PER_SECOND} sends a second.`,
      TemporaryServer.describe(await TemporaryServer.environment(postgres)),
      "",
      Measure.table(
        ["", ...STATES.flatMap((state) => SIZES.map((size) => `${state}, ${size.toLocaleString("en-US")}`))],
        Object.keys(PARTS).map((name) => [
          name,
          ...states.flatMap((of) =>
            SIZES.map((size) => `${Measure.millis(of(name, size))} ${Measure.times(of(name, size) / of(EXACT, size))}`),
          ),
        ]),
      ),
    ].join("\n")}\n`,
  )
}
