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
const ID = /^(?:msg|key|dom|whk|evt|whd|sup|acc|usr|rep|req|clk|pos|prc)_[0-9a-z]{26}$/u
const RUN = /[\w+=~/-]{16,}/gu
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu
/** A long word of letters and digits. */
const RANDOM_WORD = /^(?=.*\d)(?=.*[a-z])[\w+=~]{12,}$/iu
/** A part of a token that a slash divides. */
const RANDOM_PART = /\d.*[a-z]|[a-z].*\d|[a-z][A-Z]|[+=]/u
/** A link: its password, its path, and its query and fragment. */
const LINK = /(\bhttps?:\/\/)(?:[^\s/?#"'<>@]*@)?([^\s?#"'<>]*)([?#][^\s"'<>]*)?/giu

/** A value behind a name that says what it is, as in `password=…`, `"api_key": "…"` or `Authorization: …`. */
const NAMED =
  /((?:passw(?:or)?d|pwd|secret|token|api[_-]?key|authorization|cookie)[\w-]{0,20}["']?\s{0,3}[:=]\s{0,3}["']?)[^\s"'&,;<>{}[\]]+/giu

const isToken = (text: string): boolean =>
  !ID.test(text) && text.length >= 16 && (UUID.test(text) || text.split("-").some((word) => RANDOM_WORD.test(word)))

/** Masks the tokens among the parts of a run that slashes divide, and what looks like the rest of one. */
const maskedRun = (run: string): string => {
  const parts = run.split("/")
  if (!parts.some(isToken)) return run
  return parts.map((part) => (isToken(part) || (RANDOM_PART.test(part) && !ID.test(part)) ? MASK : part)).join("/")
}

const maskedLink = (_: string, scheme: string, rest: string, query: string | undefined): string =>
  `${scheme}${rest}${query === undefined ? "" : `?${MASK}`}`

const withoutSecrets = (text: string): string => {
  const unlinked = text.includes("://") ? text.replaceAll(LINK, maskedLink) : text
  return unlinked
    .replaceAll(SCHEME, (_, scheme: string) => `${scheme} ${MASK}`)
    .replaceAll(KNOWN, (run) => (ID.test(run) ? run : MASK))
    .replaceAll(RUN, maskedRun)
    .replaceAll(NAMED, (_, name: string) => `${name}${MASK}`)
}

/** Texts that are too short, or have nothing of a token, need no search. Most have neither. */
const MAY_HOLD_SECRET =
  /:\/\/|[\w+=~/-]{16}|(?:bearer|basic) |[_.-]\w{8}|passw|pwd|secret|token|api.?key|authoriz|cookie/iu
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
