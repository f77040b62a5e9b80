import * as Email from "@waybill/domain/email/Email"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Copy from "@waybill/store/copy/Copy"
import { CopyBinary } from "@waybill/store/copy/CopyBinary"
import { system } from "@waybill/store/log/Provenance"
import * as RecordedEvents from "@waybill/store/log/RecordedEvents"
import * as PackedEvent from "@waybill/store/packed/PackedEvent"
import pg from "pg"
import { queued } from "../../support/history.ts"

const ACCOUNTS = 10
const BEGAN = Date.UTC(2026, 0, 1)
const STEP_MS = 700
/**
 * Number of messages accepted before the outcomes of the first one, so that streams are interleaved as in a real log.
 */
const UNDER_WAY = 1_000

interface Event {
  readonly account_id: string
  readonly stream_id: string
  readonly version: number
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

const random = (nth: number, salt: number): Uint8Array =>
  Uint8Array.from({ length: 10 }, (_, i) => Math.imul(nth + salt + 1, 0x9e37_79b1 + i * 0x85eb_ca6b) >>> 13)
const accounts = Array.from({ length: ACCOUNTS }, (_, nth) => Id.make("AccountId", BEGAN, random(nth, 7)))
const domainId = Id.make("DomainId", BEGAN, random(1, 9))
const template = RecordedEvents.encode(Email, queued(Id.make("EmailId", BEGAN, random(0, 0))))

const words = {
  code: 250,
  enhanced_code: "2.0.0",
  response: "OK queued as 9F2B7C1A55",
  mx: "mx1.example.org",
  tls: "TLSv1.3",
  duration_ms: 120,
  category: null,
}

/**
 * Returns the events of the nth message: mostly accepted and delivered, some deferred first, some opened, few bounced.
 */
const life = (nth: number): ReadonlyArray<Event> => {
  const millis = BEGAN + nth * STEP_MS
  const at = (after: number) => Timestamp.fromMillis(millis + after)
  const email_id = Id.make("EmailId", millis, random(nth, 0))
  const recipient = `user${nth % 50_021}@example${nth % 37}.org`
  const account_id = accounts[nth % ACCOUNTS] ?? ""
  const events: Array<readonly [string, Readonly<Record<string, unknown>>]> = [
    [
      "EmailQueued",
      {
        ...template,
        email_id,
        message_id: `<${email_id}@acme.test>`,
        to: [{ address: recipient, name: `User ${nth}` }],
        subject: `Your order ${nth} is on its way`,
        headers: { "X-Order": `${nth}` },
        tags: ["order", `campaign-${nth % 12}`],
        domain_id: domainId,
        created_at: at(0),
      },
    ],
  ]
  const kind = nth % 20
  if (kind < 3) {
    const next_attempt_at = at(60_000)
    events.push([
      "EmailDeferred",
      { recipient, ...words, code: 451, category: "greylisted", attempt: 1, next_attempt_at, at: at(900) },
    ])
  }
  if (kind === 19)
    events.push([
      "EmailBounced",
      { recipient, bounce_type: "hard", ...words, code: 550, category: "invalid_recipient", attempt: 1, at: at(1_200) },
    ])
  else events.push(["EmailDelivered", { recipient, ...words, attempt: kind < 3 ? 2 : 1, at: at(61_000) }])
  if (kind % 3 === 1)
    events.push([
      "EmailOpened",
      { recipient, user_agent: "Mozilla/5.0 (X11; Linux x86_64)", ip: "192.0.2.7", at: at(90_000) },
    ])
  return events.map(([type, data], n) => ({ account_id, stream_id: email_id, version: n + 1, type, data }))
}

const COLUMNS = [
  ["account_id", "text"],
  ["stream_id", "text"],
  ["version", "integer"],
  ["stream", "text"],
  ["type", "text"],
  ["event_id", "text"],
  ["data", "jsonb"],
  ["meta", "jsonb"],
  ["packed", "text"],
  ["recorded_at", "timestamp with time zone"],
].map(([name = "", type = ""]) => ({ name, type }))

const meta = { ...system, schema_version: 1 }

/** Writes messages until the log holds this many events; returns the numbers of messages and events. */
export const write = async (
  url: string,
  atLeast: number,
  underWay = UNDER_WAY,
): Promise<{ messages: number; events: number }> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    let messages = 0
    let events = 0
    let later: Array<Event> = []
    const rows = new CopyBinary(COLUMNS)
    while (events < atLeast) {
      rows.begin()
      const add = (event: Event) => {
        const nth = events++
        rows.add({
          ...event,
          stream: "email",
          event_id: Id.make("EventId", BEGAN + nth, random(nth, 3)),
          ...PackedEvent.columnsOf({ ...event, meta }),
          recorded_at: Timestamp.fromMillis(BEGAN + nth),
        })
      }
      const due = later
      later = []
      for (let n = 0; n < underWay; n++) {
        const [first, ...rest] = life(messages++)
        if (first !== undefined) add(first)
        later.push(...rest)
      }
      for (const event of due) add(event)
      if (events >= atLeast) for (const event of later) add(event)
      rows.end()
      const columns = COLUMNS.map(({ name }) => name).join(", ")
      await Copy.into(client, `COPY events (${columns}) FROM STDIN (FORMAT binary)`, rows.chunks)
    }
    // Vacuumed and analyzed, as the log of a running service is.
    await client.query("VACUUM (ANALYZE) events")
    return { messages, events }
  } finally {
    await client.end()
  }
}
