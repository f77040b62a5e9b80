import { Effect } from "effect"
import * as http from "node:http"
import * as Smtp from "../smtp/support.ts"

export interface Credential {
  readonly headers: Readonly<Record<string, string>>
  /** The API key, which logs in to SMTP too. */
  readonly key?: string
}

interface Outcome {
  readonly status: number
  readonly message: string
}

/** A request that waits for something to happen. */
interface Waiting {
  readonly name: string
  readonly outcome: () => Outcome | undefined
}

/** A request or a message whose body has not arrived completely. */
interface Arriving {
  readonly name: string
  readonly finish: Effect.Effect<Outcome>
}

const messageOf = (text: string): string => {
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly message: string } }
    return error?.message ?? text
  } catch {
    return text
  }
}

/** Begins a request, and returns a promise of its response. */
const begin = (url: string, method: string, path: string, headers: Readonly<Record<string, string | number>>) => {
  const request = http.request(`${url}${path}`, { method, headers, agent: false })
  const response = new Promise<Outcome>((resolve) => {
    const end = (status: number, text: string) => resolve({ status, message: messageOf(text) })
    request.on("error", () => end(0, "the connection was closed"))
    request.on("response", (answer) => {
      let text = ""
      answer.on("data", (chunk: Buffer) => (text += chunk.toString()))
      answer.on("close", () => end(answer.statusCode ?? 0, text))
    })
  })
  return { request, response }
}

const scoped = (request: http.ClientRequest) => Effect.addFinalizer(() => Effect.sync(() => void request.destroy()))

const waiting = Effect.fnUntraced(function* (url: string, { headers }: Credential, name: string, path: string) {
  const { request, response } = begin(url, "GET", path, headers)
  let outcome: Outcome | undefined
  void response.then((answer) => (outcome = answer))
  request.end()
  yield* scoped(request)
  return { name, outcome: () => outcome } satisfies Waiting
})

const arriving = Effect.fnUntraced(function* (
  url: string,
  { headers }: Credential,
  [method, path, body]: readonly [method: string, path: string, body: object],
) {
  const text = JSON.stringify(body)
  const { request, response } = begin(url, method, path, {
    ...headers,
    "content-type": "application/json",
    "content-length": text.length,
  })
  request.write(text.slice(0, 10))
  yield* scoped(request)
  const finish = Effect.promise(() => {
    request.end(text.slice(10))
    return response
  })
  return { name: `${method} ${path}`, finish } satisfies Arriving
})

const replied = (reply: string): Outcome => ({
  // The status of the same refusal over HTTP.
  status: reply.startsWith("535 ") ? 401 : reply.startsWith("250 ") ? 200 : 0,
  message: reply.replace(/^535 5\.7\.8 api_key_invalid: /u, ""),
})

const FROM = "MAIL FROM:<hi@acme.test>"

/** A session that has logged in, and one whose message is arriving. */
const submissions = Effect.fnUntraced(function* (port: number, key: string) {
  const [idle, sending] = [yield* Smtp.raw(port), yield* Smtp.raw(port)]
  const said = yield* Effect.promise(() =>
    Promise.all([
      idle.all(["EHLO x", Smtp.plain(key)]),
      sending.all(["EHLO x", Smtp.plain(key), FROM, "RCPT TO:<ana@example.org>", "DATA"]),
    ]),
  )
  if (!said[1]?.at(-1)?.startsWith("354 ")) throw new Error(said.flat().join("\n"))
  sending.write("From: hi@acme.test\r\nTo: ana@example.org\r\nSubject: late\r\n")
  return [
    {
      name: "MAIL",
      finish: Effect.map(
        Effect.promise(() => idle.say(FROM)),
        replied,
      ),
    },
    {
      name: "DATA",
      finish: Effect.map(
        Effect.promise(() => sending.say("\r\nHi\r\n.")),
        replied,
      ),
    },
  ] satisfies ReadonlyArray<Arriving>
})

let domains = 0

/** Begins work of every kind on a node. */
export const underWay = Effect.fnUntraced(function* (
  { smtpPort, url }: { readonly url: string; readonly smtpPort: number },
  credential: Credential,
) {
  // The first request of a session loads the sign-in library; the others are then admitted within milliseconds.
  const { request, response } = begin(url, "GET", "/v1/account", credential.headers)
  request.end()
  const { status } = yield* Effect.promise(() => response)
  if (status !== 200) throw new Error(`GET /v1/account: ${status}`)
  const mail = { from: "Acme <hi@acme.test>", to: "ana@example.org", subject: "late", text: "Hi" }
  const bodies = [
    ["POST", "/v1/email/send", mail],
    ["POST", "/v1/email/send/batch", { emails: [mail] }],
    ["POST", "/v1/domains", { name: `late${domains++}.test` }],
  ] as const
  return {
    waiting: yield* Effect.forEach(
      [
        ["event stream", "/v1/events/stream"],
        ["wait for events", "/v1/events?types=email.clicked&wait=20s"],
        ["wait for captured mail", "/v1/sandbox/messages?to=nobody@example.org&wait=60s"],
      ] as const,
      ([name, path]) => waiting(url, credential, name, path),
    ),
    arriving: [
      ...(yield* Effect.forEach(bodies, (body) => arriving(url, credential, body))),
      ...(credential.key === undefined ? [] : yield* submissions(smtpPort, credential.key)),
    ],
  }
})
