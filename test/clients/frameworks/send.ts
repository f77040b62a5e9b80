// Sends with the adapters of frameworks, as a program of its own, and prints what each made of it. The environment has the addresses
// and the key.
import { createRequire, registerHooks } from "node:module"
import { join } from "node:path"
import { type Client, type Mail, type Package, report } from "../report.ts"

const required = createRequire(import.meta.url) as (name: string) => Package
const load = (name: string): Promise<Package> => import(name)
const fileOf = (path: string) => new URL(path, import.meta.url).href

const { KEY = "", SMTP_PORT = "", WAYBILL_URL = "" } = process.env

/** What an adapter imports of its framework is in one file of it. The others would import the rest of the framework. */
const partOf = (name: string, importer = ""): string => {
  const payload = importer.includes("email-resend") ? "APIError" : "InvalidConfiguration"
  switch (name) {
    case "payload":
      return fileOf(`node_modules/payload/dist/errors/${payload}.js`)
    case "@adonisjs/core":
      return `data:text/javascript,export { t as configProvider } from "${fileOf("node_modules/@adonisjs/core/build/config_provider-t1UIlTp8.js")}"`
    case "@medusajs/framework/utils":
      // It is required, by a path.
      return join(import.meta.dirname, "medusaUtils.ts")
    default:
      return name
  }
}
registerHooks({ resolve: (name, context, next) => next(partOf(name, context.parentURL), context) })

const smtp = { host: "127.0.0.1", port: Number(SMTP_PORT), ignoreTLS: true, auth: { user: "waybill", pass: KEY } }
const attached = (file: Buffer | undefined, nameOf: string, contentOf: string) =>
  file && { attachments: [{ [nameOf]: "a.bin", [contentOf]: file, contentType: "application/octet-stream" }] }

const payload = async (name: string, adapter: () => Promise<Package>): Promise<Client> => {
  const { sendEmail } = (await adapter())()
  return { name, send: ({ file, ...mail }) => sendEmail({ ...mail, ...attached(file, "filename", "content") }) }
}

const payloads = async () => {
  const { resendAdapter } = await load("@payloadcms/email-resend")
  const { nodemailerAdapter } = await load("@payloadcms/email-nodemailer")
  const sender = { defaultFromAddress: "hi@acme.test", defaultFromName: "Acme" }
  return [
    await payload("payload-resend", () => Promise.resolve(resendAdapter({ ...sender, apiKey: KEY }))),
    await payload("payload-nodemailer", () => nodemailerAdapter({ ...sender, transportOptions: smtp })),
  ]
}

/** Mailers as `config/mail.ts` has them. */
const adonis = async (): Promise<ReadonlyArray<Client>> => {
  const { Mailer, defineConfig, transports } = await load("@adonisjs/mail")
  const { configProvider } = await load("@adonisjs/core")
  const { mailers } = await configProvider.resolve(
    {},
    defineConfig({
      mailers: {
        resend: transports.resend({ key: KEY, baseUrl: `${WAYBILL_URL}/compat/resend` }),
        postmark: transports.postmark({ key: KEY, baseUrl: `${WAYBILL_URL}/compat/postmark` }),
        smtp: transports.smtp({ ...smtp, auth: { ...smtp.auth, type: "login" } }),
      },
    }),
  )
  const emitter = { emit: () => Promise.resolve() }
  return Object.entries<Package>(mailers).map(([name, transport]) => {
    const mailer = new Mailer(name, transport(), emitter, {})
    return {
      name: `adonis-${name}`,
      send: ({ file, from, subject, text, to }: Mail) =>
        mailer.send((message: Package) => {
          message.from(from).to(to).subject(subject).text(text)
          if (file !== undefined) message.attachData(file, { filename: "a.bin" })
        }),
    }
  })
}

/** It sends HTML only. */
const medusa = (): Client => {
  const { SendgridNotificationService } = required("@medusajs/notification-sendgrid/dist/services/sendgrid.js")
  const provider = new SendgridNotificationService({ logger: console }, { api_key: KEY, from: "hi@acme.test" })
  return {
    name: "medusa-sendgrid",
    send: ({ file, from, subject, text, to }) =>
      provider.send({
        to,
        from,
        channel: "email",
        content: { subject, html: `<p>${text}</p>` },
        ...(file && {
          attachments: [
            { filename: "a.bin", content: file.toString("base64"), content_type: "application/octet-stream" },
          ],
        }),
      }),
  }
}

const novu = (service: string, className: string, config: object): Client => {
  const path = `@novu/providers/build/main/lib/${service}/${service}.provider.js`
  const provider = new (required(path)[className])({ from: "hi@acme.test", senderName: "Acme", ...config })
  return {
    name: `novu-${service}`,
    send: ({ file, text, to, ...mail }) =>
      provider.sendMessage({
        ...mail,
        to: [to],
        text,
        html: `<p>${text}</p>`,
        ...(file && { attachments: [{ name: "a.bin", file, mime: "application/octet-stream" }] }),
      }),
  }
}

await report([
  ...(await payloads()),
  ...(await adonis()),
  medusa(),
  novu("resend", "ResendEmailProvider", { apiKey: KEY }),
  novu("postmark", "PostmarkEmailProvider", { apiKey: KEY }),
  novu("sendgrid", "SendgridEmailProvider", { apiKey: KEY }),
  novu("nodemailer", "NodemailerProvider", {
    host: smtp.host,
    port: smtp.port,
    secure: false,
    user: smtp.auth.user,
    password: KEY,
    ignoreTls: true,
  }),
])
