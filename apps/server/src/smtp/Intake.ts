import type { SMTPServerDataStream } from "smtp-server"
import { reply, type SmtpReply } from "./SmtpReply.ts"

/** Maximum number of bytes of all messages that are being received or processed; beyond it, clients are asked to retry. */
export const MAX_BYTES_HELD = 256 * 1024 * 1024

export type Received =
  | { readonly _tag: "Whole"; readonly bytes: Buffer; readonly release: () => void }
  | { readonly _tag: "Refused"; readonly reply: SmtpReply }
  /** The client closed the connection before the end of the message. */
  | { readonly _tag: "Gone" }

/** Bounds on how much of a message is kept: one whose beginning is enough, or one that anybody may send. */
export interface Kept {
  readonly bytes: number
  /** Maximum number of bytes held of all messages with such a maximum, so that they leave space for others. */
  readonly maxHeld?: number
}

export interface Intake {
  readonly receive: (stream: SMTPServerDataStream, done: (received: Received) => void, kept?: Kept) => void
}

const FULL = reply(452, "4.3.1", "Too much mail is coming in at once, please try again in a moment")
const tooLarge = (maxBytes: number) => reply(552, "5.3.4", `The message is larger than ${maxBytes} bytes`)
export const BARE_CR = reply(
  554,
  "5.6.0",
  "The message has a line that ends in a bare CR. Lines end in CRLF (RFC 5321, section 2.3.8)",
)

export interface Options {
  readonly maxMessageBytes: number
  /** Whether a bare LF becomes CRLF, and a message with a bare CR is refused. */
  readonly strictLines: boolean
  readonly maxBytesHeld?: number
}

const WHOLE: Kept = { bytes: Infinity }

/** Collects messages. One that is too large, or exceeds the bytes held for all, is read to its end and refused. */
export const make = ({ maxBytesHeld = MAX_BYTES_HELD, maxMessageBytes, strictLines }: Options): Intake => {
  let held = 0
  let heldApart = 0
  return {
    receive: (stream, done, { bytes: keepBytes, maxHeld } = WHOLE) => {
      const chunks: Array<Buffer> = []
      let heldHere = 0
      let refusal: SmtpReply | undefined
      let isOver = false
      const release = () => {
        held -= heldHere
        if (maxHeld !== undefined) heldApart -= heldHere
        heldHere = 0
        chunks.length = 0
      }
      const refuse = (reply: SmtpReply) => {
        refusal = reply
        release()
      }
      const end = (received: Received) => {
        if (isOver) return
        isOver = true
        done(received)
      }
      stream.on("data", (whole: Buffer) => {
        if (refusal !== undefined) return
        // The library counts all bytes that it has passed on, whether or not they are kept.
        if (stream.sizeExceeded || heldHere + whole.length > maxMessageBytes) return refuse(tooLarge(maxMessageBytes))
        const chunk = whole.subarray(0, Math.max(0, keepBytes - heldHere))
        if (held + chunk.length > maxBytesHeld) return refuse(FULL)
        if (maxHeld !== undefined && heldApart + chunk.length > maxHeld) return refuse(FULL)
        chunks.push(chunk)
        heldHere += chunk.length
        held += chunk.length
        if (maxHeld !== undefined) heldApart += chunk.length
      })
      stream.on("end", () => {
        if (refusal !== undefined) return end({ _tag: "Refused", reply: refusal })
        const bytes = Buffer.concat(chunks)
        chunks.length = 0
        if (!strictLines) return end({ _tag: "Whole", bytes, release })
        const bare = countBareLf(bytes)
        if (hasBareCr(bytes)) refuse(BARE_CR)
        else if (bytes.length + bare > maxMessageBytes) refuse(tooLarge(maxMessageBytes))
        else if (held + bare > maxBytesHeld) refuse(FULL)
        if (refusal !== undefined) return end({ _tag: "Refused", reply: refusal })
        held += bare
        heldHere += bare
        if (maxHeld !== undefined) heldApart += bare
        end({ _tag: "Whole", bytes: bare === 0 ? bytes : inCrlf(bytes, bare), release })
      })
      stream.on("error", () => undefined)
      stream.on("close", () => {
        if (isOver) return
        release()
        end({ _tag: "Gone" })
      })
    },
  }
}

const CR = 0x0d
const LF = 0x0a

const hasBareCr = (bytes: Buffer): boolean => {
  for (let at = bytes.indexOf(CR); at !== -1; at = bytes.indexOf(CR, at + 1)) if (bytes[at + 1] !== LF) return true
  return false
}

const countBareLf = (bytes: Buffer): number => {
  let count = 0
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) if (bytes[at - 1] !== CR) count++
  return count
}

/** Returns a message whose lines end in CRLF only; undefined if it has a bare CR. */
export const inCrlfOnly = (bytes: Buffer): Buffer | undefined => {
  if (hasBareCr(bytes)) return undefined
  const bare = countBareLf(bytes)
  return bare === 0 ? bytes : inCrlf(bytes, bare)
}

/** Writes each bare LF as CRLF. */
const inCrlf = (bytes: Buffer, bare: number): Buffer => {
  const out = Buffer.allocUnsafe(bytes.length + bare)
  let to = 0
  let previous = 0
  for (const byte of bytes) {
    if (byte === LF && previous !== CR) out[to++] = CR
    out[to++] = byte
    previous = byte
  }
  return out
}
