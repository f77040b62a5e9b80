import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"

/**
 * A log in memory that makes receipts, written from the contract and not from the code of the service: what verifiers must
 * take, and the start of what they must refuse.
 */

export type Value = null | boolean | number | string | ReadonlyArray<Value> | { readonly [name: string]: Value }
export interface Happening {
  readonly type: string
  readonly at: string
  readonly data: Readonly<Record<string, Value>>
}

export const sha256 = (...parts: ReadonlyArray<Uint8Array | string>): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest()

/** Canonical JSON of the values of these tests, which have no numbers but whole ones. */
export const canonical = (value: Value): string =>
  JSON.stringify(value, (_, each: Value) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  )

const largestPowerBelow = (size: number): number => {
  let power = 1
  while (power * 2 < size) power *= 2
  return power
}
/** MTH of RFC 9162, section 2.1.1. */
export const rootOf = (hashes: ReadonlyArray<Buffer>): Buffer => {
  const [only] = hashes
  if (only === undefined) return sha256("")
  if (hashes.length === 1) return only
  const middle = largestPowerBelow(hashes.length)
  return sha256(Buffer.of(1), rootOf(hashes.slice(0, middle)), rootOf(hashes.slice(middle)))
}
/** PATH of section 2.1.3.1. */
export const pathOf = (index: number, hashes: ReadonlyArray<Buffer>): ReadonlyArray<Buffer> => {
  if (hashes.length === 1) return []
  const middle = largestPowerBelow(hashes.length)
  const [left, right] = [hashes.slice(0, middle), hashes.slice(middle)]
  return index < middle ? [...pathOf(index, left), rootOf(right)] : [...pathOf(index - middle, right), rootOf(left)]
}
/** PROOF of section 2.1.4.1. */
export const consistencyOf = (earlier: number, hashes: ReadonlyArray<Buffer>): ReadonlyArray<Buffer> => {
  const subProof = (size: number, part: ReadonlyArray<Buffer>, isWhole: boolean): ReadonlyArray<Buffer> => {
    if (size === part.length) return isWhole ? [] : [rootOf(part)]
    const middle = largestPowerBelow(part.length)
    const [left, right] = [part.slice(0, middle), part.slice(middle)]
    return size <= middle
      ? [...subProof(size, left, isWhole), rootOf(right)]
      : [...subProof(size - middle, right, false), rootOf(left)]
  }
  return subProof(earlier, hashes, true)
}

