import * as Contract from "@waybill/api/groups/history/Receipt"
import { CurrentCell } from "@waybill/store/routing/CurrentCell"
import * as Checkpoint from "@waybill/store/transparency/Checkpoint"
import * as Checkpoints from "@waybill/store/transparency/Checkpoints"
import * as Commitments from "@waybill/store/transparency/Commitments"
import * as LogKeys from "@waybill/store/transparency/LogKeys"
import * as LogTree from "@waybill/store/transparency/LogTree"
import * as MerkleTree from "@waybill/store/transparency/MerkleTree"
import * as SignedNote from "@waybill/store/transparency/SignedNote"
import { Effect, Schema } from "effect"
import { LOG_URL } from "./HttpWorld.ts"

/** Appends all events to the tree of the fiber's cell and signs it, as a worker does. */
export const buildLog = Effect.gen(function* () {
  yield* Effect.repeat(LogTree.step, { until: ({ events, isFull }) => !isFull && events === 0 })
  const signers = yield* LogKeys.makeSigners
  yield* Checkpoints.sign(Checkpoints.originOf(LOG_URL, yield* CurrentCell), yield* signers)
})

const isReceipt = Schema.is(Contract.Receipt)

interface Receipt {
  readonly origin: string
  readonly events: ReadonlyArray<{
    readonly entry: Commitments.Entry
    readonly fields: Readonly<Record<string, Commitments.Opening>>
    readonly hidden: Readonly<Record<string, string>>
    readonly index: number
    readonly proof: ReadonlyArray<string>
  }>
  readonly checkpoint: string
  readonly keys: ReadonlyArray<string>
}

const proofOf = (proof: ReadonlyArray<string>) => proof.map((hash) => Buffer.from(hash, "base64url"))

/** Returns what is wrong with a receipt; undefined if it proves what it says. */
export const problemOf = (receipt: Receipt): string | undefined => {
  if (!isReceipt({ email: {}, ...receipt })) return "form"
  const note = SignedNote.parse(receipt.checkpoint)
  const keys = receipt.keys.map(SignedNote.parseVkey)
  if (note === undefined || keys.length === 0) return "no signed note"
  for (const key of keys)
    if (key?.name !== receipt.origin || SignedNote.signedBy(note, [key]).length === 0) return "signature"
  const checkpoint = Checkpoint.parse(note.text)
  if (checkpoint?.origin !== receipt.origin) return "origin"
  const { root, size } = checkpoint
  for (const { entry, fields, hidden, index, proof } of receipt.events) {
    const commitments = { ...hidden }
    for (const [name, opening] of Object.entries(fields)) commitments[name] = Commitments.ofOpening(opening)
    if (Commitments.dataOf(commitments) !== entry.data) return "data"
    const ranges = MerkleTree.inclusion(index, size)
    if (index >= size || ranges.length !== proof.length) return "proof"
    const leaf = MerkleTree.leafHash(Commitments.textOf(entry))
    if (!Buffer.from(root).equals(MerkleTree.rootFrom(leaf, index, ranges, proofOf(proof)))) return "root"
  }
  return new Set(receipt.events.map(({ entry }) => entry.stream)).size > 1 ? "streams" : undefined
}
