/**
 * Decodes the character references of an attribute's value (HTML §13.2.5.72). Returns undefined for references that
 * hardly ever occur in an address, so that the table need not hold all 2,231 names.
 */
export const decode = (value: string): string | undefined => {
  if (!value.includes("&")) return value
  let isKnown = true
  const text = value.replaceAll(
    REFERENCE,
    (written, hex: string | undefined, digits: string | undefined, name = "", semicolon = "", at = 0) => {
      if (name === "") {
        const character = ofCode(hex === undefined ? Number.parseInt(digits ?? "", 10) : Number.parseInt(hex, 16))
        isKnown &&= character !== undefined
        return character ?? written
      }
      // In an attribute, `&copy=1` is the next field of a query.
      if (semicolon === "" && (value[at + written.length] === "=" || !LEGACY.has(name))) return written
      const character = CHARACTERS.get(name)
      isKnown &&= character !== undefined
      return character ?? written
    },
  )
  return isKnown ? text : undefined
}

const REFERENCE = /&(?:#(?:x([0-9a-f]+)|([0-9]+));?|([a-z][a-z0-9]*)(;?))/giu

/** A Map, since an object would also know `constructor`. */
const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["AMP", "&"],
  ["apos", "'"],
  ["gt", ">"],
  ["GT", ">"],
  ["lt", "<"],
  ["LT", "<"],
  ["quot", `"`],
  ["QUOT", `"`],
])

/** References that are valid without a semicolon. */
const LEGACY: ReadonlySet<string> = new Set(
  (
    "AElig AMP Aacute Acirc Agrave Aring Atilde Auml COPY Ccedil ETH Eacute Ecirc Egrave Euml GT Iacute Icirc Igrave Iuml " +
    "LT Ntilde Oacute Ocirc Ograve Oslash Otilde Ouml QUOT REG THORN Uacute Ucirc Ugrave Uuml Yacute aacute acirc acute " +
    "aelig agrave amp aring atilde auml brvbar ccedil cedil cent copy curren deg divide eacute ecirc egrave eth euml frac12 " +
    "frac14 frac34 gt iacute icirc iexcl igrave iquest iuml laquo lt macr micro middot nbsp not ntilde oacute ocirc ograve " +
    "ordf ordm oslash otilde ouml para plusmn pound quot raquo reg sect shy sup1 sup2 sup3 szlig thorn times uacute ucirc " +
    "ugrave uml uuml yacute yen yuml"
  ).split(" "),
)

/** Returns undefined for code points that browsers replace or drop; they occur in no address. */
const ofCode = (code: number): string | undefined => {
  const isPlain = (code >= 0x20 && code < 0x7f) || (code > 0x9f && code <= 0x10_ff_ff)
  const isBreak = code === 9 || code === 10 || code === 13
  const isHalf = code >= 0xd8_00 && code <= 0xdf_ff
  return (isPlain || isBreak) && !isHalf ? String.fromCodePoint(code) : undefined
}
