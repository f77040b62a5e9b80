import * as Template from "@waybill/domain/template/Template"
import * as TemplateState from "@waybill/domain/template/TemplateState"
import type { AccountId, TemplateId } from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Clock, Effect } from "effect"
import type { SendMailOptions } from "nodemailer"
import * as TemplateHeaders from "../../../apps/server/src/templates/TemplateHeaders.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import * as Smtp from "../smtp/support.ts"

const source: TemplateState.TemplateSource = {
  ...TemplateState.EMPTY,
  subject: "Order {{ order }}",
  html: "<p>{{ name }}</p>",
  locales: { de: { subject: "Bestellung {{ order }}", html: null, text: null, preheader: null } },
  variables: {
    type: "object",
    required: ["name", "order"],
    properties: { name: { type: "string" }, order: { type: "integer" } },
  },
}

const publish = Effect.fnUntraced(function* (account_id: AccountId, alias: string, draft = source) {
  const { commit } = yield* EventStore
  const template_id: TemplateId = id("TemplateId")
  const ref = { account_id, stream_id: template_id }
  const now = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
  const others = { count: 0, withAlias: () => undefined }
  const template = { template_id, kind: "template", alias, name: alias, description: null, draft } as const
  yield* Effect.orDie(commit(Template, ref, Template.create(now, others, template)))
  const by = { created_by: null, notes: null, activates: true }
  yield* Effect.orDie(commit(Template, ref, Template.publish(now, draft, by)))
  return template_id
})

layer(Smtp.layer, { excludeTestServices: true })("mail of a template by SMTP", (it) => {
  const setUp = Effect.gen(function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const template_id = yield* publish(acme.account_id, "order")
    const send = (headers: Record<string, string>, more: SendMailOptions = {}) =>
      Smtp.send(port, acme.secret, { from: `hi@${acme.domain}`, to: "ana@example.org", headers, ...more })
    return { acme, port, send, template_id }
  })

  it.effect("has the words of the template, and not its headers", function* () {
    const { acme, send, template_id } = yield* setUp
    const variables = { name: "<Ünal>", order: 7041 }
    const json = JSON.stringify(variables).replaceAll(/[^ -~]/gu, (c) => `\\u00${c.codePointAt(0)?.toString(16)}`)
    const headers = { "X-Waybill-Template": "order", "X-Waybill-Variables": json, "X-Order": "7041" }
    yield* send(headers)
    yield* send({ ...headers, "X-Waybill-Template": `${template_id}; version=1; locale=de-AT` })
    yield* send({ ...headers, "X-Waybill-Variables": Buffer.from(JSON.stringify(variables)).toString("base64") })
    yield* send(headers, { subject: "Mine" })
    const mail = yield* Smtp.accepted(acme.account_id)
    assert.deepStrictEqual(
      mail.map(({ body, headers, subject }) => [subject, body.html, headers]),
      [
        ["Order 7041", "<p>&lt;Ünal&gt;</p>", { "X-Order": "7041" }],
        ["Bestellung 7041", "<p>&lt;Ünal&gt;</p>", { "X-Order": "7041" }],
        ["Order 7041", "<p>&lt;Ünal&gt;</p>", { "X-Order": "7041" }],
        ["Mine", "<p>&lt;Ünal&gt;</p>", { "X-Order": "7041" }],
      ],
    )
  })

  it.effect(
    "warns of variables without a value and of no body in the reply, between the lines that programs read",
    function* () {
      const { acme, port } = yield* setUp
      yield* publish(acme.account_id, "free", { ...source, variables: null })
      const headers = { "X-Waybill-Template": "free", "X-Waybill-Variables": '{"order": 7}' }
      const replyTo = Effect.fnUntraced(function* (more: SendMailOptions) {
        const client = Smtp.transport(port, acme.secret)
        const mail = { from: `hi@${acme.domain}`, to: "ana@example.org", ...more }
        return (yield* Effect.promise(() => client.sendMail(mail)).pipe(
          Effect.ensuring(Effect.sync(() => client.close())),
        )).response
      })
      assert.match(
        yield* replyTo({ headers }),
        /^250-2\.0\.0 Accepted: 250 Ok \S+\n250-2\.0\.0 Warning: Variables without a value: name\n250 2\.0\.0 Ok: queued as msg_\w+$/u,
      )
      assert.match(yield* replyTo({ text: "" }), /\n250-2\.0\.0 Warning: The message has no body\n/u)
    },
  )

  it.effect("is refused as over HTTP, in one sentence with all that is wrong", function* () {
    const { acme, send } = yield* setUp
    const template = { "X-Waybill-Template": "order" }
    const base64 = (json: string) => Buffer.from(json).toString("base64")
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, nth) => [`a${nth}`, nth]))
    const long = Buffer.alloc(TemplateHeaders.MAX_VARIABLES_HEADER_CHARS, "a").toString("base64")
    const rows: ReadonlyArray<readonly [Record<string, string>, SendMailOptions, string]> = [
      [
        { ...template, "X-Waybill-Variables": '{"order": "7", "nam": "Ana"}' },
        {},
        "550 5.6.0 template_variables_invalid: `order` must be an integer, not string; " +
          "`nam` is not a variable of this template; did you mean `name`?; `name` is missing.",
      ],
      [
        { "X-Waybill-Template": "other" },
        {},
        '550 5.6.0 template_not_found: `template` "other" does not exist in this account.',
      ],
      [
        { "X-Waybill-Template": "order; version=7" },
        {},
        '550 5.6.0 template_version_not_found: `template` "order" has no version of this number.',
      ],
      [template, { text: "Hello" }, "554 5.6.0 validation_failed: `text` cannot be combined with `template`."],
      [
        { ...template, "X-Waybill-Variables": "{" },
        {},
        "554 5.6.0 validation_failed: `X-Waybill-Variables` must be an object in JSON, or that in base64.",
      ],
      [
        { ...template, "X-Waybill-Variables": long },
        {},
        "554 5.6.0 validation_failed: `X-Waybill-Variables` has more than 65536 characters.",
      ],
      [
        { ...template, "X-Waybill-Variables": base64(`{"a":${"[".repeat(40)}${"]".repeat(40)}}`) },
        {},
        "554 5.6.0 validation_failed: `X-Waybill-Variables` is nested deeper than 32 levels.",
      ],
      [
        { ...template, "X-Waybill-Variables": base64(JSON.stringify(many)) },
        {},
        "554 5.6.0 validation_failed: `X-Waybill-Variables` has an object of more than 1000 fields.",
      ],
      [
        { "X-Waybill-Variables": "{}" },
        {},
        "554 5.6.0 validation_failed: `X-Waybill-Template` is required with variables.",
      ],
      [
        { "X-Waybill-Template": "order; lang=de" },
        {},
        "554 5.6.0 validation_failed: `X-Waybill-Template` takes `version`, `locale` and `time_zone` after the name, each once, as in receipt; locale=de.",
      ],
    ]
    for (const [headers, more, expected] of rows) {
      assert.strictEqual(yield* send(headers, more), expected)
    }
    assert.deepStrictEqual(yield* Smtp.accepted(acme.account_id), [])
  })
})
