import { submit } from "../../harness/smtp.ts"
import { failedExpectations, type Scenario } from "../../harness/Scenario.ts"

const LINE = `${"x".repeat(62)} \r\n`

export const flowed: Scenario = {
  name: "format=flowed",
  load: "one text of soft line breaks (9 MB) over submission",
  bounds: { memory_mib: 350 },
  run: async ({ from, size, target }) => {
    const { domain, key } = await target.customer()
    const [sender, recipient] = [`hi@${domain}`, "ana@example.org"]
    const head = `From: <${sender}>\r\nTo: <${recipient}>\r\nSubject: x\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; format=flowed; delsp=yes\r\n\r\n`
    const bytes = head + LINE.repeat(size(4_500_000, 9_000_000) / LINE.length)
    const reply = await submit({ port: target.smtpPort, from: from(0), key, sender, recipient, bytes })
    return { summary: reply, failures: failedExpectations([[/^[245]\d\d /u.test(reply), "the message got no answer"]]) }
  },
}
