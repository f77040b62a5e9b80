import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { maskedBody } from "../../../apps/server/src/requestLog/maskedBody.ts"
import { maskedPath } from "../../../apps/server/src/requestLog/maskedPath.ts"
import { MAX_LOGGED_QUERY_CHARS, maskedQuery } from "../../../apps/server/src/requestLog/maskedQuery.ts"
import { MAX_TEXT_CHARS, maskedText } from "../../../apps/server/src/requestLog/maskedText.ts"
import { processorMs } from "../../support/processorMs.ts"

/** A secret that looks like none: only where it stands tells. */
const SECRET = "hunter two"
const NAMES = ["Authorization", "X-Postmark-Server-Token", "x_api_KEY", "X-Session", "X-Access-Code", "Pass Word"]

interface Parameter {
  readonly in: string
  readonly name: string
}

const masked = (body: unknown) => maskedBody(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)))

/** Returns the pairs in which headers are written as a list, in every order and spelling of their keys. */
const pairsOf = (header: string): ReadonlyArray<string> => {
  const [name, secret] = [JSON.stringify(header), JSON.stringify(SECRET)]
  return [
    `{"Name":${name},"Value":${secret}}`,
    `{"Value":${secret},"Name":${name}}`,
    `{"VALUE":${secret},"nAmE":${name}}`,
    `{"value":${secret},"key":${name}}`,
    `{"value":${secret},"header":${name}}`,
    String.raw`{"v\u0061lue":${secret},"n\u0061me":${name}}`,
    `{"Value":${secret},"Name":"X-Id","Name":${name}}`,
    `{"Name":${name},"Value":${secret},"Name":"X-Id"}`,
    `{"Value":"7","Value":${secret},"Name":${name}}`,
    `{"Value":[${secret}],"Name":${name}}`,
    `{"Value":{"to":${secret}},"Name":${name}}`,
    `{"Value":${secret}}`,
    `{"to":${secret},"Name":${name}}`,
    `[${name},${secret}]`,
    `[[${name},${secret}]]`,
    `{"a":{"Value":${secret},"Name":${name}}}`,
    `{${name}:${secret}}`,
    `{${name}:[${secret}]}`,
    `{"X-Id":"7",${name}:{"to":${secret}}}`,
    JSON.stringify(`${header}: ${SECRET}`),
  ]
}

/** Names of headers that take long to normalize: marks that have to be sorted, and characters that become eighteen. */
const LONG_NAMES = {
  "marks in turns": "\u0301\u0316".repeat(40_000),
  "marks of two kinds": "\u0301".repeat(40_000) + "\u0316".repeat(40_000),
  "characters that become many": "\ufdfa".repeat(80_000),
}

describe("a secret header in a logged body", () => {
  for (const [what, long] of Object.entries(LONG_NAMES))
    it(`is masked behind a name of any length, in the time that a plain one takes: ${what}`, () => {
      const measure = (name: string) => {
        const began = processorMs()
        for (const headers of [{ [name]: SECRET }, [{ Name: name, Value: SECRET }]])
          assert.notInclude(masked({ headers }), SECRET)
        return processorMs() - began
      }
      const plain = measure("\u0301".repeat(80_000))
      assert.isBelow(measure(long), 3 * plain + 50)
    })

  for (const header of NAMES)
    // threat: request-log
    it(`is masked in every shape of a list: ${header}`, () => {
      for (const field of ["headers", "Headers", "HEADERS", String.raw`he\u0061ders`])
        for (const pair of pairsOf(header))
          for (const body of [`[${pair}]`, pair, `[{"Name":"X-Id","Value":"7"},${pair}]`, `[[${pair}]]`])
            for (const whole of [`{"${field}":${body}}`, `{"emails":[{"${field}":${body}}]}`])
              assert.notInclude(masked(whole), SECRET, whole)
    })

  it("is masked where a body ends in the middle of it", () => {
    const whole = `{"to":"a","Headers":[{"Value":"${SECRET}","Name":"Authorization"}],"password":"${SECRET}"}`
    for (let end = 0; end <= whole.length; end++)
      assert.notInclude(masked(whole.slice(0, end)), "hunter", whole.slice(0, end))
  })

  it("leaves other headers to read, in either order", () => {
    assert.strictEqual(
      masked('{"Headers":[{"Value":"7","Name":"X-Id"},{"Name":"X-Id","Value":"8"}],"headers":{"X-Id":"9"}}'),
      '{"Headers":[{"Value":"7","Name":"X-Id"},{"Name":"X-Id","Value":"8"}],"headers":{"X-Id":"9"}}',
    )
  })
})

