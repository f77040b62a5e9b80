import * as ApiKeySecret from "@waybill/domain/account/ApiKeySecret"
import { Console, Effect, Exit } from "effect"
import type { Command } from "effect/cli"
import { posix } from "node:path"
import * as Output from "../../../apps/server/src/cli/Output.ts"
import { REMOTE } from "../../../apps/server/src/boot/runCommand.ts"
import { commands } from "../../../apps/server/src/boot/Tree.ts"
import { importsOf, read } from "../../house/source.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import * as World from "../../support/world/World.ts"
import { NOWHERE } from "../../support/nowhere.ts"

/** An environment without a login, a database and a place for one. */
const EMPTY_PLACES = { XDG_CONFIG_HOME: NOWHERE, WAYBILL_DATA: NOWHERE }
const KEY = "wb_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG000000"

/** Command lines with the first line on standard error and the command that the second line names. */
const FAULTS: ReadonlyArray<readonly [line: string, error: string, help?: string]> = [
  ["emials list", '`waybill` has no command "emials". Did you mean `emails`?', "waybill"],
  [
    "emails shwo",
    '`waybill emails` has no command "shwo". Its commands are list, get, timeline, cancel, resend.',
    "waybill emails",
  ],
  // Words of other command lines.
  ["emails show msg_1", '`waybill emails` has no command "show". Did you mean `get`?', "waybill emails"],
  ["webhooks delete whk_1", '`waybill webhooks` has no command "delete". Did you mean `remove`?', "waybill webhooks"],
  ["keys delete key_1", '`waybill keys` has no command "delete". Did you mean `revoke`?', "waybill keys"],
  ["search ana", '`waybill` has no command "search". Did you mean `logs`?', "waybill"],
  // More commands than an error lists.
  ["frobnicate", '`waybill` has no command "frobnicate".', "waybill"],
  ["help emial", '`waybill` has no command "emial". Did you mean `emails`?', "waybill"],
  [
    "webhooks add https://acme.test --event email.bounce",
    '--event does not take "email.bounce": did you mean email.bounced?',
    "waybill webhooks add",
  ],
  ["emials --help", '`waybill` has no command "emials". Did you mean `emails`?', "waybill"],
  ["keys crate -h", '`waybill keys` has no command "crate". Did you mean `create`?', "waybill keys"],
  ["keys crate", '`waybill keys` has no command "crate". Did you mean `create`?', "waybill keys"],
  [
    "emails list --statsu sent",
    "`waybill emails list` has no flag --statsu. Did you mean --status?",
    "waybill emails list",
  ],
  [
    "emails list --status gone",
    '--status does not take "gone": one of scheduled, queued, sent, delivered, deferred, bounced, failed, suppressed, canceled, complained.',
    "waybill emails list",
  ],
  [
    "emails list --since someday",
    '--since does not take "someday": a time such as 2027-01-31T09:00:00Z, a day such as yesterday (in UTC), or how long ago, such as 45s, 30m, 12h or 7d.',
    "waybill emails list",
  ],
  [
    "send --from a@acme.test --to b@acme.test --subject Hi --text Hi --at tomorrow",
    '--at does not take "tomorrow": a time such as 2027-01-31T09:00:00Z, a day with a time such as `tomorrow 09:00` (in UTC), or in how long, such as 45s, 30m, 12h or 7d.',
    "waybill send",
  ],
  ["emails list --limit 0", '--limit does not take "0": a number from 1 to 10000.', "waybill emails list"],
  ["emails get", "<id> is missing: Email id, msg_…, or a part as lists show it.", "waybill emails get"],
  ["emails get msg_1 msg_2", '`waybill emails get` does not take "msg_2".', "waybill emails get"],
  ["send --from a@acme.test --subject Hi", "--to is missing: Recipient; repeat for several.", "waybill send"],
  ["logs --sicne 7d", "`waybill logs` has no flag --sicne. Did you mean `since:` in the search?", "waybill logs"],
  ["logs --status sent", "`waybill logs` has no flag --status. Did you mean `is:` in the search?", "waybill logs"],
  ["whoami --sicne 7d", "`waybill whoami` has no flag --sicne.", "waybill whoami"],
  ["send --header x", "--to is missing: Recipient; repeat for several.", "waybill send"],
  [
    "listen --forward-to localhost:3000",
    '--forward-to does not take "localhost:3000": an address with http:// or https://, such as http://localhost:3000/hooks.',
    "waybill listen",
  ],
  [
    "listen --forward-to http://localhost:3000 --types email.bounce",
    '--types does not take "email.bounce": did you mean email.bounced?',
    "waybill listen",
  ],
  [
    "trigger email.deferred",
    '<type> does not take "email.deferred": did you mean email.delivery_delayed?',
    "waybill trigger",
  ],
  ["trigger email.bouncd", '<type> does not take "email.bouncd": did you mean email.bounced?', "waybill trigger"],
  [
    "trigger domain.degraded",
    "domain.degraded cannot be triggered: it depends on DNS. `waybill webhooks test ID` sends a signed webhook.test to an endpoint.",
  ],
  ["top --interval 0", '--interval does not take "0": a value between 1 and 3600.', "waybill top"],
  [
    "accounts create Acme --plan gold",
    '--plan does not take "gold": one of free, starter, growth, business.',
    "waybill accounts create",
  ],
  [
    "keys list --account acme",
    '--account does not take "acme": must be an id: acc_ followed by 26 characters.',
    "waybill keys list",
  ],
  [
    `emails ${KEY}`,
    '`waybill emails` has no command "wb_…". Its commands are list, get, timeline, cancel, resend.',
    "waybill emails",
  ],
  ["whoami", "You are not logged in. Run `waybill login`, or set WAYBILL_URL and WAYBILL_KEY."],
  [
    "login --url mail.example.com --key wb_1",
    '"mail.example.com" is not the address of an instance, such as https://mail.example.com.',
  ],
  ["login --key wb_1", "This is not a complete API key (wb_…). Copy it again."],
  [`events import ${NOWHERE}/log.jsonl`, `${NOWHERE}/log.jsonl: there is no such file`],
  ["events import /", "/: this is a folder; give a file that `events export` wrote"],
]

