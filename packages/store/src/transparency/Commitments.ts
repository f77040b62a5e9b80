import { canonicalJson } from "@waybill/verify/JsonValue"
import { hash } from "node:crypto"

/** Length of the salt of a stream, from which those of its events and their fields follow. */
export const SALT_BYTES = 16
const HASH_BYTES = 32
const BLOCK_BYTES = 64
const INNER_PAD = 0x36
const OUTER_PAD = 0x5c

/** An event as its leaf has it: everything but its data, which is only committed to. */
export interface Entry {
  readonly v: 1
  readonly event: string
  readonly stream: string
  readonly version: number
  readonly type: string
  readonly at: string
  readonly data: string
}

/** The parts of an event that its leaf follows from. */
export interface Committed extends Pick<Entry, "event" | "version" | "type" | "at"> {
  readonly stream_id: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** A value with the salt without which its commitment says nothing about it. */
export interface Opening {
  readonly salt: string
  readonly value: unknown
}

/** Text whose characters are bytes. It is made and read faster than a buffer of this length. */
type Binary = string

/** Room for a pad, or for a salt, and what is hashed behind it. Grows; never read after the next hash. */
let scratch = Buffer.alloc(4096)

const hashAfter = <E extends "binary" | "base64url">(length: number, text: string, encoding: E): string => {
  const bytes = length + text.length * 3
  if (bytes > scratch.length) {
    const larger = Buffer.alloc(2 * bytes)
    scratch.copy(larger, 0, 0, length)
    scratch = larger
  }
  return hash("sha256", scratch.subarray(0, length + scratch.write(text, length, "utf8")), encoding)
}

/** Returns HMAC-SHA-256 (RFC 2104) with a key of at most 64 bytes. Twice as fast as `createHmac` for short texts. */
const keyed = (key: Uint8Array) => {
  const inner = Buffer.alloc(BLOCK_BYTES, INNER_PAD)
  const outer = Buffer.alloc(BLOCK_BYTES + HASH_BYTES, OUTER_PAD)
  for (const [at, byte] of key.entries()) {
    inner[at] = byte ^ INNER_PAD
    outer[at] = byte ^ OUTER_PAD
  }
  return (text: string): Binary => {
    inner.copy(scratch)
    outer.write(hashAfter(BLOCK_BYTES, text, "binary"), BLOCK_BYTES, "latin1")
    return hash("sha256", outer, "binary")
  }
}

const STREAM = "stream"
const base64url = (binary: Binary): string => Buffer.from(binary, "latin1").toString("base64url")
const saltOf = (binary: Binary): Uint8Array => Buffer.from(binary, "latin1").subarray(0, SALT_BYTES)

const commitment = (salt: Binary, value: unknown): string => {
  scratch.write(salt, 0, "latin1")
  return hashAfter(salt.length, canonicalJson(value), "base64url")
}

/**
 * Makes the entries of a stream's events. The salt of the stream, and those of its events, are 16 bytes that follow from the
 * stored one by HMAC, so that a message keeps 16 bytes however many events it has, and deleting them hides all of it.
 */
export const ofStream = (seed: Uint8Array) => {
  const derive = keyed(seed)
  const streamSalt = saltOf(derive(STREAM))
  const saltOfField = (version: number) => keyed(saltOf(derive(String(version))))

  const entry = ({ at, event, fields, stream_id, type, version }: Committed): Entry => {
    const salt = saltOfField(version)
    const commitments: Record<string, string> = {}
    for (const [name, value] of Object.entries(fields))
      if (value !== undefined) commitments[name] = commitment(salt(name), value)
    const stream = hash("sha256", Buffer.concat([streamSalt, Buffer.from(stream_id)]), "base64url")
    return { v: 1, event, stream, version, type, at, data: hash("sha256", canonicalJson(commitments), "base64url") }
  }
  return {
    entry,
    /** Opens the fields of an event, but for those that stay hidden behind their commitments. */
    open: ({ fields, version }: Committed, isHidden: (name: string) => boolean) => {
      const salt = saltOfField(version)
      const opened: Record<string, Opening> = {}
      const hidden: Record<string, string> = {}
      for (const [name, value] of Object.entries(fields)) {
        if (value === undefined) continue
        const own = salt(name)
        if (isHidden(name)) hidden[name] = commitment(own, value)
        else opened[name] = { salt: base64url(own), value }
      }
      return { fields: opened, hidden }
    },
  }
}

/** Returns the text whose hash is the leaf of an entry: its canonical JSON, whose names are in this order. */
export const textOf = ({ at, data, event, stream, type, v, version }: Entry): string =>
  JSON.stringify({ at, data, event, stream, type, v, version })
