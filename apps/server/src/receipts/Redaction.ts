import * as Table from "@waybill/domain/values/Table"

/** Fields that a name stands for besides its own: those that hold the same people. */
const ALSO: Readonly<Record<string, ReadonlyArray<string>>> = {
  recipient: ["to", "cc", "bcc", "address"],
}

/** Fields that hold people, whose addresses other fields may repeat. */
const PEOPLE: ReadonlySet<string> = new Set(["recipient", "to", "cc", "bcc", "from", "reply_to", "envelope"])

const ADDRESS = /[^\s<>"',;:()[\]]+@[^\s<>"',;:()[\]]+/gu

const textsOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : []
}

/** The parts of a mail that its receipt does not show. */
export interface Redaction {
  /** Whether a field of an event is hidden. */
  readonly isHidden: (name: string, value: unknown) => boolean
}

/**
 * Hides fields by their names, and every other field that repeats an address from one of them, as replies of servers do. `events`
 * are the data of all events of the mail.
 */
export const make = (
  names: ReadonlyArray<string>,
  events: ReadonlyArray<Readonly<Record<string, unknown>>>,
): Redaction => {
  const hidden = new Set(names.flatMap((name) => [name, ...(Table.at(ALSO, name) ?? [])]))
  const addresses = new Set<string>()
  for (const data of events)
    for (const [name, value] of Object.entries(data))
      if (hidden.has(name) && PEOPLE.has(name))
        for (const text of textsOf(value))
          for (const [address] of text.matchAll(ADDRESS)) addresses.add(address.toLowerCase())
  const repeats = (value: unknown) =>
    addresses.size > 0 &&
    textsOf(value).some((text) => {
      const lower = text.toLowerCase()
      return [...addresses].some((address) => lower.includes(address))
    })
  return { isHidden: (name, value) => hidden.has(name) || repeats(value) }
}
