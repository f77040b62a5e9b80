import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"

type Headers = Readonly<Record<string, string | undefined>>

/** Headers in which other services take a key. */
const HEADERS: ReadonlyArray<readonly [header: string, service: string]> = [
  ["x-postmark-server-token", "Postmark"],
  ["x-postmark-account-token", "Postmark"],
  ["x-server-api-key", "Postal"],
]

/** Forms of keys that other services take in the header `Authorization`. */
const FORMS: ReadonlyArray<readonly [form: RegExp, service: string]> = [
  [/^re_/u, "Resend"],
  [/^SG\./u, "SendGrid"],
  [/^key-[0-9a-f]{32}$/u, "Mailgun"],
  [/^xkeysib-/u, "Brevo"],
  [/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu, "Postmark"],
]

/** Returns the refusal of a request with a key of another service, so that the sender sees which key is missing. */
export const refuse = (headers: Headers): RequestRefusal.ForeignKey | undefined => {
  const service = headers["authorization"] === undefined ? byHeader(headers) : byForm(headers["authorization"])
  return service === undefined ? undefined : new RequestRefusal.ForeignKey({ service })
}

const byHeader = (headers: Headers): string | undefined =>
  HEADERS.find(([header]) => headers[header] !== undefined)?.[1]

const byForm = (authorization: string): string | undefined => {
  const token = tokenOf(authorization)
  return FORMS.find(([form]) => form.test(token))?.[1]
}

/** Returns the key of a Bearer header or, for Mailgun, the password of a Basic one. */
const tokenOf = (authorization: string): string => {
  const [scheme = "", token = ""] = authorization.split(/ +/u, 2)
  if (scheme.toLowerCase() !== "basic") return token
  return Buffer.from(token, "base64").toString("latin1").split(":", 2)[1] ?? ""
}
