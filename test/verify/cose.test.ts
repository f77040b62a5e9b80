import { sign } from "node:crypto"
import { verifyCose, verifyCoseReceipt } from "../../packages/verify/src/Cose.ts"
import { verify } from "../../packages/verify/src/verify.ts"
import { assert, describe, it } from "../support/effectTest.ts"
import * as MadeLog from "./MadeLog.ts"
import { sampleLog } from "./sampleLog.ts"

type Cbor = null | number | string | Uint8Array | ReadonlyArray<Cbor> | Map<number, Cbor> | { readonly tagged: Cbor }

const head = (major: number, value: number): Buffer => {
  if (value < 24) return Buffer.of((major << 5) | value)
  const [info, width] = value < 2 ** 8 ? [24, 1] : value < 2 ** 16 ? [25, 2] : [26, 4]
  const encoded = Buffer.alloc(1 + width, (major << 5) | info)
  encoded.writeUIntBE(value, 1, width)
  return encoded
}
const encode = (value: Cbor): Buffer => {
  if (value === null) return Buffer.of(0xf6)
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === "string") return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  if (value instanceof Map)
    return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, each]) => [encode(key), encode(each)])])
  if ("tagged" in value) return Buffer.concat([head(6, 18), encode(value.tagged)])
  return Buffer.concat([head(4, value.length), ...value.map(encode)])
}

const { log, origin, own, keys } = sampleLog()
const [key = assert.fail()] = keys
const hashes = log.map(MadeLog.leafHash)
const json = JSON.stringify(MadeLog.receiptOf(own, { keys, log, origin }))

interface Changed {
  readonly algorithm?: number
  readonly tree?: number
  readonly payload?: Uint8Array
}

const sign1 = (
  headers: ReadonlyArray<[number, number]>,
  unprotected: Map<number, Cbor>,
  signed: Buffer,
  payload: Cbor,
) => {
  const header = encode(new Map(headers))
  const signature = sign(null, encode(["Signature1", header, Buffer.alloc(0), signed]), key.privateKey)
  return encode({ tagged: [header, unprotected, payload, signature] })
}

/** A COSE Receipt, as RFC 9942 says. */
const receiptOf = (index: number, { algorithm = -8, payload, tree = 1 }: Changed = {}): Buffer => {
  const proof = encode([hashes.length, index, MadeLog.pathOf(index, hashes)])
  const proofs = new Map<number, Cbor>([[396, new Map<number, Cbor>([[-1, [proof]]])]])
  const headers: ReadonlyArray<[number, number]> = [
    [1, algorithm],
    [395, tree],
  ]
  return sign1(headers, proofs, MadeLog.rootOf(hashes), payload ?? null)
}
const statementOf = (receipts: ReadonlyArray<Uint8Array>, text = json): Buffer =>
  sign1([[1, -8]], new Map<number, Cbor>([[394, receipts]]), Buffer.from(text), Buffer.from(text))

const own8 = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => Uint8Array.from(bytes)
const raw = own8(key.raw)
const indexes = own.map((leaf) => log.indexOf(leaf))
const leafOf = (index: number) => own8(hashes[index] ?? assert.fail())
const isRefused = (promise: Promise<unknown>): Promise<boolean> =>
  promise.then(
    () => false,
    () => true,
  )

describe("receipts in COSE", () => {
  it("hold for each leaf with its own proof, by both names of the algorithm", async () => {
    for (const algorithm of [-8, -19])
      for (const index of indexes)
        assert.strictEqual(
          await verifyCoseReceipt(own8(receiptOf(index, { algorithm })), leafOf(index), raw),
          log.length,
        )
    const statement = own8(statementOf(indexes.map((index) => receiptOf(index))))
    const { holds } = await verify(await verifyCose(statement, raw), { keys: [key.vkey] })
    assert.isTrue(holds)
  })

  it("do not hold for another leaf, key, tree or signature", async () => {
    const [index = 0, next = 1] = indexes
    const good = own8(receiptOf(index))
    assert.isTrue(await isRefused(verifyCoseReceipt(good, leafOf(next), raw)))
    assert.isTrue(await isRefused(verifyCoseReceipt(good, leafOf(index), own8(MadeLog.makeKey(origin).raw))))
    for (const changed of [{ algorithm: -7 }, { tree: 2 }, { payload: MadeLog.rootOf(hashes) }])
      assert.isTrue(await isRefused(verifyCoseReceipt(own8(receiptOf(index, changed)), leafOf(index), raw)))
    for (const bytes of [good.slice(1), good.slice(0, -1), Uint8Array.of(...good, 0), new Uint8Array()])
      assert.isTrue(await isRefused(verifyCoseReceipt(bytes, leafOf(index), raw)))
    for (let at = 0; at < good.length; at++)
      assert.isTrue(await isRefused(verifyCoseReceipt(good.with(at, (good[at] ?? 0) ^ 1), leafOf(index), raw)), `${at}`)
  })

  it("do not hold without a receipt for each event, or for other JSON", async () => {
    const receipts = indexes.map((index) => receiptOf(index))
    const changes: ReadonlyArray<Uint8Array> = [
      statementOf(receipts.slice(1)),
      statementOf(receipts.toReversed()),
      statementOf([...receipts, receiptOf(0)]),
      statementOf(receipts, json.replace('"type":"email.delivered"', '"type":"email.bounced"')),
      statementOf(receipts, "{}"),
    ]
    for (const statement of changes) assert.isTrue(await isRefused(verifyCose(own8(statement), raw)))
    const good = own8(statementOf(receipts))
    const at = Buffer.from(good).indexOf("2026-11-29")
    assert.isTrue(await isRefused(verifyCose(good.with(at, 0x33), raw)))
  })

  it("are refused with lengths and depths that no receipt has", async () => {
    const deep = Uint8Array.from([...Array<number>(1000).fill(0x81), 0])
    const long = [
      Uint8Array.of(0x9b, ...Array<number>(8).fill(255)),
      Uint8Array.of(0x5b, ...Array<number>(8).fill(255)),
    ]
    const forms = [
      Uint8Array.of(0x9f, 0xff),
      Uint8Array.of(0xfb, ...Array<number>(8).fill(0)),
      Uint8Array.of(0xd2, 0x80),
    ]
    for (const bytes of [deep, ...long, ...forms]) assert.isTrue(await isRefused(verifyCose(own8(bytes), raw)))
  })
})
