import * as EmailStatsFollower from "@waybill/store/statistics/EmailStatsFollower"
import * as RequestLogWriter from "@waybill/store/requests/RequestLogWriter"
import * as Follower from "@waybill/store/feed/Follower"
import { Clock, Effect } from "effect"
import * as OutputStyle from "../../../apps/server/src/cli/OutputStyle.ts"
import * as TerminalTable from "../../../apps/server/src/cli/TerminalTable.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { NOWHERE } from "../../support/nowhere.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import { EMAIL, HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

const NARROW = { columns: 80, hasColours: false }
const flush = Effect.flatMap(
  RequestLogWriter.RequestLogWriter,
  (writer) => writer?.flush ?? Effect.die("requests are not logged"),
)

const LONG_ADDRESS = "firstname.lastname@customer-international.example"

layer(HttpWorld.layer({ requestLog: true }), { excludeTestServices: true })("a terminal of 80 columns", (it) => {
  /** An account with values as long as those of customers, and functions that run commands. */
  const setUp = Effect.gen(function* () {
    const { call, key, send, world } = yield* signUp({
      domains: ["acme.test", "notifications.acme-international.test"],
    })
    const env = { WAYBILL_URL: world.url, WAYBILL_KEY: key, XDG_CONFIG_HOME: NOWHERE }
    const type = (...words: ReadonlyArray<string>) =>
      Effect.provideService(CommandLine.typeWith(env, ...words), OutputStyle.StandardOutput, NARROW)
    const json = (...words: ReadonlyArray<string>) =>
      Effect.map(CommandLine.typeWith(env, ...words, "--json"), ({ output }) => JSON.parse(output))
    return { call, json, send, type }
  })

  it.effect("shows every list with one line for each record, and commands take the ids that it shows", function* () {
    const { call, json, send, type } = yield* setUp
    const now = yield* Clock.currentTimeMillis
    yield* call("POST", "/v1/suppressions", { email: LONG_ADDRESS })
    yield* send({ to: LONG_ADDRESS })
    const sent = yield* send({
      to: ["ana@example.org", LONG_ADDRESS],
      subject: "Your order 7041 of November has shipped",
    })
    const scheduled_at = new Date(now + 30 * 3_600_000).toISOString()
    yield* send({ to: "bo@example.org", subject: "Your order 7042 of November has shipped", scheduled_at })
    yield* call("GET", `/v1/email/logs/${sent}`)
    const url = "https://hooks.customer-portal.acme.example/waybill/v1/orders"
    const { json: webhook } = yield* call("POST", "/v1/webhooks", { url, events: ["email.bounced", "email.failed"] })
    yield* call("POST", `/v1/webhooks/${webhook.id}/test`)
    const text = { subject: "Hi", text: "Hi" }
    yield* call("POST", "/v1/templates", { ...text, alias: "order-shipped-partly", name: "Order shipped in part" })
    const from = "Ana Silva <ana.silva@customer-international.example>"
    yield* call("POST", "/v1/test/inbound", {
      from,
      to: ["support@acme.test"],
      subject: "Where is my order 7041?",
      text: "?",
    })
    const match = { to: "support@acme.test", from: "*@customer-international.example" }
    yield* call("POST", "/v1/inbound/routes", { match, action: { type: "forward", to: ["team@acme.test"] } })
    const lists = [
      "emails list",
      "requests list --path /v1/email",
      "suppressions list",
      "domains list",
      "webhooks list",
      `webhooks deliveries ${webhook.id}`,
      "templates list",
      "inbound list",
      "inbound routes list",
    ]
    for (const list of lists) {
      yield* flush
      const records = yield* json(...list.split(" "))
      const { output } = yield* type(...list.split(" "))
      const [, ...rows] = output.split("\n").filter((line) => !line.startsWith("Without "))
      assert.lengthOf(rows, records.length, output)
      assert.isAbove(rows.length, 0, list)
      for (const line of output.split("\n")) assert.isAtMost(TerminalTable.widthOf(line), 80, line)
    }
    const idIn = (output: string) => /\b(?:msg|req|inb|whd)_\w+…\w+/u.exec(output)?.[0] ?? ""
    for (const [list, get] of [
      ["emails list", "emails get"],
      ["emails list", "emails timeline"],
      ["requests list --path /v1/email", "requests get"],
      ["inbound list", "inbound get"],
      [`webhooks deliveries ${webhook.id}`, `webhooks deliveries ${webhook.id}`],
    ] as const) {
      const part = idIn((yield* type(...list.split(" "))).output)
      assert.lengthOf(part, 17, list)
      const { errors, output } = yield* type(...get.split(" "), part)
      assert.strictEqual(errors, "", get)
      if (!get.endsWith("timeline")) assert.match(output, new RegExp(`${part.replace("…", "\\w+")}\\b`, "u"))
    }
    // Those of one batch differ in their ends.
    const emails = ["cy", "di"].map((name) => ({ ...EMAIL, to: `${name}@example.org` }))
    const batch = yield* call("POST", "/v1/email/send/batch", { mode: "permissive", emails })
    for (const { id } of batch.json.data)
      assert.include((yield* type("emails", "get", `${id.slice(0, 12)}…${id.slice(-4)}`)).output, id)
    const other = yield* type("requests", "get", "req_000000000000")
    assert.include(other.errors, "must be an id: req_ followed by 26 characters")
  })

  it.effect("counts emails as the overview does, in all and by domain, tag, provider, key and day", function* () {
    const { json, send, type } = yield* setUp
    assert.strictEqual((yield* type("stats")).output, "No email in this period.")
    yield* send({ to: "ana@gmail.com", tags: ["receipt"] })
    yield* send({ to: ["bo@acme.example", "cy@acme.example"], from: "hi@notifications.acme-international.test" })
    while ((yield* Follower.step(EmailStatsFollower.follower)).events > 0);
    const { output } = yield* type("stats")
    assert.match(output, /^status +count\naccepted +3\ndelivered +0\nbounced +0\nfailed +0\ncomplained +0\nqueued +3$/u)
    const by = (group: string) => Effect.map(type("stats", "--since", "24h", "--by", group), ({ output }) => output)
    assert.match(yield* by("provider"), /^provider +accepted\nother +2\ngmail +1$/u)
    assert.match(yield* by("tag"), /^tag +accepted\nreceipt +1$/u)
    assert.match(yield* by("domain"), /^domain +accepted\nnotifications\.\S+ +2\nacme\.test +1$/u)
    assert.match(yield* by("key"), /^key +accepted\ntest +3$/u)
    assert.match(yield* by("day"), /^day +accepted\n\d{4}-\d\d-\d\d +\d$/mu)
    const found = yield* json("stats", "--by", "domain")
    assert.deepStrictEqual([found.object, found.group_by, found.data.length], ["stats", ["domain"], 2])
  })
})
