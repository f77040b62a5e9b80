import { Effect, Layer, Result } from "effect"
import * as SiteRules from "@waybill/mail/site/SiteRules"
import * as DirectTransport from "@waybill/mail/transport/DirectTransport"
import * as Dns from "@waybill/mail/dns/Dns"
import type * as MtaSts from "@waybill/mail/dns/MtaSts"
import * as Network from "@waybill/mail/dns/Network"
import * as Transport from "@waybill/mail/transport/Transport"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import { mtaStsPolicies } from "../../support/mail/mtaStsPolicies.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { outgoing, PATIENT } from "../transport/outgoing.ts"

const allowed = Result.getOrThrow(Network.parseAll(["127.0.0.0/8"]))
const MX1 = "127.0.0.1"
export const MX2 = "127.0.0.2"

/** Tries several ports, since a port that is free on one address may be in use on the other. */
const listenTwice = Effect.fnUntraced(function* (first: SmtpServer.Options | "absent", second: SmtpServer.Options) {
  const mx2 = yield* SmtpServer.listen({ ...second, host: MX2 })
  const at = (options: SmtpServer.Options) =>
    SmtpServer.listen({ ...options, host: MX1, port: mx2.port }).pipe(
      Effect.catchDefect(() => Effect.fail("taken" as const)),
    )
  if (first !== "absent") return { mx1: yield* at(first), mx2 }
  yield* Effect.scoped(at({}))
  return { mx1: undefined, mx2 }
})

/** Starts two servers of acme.test on two loopback addresses and one port. */
export const pair = Effect.fnUntraced(function* (
  first: SmtpServer.Options | "absent",
  second: SmtpServer.Options = {},
) {
  const { mx1, mx2 } = yield* listenTwice(first, second).pipe(Effect.retry({ times: 5 }))
  const dns = yield* DnsServer.listen({
    "acme.test": {
      MX: [
        [10, "mx1.acme.test"],
        [20, "mx2.acme.test"],
      ],
    },
    "mx1.acme.test": { A: [MX1] },
    "mx2.acme.test": { A: [MX2] },
  })
  return { mx1, mx2, dns, port: mx2.port }
})

type World = { readonly dns: DnsServer.DnsServer; readonly port: number }

/** Direct delivery to the servers of the test's DNS. */
export const directTransport = (
  { dns, port }: World,
  options: Partial<DirectTransport.Options> = {},
  policies: Record<string, MtaSts.Policy> = {},
  query_timeout_ms = 20_000,
) =>
  DirectTransport.layer({ name: "waybill.test", port, allowed, ca: SmtpServer.authority, ...options }).pipe(
    Layer.provide(mtaStsPolicies(policies)),
    Layer.provide(Layer.succeed(SiteRules.CurrentRules, SiteRules.RULES)),
    Layer.provide(Dns.Dns.layer({ servers: [dns.server], query_timeout_ms, query_tries: 1 })),
  )

export const using = <A>(
  world: World,
  run: (
    deliver: (to: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Transport.RecipientOutcome>>,
  ) => Effect.Effect<A>,
  options: Partial<DirectTransport.Options> = {},
  policies: Record<string, MtaSts.Policy> = {},
  query_timeout_ms = 20_000,
) =>
  Transport.Transport.use((transport) => run((to) => transport.deliver(outgoing(), to))).pipe(
    Effect.provide(directTransport(world, { timeouts: PATIENT, ...options }, policies, query_timeout_ms)),
  )
