import * as Unsubscribe from "@waybill/mail/tokens/Unsubscribe"
import * as https from "node:https"
import { once } from "node:events"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { CA, CERTIFICATE } from "../../../server/smtp/support.ts"
import { sendRequest, type Endpoint } from "../../harness/http.ts"
import { type Attack, failedExpectations, summarize, type Scenario } from "../../harness/Scenario.ts"
import * as Target from "../../harness/Target.ts"

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"

/** Attacks one-click unsubscribing (RFC 8058) behind a proxy that terminates TLS. */
export const unsubscribeTokens: Scenario = {
  // threat: forged-visits
  name: "unsubscribe tokens over https",
  load: "tokens that are forged, cut, swapped, huge, replayed and requested with every method",
  run: async (attack) => {
    const proxy = await tlsProxy()
    const settings = { BASE_URL: `https://localhost:${proxy.port}`, TRUSTED_PROXIES: "127.0.0.0/8" }
    const service = await Target.startAnother(attack.target, settings)
    proxy.forwardTo(service.http)
    try {
      return await attackTokens(attack, service, proxy.port)
    } finally {
      proxy.close()
      await service.kill()
    }
  },
}

const attackTokens = async ({ dice, size }: Attack, service: Target.Target, port: number) => {
  const [mine, theirs] = [await service.customer(), await service.customer()]
  const to = `ana-${dice.text(6)}@example.org`
  const first = await Target.send(service.http, mine, { to, list_unsubscribe: true })
  const second = await Target.send(service.http, theirs, { to, list_unsubscribe: true })
  const good = service.unsubscribeToken(mine, first)
  const other = service.unsubscribeToken(theirs, second)
  const call = (method: string, token: string, parts: RequestParts = {}) =>
    requestOverTls(port, method, Unsubscribe.PATH + token, parts)
  const suppressed = async ({ key }: Target.Customer) =>
    ((await sendRequest(service.http, "GET", "/v1/suppressions", { key })).json?.data ?? []).length as number

  const wrong = [...forged(good, other, size(20, 200), dice)]
  const refused = await Promise.all(wrong.map((token) => call("POST", token)))
  const methods = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "CONNECTED"]
  const withoutPost = await Promise.all([
    ...methods.map((method) => call(method, good)),
    call("GET", `${good}?_method=POST`),
    call("GET", good, { headers: { "x-http-method-override": "POST", "x-method-override": "POST" } }),
  ])
  const suppressedEarly = (await suppressed(mine)) + (await suppressed(theirs))
  const body = "List-Unsubscribe=One-Click"
  const type = "application/x-www-form-urlencoded"
  const replays = await Promise.all(
    Array.from({ length: size(50, 300) }, () => call("POST", good, { body, headers: { "content-type": type } })),
  )
  const large = await call("POST", good, { body: "x".repeat(1_000_000), headers: { "content-type": "text/html" } })
  const [ofMine, ofTheirs] = [await suppressed(mine), await suppressed(theirs)]
  const answers = [...refused, ...withoutPost, ...replays, large].map(({ status }) => status)
  return {
    summary: `wrong ${summarize(refused.map(({ status }) => status))}; methods ${summarize(withoutPost.map(({ status }) => status))}; replays ${summarize(replays.map(({ status }) => status))}; large ${large.status}`,
    failures: failedExpectations([
      [refused.every(({ status }) => status >= 400 && status < 500), "a wrong token was not refused"],
      [suppressedEarly === 0, "somebody was unsubscribed without a POST of a complete token"],
      [
        replays.every(({ status }) => status === 200 || status === 429),
        "a replay was not answered like the first time",
      ],
      [replays.some(({ status }) => status === 200), "nobody was unsubscribed"],
      [ofMine === 1 && ofTheirs === 0, `${ofMine} suppressions of the account, ${ofTheirs} of the other`],
      [answers.every((status) => status < 500), "an answer is an internal error"],
    ]),
  }
}

/**
 * Generates tokens that were never issued. None is an upper-case copy, because mail systems may change the case and
 * such a token is valid.
 */
function* forged(good: string, other: string, count: number, dice: Attack["dice"]): Generator<string> {
  const [id = "", tag = ""] = good.split("-")
  const [otherId = "", otherTag = ""] = other.split("-")
  yield `${id}-${otherTag}`
  yield `${otherId}-${tag}`
  yield* [id, `${id}-`, `-${tag}`, tag, "-", "%00", `${good}%00`, `${good}%0d%0aX-A:b`, `..%2f..%2fhealthz`, `${good}0`]
  yield* [`${good}-${tag}`, `%20${good}`, `${good}%20`, "x".repeat(8_000), "%".repeat(500), `msg_${good}`]
  for (let length = 1; length < good.length; length += 5) yield good.slice(0, length)
  for (let nth = 0; nth < count; nth++) {
    const at = dice.below(good.length)
    const letter = dice.pick([...ALPHABET])
    const changed = good.slice(0, at) + letter + good.slice(at + 1)
    if (changed !== good) yield changed
  }
}

interface RequestParts {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const requestOverTls = (port: number, method: string, path: string, { body, headers = {} }: RequestParts) =>
  new Promise<{ readonly status: number }>((resolve) => {
    const sent = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }
    const options = { host: "127.0.0.1", port, servername: "localhost", ca: CA, method, path, agent: false as const }
    const request = https.request({ ...options, headers: { ...sent, ...headers } }, (response) => {
      response.resume()
      response.on("close", () => resolve({ status: response.statusCode ?? 0 }))
    })
    // A closed connection counts as a refusal: the proxy closes where the service does.
    request.on("error", () => resolve({ status: 499 }))
    request.end(body)
  })

/** Starts a proxy that terminates TLS and forwards requests to the service. */
const tlsProxy = async () => {
  let endpoint: Endpoint | undefined
  const server = https.createServer(CERTIFICATE, (request, response) => {
    const headers = { ...request.headers, "x-forwarded-for": request.socket.remoteAddress ?? "" }
    const { method, url: path } = request
    const forward = http.request({ ...endpoint, method, path, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    forward.on("error", () => response.destroy())
    request.pipe(forward)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    port: (server.address() as AddressInfo).port,
    forwardTo: (to: Endpoint) => void (endpoint = to),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
