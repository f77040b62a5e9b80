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

const TEMPLATES =
  "has no meaning: This API has no templates yet: POST /v1/email/send has. Or render the email in your program, and send its content."

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
    call: "send with templateId",
    gives: `400, template_id: template_id ${TEMPLATES}`,
    run: (mail) => mail.send(email({ templateId: "1" })),
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
  {
    call: "GET /v3/templates",
    gives:
      "404, null: This API has no templates yet: POST /v1/email/send has. Or render the email in your program, and send its content.",
    run: request("GET", "/v3/templates"),
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
