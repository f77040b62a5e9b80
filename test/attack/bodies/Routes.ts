import { Api } from "@waybill/api/Api"
import * as Operate from "@waybill/api/groups/Operate"
import * as SavedView from "@waybill/api/schemas/SavedView"
import { Schema } from "effect"
import { OpenApi } from "effect/http-api"
import * as Doors from "../../../apps/server/src/compat/doors/Doors.ts"
import * as SignInEndpoints from "../../../apps/server/src/signIn/Endpoints.ts"
import { PATH as SIGN_IN } from "../../../apps/server/src/signIn/Options.ts"

/** A node of a JSON schema. */
export interface Node {
  readonly $ref?: string
  readonly type?: string
  readonly anyOf?: ReadonlyArray<Node>
  readonly oneOf?: ReadonlyArray<Node>
  readonly allOf?: ReadonlyArray<Node>
  readonly items?: Node | false
  readonly properties?: Readonly<Record<string, Node>>
  readonly additionalProperties?: Node | boolean
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly maxLength?: number
  readonly enum?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly examples?: ReadonlyArray<unknown>
  readonly pattern?: string
}

/** A schema together with what it refers to. */
export interface Body {
  readonly schema: Node
  readonly definitions: Readonly<Record<string, Node>>
}

/** A way into the service that an attacker can send a request to. */
export interface Route {
  readonly method: string
  /** The path with parameters that name nothing. */
  readonly path: string
  /** The body that it takes; undefined if it takes none. */
  readonly body: Body | undefined
  readonly query: ReadonlyArray<string>
  /** Caller that may use it: a key of a customer, one of test mode, the operator in a browser, or everybody. */
  readonly caller: "key" | "test key" | "operator" | "everybody"
  /** Scope that a key needs; undefined if any key will do. */
  readonly scope?: string | undefined
  readonly source: "contract" | "door" | "dashboard" | "sign-in" | "other"
}

interface Operation {
  readonly description?: string
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string }>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Node }>> }
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Node>> }
}

const ULID = "0".repeat(26)
/** Values of the parameters of paths, by their name in the path. */
const PARAMETERS: readonly (readonly [path: RegExp, value: string])[] = [
  [/^\/v1\/email\/.*\{id\}/u, `msg_${ULID}`],
  [/^\/v1\/sandbox\/.*\{id\}/u, `msg_${ULID}`],
  [/^\/v1\/webhooks\/.*\{id\}/u, `whk_${ULID}`],
  [/^\/v1\/members\/.*\{id\}/u, `usr_${ULID}`],
  [/^\/v1\/requests\/.*\{id\}/u, `req_${ULID}`],
  [/^\/v1\/test\/clocks\/.*\{id\}/u, `clk_${ULID}`],
]

const filled = (path: string): string =>
  path
    .replaceAll("{id}", PARAMETERS.find(([pattern]) => pattern.test(path))?.[1] ?? "x")
    .replaceAll("{domain}", "nowhere.test")
    .replaceAll("{key_id}", `key_${ULID}`)
    .replaceAll("{delivery_id}", `whd_${ULID}`)
    .replaceAll("{email}", "ana@example.org")

/** The endpoints of the API, from the document that clients get. */
const ofContract = (): ReadonlyArray<Route> => {
  const { components, paths } = OpenApi.fromApi(Api) as unknown as Document
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { description = "", parameters = [], requestBody }]): Route => {
      const schema = requestBody?.content["application/json"]?.schema
      const scope = /Scope: `([a-z:]+)`/u.exec(description)?.[1]
      return {
        method: method.toUpperCase(),
        path: filled(path),
        body: schema === undefined ? undefined : { schema, definitions: components.schemas },
        query: parameters.flatMap(({ in: place, name }) => (place === "query" ? [name] : [])),
        caller: path.startsWith("/v1/test/") ? "test key" : path.startsWith("/v1/") ? "key" : "everybody",
        scope,
        source: "contract",
      }
    }),
  )
}

const bodyOf = (schema: Schema.Top): Body => {
  const document = Schema.toJsonSchemaDocument(schema)
  return { schema: document.schema as Node, definitions: document.definitions as Readonly<Record<string, Node>> }
}

/** A door of another service, with the routes that it lists. */
interface ListedDoor {
  readonly prefix: string
  readonly routes?: ReadonlyArray<{
    readonly method: string
    readonly path: string
    readonly query?: ReadonlyArray<string>
    readonly body?: Schema.Top
  }>
}

export const doors: ReadonlyArray<ListedDoor> = Object.values(Doors.NAMED)

const ofDoors = (): ReadonlyArray<Route> =>
  doors.flatMap(({ prefix, routes = [] }) =>
    routes.map(({ body, method, path, query = [] }): Route => ({
      method,
      path: `${prefix}${path.replaceAll(/:[a-z_]+/giu, ULID)}`,
      body: body === undefined ? undefined : bodyOf(body),
      query,
      caller: "key",
      source: "door",
    })),
  )

const ofSignIn = (): ReadonlyArray<Route> =>
  Object.entries({ ...SignInEndpoints.ALWAYS, ...SignInEndpoints.WITH_PROVIDER }).map(
    ([name, { body, query }]): Route => {
      const [method = "", path = ""] = name.split(" ")
      return {
        method,
        path: `${SIGN_IN}${path}`,
        body: body === undefined ? undefined : bodyOf(body),
        query: query === undefined ? [] : Object.keys(bodyOf(query).schema.properties ?? {}),
        caller: "everybody",
        source: "sign-in",
      }
    },
  )

const operatorRoute = (method: string, path: string, schema: Schema.Top): Route => ({
  method,
  path,
  body: bodyOf(schema),
  query: [],
  caller: "operator",
  source: "dashboard",
})

/** The routes of the dashboard that change something. */
const OF_DASHBOARD: ReadonlyArray<Route> = [
  operatorRoute("POST", `${Operate.PREFIX}/accounts`, Operate.NewAccount),
  operatorRoute("PATCH", `${Operate.PREFIX}/accounts/acc_${ULID}`, Operate.AccountChange),
  operatorRoute("POST", `${Operate.PREFIX}/projections/NONE/rebuild`, Operate.Nothing),
  operatorRoute("POST", `${Operate.PREFIX}/projections/NONE/verify`, Operate.Nothing),
  operatorRoute("POST", `${Operate.PREFIX}/projections/NONE/swap`, Operate.Swap),
  operatorRoute("POST", SavedView.PATH, SavedView.SavedView),
  { ...operatorRoute("DELETE", `${SavedView.PATH}/none`, Operate.Nothing), body: undefined },
]

/** Routes without a schema: their bodies are read in ways of their own, or not at all. */
const OTHERS: ReadonlyArray<Route> = [
  `/hooks/sendgrid/${"x".repeat(43)}`,
  `/hooks/sparkpost/${"x".repeat(43)}/access`,
  `/unsubscribe/${"x".repeat(43)}`,
].map((path): Route => ({ method: "POST", path, body: undefined, query: [], caller: "everybody", source: "other" }))

/** All ways into the service over HTTP. */
export const all = (): ReadonlyArray<Route> => [
  ...ofContract(),
  ...ofDoors(),
  ...OF_DASHBOARD,
  ...ofSignIn(),
  ...OTHERS,
]
