import * as Criteria from "./Criteria.ts"
import type { MailEvent } from "./service/Feed.ts"

/** A message that the service has accepted, and what has happened to it so far. */
export interface Sent {
  readonly id: string
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly cc: ReadonlyArray<string>
  readonly bcc: ReadonlyArray<string>
  readonly subject: string
  /** Recipients to whom it was delivered, in order. */
  readonly delivered: ReadonlyArray<string>
  /** Recipients to whom it cannot be delivered: it bounced, failed, or the address is suppressed. */
  readonly undelivered: ReadonlyArray<string>
}

interface Entry extends Sent {
  readonly delivered: Array<string>
  readonly undelivered: Array<string>
  isTaken: boolean
}

const UNDELIVERED: ReadonlySet<string> = new Set(["email.bounced", "email.failed", "email.suppressed"])

const addresses = (list: MailEvent["data"]["to"] = []) => list.map(({ address }) => address)

/** Messages by their events. */
export class Mailbox {
  readonly #entries = new Map<string, Entry>()

  readonly take = ({ data, stream_id: id, type }: MailEvent): void => {
    if (type === "email.queued") {
      this.#entries.set(id, {
        id,
        from: data.from?.address ?? "",
        to: addresses(data.to),
        cc: addresses(data.cc),
        bcc: addresses(data.bcc),
        subject: data.subject ?? "",
        delivered: [],
        undelivered: [],
        isTaken: false,
      })
    }
    if (UNDELIVERED.has(type) && data.recipient !== undefined) this.#entries.get(id)?.undelivered.push(data.recipient)
    if (type === "email.delivered" && data.recipient !== undefined) {
      const entry = this.#entries.get(id)
      if (entry === undefined) return
      entry.delivered.push(data.recipient)
      // Moved to the end: arrivals are in the order of their delivery.
      if (entry.delivered.length > 1) return
      this.#entries.delete(id)
      this.#entries.set(id, entry)
    }
  }

  get all(): ReadonlyArray<Sent> {
    return [...this.#entries.values()]
  }

  /** Returns the first message that was delivered and not returned before. */
  next(criteria: Criteria.Criteria): Sent | undefined {
    for (const entry of this.#entries.values()) {
      if (entry.isTaken || entry.delivered.length === 0) continue
      if (!Criteria.matches(criteria, { ...entry, recipients: entry.delivered })) continue
      entry.isTaken = true
      return entry
    }
    return undefined
  }

  accepted(criteria: Criteria.Criteria): ReadonlyArray<Sent> {
    return this.all.filter((mail) =>
      Criteria.matches(criteria, { ...mail, recipients: [...mail.to, ...mail.cc, ...mail.bcc] }),
    )
  }

  delivered(criteria: Criteria.Criteria): ReadonlyArray<Sent> {
    return this.all.filter(
      (mail) => mail.delivered.length > 0 && Criteria.matches(criteria, { ...mail, recipients: mail.delivered }),
    )
  }

  clear(): void {
    this.#entries.clear()
  }
}

/** One line for each message, for error messages. */
export const describe = (mails: ReadonlyArray<Sent>): string =>
  mails.length === 0
    ? "Nothing was sent."
    : `Sent so far:\n${mails
        .map(({ cc, bcc, delivered, subject, to, undelivered }) => {
          const lost = undelivered.length === 0 ? "" : `; cannot be delivered to ${undelivered.join(", ")}`
          const outcome = `${delivered.length === 0 ? "not delivered" : `delivered to ${delivered.join(", ")}`}${lost}`
          return `  "${subject}" to ${[...to, ...cc, ...bcc].join(", ")}: ${outcome}`
        })
        .join("\n")}`
