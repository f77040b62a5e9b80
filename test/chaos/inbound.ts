import { Sql } from "@waybill/store/postgres/Sql"
import type { AccountId } from "@waybill/domain/values/Id"
import { Effect } from "effect"
import nodemailer from "nodemailer"
import { assert } from "../support/effectTest.ts"

const PEERS = 4
/** Pause of a peer after a mail, and before it tries one again. */
const PAUSE_MS = 50
/** A server that waits longer has lost its connection. */
const PATIENCE_MS = 20_000
/** Some peers do not hear a 250, and send their mail again, as RFC 5321 has it. */
const REPEAT_EVERY = 5
/** Replies that ask for another attempt. Others are an error of the service, because nothing is wrong with the mail. */
const LATER = /^4\d\d /u

const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
const nameOf = (nth: number) => `in${nth}@example.org`
const mail = (nth: number) =>
  `From: ana@example.org\r\nMessage-ID: <${nameOf(nth)}>\r\nSubject: ${nth}\r\n\r\n${"Hello.\r\n".repeat(50)}`

/** Returns the id in the reply 250; undefined if the mail is to be sent again. */
const deliver = async (port: number, to: string, nth: number): Promise<string | undefined> => {
  const client = nodemailer.createTransport({
    host: "127.0.0.1",
    port,
    name: "mx.example.org",
    ignoreTLS: true,
    connectionTimeout: PATIENCE_MS,
    greetingTimeout: PATIENCE_MS,
    socketTimeout: PATIENCE_MS,
  })
  const envelope = { from: "ana@example.org", to: [to] }
  try {
    const { response } = await client.sendMail({ envelope, raw: mail(nth) })
    return /inb_\w+/u.exec(response)?.[0]
  } catch (error) {
    const { response } = error as { readonly response?: string }
    if (response !== undefined && !LATER.test(response))
      throw new Error(`mail ${nth} was refused: ${response}`, { cause: error })
    return undefined
  } finally {
    client.close()
  }
}

/** Mail servers that never give up: each sends a mail, to one process or the other, until it has heard a 250. */
export const load = (ports: ReadonlyArray<number>, to: string) => {
  /** Ids in the replies to each mail, by its name. */
  const heard = new Map<string, ReadonlySet<string>>()
  let isOver = false
  let next = 0
  const send = async (nth: number): Promise<void> => {
    const ids = new Set<string>()
    const wanted = nth % REPEAT_EVERY === 0 ? 2 : 1
    for (let tries = 0, done = 0; done < wanted; tries++) {
      const id = await deliver(ports[(nth + tries) % ports.length] ?? 0, to, nth)
      if (id !== undefined) {
        ids.add(id)
        done++
      }
      await pause()
    }
    heard.set(nameOf(nth), ids)
  }
  const peer = async () => {
    while (!isOver) await send(next++)
  }
  const peers = Promise.all(Array.from({ length: PEERS }, peer))
  return {
    heard,
    end: Effect.promise(async () => {
      isOver = true
      await peers
    }),
  }
}

/** Compares what peers have heard with what is there: each mail once, whole, under the id of its 250. */
export const audit = Effect.fnUntraced(function* (
  account_id: AccountId,
  heard: ReadonlyMap<string, ReadonlySet<string>>,
) {
  const sql = yield* Sql
  const kept = yield* Effect.orDie(sql<{ readonly id: string; readonly message_id: string; readonly bytes: string }>`
    SELECT i.id, i.message_id, convert_from(c.bytes, 'UTF8') AS bytes
    FROM inbound i LEFT JOIN inbound_content c USING (account_id, id) WHERE account_id = ${account_id}`)
  assert.isAbove(heard.size, 0)
  assert.deepStrictEqual(
    kept.map(({ id, message_id }) => `${message_id} ${id}`).toSorted(),
    [...heard].flatMap(([name, ids]) => [...ids].map((id) => `<${name}> ${id}`)).toSorted(),
  )
  for (const { bytes, message_id } of kept) {
    const nth = Number(/\d+/u.exec(message_id)?.[0])
    assert.strictEqual(bytes, mail(nth), message_id)
  }
  const events = yield* Effect.orDie(sql<{ readonly n: number }>`
    SELECT count(*)::int AS n FROM events WHERE account_id = ${account_id} AND type = 'EmailReceived'`)
  assert.strictEqual(events[0]?.n, kept.length)
})
