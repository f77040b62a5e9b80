/** Number of times that a text may be percent-encoded in itself and is still read. */
const MAX_ENCODINGS = 3
const ENCODED = /%([2-7][0-9a-f])/giu

/** Returns a text with its percent-encoded ASCII characters decoded, because keys and tokens are found in plain text only. */
export const plainText = (text: string): string => {
  let plain = text
  for (let nth = 0; nth < MAX_ENCODINGS && plain.includes("%"); nth++)
    plain = plain.replaceAll(ENCODED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  return plain
}
