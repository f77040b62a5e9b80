import { createHash } from "node:crypto"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("the API reference", (it) => {
  it.effect("needs no other files", function* () {
    const world = yield* HttpWorld
    const { headers, status, text } = yield* world.request("GET", "/docs/api")
    assert.strictEqual(status, 200)
    assert.match(headers.get("content-type") ?? "", /^text\/html/u)
    // Outside the inlined script, no tag loads anything.
    const html = text.replaceAll(/<script>[\s\S]*?<\/script>/gu, "")
    assert.notMatch(html, /<(?:script|link|img|iframe)\b/u)
    const policy = headers.get("content-security-policy") ?? ""
    assert.match(policy, /; default-src 'none'; .*; connect-src 'self'; /u)
    assert.notMatch(policy, /https?:|\*/u)
    const { headers: verify } = yield* world.request("GET", "/verify")
    assert.match(verify.get("content-security-policy") ?? "", /; connect-src 'none'; /u)
  })

  // threat: docs-page
  it.effect("allows its own scripts by their hashes, and none injected through the URL", function* () {
    const world = yield* HttpWorld
    const { headers, text } = yield* world.request("GET", "/docs/api")
    const policy = headers.get("content-security-policy") ?? ""
    const scripts = /script-src ([^;]*)/u.exec(policy)?.[1]?.split(" ") ?? []
    const inline = [...text.matchAll(/<script>([\s\S]*?)<\/script>/gu)].map(
      ([, code = ""]) => `'sha256-${createHash("sha256").update(code).digest("base64")}'`,
    )
    assert.strictEqual(inline.length, 1)
    assert.deepStrictEqual(scripts, inline)
    assert.notMatch(policy, /unsafe-eval/u)
    // An origin of its own: never with `allow-same-origin`.
    assert.match(policy, /^sandbox allow-scripts allow-forms;/u)
  })

  it.effect(
    "is small, names the kind of its key, and has a section for each endpoint on a page of its group",
    function* () {
      const world = yield* HttpWorld
      const { text } = yield* world.request("GET", "/docs/api")
      assert.include(text, "as a Bearer token")
      const { json } = yield* world.request("GET", "/openapi.json")
      const operations = Object.values<Record<string, { operationId: string }>>(json.paths).flatMap(Object.values)
      const sections: Array<string> = []
      for (const { name } of json.tags) {
        const path = `/docs/api/${name.toLowerCase().replaceAll(" ", "-")}`
        const page = yield* world.request("GET", path, { headers: { "accept-encoding": "br" } })
        assert.isBelow(Number(page.headers.get("content-length")), 20 * 1024, path)
        for (const [, id = ""] of page.text.matchAll(/<article id="([^"]+)"/gu)) {
          sections.push(id)
          assert.include(text, `href="${path}#${id}"`)
        }
      }
      assert.strictEqual(sections.length, operations.length)
      assert.strictEqual(new Set(sections).size, operations.length)
    },
  )

  it.effect("has samples of each client beside the fields, the response, and the pages of the reasons", function* () {
    const world = yield* HttpWorld
    const { text } = yield* world.request("GET", "/docs/api/emails")
    const [, send = ""] = /<article id="emails-send"([^]*?)<\/article>/u.exec(text) ?? []
    assert.deepStrictEqual(
      [...send.matchAll(/<label [^>]*>([^<]+)/gu)].map(([, name]) => name),
      ["curl", "TypeScript", "Python", "Go", "PHP", "Ruby"],
    )
    for (const part of ["waybill.emails.send({", '"string">&quot;queued&quot;', "at most 998 characters"])
      assert.include(send, part)
    assert.match(send, /<code>to<\/code> <span>string[^<]*<\/span> <strong>required</u)
    // What a plan allows, and no larger bound beside it.
    assert.match(
      send,
      /<code>cc<\/code> <span>[^<·]*<\/span><\/dt><dd>[^<]*<code>to<\/code>.*: 10 \(Free\), .*100 \(Business\)/u,
    )
    // A body by a template needs neither of these two.
    assert.match(
      send,
      /<code>subject<\/code> <span>[^<]*<\/span> <strong>required without <code>template<\/code><\/strong>/u,
    )
    assert.include(send, "<strong>required without <code>from</code> and <code>subject</code></strong>")
    assert.include(send, `href="/docs/errors/domain_not_verified"`)
    assert.match(text, /<article id="emails-reschedule"[^]*?<code>id<\/code> <span>string · begins with msg_<\/span>/u)
    assert.match(
      text,
      /<article id="emails-cancel"[^]*?href="\/docs\/errors\/not_cancelable"[^]*?<article id="emails-resend"/u,
    )
  })

  it.effect("begins with its content on a phone, and ends no sentence twice", function* () {
    const world = yield* HttpWorld
    for (const path of ["/docs", "/docs/api", "/docs/api/emails"]) {
      const { text } = yield* world.request("GET", path)
      assert.match(text, /<nav [^>]*><details><summary>/u, path)
      assert.notMatch(text.replaceAll(/<script>[^]*?<\/script>/gu, ""), /[^.]\.\.[^./]/u, path)
    }
  })

  it.effect("is compressed for clients that accept it, and a 304 for those that have it", function* () {
    const world = yield* HttpWorld
    for (const path of ["/docs", "/docs/api/logs", "/docs/start.md", "/openapi.json", "/verify"]) {
      const request = (headers: Readonly<Record<string, string>>) => world.request("GET", path, { headers })
      const plain = yield* request({ "accept-encoding": "identity" })
      assert.isNull(plain.headers.get("content-encoding"))
      for (const [accepted, encoding] of [
        ["gzip, br", "br"],
        ["GZIP;q=1.0", "gzip"],
        ["br;q=0, gzip;q=0.5", "gzip"],
        ["br;q=0.000, deflate", null],
      ] as const) {
        const { headers, text } = yield* request({ "accept-encoding": accepted })
        assert.strictEqual(headers.get("content-encoding"), encoding, accepted)
        assert.strictEqual(headers.get("vary"), "accept-encoding")
        assert.strictEqual(text, plain.text)
      }
      const again = yield* request({ "if-none-match": plain.headers.get("etag") ?? "" })
      assert.deepStrictEqual([again.status, again.text], [304, ""])
    }
  })

  it.effect("describes the same API as /openapi.json", function* () {
    const world = yield* HttpWorld
    const { headers, json } = yield* world.request("GET", "/openapi.json")
    assert.strictEqual(headers.get("content-type"), "application/json")
    assert.strictEqual(json.openapi, "3.1.0")
    const { text } = yield* world.request("GET", "/docs/api/emails")
    assert.include(text, "Possible while the email is queued")
    assert.include(json.paths["/v1/email/{id}/cancel"].post.description, "Possible while the email is queued")
  })
})
