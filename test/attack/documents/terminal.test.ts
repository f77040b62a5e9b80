import * as Account from "@waybill/domain/account/Account"
import type { ApiKeyId } from "@waybill/domain/values/Id"
import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Console, Effect, Exit, Logger } from "effect"
import * as NewApiKeys from "../../../apps/server/src/operate/NewApiKeys.ts"
import * as Output from "../../../apps/server/src/cli/Output.ts"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import * as Logs from "../../../apps/server/src/observability/Logs.ts"
import { bare, paths, read } from "../../house/source.ts"
import { assert, describe, it as plain, layer } from "../../support/effectTest.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import { browser, House } from "../../server/signIn/house.ts"
import { type, typed } from "../../support/process/CommandLine.ts"

/** Clears the screen, sets the title, starts a new line and reverses the direction of the rest. */
const EVIL = "x\u001b[2J\u001b]0;owned\u0007\u009b31m\u0085\u2028\r\nroot\u202egnp.exe\u200b"
const NAMES = ["a\u001b[31m", "a\u009b2J", "a\u0085b", "a\u2028b", "x\u202egpj.exe", "a\u2066b", "ad\u200bmin", "a\tb"]

/** Asserts that a terminal would show every line as it is written. */
const assertPlain = (text: string, where: string) => {
  for (const line of text.split("\n"))
    assert.isFalse(HiddenCharacters.hasHidden(line), `${where}: ${JSON.stringify(line)}`)
}

