import { type Happening, leavesOf, makeKey } from "./MadeLog.ts"

const ORIGIN = "mail.example.com/log"

const email = {
  email_id: "msg_01m7ynaym0e008000000000001",
  message_id: "<msg_01m7ynaym0e008000000000001@acme.test>",
  from: { address: "hi@acme.test", name: "Acme" },
  to: [{ address: "ana@example.org", name: "Ana \u00c5ngstr\u00f6m" }, { address: "bo@example.net" }],
  cc: [],
  bcc: [],
  reply_to: [],
  subject: 'Your "receipt" \u2014 caf\u00e9 \ud83d\ude80',
  tags: ["receipt"],
  scheduled_at: null,
  size_bytes: 5123,
}
const reply = { code: 250, enhanced_code: "2.0.0", mx: "mx1.example.org", tls: "TLSv1.3", duration_ms: 120, attempt: 1 }

const HAPPENINGS: ReadonlyArray<Happening> = [
  { type: "email.queued", at: "2026-11-29T18:00:00.000Z", data: email },
  {
    type: "email.delivered",
    at: "2026-11-29T18:00:01.250Z",
    data: { recipient: "ana@example.org", ...reply, response: "OK queued as 9F2" },
  },
  {
    type: "email.delivery_delayed",
    at: "2026-11-29T18:00:02.000Z",
    data: { recipient: "bo@example.net", ...reply, code: 451, response: null },
  },
  {
    type: "email.delivered",
    at: "2026-11-29T18:05:00.000Z",
    data: { recipient: "bo@example.net", ...reply, attempt: 2, response: "OK" },
  },
]

const other = (nth: number): ReadonlyArray<Happening> => [
  {
    type: "email.queued",
    at: "2026-11-29T17:00:00.000Z",
    data: { email_id: `msg_${nth}`, subject: "Another", from: { address: "hi@acme.test" } },
  },
  { type: "email.delivered", at: "2026-11-29T17:00:01.000Z", data: { recipient: "eve@example.org", code: 250 } },
]

/** A log of some messages, whose events lie between each other, and what signs it. */
export const sampleLog = () => {
  const own = leavesOf(email.email_id, HAPPENINGS)
  const others = Array.from({ length: 6 }, (_, nth) => leavesOf(`msg_${nth}`, other(nth)))
  const [first = [], second = [], ...rest] = others
  const [queued, delivered, ...later] = own
  const between = [...first, queued, ...second, delivered, ...rest.flat(), ...later].flatMap((leaf) => leaf ?? [])
  return {
    origin: ORIGIN,
    own,
    others,
    log: between,
    keys: [makeKey(ORIGIN)],
    witnesses: [makeKey("witness.example.org/w1", 4), makeKey("witness.example.net/w2", 4)],
  }
}
export type SampleLog = ReturnType<typeof sampleLog>
