import type { SMTPServerDataStream } from "smtp-server"
import { reply, type SmtpReply } from "./SmtpReply.ts"

/** Messages being received or judged at one moment, over all connections; beyond it clients are asked to come back. */
export const MAX_BYTES_HELD = 256 * 1024 * 1024

export type Taken =
  | { readonly _tag: "Whole"; readonly bytes: Buffer; readonly release: () => void }
  | { readonly _tag: "Refused"; readonly reply: SmtpReply }
  /** The client went away in the middle. */
  | { readonly _tag: "Gone" }

export interface Intake {
  readonly receive: (stream: SMTPServerDataStream, done: (taken: Taken) => void) => void
}

const FULL = reply(452, "4.3.1", "Too much mail is coming in at once, please try again in a moment")
const TOO_LARGE = reply(552, "5.3.4", "The message is larger than this service takes")
const BARE = reply(
  554,
  "5.6.0",
  "The message has a line that ends in a bare LF or CR. Lines end in CRLF (RFC 5321, section 2.3.8)",
)

export interface Options {
  readonly maxMessageBytes: number
  readonly strictLines: boolean
  /** What is kept of a message, where its beginning says all. */
  readonly keepBytes?: number
  readonly maxBytesHeld?: number
}

/** Collects messages; what is too large, or too much together, is read to its end and not kept. */
export const make = ({
  keepBytes = Infinity,
  maxBytesHeld = MAX_BYTES_HELD,
  maxMessageBytes,
  strictLines,
}: Options): Intake => {
  let held = 0
  return {
    receive: (stream, done) => {
      const chunks: Array<Buffer> = []
      let mine = 0
      let refusal: SmtpReply | undefined
      let over = false
      const release = () => {
        held -= mine
        mine = 0
        chunks.length = 0
      }
      const refuse = (reply: SmtpReply) => {
        refusal = reply
        release()
      }
      const end = (taken: Taken) => {
        if (over) return
        over = true
        done(taken)
      }
      stream.on("data", (whole: Buffer) => {
        if (refusal !== undefined) return
        // The library counts what it has passed on, whether or not it is kept.
        if (stream.sizeExceeded || mine + whole.length > maxMessageBytes) return refuse(TOO_LARGE)
        const chunk = whole.subarray(0, Math.max(0, keepBytes - mine))
        if (held + chunk.length > maxBytesHeld) return refuse(FULL)
        chunks.push(chunk)
        mine += chunk.length
        held += chunk.length
      })
      stream.on("end", () => {
        if (refusal !== undefined) return end({ _tag: "Refused", reply: refusal })
        const bytes = Buffer.concat(chunks)
        chunks.length = 0
        if (strictLines && hasBareBreak(bytes)) {
          release()
          return end({ _tag: "Refused", reply: BARE })
        }
        end({ _tag: "Whole", bytes, release })
      })
      stream.on("error", () => undefined)
      stream.on("close", () => {
        if (over) return
        release()
        end({ _tag: "Gone" })
      })
    },
  }
}

const CR = 0x0d
const LF = 0x0a

const hasBareBreak = (bytes: Buffer): boolean => {
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) if (bytes[at - 1] !== CR) return true
  for (let at = bytes.indexOf(CR); at !== -1; at = bytes.indexOf(CR, at + 1)) if (bytes[at + 1] !== LF) return true
  return false
}
