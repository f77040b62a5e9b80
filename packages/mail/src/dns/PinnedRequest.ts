import { Data, Duration, Effect } from "effect"
import * as http from "node:http"
import * as https from "node:https"
import { isIP } from "node:net"
import * as AnswerBudget from "./AnswerBudget.ts"
import type * as Network from "./Network.ts"
import * as NetworkGuard from "./NetworkGuard.ts"

export interface Options {
  /** Sent with POST; without one, the request is a GET. */
  readonly body?: string
  /** Private networks that the request may reach. */
  readonly allowed?: Network.Networks
  readonly timeout: Duration.Duration
  /** Maximum bytes of the answer, with its head and TLS. */
  readonly max_bytes: number
  /** Maximum bytes of the body, if that is less. */
  readonly max_body_bytes?: number
  /** Authorities of the server's certificate, other than those that Node trusts. */
  readonly ca?: https.RequestOptions["ca"]
}

export interface Answer {
  readonly status: number
  readonly type: string
  readonly body: Buffer
}

/** No answer arrived, in full and in time. */
export class RequestFailed extends Data.TaggedError("RequestFailed")<{ readonly message: string }> {}

/** Sends a request to an address that was checked and pinned. Redirects are answers like others. */
export const send = (text: string, options: Options) =>
  Effect.gen(function* () {
    const url = URL.parse(text)
    if (url === null) return yield* new RequestFailed({ message: `${text} is not a URL` })
    const [address = ""] = yield* Effect.mapError(
      NetworkGuard.resolvePublic(url.hostname, options.allowed),
      ({ message }) => new RequestFailed({ message }),
    )
    return yield* exchange(url, address, options)
  }).pipe(
    Effect.timeoutOrElse({
      duration: options.timeout,
      orElse: () =>
        Effect.fail(new RequestFailed({ message: `no answer within ${Duration.toSeconds(options.timeout)} s` })),
    }),
  )

const exchange = (url: URL, address: string, given: Options): Effect.Effect<Answer, RequestFailed> =>
  Effect.callback((resume) => {
    const { body, ca, max_bytes, max_body_bytes = max_bytes } = given
    const fail = (message: string) => {
      request.destroy()
      resume(Effect.fail(new RequestFailed({ message })))
    }
    const name = url.hostname.replace(/^\[|\]$/gu, "")
    const isSecure = url.protocol === "https:"
    const options: https.RequestOptions = {
      method: body === undefined ? "GET" : "POST",
      host: address,
      ...(url.port === "" ? {} : { port: url.port }),
      path: `${url.pathname}${url.search}`,
      headers: {
        host: url.host,
        "user-agent": "Waybill",
        ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
      },
      agent: false,
      ...(isSecure ? { ...AnswerBudget.TLS_OPTIONS, servername: isIP(name) === 0 ? name : "" } : {}),
      ...(ca === undefined ? {} : { ca }),
    }
    const request = (isSecure ? https : http).request(options, (response) => {
      const chunks: Array<Buffer> = []
      let bytes = 0
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length
        // The wire is counted in intervals, in which much can arrive.
        if (bytes > max_body_bytes) fail(`the answer is larger than ${max_body_bytes / 1024} KB`)
        else chunks.push(chunk)
      })
      response.on("error", ({ message }) => fail(message))
      response.on("end", () =>
        resume(
          Effect.succeed({
            status: response.statusCode ?? 0,
            type: response.headers["content-type"]?.split(";", 1)[0]?.trim() ?? "",
            body: Buffer.concat(chunks),
          }),
        ),
      )
    })
    AnswerBudget.watch(request, max_bytes, fail)
    request.on("error", ({ message }) => fail(message))
    request.on("close", () => fail("the connection ended without a whole answer"))
    request.end(body)
    return Effect.sync(() => request.destroy())
  })
