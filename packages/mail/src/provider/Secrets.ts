/** Takes the secrets of the operator out of a text. */
export type Mask = (text: string) => string

export const MASKED = "[masked]"
/** A shorter text is no secret, and could be part of any word. */
export const SHORTEST_SECRET = 8
/** Options that name no secret, and are part of the ids of messages, by which events of a provider are matched. */
const PUBLIC_OPTIONS: ReadonlySet<string> = new Set(["region", "domain"])

export const NOTHING: Mask = (text) => text

/** Masks each text within these options, however deep, and the forms in which a program writes it into a message. */
export const maskOf = (options: unknown): Mask => {
  const secrets = [...new Set(textsIn(options).flatMap(formsOf))]
    .filter((text) => text.length >= SHORTEST_SECRET)
    .toSorted((a, b) => b.length - a.length)
  if (secrets.length === 0) return NOTHING
  return (text) => secrets.reduce((masked, secret) => withoutBeginning(masked.replaceAll(secret, MASKED), secret), text)
}

/** The end of a text may hold the beginning of a secret, because long texts are cut. */
const withoutBeginning = (text: string, secret: string): string => {
  for (let length = Math.min(secret.length - 1, text.length); length >= SHORTEST_SECRET; length--)
    if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}${MASKED}`
  return text
}

const textsIn = (value: unknown, seen = new Set<unknown>()): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (typeof value !== "object" || value === null || seen.has(value)) return []
  seen.add(value)
  return Object.entries(value).flatMap(([name, each]) => (PUBLIC_OPTIONS.has(name) ? [] : textsIn(each, seen)))
}

/** A text as it is, each of its lines, and as JSON, addresses and headers write it. */
const formsOf = (text: string): ReadonlyArray<string> => [
  text,
  ...text.split(/\r?\n/u).map((line) => line.trim()),
  JSON.stringify(text).slice(1, -1),
  encodeURIComponent(text.toWellFormed()),
  Buffer.from(text).toString("base64"),
]

/** Masks the response that an outcome shows. */
export const masked = <A extends { readonly response: string | null }>(outcome: A, mask: Mask): A =>
  outcome.response === null ? outcome : { ...outcome, response: mask(outcome.response) }
