import { Api } from "@waybill/api/Api"
import * as EmailMessage from "@waybill/api/schemas/EmailMessage"
import { WebhookType } from "@waybill/domain/webhook/WebhookType"
import * as Scope from "@waybill/domain/account/Scope"
import * as SuppressionState from "@waybill/domain/suppression/SuppressionState"
import { Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { readFileSync } from "node:fs"
import { assert, describe, test } from "vitest"
import { BEGIN_CALLS, END_CALLS, writtenCalls } from "../server/compat/callTables.ts"

const text = ["docs/coming-from.md", "docs/compatibility.md"].map((file) => readFileSync(file, "utf8")).join("\n")
/** What the column of this service says, and the sentences, which speak of it wherever they name a path of `/v1`. */
const own = text
  .replace(writtenCalls(), "")
  .split("\n")
  .flatMap((line) => (line.startsWith("|") ? [line.split("|")[2] ?? ""] : [line]))
  .join("\n")
const body = (json = "") => JSON.parse(json) as Readonly<Record<string, string>>
const quoted = (pattern: RegExp) => [...own.matchAll(pattern)].map((match) => match.slice(1))

const STRICT = { onExcessProperty: "error" } as const

describe("docs/coming-from.md", () => {
  test("shows the calls of other services' packages as the tests see them: npm run generate calls", () => {
    assert.include(text, `${BEGIN_CALLS}\n\n${writtenCalls()}\n\n${END_CALLS}`)
  })

  test("names endpoints that there are", () => {
    const { paths } = OpenApi.fromApi(Api)
    const named = quoted(/`(GET|POST|PATCH|DELETE) (\/[^\s`]+)`/gu)
    assert.isAtLeast(named.length, 12)
    for (const [method = "", path = ""] of named)
      assert.property((paths as Record<string, object>)[path] ?? {}, method.toLowerCase(), `${method} ${path}`)
  })

  test("names every field of a message, and none that is not there", () => {
    const rows = own.slice(own.indexOf("## Map the fields"), own.indexOf("A pair such as"))
    const fields = Object.keys(EmailMessage.EmailMessage.fields)
    const inside = ["filename", "content", "content_type", "content_id", "opens", "clicks"]
    const named = new Set([...rows.matchAll(/`(\w+)`/gu)].map(([, name = ""]) => name))
    assert.sameMembers([...named], [...fields, ...inside])
  })

  test("names webhooks and scopes that there are", () => {
    const types = quoted(/`(email\.\w+)`/gu).flat()
    assert.isAbove(types.length, 8)
    for (const type of types) assert.include(WebhookType.literals, type)
    for (const scope of quoted(/`(\w+:\w+)`/gu).flat())
      if (!scope.startsWith("campaign:")) assert.include(Scope.ALL, scope)
  })

  test("denies nothing that there is", () => {
    const things = new Set(Object.keys(OpenApi.fromApi(Api).paths).flatMap((path) => path.split("/").slice(2)))
    const denied = [...text.matchAll(/Waybill has no ([a-z -]+)/gu)].map(([, thing = ""]) => thing)
    assert.isAbove(denied.length, 15)
    for (const sentence of denied) {
      if (sentence.includes("in this form")) continue
      const [thing = ""] = sentence.split(/ (?:of|in|that|or|to)\b/u)
      assert.isFalse(things.has(thing), `Waybill has ${thing}`)
    }
    assert.notMatch(text, /no (?:logs of requests|pools of addresses)/u)
    // Resend's API fetches them, and mail of test keys comes from any domain.
    assert.notMatch(text, /\*\*Attachments by URL\*\*[,.]|[Ss]ending without your own domain/u)
  })

  test("shows bodies that are taken", () => {
    const [suppression, message, ...more] = quoted(/```json\n([^]*?)```/gu).flat()
    assert.lengthOf(more, 0)
    const { "X-Order": order, ...none } =
      Schema.decodeUnknownSync(EmailMessage.EmailMessage, STRICT)(body(message)).headers ?? {}
    assert.deepStrictEqual([order, none], ["4711", {}])
    const { SuppressionAddition } = OpenApi.fromApi(Api).components.schemas as Readonly<
      Record<string, { readonly properties: object }>
    >
    const { reason, ...rest } = body(suppression)
    assert.includeMembers(Object.keys(SuppressionAddition?.properties ?? {}), ["reason", ...Object.keys(rest)])
    assert.include(SuppressionState.Reason.literals, reason)
    for (const each of SuppressionState.Reason.literals) assert.include(own, `\`${each}\``)
  })
})
