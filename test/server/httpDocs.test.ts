import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Lab } from "./httpLab.ts"

layer(Lab.layer(), { excludeTestServices: true, timeout: "90 seconds" })("the documentation", (it) => {
  it.effect("is one page that carries all it needs and may ask nobody else", () =>
    Effect.gen(function* () {
      const lab = yield* Lab
      const { headers, status, text } = yield* lab.ask("GET", "/docs")
      assert.strictEqual(status, 200)
      assert.match(headers.get("content-type") ?? "", /^text\/html/u)
      // What is outside the inlined script: no tag that fetches.
      const html = text.replaceAll(/<script>[\s\S]*?<\/script>/gu, "")
      assert.notMatch(html, /<(?:script|link|img|iframe)\b/u)
      assert.include(text, '"withDefaultFonts":false')
      const policy = headers.get("content-security-policy") ?? ""
      assert.match(policy, /^default-src 'none'/u)
      assert.notMatch(policy, /https?:|\*/u)
    }),
  )

  it.effect("shows the same contract as /openapi.json", () =>
    Effect.gen(function* () {
      const lab = yield* Lab
      const { headers, json } = yield* lab.ask("GET", "/openapi.json")
      assert.strictEqual(headers.get("content-type"), "application/json")
      assert.strictEqual(json.openapi, "3.1.0")
      const { text } = yield* lab.ask("GET", "/docs")
      assert.include(text, "While it is queued; else 422 `not_cancelable`")
      assert.include(
        json.paths["/v1/email/{id}/cancel"].post.description,
        "While it is queued; else 422 `not_cancelable`",
      )
    }),
  )
})