describe("a wrong command line", () => {
  it.effect("is answered by the fault and one line on help, or only by the fault", function* () {
    const answers = yield* Effect.forEach(FAULTS, ([line]) =>
      Effect.map(CommandLine.typeWith(EMPTY_PLACES, ...line.split(" ")), ({ errors, exit, output }) => {
        assert.strictEqual(output, "", line)
        assert.isTrue(Exit.isFailure(exit), line)
        return errors
      }),
    )
    const expected = FAULTS.map(([, error, help]) =>
      [`waybill: ${error}`, ...(help === undefined ? [] : [`Run \`${help} --help\` for help.`])].join("\n"),
    )
    assert.deepStrictEqual(answers, expected)
  })

  it.effect("names what is missing without a template", function* () {
    const login = { WAYBILL_URL: "http://127.0.0.1:1", WAYBILL_KEY: ApiKeySecret.encode(new Uint8Array(32)) }
    const { errors } = yield* CommandLine.typeWith({ ...EMPTY_PLACES, ...login }, "send", "--to", "b@acme.test")
    assert.deepStrictEqual(errors.split("\n"), [
      "waybill: --from is missing: Sender, such as `Acme <hello@acme.test>`; that of the template by default.",
      "waybill: --subject is missing: Subject; that of the template by default.",
      "Run `waybill send --help` for help.",
    ])
  })

  it.effect("prints help only when it is requested", function* () {
    const { errors, output } = yield* CommandLine.typeWith(EMPTY_PLACES, "emails", "list", "--help")
    assert.strictEqual(errors, "")
    assert.include(output, "List emails, newest first")
    assert.strictEqual((yield* CommandLine.typeWith(EMPTY_PLACES, "help", "emails", "list")).output, output)
    assert.notInclude(output, "--completions")
    const { output: all } = yield* CommandLine.typeWith(EMPTY_PLACES, "help")
    assert.match(all, /^ {2}emails [^]*^GLOBAL FLAGS$[^]*--wide/mu)
    const { output: version } = yield* CommandLine.typeWith(EMPTY_PLACES, "version")
    assert.strictEqual(version, (yield* CommandLine.typeWith(EMPTY_PLACES, "--version")).output)
  })
})