/** A key of a log (type 1) or of a witness (type 4). */
export const makeKey = (name: string, type: 1 | 4 = 1) => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const key = Buffer.concat([Buffer.of(type), publicKey.export({ format: "der", type: "spki" }).subarray(-32)])
  const id = sha256(`${name}\n`, key).subarray(0, 4)
  const line = (bytes: Uint8Array) => `\u2014 ${name} ${Buffer.concat([id, bytes]).toString("base64")}`
  return {
    name,
    privateKey,
    vkey: `${name}+${id.toString("hex")}+${key.toString("base64")}`,
    raw: key.subarray(1),
    /** The signature line of a text. */
    sign: (text: string) => line(sign(null, Buffer.from(text), privateKey)),
    /** The line of a cosignature of a text at a time in seconds. */
    cosign: (text: string, seconds: number) => {
      const time = Buffer.alloc(8)
      time.writeBigUInt64BE(BigInt(seconds))
      return line(
        Buffer.concat([time, sign(null, Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`), privateKey)]),
      )
    },
  }
}
export type Key = ReturnType<typeof makeKey>

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url")

const committed = (salt: Uint8Array, value: Value): string => base64url(sha256(salt, canonical(value)))

export interface Leaf {
  readonly entry: { readonly [name: string]: Value }
  readonly fields: Record<string, { readonly salt: string; readonly value: Value }>
}

export const leafHash = ({ entry }: Leaf): Buffer => sha256(Buffer.of(0), canonical(entry))

/** Makes the leaves of one message. */
export const leavesOf = (stream_id: string, happenings: ReadonlyArray<Happening>): ReadonlyArray<Leaf> => {
  const stream = base64url(sha256(randomBytes(16), stream_id))
  return happenings.map(({ at, data, type }, nth) => {
    const eventSalt = randomBytes(16)
    const salts = Object.keys(data).map(
      (name) => [name, createHmac("sha256", eventSalt).update(name).digest()] as const,
    )
    const fields = Object.fromEntries(
      salts.map(([name, salt]) => [name, { salt: base64url(salt), value: data[name] ?? null }]),
    )
    const commitments = Object.fromEntries(salts.map(([name, salt]) => [name, committed(salt, data[name] ?? null)]))
    const event = `evt_${base64url(randomBytes(12))}`
    const hash = base64url(sha256(canonical(commitments)))
    return { entry: { v: 1, event, stream, version: nth + 1, type, at, data: hash }, fields }
  })
}

/** What a test may change of a receipt: all of it. */
export interface Draft {
  object: string
  origin: string
  email: { [name: string]: Value }
  events: Array<{
    entry: { [name: string]: Value }
    fields?: Record<string, { salt: string; value: Value }>
    hidden?: Record<string, string>
    index: number
    proof: Array<string>
  }>
  checkpoint: string
  cosignatures: Array<string>
  keys: Array<string>
}

export const REPEATED = ["message_id", "from", "to", "cc", "bcc", "reply_to", "subject"]

/** The record of a receipt, by the words of docs/receipts.md. */
export const recordOf = (events: Draft["events"]): Draft["email"] => {
  const [first] = events
  const shown = first?.fields ?? {}
  const record: Draft["email"] = {
    created_at: first?.entry["at"] ?? null,
    updated_at: events.at(-1)?.entry["at"] ?? null,
    version: events.length,
  }
  const id = shown["inbound_id"] ?? shown["email_id"]
  if (id !== undefined) record["id"] = id.value
  for (const name of REPEATED) if (shown[name] !== undefined) record[name] = shown[name].value
  const recipients: Array<{ [name: string]: Value }> = []
  for (const { entry, fields } of events) {
    const address = fields?.["recipient"]?.value
    if (typeof address !== "string") continue
    const last = { address, last_event: entry["type"] ?? null, at: entry["at"] ?? null }
    const nth = recipients.findIndex((each) => each["address"] === address)
    if (nth < 0) recipients.push(last)
    else recipients[nth] = last
  }
  return { ...record, recipients }
}

/** Signs the head of a tree, or any head that a test makes up. */
export const checkpointOf = (origin: string, hashes: ReadonlyArray<Buffer>, keys: ReadonlyArray<Key>): string => {
  const text = `${origin}\n${hashes.length}\n${rootOf(hashes).toString("base64")}\n`
  return `${text}\n${keys.map((key) => `${key.sign(text)}\n`).join("")}`
}

export interface Proving {
  readonly origin: string
  /** All leaves of the log. */
  readonly log: ReadonlyArray<Leaf>
  readonly keys: ReadonlyArray<Key>
  readonly witnesses?: ReadonlyArray<Key>
  readonly redact?: ReadonlyArray<string>
}

export const COSIGNED_AT = 1_764_000_000

/** Makes the receipt of some leaves of a log. */
export const receiptOf = (
  own: ReadonlyArray<Leaf>,
  { keys, log, origin, redact = [], witnesses = [] }: Proving,
): Draft => {
  const hashes = log.map(leafHash)
  const events = own.map((leaf): Draft["events"][number] => {
    const index = log.indexOf(leaf)
    const [fields, hidden]: [Leaf["fields"], Record<string, string>] = [{}, {}]
    for (const [name, field] of Object.entries(leaf.fields))
      if (redact.includes(name)) hidden[name] = committed(Buffer.from(field.salt, "base64url"), field.value)
      else fields[name] = field
    return { entry: { ...leaf.entry }, fields, hidden, index, proof: pathOf(index, hashes).map(base64url) }
  })
  const checkpoint = checkpointOf(origin, hashes, keys)
  const text = checkpoint.slice(0, checkpoint.lastIndexOf("\n\n") + 1)
  return {
    object: "receipt",
    origin,
    email: recordOf(events),
    events,
    checkpoint,
    cosignatures: witnesses.map((witness) => witness.cosign(text, COSIGNED_AT)),
    keys: [...keys, ...witnesses].map(({ vkey }) => vkey),
  }
}
export type PrivateKey = KeyObject
