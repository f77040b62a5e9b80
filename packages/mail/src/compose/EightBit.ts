import { isUtf8 } from "node:buffer"

const END_OF_HEAD = "\r\n\r\n"
/** What programs that say nothing of it mean by bytes that are no UTF-8. */
const WINDOWS = new TextDecoder("windows-1252")

/**
 * The message with its bytes beyond ASCII in UTF-8 where it does not say what they are: in its head, and in a body of one
 * text. Old programs and devices write them as they have them; read as UTF-8 they would be lost.
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

/** What Windows has no character for says that this is something else. */
const UNUSED = /[\u0080-\u009f]/u

const isUnlabelled = (head: string): boolean => {
  if (FILE.test(head)) return false
  const type = CONTENT_TYPE.exec(head)?.[1]
  // In whatever spelling: a comment may stand before it, and RFC 2231 writes an asterisk behind it.
  return type === undefined || (TEXT.test(type) && !/charset/iu.test(type))
}

/** With the lines that it is folded over. */
const CONTENT_TYPE = /^content-type[ \t]*:((?:[^\r\n]|\r\n[ \t])*)/imu
/** What the parser reads as text; all else is a file, and the sender's to the byte. */
const TEXT = /^\s*text\/(?:plain|html|calendar)\b/iu
const FILE = /^content-disposition[ \t]*:\s*attachment\b/imu
