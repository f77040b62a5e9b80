import type { Event } from "@waybill/client/Waybill"
import { Clock, Console, Effect, Exit } from "effect"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Output from "../../../apps/server/src/cli/Output.ts"
import * as OutputStyle from "../../../apps/server/src/cli/OutputStyle.ts"
import * as EventLines from "../../../apps/server/src/cli/remote/emails/EventLines.ts"
import { relativeTime } from "../../../apps/server/src/cli/relativeTime.ts"
import * as TerminalTable from "../../../apps/server/src/cli/TerminalTable.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import { NOWHERE } from "../../support/nowhere.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

const NOW = Date.parse("2026-11-29T12:00:00.000Z")
const PLAIN = { columns: 80, hasColours: false }
const ID = "msg_01kb7gcbdkq0m3n5x8r2t6v9wz"
const cell = (value: unknown) => (value === null || value === undefined ? "-" : String(value))
const NAMES = ["created_at", "status", "to", "subject", "id"]
// oxlint-disable-next-line no-control-regex
const COLOURS = /\u001b\[\d+m/gu

const row = (over: object = {}) => ({
  created_at: "2026-11-29T11:57:00.000Z",
  status: "delivered",
  to: "somebody.with.a.long.name@subdomain.example.org",
  subject: "Your order has shipped and will arrive within the next few days",
  id: ID,
  ...over,
})

describe("a table in a terminal", () => {
  it.effect("keeps the end of addresses, which tells those of one host apart", function* () {
    yield* Effect.void
    const rows = ["orders", "invoices"].map((name) => ({
      id: ID,
      url: `https://hooks.acme.test/waybill/v1/${name}`,
      events: ["email.bounced", "email.complained", "email.failed", "email.suppressed"],
    }))
    const lines = TerminalTable.write(rows, ["id", "url", "events"], cell, NOW, { ...PLAIN, columns: 40 }).split("\n")
    assert.match(lines[1] ?? "", /^msg_01kb7gcb…v9wz +…\S*\/orders$/u)
    assert.match(lines[2] ?? "", /^msg_01kb7gcb…v9wz +…\S*\/invoices$/u)
    // Where there is space for one, it is the address that is shown whole.
    const wide = TerminalTable.write(rows, ["id", "url", "events"], cell, NOW, { ...PLAIN, columns: 79 })
    assert.include(wide, `  ${rows[1]?.url}  email.bounced`)
  })

  it.effect("shows the first of several values, and lines up numbers", function* () {
    yield* Effect.void
    const rows = [row({ to: ["ana@example.org", "bo@example.org", "cy@example.org"] }), row({ to: ["b@b.test"] })]
    const lines = TerminalTable.write(rows, ["status", "to"], cell, NOW, PLAIN).split("\n")
    assert.deepStrictEqual(lines.slice(1), ["delivered  ana@example.org +2", "delivered  b@b.test"])
    const counts = [{ name: "a", emails: 7 }, { name: "b", emails: 1234 }, { name: "c" }]
    assert.strictEqual(
      TerminalTable.write(counts, ["name", "emails"], cell, NOW, PLAIN),
      "name  emails\na          7\nb       1234\nc          -",
    )
  })

  it.effect("shows answers whole, below a row that is too wide with them", function* () {
    yield* Effect.void
    const answer = "hooks.acme.test has no public address that may be called, and so on and so on"
    const lines = TerminalTable.write([{ id: ID, answer }], ["id", "answer"], cell, NOW, PLAIN)
    const [, ...answered] = lines.split("\n").map((line) => line.trim())
    assert.strictEqual(answered.join(" "), `${ID} ${answer}`)
  })

  it.effect("keeps three columns of a narrow terminal, and says what it leaves out", function* () {
    yield* Effect.void
    const name = "notifications.customer-portal.acme-international.example"
    const domain = { name, status: "verified", dns: "1 of 1", created_at: row().created_at, last_checked_at: null }
    const write = (columns: number) =>
      TerminalTable.write([domain], Object.keys(domain), cell, NOW, { ...PLAIN, columns })
    assert.include(write(80), `${name}  verified  1 of 1\nWithout created: --wide shows all.`)
    assert.match(write(60), /\nnotifications\.\S+… {2}verified {2}1 of 1\n/u)
  })

  it.effect("is as wide as the terminal, one line a row, with short ids, states and relative times", function* () {
    yield* Effect.void
    for (const columns of [80, 100, 132]) {
      const rows = [row(), row({ status: "bounced", subject: "領収書をお送りします".repeat(5), to: "a@b.test" })]
      const lines = TerminalTable.write(rows, NAMES, cell, NOW, { ...PLAIN, columns }).split("\n")
      assert.lengthOf(lines, 3)
      for (const line of lines) assert.isAtMost(TerminalTable.widthOf(line), columns, line)
      assert.match(lines[1] ?? "", /^3 min ago +delivered .*… +msg_01kb7gcb…v9wz$/u)
      if (columns > 100) assert.include(lines[1], row().to)
    }
    const short = row({ to: "a@b.test", subject: "Hi" })
    assert.include(TerminalTable.write([short], NAMES, cell, NOW, PLAIN).split("\n")[1], ID)
    const narrow = TerminalTable.write([row()], NAMES, cell, NOW, { ...PLAIN, columns: 40 })
    assert.match(narrow, /\n3 min ago {2}delivered {2}somebody\.with\.\S*…\nWithout subject, id: --wide shows all\.$/u)
    // Ids of other records are needed whole by their commands.
    const key = "key_01kb7gcbdkq0m3n5x8r2t6v9wz"
    const keys = TerminalTable.write([row({ id: key })], ["id", "to", "subject"], cell, NOW, PLAIN)
    assert.include(keys, `\n${key}  `)
  })

  it.effect("colours states, and nothing without colours", function* () {
    yield* Effect.void
    const coloured = TerminalTable.write([row({ status: "bounced" })], NAMES, cell, NOW, {
      columns: 80,
      hasColours: true,
    })
    assert.include(coloured, "\u001b[31mbounced")
    const plain = TerminalTable.write([row({ status: "bounced" })], NAMES, cell, NOW, PLAIN)
    assert.strictEqual(coloured.replaceAll(COLOURS, ""), plain)
  })

  it.effect("tells in a timeline all that a server answered, and for what an email waits", function* () {
    yield* Effect.void
    const event = (type: string, occurred_at: string, data: object) =>
      ({ type, occurred_at, stream_id: ID, actor: { type: "api_key", id: "key_1" }, data }) as unknown as Event
    const response = "temporarily out of order, please try again later, or ask our postmaster for help"
    const events = [
      event("email.queued", "2026-11-29T23:00:00.000Z", { scheduled_at: "2026-11-30T10:00:00.000Z" }),
      event("email.delivery_delayed", "2026-11-30T10:00:00.000Z", {
        recipient: "a@b.test",
        code: 451,
        response,
        next_attempt_at: "2026-11-30T10:01:00.000Z",
      }),
    ]
    const lines = EventLines.timeline(events, new Map([["key_1", "First key"]]), PLAIN)
    for (const line of lines) assert.isAtMost(line.length, 80, line)
    const below = lines.map((line) => line.replace("│", "").trim())
    assert.match(lines[1] ?? "", /queued +by First key$/u)
    assert.strictEqual(below[2], "scheduled for 2026-11-30 10:00:00")
    assert.strictEqual(below.slice(5).join(" "), `451 ${response} next attempt 10:01:00`)
  })

  it.effect("shows a body that is JSON in lines, and not what sort of record it is", function* () {
    const lines: Array<string> = []
    const console = { ...globalThis.console, log: (line: string) => void lines.push(line) }
    const record = { object: "request", status: 422, answer: '{"error":{"code":"a\\u001b"}}', text: "{x}" }
    const print = Output.printOne(record, { json: false }).pipe(Effect.provideService(Console.Console, console))
    yield* Effect.provideService(print, OutputStyle.StandardOutput, PLAIN)
    assert.deepStrictEqual(lines.join("\n").split("\n"), [
      "status  422",
      "answer",
      "{",
      '  "error": {',
      '    "code": "a\\u001b"',
      "  }",
      "}",
      "text    {x}",
    ])
  })

  it.effect("folds text between words, and not within a command that is copied", function* () {
    yield* Effect.void
    const text =
      "An operator, or somebody at that machine, runs `waybill users password owner@acme.test`, which replaces it."
    assert.deepStrictEqual(TerminalTable.folded(text, 80).split("\n"), [
      "An operator, or somebody at that machine, runs",
      "`waybill users password owner@acme.test`, which replaces it.",
    ])
  })

  it.effect("says how long ago a time was, or in how long it is", function* () {
    yield* Effect.void
    const cases: ReadonlyArray<readonly [time: string, text: string | undefined]> = [
      ["2026-11-29T12:00:00.400Z", "now"],
      ["2026-11-29T11:59:15.000Z", "45 s ago"],
      ["2026-11-29T14:30:00.000Z", "in 2 h"],
      ["2026-11-20T12:00:00Z", "9 d ago"],
      ["2026-01-20T12:00:00.000Z", "2026-01-20"],
      ["2026-11-29", undefined],
      ["text", undefined],
    ]
    for (const [time, text] of cases) assert.strictEqual(relativeTime(time, NOW), text, time)
  })
})

layer(HttpWorld.layer(), { excludeTestServices: true })("a sender at a terminal", (it) => {
  const terminal = (hasColours: boolean) =>
    Effect.provideService(OutputStyle.StandardOutput, { columns: 80, hasColours })

  it.effect("lists who changed what, from what to what, in 80 columns", function* () {
    const { call, key, key_id, world } = yield* signUp({ domains: ["acme.test"] })
    const env = { WAYBILL_URL: world.url, WAYBILL_KEY: key, XDG_CONFIG_HOME: NOWHERE }
    const type = (...words: ReadonlyArray<string>) => CommandLine.typeWith(env, "audit-log", "list", ...words)
    const { json: webhook } = yield* call("POST", "/v1/webhooks", { url: "https://example.org/a", events: ["*"] })
    const change = { url: "https://example.org/b", events: ["email.bounced", "email.failed"], description: "All" }
    yield* call("PATCH", `/v1/webhooks/${webhook.id}`, change)
    const { output } = yield* terminal(false)(type("--object", "webhook", "--limit", "1"))
    const [head, row, ...changes] = output.split("\n")
    assert.match(head ?? "", /^occurred +actor +action +object$/u)
    assert.match(row ?? "", /^\S.* +test +webhook\.updated +https:\/\/example\.org\/b$/u)
    const told = changes.map((line) => line.trim()).join(" ")
    assert.match(
      told,
      /^url: https:\/\/example\.org\/a → https:\/\/example\.org\/b; events: \* → email\.bounced, email\.failed; /u,
    )
    assert.include(told, "description: All")
    assert.include(told, "Only the first is shown")
    for (const line of output.split("\n")) assert.isAtMost(TerminalTable.widthOf(line), 80, line)
    const { output: wide } = yield* terminal(false)(type("--wide", "--actor", key_id))
    assert.match(
      wide,
      /^occurred_at +actor +action +object +changes\n\S+Z +test +webhook\.updated .* description: All$/mu,
    )
    const entries = JSON.parse((yield* type("--json", "--search", "domain", "--until", "2h")).output)
    assert.deepStrictEqual(entries, [])
    const { data } = (yield* call("GET", "/v1/audit?q=domain")).json
    assert.deepStrictEqual(JSON.parse((yield* type("--json", "--search", "domain", "--since", "1h")).output), data)
    assert.include((yield* type("--object", "mail")).errors, '--object does not take "mail": one of account, api_key,')
  })

  it.effect("says when scheduled emails are due, the next one first", function* () {
    const { key, send, world } = yield* signUp({ domains: ["acme.test"] })
    const env = { WAYBILL_URL: world.url, WAYBILL_KEY: key, XDG_CONFIG_HOME: NOWHERE }
    const now = yield* Clock.currentTimeMillis
    const at = (minutes: number) => new Date(now + minutes * 60_000).toISOString()
    yield* send({ to: "ana@example.org", scheduled_at: at(90) })
    yield* send({ to: "bo@example.org", scheduled_at: at(30 * 60) })
    const type = (...words: ReadonlyArray<string>) => CommandLine.typeWith(env, "logs", "is:scheduled", ...words)
    const { output } = yield* terminal(false)(type())
    assert.match(output, /^created .*\n.* scheduled in 1 h {2}ana@.*\n.* scheduled in 1 d {2}bo@/u)
    for (const line of output.split("\n")) assert.isAtMost(line.length, 80, line)
    const { output: wide } = yield* terminal(false)(type("--wide"))
    assert.match(wide, /^id +created_at +status +scheduled_at +to +subject\n/u)
    assert.include(wide, ` scheduled  ${at(90)}  ana@example.org `)
    yield* send({ to: "cy@example.org" })
    const others = yield* CommandLine.typeWith(env, "logs", "to:cy@example.org")
    assert.match(others.output, /^id +created_at +status +to +subject\n/u)
  })

  it.effect("searches with the words of the dashboard, in 80 columns, and is told how many there are", function* () {
    const { call, key, keyWith, send, world } = yield* signUp({ domains: ["acme.test"] })
    const env = { WAYBILL_URL: world.url, WAYBILL_KEY: key, XDG_CONFIG_HOME: NOWHERE }
    const { output: none } = yield* terminal(false)(CommandLine.typeWith(env, "webhooks", "list"))
    assert.strictEqual(none, "No webhooks yet. `waybill webhooks add URL` adds one.")
    assert.strictEqual((yield* terminal(false)(CommandLine.typeWith(env, "logs", "ana"))).output, "No emails match.")
    const first = yield* send({ to: "ana@example.org", tags: ["eu"] })
    yield* send({ to: "bo@example.org", subject: "A subject that is far too long for a line of a terminal" })
    const type = (...words: ReadonlyArray<string>) => CommandLine.typeWith(env, ...words)
    const found = yield* terminal(false)(type("logs", "to:ana", "tag:eu since:1h"))
    assert.match(found.output, new RegExp(`^created  status  to .*\\n\\w.* queued  ana@example.org .*${first}$`, "u"))
    const all = yield* terminal(false)(type("emails", "list", "--limit", "1"))
    for (const line of all.output.split("\n")) assert.isAtMost(line.length, 80, line)
    assert.match(all.output, /\nOnly the first of 2 is shown; --limit shows more\.$/u)
    assert.strictEqual(all.errors, "")
    const body = { alias: "one", name: "One", subject: "One", text: "One" }
    for (const alias of ["one", "two"]) yield* call("POST", "/v1/templates", { ...body, alias })
    const { output: templates } = yield* terminal(false)(type("templates", "list", "--limit", "1"))
    assert.match(templates, /^alias [^]*\nOnly the first is shown; --limit shows more\.$/u)
    const { errors: more } = yield* type("templates", "list", "--limit", "1", "--json")
    assert.strictEqual(more, "Only the first is shown; --limit shows more.")
    const narrow = Effect.provideService(OutputStyle.StandardError, { columns: 80, hasColours: false })
    const { errors } = yield* narrow(type("send", "--from", "hi@elsewhere.test", "--to", "a@b.c", "--subject", "Hi"))
    for (const line of errors.split("\n")) assert.isAtMost(line.length, 80, line)
    assert.include(errors.replaceAll("\n", " "), "publish its DKIM record.")
    assert.strictEqual(
      (yield* type("suppressions", "add", "stop@customer.example")).output,
      "stop@customer.example is suppressed.",
    )
    assert.match(
      (yield* type("logs", "Stop@customer.example")).errors,
      /^stop@customer\.example is suppressed since \d{4}-\d\d-\d\d \(manual\)\. Refused .* --recipient 'stop@customer\.example'\nNo emails match\.$/u,
    )
    yield* type("domains", "add", "mail.shop.dev")
    const domain = yield* terminal(false)(type("domains", "get", "mail.shop.dev"))
    assert.match(
      domain.output,
      /^mail\.shop\.dev is pending\. Its DNS records:\n\nnot_checked {2}TXT {3}wb1\._domainkey/u,
    )
    assert.notInclude(domain.output, "zone_host")
    const verified = yield* terminal(false)(type("domains", "verify", "acme.test"))
    assert.strictEqual(verified.output, "acme.test is verified. In the sandbox this domain needs no DNS.")
    for (const line of domain.output.split("\n").slice(-2)) assert.isAtMost(line.length, 80, line)
    const malformed = yield* type("emails", "get", "msg_1")
    assert.strictEqual(malformed.errors, "waybill: <id> must be an id: msg_ followed by 26 characters.")
    const set = { PORT: "8080", LOG_LEVEL: "loud" }
    const { output: config } = yield* terminal(false)(CommandLine.typeWith(set, "config"))
    assert.match(config, /^Process, API and dashboard\n {2}PORT=8080 \(default 3025\)\n {4}Port of the API/u)
    assert.match(config, /^ {2}LOG_LEVEL=loud[^]*\d+ settings have their defaults/mu)
    const { output: whole } = yield* terminal(false)(CommandLine.typeWith(set, "config", "--all"))
    assert.match(whole, /^ {2}BASE_URL \(unset by default\)$/mu)
    const { output: help } = yield* terminal(false)(type("send", "--help"))
    assert.match(help, /^ {2}--from string +Sender, .*\n {10,}the template by default$/mu)
    for (const line of `${config}\n${whole}\n${help}`.split("\n")) assert.isAtMost(line.length, 80, line)
    const cut = yield* type("emails", "list", "--limit", "1", "--json")
    assert.lengthOf(JSON.parse(cut.output), 1)
    assert.strictEqual(cut.errors, "Only the first is shown; --limit shows more.")
    assert.strictEqual((yield* type("emails", "list", "--limit", "2", "--json")).errors, "")
    // A program gets everything, and so does who asks for it.
    const piped = yield* type("logs", "is:queued")
    const wide = yield* terminal(false)(type("logs", "is:queued", "--wide"))
    assert.strictEqual(wide.output, piped.output)
    assert.include(piped.output, "A subject that is far too long for a line of a terminal")
    const wrong = yield* type("logs", "form:ana")
    assert.isTrue(Exit.isFailure(wrong.exit))
    assert.match(wrong.errors, /^waybill: `q` is not understood at “form:ana”. .* Did you mean “from:”\?/u)
    const timeline = yield* terminal(true)(type("emails", "timeline", first))
    assert.match(timeline.output.replaceAll(COLOURS, ""), /^\d{4}-\d\d-\d\d UTC\n● [\d:.]{12} {12}queued +by \S.*$/u)
    assert.include(timeline.output, "\u001b[33mqueued")
    const { output: email } = yield* terminal(false)(type("emails", "get", first))
    assert.match(email, /^status +queued$/mu)
    assert.notMatch(email, /^(?:object|version|recipient_counts)/mu)
    assert.match((yield* type("emails", "get", first)).output, /^version: 1$/mu)
    const { json: webhook } = yield* call("POST", "/v1/webhooks", { url: "https://hooks.example.org/a", events: ["*"] })
    assert.match((yield* terminal(false)(type("webhooks", "get", webhook.id))).output, /^enabled +true$/mu)
    const { json: delivery } = yield* call("POST", `/v1/webhooks/${webhook.id}/test`)
    const shown = yield* terminal(false)(type("webhooks", "deliveries", webhook.id, delivery.id))
    assert.match(shown.output, /^event_type +webhook\.test$[^]*^request_body\n\{\n {2}"id": "evt_/mu)
    // A key that may not read keys sees the id.
    const reader = { ...env, WAYBILL_KEY: yield* keyWith({ scopes: ["email:logs:read"] }) }
    const read = yield* terminal(false)(CommandLine.typeWith(reader, "emails", "timeline", first))
    assert.match(read.output, /queued +by key_\w+/u)
  })

  it.effect("keeps several instances in profiles, and chooses one by a flag, a variable or for good", function* () {
    const [one, two] = [yield* signUp({ domains: ["one.test"] }), yield* signUp({ domains: ["two.test"] })]
    const home = yield* Effect.acquireRelease(
      Effect.promise(() => fs.mkdtemp(join(tmpdir(), "waybill-profiles-"))),
      (path) => Effect.promise(() => fs.rm(path, { recursive: true, force: true })),
    )
    const type = (...words: ReadonlyArray<string>) => CommandLine.typeWith({ XDG_CONFIG_HOME: home }, ...words)
    const domainsWith = Effect.fnUntraced(function* (env: Readonly<Record<string, string>>, ...flags: Array<string>) {
      const { errors, output } = yield* CommandLine.typeWith(
        { XDG_CONFIG_HOME: home, ...env },
        "domains",
        "list",
        "--json",
        ...flags,
      )
      return errors === "" ? (JSON.parse(output) as ReadonlyArray<{ name: string }>).map(({ name }) => name) : errors
    })
    // A file of before there were profiles.
    yield* Effect.promise(() => fs.mkdir(join(home, "waybill")))
    const old = JSON.stringify({ url: one.world.url, key: one.key })
    yield* Effect.promise(() => fs.writeFile(join(home, "waybill", "credentials.json"), old, { mode: 0o600 }))
    assert.deepStrictEqual(yield* domainsWith({}), ["one.test"])
    yield* type("login", "--url", two.world.url, "--key", two.key, "--profile", "staging")
    assert.deepStrictEqual(yield* domainsWith({}), ["two.test"])
    assert.deepStrictEqual(yield* domainsWith({}, "--profile", "default"), ["one.test"])
    assert.deepStrictEqual(yield* domainsWith({ WAYBILL_PROFILE: "default" }), ["one.test"])
    assert.deepStrictEqual(
      yield* domainsWith({ WAYBILL_KEY: two.key, WAYBILL_URL: two.world.url }, "--profile", "default"),
      ["one.test"],
    )
    assert.include(
      yield* domainsWith({}, "--profile", "prod"),
      'There is no profile "prod". Profiles are default, staging.',
    )
    yield* type("profiles", "use", "default")
    assert.deepStrictEqual(yield* domainsWith({}), ["one.test"])
    assert.include((yield* type("whoami")).output, "profile: default")
    const listed = yield* type("profiles", "list", "--json")
    assert.deepStrictEqual(
      (JSON.parse(listed.output) as ReadonlyArray<{ profile: string; current: boolean }>).map(
        ({ current, profile }) => [profile, current],
      ),
      [
        ["default", true],
        ["staging", false],
      ],
    )
    assert.notInclude(listed.output, one.key)
    yield* type("logout")
    assert.deepStrictEqual(yield* domainsWith({}), ["two.test"])
    yield* type("logout")
    assert.include(yield* domainsWith({}), "You are not logged in.")
  })
})
