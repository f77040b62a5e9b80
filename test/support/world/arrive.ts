import * as InboundState from "@waybill/domain/inbound/InboundState"
import type * as Address from "@waybill/domain/values/Address"
import type * as Id from "@waybill/domain/values/Id"
import type { Sha256 } from "@waybill/domain/values/Sha256"
import * as Heading from "@waybill/mail/inbound/Heading"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import * as InboundReception from "../../../apps/server/src/inbound/InboundReception.ts"

/** Records a mail as if it had come over SMTP from another server, and returns its id. */
export const arrive = Effect.fnUntraced(function* (
  account: string,
  { from, text, to, ...headers }: Readonly<Record<"from" | "text" | "to", string>> & Readonly<Record<string, string>>,
) {
  const fields = Object.entries({ From: from, To: to, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const bytes = Buffer.from(`${fields.join("")}\r\n${text}\r\n`)
  const { answer } = yield* InboundReception.receive({
    account_id: account as Id.AccountId,
    envelope: {
      from: "ana@example.org",
      to: [to as Address.Address],
      remote_ip: "203.0.113.7",
      helo: "mx.example.org",
      tls: null,
    },
    bytes,
    heading: Heading.ofHeader(bytes),
    auth: InboundState.NOT_JUDGED,
    sha256: createHash("sha256").update(bytes).digest("hex") as Sha256,
    days: 30,
  })
  return answer.id
})
