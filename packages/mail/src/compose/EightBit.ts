import { isUtf8 } from "node:buffer"

const END_OF_HEAD = "\r\n\r\n"
/** Character set that programs without a charset declaration usually mean by bytes that are not UTF-8. */
const WINDOWS = new TextDecoder("windows-1252")

/**
 * Converts undeclared bytes beyond ASCII to UTF-8, in the head and in a body of one text. Old programs and devices send
 * such bytes; read as UTF-8 their letters would be lost.
 */
export const inUtf8 = (message: Buffer): Buffer => {
  if (isUtf8(message)) return message
  const end = message.indexOf(END_OF_HEAD)
  const head = message.subarray(0, end === -1 ? message.length : end)
  const body = message.subarray(head.length)
  return Buffer.concat([read(head), isUnlabelled(head.toString("latin1")) ? read(body) : body])
}

const read = (bytes: Buffer): Buffer => {
  if (isUtf8(bytes)) return bytes
  const text = WINDOWS.decode(bytes)
  return UNUSED.test(text) ? bytes : Buffer.from(text)
}

/** Bytes without a character in windows-1252: the text is in some other character set. */
const UNUSED = /[\u0080-\u009f]/u

const isUnlabelled = (head: string): boolean => {
  if (FILE.test(head)) return false
  const type = CONTENT_TYPE.exec(head)?.[1]
  // Matches any spelling: a comment may come first, and RFC 2231 adds an asterisk to the name.
  return type === undefined || (TEXT.test(type) && !/charset/iu.test(type))
}

/** Content-Type header with its folded lines. */
const CONTENT_TYPE = /^content-type[ \t]*:((?:[^\r\n]|\r\n[ \t])*)/imu
/** Media types that the parser reads as text. All other parts are files and stay byte for byte. */
const TEXT = /^\s*text\/(?:plain|html|calendar)\b/iu
const FILE = /^content-disposition[ \t]*:\s*attachment\b/imu
