import * as Smtp from "../../server/smtp/support.ts"
import { withTimeout } from "./Scenario.ts"

const REPLY_MS = 30_000

export interface Mail {
  readonly port: number
  readonly host?: string
  readonly from?: string | undefined
  /** API key to log in with, for submission. */
  readonly key?: string
  readonly sender: string
  readonly recipient: string
  readonly bytes: Buffer | string
}

/** Submits one message and returns the last reply, or `silence` after a timeout. */
export const submit = async ({ bytes, from, host, key, port, recipient, sender }: Mail): Promise<string> => {
  const client = await Smtp.Raw.connect(port, host, from)
  try {
    const greeting = ["EHLO attacker.test", ...(key === undefined ? [] : [Smtp.plain(key)])]
    const steps = [...greeting, `MAIL FROM:<${sender}>`, `RCPT TO:<${recipient}>`, "DATA"]
    const replies = await withTimeout(REPLY_MS, client.all(steps), ["silence"])
    const last = replies.at(-1) ?? ""
    if (!last.startsWith("354")) return replies.find((reply) => /^[45]/u.test(reply)) ?? last
    client.write(bytes)
    client.write("\r\n.\r\n")
    return await withTimeout(REPLY_MS, client.reply(), "silence")
  } finally {
    client.end()
  }
}

export const { Raw, plain } = Smtp
