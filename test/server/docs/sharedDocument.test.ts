import { Effect } from "effect"
import { assert, it } from "../../support/effectTest.ts"
import * as SharedDocument from "../../../apps/server/src/http/pages/SharedDocument.ts"

/** A document whose making is counted, and takes as long as its compression. */
const counted = () => {
  let makings = 0
  const make = Effect.suspend(() => {
    makings++
    return SharedDocument.make("x".repeat(100_000), "text/plain")
  })
  return { make, makings: () => makings }
}

it.effect("a document that many ask for at the same time is made once", function* () {
  const once = SharedDocument.once<SharedDocument.SharedDocument>()
  const [page, other] = [counted(), counted()]
  const documents = yield* Effect.all(
    Array.from({ length: 50 }, () => once("page", page.make)),
    { concurrency: "unbounded" },
  )
  yield* once("other", other.make)
  assert.deepStrictEqual([page.makings(), other.makings(), new Set(documents).size], [1, 1, 1])
})

it.effect("a document is made again when the only client that waited for it has left", function* () {
  const once = SharedDocument.once<SharedDocument.SharedDocument>()
  const page = counted()
  yield* Effect.timeoutOption(once("page", page.make), 0)
  const { contentType } = yield* once("page", page.make)
  assert.strictEqual(contentType, "text/plain")
})
