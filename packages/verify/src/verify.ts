import { concat, fromBase64url, sha256, toBase64, toBase64url, utf8, verifyEd25519 } from "./Bytes.ts"
import { canonicalJson } from "./JsonValue.ts"
import { leafHash, verifyInclusion } from "./MerkleProof.ts"
import { parseCheckpoint, parseNote, parseSignature, parseVkey, type Vkey, verifyNote } from "./SignedNote.ts"
import { parseReceipt, type Receipt } from "./parseReceipt.ts"
import { summaryOf } from "./summaryOf.ts"

export { verifyCose } from "./Cose.ts"
export { canonicalJson } from "./JsonValue.ts"
export { leafHash, nodeHash, verifyConsistency, verifyInclusion } from "./MerkleProof.ts"
export { parseCheckpoint, parseNote, parseVkey, verifyNote } from "./SignedNote.ts"

/** Keys and names that you have from elsewhere than the receipt. */
export interface VerifyOptions {
  /** Keys of the log, of which one must have signed; with a time if it signed until then. */
  readonly keys?: ReadonlyArray<string | { readonly key: string; readonly until: string }>
  /** Keys of witnesses, of which each must have cosigned. */
  readonly witnesses?: ReadonlyArray<string>
  readonly origin?: string
}

export interface ReceiptStep {
  readonly title: string
  /** `warning`: the step holds, and says less than it could. `skipped`: an earlier step failed that it needs. */
  readonly result: "passed" | "warning" | "failed" | "skipped"
  readonly words: string
}

export interface ReceiptVerdict {
  /** Whether no step failed. */
  readonly holds: boolean
  readonly steps: ReadonlyArray<ReceiptStep>
}

/** A public key of RFC 8032, by which the platform shows that it has Ed25519. */
const KNOWN_KEY = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
const PLATFORMS = "Use Node 20, Chrome 137, Firefox 129 or Safari 17, or newer; a page needs HTTPS or must be a file."
const ANYBODY =
  "So nobody changed it, but anybody could have made it: compare the key with one that you have from elsewhere."

class Skipped extends Error {}

type Pinned = Vkey & { readonly until?: string }

type Done<A> = readonly [value: A, words: string, result?: "warning"]

/** Checks a receipt step by step. Throws only for keys that are none, and where the platform cannot check signatures. */
export const verify = async (receipt: string | Uint8Array, options: VerifyOptions = {}): Promise<ReceiptVerdict> => {
  await verifyEd25519(fromBase64url(KNOWN_KEY), new Uint8Array(64), new Uint8Array()).catch(() => {
    throw new Error(`Signatures by Ed25519 cannot be checked here. ${PLATFORMS}`)
  })
  const given = (options.keys ?? []).map((key) => (typeof key === "string" ? { key } : key))
  const keys = await Promise.all(given.map(async (key) => ({ ...key, ...(await parseVkey(key.key)) })))
  const witnesses = await Promise.all((options.witnesses ?? []).map(parseVkey))
  const steps: Array<ReceiptStep> = []
  const step = async <A>(title: string, run: () => Done<A> | Promise<Done<A>>): Promise<() => A> => {
    try {
      const [value, words, result = "passed"] = await run()
      steps.push({ title, result, words })
      return () => value
    } catch (error) {
      const words = error instanceof Error && !(error instanceof TypeError) ? error.message : "It is not as it must be."
      steps.push({ title, result: error instanceof Skipped ? "skipped" : "failed", words })
      return () => {
        throw new Skipped("Not checked, because an earlier step failed.")
      }
    }
  }
  const file = await step("The file is a receipt", () => readFile(receipt, options.origin))
  await step("The data is what the log committed to", () => checkData(file()))
  await step("No event is missing up to the last one", () => checkHistory(file()))
  await step("The summary says what the events say", () => checkSummary(file()))
  const head = await step("The checkpoint is one of this log", () => readCheckpoint(file()))
  await step("Every event is in the log", () => checkInclusion(file(), head()))
  const signed = await step("Every signature is valid", () => checkSignatures(file(), head(), [...keys, ...witnesses]))
  await step("The log has signed", () => checkLog(file(), signed(), keys))
  await step("Witnesses have seen the same log", () => checkWitnesses(signed(), witnesses))
  return { holds: steps.every(({ result }) => result === "passed" || result === "warning"), steps }
}

const readFile = (receipt: string | Uint8Array, wanted: string | undefined): Done<Receipt> => {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  const file = parseReceipt(typeof receipt === "string" ? receipt : decoder.decode(receipt))
  if (file.origin !== (wanted ?? file.origin)) throw new Error(`It is one of ${file.origin}, not of ${wanted}.`)
  return [file, `A receipt of ${file.origin} with ${counted(file.events, "event")}.`]
}

const checkData = async ({ events }: Receipt): Promise<Done<void>> => {
  const whole = events.filter(({ fields }) => fields !== undefined)
  for (const { entry, fields = {}, hidden = {} } of whole) {
    const commitments = new Map(Object.entries(hidden))
    for (const [name, { salt, value }] of Object.entries(fields)) {
      const bytes = fromBase64url(salt)
      // A salt of another length could take over the first bytes of the value.
      if (bytes.length !== 32) throw new Error(`The salt of ${name} does not have 32 bytes.`)
      if (commitments.has(name)) throw new Error(`${name} is both shown and hidden.`)
      commitments.set(name, toBase64url(await sha256(concat(bytes, utf8(canonicalJson(value))))))
    }
    const data = await sha256(utf8(canonicalJson(Object.fromEntries(commitments))))
    if (toBase64url(data) !== entry.data)
      throw new Error(`The data of event ${entry.version} is not what the log holds.`)
  }
  const names = (of: "fields" | "hidden") => events.flatMap((event) => Object.keys(event[of] ?? {}))
  const words = `${counted(names("fields"), "field")} shown, ${names("hidden").length} hidden.`
  if (whole.length === events.length) return [undefined, words]
  return [undefined, `${words} The data of ${events.length - whole.length} of the events was erased.`, "warning"]
}

