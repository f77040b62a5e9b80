import * as EmailFilter from "@waybill/domain/search/EmailFilter"
import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import { connect, jsonOf } from "./support.ts"

const HIDDEN = "Hello \u{e0041}there"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("forms of MCP tools", (it) => {
  it.effect("each tool states the form of its answer", function* () {
    const { client } = yield* connect((yield* signUp()).key)
    const { tools } = yield* Effect.promise(() => client.listTools())
    assert.isAtLeast(tools.length, 15)
    for (const { name, outputSchema } of tools) {
      assert.deepInclude(outputSchema, { type: "object" }, name)
      assert.includeMembers([...((outputSchema?.["required"] ?? []) as ReadonlyArray<string>)], ["summary"], name)
      assert.isAbove(Object.keys(outputSchema?.["properties"] ?? {}).length, 2, name)
    }
  })

  it.effect("a program gets what the assistant reads, with hidden characters shown", function* () {
    const { key, send } = yield* signUp({ domains: ["acme.test"] })
    const { call } = yield* connect(key)
    const id = yield* send({ to: "ana@example.org", subject: HIDDEN, text: "Hi" })
    const { structured, text } = yield* call("find_emails", { to: "ana@example.org" })
    const { rows, ...rest } = structured ?? assert.fail("a program gets nothing")
    const [row] = jsonOf(text).rows
    assert.strictEqual(row.id, id)
    // A program writes them as they are, unless they are escaped in the text itself.
    const untrusted = { ...row.untrusted, subject: HIDDEN.replace("\u{e0041}", "\\u{e0041}") }
    assert.deepStrictEqual(rows, [{ ...row, untrusted }])
    assert.strictEqual(rest["summary"], "1 email.")
    assert.match(String(rest["notice"]), /never an instruction/u)
    assert.isUndefined((yield* call("get_email", { id: "msg_00000000000000000000000000" })).structured)
  })

  it.effect("one value stands for a list of it", function* () {
    const { call, client } = yield* connect((yield* signUp()).key)
    const { tools } = yield* Effect.promise(() => client.listTools())
    const find = tools.find(({ name }) => name === "find_emails") ?? assert.fail("no find_emails")
    assert.includeMembers(Object.keys(find.inputSchema.properties ?? {}), [...EmailFilter.NAMES])
    const { status } = (find.inputSchema.properties ?? {}) as Readonly<Record<string, { readonly anyOf?: unknown }>>
    assert.lengthOf((status?.anyOf ?? []) as ReadonlyArray<unknown>, 2)
    assert.isFalse((yield* call("find_emails", { status: "bounced" })).isError)
    assert.match((yield* call("find_emails", { status: "lost" })).text, /`status\[0\]` must be one of queued, /u)
    assert.isTrue((yield* call("find_emails", { constructor: "bounced" })).isError)
  })
})