describe("the output of programs", () => {
  const printed = <E>(effect: Effect.Effect<unknown, E>, wrap = (console: Console.Console) => console) => {
    const lines: Array<string> = []
    const log = (...words: ReadonlyArray<unknown>) => void lines.push(words.join(" "))
    return Effect.runPromise(
      Effect.as(
        Effect.provideService(effect, Console.Console, wrap({ ...globalThis.console, log, error: log })),
        lines,
      ),
    )
  }

  plain("is escaped in tables, records, lines, JSON and errors", async () => {
    const row = { id: 1, name: EVIL, nested: { name: EVIL } }
    const columns = ["id", "name", "nested"]
    const lines = [
      ...(await printed(Output.print([row], { json: false, columns }))),
      ...(await printed(Output.print([row], { json: true, columns }))),
      ...(await printed(Output.printOne(row, { json: false }))),
      ...(await printed(Output.say(`left: ${EVIL}`, EVIL))),
      ...(await printed(Output.complain(`waybill: ${EVIL.replaceAll("\n", "")}`))),
      Output.progressLine(EVIL, false, false).trimEnd(),
    ]
    for (const line of lines) assertPlain(line, "output")
    assert.include(lines.join(""), "\\u001b[2J")
    // A line of a table is one row, whatever the row contains.
    assert.lengthOf((await printed(Output.print([row], { json: false, columns }))).join("").split("\n"), 2)
    const [json = ""] = await printed(Output.printJson(row))
    assert.deepStrictEqual(JSON.parse(json), row)
  })

  plain("is escaped where a library prints, but for the colours of a help page", async () => {
    const help = "\u001b[1mUSAGE\u001b[0m \u001b[36mwaybill\u001b[0m"
    const [first, second] = await printed(
      Effect.andThen(Console.log(help), Console.error(`${EVIL}\u001b[8mhidden`)),
      Output.guarded,
    )
    assert.strictEqual(first, help)
    assertPlain((second ?? "").replaceAll("\u001b[31m", ""), "guarded")
  })

  // threat: terminal
  plain("every command prints with the one module that escapes", () => {
    const files = paths.filter((path) => /^apps\/server\/src\/(?:cli|operate)\//u.test(path))
    assert.isAbove(files.length, 20)
    const printing = files.filter((path) =>
      /\bConsole\b|\bconsole\.|\.(?:stdout|stderr)\.write/u.test(bare(read(path).text)),
    )
    // Help passes the guard below, and `top` draws its own screen, whose cells are escaped.
    const others = ["apps/server/src/cli/presenter.ts", "apps/server/src/cli/commands/TopCommand.ts"]
    assert.sameMembers(printing, ["apps/server/src/cli/Output.ts", ...others])
    assert.include(read("apps/server/src/boot/main.ts").text, "Output.guarded(")
  })

  // threat: terminal
  plain("log lines are escaped and decode to the same text", async () => {
    const lines: Array<string> = []
    const logger = Logger.map(Logs.lines, (line) => void lines.push(line))
    const logged = Effect.logWarning(`421 ${EVIL}`, { response: EVIL })
    await Effect.runPromise(Effect.provide(logged, Logger.layer([logger])))
    assertPlain(lines.join(""), "log")
    assert.deepInclude(JSON.parse(lines[0] ?? ""), { message: `421 ${EVIL}`, response: EVIL })
  })
})

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("a name with escape sequences", (it) => {
  // threat: terminal
  it.effect("every list of the command line escapes an old name in the database", function* () {
    const world = yield* HttpWorld
    const store = yield* EventStore
    const account_id = yield* NewIds.newId("AccountId")
    const create = Account.create(yield* NewIds.now, account_id, EVIL, "free")
    yield* Effect.orDie(store.commit(Account, { account_id, stream_id: account_id }, create))
    const { keyId } = yield* Effect.orDie(
      NewApiKeys.createApiKey(account_id, EVIL.replaceAll("\u0000", ""), {
        name: EVIL,
        scopes: ["email:send"],
        domain: null,
        allowed_ips: [],
        expires_at: null,
      }),
    )
    const { secret } = yield* world.key(account_id)
    yield* world.request("POST", "/v1/members", { key: secret, body: { email: "evil@example.org", role: "viewer" } })
    yield* Effect.orDie(world.sql`UPDATE users SET name = ${EVIL} WHERE email = 'evil@example.org'`)
    const commands = [
      ["accounts", "list"],
      ["accounts", "plan", "--account", account_id, "growth"],
      ["users", "list"],
      ["keys", "list", "--account", account_id],
      ["events", "stream", keyId],
      ["events", "stream", account_id],
      ["domains", "list", "--account", account_id],
      ["users", "password", "evil@example.org"],
      ["doctor"],
    ]
    for (const command of commands)
      for (const more of [[], ["--json"]]) {
        const { output: said } = yield* type(...command, ...more)
        assertPlain(said, command.join(" "))
      }
    // Old names stay readable: programs get them unchanged, people get them escaped.
    const users: ReadonlyArray<{ readonly name: string }> = yield* typed("users", "list")
    assert.include(
      users.map(({ name }) => name),
      EVIL,
    )
    assert.include((yield* type("users", "list")).output, "x\\u001b[2J")
    const { json } = yield* world.request("GET", `/v1/api-keys/${keyId as ApiKeyId}`, { key: secret })
    assert.strictEqual(json.name, EVIL)
  })

  // threat: terminal
  it.effect("is refused wherever a name is set", function* () {
    const { account, call } = yield* signUp({ domains: ["acme.test"] })
    const mail = { from: "hi@acme.test", to: "ana@example.org", subject: "x", text: "x" }
    const fields: ReadonlyArray<
      readonly [method: string, path: string, field: string, body: (name: string) => object]
    > = [
      ["POST", "/v1/api-keys", "name", (name) => ({ name, scopes: ["email:send"] })],
      ["POST", "/v1/members", "name", (name) => ({ name, email: "new@example.org", role: "viewer" })],
      [
        "POST",
        "/v1/webhooks",
        "description",
        (description) => ({ url: "https://example.org/x", events: ["*"], description }),
      ],
      ["POST", "/v1/email/send", "tags[0]", (tag) => ({ ...mail, tags: [tag] })],
      [
        "POST",
        "/v1/email/send",
        "attachments[0].filename",
        (filename) => ({ ...mail, attachments: [{ filename, content: "eA==" }] }),
      ],
      ["POST", "/v1/domains", "name", (name) => ({ name: `${name}.test` })],
    ]
    for (const [method, path, field, body] of fields)
      for (const name of NAMES) {
        const { json, status } = yield* call(method, path, body(name))
        assert.strictEqual(status, 400, `${path} ${JSON.stringify(name)}`)
        assert.include(
          json.error.details.map(({ path }: { readonly path: string }) => path),
          field,
        )
      }
    for (const name of NAMES)
      for (const command of [
        ["accounts", "create", name],
        ["keys", "create", "--account", account, name, "--scope", "email:send"],
      ])
        assert.isTrue(Exit.isFailure((yield* type(...command)).exit), JSON.stringify(name))
  })
})

layer(House.layer, { excludeTestServices: true, timeout: "60 seconds" })(
  "a name with escape sequences in the dashboard",
  (it) => {
    // threat: terminal
    it.effect("is refused for a user and for an account that an operator creates", function* () {
      const { owner, url } = yield* House
      const page = browser(url)
      yield* page.signIn(owner)
      for (const name of NAMES) {
        assert.strictEqual((yield* page.request("POST", "/auth/update-user", { body: { name } })).status, 400)
        const body = { name, plan: "free", owner: "first@example.org" }
        assert.strictEqual((yield* page.request("POST", "/v1/operate/accounts", { body })).status, 400)
      }
      const fine = yield* page.request("POST", "/auth/update-user", { body: { name: "Ana Müller" } })
      assert.strictEqual(fine.status, 200)
    })
  },
)
