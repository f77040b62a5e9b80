import { assert, describe, it } from "vitest"
import { ApiError } from "../../apps/dashboard/src/api/ApiError.ts"
import { eventName } from "../../apps/dashboard/src/ui/display/eventName.ts"
import { paths, read } from "../house/source.ts"

/** Folders with the messages of API errors. */
const FOLDERS = /^(?:packages\/domain\/src|packages\/api\/src\/errors|apps\/server\/src\/(?:accept|signIn))\//u
/** Texts of the source that name an endpoint, among other words. */
const TEXTS = /(["`])((?:(?!\1)[^\n])*\b(?:GET|POST|PUT|PATCH|DELETE) \/(?:(?!\1)[^\n])*)\1/gu

const shown = (message: string, details: ApiError["details"] = []) =>
  ApiError.fromResponse(
    Response.json(
      { error: { message, reason: "validation_failed", request_id: "req_1", details } },
      { status: 400, headers: { "x-request-id": "req_1" } },
    ),
  )

describe("an error of the API in the dashboard", () => {
  it("names no endpoint and no request id", async () => {
    const texts = paths
      .filter((path) => FOLDERS.test(path))
      .flatMap((path) => [...read(path).text.matchAll(TEXTS)].map(([, , text = ""]) => text))
      .filter((text) => text.includes(". ") || text.endsWith("."))
    assert.isAbove(texts.length, 2)
    for (const text of texts) {
      const { message } = await shown(`It is not possible. ${text}`, [{ path: "name", message: text }])
      assert.notMatch(message, /\b(?:GET|POST|PUT|PATCH|DELETE)\b|\/v1|req_/u, text)
      assert.match(message, /^It is not possible\./u, text)
    }
  })

  it("is never empty, however much of it is about endpoints", async () => {
    for (const [status, words] of [
      [404, "No such page or record. Check the address."],
      [400, "The server responded with status 400."],
    ] as const) {
      const { message } = await ApiError.fromResponse(
        Response.json({ error: { message: "There is no GET /v1/email/logs/msg_123." } }, { status }),
      )
      assert.strictEqual(message, words)
    }
  })

  it("says what is wrong in words, for the whole form and beside a field", async () => {
    const domain = await shown(
      "The domain a.dev is not a domain of this account. Add it with POST /domains and publish its DKIM record.",
    )
    assert.strictEqual(
      domain.message,
      "The domain a.dev is not a domain of this account. Add it in Domains and publish its DKIM record.",
    )
    const list = await shown("`reply_to[0]` is not an address. 2 more errors are in `details`.", [
      { path: "reply_to[0]", message: "is not an address" },
    ])
    assert.deepStrictEqual(
      [list.message, list.fieldMessage("reply_to"), list.without(["reply_to"])],
      ["Reply to is not an address.", "This is not an address.", undefined],
    )
  })
})

describe("words for people", () => {
  it("are those of the screens, not of the wire", () => {
    assert.deepStrictEqual(
      ["email.delivery_delayed", "email.bounced", "domain.verified", "api_key.revoked"].map(eventName),
      ["Deferred", "Bounced", "Domain verified", "API key revoked"],
    )
  })

  it("call the sandbox by one name in the dashboard, the command line and the documentation", () => {
    const people = /^(?:README\.md|docs\/(?!decisions\/).*\.md|apps\/dashboard\/src\/.*|apps\/server\/src\/cli\/.*)$/u
    const found = paths
      .filter((path) => people.test(path))
      .flatMap((path) => {
        const lines = read(path).text.split("\n")
        // In code only texts count: a quoted name is a value of the wire.
        const texts = path.endsWith(".md")
          ? lines
          : lines.flatMap((line) => line.match(/(?<=["`>])[^"`<>]* [^"`<>]*/gu) ?? [])
        return texts.filter((text) => /\b(?:captured?|inbox)\b/iu.test(text)).map((text) => `${path}: ${text}`)
      })
    assert.deepStrictEqual(
      found.filter((line) => !/former name|icon: Inbox/u.test(line)),
      [],
    )
  })
})
