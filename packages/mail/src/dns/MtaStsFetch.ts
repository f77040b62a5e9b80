import { Effect, Layer } from "effect"
import * as https from "node:https"
import * as AnswerBudget from "./AnswerBudget.ts"
import * as Dns from "./Dns.ts"
import * as MtaSts from "./MtaSts.ts"
import type * as Network from "./Network.ts"
import * as NetworkGuard from "./NetworkGuard.ts"

/** RFC 8461 §3.3 suggests a minute; mail waits meanwhile, and a later attempt fetches again. */
export const FETCH_TIMEOUT_MS = 15_000
/** Maximum bytes that a policy host may send: the policy, its head, the chunks' framing and the certificates. */
export const FETCH_WIRE_BYTES = 256 * 1024

export interface Options {
  readonly allowed?: Network.Networks
  readonly timeout_ms?: number
  /** Port of the policy host; tests run theirs with a certificate of their own. */
  readonly port?: number
  readonly ca?: string | Buffer
}

/** Fetches from an address that was checked and pinned, since the domain's owner names the host. */
export const make = (options: Options = {}): Effect.Effect<MtaSts.Fetch, never, Dns.Dns> =>
  Effect.map(Dns.Dns, (dns): MtaSts.Fetch => (domain) => {
    const host = `mta-sts.${domain}`
    return NetworkGuard.resolvePublic(host, options.allowed).pipe(
      Effect.provideService(Dns.Dns, dns),
      Effect.mapError((error) => new MtaSts.FetchFailed({ reason: error.message })),
      Effect.flatMap(([address = ""]) => request(host, address, options)),
    )
  })

export const layer = (storage: MtaSts.PolicyStorage): Layer.Layer<MtaSts.MtaSts, never, Dns.Dns> =>
  Layer.unwrap(Effect.map(make(), (fetch) => MtaSts.MtaSts.layer(fetch, storage)))

const request = (host: string, address: string, options: Options): Effect.Effect<string, MtaSts.FetchFailed> =>
  Effect.callback((resume) => {
    const fail = (reason: string) => {
      clearTimeout(timer)
      request.destroy()
      resume(Effect.fail(new MtaSts.FetchFailed({ reason })))
    }
    const timer = setTimeout(() => fail("the request timed out"), options.timeout_ms ?? FETCH_TIMEOUT_MS)
    const request = https.request(
      {
        host: address,
        servername: host,
        port: options.port ?? 443,
        path: "/.well-known/mta-sts.txt",
        headers: { host, accept: "text/plain" },
        agent: false,
        ...AnswerBudget.TLS_OPTIONS,
        ...(options.ca === undefined ? {} : { ca: options.ca }),
      },
      (response) => {
        // A redirect is a failure: it would lead past the certificate that authenticates the domain (§3.3).
        if (response.statusCode !== 200) return fail(`status ${response.statusCode}`)
        if (!/^text\/plain\b/iu.test(response.headers["content-type"] ?? "")) return fail("not text/plain")
        let text = ""
        response.setEncoding("utf8")
        response.on("data", (chunk: string) => {
          text += chunk
          if (text.length > MtaSts.POLICY_BYTES) fail("too long")
        })
        response.on("error", (error) => fail(error.message))
        response.on("end", () => {
          clearTimeout(timer)
          resume(Effect.succeed(text))
        })
      },
    )
    AnswerBudget.watch(request, FETCH_WIRE_BYTES, fail)
    request.on("error", (error) => fail(error.message))
    // After a 101 Node closes the connection and reports no error; earlier responses have settled the request already.
    request.on("close", () => fail("the connection closed without a response"))
    request.end()
    return Effect.sync(() => {
      clearTimeout(timer)
      request.destroy()
    })
  })
