import { Result, Schema } from "effect"
import * as Refusal from "../values/Refusal.ts"
import * as Network from "../values/Network.ts"
import * as SpecialNetworks from "../values/SpecialNetworks.ts"
import * as Text from "../values/Text.ts"

export const MAX_URL_CHARS = 2048

/** The setting that allows private networks for webhooks, also over plain http. Refusals name it. */
export const ALLOW_SETTING = "WEBHOOK_ALLOW_NETWORKS"

/** Stands for the password in the URL of a webhook wherever it is kept or shown. The password itself is sealed. */
export const HIDDEN = "****"

/** An absolute http or https URL without a fragment, in the canonical form of the URL standard. It may have a user. */
export const WebhookUrl = Schema.String.check(Schema.isPattern(/^https?:\/\/[!-~]+$/u))
  .pipe(Schema.brand("WebhookUrl"))
  .annotate({ identifier: "WebhookUrl" })
export type WebhookUrl = typeof WebhookUrl.Type

/** Checks what the text alone decides. `1.2.3` and `0x7f000001` become the IP addresses that they stand for. */
export const parse: Text.Parse<WebhookUrl> = (text) => {
  if (text.length > MAX_URL_CHARS)
    return Result.fail(`is ${text.length} characters; at most ${MAX_URL_CHARS} are allowed`)
  if (Text.hasControl(text)) return Result.fail("must not contain control characters")
  const url = URL.parse(text)
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:"))
    return Result.fail("must be an https or http URL")
  if ((url.username === "") !== (url.password === ""))
    return Result.fail("must have a user name and a password, or neither")
  const user = decoded(url.username)
  if (user === undefined || decoded(url.password) === undefined || user.includes(":"))
    return Result.fail("must have a user name and a password that can be sent, the name without a colon")
  if (url.hash !== "") return Result.fail("must not contain a fragment")
  if (url.port === "0") return Result.fail("must not use port 0")
  return Result.succeed(url.href as WebhookUrl)
}

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** A user name and a password, decoded. */
export interface Login {
  readonly username: string
  readonly password: string
}

/** Returns the login in a URL; undefined if it has none. */
export const loginOf = (url: string): Login | undefined => {
  const { password, username } = new URL(url)
  return password === ""
    ? undefined
    : { username: decodeURIComponent(username), password: decodeURIComponent(password) }
}

/** Returns the URL with its password hidden. */
export const hidden = (url: WebhookUrl): WebhookUrl => {
  if (loginOf(url) === undefined) return url
  const shown = new URL(url)
  shown.password = HIDDEN
  return shown.href as WebhookUrl
}

/** Whether a URL has a login that goes to the same place as that of another. */
export const isSameLogin = (one: WebhookUrl, other: WebhookUrl): boolean => {
  const [a, b] = [new URL(one), new URL(other)]
  return a.origin === b.origin && a.username === b.username
}

export const FromText = Text.parsed(
  WebhookUrl,
  {
    description: `An https URL, or an http URL in a network that the operator allows (${ALLOW_SETTING})`,
    format: "uri",
    examples: ["https://example.org/hooks/waybill"],
  },
  parse,
  (url) => url,
)

export class UrlNotAllowed extends Refusal.of("UrlNotAllowed", 422, "url_not_allowed")<{
  readonly url: string
  readonly problem: string
  /** Whether the URL is of the machine that the service runs on. */
  readonly local?: boolean
}> {
  override get message() {
    const refused = `${this.url} is not allowed: ${this.problem}. An operator can allow a network with ${ALLOW_SETTING}.`
    return this.local === true
      ? `${refused} While you develop, \`waybill listen --forward-to ${this.url}\` calls it from your machine.`
      : refused
  }
}

/**
 * Checks the URL against the operator's settings when a webhook is created or changed. A host name is not resolved
 * here: every dispatch checks and pins its address, because DNS may change.
 */
export const check = (
  url: WebhookUrl,
  allowed: ReadonlyArray<Network.Network>,
): Result.Result<WebhookUrl, UrlNotAllowed> => {
  const { protocol, hostname } = new URL(url)
  const refuse = (problem: string, local = false) => Result.fail(new UrlNotAllowed({ url, problem, local }))
  const ip = ipOf(hostname)
  if (ip !== undefined && SpecialNetworks.isAllowed(allowed, ip)) return Result.succeed(url)
  if (ip !== undefined && SpecialNetworks.isSpecial(ip)) {
    const problem = `${ip} is not a public address`
    return refuse(problem, Network.contains(LOOPBACK_NETWORKS, ip))
  }
  const host = hostname.replace(/\.$/u, "")
  const local = host === "localhost" || host.endsWith(".localhost")
  if (local && !LOOPBACK.some((address) => Network.contains(allowed, address)))
    return refuse(`${host} is this machine`, true)
  if (protocol === "https:") return Result.succeed(url)
  // Over plain http, only a host name may still resolve to an allowed network.
  return ip === undefined && allowed.length > 0
    ? Result.succeed(url)
    : refuse("plain http would send the payload unencrypted. Use https")
}

const LOOPBACK = ["127.0.0.1", "::1"]
const LOOPBACK_NETWORKS = ["127.0.0.0/8", "::1"].map((text) => Network.Network.make(text))

const ipOf = (hostname: string): string | undefined => {
  const text = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname
  return Network.parseIp(text) === undefined ? undefined : text
}
