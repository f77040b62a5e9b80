import type sendgrid from "@sendgrid/mail"

/** The package exports these types in a way that an import of it as an ES module cannot reach. */
export type MailService = typeof sendgrid & {
  readonly client: {
    readonly request: (data: object) => Promise<unknown>
    readonly setDefaultRequest: (name: string, value: string) => unknown
  }
}
type MailDataRequired = Parameters<MailService["sendMultiple"]>[0]

export interface SendGridCall {
  readonly call: string
  /** What it does in Waybill; or, for a call that is refused, the status, the field and the sentence. */
  readonly gives: string
  readonly run: (mail: MailService) => Promise<unknown>
}

/** A new object for each call, because the package writes into what it is given. */
export const email = (change: Partial<MailDataRequired> = {}) =>
  ({
    from: "Acme <hi@acme.test>",
    to: "ana@example.org",
    subject: "Your receipt",
    text: "Thank you!",
    ...change,
  }) as MailDataRequired

/** A request that `@sendgrid/client` sends. */
const request =
  (method: "GET" | "POST", url: string) =>
  ({ client }: MailService) =>
    client.request({ method, url })

/** Makes a template with a version, and returns its path. */
const made = async ({ client }: MailService): Promise<string> => {
  const post = (url: string, body: object) =>
    client.request({ method: "POST", url, body }) as Promise<[unknown, { readonly id: string }]>
  const [, template] = await post("/v3/templates", { name: "Receipt", generation: "dynamic" })
  const version = { name: "1", subject: "Order {{order}}", html_content: "<p>{{order}}</p>" }
  await post(`/v3/templates/${template.id}/versions`, version)
  return `/v3/templates/${template.id}`
}

const VERSION = "GET, PATCH /v3/templates/{id}/versions/{id}, POST …/activate"

/** Calls a version of a template. */
const ofVersion =
  (method: string, below = "", body?: object) =>
  async (mail: MailService) => {
    const path = await made(mail)
    const [, { versions }] = (await mail.client.request({ method: "GET", url: path })) as [
      unknown,
      { readonly versions: ReadonlyArray<{ readonly id: string }> },
    ]
    return mail.client.request({ method, url: `${path}/versions/${versions[0]?.id}${below}`, body })
  }

/** Calls of the npm package `@sendgrid/mail`, and what each gives at /compat/sendgrid. */
export const sendgridCalls: ReadonlyArray<SendGridCall> = [
  { call: "send", gives: "POST /v1/email/send", run: (mail) => mail.send(email()) },
  {
    call: "send with an array",
    gives: "POST /v1/email/send for each message",
    run: (mail) => mail.send([email(), email({ to: "bo@example.org" })]),
  },
  {
    call: "sendMultiple",
    gives: "POST /v1/email/send/batch, for 100 recipients each, at most 1,000: all or none",
    run: (mail) => mail.sendMultiple(email({ to: ["ana@example.org", "bo@example.org"] })),
  },
  {
    call: "send with categories and customArgs",
    gives: "tags: the category; metadata: the arguments",
    run: (mail) => mail.send(email({ categories: ["receipt"], customArgs: { order: "7041" } })),
  },
  {
    call: "send with sendAt",
    gives: "scheduled_at, at most 30 days ahead",
    run: (mail) => mail.send(email({ sendAt: Math.floor(Date.now() / 1000) + 3600 })),
  },
  {
    call: "send with templateId and dynamicTemplateData",
    gives: "`template` of POST /v1/email/send; its subject counts",
    run: async (mail) =>
      mail.send(email({ templateId: (await made(mail)).split("/")[3] ?? "", dynamicTemplateData: { order: 7041 } })),
  },
  {
    call: "send with templateId of another account",
    gives: "400, template_id: The template does not exist in this account.",
    run: (mail) => mail.send(email({ templateId: "d-0123456789abcdef0123456789abcdef" })),
  },
  {
    call: "send with substitutions",
    gives: "subject, text, HTML and headers with the names replaced",
    run: (mail) => mail.send(email({ substitutions: { name: "Ana" } })),
  },
  {
    call: "send with asm",
    gives: "400, asm: asm has no meaning: Waybill has no unsubscribe groups.",
    run: (mail) => mail.send(email({ asm: { groupId: 1 } })),
  },
  {
    call: "send with batchId",
    gives: "the metadata `sendgrid.batch_id`",
    run: async (mail) => {
      const made = (await mail.client.request({ method: "POST", url: "/v3/mail/batch" })) as [
        { body: { batch_id: string } },
      ]
      return mail.send(email({ batchId: made[0].body.batch_id }))
    },
  },
  {
    call: "send with ipPoolName",
    gives: "400, ip_pool_name: ip_pool_name has no meaning: the operator of Waybill chooses the pool of addresses.",
    run: (mail) => mail.send(email({ ipPoolName: "p" })),
  },
  {
    call: "send with mailSettings.sandboxMode",
    gives: "200: it is checked as a send is, and nothing is accepted",
    run: (mail) => mail.send(email({ mailSettings: { sandboxMode: { enable: true } } })),
  },
  {
    call: "send with trackingSettings.ganalytics",
    gives:
      "400, tracking_settings.ganalytics.enable: " +
      "tracking_settings.ganalytics.enable cannot be true: Waybill adds nothing to links.",
    run: (mail) => mail.send(email({ trackingSettings: { ganalytics: { enable: true } } })),
  },
  { call: "GET /v3/templates", gives: "GET /v1/templates", run: request("GET", "/v3/templates") },
  {
    call: "POST /v3/templates, POST /v3/templates/{id}/versions",
    gives: "POST /v1/templates, PATCH /v1/templates/{id} and …/publish; words in Handlebars",
    run: made,
  },
  {
    call: "GET, PATCH, POST, DELETE /v3/templates/{id}",
    gives: "the same of /v1/templates; DELETE archives it, POST duplicates it",
    run: async (mail) => {
      const url = await made(mail)
      await mail.client.request({ method: "GET", url })
      await mail.client.request({ method: "PATCH", url, body: { name: "Other" } })
      await mail.client.request({ method: "POST", url, body: { name: "Copy" } })
      return mail.client.request({ method: "DELETE", url })
    },
  },
  { call: VERSION, gives: "versions of one name are one version of SendGrid", run: ofVersion("GET") },
  {
    call: VERSION,
    gives: "versions of one name are one version of SendGrid",
    run: ofVersion("PATCH", "", { subject: "x" }),
  },
  { call: VERSION, gives: "versions of one name are one version of SendGrid", run: ofVersion("POST", "/activate") },
  {
    call: "DELETE /v3/templates/{id}/versions/{id}",
    gives: "404, null: Versions of a template stay for ever. Activate another one, or delete the template.",
    run: ofVersion("DELETE"),
  },
  {
    call: "POST /v3/mail/batch",
    gives: "an id of 32 characters, for `batchId`",
    run: request("POST", "/v3/mail/batch"),
  },
  {
    call: "GET /v3/user/scheduled_sends",
    gives: "the batches that are paused or canceled",
    run: request("GET", "/v3/user/scheduled_sends"),
  },
]
