import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Network from "@waybill/mail/dns/Network"
import * as NetworkGuard from "@waybill/mail/dns/NetworkGuard"
import * as AnswerBudget from "@waybill/mail/dns/AnswerBudget"
import { Data, Duration, Effect, Result } from "effect"
import * as http from "node:http"
import * as https from "node:https"
import { isIP } from "node:net"
import * as FairSlots from "@waybill/runtime/flow/FairSlots"
import { Instance } from "../settings/Instance.ts"
import { Admitted } from "../requests/Admitted.ts"
import { accountOf } from "../requests/accountOf.ts"
import * as Bodies from "../web/Bodies.ts"
import type { Lease } from "../web/ByteBudget.ts"

/** Maximum bytes of all files that one request has fetched. In base64 they fit a body of the default maximum size. */
export const MAX_REMOTE_BYTES = 7 * 1024 * 1024
/** Maximum number of files that one request has fetched; each may take the time below. */
export const MAX_REMOTE_FILES = 20
/** Time in which a file must arrive, redirects included; the wait for a turn does not count. */
export const REMOTE_FILE_TIMEOUT = Duration.seconds(10)
/** Maximum redirects to one file; each target is checked like the first URL. */
export const MAX_REDIRECTS = 3
/** Files that a process fetches at the same time. */
export const MAX_CONCURRENT_FETCHES = 16
/** Files that a process fetches at the same time for one account; a quarter, so that slow files hold up their own account only. */
export const MAX_FETCHES_PER_ACCOUNT = 4

export interface File {
  /** The bytes in base64. */
  readonly content: string
  /** Media type that the server gave. */
  readonly type: string | undefined
}

/** Bytes and files that one request may still fetch. */
export interface FetchBudget {
  bytes: number
  files: number
}

export const budget = (): FetchBudget => ({ bytes: MAX_REMOTE_BYTES, files: MAX_REMOTE_FILES })

/** Refuses a URL that needs no request to be refused. A request checks all its files before it fetches the first. */
export const check = (url: string, field: string, left: Pick<FetchBudget, "files">) =>
  Effect.suspend(() => (left.files-- > 0 ? Effect.asVoid(parsed(url)) : Effect.fail(tooMany))).pipe(at(field))

class Unfetched extends Data.TaggedError("Unfetched")<{ readonly message: string }> {}

const tooMany = new Unfetched({ message: `is one of more than ${MAX_REMOTE_FILES} files to fetch` })

const slots = FairSlots.make({ all: MAX_CONCURRENT_FETCHES, perOwner: MAX_FETCHES_PER_ACCOUNT })

/**
 * Fetches a file that a client names by a URL. Its host is resolved, checked and pinned, so that no request reaches the
 * operator's own network. `field` is the field of the request that a refusal names.
 */
export const fetch = (url: string, field: string, left: FetchBudget) =>
  Effect.suspend(() => (left.files-- > 0 ? follow(url, left, MAX_REDIRECTS) : Effect.fail(tooMany))).pipe(
    Effect.timeoutOrElse({
      duration: REMOTE_FILE_TIMEOUT,
      orElse: () =>
        Effect.fail(new Unfetched({ message: `did not arrive within ${Duration.toSeconds(REMOTE_FILE_TIMEOUT)} s` })),
    }),
    (fetching) => Effect.flatMap(Admitted, (admitted) => slots(accountOf(admitted))(fetching)),
    at(field),
  )

/** Refuses the request for the field that a file is named in. */
const at = (path: string) =>
  Effect.mapError((error: Unfetched | RequestRefusal.Overloaded) =>
    error._tag === "Overloaded"
      ? error
      : new RequestRefusal.InvalidRequest({
          reason: "validation_failed",
          details: [{ path, message: error.message }],
        }),
  )

/** Returns the last segment of a URL's path; `undefined` if it has none. */
export const nameOf = (url: string): string | undefined => {
  if (!URL.canParse(url)) return undefined
  const name = new URL(url).pathname.split("/").at(-1) ?? ""
  try {
    return name === "" ? undefined : decodeURIComponent(name)
  } catch {
    return name
  }
}

