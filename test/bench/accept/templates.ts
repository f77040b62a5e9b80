import { createHash } from "node:crypto"

/** Names, amounts and numbers of one message. They follow from its number, so that every run stores the same bytes. */
interface Filling {
  readonly name: string
  readonly order: string
  readonly amount: string
  readonly code: string
  readonly day: string
}

const NAMES = ["Ana", "Bo", "Chidi", "Dewi", "Emre", "Fatima", "Goran", "Hana", "Ines", "Jun", "Kofi", "Linnea"]
const FAMILIES = ["Alves", "Berg", "Costa", "Demir", "Eze", "Fischer", "Gupta", "Haddad", "Ito", "Jensen", "Kim"]

const filling = (n: number): Filling => {
  const random = createHash("sha256").update(`message ${n}`).digest()
  const pick = <A>(from: ReadonlyArray<A>, byte: number) => from[(random[byte] ?? 0) % from.length] as A
  return {
    name: `${pick(NAMES, 0)} ${pick(FAMILIES, 1)}`,
    order: String(random.readUInt32BE(2) % 10_000_000).padStart(7, "0"),
    amount: `${random.readUInt16BE(6) % 500}.${String((random[8] ?? 0) % 100).padStart(2, "0")} €`,
    code: String(random.readUInt32BE(9) % 1_000_000).padStart(6, "0"),
    day: `${((random[13] ?? 0) % 28) + 1} May`,
  }
}

interface Template {
  readonly tag: string
  readonly subject: (filling: Filling) => string
  readonly title: string
  readonly lines: (filling: Filling) => ReadonlyArray<string>
}

/** Three of the five have an order number in their subject, and two the same subject for everybody. */
const TEMPLATES: ReadonlyArray<Template> = [
  {
    tag: "receipt",
    subject: ({ order }) => `Your receipt for order ${order}`,
    title: "Thank you for your order",
    lines: ({ amount, order }) => [`Order ${order}`, `Total ${amount}`, "We send it tomorrow, in one parcel."],
  },
  {
    tag: "shipping",
    subject: ({ order }) => `Order ${order} is on its way`,
    title: "Your parcel has left us",
    lines: ({ day, order }) => [`Order ${order}`, `It arrives on ${day}.`, "The driver rings twice."],
  },
  {
    tag: "invoice",
    subject: ({ order }) => `Invoice ${order}`,
    title: "Your invoice",
    lines: ({ amount, day, order }) => [`Invoice ${order} of ${day}`, `Amount due ${amount}`, "Payable in 14 days."],
  },
  {
    tag: "password",
    subject: () => "Reset your password",
    title: "Reset your password",
    lines: ({ code }) => ["Somebody asked for a new password for your account.", `The code is ${code}.`],
  },
  {
    tag: "sign-in",
    subject: () => "Your sign-in code",
    title: "Sign in to Acme",
    lines: ({ code, day }) => [`Your code is ${code}.`, `It was requested on ${day} and is valid for ten minutes.`],
  },
]

const CELL = "padding:12px 24px;font:16px/24px Helvetica,Arial,sans-serif;color:#1f2937"
const FOOTER =
  "Acme GmbH, Example Street 1, 10115 Berlin. You receive this mail because you have an account at Acme. " +
  "Answers to this mail are read by people, on working days from nine to five."

const html = (title: string, name: string, lines: ReadonlyArray<string>) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head>
<body style="margin:0;background:#f3f4f6"><table role="presentation" width="100%" cellpadding="0" cellspacing="0">
<tr><td align="center"><table role="presentation" width="600" style="background:#ffffff;border-radius:8px">
<tr><td style="${CELL}"><h1 style="font-size:22px;margin:0">${title}</h1></td></tr>
<tr><td style="${CELL}">Dear ${name},</td></tr>
${lines.map((line) => `<tr><td style="${CELL}">${line}</td></tr>`).join("\n")}
<tr><td style="${CELL}"><a href="https://acme.test/account" style="background:#2563eb;color:#ffffff">Your account</a></td></tr>
<tr><td style="${CELL};font-size:12px;color:#6b7280">${FOOTER}</td></tr>
</table></td></tr></table></body></html>`

const text = (title: string, name: string, lines: ReadonlyArray<string>) =>
  [title, `Dear ${name},`, ...lines, "https://acme.test/account", FOOTER].join("\n\n")

/** Returns the request that sends the message with this number. */
export const message = (n: number) => {
  const filled = filling(n)
  const template = TEMPLATES[n % TEMPLATES.length] as Template
  const lines = template.lines(filled)
  return {
    from: "Acme <hi@acme.test>",
    to: [`${filled.name.toLowerCase().replace(" ", ".")}${n % 20_000}@example.org`],
    subject: template.subject(filled),
    html: html(template.title, filled.name, lines),
    text: text(template.title, filled.name, lines),
    tags: [template.tag],
  }
}

/** What differs between messages, as variables of a template. */
const VARIABLES: Filling = {
  name: "{{ name }}",
  order: "{{ order }}",
  amount: "{{ amount }}",
  code: "{{ code }}",
  day: "{{ day }}",
}

/** The same words as templates. */
export const SOURCES = TEMPLATES.map(({ lines, subject, tag, title }) => ({
  name: title,
  alias: tag,
  subject: subject(VARIABLES),
  html: html(title, VARIABLES.name, lines(VARIABLES)),
  text: text(title, VARIABLES.name, lines(VARIABLES)),
}))

/** Returns the request that sends the message with this number by its template. */
export const templated = (n: number) => {
  const { from, tags, to } = message(n)
  return { from, to, tags, template: { alias: tags[0], variables: filling(n) } }
}
