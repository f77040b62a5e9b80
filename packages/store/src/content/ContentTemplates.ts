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

/** A part of a body: where it begins and ends, and its hash. */
interface Part {
  readonly from: number
  readonly to: number
  readonly hash: number
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

const partsOf = (bytes: Uint8Array): ReadonlyArray<Part> => {
  const parts: Array<Part> = []
  let from = 0
  let hash = FNV_OFFSET
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    hash = Math.imul(hash ^ byte, FNV_PRIME)
    if (ENDS[byte] === 0) continue
    parts.push({ from, to: at + 1, hash })
    from = at + 1
    if (parts.length > MAX_PARTS) break
    hash = FNV_OFFSET
  }
  return parts
}

const hashOf = (text: string): number => {
  let hash = FNV_OFFSET
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME)
  return hash
}

/** Parts that may name a person are in no template, because an erasure would have to change what was compressed with it. */
const MAY_NAME_SOMEBODY = /@|%40|&#0*64;|&#x0*40;|&commat;/iu
const mayNameSomebody = (bytes: Uint8Array, { from, to }: Part): boolean =>
  MAY_NAME_SOMEBODY.test(Buffer.from(bytes.subarray(from, to)).toString("latin1"))

/**
 * Compresses bodies with what the bodies of their account have in common: transactional mail differs from the last of its
 * template by a name and a number. Learns the templates of each account from the bodies that pass.
 */
export class ContentTemplates {
  readonly #accounts = new LruCache<string, Account>({ maxEntries: MAX_ACCOUNTS })

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
    const { counted, holders, templates } = account
    const parts = partsOf(bytes)
    if (parts.length > MAX_PARTS) return undefined
    const held = templates.map(() => 0)
    for (const { from, hash, to } of parts) {
      const of = holders.get(hash)
      if (of !== undefined) for (const nth of of) held[nth] = (held[nth] ?? 0) + to - from
    }
    const most = Math.max(0, ...held)
    const best = most < bytes.length * LEAST_SHARE ? undefined : templates[held.indexOf(most)]
    if (sentTo === undefined || most >= bytes.length * ENOUGH_SHARE || isFull(account)) return best

    if (counted.size > MAX_COUNTED_PARTS) counted.clear()
    const recipient = hashOf(sentTo)
    for (const { hash } of parts) {
      const recipients = counted.get(hash) ?? []
      if (recipients.length < RECIPIENTS_IN_COMMON && !recipients.includes(recipient))
        counted.set(hash, [...recipients, recipient])
    }
    const common = parts.filter(({ hash }) => (counted.get(hash)?.length ?? 0) >= RECIPIENTS_IN_COMMON)
    const commonBytes = common.reduce((sum, { from, to }) => sum + to - from, 0)
    if (commonBytes < bytes.length * LEAST_SHARE || commonBytes < most + bytes.length * LEAST_GAIN) return best
    const kept = common.filter((part) => !mayNameSomebody(bytes, part))
    for (const { hash } of kept) holders.set(hash, [...new Set([...(holders.get(hash) ?? []), templates.length])])
    const template = templateOf(bytes, kept)
    templates.push(template)
    return template
  }
}

const isFull = ({ holders, templates }: Account): boolean =>
  templates.length >= MAX_TEMPLATES_PER_ACCOUNT ||
  holders.size > MAX_HELD_PARTS ||
  templates.reduce((sum, { bytes }) => sum + bytes.length, 0) > MAX_HELD_BYTES

const templateOf = (bytes: Uint8Array, parts: ReadonlyArray<Part>): Template => {
  const text = Buffer.concat(parts.map(({ from, to }) => bytes.subarray(from, to)))
  return { id: createHash("sha256").update(text).digest().subarray(0, ID_BYTES), bytes: text }
}
