import type * as RateLimit from "@waybill/domain/account/RateLimit"
import type { Refusal } from "@waybill/domain/values/Refusal"
import * as AttachmentLink from "@waybill/mail/tokens/AttachmentLink"
import { Result } from "effect"
import { type CompatHosts, DOOR_NAMES, type DoorName } from "../../settings/CompatHosts.ts"
import type { Door, RouteMatch, Trial } from "../Door.ts"
import * as Postmark from "./Postmark.ts"
import * as Resend from "./Resend.ts"
import * as SendGrid from "./SendGrid.ts"

export const NAMED: Readonly<Record<DoorName, Door>> = {
  resend: Resend.door,
  postmark: Postmark.door,
  sendgrid: SendGrid.door,
}

/** A request that came through a door. */
export interface Entrance {
  readonly door: Door
  /** The path below the door as it was sent, percent-encoded, such as `/emails`. */
  readonly path: string
  readonly match: Result.Result<RouteMatch, Refusal>
}

/** The rate window that a request counts in. */
export const bucketOf = ({ match }: Entrance): RateLimit.Bucket =>
  Result.isSuccess(match) ? match.success.route.bucket : "other"

/** Returns the check of a request with the service's public test key; `undefined` for other requests, which need a key. */
export const trialOf = ({ door, match }: Entrance, headers: Request["headers"]): Trial | undefined =>
  Result.isSuccess(match) && door.isTrial(headers) ? match.success.route.trial : undefined

interface Request {
  readonly method: string
  readonly headers: Readonly<Record<string, string | undefined>>
}

/**
 * Returns the door that a request came through; `undefined` for Waybill's own paths. Programs join an address and a path in
 * several ways, so doubled, missing and closing slashes mean the same, and so does a path that took the place of the name.
 */
export const entranceOf = (encodedPath: string, request: Request, hosts: CompatHosts): Entrance | undefined => {
  const host = hosts.size === 0 ? undefined : hosts.get(hostOf(request))
  // Links to files lead to the host that was asked.
  if (host !== undefined && !encodedPath.startsWith(AttachmentLink.PATH))
    return entrance(NAMED[host], encodedPath, request)
  const path = tidy(encodedPath)
  if (path.startsWith("/v1/")) return undefined
  if (!path.startsWith(COMPAT)) return atRoot(path, request)
  const below = path.slice(COMPAT.length)
  const name = DOOR_NAMES.find((each) => below.startsWith(each))
  return name === undefined ? atRoot(`/${below}`, request) : entrance(NAMED[name], below.slice(name.length), request)
}

const COMPAT = "/compat/"

/**
 * The doors at the root: SendGrid's paths have a version, Postmark's requests a header, and Resend's are at `/emails`, which
 * is a page of the dashboard too, but not for a program with a key. A proxy may ask browsers for a password (Basic). Old
 * clients of Resend send to `/email`.
 */
const atRoot = (path: string, request: Request): Entrance | undefined => {
  const { headers, method } = request
  const [, first] = path.split("/", 2)
  if (first === "v3") return SendGrid.door.isKnown(path) ? entrance(SendGrid.door, path, request) : undefined
  if (headers["x-postmark-server-token"] !== undefined) return entrance(Postmark.door, path, request)
  const isRead = method === "GET" || method === "HEAD"
  if (isRead && !/^bearer /iu.test(headers["authorization"] ?? "")) return undefined
  return first === "emails" || path === "/email" ? entrance(Resend.door, path, request) : undefined
}

const entrance = (door: Door, encodedPath: string, { method }: Request): Entrance => {
  const path = tidy(`/${encodedPath}`)
  return { door, path, match: door.find(method, path) }
}

const tidy = (path: string): string =>
  path.includes("//") || path.endsWith("/")
    ? `/${path
        .split("/")
        .filter((segment) => segment !== "")
        .join("/")}`
    : path

const hostOf = ({ headers }: Request): string => (headers["host"] ?? "").replace(/:\d+$/u, "").toLowerCase()
