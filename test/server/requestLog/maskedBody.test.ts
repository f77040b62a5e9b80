import { assert, describe, it } from "vitest"
import { MAX_LOGGED_BODY_BYTES, maskedBody } from "../../../apps/server/src/requestLog/maskedBody.ts"
import { maskedText } from "../../../apps/server/src/requestLog/maskedText.ts"

const masked = (body: unknown) => maskedBody(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)))

describe("the body of a logged request", () => {
  const CASES: ReadonlyArray<readonly [what: string, body: unknown, shown: string]> = [
    [
      "content",
      { to: "Ana <ana@example.org>", subject: "Zażółć", html: "<p>1</p>", text: "", tags: ["a"] },
      '{"to":"Ana <ana@example.org>","subject":"Zażółć","html":"[masked, 8 bytes]","text":"","tags":["a"]}',
    ],
    [
      "attachments",
      { attachments: [{ filename: "a.pdf", content: "QUJD", path: "https://u:p@a.test/f?sig=1#x" }] },
      '{"attachments":[{"filename":"a.pdf","content":"[masked, 4 bytes]","path":"https://[masked]@a.test/f?[masked]"}]}',
    ],
    [
      "unknown fields as a whole",
      { htlm: "<p>", data: { name: "x", list: [1, { to: "y" }] }, count: 3, password: null },
      '{"htlm":"[masked, 3 bytes]","data":"[masked]","count":3,"password":null}',
    ],
    [
      "headers",
      { headers: { "X-Id": "7", Authorization: "hunter2" }, Headers: [{ Name: "X-Api-Key", Value: "short" }] },
      '{"headers":{"X-Id":"7","Authorization":"[masked, 7 bytes]"},"Headers":[{"Name":"X-Api-Key","Value":"[masked, 5 bytes]"}]}',
    ],
    ["a field whose name is escaped", String.raw`{"h\u0074ml":"<p>"}`, '{"html":"[masked, 3 bytes]"}'],
    ["a field without an end", '{"to":"a","html":"<p>', '{"to":"a","html":…'],
    ["what is no JSON", '{"to":secret}', '{"to":…'],
    ["a form", "to=a&token=b", ""],
  ]
  for (const [what, body, shown] of CASES) it(`masks ${what}`, () => assert.strictEqual(masked(body), shown))

  it("has at most 16 KB, whatever is sent", () => {
    for (const body of [
      { to: Array.from({ length: 2_000 }, (_, nth) => `ana${nth}ł@example.org`) },
      `[${"1,".repeat(500_000)}1]`,
      `${"[".repeat(1_000)}`,
      `{"html":[${"1,".repeat(500_000)}1],"to":"a"}`,
    ]) {
      const text = masked(body)
      assert.isAtMost(Buffer.byteLength(text), MAX_LOGGED_BODY_BYTES)
      assert.isTrue(text.endsWith("…"), text.slice(-50))
    }
  })

  it("hides texts that look like secrets, and no others", () => {
    const secrets = [
      "wb_9aXk2LmQ8ZrT4vBn",
      "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
      "re_abc12345678",
      "Bearer abc.def=1",
      "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
      "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
      "Ab3/9xQzLm0Pq8RtYvW2/zz+KK=",
    ]
    for (const secret of secrets) assert.notInclude(maskedText(`a ${secret} b`), secret.slice(-6), secret)
    const plain = [
      "/v1/email/logs/msg_01kakz5xq8e4vb2m0r7c3d9h1t",
      "order-2024-11-25-confirmation-mail",
      "Your basic information, bearer of news",
      "anna.maria@example-long-domain-name2024.org",
      "2026-11-25T10:00:00.000Z",
    ]
    for (const text of plain) assert.strictEqual(maskedText(text), text)
  })
})
