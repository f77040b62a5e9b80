import { LruCache } from "@waybill/runtime/collections/LruCache"
import { constants, zstdCompressSync } from "node:zlib"
import * as Difference from "./Difference.ts"
import { BodyParts, hashOf } from "./BodyParts.ts"
import * as Template from "./Template.ts"

/** Accounts whose templates a process remembers, and templates of each. */
export const MAX_ACCOUNTS = 200
export const MAX_TEMPLATES_PER_ACCOUNT = 32
/** Parts that are counted for an account before counting starts anew, and parts and bytes that its templates hold. */
const MAX_COUNTED_PARTS = 4_096
const MAX_HELD_PARTS = 4_096
const MAX_HELD_BYTES = 256 * 1024
/** Recipients who must have got a part before a template holds it: what only one person got may name that person. */
export const RECIPIENTS_IN_COMMON = 3
/** Share of a body that a template must hold to be used for it. */
const LEAST_SHARE = 0.5
/** Share with which no better template is looked for, and what the body has beside it needs no compression. */
const ENOUGH_SHARE = 0.9
/** Parts of a body by which the template that probably holds it is chosen. */
const SAMPLED_PARTS = 16
/** Share of a body by which a new template must be better than the best. */
const LEAST_GAIN = 0.1
/** Smaller bodies gain nothing. */
export const LEAST_BYTES = 200
/** Compressed bytes, as a share of the body's, above which it is stored as it is. */
const WORTHWHILE_SHARE = 0.8

/** A body as it is stored. */
export interface Compressed {
  readonly bytes: Uint8Array
  readonly compressed: boolean
  readonly template: Template.Template | undefined
}

/** Knowledge of a process about the bodies of one account. */
interface Account {
  readonly templates: Array<Template.Template>
  /** Templates, by index, that hold a part. */
  readonly holders: Map<number, Array<number>>
  /** Hashes of the recipients who got a part, of the bodies that no template fitted well. */
  readonly counted: Map<number, Array<number>>
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
  readonly #parts = new BodyParts()
  readonly #held = new Int32Array(MAX_TEMPLATES_PER_ACCOUNT)

  /** `sentTo` is the recipients of the message. Nothing is learned from content that is no body, which has none. */
  compress(account_id: string, bytes: Uint8Array, sentTo: string | undefined): Compressed {
    if (bytes.length < LEAST_BYTES || bytes.length > Difference.MOST_BYTES) return asIs(bytes)
    const account = this.#accountOf(account_id)
    if (!this.#parts.read(bytes)) return compressed(bytes, undefined)
    const likely = this.#likely(account)
    const difference = this.#difference(bytes, likely)
    if (difference !== undefined) return difference
    const template = this.#templateOf(account, bytes, sentTo)
    return (template === likely ? undefined : this.#difference(bytes, template)) ?? compressed(bytes, template)
  }

  #accountOf(account_id: string): Account {
    const known = this.#accounts.get(account_id)
    if (known !== undefined) return known
    const account = { templates: [], holders: new Map(), counted: new Map() }
    this.#accounts.set(account_id, account)
    return account
  }

  #difference(bytes: Uint8Array, template: Template.Template | undefined): Compressed | undefined {
    if (template === undefined) return undefined
    const most = Math.floor(bytes.length * (1 - ENOUGH_SHARE))
    const difference = Difference.encode(bytes, this.#parts, template, most)
    return difference === undefined ? undefined : { bytes: difference, compressed: true, template }
  }

  /** Returns the template that holds most of some parts of the body. */
  #likely({ holders, templates }: Account): Template.Template | undefined {
    const [held, parts] = [this.#held, this.#parts]
    held.fill(0)
    const step = Math.ceil(parts.count / SAMPLED_PARTS)
    for (let part = 0; part < parts.count; part += step)
      for (const nth of holders.get(parts.hash(part)) ?? []) held[nth] = (held[nth] ?? 0) + 1
    return templates[mostOf(held, templates.length)]
  }

  /** Returns the template that holds most of a body, or a new one if what was seen so far makes a better one. */
  #templateOf(account: Account, bytes: Uint8Array, sentTo: string | undefined): Template.Template | undefined {
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
    return mostOf(held, templates.length)
  }

  /** Returns a new template of what this body has in common with others, if it holds much more than the best one. */
  #learn(
    { counted, holders, templates }: Account,
    bytes: Uint8Array,
    sentTo: string,
    most: number,
  ): Template.Template | undefined {
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
    const kept = common.filter((part) => !mayNameSomebody(bytes.subarray(parts.begin(part), parts.end(part))))
    for (const part of kept) {
      const hash = parts.hash(part)
      holders.set(hash, [...new Set([...(holders.get(hash) ?? []), templates.length])])
    }
    const template = Template.make(bytes, parts, kept)
    templates.push(template)
    return template
  }
}

const isFull = ({ holders, templates }: Account): boolean =>
  templates.length >= MAX_TEMPLATES_PER_ACCOUNT ||
  holders.size > MAX_HELD_PARTS ||
  templates.reduce((sum, { bytes }) => sum + bytes.length, 0) > MAX_HELD_BYTES

/** Returns the place of the highest of the first numbers. */
const mostOf = (numbers: Int32Array, count: number): number => {
  let best = 0
  for (let nth = 1; nth < count; nth++) if ((numbers[nth] ?? 0) > (numbers[best] ?? 0)) best = nth
  return best
}

const compressed = (bytes: Uint8Array, template: Template.Template | undefined): Compressed => {
  const compressed = zstdCompressSync(bytes, {
    chunkSize: constants.Z_MIN_CHUNK + Math.ceil(bytes.length / 2),
    pledgedSrcSize: bytes.length,
    ...(template === undefined ? {} : { dictionary: template.bytes }),
  })
  return compressed.length > bytes.length * WORTHWHILE_SHARE
    ? asIs(bytes)
    : { bytes: compressed, compressed: true, template }
}

const asIs = (bytes: Uint8Array): Compressed => ({ bytes, compressed: false, template: undefined })
