import { Effect } from "effect"
import * as Canonical from "./DkimCanonical.ts"
import * as Dkim from "./Dkim.ts"

/** RFC 8617 §4.2.1: a longer chain is not valid. */
const MAX_SETS = 50
/** Bytes and fields of a header that is sealed. Strangers write it, and no program writes so much. */
export const MAX_HEADER_BYTES = 256 * 1024
const MAX_FIELDS = 1_000
const RESULTS = "arc-authentication-results"
const SIGNATURE = "arc-message-signature"
const SEAL = "arc-seal"
/** The signatures of the sender are signed too, because they are what a later receiver cannot check any more. */
const ALSO_SIGNED = ["DKIM-Signature"]

/** Findings about a mail when it came in, which this server vouches for. */
export interface Findings {
  /** The finding about the chain that the mail came with. */
  readonly chain: "none" | "pass"
  /** The authentication results, without the instance (RFC 8601). */
  readonly results: string
  /** Seconds since 1970. Fixed for a mail, so that a retry is the same mail byte for byte. */
  readonly at: number
}

/** The fields of a set of ARC, which have the same instance. */
interface ArcSet {
  readonly results: Canonical.HeaderField
  readonly signature: Canonical.HeaderField
  readonly seal: Canonical.HeaderField
}

/**
 * Returns the next set of ARC (RFC 8617 §5.1) to stand on top of a message, or nothing if there is a chain that is not
 * whole: a seal on top of it would prove nothing. `bodyHash` is that of the relaxed body.
 */
export const seal = (
  bytes: Uint8Array,
  { at, chain, results }: Findings,
  key: Dkim.Key,
  bodyHash: string,
): Effect.Effect<string, Dkim.SigningFailed> =>
  Effect.suspend(() => {
    if (!Dkim.isNamed(key)) return Effect.fail(Dkim.refusal(key, "bad_selector"))
    const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const bodyAt = Canonical.splitAt(message)
    const fields = bodyAt > MAX_HEADER_BYTES ? [] : Canonical.fields(message, bodyAt)
    if (fields.length === 0 || fields.length > MAX_FIELDS) return Effect.succeed("")
    const sets = chainIn(fields)
    if (sets === undefined || sets.length >= MAX_SETS || (sets.length === 0) !== (chain === "none"))
      return Effect.succeed("")
    const nth = sets.length + 1
    const signer = `d=${key.domain};\r\n s=${key.selector}; t=${at};`
    const algorithm = `a=${key.algorithm}-sha256;`
    const found = `ARC-Authentication-Results: i=${nth}; ${results}`
    const signed = Dkim.select(fields, ALSO_SIGNED)
    const signature =
      `ARC-Message-Signature: i=${nth}; ${algorithm} c=relaxed/relaxed;\r\n ${signer}\r\n` +
      ` h=${signed.names};\r\n bh=${bodyHash};\r\n b=`
    const top = `ARC-Seal: i=${nth}; ${algorithm} cv=${chain};\r\n ${signer}\r\n b=`
    return Effect.gen(function* () {
      const value = yield* Dkim.signText(key, signed.canonical + relaxed(SIGNATURE, signature))
      const whole = signature + value
      const before = sets.flatMap(({ results, seal, signature }) => [results, signature, seal])
      const sealed = [...before.map(Canonical.relaxedHeader), relaxed(RESULTS, found), relaxed(SIGNATURE, whole)]
      const sealing = yield* Dkim.signText(key, `${sealed.join("\r\n")}\r\n${relaxed(SEAL, top)}`)
      return `${top}${sealing}\r\n${whole}\r\n${found}\r\n`
    })
  })

const relaxed = (name: string, raw: string): string => Canonical.relaxedHeader({ name, raw })

/** Returns the sets of a chain in order; undefined if one is missing, not whole or there twice. */
const chainIn = (fields: ReadonlyArray<Canonical.HeaderField>): ReadonlyArray<ArcSet> | undefined => {
  const byName = (name: string) => {
    const ofName = fields.filter((field) => field.name === name)
    return ofName.toSorted((a, b) => instanceOf(a) - instanceOf(b))
  }
  const [results, signatures, seals] = [byName(RESULTS), byName(SIGNATURE), byName(SEAL)] as const
  if (results.length !== seals.length || signatures.length !== seals.length) return undefined
  const sets: Array<ArcSet> = []
  for (const [nth, each] of seals.entries()) {
    const [result, signature] = [results[nth], signatures[nth]]
    if (result === undefined || signature === undefined) return undefined
    if ([each, result, signature].some((field) => instanceOf(field) !== nth + 1)) return undefined
    sets.push({ results: result, signature, seal: each })
  }
  return sets
}

const INSTANCE = /(?:^|;)[ \t\r\n]*i[ \t\r\n]*=[ \t\r\n]*([0-9]{1,2})[ \t\r\n]*(?:;|$)/u

const instanceOf = ({ raw }: Canonical.HeaderField): number =>
  Number(INSTANCE.exec(raw.slice(raw.indexOf(":") + 1))?.[1] ?? 0)
