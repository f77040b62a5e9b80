import * as Id from "@waybill/domain/values/Id"

/** Maximum characters of one text; the rest is cut. */
export const MAX_TEXT_CHARS = 500
/** Maximum characters that are searched for tokens and links. */
export const MAX_SEARCHED_CHARS = 4 * MAX_TEXT_CHARS

export const MASK = "[masked]"

/** Keys and secrets by their form: those of Waybill, of services whose clients it serves, and JSON Web Tokens. */
const KNOWN =
  /\b(?:wb|whsec|re|sk|pk|rk|xkeysib|xox[a-z])[_-][\w+/=-]{8,}|\bSG\.[\w.-]{8,}|(?<![\w-])ey[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/gu
const SCHEME = /\b(bearer|basic) +(?=\S*[\d=])[^\s,;"'<>]+/giu
/** Our own ids, which are no secrets. */
const ID = new RegExp(`^(?:${[...Object.values(Id.PREFIXES), "pos", "prc"].join("|")})_[0-9a-z]{26}$`, "u")
const RUN = /[\w+=~/-]{16,}/gu
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu
/** A long word of letters and digits. */
const RANDOM_WORD = /^(?=.*\d)(?=.*[a-z])[\w+=~]{12,}$/iu
/** A part of a token that a slash divides. */
const RANDOM_PART = /\d.*[a-z]|[a-z].*\d|[a-z][A-Z]|[+=]/u
/** A link: its host and path, and its query and fragment. */
const LINK = /(\bhttps?:[\\/]*)([^\s?#"'<>]*)([?#][^\s"'<>]*)?/giu
/** Ends of the part of an address that may hold a user name and a password. */
const AUTHORITY_END = /([ /?#\\]+)/u
/** A scheme after which the slashes may be missing, as readers of links allow. */
const WEB_SCHEME = /https?:/iu
const SCHEME_END = /[a-z\d+.-]:[\t\r\n]*$/iu
/** Readers of links skip these. */
const SKIPPED = /^[\t\r\n]*$/u
/** A key in base64 that slashes divide, such as those of Amazon: letters change their case more often than in a path. */
const KEY_CHARS = /^\w[\w+=/]*$/u
const CASE_CHANGE = /[a-z][A-Z]/gu
const MIN_CASE_CHANGES = 4
const MIN_LONG_KEY_CHARS = 32

/** A value behind a name that says what it is, as in `password=…`, `"api_key": "…"` or `Authorization: …`. */
const NAMED =
  /((?:passw(?:or)?d|pwd|secret|token|api[_-]?key|authorization|cookie)[\w-]{0,20}["']?\s{0,3}[:=]\s{0,3}["']?)[^\s"'&,;<>{}[\]]+/giu

const isToken = (text: string): boolean =>
  !ID.test(text) && text.length >= 16 && (UUID.test(text) || text.split("-").some((word) => RANDOM_WORD.test(word)))

const isLongKey = (run: string): boolean =>
  run.length >= MIN_LONG_KEY_CHARS &&
  run.includes("/") &&
  KEY_CHARS.test(run) &&
  /\d/u.test(run) &&
  run.split(CASE_CHANGE).length > MIN_CASE_CHANGES

/** Masks the tokens among the parts of a run that slashes divide, and what looks like the rest of one. */
const maskedRun = (run: string): string => {
  if (isLongKey(run)) return MASK
  const parts = run.split("/")
  if (!parts.some(isToken)) return run
  return parts.map((part) => (isToken(part) || (RANDOM_PART.test(part) && !ID.test(part)) ? MASK : part)).join("/")
}

const maskedLink = (_: string, scheme: string, rest: string, query: string | undefined): string =>
  `${scheme}${rest}${query === undefined ? "" : `?${MASK}`}`

/**
 * Masks the user names and passwords of addresses: what stands between the scheme and the last `@` of a part, because that
 * is where a reader of links ends them. Each part is looked at once, so that the time grows with the length of the text.
 */
const withoutUsers = (text: string): string => {
  if (!text.includes("@")) return text
  const parts = text.split(AUTHORITY_END)
  let isAfterScheme = false
  for (let index = 0; index < parts.length; index += 2) {
    const part = parts[index] ?? ""
    const at = part.lastIndexOf("@")
    const scheme = at === -1 ? null : WEB_SCHEME.exec(part.slice(0, at))
    if (scheme !== null) parts[index] = part.slice(0, scheme.index + scheme[0].length) + MASK + part.slice(at)
    else if (at !== -1 && isAfterScheme) parts[index] = MASK + part.slice(at)
    const isSlashed = /^[\\/]+$/u.test(parts[index + 1] ?? "")
    isAfterScheme = isSlashed && (SCHEME_END.test(part) || (isAfterScheme && SKIPPED.test(part)))
  }
  return parts.join("")
}

const withoutSecrets = (text: string): string => {
  const named = withoutUsers(text)
  const unlinked = named.includes(":") ? named.replaceAll(LINK, maskedLink) : named
  return unlinked
    .replaceAll(SCHEME, (_, scheme: string) => `${scheme} ${MASK}`)
    .replaceAll(KNOWN, (run) => (ID.test(run) ? run : MASK))
    .replaceAll(RUN, maskedRun)
    .replaceAll(NAMED, (_, name: string) => `${name}${MASK}`)
}

/** Texts that are too short, or have nothing of a token, need no search. Most have neither. */
const MAY_HOLD_SECRET =
  /:[\\/\t\r\n]|https?:|[\w+=~/-]{16}|(?:bearer|basic) |[_.-]\w{8}|passw|pwd|secret|token|api.?key|authoriz|cookie/iu
const MIN_CHARS_WITH_SECRET = 6
/** Characters of links and tokens. */
const IN_LINK = /[!-+\--~]/u

/** Returns the beginning of a text that is searched, without a word that its end would cut in two, such as half a token. */
const searched = (text: string): string => {
  if (text.length <= MAX_SEARCHED_CHARS) return text
  let end = MAX_SEARCHED_CHARS
  while (end > 0 && IN_LINK.test(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/**
 * Returns a text without what looks like a secret: keys, tokens, and the queries of links. A long text is cut. `length` is that of
 * the whole, if `text` is only its beginning.
 */
export const maskedText = (text: string, length?: string): string => {
  if (length === undefined) {
    if (text.length < MIN_CHARS_WITH_SECRET || (text.length <= MAX_TEXT_CHARS && !MAY_HOLD_SECRET.test(text)))
      return text
    if (text.length <= MAX_TEXT_CHARS) return withoutSecrets(text)
  }
  const beginning = withoutSecrets(searched(text)).slice(0, MAX_TEXT_CHARS)
  return `${beginning}… (${length ?? `${text.length} characters`})`
}
