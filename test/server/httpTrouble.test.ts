import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Lab } from "./httpLab.ts"

layer(Lab.layer(), { excludeTestServices: true, timeout: "90 seconds" })("our own trouble", (it) => {
  const setUp = Effect.gen(function* () {
    const lab = yield* Lab
    const account = yield* lab.account()
    const { secret: key } = yield* lab.key(account)
    return { lab, account, key }
  })

  for (const [where, table] of [
    ["behind a handler", "accounts"],
    ["at the gate", "api_keys"],
  ] as const)
    it.effect(`${where} is a 500 with an id, all headers, and no word about its cause`, () =>
      Effect.gen(function* () {
        const { key, lab } = yield* setUp
        yield* lab.sql`ALTER TABLE ${lab.sql(table)} RENAME TO elsewhere`
        const answer = yield* lab.ask("GET", "/v1/account", { key })
        yield* lab.sql`ALTER TABLE elsewhere RENAME TO ${lab.sql(table)}`
        assert.strictEqual(answer.status, 500)
        assert.deepStrictEqual(answer.json, {
          error: {
            code: "internal_error",
            message: "Something went wrong on our side. It is logged under this request's id.",
            reason: "internal_error",
            request_id: answer.headers.get("x-request-id"),
            details: [],
          },
        })
        for (const name of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"])
          assert.isNotNull(answer.headers.get(name))
        assert.strictEqual((yield* lab.ask("GET", "/v1/account", { key })).status, 200)
      }),
    )

  it.effect("is never an answer that breaks the contract: a row that does not fit it is a 500", () =>
    Effect.gen(function* () {
      const { account, key, lab } = yield* setUp
      yield* lab.sql`UPDATE accounts SET record = record - 'name' WHERE account_id = ${account}`
      assert.strictEqual((yield* lab.ask("GET", "/v1/account", { key })).status, 500)
    }),
  )
})
