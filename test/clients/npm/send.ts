// Sends with every client, as a program of its own, and prints what each made of it. The environment has the addresses and the key.
import { createRequire } from "node:module"
import { type Client, type Mail, type Package, report } from "../report.ts"

const old = createRequire(import.meta.url) as (name: string) => Package
const current = createRequire(new URL("../../../package.json", import.meta.url)) as (name: string) => Package

const { KEY = "", WAYBILL_URL = "" } = process.env
const failed = (message: unknown): never => {
  throw new Error(String(message))
}

const resend = (name: string, { Resend }: Package): Client => {
  const client = new Resend(KEY)
  const bodyOf = ({ file, ...mail }: Mail) => ({
    ...mail,
    ...(file && { attachments: [{ filename: "a.bin", content: file }] }),
  })
  // The first major version gives the answer of the service as it is.
  const given = (answer: Package) => answer.data ?? (answer.id ? answer : failed((answer.error ?? answer).message))
  return {
    name,
    send: async (mail) => given(await client.emails.send(bodyOf(mail))).id,
    ...(client.batch && { batch: async (mails) => given(await client.batch.send(mails.map(bodyOf))) }),
  }
}

const postmark = (name: string, { ServerClient }: Package): Client => {
  const requestHost = `${WAYBILL_URL.replace("http://", "")}/compat/postmark`
  const client = new ServerClient(KEY, { requestHost, useHttps: false })
  const bodyOf = ({ file, from, subject, text, to }: Mail) => ({
    From: from,
    To: to,
    Subject: subject,
    TextBody: text,
    ...(file && {
      Attachments: [
        { Name: "a.bin", Content: file.toString("base64"), ContentType: "application/octet-stream", ContentID: null },
      ],
    }),
  })
  return {
    name,
    send: async (mail) => {
      const { MessageID } = await client.sendEmail(bodyOf(mail))
      // Versions up to 4.0.5 read the details at a path of their own.
      return (await client.getOutboundMessageDetails(MessageID)).MessageID
    },
    batch: async (mails) => client.sendEmailBatch(mails.map(bodyOf)),
  }
}

const sendgrid = (name: string, { MailService }: Package): Client => {
  const mailer = new MailService()
  mailer.setApiKey(KEY)
  mailer.client.setDefaultRequest("baseUrl", `${WAYBILL_URL}/compat/sendgrid`)
  const bodyOf = ({ file, ...mail }: Mail) => ({
    ...mail,
    ...(file && {
      attachments: [{ filename: "a.bin", content: file.toString("base64"), type: "application/octet-stream" }],
    }),
  })
  return { name, send: (mail) => mailer.send(bodyOf(mail)), batch: (mails) => mailer.send(mails.map(bodyOf)) }
}

const nodemailer = (name: string, transport: Package): Client => {
  const mailer = old("nodemailer").createTransport(transport)
  return {
    name,
    send: ({ file, ...mail }) =>
      mailer.sendMail({ ...mail, ...(file && { attachments: [{ filename: "a.bin", content: file }] }) }),
  }
}

const authjs = (name: string, { default: provider }: Package): Client => {
  const { options, sendVerificationRequest } = provider({ apiKey: KEY })
  return {
    name,
    fileless: true,
    send: ({ from, subject, to }) =>
      sendVerificationRequest({
        identifier: to,
        url: `https://${subject}/`,
        provider: { ...options, from },
        theme: {},
      }),
  }
}

/** Uses version 0.11 of `resend`. */
const strapi = (): Client => {
  const provider = old("strapi-provider-email-resend").init({ apiKey: KEY }, {})
  return {
    name: "strapi-provider-email-resend",
    send: ({ file, ...mail }) =>
      provider.send({ ...mail, ...(file && { attachments: [{ filename: "a.bin", content: file }] }) }),
  }
}

/** Clients whose address is one variable or option. */
const BY_ADDRESS = (): ReadonlyArray<Client> => [
  ...["resend-1", "resend-2", "resend-3", "resend-4", "resend-5", "resend-6-1", "resend-6-12", "resend-6-34"].map(
    (name) => resend(name, old(name)),
  ),
  resend("resend", current("resend")),
  ...["postmark-2", "postmark-3", "postmark-4"].map((name) => postmark(name, old(name))),
  postmark("postmark", current("postmark")),
  ...["sendgrid-mail-6", "sendgrid-mail-7"].map((name) => sendgrid(name, old(name))),
  sendgrid("sendgrid-mail", current("@sendgrid/mail")),
  nodemailer(
    "nodemailer-postmark-transport",
    old("nodemailer-postmark-transport")({
      auth: { apiKey: KEY },
      postmarkOptions: { requestHost: `${WAYBILL_URL.replace("http://", "")}/compat/postmark`, useHttps: false },
    }),
  ),
  strapi(),
]

/** Clients that know one host only. */
const BY_REDIRECT = (): ReadonlyArray<Client> => [
  nodemailer("nodemailer-sendgrid", old("nodemailer-sendgrid")({ apiKey: KEY })),
  ...["resend", "postmark", "sendgrid"].map((name) => authjs(`authjs-${name}`, old(`@auth/core/providers/${name}`))),
]

await report(process.argv[2] === "redirect" ? BY_REDIRECT() : BY_ADDRESS())
