import * as Table from "@waybill/domain/values/Table"
import { type Contract, type ApiEndpoint, resolve } from "./Contract.ts"
import * as Examples from "./Examples.ts"

/** An example of a call of an endpoint, which the samples of all languages write. */
export interface SampleCall {
  readonly method: string
  readonly path: string
  /** Values of the names in braces in the path, in their order. */
  readonly parts: ReadonlyArray<string | number>
  readonly query: Readonly<Record<string, unknown>>
  readonly body: unknown
  readonly hasKey: boolean
  /** Names of the method in the clients, such as `inbound`, `routes`, `list`. */
  readonly names: ReadonlyArray<string>
  /** Arguments of the method after the parts of the path. */
  readonly rest: ReadonlyArray<unknown>
}

/** Operations whose method has another name in the clients. */
const RENAMED: Readonly<Record<string, string>> = { "inbound.thread": "threads.get", "members.session": "session.get" }
/** Operations whose method takes the first value of the body instead of the body. */
const UNWRAPPED: ReadonlySet<string> = new Set([
  "domains.add",
  "emails.reschedule",
  "emails.sendBatch",
  "inbound.forward",
  "members.changeRole",
  "templates.rollback",
])

/** Returns an example of a call: the body that the contract shows, what the query requires, and the size of a page. */
export const sampleCall = (contract: Contract, { method, operation, path }: ApiEndpoint): SampleCall => {
  const { operationId, parameters = [], requestBody, security = [] } = operation
  const parts = parameters
    .filter((each) => each.in === "path")
    .map(({ name, schema }) => Examples.partOf(contract, schema, name))
  const paged = parameters.filter((each) => each.in === "query" && (each.required === true || each.name === "limit"))
  const query = Object.fromEntries(
    paged.map(({ name, schema }) => [name, resolve(contract, schema).default ?? Examples.of(contract, schema, name)]),
  )
  const body = requestBody?.content["application/json"]?.example
  const given: unknown = UNWRAPPED.has(operationId) ? Object.values(body ?? {})[0] : body
  const name = Table.at(RENAMED, operationId) ?? operationId.replace(/^inboundRoutes\./u, "inbound.routes.")
  return {
    method,
    path,
    parts,
    query,
    body,
    hasKey: security.length > 0,
    names: name.split("."),
    rest: [...(given === undefined ? [] : [given]), ...(paged.length === 0 ? [] : [query])],
  }
}

/** Returns the call of an endpoint such as `POST /v1/domains`; undefined if the contract does not have it. */
export const callOf = (contract: Contract, endpoint: string): SampleCall | undefined => {
  const [method = "", path = ""] = endpoint.split(" ")
  const operation = contract.paths[path]?.[method.toLowerCase()]
  return operation === undefined ? undefined : sampleCall(contract, { method, path, operation })
}
