import { type Contract, type ApiEndpoint, type Group, groupsOf, type Operation } from "./Contract.ts"
import * as Clients from "./Clients.ts"
import { codePanel } from "./codePanel.ts"
import * as Examples from "./Examples.ts"
import * as Fields from "./Fields.ts"
import * as Html from "./Html.ts"
import * as Literal from "@waybill/api/Literal"
import { pageShell } from "./pageShell.ts"
import { sampleCall } from "./SampleCall.ts"

/** A reason for which an endpoint refuses a request. */
export interface ErrorReason {
  readonly reason: string
  readonly status: number
  /** The endpoint, such as `POST /v1/domains`; `any` for one of all endpoints. */
  readonly from: string
  /** When it comes, as HTML. */
  readonly html: string
}

const titleOf = ({ operation }: ApiEndpoint): string => operation.summary ?? operation.operationId
const idOf = ({ operation }: ApiEndpoint): string => Html.anchor(operation.operationId)
export const addressOf = (tag: string): string => `/docs/api/${Html.anchor(tag)}`

/** Returns the first page of the reference: what all endpoints share, and the list of them. */
export const overviewPage = (contract: Contract): string => {
  const groups = groupsOf(contract)
  const { description = "", summary = "", title } = contract.info
  return pageShell({
    title: "API reference",
    navigation: navigation(groups),
    isReference: true,
    content: `<h1>${Html.escaped(title)} API reference</h1>
<p>${Html.prose(summary)}.</p>
<h2 id="authorization">Authorization</h2>
<p>Send an API key as a Bearer token with every request: <code>Authorization: Bearer &lt;API key&gt;</code>. Keys are created
in the dashboard under API keys, and begin with <code>wb_</code>. Keep them out of browsers and out of version control.
<a href="/docs/api-keys">Scopes, test keys and limits of a key</a>.</p>
<h2 id="conventions">Conventions</h2>
<p>${Html.prose(description)}</p>
<ul>
<li>Lists answer <code>data</code>, <code>has_more</code> and <code>next_cursor</code>; the next page is <code>?after=</code>
that cursor.</li>
<li>A request with an <code>Idempotency-Key</code> is carried out once, however often it is sent.</li>
<li>Every refusal has a <code>reason</code> with a page of its own: <a href="/docs/errors">all errors</a>.</li>
<li><a href="/docs/limits">Limits</a>, <a href="/docs/events">events</a>, <a href="/docs/start#choose-a-client">clients</a>, and the
<a href="/openapi.json">OpenAPI document</a> for code generators.</li>
</ul>
${groups.map(listOf).join("\n")}`,
  })
}

