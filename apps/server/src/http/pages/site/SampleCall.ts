import type { Contract } from "../reference/Contract.ts"

/** A call of an endpoint, as the samples of all languages write it. */
export interface SampleCall {
  readonly method: string
  readonly path: string
  /** Names in braces in the path, in their order. */
  readonly parts: ReadonlyArray<string>
  /** Name of the variable with the body; undefined if the endpoint takes none. */
  readonly body: string | undefined
  /** The call by the client for TypeScript, which has a method for each endpoint. */
  readonly typescript: string
}

/** The call for reasons that every endpoint has: clients have a method for it. */
export const SEND: SampleCall = {
  method: "POST",
  path: "/v1/email/send",
  parts: [],
  body: "message",
  typescript: "emails.send(message)",
}

/** Methods of the client for TypeScript that are not called as the endpoint is. */
const TYPESCRIPT: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "domains.add": "domains.add(name)",
    "emails.reschedule": "emails.reschedule(id, scheduledAt)",
    "events.stream": "events.stream().next()",
    "inbound.forward": "inbound.forward(id, to)",
    "inbound.thread": "threads.get(id)",
    "members.changeRole": "members.changeRole(id, role)",
  }),
)

/** Returns the call of an endpoint such as `POST /v1/domains`; undefined if the contract does not have it. */
export const callOf = ({ paths }: Pick<Contract, "paths">, endpoint: string): SampleCall | undefined => {
  const [method = "", path = ""] = endpoint.split(" ")
  const operation = paths[path]?.[method.toLowerCase()]
  if (operation === undefined) return undefined
  if (path === SEND.path) return SEND
  const parts = [...path.matchAll(/\{(\w+)\}/gu)].map(([, name = ""]) => name)
  const body = operation.requestBody === undefined ? undefined : "body"
  const named = operation.operationId.replace(/^inboundRoutes\./u, "inbound.routes.")
  const given = [...parts.map(camel), ...(body === undefined ? [] : [body])].join(", ")
  return { method, path, parts, body, typescript: TYPESCRIPT.get(operation.operationId) ?? `${named}(${given})` }
}

/** Writes a name of the API as names are written in TypeScript, Go and PHP. */
export const camel = (name: string): string => name.replaceAll(/_(\w)/gu, (_, first: string) => first.toUpperCase())
