import { Effect } from "effect"
import { Errors, Models, ServerClient, AccountClient } from "postmark"
import { Resend } from "resend"
import { assert, layer } from "../../../support/effectTest.ts"
import { HttpWorld, signUp } from "../../../support/world/HttpWorld.ts"

/** What the client for Go sends of a template besides: its whole record. */
const RECORD = { TemplateId: 0, AssociatedServerId: 0, Active: false }

layer(HttpWorld.layer({ minuteStands: true }), { excludeTestServices: true, timeout: "90 seconds" })(
  "templates of other services",
  (it) => {
    const setUp = Effect.gen(function* () {
      const { call, key, world } = yield* signUp({ domains: ["acme.test"] })
      const host = new URL(world.url).host
      const options = { requestHost: `${host}/compat/postmark`, useHttps: false }
      const read = (id: string) => Effect.map(call("GET", `/v1/email/logs/${id}`), ({ json }) => json)
      return {
        call,
        key,
        world,
        read,
        resend: new Resend(key, { baseUrl: `${world.url}/compat/resend` }),
        postmark: new ServerClient(key, options),
        pusher: new AccountClient(key, options),
        sendgrid: (method: string, path: string, body?: object) =>
          world.request(method, `/compat/sendgrid${path}`, { key, ...(body === undefined ? {} : { body }) }),
      }
    })

    const done = <A>(call: () => PromiseLike<{ readonly data: A | null; readonly error: unknown }>) =>
      Effect.map(
        Effect.promise(async () => call()),
        ({ data, error }) => data ?? assert.fail(JSON.stringify(error)),
      )

    it.effect("Resend: keeps the source, checks variables with fallbacks, and sends what is published", function* () {
      const { call, read, resend } = yield* setUp
      const html = "<h1>{{{NAME}}}</h1>{% not liquid %}"
      const variables = [
        { key: "NAME", type: "string" as const, fallbackValue: "friend" },
        { key: "TOTAL", type: "number" as const },
      ]
      const { id } = yield* done(() =>
        resend.templates.create({
          name: "Receipt",
          alias: "receipt",
          from: "Acme <hi@acme.test>",
          subject: "Total {{{TOTAL}}}",
          replyTo: "help@acme.test",
          html,
          variables,
        }),
      )
      const draft = yield* done(() => resend.templates.get("receipt"))
      assert.deepInclude(draft, { id, status: "draft", html, has_unpublished_versions: true, published_at: null })
      assert.deepStrictEqual(
        draft.variables?.map(({ fallback_value, key, type }) => ({ fallback_value, key, type })),
        [
          { fallback_value: "friend", key: "NAME", type: "string" },
          { fallback_value: null, key: "TOTAL", type: "number" },
        ],
      )
      const template = { id: "receipt", variables: { TOTAL: 5 } }
      const message = { to: "ana@example.org", template }
      const early = yield* Effect.promise(() => resend.emails.send(message))
      assert.deepInclude(early.error, { statusCode: 422, name: "validation_error" })
      yield* done(() => resend.templates.publish(id))
      const sent = yield* done(() => resend.emails.send(message))
      const log = yield* read(sent.id)
      assert.deepInclude(log, { subject: "Total 5", from: "Acme <hi@acme.test>", reply_to: ["help@acme.test"] })
      assert.strictEqual(log.content.html, "<h1>friend</h1>{% not liquid %}")
      assert.strictEqual(log.template.version, 1)

      const published = yield* done(() => resend.templates.get(id))
      assert.deepInclude(published, { status: "published", html, has_unpublished_versions: false })
      yield* done(() => resend.templates.update(id, { html: "<h1>Hi {{{NAME}}}</h1>" }))
      const changed = yield* done(() => resend.templates.get(id))
      assert.deepInclude(changed, { subject: "Total {{{TOTAL}}}", has_unpublished_versions: true })
      const batch = yield* done(() => resend.batch.send([message, { ...message, template: { ...template, id } }]))
      assert.lengthOf(batch.data, 2)
      const wrong = yield* Effect.promise(() =>
        resend.emails.send({ ...message, template: { id, variables: { NAME: "Ana" } } }),
      )
      assert.deepInclude(wrong.error, { statusCode: 422 })
      const { json } = yield* call("GET", "/v1/templates/receipt")
      assert.strictEqual(json.draft.language, "resend")
    })

    it.effect("lists of numbers among variables stay lists, whatever their names", function* () {
      const { call, postmark, read, sendgrid } = yield* setUp
      const html = "{{#each data}}[{{this}}]{{/each}}{{#each content}}[{{this}}]{{/each}}"
      const numbers = { data: [10, 20], content: [30] }
      const { json: made } = yield* sendgrid("POST", "/v3/templates", { name: "Numbers", generation: "dynamic" })
      yield* sendgrid("POST", `/v3/templates/${made.id}/versions`, {
        name: "1",
        subject: "s",
        html_content: html,
        active: 1,
      })
      const from = { email: "hi@acme.test" }
      const attachments = [{ filename: "a.txt", type: "text/plain", content: [104, 105] }]
      const personalizations = [{ to: [{ email: "ana@example.org" }], dynamic_template_data: numbers }]
      const sent = yield* sendgrid("POST", "/v3/mail/send", {
        from,
        personalizations,
        template_id: made.id,
        attachments,
      })
      assert.strictEqual(sent.status, 202)
      const { json: list } = yield* call("GET", "/v1/email/logs?limit=1")
      const log = yield* read(list.data[0].id)
      assert.deepInclude(log.content, { html: "[10][20][30]" })
      assert.lengthOf(log.content.attachments, 1)

      const TestRenderModel = { data: [10, 20], content: [30] }
      const valid = yield* Effect.promise(async () =>
        postmark.validateTemplate({ Subject: "s", HtmlBody: html.replaceAll("this", "."), TestRenderModel }),
      )
      assert.strictEqual(valid.HtmlBody.RenderedContent, "[10][20][30]")
    })

    it.effect("Postmark: layouts, numbers, validation and mail of a template", function* () {
      const { call, postmark, pusher, read } = yield* setUp
      const run = <A>(work: () => Promise<A>) => Effect.promise(work)
      const refused = (work: () => Promise<unknown>) =>
        Effect.promise(() =>
          work().then(
            () => assert.fail("not refused"),
            (error: Errors.PostmarkError) => [error.statusCode, error.code],
          ),
        )
      const HtmlBody = "{{#each items}}<p>{{name}} for {{../../shop}}</p>{{/each}}"
      assert.deepStrictEqual(
        yield* refused(() =>
          postmark.createTemplate({ Name: "L", HtmlBody: "<p>x</p>", TemplateType: Models.TemplateTypes.Layout }),
        ),
        [422, 403],
      )
      yield* run(() =>
        postmark.createTemplate({
          Name: "Base",
          Alias: "base",
          HtmlBody: "<body>{{{ @content }}}</body>",
          TemplateType: Models.TemplateTypes.Layout,
        }),
      )
      const made = yield* run(() =>
        postmark.createTemplate({
          Name: "Order",
          Alias: "order",
          Subject: "{{shop}}",
          HtmlBody,
          LayoutTemplate: "base",
          ...RECORD,
        }),
      )
      assert.deepInclude(made, { Name: "Order", Alias: "order", Active: true, LayoutTemplate: "base" })
      assert.isBelow(made.TemplateId, 2 ** 31)
      const found = yield* run(() => postmark.getTemplate(made.TemplateId))
      assert.deepInclude(found, { HtmlBody, Subject: "{{shop}}", TemplateType: Models.TemplateTypes.Standard })
      const all = yield* run(() => postmark.getTemplates({ templateType: Models.TemplateTypes.Layout }))
      assert.deepStrictEqual([all.TotalCount, all.Templates[0]?.Alias], [1, "base"])

      const mail = { From: "hi@acme.test", To: "ana@example.org" }
      const TemplateModel = { shop: "A & B", items: [{ name: "Tea" }, { name: "Milk" }] }
      const byNumber = yield* run(() =>
        postmark.sendEmailWithTemplate({ ...mail, TemplateId: made.TemplateId, TemplateModel }),
      )
      const log = yield* read(byNumber.MessageID)
      assert.strictEqual(log.subject, "A & B")
      assert.strictEqual(log.content.html, "<body><p>Tea for A &amp; B</p><p>Milk for A &amp; B</p></body>")
      assert.strictEqual(log.template.version, 1)

      yield* run(() => postmark.editTemplate("order", { Subject: "Order of {{shop}}", ...RECORD }))
      const [again, missing, unknown] = yield* run(() =>
        postmark.sendEmailBatchWithTemplates([
          { ...mail, TemplateAlias: "order", TemplateModel },
          { ...mail, TemplateAlias: "nothing", TemplateModel },
          { ...mail, TemplateId: 7, TemplateModel },
        ]),
      )
      const second = yield* read(again?.MessageID ?? "")
      assert.deepInclude(second, { subject: "Order of A & B" })
      assert.strictEqual(second.template.version, 2)
      assert.deepStrictEqual([missing?.ErrorCode, unknown?.ErrorCode], [1101, 1101])
      assert.deepStrictEqual(
        yield* refused(() => postmark.sendEmailWithTemplate({ ...mail, TemplateId: 7, TemplateModel })),
        [422, 1101],
      )

      const valid = yield* run(() =>
        postmark.validateTemplate({ Subject: "Hi {{user.name}}", HtmlBody: "<p>{{{raw}}}</p>", TextBody: "{{#a}}" }),
      )
      assert.strictEqual(valid.AllContentIsValid, false)
      assert.deepStrictEqual(valid.TextBody.ValidationErrors, [
        { Message: "{{#a}} is not closed", Line: 1, CharacterPosition: 1 },
      ])
      const rendered = yield* run(() =>
        postmark.validateTemplate({
          Subject: "Hi {{user.name}}",
          HtmlBody: "<p>{{{raw}}}</p>",
          LayoutTemplate: "base",
          TestRenderModel: { user: { name: "Ana" }, raw: "<b>x</b>" },
        }),
      )
      assert.deepStrictEqual(
        [rendered.AllContentIsValid, rendered.Subject.RenderedContent, rendered.HtmlBody.RenderedContent],
        [true, "Hi Ana", "<body><p><b>x</b></p></body>"],
      )
      const LayoutTemplate = 'base" %}{{ x }}{% if x'
      assert.deepStrictEqual(
        yield* refused(() => postmark.validateTemplate({ HtmlBody: "<p>Hi</p>", LayoutTemplate })),
        [422, 403],
      )
      assert.deepStrictEqual(rendered.SuggestedTemplateModel, { user: { name: "name_Value" }, raw: "raw_Value" })

      const push = { SourceServerID: 1, DestinationServerID: 1, PerformChanges: true }
      const pushed = yield* run(() => pusher.pushTemplates(push))
      assert.deepStrictEqual({ ...pushed }, { TotalCount: 0, Templates: [] })
      assert.deepStrictEqual(
        yield* refused(() => pusher.pushTemplates({ ...push, DestinationServerID: 7 })),
        [422, 403],
      )
      yield* run(() => postmark.deleteTemplate(made.TemplateId))
      assert.deepStrictEqual(yield* refused(() => postmark.getTemplate("order")), [422, 1101])
      const { json } = yield* call("GET", "/v1/templates?status=archived")
      assert.lengthOf(json.data, 1)
    })

    it.effect("SendGrid: versions by name, one of which is active, and data for each recipient", function* () {
      const { read, sendgrid } = yield* setUp
      const { json: template } = yield* sendgrid("POST", "/v3/templates", { name: "Order", generation: "dynamic" })
      assert.match(template.id, /^d-[0-9a-f]{32}$/u)
      const path = `/v3/templates/${template.id}`
      const html_content = "{{#if gift}}<p>Gift</p>{{else}}<p>{{total}}</p>{{/if}}"
      const first = yield* sendgrid("POST", `${path}/versions`, { name: "One", subject: "{{subject}}", html_content })
      assert.deepInclude(first.json, { active: 1, name: "One", html_content, subject: "{{subject}}" })
      const spare = { name: "Two", subject: "Two", html_content: "<p>two</p>", active: 0 }
      const second = yield* sendgrid("POST", `${path}/versions`, spare)
      assert.deepInclude(second.json, { active: 0, name: "Two" })

      const send = (personalizations: ReadonlyArray<object>) =>
        sendgrid("POST", "/v3/mail/send", {
          from: { email: "hi@acme.test" },
          template_id: template.id,
          personalizations: personalizations.map((data) => ({
            to: [{ email: "ana@example.org" }],
            dynamic_template_data: data,
          })),
        })
      const sent = yield* send([
        { subject: "A & B", gift: true },
        { subject: "C", gift: false, total: "<5>" },
      ])
      assert.strictEqual(sent.status, 202, JSON.stringify(sent.json))
      const ids = (sent.headers.get("x-message-ids") ?? "").split(",")
      const logs = yield* Effect.forEach(ids, read)
      assert.deepStrictEqual(
        logs.map(({ content, subject }) => [subject, content.html]),
        [
          ["A & B", "<p>Gift</p>"],
          ["C", "<p>&lt;5&gt;</p>"],
        ],
      )

      // An edit keeps the id, and whether the version is active.
      const edited = yield* sendgrid("PATCH", `${path}/versions/${first.json.id}`, { html_content: "<p>new</p>" })
      assert.deepInclude(edited.json, { id: first.json.id, active: 1, html_content: "<p>new</p>" })
      const activated = yield* sendgrid("POST", `${path}/versions/${second.json.id}/activate`)
      assert.deepInclude(activated.json, { id: second.json.id, active: 1 })
      const { json: whole } = yield* sendgrid("GET", path)
      assert.deepStrictEqual(
        whole.versions.map(({ active, name }: { readonly active: number; readonly name: string }) => [name, active]),
        [
          ["One", 0],
          ["Two", 1],
        ],
      )
      const last = yield* send([{}])
      assert.strictEqual((yield* read(last.headers.get("x-message-id") ?? "")).content.html, "<p>two</p>")

      const wrong = yield* sendgrid("POST", `${path}/versions`, {
        name: "3",
        subject: "x",
        html_content: "{{> footer}}",
      })
      assert.strictEqual(wrong.status, 400)
      assert.deepInclude(wrong.json.errors[0], { field: "html_content" })
      const page = yield* sendgrid("GET", "/v3/templates?generations=dynamic&page_size=5")
      assert.deepStrictEqual([page.json.result[0].id, page.json._metadata], [template.id, { count: 1 }])
      assert.strictEqual((yield* sendgrid("DELETE", path)).status, 204)
      assert.deepStrictEqual((yield* sendgrid("GET", "/v3/templates")).json, { templates: [] })
      assert.strictEqual((yield* send([{}])).status, 400)
    })

    it.effect("a key that may only send finds no templates, and sends by them", function* () {
      const { call, world } = yield* setUp
      const words = { name: "Hi", alias: "hi", language: "mustachio", subject: "Hi", html: "<p>{{x}}</p>" }
      yield* call("POST", "/v1/templates", words)
      yield* call("POST", "/v1/templates/hi/publish", {})
      const { json } = yield* call("POST", "/v1/api-keys", { name: "sender", scopes: ["email:send"] })
      const client = new ServerClient(json.key, {
        requestHost: `${new URL(world.url).host}/compat/postmark`,
        useHttps: false,
      })
      const mail = { From: "hi@acme.test", To: "ana@example.org", TemplateAlias: "hi", TemplateModel: { x: 1 } }
      const answer = yield* Effect.promise(() => client.sendEmailWithTemplate(mail))
      assert.strictEqual(answer.ErrorCode, 0)
      const refused = yield* Effect.promise(() => client.getTemplates().catch((error: unknown) => error))
      assert.instanceOf(refused, Errors.PostmarkError)
    })
  },
)
