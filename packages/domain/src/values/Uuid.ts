import * as Id from "./Id.ts"

/** Pattern of a UUID, without anchors. */
export const PATTERN = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

const WHOLE = new RegExp(`^${PATTERN}$`, "iu")
const ID = new RegExp(`^[a-z]{3}_(${Id.BASE32})$`, "u")

/** Returns the UUID that an id of ours is, in the spelling of other services; `undefined` for any other text. */
export const of = (id: string): string | undefined => {
  const encoded = ID.exec(id)?.[1]
  const bytes = encoded === undefined ? undefined : Id.fromBase32(encoded)
  if (bytes === undefined) return undefined
  return format(Buffer.from(bytes).toString("hex"))
}

/** Writes 32 hexadecimal digits as a UUID. */
export const format = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-")

/** Returns the id that a UUID stands for; `undefined` for any other text. */
export const idOf = (name: keyof typeof Id.PREFIXES, text: string): string | undefined =>
  WHOLE.test(text) ? `${Id.PREFIXES[name]}_${Id.base32(Buffer.from(text.replaceAll("-", ""), "hex"))}` : undefined
