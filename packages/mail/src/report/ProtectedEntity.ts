/** Messages that are signed or encrypted as a whole (RFC 1847, RFC 8551, RFC 3156), and the name that each gets as a file. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ["multipart/signed", "signed.eml"],
  ["multipart/encrypted", "encrypted.eml"],
  ["application/pkcs7-mime", "smime.eml"],
  ["application/x-pkcs7-mime", "smime.eml"],
])

/** RFC 5321 §4.5.3.1.6, without the line end. Servers break longer lines, and with them the signature. */
export const MAX_LINE_BYTES = 998

/** Returns the name under which an entity of this type is kept as a file; `undefined` for all other types. */
export const filenameOf = (type: string): string | undefined => TYPES.get(type)

/** Fields that describe the body, which are a part of what a reader needs to verify or decrypt it. */
const FIELD = /^(content-(?:type|transfer-encoding|disposition|description|id|language|location))[ \t]*:/iu

/** Returns the fields that describe the body, each once, and the body of a message, byte for byte. */
export const read = (message: Buffer): Buffer => {
  const end = message.indexOf("\r\n\r\n")
  const head = message.toString("latin1", 0, end === -1 ? message.length : end)
  const names = new Set<string>()
  const fields = head.split(/\r\n(?![ \t])/u).filter((field) => {
    const name = FIELD.exec(field)?.[1]?.toLowerCase()
    return name !== undefined && names.size < names.add(name).size
  })
  const body = end === -1 ? Buffer.alloc(0) : message.subarray(end + 4)
  return Buffer.concat([Buffer.from(`${fields.join("\r\n")}\r\n\r\n`, "latin1"), body])
}

const CRLF_BYTES = 2

export const hasLongLine = (entity: Buffer): boolean => {
  let start = 0
  for (let end = entity.indexOf("\n"); end !== -1; end = entity.indexOf("\n", start)) {
    if (end + 1 - start > MAX_LINE_BYTES + CRLF_BYTES) return true
    start = end + 1
  }
  return entity.length - start > MAX_LINE_BYTES
}
