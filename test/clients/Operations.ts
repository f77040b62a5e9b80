import { readFileSync } from "node:fs"

const { paths } = JSON.parse(readFileSync(new URL("../contract/openapi.json", import.meta.url), "utf8")) as {
  readonly paths: Readonly<
    Record<string, { readonly get?: { readonly parameters?: ReadonlyArray<Readonly<Record<"in" | "name", string>>> } }>
  >
}

/** Operations of the API in the OpenAPI document, such as `GET /v1/email/logs/{id}`. */
export const documented: ReadonlyArray<string> = Object.entries(paths)
  .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
  .filter((operation) => operation.includes(" /v1/"))

/** Parameters of what is read by its id; `livemode` is for people, who have both modes. */
const OTHERS = new Set(["as_of", "inline_images", "livemode", "redact"])

/** Parameters of the lists in the OpenAPI document, by path. */
export const queries: Readonly<Record<string, ReadonlyArray<string>>> = Object.fromEntries(
  Object.entries(paths)
    .map(([path, { get }]) => {
      const parameters = get?.parameters?.filter((each) => each.in === "query" && !OTHERS.has(each.name)) ?? []
      return [path, parameters.map(({ name }) => name)] as const
    })
    .filter(([, parameters]) => parameters.length > 0),
)

const leftOut = (reason: string, ...operations: ReadonlyArray<string>) =>
  Object.fromEntries(operations.map((operation) => [operation, reason]))

/** Operations for which the clients in other languages have no method, each with the reason. `request` calls them. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  ...leftOut(
    "set up once, in the dashboard or on the command line",
    "POST /v1/domains/{domain}/dkim/ed25519",
    "DELETE /v1/domains/{domain}/dkim/ed25519",
    "POST /v1/domains/{domain}/dkim/ed25519/rotate",
    "GET /v1/api-keys",
    "POST /v1/api-keys",
    "GET /v1/api-keys/{key_id}",
    "DELETE /v1/api-keys/{key_id}",
    "GET /v1/webhooks",
    "POST /v1/webhooks",
    "GET /v1/webhooks/{id}",
    "PATCH /v1/webhooks/{id}",
    "DELETE /v1/webhooks/{id}",
    "POST /v1/webhooks/{id}/rotate-secret",
    "GET /v1/members",
    "POST /v1/members",
    "PATCH /v1/members/{id}",
    "DELETE /v1/members/{id}",
    "POST /v1/members/{id}/link",
  ),
  ...leftOut(
    "read or started by people, in the dashboard",
    "GET /v1/domains/{domain}/dmarc",
    "GET /v1/domains/{domain}/tls",
    "POST /v1/webhooks/{id}/test",
    "GET /v1/webhooks/{id}/deliveries",
    "GET /v1/webhooks/{id}/deliveries/{delivery_id}",
    "POST /v1/webhooks/{id}/deliveries/{delivery_id}/replay",
    "POST /v1/webhooks/{id}/replay",
    "GET /v1/account",
    "GET /v1/session",
    "GET /v1/stats",
    "GET /v1/audit",
    "GET /v1/requests",
    "GET /v1/requests/{id}",
  ),
  ...leftOut("the same events come from GET /v1/events with `wait`", "GET /v1/events/stream"),
  ...leftOut(
    "for test suites, which @waybill/testing starts",
    "GET /v1/sandbox/messages",
    "DELETE /v1/sandbox/messages",
    "GET /v1/sandbox/messages/{id}",
    "DELETE /v1/sandbox/messages/{id}",
    "GET /v1/test/clocks",
    "POST /v1/test/clocks",
    "GET /v1/test/clocks/{id}",
    "DELETE /v1/test/clocks/{id}",
    "POST /v1/test/clocks/{id}/advance",
  ),
}

/** Returns the operation of a request, if it has one: that with the most literal path. */
export const operationOf = (method: string, path: string): string | undefined => {
  const matches = documented.filter((operation) => {
    const [verb, template = ""] = operation.split(" ")
    return verb === method && new RegExp(`^${template.replaceAll(/\{\w+\}/gu, "[^/]+")}$`, "u").test(path)
  })
  return matches.toSorted((a, b) => a.split("{").length - b.split("{").length)[0]
}
