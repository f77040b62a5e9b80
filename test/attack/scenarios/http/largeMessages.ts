import { largeMailboxes } from "../../../support/mail/largeMail.ts"
import { sendRequest } from "../../harness/http.ts"
import type { Customer, Target } from "../../harness/Target.ts"

/** Messages that are sent at the same time. */
const AT_ONCE = 4

const listed = (mailboxes: ReturnType<typeof largeMailboxes>) =>
  mailboxes.map(({ address, name }) => `"${name}" <${address}>`)

/** Schedules messages with as many and as long recipients as the service takes, whose records and events are the largest. */
export const scheduleLargeMessages = async ({ http }: Target, { domain, key }: Customer, count: number) => {
  const body = {
    from: `hi@${domain}`,
    to: listed(largeMailboxes("to", 50)),
    cc: listed(largeMailboxes("cc", 50)),
    subject: "x",
    text: "x",
    scheduled_at: new Date(Date.now() + 86_400_000).toISOString(),
  }
  const sendSome = async (some: number) => {
    for (let nth = 0; nth < some; nth++) {
      const sent = await sendRequest(http, "POST", "/v1/email/send", { key, body })
      if (sent.status !== 200) throw new Error(`not sent: ${sent.status} ${sent.text}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, () => sendSome(count / AT_ONCE)))
}