/** Returns the page of a group: each endpoint with its fields, and samples and the response beside them. */
export const groupPage = (contract: Contract, group: Group, reasons: ReadonlyArray<ErrorReason>): string => {
  const { description = "", endpoints, name } = group
  const own = reasons.filter((reason) => endpoints.some((endpoint) => isOf(reason, endpoint)))
  return pageShell({
    title: `${name} API`,
    navigation: navigation(groupsOf(contract), group),
    isReference: true,
    content: `<h1>${Html.escaped(name)}</h1>
<p>${Html.prose(description)}</p>
<ul class="endpoints panel">${endpoints.map((endpoint) => itemOf(endpoint, `#${idOf(endpoint)}`)).join("\n")}</ul>
${endpoints.map((endpoint) => articleOf(contract, endpoint, own)).join("\n")}
<h2 id="errors">Errors of ${Html.escaped(name.toLowerCase())}</h2>
<dl>${own.map(({ html, reason, status }) => `<dt>${reasonOf(reason)} <span>${status}</span></dt><dd>${html}</dd>`).join("\n")}</dl>
<p>Any request may also be refused for <a href="/docs/errors#requests-and-keys">what is wrong with it or its key</a>.</p>`,
  })
}

/** Whether an endpoint refuses requests for a reason: that of an example, or one that its description names. */
const isOf = ({ from, reason }: ErrorReason, { method, operation, path }: ApiEndpoint): boolean =>
  from === `${method} ${path}` || operation.description?.includes(`\`${reason}\``) === true

const navigation = (groups: ReadonlyArray<Group>, current?: Group): string => {
  const items = groups.map((group) => {
    const isCurrent = group.name === current?.name
    const inside = group.endpoints.map((each) => `<li><a href="#${idOf(each)}">${Html.escaped(titleOf(each))}</a></li>`)
    const mark = isCurrent ? ' aria-current="page"' : ""
    return `<li><a href="${addressOf(group.name)}"${mark}>${Html.escaped(group.name)}</a>${isCurrent ? `<ul>${inside.join("")}</ul>` : ""}</li>`
  })
  const overview = `<li><a href="/docs/api"${current === undefined ? ' aria-current="page"' : ""}>Overview</a></li>`
  return `<h2>API reference</h2>\n<ul>${overview}\n${items.join("\n")}</ul>`
}

const itemOf = (endpoint: ApiEndpoint, to: string, id = ""): string =>
  `<li${id}><a href="${to}">${Html.escaped(titleOf(endpoint))}</a> ${routeOf(endpoint)}</li>`

const routeOf = ({ method, path }: ApiEndpoint): string =>
  `<code class="route"><span class="method ${method.toLowerCase()}">${method}</span> ${Html.escaped(path)}</code>`

const listOf = ({ description = "", endpoints, name }: Group): string => `<section>
<h2 id="${Html.anchor(name)}"><a href="${addressOf(name)}">${Html.escaped(name)}</a></h2>
<p>${Html.prose(description)}</p>
<ul class="endpoints panel">${endpoints
  .map((endpoint) => itemOf(endpoint, `${addressOf(name)}#${idOf(endpoint)}`, ` id="${idOf(endpoint)}"`))
  .join("\n")}</ul>
</section>`

const articleOf = (contract: Contract, endpoint: ApiEndpoint, reasons: ReadonlyArray<ErrorReason>): string => {
  const { operation } = endpoint
  const own = reasons.filter((reason) => isOf(reason, endpoint))
  const id = idOf(endpoint)
  return `<article id="${id}" aria-labelledby="${id}-title">
<div>
<h2 id="${id}-title">${Html.escaped(titleOf(endpoint))}</h2>
<p>${routeOf(endpoint)}</p>
<p>${Html.prose(operation.description ?? "")}</p>
${parametersOf(contract, operation, "path", "Path")}
${bodyOf(contract, operation)}
${parametersOf(contract, operation, "query", "Query")}
${parametersOf(contract, operation, "header", "Headers")}
${responsesOf(contract, operation)}
${own.length === 0 ? "" : `<h3>Errors</h3><p>${own.map(({ reason }) => reasonOf(reason)).join(", ")}; <a href="#errors">what each means</a></p>`}
</div>
<div class="beside">
${samplesOf(contract, endpoint)}
${answerOf(contract, endpoint)}
</div>
</article>`
}

const reasonOf = (reason: string): string => `<a href="/docs/errors/${reason}"><code>${reason}</code></a>`

/** Returns the samples of all languages, of which one is shown; the first one if there is no choice. */
const samplesOf = (contract: Contract, endpoint: ApiEndpoint): string => {
  const id = `${idOf(endpoint)}-in`
  const samples = Clients.samplesOf(sampleCall(contract, endpoint))
  const languages = new Map<string, string>(Clients.LANGUAGES)
  const tabs = samples.map(([language], nth) => {
    const name = language.toLowerCase()
    return `<input type="radio" name="${id}" id="${id}-${name}" value="${name}"${nth === 0 ? " checked" : ""}><label for="${id}-${name}">${language}</label>`
  })
  const codes = samples.map(([name, code]) =>
    codePanel({ code, language: languages.get(name) ?? "", title: "", label: `${name}: ${titleOf(endpoint)}` }),
  )
  return `<div class="tabs" role="group" aria-label="Request: ${Html.escaped(titleOf(endpoint))}">${tabs.join("")}\n${codes.join("\n")}</div>`
}

const answerOf = (contract: Contract, endpoint: ApiEndpoint): string => {
  const [status = "", { content = {} } = {}] = Object.entries(endpoint.operation.responses)[0] ?? []
  const [type = "", media] = Object.entries(content)[0] ?? []
  const title = `Response ${status}`
  const head = `<p class="status">${title}</p>`
  if (media === undefined) return head
  if (type !== "application/json") return `${head}<p>The answer is <code>${Html.escaped(type)}</code>.</p>`
  const example = Examples.of(contract, media.schema)
  const code = Literal.write(Literal.JSON_TEXT, example)
  return codePanel({ code, language: "json", title, label: `Response: ${titleOf(endpoint)}` })
}

const parametersOf = (contract: Contract, { parameters = [] }: Operation, place: string, heading: string): string => {
  const fields = parameters
    .filter((parameter) => parameter.in === place)
    .map(({ description, name, required = false, schema }) => ({
      path: name,
      type: Fields.typeOf(contract, schema),
      required,
      limits: Fields.limitsOf(contract, schema),
      description: description ?? Fields.descriptionOf(contract, schema),
    }))
  return fields.length === 0 ? "" : `<h3>${heading}</h3>${listOfFields(fields)}`
}

const bodyOf = (contract: Contract, { requestBody }: Operation): string => {
  const body = requestBody?.content["application/json"]
  return body === undefined ? "" : `<h3>Body</h3>${listOfFields(Fields.listOf(contract, body.schema))}`
}

const responsesOf = (contract: Contract, { responses }: Operation): string => {
  const [{ content = {} } = {}] = Object.values(responses)
  const fields = Fields.listOf(contract, Object.values(content)[0]?.schema ?? {})
  return fields.length === 0
    ? ""
    : `<details><summary>Fields of the response</summary>${listOfFields(fields)}</details>`
}

const listOfFields = (fields: ReadonlyArray<Fields.Field>): string => {
  const items = fields.map(({ description, limits, path, required, requiredWithout = [], type }) => {
    const others = requiredWithout.map((other) => `<code>${Html.escaped(other)}</code>`).join(" and ")
    const must = required
      ? " <strong>required</strong>"
      : others === ""
        ? ""
        : ` <strong>required without ${others}</strong>`
    const facts = `<span>${[type, ...limits].map(Html.escaped).join(" · ")}</span>${must}`
    return `<dt><code>${Html.escaped(path)}</code> ${facts}</dt><dd>${Html.prose(description)}</dd>`
  })
  return `<dl>${items.join("")}</dl>`
}