describe("a command over the API", () => {
  it("is listed as one, and no other is", () => {
    assert.deepStrictEqual(
      [...REMOTE],
      commands.map(({ name }) => name),
    )
  })

  it.effect(
    "prints JSON when it is requested, each but receipts, which are JSON, and the server for assistants",
    function* () {
      const leaves = (
        command: Command.Command.Any,
        path: ReadonlyArray<string>,
      ): ReadonlyArray<ReadonlyArray<string>> => {
        const children = command.subcommands.flatMap((group) => group.commands)
        return children.length === 0 ? [path] : children.flatMap((child) => leaves(child, [...path, child.name]))
      }
      const all = commands.flatMap((command) => leaves(command, [command.name]))
      assert.isAbove(all.length, 25)
      const without = yield* Effect.filter(all, (path) =>
        Effect.map(
          CommandLine.typeWith(EMPTY_PLACES, ...path, "--help"),
          ({ output }) => !/^ +--json\b/mu.test(output),
        ),
      )
      assert.deepStrictEqual(without, [["receipt"], ["mcp"]])
    },
  )

  it("loads no code that reads the database, serves HTTP or delivers mail", () => {
    const seen = new Set<string>()
    const visit = (path: string) => {
      if (seen.has(path)) return
      seen.add(path)
      const { text } = read(path)
      for (const { specifier, typeOnly } of importsOf(text.replaceAll(/\bimport\(\s*"[^"]+"/gu, ""))) {
        if (typeOnly) continue
        const ours = /^@waybill\/([a-z-]+)\/(.+)$/u.exec(specifier)
        if (ours !== null) visit(`packages/${ours[1] ?? ""}/src/${ours[2] ?? ""}.ts`)
        else if (specifier.endsWith(".ts")) visit(posix.join(posix.dirname(path), specifier))
        else assert.match(specifier, /^(?:effect|node:|@effect\/platform-node\/|\.\.\/\.\.\/package\.json)/u, path)
      }
    }
    for (const path of ["apps/server/src/boot/main.ts", "apps/server/src/boot/Tree.ts"]) visit(path)
    const allowed =
      /^(?:packages\/(?:client|domain)\/src\/|packages\/runtime\/src\/collections\/|apps\/server\/src\/(?:cli\/|boot\/(?:Tree|main|runCommand)\.ts$|process\/(?:CommandRefused|ExitCodes|Version|formOf)\.ts$|settings\/TransportName\.ts$|worker\/webhooks\/WebhookSignature\.ts$))/u
    assert.isAbove(seen.size, 30)
    assert.deepStrictEqual(
      [...seen].filter((path) => !allowed.test(path) || path.includes("/cli/commands/")),
      [],
    )
  })
})

describe("a table", () => {
  it.effect("shows lists and records without JSON", function* () {
    const lines: Array<string> = []
    const row = {
      id: "1",
      scopes: ["a", "b"],
      limits: { send: 1, inner: { other: null } },
      smtp: [{ code: 250 }],
      none: [],
    }
    const console = { ...globalThis.console, log: (line: string) => void lines.push(line) }
    yield* Effect.andThen(
      Output.print([row], { json: false, columns: Object.keys(row) }),
      Output.printOne(row, { json: false }),
    ).pipe(Effect.provideService(Console.Console, console))
    assert.deepStrictEqual(lines.join("\n").split("\n"), [
      "id  scopes  limits                smtp      none",
      "1   a, b    send=1 inner.other=-  code=250  -",
      "id: 1",
      "scopes: a, b",
      "limits.send: 1",
      "limits.inner.other: -",
      "smtp: code=250",
      "none: -",
    ])
  })
})

layer(World.layer, { excludeTestServices: true })("an operator's command", (it) => {
  it.effect("takes the only account, or the one that is named", function* () {
    const none = yield* CommandLine.type("keys", "list")
    assert.strictEqual(none.errors, "waybill: There is no account yet. `waybill accounts create NAME` makes one.")
    const first = yield* CommandLine.typed("accounts", "create", "Acme")
    assert.strictEqual((yield* CommandLine.typed("accounts", "plan", "growth")).plan, "growth")
    assert.deepStrictEqual(yield* CommandLine.typed("domains", "list", "--account", first.id), [])
    const second = yield* CommandLine.typed("accounts", "create", "Other")
    const both = yield* CommandLine.type("accounts", "plan", "starter")
    assert.strictEqual(
      both.errors,
      "waybill: There are 2 accounts. Name one with --account; `waybill accounts list` shows their ids.",
    )
    assert.strictEqual((yield* CommandLine.typed("accounts", "plan", "--account", second.id, "starter")).id, second.id)
    assert.strictEqual((yield* CommandLine.typed("accounts", "plan", "free", "--account", first.id)).id, first.id)
  })
})
