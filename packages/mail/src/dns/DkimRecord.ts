import * as TagList from "../compose/TagList.ts"

/**
 * Describes what is wrong with the TXT records at a selector, for the person who typed them in; undefined when a
 * verifier would find the key. Compares tags instead of text: order, spaces and extra tags are free (RFC 6376 §3.6.1).
 */
export const mistake = (expected: string, found: ReadonlyArray<string>): string | undefined => {
  const keys = found.filter(looksLikeKey)
  const [only] = keys
  if (only === undefined) {
    const key = bare(TagList.parse(expected)?.get("p") ?? "")
    return found.some((text) => bare(text) === key)
      ? "the value does not begin with v=DKIM1; k=…; p="
      : "the TXT record found here is not a DKIM key"
  }
  if (keys.length > 1) return `${keys.length} DKIM records found, only one is allowed; delete the old ones`
  return pasted(only) ?? tagMistake(expected, only)
}

export const looksLikeKey = (text: string): boolean => /\bv\s*=\s*DKIM1\b|(?:^|[;\s"])p\s*=/iu.test(text)

/** Returns whether a text at another name is the expected key. */
export const isKey = (expected: string, text: string): boolean =>
  mistake(expected, [text.replace(/["\\]/gu, "")]) === undefined

/** Describes marks left by copying from a zone file, a terminal or a key file. */
const pasted = (text: string): string | undefined => {
  if (text.includes('"')) return "quotation marks were pasted into the value; enter it without them"
  if (text.includes("\\")) return "backslashes were pasted into the value; enter the semicolons plain"
  if (text.includes("-----BEGIN"))
    return "the BEGIN and END lines of a PEM file were pasted; enter only the text between them"
  return /^(?:\S+\s+)?(?:IN\s+)?TXT\s/u.test(text)
    ? "a whole line of a zone file was pasted; enter only the value"
    : undefined
}

const tagMistake = (expected: string, text: string): string | undefined => {
  const tags = TagList.parse(text)
  const wanted = TagList.parse(expected)
  if (tags === undefined || wanted === undefined) return "the value is not a list of tag=value separated by semicolons"
  const [first] = tags.keys()
  const version = tags.get("v")
  if (version !== undefined && (version !== "DKIM1" || first !== "v")) return "the value must begin with v=DKIM1"
  const key = tags.get("p")
  if (key === undefined) return "the tag p= with the key is missing"
  if (bare(key) === "") return "p= is empty, which declares the key revoked"
  const type = tags.get("k")
  if (type === undefined && wanted.get("k") !== "rsa")
    return `k=${wanted.get("k")} is missing, so the key would be read as an RSA key`
  if ((type ?? "rsa") !== wanted.get("k")) return `k=${type} was published where k=${wanted.get("k")} is needed`
  return restriction(tags) ?? keyMistake(bare(wanted.get("p") ?? ""), bare(key))
}

/** Describes tags that would make verifiers reject our signatures (RFC 6376 §3.6.1). */
const restriction = (tags: TagList.TagList): string | undefined => {
  const hashes = tags.get("h")
  if (hashes !== undefined && !list(hashes).includes("sha256"))
    return `h=${hashes} excludes sha256, which signs your mail`
  const services = tags.get("s")
  if (services !== undefined && !list(services).some((service) => service === "*" || service === "email")) {
    return `s=${services} excludes email`
  }
  return undefined
}

const keyMistake = (wanted: string, key: string): string | undefined => {
  if (key === wanted) return undefined
  if (wanted.startsWith(key)) {
    return `p= is cut short after ${key.length} of ${wanted.length} characters; some providers want the value in pieces of at most 255`
  }
  if (key.startsWith(wanted)) return "something was added after the key"
  if (key.toLowerCase() === wanted.toLowerCase()) return "the letters of p= have changed case"
  return "p= holds another key, perhaps of an earlier set-up"
}

/**
 * Removes folding white space and padding, which mean nothing in base64. Each run is visited once, since the text comes
 * from strangers.
 */
const bare = (base64: string): string => base64.replace(/\s+/gu, "").replace(/(?<!=)=+$/u, "")

const list = (value: string): ReadonlyArray<string> => value.split(":").map((item) => item.trim())
