import { LruCache } from "@waybill/domain/values/LruCache"
import { createHash } from "node:crypto"
import { constants, zstdCompressSync } from "node:zlib"

/** Accounts whose templates a process remembers, and templates of each. */
export const MAX_ACCOUNTS = 200
export const MAX_TEMPLATES_PER_ACCOUNT = 32
/** Parts that are counted for an account before counting starts anew, and parts and bytes that its templates hold. */
const MAX_COUNTED_PARTS = 4_096
const MAX_HELD_PARTS = 4_096
const MAX_HELD_BYTES = 256 * 1024
/** Parts of a body beyond which no template is looked for, so that no body takes long. */
export const MAX_PARTS = 1_000
/** Recipients who must have got a part before a template holds it: what only one person got may name that person. */
export const RECIPIENTS_IN_COMMON = 3
/** Share of a body that a template must hold to be used for it, and share with which no better one is looked for. */
const LEAST_SHARE = 0.5
const ENOUGH_SHARE = 0.9
/** Share of a body by which a new template must be better than the best. */
const LEAST_GAIN = 0.1
/** Smaller bodies gain nothing, and larger ones would hold up other requests. */
export const LEAST_BYTES = 200
export const MOST_BYTES = 64 * 1024
/** Compressed bytes, as a share of the body's, above which it is stored as it is. */
const WORTHWHILE_SHARE = 0.8
const ID_BYTES = 16

/** Text that bodies of an account have in common, with which they are compressed. */
export interface Template {
  readonly id: Uint8Array
  readonly bytes: Uint8Array
}

/** A body as it is stored. */
export interface Compressed {
  readonly bytes: Uint8Array
  readonly compressed: boolean
  readonly template: Template | undefined
}

/** Knowledge of a process about the bodies of one account. */
interface Account {
  readonly templates: Array<Template>
  /** Templates, by index, that hold a part. */
  readonly holders: Map<number, Array<number>>
  /** Hashes of the recipients who got a part, of the bodies that no template fitted well. */
  readonly counted: Map<number, Array<number>>
}

/** Bytes that end a part: of a tag, a line, a sentence, and the backslash of an escaped line break. */
const ENDS = Uint8Array.from({ length: 256 }, (_, byte) => ("<>\n.\\".includes(String.fromCharCode(byte)) ? 1 : 0))
const FNV_OFFSET = 0x811c_9dc5
const FNV_PRIME = 0x0100_0193

/** The parts of one body: where each ends, where the next begins, and its hash. Reused, because bodies pass all the time. */
class Parts {
  count = 0
  readonly ends = new Int32Array(MAX_PARTS)
  readonly hashes = new Int32Array(MAX_PARTS)

  /** Returns false for a body of too many parts. */
  read(bytes: Uint8Array): boolean {
    this.count = 0
    let hash = FNV_OFFSET
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      hash = Math.imul(hash ^ byte, FNV_PRIME)
      if (ENDS[byte] === 0) continue
      if (this.count === MAX_PARTS) return false
      this.ends[this.count] = at + 1
      this.hashes[this.count++] = hash
      hash = FNV_OFFSET
    }
    return true
  }

  hash(nth: number): number {
    return this.hashes[nth] ?? 0
  }

  begin(nth: number): number {
    return nth === 0 ? 0 : (this.ends[nth - 1] ?? 0)
  }

  end(nth: number): number {
    return this.ends[nth] ?? 0
  }

  length(nth: number): number {
    return this.end(nth) - this.begin(nth)
  }
}

const hashOf = (text: string): number => {
  let hash = FNV_OFFSET
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME)
  return hash
}

/** Parts that may name a person are in no template, because an erasure would have to change what was compressed with it. */
const MAY_NAME_SOMEBODY = /@|%40|&#0*64;|&#x0*40;|&commat;/iu
const mayNameSomebody = (part: Uint8Array): boolean => MAY_NAME_SOMEBODY.test(Buffer.from(part).toString("latin1"))

/**
 * Compresses bodies with what the bodies of their account have in common: transactional mail differs from the last of its
 * template by a name and a number. Learns the templates of each account from the bodies that pass.
 */
export class ContentTemplates {
  readonly #accounts = new LruCache<string, Account>({ maxEntries: MAX_ACCOUNTS })
  readonly #parts = new Parts()
  readonly #held = new Int32Array(MAX_TEMPLATES_PER_ACCOUNT)

