/** A client that a generator writes from the OpenAPI document, and a program that sends a mail with it. */
export interface Client {
  readonly name: string
  /** Command of the generator, relative to the installed packages; it reads `../openapi.json`. */
  readonly command: ReadonlyArray<string>
  readonly config?: { readonly file: string; readonly text: string }
  /** TypeScript that prints a `Sent` as JSON. */
  readonly program: string
}

export interface Sent {
  readonly id: string
  /** Subject of the message in the log. */
  readonly subject: string
  /** Number of messages in a list of at most 5. */
  readonly listed: number
  /** Reason for which a message from another domain was refused. */
  readonly reason: string
}

const HEY_API = `export default {
  input: "../openapi.json",
  output: "generated",
  plugins: [
    "@hey-api/typescript",
    "@hey-api/client-fetch",
    { name: "@hey-api/sdk", validator: true },
    { name: "zod", dates: { offset: true } },
  ],
}
`

export const CLIENTS: ReadonlyArray<Client> = [
  {
    name: "openapi-typescript",
    command: ["openapi-typescript/bin/cli.js", "../openapi.json", "--output", "generated/schema.ts"],
    program: `
import createClient from "openapi-fetch"
import type { paths } from "./generated/schema.js"
import { email, headers, stranger, url } from "./service.js"

const client = createClient<paths>({ baseUrl: url, headers })
const { data, error } = await client.POST("/v1/email/send", { body: email })
if (error !== undefined) throw new Error(error.error.message)
const id: string = data.id
const time: string = data.created_at
const log = await client.GET("/v1/email/logs/{id}", { params: { path: { id } } })
const list = await client.GET("/v1/email/logs", { params: { query: { limit: 5, status: "queued" } } })
const refused = await client.POST("/v1/email/send", { body: { ...email, from: stranger } })
const domains = [
  () => client.POST("/v1/domains", { body: { name: "a.test" } }),
  // @ts-expect-error one of the two names is required
  () => client.POST("/v1/domains", { body: {} }),
]
const [subject, listed, reason] = [log.data?.subject, list.data?.data.length, refused.error?.error.reason]
console.log(JSON.stringify({ id, subject, listed, reason, time, domains: domains.length }))
`,
  },
  {
    name: "@hey-api/openapi-ts with zod",
    command: ["@hey-api/openapi-ts/bin/run.js", "--file", "openapi-ts.config.mjs"],
    config: { file: "openapi-ts.config.mjs", text: HEY_API },
    program: `
import { client } from "./generated/client.gen.js"
import { domainsAdd, emailsSend, logsGet, logsList } from "./generated/index.js"
import { zEmailLogWithContent, zEmailMessage } from "./generated/zod.gen.js"
import { email, key, stranger, url } from "./service.js"

client.setConfig({ baseUrl: url, auth: key })
const { data } = await emailsSend({ body: zEmailMessage.parse(email), throwOnError: true })
const id: string = data.id
const time: string = data.created_at
const log = await logsGet({ path: { id }, throwOnError: true })
zEmailMessage.parse({ ...email, scheduled_at: "2026-11-21T10:00:00+01:00" })
const { subject } = zEmailLogWithContent.parse(log.data)
const list = await logsList({ query: { limit: 5, status: "queued" }, throwOnError: true })
const refused = await emailsSend({ body: { ...email, from: stranger } })
const domains = [
  () => domainsAdd({ body: { name: "a.test" } }),
  // @ts-expect-error one of the two names is required
  () => domainsAdd({ body: {} }),
]
const [listed, reason] = [list.data.data.length, refused.error?.error.reason]
console.log(JSON.stringify({ id, subject, listed, reason, time, domains: domains.length }))
`,
  },
  {
    name: "orval with axios",
    command: [
      "orval/dist/bin/orval.mjs",
      "--input",
      "../openapi.json",
      "--output",
      "generated/api.ts",
      "--client",
      "axios",
    ],
    program: `
import axios from "axios"
import { type Error as Refusal, getWaybill } from "./generated/api.js"
import { email, headers, stranger, url } from "./service.js"

const waybill = getWaybill(axios.create({ baseURL: url, headers }))
const { data } = await waybill.emailsSend(email)
const id: string = data.id
const time: string = data.created_at
const log = await waybill.logsGet(id)
const list = await waybill.logsList({ limit: 5, status: "queued" })
const refused = await waybill.emailsSend({ ...email, from: stranger }).catch((error: unknown) => error)
if (!axios.isAxiosError<Refusal>(refused)) throw new Error("was not refused")
const domains = [
  () => waybill.domainsAdd({ name: "a.test" }),
  // @ts-expect-error one of the two names is required
  () => waybill.domainsAdd({}),
]
const [subject, listed, reason] = [log.data.subject, list.data.data.length, refused.response?.data.error.reason]
console.log(JSON.stringify({ id, subject, listed, reason, time, domains: domains.length }))
`,
  },
  {
    name: "orval with zod",
    command: [
      "orval/dist/bin/orval.mjs",
      "--input",
      "../openapi.json",
      "--output",
      "generated/api.ts",
      "--client",
      "zod",
    ],
    program: `
import * as api from "./generated/api.js"
import { email, headers, stranger, url } from "./service.js"

const call = async (path: string, body?: object): Promise<any> => {
  const post = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }
  const response = await fetch(url + path, { headers: { ...headers, "content-type": "application/json" }, ...post })
  return response.json()
}
const sent = api.EmailsSendResponse.parse(await call("/v1/email/send", api.EmailsSendBody.parse(email)))
const id: string = sent.id
const time: string = sent.created_at
api.EmailsSendBody.parse({ ...email, scheduled_at: "2026-11-21T10:00:00+01:00" })
const { subject } = api.LogsGetResponse.parse(await call("/v1/email/logs/" + id))
const query = api.LogsListQueryParams.parse({ limit: 5, status: "queued" })
const path = "/v1/email/logs?limit=" + query.limit + "&status=" + query.status
const listed = api.LogsListResponse.parse(await call(path)).data.length
const refused = await call("/v1/email/send", api.EmailsSendBody.parse({ ...email, from: stranger }))
const domains = [{ name: "a.test" }, {}].filter((body) => api.DomainsAddBody.safeParse(body).success)
if (domains.length !== 1) throw new Error("one of the two names is required")
console.log(JSON.stringify({ id, subject, listed, reason: refused.error.reason, time }))
`,
  },
]