const follow = (
  text: string,
  left: FetchBudget,
  redirects: number,
): Effect.Effect<File, Unfetched | RequestRefusal.Overloaded, Requirements> =>
  Effect.gen(function* () {
    const url = yield* parsed(text)
    const address = yield* addressOf(url)
    const answer = yield* get(url, address, left, yield* Bodies.Collected)
    if (answer._tag === "File") return answer.file
    if (redirects === 0) return yield* new Unfetched({ message: `redirects more than ${MAX_REDIRECTS} times` })
    return yield* follow(new URL(answer.location, url).href, left, redirects - 1)
  })

type Requirements = Effect.Services<ReturnType<typeof addressOf>>

const parsed = (text: string) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url === undefined || !Object.hasOwn(MODULES, url.protocol) || url.username !== "" || url.password !== ""
    ? Effect.fail(new Unfetched({ message: "must be an http or https URL without a user name" }))
    : Effect.succeed(url)
}

const BASE64_GROWTH = 4 / 3

const INCOMPLETE = "ended before it was complete"

const MODULES = { "http:": http, "https:": https } as const

/** The error is the same whether DNS has no record or a private one, as it is for webhooks. */
const addressOf = Effect.fnUntraced(function* (url: URL) {
  const { attachmentNetworks } = yield* Instance
  const allowed = Result.getOrElse(Network.parseAll(attachmentNetworks), () => [])
  const refused = new Unfetched({ message: `has a host without a public address: ${url.hostname}` })
  const addresses = yield* Effect.mapError(NetworkGuard.resolvePublic(url.hostname, allowed), () => refused)
  return addresses[0] ?? (yield* refused)
})

type Fetched = { readonly _tag: "File"; readonly file: File } | { readonly _tag: "Redirect"; readonly location: string }

/** Fetches what a server answers; `collected` is the memory that the request holds. */
const get = (
  url: URL,
  address: string,
  left: FetchBudget,
  collected: Lease | undefined,
): Effect.Effect<Fetched, Unfetched | RequestRefusal.Overloaded> =>
  Effect.callback((resume) => {
    let isAnswered = false
    const end = (error: Unfetched | RequestRefusal.Overloaded) => {
      request.destroy()
      resume(Effect.fail(error))
    }
    const fail = (message: string) => end(new Unfetched({ message }))
    const host = url.hostname.replace(/^\[|\]$/gu, "")
    const options: https.RequestOptions = {
      host: address,
      ...(url.port === "" ? {} : { port: url.port }),
      path: `${url.pathname}${url.search}`,
      headers: { host: url.host, "user-agent": "Waybill" },
      agent: false,
      ...(url.protocol === "https:" ? { ...AnswerBudget.TLS_OPTIONS, servername: isIP(host) === 0 ? host : "" } : {}),
    }
    const request = MODULES[url.protocol as keyof typeof MODULES].request(options, (response) => {
      const { headers, statusCode = 0 } = response
      if (
        statusCode >= 300 &&
        statusCode < 400 &&
        headers.location !== undefined &&
        URL.canParse(headers.location, url)
      ) {
        request.destroy()
        return resume(Effect.succeed({ _tag: "Redirect", location: headers.location }))
      }
      if (statusCode !== 200) return fail(`was answered with the status ${statusCode}`)
      isAnswered = true
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => {
        left.bytes -= chunk.length
        if (left.bytes < 0) return fail(`is larger than ${MAX_REMOTE_BYTES} bytes, together with the other files`)
        if (collected?.take(Math.ceil(chunk.length * BASE64_GROWTH)) === false)
          return end(new RequestRefusal.Overloaded({ budget: "request_bodies" }))
        chunks.push(chunk)
      })
      response.on("error", () => fail(INCOMPLETE))
      response.on("end", () => {
        const type = headers["content-type"]?.split(";", 1)[0]?.trim()
        const content = Buffer.concat(chunks).toString("base64")
        resume(Effect.succeed({ _tag: "File", file: { content, type } }))
      })
    })
    AnswerBudget.watch(request, 2 * MAX_REMOTE_BYTES, fail)
    request.on("error", () => fail("could not be fetched"))
    request.on("close", () => fail(isAnswered ? INCOMPLETE : "was not answered"))
    request.end()
    return Effect.sync(() => request.destroy())
  })
