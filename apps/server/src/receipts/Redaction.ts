import * as Table from "@waybill/domain/values/Table"
import { domainToASCII, domainToUnicode } from "node:url"

/** Fields that a name stands for besides its own: those that hold the same people. */
const ALSO: Readonly<Record<string, ReadonlyArray<string>>> = {
  recipient: ["to", "cc", "bcc", "address", "envelope", "mailbox_hash"],
}

/** Fields that hold people, whose addresses other fields may repeat. */
const PEOPLE: ReadonlySet<string> = new Set(["recipient", "to", "cc", "bcc", "from", "reply_to", "envelope"])

const ADDRESS = /[^\s<>"',;:()[\]]+@[^\s<>"',;:()[\]]+/gu

const textsOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (Array.isArray(value)) return value.flatMap(textsOf)
  return typeof value === "object" && value !== null ? Object.entries(value).flat().flatMap(textsOf) : []
}

const ESCAPED = /(?:%[0-9a-f]{2})+/gu
/** Times that a text may be escaped, as an address in a link that another link leads to. */
const MAX_ESCAPES = 3

/** Returns a text in lower case, without the escapes of addresses in links. */
const plain = (text: string): string => {
  let read = text.toLowerCase()
  for (let nth = 0; nth < MAX_ESCAPES && read.includes("%"); nth++)
    read = read.replaceAll(ESCAPED, (bytes) =>
      Buffer.from(bytes.replaceAll("%", ""), "hex").toString("utf8").toLowerCase(),
    )
  return read
}

/** Returns an address with its domain as DNS has it, and as people read it. */
const spellings = (address: string): ReadonlyArray<string> => {
  const at = address.lastIndexOf("@")
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)]
  return [domain, domainToASCII(domain), domainToUnicode(domain)].flatMap((each) =>
    each === "" ? [] : `${local}@${each}`,
  )
}

const recipientsOf = (envelope: unknown): unknown =>
  typeof envelope === "object" && envelope !== null && "to" in envelope ? envelope.to : []

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
        // An envelope that is hidden for its recipients does not hide its sender elsewhere.
        for (const text of textsOf(name === "envelope" && !names.includes(name) ? recipientsOf(value) : value))
          for (const [address] of text.matchAll(ADDRESS))
            for (const each of spellings(address.toLowerCase())) addresses.add(each)
  const repeats = (value: unknown) =>
    addresses.size > 0 &&
    textsOf(value).some((text) => {
      const read = plain(text)
      return [...addresses].some((address) => read.includes(address))
    })
  return { isHidden: (name, value) => hidden.has(name) || repeats(value) }
}
