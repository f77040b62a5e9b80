import { Clock, Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"
import { browser, House } from "./house.ts"

/** One second by the contract, and half a second more on a busy machine. */
const WITHIN_MS = 1_500

/** An event stream as the dashboard opens it. */
const streamOf = (url: string, jar: ReadonlyMap<string, string>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const control = new AbortController()
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ")
      const headers = { cookie, "x-waybill-dashboard": "1" }
      const response = await fetch(`${url}/v1/events/stream`, { headers, signal: control.signal })
      assert.strictEqual(response.status, 200)
      const state = { isOver: false }
      const drained = async () => {
        for await (const _ of response.body ?? []) continue
      }
      void drained()
        .catch(() => undefined)
        .then(() => (state.isOver = true))
      return { state, control }
    }),
    ({ control }) => Effect.sync(() => control.abort()),
  )

const endsInTime = ({ state }: { readonly state: { readonly isOver: boolean } }) =>
  Effect.gen(function* () {
    const began = yield* Clock.currentTimeMillis
    yield* World.until(
      Effect.sync(() => state.isOver),
      (over) => over,
    )
    assert.isBelow((yield* Clock.currentTimeMillis) - began, WITHIN_MS)
  })

layer(House.layer, { excludeTestServices: true, timeout: "90 seconds" })("an event stream of the dashboard", (it) => {
  it.effect("ends within a second of its session, and not with another session of the member", function* () {
    const { owner, url } = yield* House
    const [one, two] = [browser(url), browser(url)]
    yield* one.signIn(owner)
    yield* two.signIn(owner)
    const ended = yield* streamOf(url, one.jar)
    const kept = yield* streamOf(url, two.jar)
    assert.strictEqual((yield* one.request("POST", "/auth/sign-out", { body: {} })).status, 200)
    yield* endsInTime(ended)
    assert.isFalse(kept.state.isOver)
  })
})
