import * as MerkleTree from "@waybill/store/transparency/MerkleTree"
import * as SignedNote from "@waybill/store/transparency/SignedNote"
import * as TilePath from "@waybill/store/transparency/TilePath"
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

interface Built {
  readonly root: Uint8Array
  readonly tiles: ReadonlyMap<string, Uint8Array>
}

/** A log as an instance serves it, which can also show what none may show. */
export class FakeLog {
  readonly origin: string
  signers: ReadonlyArray<SignedNote.Signer>
  leaves: ReadonlyArray<string> = []
  /** The checkpoint that is served; the newest one if it is undefined. */
  shown: string | undefined
  /** What is named as another log of the instance. */
  cells: ReadonlyArray<object> = []
  requests: Array<string> = []
  readonly #built = new Map<string, Built>()

  constructor(origin = "mail.example.com/log", secret = randomBytes(32)) {
    this.origin = origin
    this.signers = [SignedNote.signer(origin, secret)]
  }

  get keys(): ReadonlyArray<string> {
    return this.signers.map(SignedNote.vkeyOf)
  }

  grow(count: number, mark = "leaf"): this {
    const from = this.leaves.length
    this.leaves = [...this.leaves, ...Array.from({ length: count }, (_, nth) => `${mark} ${from + nth}`)]
    return this
  }

  /** Writes another history from a leaf on. */
  rewrite(from: number): this {
    this.leaves = this.leaves.map((leaf, nth) => (nth < from ? leaf : `other ${leaf}`))
    return this
  }

  build(size = this.leaves.length): Built {
    const leaves = this.leaves.slice(0, size)
    const name = leaves.join("\n")
    const known = this.#built.get(name)
    if (known !== undefined) return known
    const { edge, tiles } = MerkleTree.append([], 0, leaves.map(MerkleTree.leafHash))
    const built = {
      root: MerkleTree.rootOf(edge),
      tiles: new Map(tiles.map((tile) => [MerkleTree.keyOf(tile), tile.hashes])),
    }
    this.#built.set(name, built)
    return built
  }

  note(size = this.leaves.length, root = this.build(size).root): string {
    const text = [this.origin, String(size), Buffer.from(root).toString("base64"), ""].join("\n")
    return SignedNote.sign(text, this.signers)
  }

  proof(earlier: number, size = this.leaves.length): ReadonlyArray<Uint8Array<ArrayBuffer>> {
    const { tiles } = this.build(size)
    return MerkleTree.consistency(earlier, size).map((range) => Uint8Array.from(MerkleTree.hashOf(tiles)(range)))
  }

  answer(path: string): string | Uint8Array | undefined {
    this.requests.push(path)
    if (path === "/.well-known/waybill-log.json")
      return JSON.stringify({ origin: this.origin, keys: this.keys, cells: this.cells })
    if (path === "/log/checkpoint") return this.shown ?? this.note()
    const tile = TilePath.parse(path.replace("/log/", ""))
    const hashes = tile === undefined ? undefined : this.build().tiles.get(MerkleTree.keyOf(tile))
    return tile === undefined ? undefined : hashes?.subarray(0, tile.width * MerkleTree.HASH_BYTES)
  }

  async serve(): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
    const server = createServer((request, response) => {
      const answer = this.answer(request.url ?? "")
      response.writeHead(answer === undefined ? 404 : 200).end(answer)
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      close: async () => {
        server.closeAllConnections()
        await new Promise<void>((resolve) => server.close(() => resolve()))
      },
    }
  }
}
