import { localhostAllowedHostnames, validateHostHeader, validateOriginHeader } from "@modelcontextprotocol/server"
import { createHash, timingSafeEqual } from "node:crypto"

/** Path of the endpoint. */
export const PATH = "/mcp"

export interface Guard {
  /** The token that every request needs. */
  readonly token: string
  /** Host names, besides those of this machine, by which clients call the server. */
  readonly hosts: ReadonlyArray<string>
}

/**
 * Returns the refusal of a request that may not reach a tool. The host and the origin are checked, because a web page can
 * call a server of this machine under a name of its own (DNS rebinding); the token, because other users of this machine
 * can call it as well.
 */
export const refusalOf = (request: Request, { hosts, token }: Guard): Response | undefined => {
  const names = [...localhostAllowedHostnames(), ...hosts]
  if (!validateHostHeader(request.headers.get("host"), names).ok)
    return refuse(403, "The host is not one of this server. Start it with --allow-host to add a name.")
  if (!validateOriginHeader(request.headers.get("origin"), names).ok)
    return refuse(403, "Web pages of this origin may not call this server.")
  if (new URL(request.url).pathname !== PATH) return refuse(404, `The endpoint is ${PATH}.`)
  if (!isToken(request.headers.get("authorization"), token))
    return refuse(401, "The token is missing or wrong. Send it as `Authorization: Bearer …`.")
  return undefined
}

/** Returns a refusal in the form of the protocol. */
export const refuse = (status: number, message: string): Response =>
  Response.json(
    { jsonrpc: "2.0", id: null, error: { code: -32_000, message } },
    { status, ...(status === 401 ? { headers: { "www-authenticate": "Bearer" } } : {}) },
  )

/** Compares hashes in constant time, which have the same length whatever was sent. */
export const isToken = (header: string | null | undefined, token: string): boolean =>
  timingSafeEqual(hashed(header ?? ""), hashed(`Bearer ${token}`))

const hashed = (text: string): Buffer => createHash("sha256").update(text).digest()
