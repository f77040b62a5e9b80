import { createHash } from "node:crypto"
import * as TagList from "../compose/TagList.ts"
import * as Canonical from "./DkimCanonical.ts"

/** Maximum number of DKIM-Signature fields of a message that are read. Forwarders add one or two. */
export const MAX_SIGNATURES = 5
/** Maximum number of names in `h=`; each costs a canonical field. */
const MAX_SIGNED_FIELDS = 200

/** A signature whose body hash is right. Whether it is genuine depends on the key in DNS. */
export interface Signature {
  /** `d=`, in lower case. */
  readonly domain: string
  readonly selector: string
  readonly algorithm: "rsa" | "ed25519"
  /** Domain of `i=`, which keys with `t=s` restrict to `d=`. */
  readonly identity: string
  /** The signed header fields. */
  readonly data: Uint8Array
  readonly value: Uint8Array
  /** Seconds since 1970 from `x=`. */
  readonly expiresAt: number | null
}

/**
 * Reads the signatures of a message (RFC 6376) up to the key: fields, canonical forms and body hash. A signature with
 * `l=` is ignored, because bytes can be added to such a message, and so is one by SHA-1 (RFC 8301).
 */
export const read = (bytes: Uint8Array): ReadonlyArray<Signature> => {
  const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const bodyAt = Canonical.splitAt(message)
  const fields = Canonical.fields(message, bodyAt)
  const hashes = new Map<string, string>()
  const bodyHash = (form: string): string => {
    const hash = hashes.get(form) ?? hashOf(message.subarray(bodyAt), form)
    hashes.set(form, hash)
    return hash
  }
  return fields
    .filter(({ name }) => name === "dkim-signature")
    .slice(0, MAX_SIGNATURES)
    .flatMap((field) => signatureIn(field, fields, bodyHash) ?? [])
}

const hashOf = (body: Buffer, form: string): string =>
  createHash("sha256")
    .update(form === "relaxed" ? Canonical.relaxedBody(body) : Canonical.simpleBody(body))
    .digest("base64")

const FORM = /^(relaxed|simple)(?:\/(relaxed|simple))?$/u
const ALGORITHM = /^(rsa|ed25519)-sha256$/u
const DNS_NAME = /^[a-z0-9_](?:[a-z0-9_\-.]{0,251}[a-z0-9_])?$/u
const SECONDS = /^\d{1,12}$/u

const signatureIn = (
  field: Canonical.HeaderField,
  fields: ReadonlyArray<Canonical.HeaderField>,
  bodyHash: (form: string) => string,
): Signature | undefined => {
  const tags = TagList.parse(textOf(field))
  const tag = (name: string): string => tags?.get(name)?.replaceAll(/[ \t]+/gu, "") ?? ""
  if (tags === undefined || tag("v") !== "1" || tags.has("l")) return undefined
  const [, algorithm] = ALGORITHM.exec(tag("a")) ?? []
  const [, headerForm, bodyForm = "simple"] = FORM.exec(tags.has("c") ? tag("c") : "simple/simple") ?? []
  const domain = tag("d").toLowerCase()
  const selector = tag("s").toLowerCase()
  const identity = tags.has("i")
    ? tag("i")
        .slice(tag("i").lastIndexOf("@") + 1)
        .toLowerCase()
    : domain
  const names = tag("h").toLowerCase().split(":")
  if (algorithm === undefined || headerForm === undefined || !DNS_NAME.test(domain) || !DNS_NAME.test(selector))
    return undefined
  if (!isWithin(identity, domain) || !names.includes("from") || names.length > MAX_SIGNED_FIELDS) return undefined
  if (tags.has("q") && !tag("q").split(":").includes("dns/txt")) return undefined
  if (tags.has("x") && !SECONDS.test(tag("x"))) return undefined
  if (tag("bh") !== bodyHash(bodyForm)) return undefined
  return {
    domain,
    selector,
    algorithm: algorithm as Signature["algorithm"],
    identity,
    data: Buffer.from(signedData(field, fields, names, headerForm), "latin1"),
    value: Buffer.from(tag("b"), "base64"),
    expiresAt: tags.has("x") ? Number(tag("x")) : null,
  }
}

/** Whether a name is a domain or lies below it. */
export const isWithin = (name: string, domain: string): boolean => name === domain || name.endsWith(`.${domain}`)

const textOf = ({ raw }: Canonical.HeaderField): string => raw.slice(raw.indexOf(":") + 1).replaceAll("\r\n", "")

/** RFC 6376 §5.4.2: the lowest instance of a repeated field is signed first. A field that is missing counts as empty. */
const signedData = (
  signature: Canonical.HeaderField,
  fields: ReadonlyArray<Canonical.HeaderField>,
  names: ReadonlyArray<string>,
  form: string,
): string => {
  const canonical = form === "relaxed" ? Canonical.relaxedHeader : (one: Canonical.HeaderField) => one.raw
  const left = new Map([...Map.groupBy(fields, ({ name }) => name)].map(([name, group]) => [name, [...group]]))
  let data = ""
  for (const name of names) {
    const field = left.get(name)?.pop()
    if (field !== undefined) data += `${canonical(field)}\r\n`
  }
  return data + canonical({ ...signature, raw: withoutValue(signature.raw) })
}

/** Removes the value of `b=` and keeps everything around it (RFC 6376 §3.7). */
const withoutValue = (raw: string): string => {
  const start = raw.indexOf(":") + 1
  const parts = raw
    .slice(start)
    .split(";")
    .map((part) => (/^\s*b\s*=/u.test(part) ? part.slice(0, part.indexOf("=") + 1) : part))
  return raw.slice(0, start) + parts.join(";")
}
