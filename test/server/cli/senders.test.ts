import * as ApiKeySecret from "@waybill/domain/account/ApiKeySecret"
import { Clock, Effect, Exit } from "effect"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "../../support/effectTest.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import { freePort, runToEnd } from "../../support/process/service.ts"
import * as World from "../../support/world/World.ts"
import { NOWHERE } from "../../support/nowhere.ts"

const folder = Effect.acquireRelease(
  Effect.promise(() => fs.mkdtemp(join(tmpdir(), "waybill-cli-"))),
  (path) => Effect.promise(() => fs.rm(path, { recursive: true, force: true })),
)

/** Environment of a user who is logged in by variables, with functions that run commands. */
const loggedIn = Effect.gen(function* () {
  const { key, send, world } = yield* signUp({ domains: ["acme.test"] })
  const env = { WAYBILL_URL: world.url, WAYBILL_KEY: key, XDG_CONFIG_HOME: NOWHERE }
  const text = Effect.fnUntraced(function* (...words: ReadonlyArray<string>) {
    const { errors, exit, output } = yield* CommandLine.typeWith(env, ...words)
    assert.isTrue(Exit.isSuccess(exit), errors)
    assert.notInclude(output, key)
    return output
  })
  return {
    env,
    key,
    send,
    text,
    json: (...words: ReadonlyArray<string>) =>
      // Tests read output of every kind.
      // oxlint-disable-next-line typescript/no-explicit-any
      Effect.map(text(...words, "--json"), (output): any => JSON.parse(output)),
    refusal: (...words: ReadonlyArray<string>) =>
      Effect.map(CommandLine.typeWith(env, ...words), ({ errors, exit }) => {
        assert.isTrue(Exit.isFailure(exit), words.join(" "))
        return errors
      }),
  }
})