const checkHistory = ({ events }: Receipt): Done<void> => {
  if (events.length === 0) throw new Error("There is no event.")
  for (const [nth, { entry, index }] of events.entries()) {
    if (entry.stream !== events[0]?.entry.stream) throw new Error(`Event ${nth + 1} is of another message.`)
    if (entry.version !== nth + 1) throw new Error(`Event ${nth + 1} is missing, or not in its place.`)
    if (index <= (events[nth - 1]?.index ?? -1)) throw new Error(`Event ${nth + 1} is not after the one before it.`)
  }
  return [undefined, `Whether anything happened after ${events.at(-1)?.entry.at} is not part of a receipt.`]
}

const checkSummary = ({ email, events }: Receipt): Done<void> => {
  if (canonicalJson(email) !== canonicalJson(summaryOf(events))) throw new Error("It differs from the events.")
  return [undefined, "It follows from the events, and has nothing else."]
}

const readCheckpoint = ({ checkpoint, origin }: Receipt) => {
  const note = parseNote(checkpoint)
  const head = { ...parseCheckpoint(note.text), note }
  if (head.origin !== origin) throw new Error(`It is one of ${head.origin}, not of ${origin}.`)
  return [head, `The log had ${head.size} entries, with the root ${toBase64(head.root)}.`] as const
}
type Head = ReturnType<typeof readCheckpoint>[0]

const checkInclusion = async ({ events }: Receipt, { root, size }: Head): Promise<Done<void>> => {
  for (const { entry, index, proof } of events) {
    const leaf = await leafHash(utf8(canonicalJson(entry)))
    if (!(await verifyInclusion(leaf, index, size, proof.map(fromBase64url), root)))
      throw new Error(`Event ${entry.version} (${entry.type}) is not in the log that the checkpoint is of.`)
  }
  return [undefined, `At ${events.map(({ index }) => index).join(", ")}.`]
}

/** Verifies all signatures, by the keys of the file and those given. One that nobody can check could have been altered. */
const checkSignatures = async (file: Receipt, { note }: Head, given: ReadonlyArray<Vkey>): Promise<Done<Signed>> => {
  // Each key is looked for among all signatures.
  if (Math.max(file.cosignatures.length, file.keys.length) > 256) throw new Error("There are more than 256 in a list.")
  const signatures = [...note.signatures, ...file.cosignatures.map(parseSignature)]
  const keys = new Map([...(await Promise.all(file.keys.map(parseVkey))), ...given].map((key) => [labelOf(key), key]))
  const unknown = signatures.find((signature) => !keys.has(labelOf(signature)))
  if (unknown !== undefined) throw new Error(`The key of the signature by ${unknown.name} is not in the file.`)
  const signed = new Map<string, Vkey & { readonly time?: number }>()
  for (const [label, key] of keys) {
    const { result, ...time } = await verifyNote({ text: note.text, signatures }, key)
    if (result === "invalid") throw new Error(`The signature by ${key.name} is not one of this checkpoint.`)
    if (result === "valid") signed.set(label, { ...key, ...time })
  }
  return [signed, `${counted(signatures, "signature")} by ${[...signed.values()].map(({ name }) => name).join(", ")}.`]
}
type Signed = ReadonlyMap<string, Vkey & { readonly time?: number }>

const checkLog = ({ events, origin }: Receipt, signed: Signed, pinned: ReadonlyArray<Pinned>): Done<void> => {
  const isOwn = ({ kind, name }: Vkey) => kind === "log" && name === origin
  const ids = [...signed.values()].filter(isOwn).map(({ id }) => id)
  if (ids.length === 0) throw new Error(`No key of ${origin} has signed.`)
  if (pinned.length === 0) return [undefined, `By the key ${ids.join(", ")} of the file itself. ${ANYBODY}`, "warning"]
  const own = pinned.filter((key) => isOwn(key) && signed.has(labelOf(key)))
  if (own.length === 0) throw new Error("It is not signed by a key that you gave.")
  const isIn = (until: string) => events.every(({ entry: { at } }) => Date.parse(at) <= Date.parse(until))
  const valid = own.find(({ until }) => until === undefined || isIn(until))
  if (valid === undefined) throw new Error(`Its key signed until ${own[0]?.until}, and there is a later event.`)
  return [undefined, `By the key ${valid.id}, which you gave.`]
}

const checkWitnesses = (signed: Signed, trusted: ReadonlyArray<Vkey>): Done<void> => {
  if (trusted.length === 0)
    return [undefined, "You named no witness: whether others are shown the same is not known.", "warning"]
  const times = trusted.map((key) => {
    const { time } = signed.get(labelOf(key)) ?? {}
    if (time === undefined) throw new Error(`The witness ${key.name} has not signed.`)
    return `${key.name} at ${new Date(time * 1000).toISOString()}`
  })
  return [undefined, `By ${times.join(", ")}.`]
}

const labelOf = ({ id, name }: Pick<Vkey, "id" | "name">): string => `${name}+${id}`
const counted = ({ length }: ReadonlyArray<unknown>, noun: string) => `${length} ${noun}${length === 1 ? "" : "s"}`
