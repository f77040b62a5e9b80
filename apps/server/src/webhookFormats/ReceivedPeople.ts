import type { InboundEmail } from "@waybill/api/groups/Inbound"

/** A received mail as our own API shows it, without links and texts. */
export type Received = Omit<InboundEmail, "attachments"> & {
  readonly attachments: ReadonlyArray<Omit<InboundEmail["attachments"][number], "expires_at" | "url">>
}

type Person = Received["to"][number]

/** Returns the person who wrote a mail: the first of its header, or its return path. */
export const senderOf = ({ envelope, from }: Received): Person => from ?? { address: envelope.from, name: null }

/** Returns the recipients that the header does not name. */
export const hiddenOf = ({ cc, envelope, to }: Received): ReadonlyArray<Person> => {
  const named = new Set([...to, ...cc].map(({ address }) => address.toLowerCase()))
  return envelope.to
    .filter((address) => !named.has(address.toLowerCase()))
    .map((address): Person => ({ address, name: null }))
}

/** Writes a person as the header of a mail does: `Ana <ana@example.org>`. */
export const textOf = ({ address, name }: Person): string => {
  if (name === null) return address
  const text = /^[\p{L}\p{N} !#$%&'*+/=?^_`{|}~-]+$/u.test(name) ? name : `"${name.replaceAll(/["\\]/gu, "\\$&")}"`
  return address === "" ? text : `${text} <${address}>`
}

export const textsOf = (people: ReadonlyArray<Person>): string => people.map(textOf).join(", ")
