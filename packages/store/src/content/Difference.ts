import type { BodyParts } from "./BodyParts.ts"
import * as Template from "./Template.ts"

/**
 * First byte of a difference; a frame of zstd begins with another one. Then follow the length of the body and, in turns,
 * bytes that the template has not and a range that it has, until the body is whole. Numbers have seven bits a byte.
 */
const FORMAT = 1
/** Largest body that has a template; larger ones would hold up other requests. */
export const MOST_BYTES = 64 * 1024
/** Most bytes of a number. */
const NUMBER_BYTES = 5
/** Parts of the template that may be passed over to find the next part of the body. */
const LOOK_AHEAD = 8
/** A shorter part is written, because to name another place takes as many bytes. */
const LEAST_JUMP_BYTES = 8

/** Writes into memory that is reused. What does not fit is not worth writing. */
class Writer {
  readonly #bytes = Buffer.allocUnsafe(MOST_BYTES)
  #most = 0
  #size = 0

  begin(most: number): void {
    this.#most = Math.min(most, this.#bytes.length - NUMBER_BYTES)
    this.#size = 0
  }

  get isFull(): boolean {
    return this.#size > this.#most
  }

  number(value: number): void {
    if (this.isFull) return
    let left = value
    for (; left > 127; left >>>= 7) this.#bytes[this.#size++] = (left & 127) | 128
    this.#bytes[this.#size++] = left
  }

  text(bytes: Uint8Array, from: number, to: number): void {
    this.number(to - from)
    if (this.#size + to - from > this.#most) this.#size = this.#most + 1
    else {
      this.#bytes.set(bytes.subarray(from, to), this.#size)
      this.#size += to - from
    }
  }

  get written(): Uint8Array {
    return Buffer.from(this.#bytes.subarray(0, this.#size))
  }
}

const writer = new Writer()

/** Returns what a body has beside its template, if that is at most `most` bytes. */
export const encode = (
  bytes: Uint8Array,
  parts: BodyParts,
  template: Template.Template,
  most: number,
): Uint8Array | undefined => {
  writer.begin(most)
  writer.number(FORMAT)
  writer.number(bytes.length)
  /** Bytes of the body that are written, part of the template that comes next, and bytes of it that are passed. */
  let [written, next, passed] = [0, 0, 0]
  for (let part = 0; part < parts.count && !writer.isFull;) {
    const first = placeOf(template, parts, part, next)
    if (first === undefined) {
      part++
      continue
    }
    const begin = parts.begin(part)
    next = first
    while (part < parts.count && next < template.ends.length && template.hashes[next] === parts.hash(part)) {
      part++
      next++
    }
    const from = Template.beginOf(template, first)
    const to = Template.beginOf(template, next)
    // Parts with the same hash may differ.
    const end = parts.end(part - 1)
    if (template.bytes.compare(bytes, begin, end, from, to) !== 0) return undefined
    writer.text(bytes, written, begin)
    writer.number(to - from)
    writer.number(zigzag(from - passed))
    written = end
    passed = to
  }
  if (written < bytes.length) writer.text(bytes, written, bytes.length)
  return writer.isFull ? undefined : writer.written
}

/** Returns the part of the template with which a part of the body goes on: the next one, one soon after it, or the first. */
const placeOf = (template: Template.Template, parts: BodyParts, part: number, next: number): number | undefined => {
  const hash = parts.hash(part)
  const until = Math.min(next + LOOK_AHEAD, template.hashes.length)
  for (let place = next; place < until; place++) if (template.hashes[place] === hash) return place
  return parts.length(part) < LEAST_JUMP_BYTES ? undefined : template.places.get(hash)
}

/** A number without a sign, small for small steps in both directions. */
const zigzag = (step: number): number => (step << 1) ^ (step >> 31)
const unzigzag = (value: number): number => (value >>> 1) ^ -(value & 1)

class Reader {
  #at = 0
  readonly #bytes: Uint8Array
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  number(): number {
    let value = 0
    for (let shift = 0; shift < NUMBER_BYTES * 7; shift += 7) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw damaged()
      value |= (byte & 127) << shift
      if (byte < 128) return value
    }
    throw damaged()
  }

  text(length: number): Uint8Array {
    const text = this.#bytes.subarray(this.#at, (this.#at += length))
    if (text.length !== length) throw damaged()
    return text
  }
}

const damaged = () => new Error("stored content is damaged: it does not fit its template")

export const isDifference = (bytes: Uint8Array): boolean => bytes[0] === FORMAT

/** Returns the body of a difference. */
export const decode = (bytes: Uint8Array, template: Uint8Array): Uint8Array => {
  const reader = new Reader(bytes)
  reader.number()
  const length = reader.number()
  if (length > MOST_BYTES) throw damaged()
  const body = Buffer.allocUnsafe(length)
  let [size, passed] = [0, 0]
  const add = (piece: Uint8Array) => {
    if (size + piece.length > body.length) throw damaged()
    body.set(piece, size)
    size += piece.length
  }
  while (size < body.length) {
    add(reader.text(reader.number()))
    if (size === body.length) break
    const range = reader.number()
    const from = passed + unzigzag(reader.number())
    passed = from + range
    if (range <= 0 || from < 0 || passed > template.length) throw damaged()
    add(template.subarray(from, passed))
  }
  return body
}
