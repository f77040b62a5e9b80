import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import { eventName } from "../ui/display/eventName.ts"

/** The parts of a receipt that are said in words. `docs/receipts.md` describes the whole. */
export interface ShownReceipt {
  readonly origin: string
  readonly events: ReadonlyArray<{
    readonly entry: { readonly type: string; readonly at: string }
    /** Absent, like those below, once the message was erased. */
    readonly fields?: { readonly [name: string]: { readonly value: unknown } }
    /** Commitments of fields that the receipt does not show. */
    readonly hidden?: { readonly [name: string]: string }
    readonly index: number
  }>
  readonly checkpoint: string
  readonly cosignatures: ReadonlyArray<string>
}
type ShownEvent = ShownReceipt["events"][number]

export interface Outcome {
  readonly recipient: string
  readonly outcome: string
  readonly at: string
  /** The reply of the server, and what it was sent over. */
  readonly detail: string
}

type Row = readonly [label: string, value: string]

/** The content of a receipt, as text without hidden characters. */
export interface Facts {
  readonly subject: string
  readonly heading: ReadonlyArray<Row>
  /** The last outcome of each recipient. */
  readonly outcomes: ReadonlyArray<Outcome>
  /** Events that no outcome shows, counted; empty if there are none. */
  readonly others: string
  readonly proof: ReadonlyArray<Row>
}

const REDACTED = "(redacted)"
const ERASED = "(erased)"
const OUTCOMES: ReadonlySet<string> = new Set([
  "email.sent",
  "email.delivered",
  "email.delivery_delayed",
  "email.bounced",
  "email.failed",
  "email.suppressed",
  "email.complained",
])

