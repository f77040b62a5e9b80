import * as AnswerBudget from "@waybill/mail/smtp/AnswerBudget"
import type * as Network from "@waybill/mail/dns/Network"
import * as NetworkGuard from "@waybill/mail/dns/NetworkGuard"
import { Context, Effect } from "effect"
import * as https from "node:https"

/** Time for a certificate or the confirmation of a subscription. */
export const FETCH_TIMEOUT_MS = 10_000
/** Maximum bytes of an answer, with its head and TLS. */
export const FETCH_WIRE_BYTES = 256 * 1024

export interface Hosts {
  readonly isAllowed: (host: string) => boolean
  readonly allowed?: Network.Networks
  /** Port of the host and certificates that tests run theirs with. */
  readonly port?: number
  readonly ca?: ReadonlyArray<string>
}

/** The hosts that certificates are read from and subscriptions confirmed at: those of Amazon SNS only. */
export const AmazonHosts = Context.Reference<Hosts>("@waybill/server/providers/AmazonHosts", {
  defaultValue: () => ({ isAllowed: (host) => /^sns\.[a-z0-9-]{1,30}\.amazonaws\.com(?:\.cn)?$/u.test(host) }),
})

/** Gets a text from a host of Amazon, at an address that was checked and pinned. Fails with the reason of a refusal. */
export const get = Effect.fn("AmazonFetch.get")(function* (text: string) {
  const hosts = yield* AmazonHosts
  const url = URL.parse(text)
  if (
    url === null ||
    url.protocol !== "https:" ||
    url.username !== "" ||
    url.port !== "" ||
    !hosts.isAllowed(url.hostname)
  )
    return yield* Effect.fail("host_not_allowed")
  const [address = ""] = yield* Effect.mapError(
    NetworkGuard.resolvePublic(url.hostname, hosts.allowed),
    () => "host_unreachable",
  )
  return yield* request(url, address, hosts)
})

const request = (url: URL, address: string, { ca, port = 443 }: Hosts): Effect.Effect<string, string> =>
  Effect.callback((resume) => {
    const fail = () => {
      clearTimeout(timer)
      request.destroy()
      resume(Effect.fail("host_unreachable"))
    }
    const timer = setTimeout(fail, FETCH_TIMEOUT_MS)
    const request = https.request(
      {
        host: address,
        servername: url.hostname,
        port,
        path: `${url.pathname}${url.search}`,
        headers: { host: url.hostname },
        agent: false,
        ...AnswerBudget.TLS_OPTIONS,
        ...(ca === undefined ? {} : { ca: [...ca] }),
      },
      (response) => {
        if (response.statusCode !== 200) return fail()
        let text = ""
        response.setEncoding("utf8")
        response.on("data", (chunk: string) => (text += chunk))
        response.on("error", fail)
        response.on("end", () => {
          clearTimeout(timer)
          resume(Effect.succeed(text))
        })
      },
    )
    AnswerBudget.watch(request, FETCH_WIRE_BYTES, fail)
    request.on("error", fail)
    request.on("close", fail)
    request.end()
    return Effect.sync(() => {
      clearTimeout(timer)
      request.destroy()
    })
  })