describe("a secret in a logged body", () => {
  it("is masked in each of several fields of one name", () => {
    for (const body of [
      `{"password":"${SECRET}","password":"${SECRET}"}`,
      `{"to":"a","headers":{},"headers":{"Cookie":"${SECRET}"}}`,
      `{"to":{"secret":"${SECRET}","to":{"secret":["${SECRET}"]}}}`,
      `{"subject":"x","p\\u0061ssword":"${SECRET}"}`,
    ])
      assert.notInclude(masked(body), SECRET, body)
  })

  it("is masked in a text that names it", () => {
    for (const text of [
      "password=hunter2",
      '{"password":"hunter2"}',
      "{'api_key': 'hunter2'}",
      "Authorization: hunter2",
      "a&client_secret=hunter2&b",
      "X-Token : hunter2",
    ])
      assert.notInclude(masked({ subject: text }), "hunter2", text)
  })

  it("is masked in an address, whatever its scheme and its slashes", () => {
    const passwords = [
      "hunter",
      "p@hunter",
      "p@@hunter",
      "p:hunter",
      "\thunter",
      "hunter'",
      'p"hunter',
      "p<hunter",
      "hun%40ter",
    ]
    const starts = [
      "https://",
      "http://",
      "https:/",
      "https:",
      "https:\\\\",
      "https:\t//",
      "https:/\t/",
      "HTTPS:////",
      "postgres://",
      "smtp://",
    ]
    for (const password of passwords)
      for (const start of starts)
        for (const [before, after] of [
          ["", "/"],
          ["see ", " and ana@example.org"],
          ["https://a.org/https://", "?x=1"],
          ["postgres://b@c.org/", "#x"],
        ] as const) {
          const text = `${before}${start}user:${password}@example.org${after}`
          assert.notMatch(maskedText(text), /hun|user/u, JSON.stringify(text))
          assert.include(maskedText(text), "[masked]@example.org", JSON.stringify(text))
        }
    assert.notInclude(maskedText("key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"), "MDENG")
    for (const text of [
      "Re: ana@example.org",
      "mailto:ana@example.org",
      "https://example.org/@ana",
      "http://a.org, b@c.org",
    ])
      assert.strictEqual(maskedText(text), text)
  })

  it("is masked in a long text that is cut in the middle of it", () => {
    const token = "wb_9aXk2LmQ8ZrT4vBnQ7sD1fG3hJ5kL6"
    for (let before = 0; before < token.length; before++) {
      const text = maskedText(`${"-".repeat(before)} ${`${token} `.repeat(200)}`)
      assert.notMatch(text, /wb_/u, String(before))
      assert.isAtMost(text.length, MAX_TEXT_CHARS + 50)
    }
  })

  it("is searched for in a bounded part of a body, where masks leave the rest short", () => {
    const hostile = `${"ey-".repeat(660)}abcdefghijk1`
    const text = masked({ to: Array.from({ length: 1_200 }, () => hostile) })
    assert.isBelow(text.length, 1_000)
    assert.isTrue(text.endsWith("…"))
    const names = Array.from({ length: 1_000 }, (_, nth) => [`X-${nth}`, "v"] as const)
    assert.notInclude(masked({ headers: Object.fromEntries(names) }), '"v"')
  })

  it("is not stored in a body that is no JSON: a form, parts or text", () => {
    for (const body of [
      "to=a&token=hunter2",
      '--b\r\nContent-Disposition: form-data; name="password"\r\n\r\nhunter2\r\n--b--',
      "[password=hunter2]",
      "{password: hunter2}",
      "hunter2",
    ])
      assert.notInclude(masked(body), "hunter2", body)
  })
})

describe("the query of a logged request", () => {
  it("shows values of known parameters only, however their names are encoded", () => {
    const cases: ReadonlyArray<readonly [query: string, shown: string]> = [
      ["to=ana@example.org&password=hunter2", "to=ana@example.org&password=[masked]"],
      ["%70assword=hunter2&p%61ssword=hunter2", "password=[masked]&password=[masked]"],
      ["limit=1;token=hunter2", "limit=[masked]"],
      ["path=/v1/x%3Ftoken%3Dhunter2", "path=[masked]"],
      ["path=/v1/x%253Ftoken%253Dhunter2", "path=[masked]"],
      ["hunter=&=hunter2", "hunter=[masked]&=[masked]"],
    ]
    for (const [query, shown] of cases) assert.strictEqual(maskedQuery(query), shown, query)
  })

  it("shows every parameter of the API but pairs of metadata", () => {
    const file = new URL("../../contract/openapi.json", import.meta.url)
    const { paths } = JSON.parse(readFileSync(file, "utf8")) as { readonly paths: Record<string, object> }
    const names = Object.values(paths)
      .flatMap((path) => Object.values(path) as ReadonlyArray<{ parameters?: ReadonlyArray<Parameter> }>)
      .flatMap(({ parameters = [] }) => parameters.flatMap((each) => (each.in === "query" ? [each.name] : [])))
    const hidden = new Set(names.filter((name) => maskedQuery(`${name}=vera`) !== `${name}=vera`))
    assert.deepStrictEqual([...hidden], ["metadata"])
    assert.strictEqual(maskedQuery("metadata.order=7041"), "metadata.order=[masked]")
  })

  it("is bounded", () => {
    const query = Array.from({ length: 50 }, (_, nth) => `${"n.".repeat(150)}${nth}=x`).join("&")
    assert.isAtMost(maskedQuery(query).length, MAX_LOGGED_QUERY_CHARS + 1)
    assert.isTrue(maskedQuery(query).endsWith("…"))
  })
})

describe("the path of a logged request", () => {
  it("hides a key, however it is encoded", () => {
    const key = "wb_9aXk2LmQ8ZrT4vBnQ7sD1fG3hJ5kL6"
    const encoded = [...key].map((one) => `%${one.charCodeAt(0).toString(16)}`).join("")
    for (const text of [key, key.replace("_", "%5F"), encoded, encoded.replaceAll("%", "%25"), `a%2F${key}%2Fb`])
      assert.notMatch(decodeURIComponent(decodeURIComponent(maskedPath(`/v1/email/logs/${text}`))), /9aXk2/u, text)
    assert.strictEqual(maskedPath("/v1/suppressions/ana%2Bb@example.org"), "/v1/suppressions/ana%2Bb@example.org")
  })

  it("is bounded", () => assert.isBelow(maskedPath(`/v1/${"a/".repeat(5_000)}`).length, MAX_TEXT_CHARS + 50))
})
