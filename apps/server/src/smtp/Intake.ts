import * as LargeMails from "../inbound/LargeMails.ts"
import { joined, Pieces, SLICE_BYTES } from "./Pieces.ts"
import type { MessageStream } from "./session/MessageStream.ts"
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
  /** Whether this message has lines that end in CRLF only, whatever the listener takes. */
  readonly strictLines?: boolean
  /** Where a large message waits for its turn, of which it sends no more meanwhile. */
  readonly places?: { readonly of: LargeMails.LargeMails; readonly network: string }
}

export interface Intake {
  /** The refusal of a message of this size, if there is no space for it now. */
  readonly refuses: (size: number, kept?: Kept) => SmtpReply | undefined
  readonly receive: (stream: MessageStream, done: (received: Received) => void, kept?: Kept) => void
}

const FULL = reply(452, "4.3.1", "Too much mail is coming in at once, please try again in a moment")
const tooLarge = (maxBytes: number) => reply(552, "5.3.4", `The message is larger than ${maxBytes} bytes`)
const BARE_CR = reply(
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
  const isFull = (bytes: number, maxHeld: number | undefined) =>
    held + bytes > maxBytesHeld || (maxHeld !== undefined && heldApart + bytes > maxHeld)
  return {
    refuses: (size, { bytes, maxHeld } = WHOLE) => (isFull(Math.min(size, bytes), maxHeld) ? FULL : undefined),
    receive: (stream, done, { bytes: keepBytes, maxHeld, places, strictLines: isStrict = false } = WHOLE) => {
      const chunks = new Pieces()
      const place = places === undefined ? undefined : new Place(places, keepBytes)
      const lines = strictLines || isStrict ? new LineEnds() : undefined
      let heldHere = 0
      let refusal: SmtpReply | undefined
      let isOver = false
      const release = () => {
        held -= heldHere
        if (maxHeld !== undefined) heldApart -= heldHere
        heldHere = 0
        chunks.clear()
        place?.leave()
      }
      const refuse = (reply: SmtpReply) => {
        refusal = reply
        release()
        stream.resume()
      }
      const end = (received: Received) => {
        if (isOver) return
        isOver = true
        done(received)
      }
      stream.on("data", (piece: Buffer) => {
        if (refusal !== undefined) return
        const whole = lines === undefined ? piece : lines.next(piece)
        if (stream.byteLength > maxMessageBytes || heldHere + whole.length > maxMessageBytes)
          return refuse(tooLarge(maxMessageBytes))
        const chunk = whole.subarray(0, Math.max(0, keepBytes - heldHere))
        if (isFull(chunk.length, maxHeld)) return refuse(FULL)
        if (place?.take(chunk) !== true) chunks.add(chunk)
        heldHere += chunk.length
        held += chunk.length
        if (maxHeld !== undefined) heldApart += chunk.length
        if (place === undefined || place.isTaken || heldHere <= LargeMails.SMALL_BYTES) return
        stream.pause()
        place.enter(
          () => {
            for (const each of chunks.takeAll()) place.take(each)
            stream.resume()
          },
          () => refuse(FULL),
        )
      })
      stream.on("end", () => {
        if (refusal === undefined && lines?.hasBareCr === true) refuse(BARE_CR)
        if (refusal !== undefined) return end({ _tag: "Refused", reply: refusal })
        isOver = true
        const whole = (bytes: Buffer) => done({ _tag: "Whole", bytes, release })
        const placed = place?.end()
        if (placed !== undefined) whole(placed)
        else if (heldHere <= SLICE_BYTES) whole(Buffer.concat(chunks.takeAll()))
        else void joined(chunks.takeAll(), heldHere).then(whole)
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

/** Where a large message comes in: memory that is used as it fills, so that pieces need not be joined. */
class Place {
  readonly #places: NonNullable<Kept["places"]>
  readonly #maxBytes: number
  #bytes: Buffer | undefined
  #length = 0
  #timer: NodeJS.Timeout | undefined
  #turn: LargeMails.Turn | undefined
  isTaken = false

  constructor(places: NonNullable<Kept["places"]>, maxBytes: number) {
    this.#places = places
    this.#maxBytes = maxBytes
  }

  /** Waits for a place; calls `refuse` if none is free in time, or if the message loses it to those that wait. */
  enter(begin: () => void, refuse: () => void): void {
    this.isTaken = true
    this.#timer = setTimeout(refuse, LargeMails.PLACE_WITHIN_MS)
    this.#turn = this.#places.of.enter({
      network: this.#places.network,
      begin: () => {
        clearTimeout(this.#timer)
        this.#bytes = this.#places.of.memory(this.#maxBytes)
        begin()
      },
      bytes: () => this.#length,
      lose: refuse,
    })
    if (this.#turn === undefined) refuse()
  }

  /** Takes a piece; returns false without a place. */
  take(piece: Buffer): boolean {
    if (this.#bytes === undefined) return false
    this.#length += piece.copy(this.#bytes, this.#length)
    return true
  }

  /** Returns the whole message, if it has a place, which a large one keeps. One that was whole before its turn needs none. */
  end(): Buffer | undefined {
    clearTimeout(this.#timer)
    const memory = this.#bytes
    if (memory === undefined) {
      this.leave()
      return undefined
    }
    const whole = memory.subarray(0, this.#length)
    if (this.#turn?.settle(whole.length) === true) return whole
    const copy = Buffer.from(whole)
    this.#bytes = undefined
    this.#places.of.reuse(memory)
    return copy
  }

  leave(): void {
    clearTimeout(this.#timer)
    if (this.#bytes !== undefined) this.#places.of.reuse(this.#bytes)
    this.#bytes = undefined
    this.#turn?.leave()
    this.#turn = undefined
  }
}

const CR = 0x0d
const LF = 0x0a

/**
 * Writes each bare LF of a message as CRLF while it comes in, and finds a bare CR, piece by piece: a pass over a large message
 * would hold up other work.
 */
class LineEnds {
  #last = 0
  #hasBareCr = false

  /** Whether a CR without LF has come, when all pieces have. */
  get hasBareCr(): boolean {
    return this.#hasBareCr || this.#last === CR
  }

  next(piece: Buffer): Buffer {
    const first = this.#last
    let last = first
    let bare = 0
    // A loop over the indexes is several times as fast as one over the bytes, or as indexOf for a message of line ends only.
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at] ?? 0
      if (byte === LF) bare += last === CR ? 0 : 1
      else if (last === CR) this.#hasBareCr = true
      last = byte
    }
    this.#last = last
    return bare === 0 ? piece : inCrlf(piece, first, bare)
  }
}

const inCrlf = (piece: Buffer, first: number, bare: number): Buffer => {
  const out = Buffer.allocUnsafe(piece.length + bare)
  let to = 0
  let last = first
  for (let at = 0; at < piece.length; at++) {
    const byte = piece[at] ?? 0
    if (byte === LF && last !== CR) out[to++] = CR
    out[to++] = byte
    last = byte
  }
  return out
}
