import * as InboundState from "@waybill/domain/inbound/InboundState"
import * as Text from "@waybill/domain/values/Text"
import { isIP } from "node:net"
import * as Canonical from "../dkim/DkimCanonical.ts"
import type * as Dns from "../dns/Dns.ts"

/** Signatures whose results a record has. */
export const MAX_SIGNATURES = 20
/** Bytes at the start of a mail in which names to look up are found ahead of the judging; a mail of so many is read at once. */
export const HEAD_BYTES = 64 * 1024
const MAX_DOMAIN_CHARS = 253
/** DMARC asks for the domain of an author, and for each one above it. */
const MAX_LABELS = 8
/** Domains that are looked up ahead, whether or not the judging needs them. */
const MAX_AHEAD = 8

/** The client that brought a mail, and what it said. */
export interface Client {
  readonly address: string
  readonly helo: string
  /** The return path; empty for a bounce. */
  readonly from: string
  /** Name of the server that received the mail. */
  readonly receiver: string
}

export const TYPES = ["TXT", "MX", "A", "AAAA", "CNAME", "PTR"] as const
export interface Question {
  readonly type: (typeof TYPES)[number]
  readonly name: string
}

/** Answers of DNS by question. */
export type Answers = ReadonlyMap<string, Dns.Answer<unknown>>
export const keyOf = ({ name, type }: Question): string => `${type} ${name.toLowerCase()}`

/** The facts that SPF is judged by. */
export interface SpfInput {
  readonly client: Client
  readonly answers: Answers
}

export interface Input extends SpfInput {
  readonly bytes: Uint8Array
}

export type Judged =
  | { readonly _tag: "Judged"; readonly auth: InboundState.Authentication }
  | { readonly _tag: "Asks"; readonly questions: ReadonlyArray<Question> }

/** Returns what SPF has to look up next, by the answers so far. */
export const questions = async ({ answers, client }: SpfInput): Promise<ReadonlyArray<Question>> => {
  const asked = new Asked(answers)
  // A mail without a header has nothing but SPF to judge.
  await authenticate(Buffer.from("\r\n"), client, asked)
  return asked.questions
}

/**
 * Judges who sent a mail: SPF by the client, DKIM and ARC by signatures, DMARC by both. Runs on a thread without network:
 * when it lacks an answer of DNS, it returns the questions, and is asked again.
 */
export const judge = async ({ answers, bytes, client }: Input): Promise<Judged> => {
  const asked = new Asked(answers)
  const { arc, dkim, dmarc, spf } = await authenticate(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    client,
    asked,
  )
  if (asked.questions.length > 0) return { _tag: "Asks", questions: asked.questions }
  const signatures = dkim.results.filter(({ status }) => status.result !== "none").slice(0, MAX_SIGNATURES)
  return {
    _tag: "Judged",
    auth: {
      spf: resultOf(spf),
      dkim: signatures.map(({ signingDomain, status }) => ({
        domain: Text.clip(signingDomain ?? "", MAX_DOMAIN_CHARS),
        result: known(status.result),
      })),
      dmarc: resultOf(dmarc),
      arc: resultOf(arc),
    },
  }
}

/** The library is loaded with the first mail that comes in. */
const authenticate = async (message: Buffer, { address, from, helo, receiver }: Client, asked: Asked) =>
  (await import("mailauth")).authenticate(message, {
    ip: address,
    helo,
    sender: from,
    mta: receiver,
    disableBimi: true,
    resolver: asked.resolve as never,
  })

/** Answers the library's queries, in the forms and with the error codes of node:dns, and notes those it cannot answer. */
class Asked {
  readonly #answers: Answers
  readonly #questions = new Map<string, Question>()

  constructor(answers: Answers) {
    this.#answers = answers
  }

  get questions(): ReadonlyArray<Question> {
    return [...this.#questions.values()]
  }

  add(question: Question): void {
    const key = keyOf(question)
    if (!this.#answers.has(key)) this.#questions.set(key, question)
  }

  readonly resolve = async (name: string, text: string): Promise<ReadonlyArray<unknown>> => {
    const type = TYPES.find((each) => each === text)
    if (type === undefined) throw failed(`${text} of ${name}`, "NODATA")
    const answer = this.#answers.get(keyOf({ name, type }))
    if (answer === undefined) this.add({ name, type })
    else if (answer._tag === "Found") return answer.records
    throw failed(`${type} of ${name}`, answer?.reason ?? "SERVFAIL")
  }
}

type Reason = Exclude<Dns.Answer<never>, Dns.Found<never>>["reason"]
const failed = (what: string, reason: Reason) => Object.assign(new Error(`${what}: ${reason}`), { code: CODES[reason] })

const CODES: { readonly [reason in Reason]: string } = {
  NXDOMAIN: "ENOTFOUND",
  NODATA: "ENODATA",
  SERVFAIL: "ESERVFAIL",
  TIMEOUT: "ETIMEOUT",
  REFUSED: "EREFUSED",
  UNREACHABLE: "ECONNREFUSED",
  BADRESP: "EBADRESP",
}

const SIGNATURES: ReadonlySet<string> = new Set(["dkim-signature", "arc-message-signature", "arc-seal"])
const NAME = /^[\w.-]{1,253}$/u
const AUTHOR = /@([\w.-]{1,253})>?\s*$/u

/**
 * Returns what most mails need: the record of SPF, keys of signatures and policies of authors, by the plain forms of a header.
 * The judging itself finds the others.
 */
export const ahead = ({ bytes, client }: Pick<Input, "bytes" | "client">): ReadonlyArray<Question> => {
  const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const fields = Canonical.fields(message, Canonical.splitAt(message))
  const keys = fields
    .filter(({ name }) => SIGNATURES.has(name))
    .flatMap(({ raw }) => {
      const [selector, domain] = [tagIn(raw, "s"), tagIn(raw, "d")]
      return NAME.test(selector) && NAME.test(domain) ? [`${selector}._domainkey.${domain}`] : []
    })
  const policies = fields
    .filter(({ name }) => name === "from")
    .flatMap(({ raw }) => {
      const [, domain] = AUTHOR.exec(raw.slice(-MAX_DOMAIN_CHARS - 2)) ?? []
      return domain === undefined ? [] : policiesOf(domain)
    })
  const [sender = ""] = (client.from || client.helo).split("@").slice(-1)
  const spf = NAME.test(sender) && isIP(sender) === 0 ? [sender] : []
  return [...spf, ...keys.slice(0, MAX_AHEAD), ...policies.slice(0, MAX_LABELS)].map((name) => ({ type: "TXT", name }))
}

const tagIn = (field: string, tag: string): string =>
  field
    .slice(field.indexOf(":") + 1)
    .split(";")
    .map((part) => part.trim())
    .find((part) => part.startsWith(`${tag}=`))
    ?.slice(tag.length + 1)
    .trim() ?? ""

const policiesOf = (domain: string): ReadonlyArray<string> => {
  const labels = domain.split(".")
  return labels.map((_, nth) => `_dmarc.${labels.slice(nth).join(".")}`)
}

const known = (result: string): InboundState.SenderResult =>
  InboundState.SenderResult.literals.find((each) => each === result) ?? "permerror"
const resultOf = (
  judged: false | undefined | { readonly status: { readonly result: string } },
): InboundState.SenderResult => (judged === false || judged === undefined ? "none" : known(judged.status.result))