export const of = (receipt: ShownReceipt): Facts => {
  const { events, origin } = receipt
  const first = events.find(({ entry: { type } }) => type === "email.queued" || type === "email.received")
  const isReceived = first?.entry.type === "email.received"
  const { outcomes, shown } = isReceived ? receivedBy(first) : outcomesIn(events, first)
  const counts = new Map<string, number>()
  for (const event of events)
    if (event !== first && !shown.has(event)) {
      const name = eventName(event.entry.type)
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  const [, size = "", root = ""] = receipt.checkpoint.split("\n")
  const field = (name: string) => (first === undefined ? "" : fieldOf(first, name))
  return {
    subject: field("subject") || "No subject",
    heading: [
      ["From", field("from")],
      ["To", isReceived ? field("to") : ["to", "cc", "bcc"].map(field).filter(Boolean).join(", ")],
      ["Message-ID", field("message_id")],
      [isReceived ? "Received" : "Accepted", first === undefined ? "" : timeOf(first.entry.at)],
    ],
    outcomes,
    others: [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count} times)`)).join(", "),
    proof: [
      ["Log", shownText(origin)],
      ["Entries", `${rangesOf(events.map(({ index }) => index))}, of ${shownText(size)}`],
      ["Root hash", shownText(root)],
      ["Signed by", signersOf(receipt.checkpoint)],
      ["Witnesses", receipt.cosignatures.map(witnessOf).join(", ") || "None"],
    ],
  }
}

/** Rows for a mail that came in: one for each address that it came to. */
const receivedBy = (event: ShownEvent) => {
  const envelope = valueOf(event, "envelope")
  const [to, remote_ip, helo, tls] = ["to", "remote_ip", "helo", "tls"].map((name) => propertyOf(envelope, name))
  const server = [textOf(helo), textOf(remote_ip) && `[${textOf(remote_ip)}]`].filter(Boolean).join(" ")
  const detail = [server && `From ${server}`, textOf(tls)].filter(Boolean).join(" · ")
  const row = (recipient: string) => ({ recipient, outcome: "Received", at: timeOf(event.entry.at), detail })
  return {
    outcomes: Array.isArray(to) ? to.map((each) => row(textOf(each))) : [row(fieldOf(event, "envelope"))],
    shown: new Set([event]),
  }
}

const outcomesIn = (events: ReadonlyArray<ShownEvent>, first: ShownEvent | undefined) => {
  const latest = new Map<string, ShownEvent>()
  const canceled = events.findLast(({ entry: { type } }) => type === "email.canceled")
  for (const name of ["to", "cc", "bcc"]) {
    const list = first === undefined ? undefined : valueOf(first, name)
    for (const mailbox of Array.isArray(list) ? list : [])
      if (first !== undefined) latest.set(textOf(propertyOf(mailbox, "address")), canceled ?? first)
  }
  for (const event of events)
    // Two redacted recipients may be the same one, or not.
    if (OUTCOMES.has(event.entry.type))
      latest.set(isShown(event) ? fieldOf(event, "recipient") : `${event.index}`, event)
  return {
    outcomes: Array.from(latest, ([recipient, event]) => ({
      recipient: OUTCOMES.has(event.entry.type) ? fieldOf(event, "recipient") : recipient,
      outcome: isKept(event) ? "Not sent" : eventName(event.entry.type),
      at: timeOf(event.entry.at),
      detail: detailOf(event),
    })),
    shown: new Set(latest.values()),
  }
}

const isShown = (event: ShownEvent): boolean => valueOf(event, "recipient") !== undefined

/** Mail that an instance keeps for its developers goes to this server, and so to nobody. */
const isKept = (event: ShownEvent): boolean => valueOf(event, "mx") === "capture"

/** The reply of the server in words; empty for an event without one. */
const detailOf = (event: ShownEvent): string => {
  if (event.fields === undefined) return ""
  if (isKept(event)) return "Kept in the sandbox of the service and sent to nobody"
  const address = fieldOf(event, "address")
  const server = [fieldOf(event, "mx"), address && `[${address}]`].filter(Boolean).join(" ")
  const said = ["code", "enhanced_code", "response"]
    .map((name) => fieldOf(event, name))
    .filter(Boolean)
    .join(" ")
  const reply = said === "" || server === "" ? `${server}${said}` : `${server} answered: ${said}`
  return [reply, fieldOf(event, "reason"), fieldOf(event, "tls")].filter(Boolean).join(" · ")
}

const isHidden = ({ hidden }: ShownEvent, name: string): boolean => hidden !== undefined && Object.hasOwn(hidden, name)
const valueOf = ({ fields }: ShownEvent, name: string): unknown => fields?.[name]?.value
const fieldOf = (event: ShownEvent, name: string): string =>
  event.fields === undefined ? ERASED : isHidden(event, name) ? REDACTED : textOf(valueOf(event, name))

const propertyOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined

/** A value in words: mailboxes as mail shows them, lists with commas. */
const textOf = (value: unknown): string => {
  if (typeof value === "string" || typeof value === "number") return shownText(String(value))
  if (Array.isArray(value)) return value.map(textOf).join(", ")
  const address = textOf(propertyOf(value, "address") ?? "")
  const name = textOf(propertyOf(value, "name") ?? "")
  return name === "" ? address : `${name} <${address}>`
}

const LATIN = /^[\u0020-\u00ff]*$/u

/** Text of others: invisible characters are shown, and its direction of writing does not affect the text beside it. */
const shownText = (text: string): string => {
  const shown = HiddenCharacters.showHidden(text)
  return LATIN.test(shown) ? shown : `\u2068${shown}\u2069`
}

const timeOf = (iso: string): string =>
  `${shownText(iso)
    .replace("T", " ")
    .replace(/\.\d+Z$|Z$/u, "")} UTC`

/** Writes numbers as `3, 5 to 7`. */
const rangesOf = (numbers: ReadonlyArray<number>): string => {
  const ranges: Array<[number, number]> = []
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last !== undefined && number === last[1] + 1) last[1] = number
    else ranges.push([number, number])
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`)).join(", ")
}

/** Names in the signature lines of a note. */
const signersOf = (note: string): string =>
  note
    .split("\n")
    .flatMap((line) => /^\u2014 (\S+) /u.exec(line)?.[1] ?? [])
    .map(shownText)
    .join(", ")

/** Name and time of a cosignature, whose time stands behind the four bytes of the key's id. */
const witnessOf = (line: string): string => {
  const [, name = "", signature = ""] = /^\u2014 (\S+) (\S+)$/u.exec(line.trim()) ?? []
  const bytes = Uint8Array.from(atob(signature), (letter) => letter.charCodeAt(0))
  const seconds = bytes.length < 12 ? 0 : Number(new DataView(bytes.buffer).getBigUint64(4))
  const isTime = seconds > 0 && seconds < 1e11
  return isTime ? `${shownText(name)} at ${timeOf(new Date(seconds * 1000).toISOString())}` : shownText(name)
}
