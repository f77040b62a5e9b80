import * as Turn from "@waybill/runtime/flow/Turn"
import * as SignedNote from "@waybill/store/transparency/SignedNote"
import { Effect } from "effect"
import { sign } from "node:crypto"
import * as Cbor from "./Cbor.ts"

/** A proof that a log holds a leaf. */
export interface LeafProof {
  readonly index: number
  readonly proof: ReadonlyArray<Uint8Array>
}

/** A tree, and its leaves that a statement is about. */
export interface ProvedLeaves {
  readonly size: number
  readonly root: Uint8Array
  readonly leaves: ReadonlyArray<LeafProof>
}

const SIGN1_TAG = 18
const EDDSA = -8
/** Labels of headers: RFC 9052, section 3.1, and RFC 9942, section 4. */
const HEADER = { algorithm: 1, contentType: 3, keyId: 4, receipts: 394, dataStructure: 395, proofs: 396 } as const
const RFC9162_SHA256 = 1
const INCLUSION_PROOFS = -1
const JSON_TYPE = "application/json"

const sign1 = (
  signer: SignedNote.Signer,
  headers: ReadonlyArray<readonly [number, Cbor.Value]>,
  unprotected: ReadonlyMap<number, Cbor.Value>,
  signed: Uint8Array,
  payload: Uint8Array | null,
): Uint8Array => {
  const own: ReadonlyArray<readonly [number, Cbor.Value]> = [
    [HEADER.algorithm, EDDSA],
    [HEADER.keyId, SignedNote.idOf(signer)],
  ]
  const bytes = Cbor.encode(new Map([...own, ...headers].toSorted(([one], [other]) => one - other)))
  const toBeSigned = Cbor.encode(["Signature1", bytes, new Uint8Array(), signed])
  const signature = sign(null, toBeSigned, signer.privateKey)
  return Cbor.encode({ tag: SIGN1_TAG, value: [bytes, unprotected, payload, signature] })
}

/** A COSE Receipt (RFC 9942) over a leaf. Its payload, the root, is left out: it follows from the leaf and the proof. */
const receipt = (signer: SignedNote.Signer, { root, size }: ProvedLeaves, { index, proof }: LeafProof): Uint8Array => {
  const inclusion = Cbor.encode([size, index, proof])
  const proofs = new Map<number, Cbor.Value>([
    [HEADER.proofs, new Map<number, Cbor.Value>([[INCLUSION_PROOFS, [inclusion]]])],
  ])
  return sign1(signer, [[HEADER.dataStructure, RFC9162_SHA256]], proofs, root, null)
}

/** Signs a text of JSON, with a COSE Receipt for each of its events in their order. Each is made when it is the account's turn. */
export const statement = Effect.fnUntraced(function* (
  account: string,
  signer: SignedNote.Signer,
  json: string,
  proved: ProvedLeaves,
) {
  const receipts = yield* Effect.forEach(proved.leaves, (leaf) =>
    Effect.map(Turn.shared(account), () => receipt(signer, proved, leaf)),
  )
  yield* Turn.next
  const payload = Buffer.from(json)
  return sign1(signer, [[HEADER.contentType, JSON_TYPE]], new Map([[HEADER.receipts, receipts]]), payload, payload)
})
