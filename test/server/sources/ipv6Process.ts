import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Network from "@waybill/mail/dns/Network"
import { rankSources } from "@waybill/mail/source/rankSources"
import * as Transport from "@waybill/mail/transport/Transport"
import { Console, Effect, Result } from "effect"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { directTransport } from "../../mail/smtp/mxPair.ts"
import { outgoing, PATIENT } from "../../mail/transport/outgoing.ts"
import { newId } from "./sources.ts"

/**
 * Direct delivery in a network of its own, which a test makes: `node ipv6Process.ts <address of the server> <sources…>`.
 * Sends 20 messages from the sources in turns, and prints the address and the EHLO name that the server saw of each.
 */
const MESSAGES = 20
const [host = "", ...addresses] = process.argv.slice(2)

const sources = {
  isConfigured: () => true,
  choose: ({ key }: { readonly key: string }) => {
    const [address = ""] = rankSources(
      addresses.map((address) => ({ address })),
      key,
    ).map((each) => each.address)
    const name = `s${addresses.indexOf(address)}.sender.test`
    return Effect.succeed({ _tag: "Chosen" as const, source: { address, name }, recipients: 1, giveBack: () => {} })
  },
  blocked: () => Effect.void,
  absent: () => Effect.void,
}

const program = Effect.gen(function* () {
  const server = yield* SmtpServer.listen({ host })
  const dns = yield* DnsServer.listen({
    "six.test": { MX: [[10, "mx.six.test"]] },
    "mx.six.test": { AAAA: [host] },
  })
  const allowed = Result.getOrThrow(Network.parseAll([host]))
  const { deliver } = yield* Transport.Transport.pipe(
    Effect.provide(directTransport({ dns, port: server.port }, { timeouts: PATIENT, sources, allowed })),
  )
  for (let sent = 0; sent < MESSAGES; sent++) yield* deliver(outgoing({ emailId: newId() }), ["ana@six.test"])
  for (const { helo, remote } of server.mails) yield* Console.log(`${remote} ${helo}`)
})

NodeRuntime.runMain(Effect.scoped(program))