layer(HttpWorld.layer(), { excludeTestServices: true })("a sender's command line", (it) => {
  it.effect("stores at the login a key that works for its owner alone, and never prints it", function* () {
    const { key, world } = yield* signUp()
    const home = yield* folder
    const file = join(home, "waybill", "credentials.json")
    const env = { XDG_CONFIG_HOME: home }
    const type = (...words: ReadonlyArray<string>) => CommandLine.typeWith(env, ...words)

    const wrong = yield* type("login", "--url", world.url, "--key", `${key.slice(0, -1)}-`)
    assert.strictEqual(wrong.errors, "waybill: This is not a complete API key (wb_…). Copy it again.")
    const unknown = yield* type("login", "--url", world.url, "--key", ApiKeySecret.encode(randomBytes(32)))
    assert.match(unknown.errors, /^waybill: .* Run `waybill login` with a key that works\.$/u)
    yield* Effect.promise(() =>
      fs.access(file).then(
        () => assert.fail("a key was stored"),
        () => undefined,
      ),
    )

    const login = yield* type("login", "--url", `${world.url}/v1/`, "--key", key)
    assert.match(login.output, /^Logged in to .* at http:\/\/127\.0\.0\.1:\d+\. Stored in /u)
    assert.strictEqual((yield* Effect.promise(() => fs.stat(file))).mode & 0o777, 0o600)
    const who = yield* type("whoami")
    assert.include(who.output, `url: ${world.url}`)
    assert.include(who.output, `key: ${key.slice(0, 10)}…`)
    for (const { errors, output } of [wrong, unknown, login, who]) assert.notInclude(output + errors, key.slice(0, 20))

    const elsewhere = yield* CommandLine.typeWith({ ...env, WAYBILL_URL: "http://127.0.0.1:1" }, "whoami")
    assert.include(elsewhere.errors, "Set WAYBILL_KEY too")
    yield* Effect.promise(() => fs.chmod(file, 0o640))
    assert.include((yield* type("whoami")).errors, `Run: chmod 600 ${file}`)
    assert.strictEqual((yield* type("logout")).output, `Removed ${file}.`)
    assert.deepStrictEqual(JSON.parse((yield* type("logout", "--json")).output), { file, removed: false })
    assert.include((yield* type("whoami")).errors, "You are not logged in.")
  })

  it.effect("over the API, emails are sent, listed, shown, canceled and sent again", function* () {
    const { env, json, refusal, text } = yield* loggedIn
    const home = yield* folder
    yield* Effect.promise(() => fs.writeFile(join(home, "terms.txt"), "Pay within 30 days."))
    const message = ["--from", "Acme <hi@acme.test>", "--subject", "Your receipt", "--text", "Thank you."]
    const first = yield* json(
      "send",
      ...message,
      "--to",
      "ana@example.org",
      "--tag",
      "receipt",
      "--metadata",
      "order=7=1",
      "--metadata",
      "note=",
    )
    const empty = yield* CommandLine.typeWith(env, "send", ...message.slice(0, 4), "--to", "ana@example.org")
    assert.strictEqual(empty.errors, "The message has no body.")
    assert.include(
      yield* text("emails", "timeline", /msg_\w+/u.exec(empty.output)?.[0] ?? ""),
      "The message has no body",
    )
    const second = yield* json(
      "send",
      ...message,
      "--to",
      "ana@example.org",
      "--cc",
      "bo@example.org",
      "--header",
      "X-Order: 7",
      "--attach",
      join(home, "terms.txt"),
      "--at",
      "1h",
      "--idempotency-key",
      "order-7",
    )
    const listed = yield* json("emails", "list", "--tag", "receipt", "--since", "1h")
    assert.deepStrictEqual(
      listed.map(({ id, metadata }: { readonly id: string; readonly metadata: object }) => [id, metadata]),
      [[first.id, { note: "", order: "7=1" }]],
    )
    assert.deepStrictEqual(yield* json("emails", "list", "--metadata", "order=7=1", "--metadata", "note="), listed)
    assert.deepStrictEqual(yield* json("emails", "list", "--metadata", "order=7"), [])
    assert.deepStrictEqual(yield* json("emails", "list", "--tag", "receipt", "--since", "yesterday"), listed)
    assert.match(
      yield* text("emails", "list", "--limit", "1"),
      new RegExp(`^id .*\\n${second.id} .*Your receipt$`, "u"),
    )
    const shown = yield* json("emails", "get", second.id)
    const wait = Date.parse(shown.scheduled_at) - Date.parse(shown.created_at)
    assert.isTrue(wait > 3_000_000 && wait <= 3_600_000, `${wait}`)
    assert.deepStrictEqual(
      [shown.cc, shown.headers?.["X-Order"] ?? "7", shown.content.attachments[0].filename],
      [["bo@example.org"], "7", "terms.txt"],
    )
    assert.include(yield* text("emails", "get", first.id), "\nThank you.")
    assert.include(yield* text("emails", "timeline", first.id), "email.queued")
    assert.strictEqual((yield* json("emails", "cancel", second.id)).status, "canceled")
    const scheduled = [...message, "--to", "bo@example.org", "--at", "1h"]
    const morning = yield* json("send", ...message, "--to", "cy@example.org", "--at", "tomorrow 09:00")
    const { scheduled_at } = yield* json("emails", "get", morning.id)
    const tomorrow = new Date(Date.parse(morning.created_at) + 86_400_000).toISOString().slice(0, 10)
    assert.strictEqual(scheduled_at, `${tomorrow}T09:00:00.000Z`)
    assert.include(
      yield* refusal("send", ...message, "--to", "cy@example.org", "--at", "tomorrow 25:00"),
      "tomorrow 09:00",
    )
    const later = [yield* json("send", ...scheduled), yield* json("send", ...scheduled)].map(({ id }) => id as string)
    for (const nothing of ["", " ", '""'])
      assert.include(yield* refusal("emails", "cancel", nothing, "--yes"), "Say which emails", nothing)
    assert.include(
      yield* refusal("emails", "cancel", "to:bo", "scheduled:2h"),
      "2 emails would be canceled. Confirm with --yes.",
    )
    assert.deepStrictEqual(
      yield* json("emails", "cancel", "to:bo", "scheduled:2h", "--yes"),
      later.toReversed().map((id) => ({ id, status: "canceled" })),
    )
    assert.deepStrictEqual(yield* json("emails", "cancel", "to:bo", "--yes"), [])
    const again = yield* json("emails", "resend", second.id)
    assert.notStrictEqual(again.id, second.id)
    const refused = yield* refusal("send", "--from", "hi@elsewhere.test", "--to", "no address", "--subject", "Hi")
    assert.match(refused, /^waybill: .*`to\[0\]`[^\n]*$/u)
    const elsewhere = yield* refusal("send", "--from", "hi@elsewhere.test", "--to", "a@b.c", "--subject", "Hi")
    assert.include(elsewhere, "From a terminal: `waybill domains add` and `waybill domains verify`.")
  })

  it.effect("over the API, domains, webhooks and suppressions are managed", function* () {
    const { json, refusal, text } = yield* loggedIn
    const home = yield* folder
    assert.strictEqual(
      yield* text("domains", "get", "acme.test"),
      "acme.test is verified. In the sandbox this domain needs no DNS.",
    )
    const added = yield* text("domains", "add", "news.acme.dev")
    assert.match(added, /^news\.acme\.dev is \w+\. Its DNS records:\n\ntype +name +zone_host +value/u)
    yield* text("domains", "add", "news.acme.test")
    yield* text("domains", "verify", "news.acme.test")
    const recordOf = ({ records }: { readonly records: ReadonlyArray<{ readonly name: string }> }) =>
      records.map(({ name }) => name).filter((name) => name.includes("._domainkey."))
    const before = recordOf(yield* json("domains", "get", "news.acme.test"))
    const rotated = yield* text("domains", "rotate-dkim", "news.acme.test")
    assert.match(rotated, /^news\.acme\.test is \w+\. Its DNS records:\n/u)
    // The record of the old key stays until that of the new one is found.
    const after = recordOf(yield* json("domains", "get", "news.acme.test"))
    assert.deepStrictEqual(
      after,
      ["wb1", "wb2"].map((selector) => `${selector}._domainkey.news.acme.test`),
    )
    assert.deepStrictEqual(before, after.slice(0, 1))
    for (const name of after) assert.include(rotated, name)
    assert.match(yield* refusal("domains", "rotate-dkim", "nowhere.test"), /No domain with this name/u)
    const names = (yield* json("domains", "list")).map(({ name }: { readonly name: string }) => name)
    assert.sameMembers(names, ["acme.test", "news.acme.dev", "news.acme.test"])
    assert.isTrue((yield* json("domains", "remove", "news.acme.dev")).deleted)

    const webhook = yield* json("webhooks", "add", "https://example.org/hook", "--event", "email.bounced")
    assert.match(webhook.secret, /^whsec_/u)
    const listed = yield* text("webhooks", "list")
    assert.notInclude(listed, webhook.secret)
    assert.match(listed, /^id +url +state +last_answer +events\n.* enabled +-? +email\.bounced$/mu)
    assert.notStrictEqual((yield* json("webhooks", "rotate-secret", webhook.id)).secret, webhook.secret)
    const { id: delivery } = yield* json("webhooks", "test", webhook.id)
    assert.strictEqual((yield* json("webhooks", "deliveries", webhook.id))[0].id, delivery)
    assert.deepStrictEqual(
      yield* json("webhooks", "deliveries", webhook.id, "--email", "msg_00000000000000000000000000"),
      [],
    )
    assert.include(yield* text("webhooks", "deliveries", webhook.id, delivery), "webhook.test")
    assert.strictEqual((yield* json("webhooks", "replay", webhook.id, delivery)).status, "pending")
    assert.isFalse((yield* json("webhooks", "disable", webhook.id)).enabled)
    assert.strictEqual((yield* json("webhooks", "list"))[0].state, "disabled")
    assert.isTrue((yield* json("webhooks", "enable", webhook.id)).enabled)
    assert.isTrue((yield* json("webhooks", "remove", webhook.id)).deleted)
    assert.include(
      yield* refusal("webhooks", "add", "https://example.org/hook", "--event", "email.bounce"),
      '--event does not take "email.bounce": did you mean email.bounced?',
    )

    const file = join(home, "suppressions.csv")
    yield* json("suppressions", "add", "ana@example.org", "--reason", "complaint")
    yield* json("suppressions", "add", "bo@example.org")
    assert.strictEqual(yield* text("suppressions", "export", file), `${file} contains 2 addresses.`)
    assert.deepStrictEqual(yield* json("suppressions", "export", file), { file, addresses: 2 })
    for (const email of ["ana@example.org", "bo@example.org"]) yield* json("suppressions", "remove", email)
    assert.deepStrictEqual(yield* json("suppressions", "list"), [])
    assert.strictEqual(yield* text("suppressions", "import", file, "--dry-run"), "2 addresses can be imported.")
    assert.strictEqual(yield* text("suppressions", "import", file), "Added 2 addresses; 0 stayed as they were.")
    assert.strictEqual(yield* text("suppressions", "import", file), "Added 0 addresses; 2 stayed as they were.")
    const restored = yield* json("suppressions", "list")
    assert.sameDeepMembers(
      restored.map(({ email, reason }: { readonly email: string; readonly reason: string }) => [email, reason]),
      [
        ["ana@example.org", "complaint"],
        ["bo@example.org", "manual"],
      ],
    )
    yield* Effect.promise(() => fs.writeFile(file, 'email\n"dee@example.org"\nnobody\ncy@example.org,spam\n'))
    const rejected = join(home, "rejected.csv")
    assert.strictEqual(
      yield* refusal("suppressions", "import", file, "--rejected", rejected),
      'waybill: 2 lines were left out. line 3: "nobody" is not an email address; line 4: "spam" is not a reason; use hard_bounce, complaint, manual, unsubscribe',
    )
    assert.match(yield* Effect.promise(() => fs.readFile(rejected, "utf8")), /^line,problem,text\n3,.*,nobody\n4,/u)
    assert.lengthOf(yield* json("suppressions", "list"), 3)
    assert.lengthOf(yield* json("suppressions", "list", "--search", "ANA@", "--reason", "complaint"), 1)
    assert.lengthOf(yield* json("suppressions", "list", "--source", "email", "--since", "1h"), 0)
    yield* text("suppressions", "export", file)
    assert.strictEqual(
      yield* text("suppressions", "import", file, "--remove"),
      "Removed 3 addresses; 0 stayed as they were.",
    )
    assert.strictEqual(
      yield* refusal("suppressions", "import", join(home, "none")),
      `waybill: ${join(home, "none")}: there is no such file or folder`,
    )
  })

  it.effect("over the API, emails are found by a part of an address, and as scheduled", function* () {
    const { json, send, text } = yield* loggedIn
    yield* send({ to: "ana@gmail.com" })
    yield* send({ to: "bo@example.org" })
    const later = new Date((yield* Clock.currentTimeMillis) + 3_600_000).toISOString()
    const scheduled = yield* send({ to: "cy@example.org", scheduled_at: later })
    const found = (...flags: ReadonlyArray<string>) =>
      Effect.map(json("emails", "list", ...flags), (emails: ReadonlyArray<{ readonly to: ReadonlyArray<string> }>) =>
        emails.flatMap(({ to }) => to),
      )
    assert.deepStrictEqual(yield* found("--to", "@gmail.com"), ["ana@gmail.com"])
    assert.deepStrictEqual(yield* found("--to", "example"), ["cy@example.org", "bo@example.org"])
    assert.deepStrictEqual(yield* found("--to", "bo@example.org"), ["bo@example.org"])
    assert.lengthOf(yield* found("--from", "@acme.test"), 3)
    assert.deepStrictEqual(yield* found("--status", "scheduled"), ["cy@example.org"])
    assert.match(yield* text("emails", "list", "--status", "scheduled"), /\bscheduled\b/u)
    assert.match(yield* text("emails", "get", scheduled), /status: +scheduled/u)
    assert.strictEqual((yield* json("emails", "get", scheduled)).status, "queued")
  })

  it.effect("over the API, the log is followed", function* () {
    const { env, send } = yield* loggedIn
    const before = yield* send()
    const { printed, stop } = yield* CommandLine.start(env, "logs", "tail", "--since", "1h", "--types", "email.queued")
    yield* World.until(
      Effect.sync(() => printed),
      (lines) => lines.length === 1,
    )
    const after = yield* send()
    const lines = yield* World.until(
      Effect.sync(() => printed),
      (lines) => lines.length === 2,
    )
    yield* stop
    assert.match(lines[0] ?? "", new RegExp(`^\\S+Z  email\\.queued +${before}`, "u"))
    assert.include(lines[1], after)
  })

  it.effect("as a process, it prints its result, or its error to standard error with code 1", function* () {
    const { env } = yield* loggedIn
    const run = (...words: ReadonlyArray<string>) => Effect.promise(() => runToEnd(words, env))
    const [who, wrong] = yield* Effect.all([run("whoami", "--json"), run("emails", "lsit")], { concurrency: 2 })
    assert.deepStrictEqual([who.code, JSON.parse(who.output).url], [0, env.WAYBILL_URL], who.output)
    assert.strictEqual(wrong.code, 1)
    assert.match(wrong.output, /^waybill: `waybill emails` has no command "lsit"\. Did you mean `list`\?$/mu)
  })

  it.effect("a failure names the instance", function* () {
    const { key } = yield* loggedIn
    for (const name of ["WAYBILL_KEY", "WAYBILL_API_KEY"]) {
      const { errors } = yield* CommandLine.typeWith({ WAYBILL_URL: "http://127.0.0.1:1", [name]: key }, "whoami")
      assert.notInclude(errors, "not logged in", name)
    }
    const url = `http://127.0.0.1:${yield* Effect.promise(freePort)}`
    const { errors } = yield* CommandLine.typeWith({ WAYBILL_URL: url, WAYBILL_KEY: key }, "whoami")
    assert.include(errors, `waybill: no response from ${url}: connect ECONNREFUSED`)
    assert.include(errors, ". Nothing listens there: `waybill start`")
    const nowhere = yield* CommandLine.typeWith({ WAYBILL_URL: "http://no.invalid", WAYBILL_KEY: key }, "whoami")
    assert.match(
      nowhere.errors,
      /^waybill: no response from http:\/\/no\.invalid: .*\. .*; `waybill login` chooses another address\.$/u,
    )
  })

  it.effect("a misspelled status is refused with the nearest one", function* () {
    const { errors } = yield* CommandLine.typeWith({}, "emails", "list", "--status", "bouncd")
    assert.match(
      errors,
      /^waybill: --status does not take "bouncd": did you mean bounced\? It takes one of scheduled, /u,
    )
  })
})
