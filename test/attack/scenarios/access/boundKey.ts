import { sendRequest } from "../../harness/http.ts"
import { failedExpectations, type Scenario } from "../../harness/Scenario.ts"
import { submit } from "../../harness/smtp.ts"
import { send } from "../../harness/Target.ts"

const HOUR_MS = 3_600_000
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString()

/** Uses a key that is bound to one domain of its account against mail of another domain. */
export const boundKey: Scenario = {
  name: "a bound key and another domain",
  load: "cancel, reschedule, resend, read, new keys and Sender: with a key that is bound to one domain",
  run: async ({ target }) => {
    const customer = await target.customer()
    const other = `other.${customer.domain}`
    const byOwner = (method: string, path: string, body?: unknown) =>
      sendRequest(target.http, method, path, { key: customer.key, ...(body === undefined ? {} : { body }) })
    await byOwner("POST", "/v1/domains", { name: other })
    const bind = async (scopes: ReadonlyArray<string>) => {
      const body = { name: "bound", scopes, domain: customer.domain }
      return String((await byOwner("POST", "/v1/api-keys", body)).json?.key)
    }
    const [sender, admin] = [await bind(["email:send"]), await bind(["admin"])]
    const otherMail = await send(target.http, { ...customer, domain: other }, { scheduled_at: inHours(2) })
    const by = (key: string, method: string, path: string, body?: unknown) =>
      sendRequest(target.http, method, path, { key, ...(body === undefined ? {} : { body }) })
    const reached = []
    for (const key of [sender, admin])
      for (const [method, path, body] of [
        ["PATCH", `/v1/email/${otherMail}`, { scheduled_at: inHours(3) }],
        ["GET", `/v1/email/logs/${otherMail}`, undefined],
        ["GET", `/v1/email/logs/${otherMail}/events`, undefined],
        ["POST", `/v1/email/${otherMail}/resend`, {}],
        ["POST", `/v1/email/${otherMail}/cancel`, undefined],
      ] as const) {
        const { status } = await by(key, method, path, body)
        if (status < 400) reached.push(`${method} ${path.replace(otherMail, "{id}")}: ${status}`)
      }
    const state = (await byOwner("GET", `/v1/email/logs/${otherMail}`)).json?.status
    const newKey = await by(admin, "POST", "/v1/api-keys", { name: "unbound", scopes: ["admin"] })
    const isUnbound = newKey.status < 300 && newKey.json?.domain !== customer.domain
    const headers = { Sender: `hi@${other}` }
    const overHttp = await by(sender, "POST", "/v1/email/send", { ...mail(customer.domain), headers })
    const isWritten =
      overHttp.status === 200 && (await capturedBytes(byOwner, overHttp.json.id)).includes(`hi@${other}`)
    const bytes = `From: <hi@${customer.domain}>\r\nSender: <hi@${other}>\r\nTo: <ana@example.org>\r\nSubject: x\r\n\r\nx`
    const overSmtp = await submit({
      port: target.smtpPort,
      key: sender,
      sender: `hi@${customer.domain}`,
      recipient: "ana@example.org",
      bytes,
    })
    return {
      summary: `reached ${reached.length} of 10; state ${state}; new key ${newKey.status}; Sender: HTTP ${overHttp.status}, SMTP ${overSmtp.slice(0, 3)}`,
      failures: failedExpectations([
        [reached.length === 0, `it reached ${reached.join(", ")}`],
        [state === "queued", `the mail of the other domain is ${state}`],
        [!isUnbound, "it made a key that is not bound"],
        [!isWritten, "a Sender: of the other domain passed over HTTP"],
      ]),
    }
  },
}

const mail = (domain: string) => ({ from: `hi@${domain}`, to: "sender@example.org", subject: "x", text: "x" })

type OwnerRequest = (method: string, path: string) => ReturnType<typeof sendRequest>

/** Returns the bytes of a captured mail. */
const capturedBytes = async (byOwner: OwnerRequest, id: string): Promise<string> => {
  await byOwner("GET", "/v1/sandbox/messages?to=sender@example.org&wait=5s")
  const { json } = await byOwner("GET", `/v1/sandbox/messages/${id}`)
  return Buffer.from(String(json?.raw ?? ""), "base64").toString("latin1")
}