  /** `sentTo` is the recipients of the message. Nothing is learned from content that is no body, which has none. */
  compress(account_id: string, bytes: Uint8Array, sentTo: string | undefined): Compressed {
    const asIs = { bytes, compressed: false, template: undefined }
    if (bytes.length < LEAST_BYTES || bytes.length > MOST_BYTES) return asIs
    const template = this.#templateOf(account_id, bytes, sentTo)
    const compressed = zstdCompressSync(bytes, {
      chunkSize: constants.Z_MIN_CHUNK + Math.ceil(bytes.length / 2),
      pledgedSrcSize: bytes.length,
      ...(template === undefined ? {} : { dictionary: template.bytes }),
    })
    return compressed.length > bytes.length * WORTHWHILE_SHARE
      ? asIs
      : { bytes: compressed, compressed: true, template }
  }

  /** Returns the template that holds most of a body, or a new one if what was seen so far makes a better one. */
  #templateOf(account_id: string, bytes: Uint8Array, sentTo: string | undefined): Template | undefined {
    let account = this.#accounts.get(account_id)
    if (account === undefined)
      this.#accounts.set(account_id, (account = { templates: [], holders: new Map(), counted: new Map() }))
    if (!this.#parts.read(bytes)) return undefined
    const nth = this.#bestOf(account)
    const most = this.#held[nth] ?? 0
    const best = most < bytes.length * LEAST_SHARE ? undefined : account.templates[nth]
    if (sentTo === undefined || most >= bytes.length * ENOUGH_SHARE || isFull(account)) return best
    return this.#learn(account, bytes, sentTo, most) ?? best
  }

  /** Counts how many bytes of the body each template holds, and returns the number of the first that holds most. */
  #bestOf({ holders, templates }: Account): number {
    const [held, parts] = [this.#held, this.#parts]
    held.fill(0)
    for (let part = 0; part < parts.count; part++) {
      const of = holders.get(parts.hash(part))
      if (of !== undefined) for (const nth of of) held[nth] = (held[nth] ?? 0) + parts.length(part)
    }
    let best = 0
    for (let nth = 1; nth < templates.length; nth++) if ((held[nth] ?? 0) > (held[best] ?? 0)) best = nth
    return best
  }

  /** Returns a new template of what this body has in common with others, if it holds much more than the best one. */
  #learn(
    { counted, holders, templates }: Account,
    bytes: Uint8Array,
    sentTo: string,
    most: number,
  ): Template | undefined {
    const parts = this.#parts
    if (counted.size > MAX_COUNTED_PARTS) counted.clear()
    const recipient = hashOf(sentTo)
    const common: Array<number> = []
    let commonBytes = 0
    for (let part = 0; part < parts.count; part++) {
      const hash = parts.hash(part)
      const recipients = counted.get(hash) ?? []
      if (recipients.length < RECIPIENTS_IN_COMMON && !recipients.includes(recipient))
        counted.set(hash, [...recipients, recipient])
      if ((counted.get(hash)?.length ?? 0) < RECIPIENTS_IN_COMMON) continue
      common.push(part)
      commonBytes += parts.length(part)
    }
    if (commonBytes < bytes.length * LEAST_SHARE || commonBytes < most + bytes.length * LEAST_GAIN) return undefined
    const kept: Array<Uint8Array> = []
    for (const part of common) {
      const text = bytes.subarray(parts.begin(part), parts.end(part))
      if (mayNameSomebody(text)) continue
      kept.push(text)
      const hash = parts.hash(part)
      holders.set(hash, [...new Set([...(holders.get(hash) ?? []), templates.length])])
    }
    const template = templateOf(Buffer.concat(kept))
    templates.push(template)
    return template
  }
}

const isFull = ({ holders, templates }: Account): boolean =>
  templates.length >= MAX_TEMPLATES_PER_ACCOUNT ||
  holders.size > MAX_HELD_PARTS ||
  templates.reduce((sum, { bytes }) => sum + bytes.length, 0) > MAX_HELD_BYTES

const templateOf = (text: Uint8Array): Template => ({
  id: createHash("sha256").update(text).digest().subarray(0, ID_BYTES),
  bytes: text,
})
