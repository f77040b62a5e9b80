import type { Contract, Operation } from "./Contract.ts"
import { curlOf, ORIGIN } from "./curlOf.ts"
import * as Fields from "./Fields.ts"
import * as Html from "./Html.ts"
import { pageHeader } from "./pageHeader.ts"
import { scriptOf } from "./scriptOf.ts"
import * as Style from "./Style.ts"

interface Endpoint {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

/** Returns the reference of an API as one page, whole without its script and without other files. */
export const referencePage = (contract: Contract): string => {
  const endpoints = Object.entries(contract.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): Endpoint => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )
  const groups = contract.tags.map((tag) => ({
    ...tag,
    endpoints: endpoints.filter(({ operation }) => operation.tags.includes(tag.name)),
  }))
  const { description = "", title } = contract.info
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${Html.escaped(title)} API reference</title>
<style>${Style.CSS}${Style.HEADER_CSS}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the reference</a>
${pageHeader("", "api")}
<div class="page">
<nav aria-label="Endpoints"><details><summary>Endpoints</summary>
<label for="filter">Filter</label>
<input id="filter" type="search" autocomplete="off">
<p id="status" role="status"></p>
${groups.map(listOf).join("\n")}
</details></nav>
<main id="content" tabindex="-1">
<h1>${Html.escaped(title)} API reference</h1>
<p>${Html.prose(contract.info.summary ?? "")}.</p>
<p>${Html.prose(description)}</p>
<h2 id="authorization">Authorization</h2>
<p>Send an API key as a Bearer token with every request: <code>Authorization: Bearer &lt;API key&gt;</code>. Keys are created
in the dashboard under API keys, and begin with <code>wb_</code>. Keep them out of browsers and out of version control.</p>
<p><a href="/openapi.json">OpenAPI document</a>, for code generators and other tools</p>
${groups.map((group) => sectionOf(contract, group)).join("\n")}
</main>
</div>
<script>${scriptOf(ORIGIN)}</script>
</body>
</html>
`
}

interface Group {
  readonly name: string
  readonly description?: string
  readonly endpoints: ReadonlyArray<Endpoint>
}

const titleOf = ({ operation }: Endpoint): string => operation.summary ?? operation.operationId
const idOf = ({ operation }: Endpoint): string => Html.anchor(operation.operationId)

const listOf = ({ endpoints, name }: Group): string => `<section>
<h2>${Html.escaped(name)}</h2>
<ul>
${endpoints
  .map((endpoint) => {
    const words = `${titleOf(endpoint)} ${endpoint.method} ${endpoint.path}`.toLowerCase()
    return `<li data-words="${Html.escaped(words)}"><a href="#${idOf(endpoint)}">${Html.escaped(titleOf(endpoint))}</a></li>`
  })
  .join("\n")}
</ul>
</section>`

const sectionOf = (contract: Contract, { description = "", endpoints, name }: Group): string => `<section>
<h2 id="${Html.anchor(name)}">${Html.escaped(name)}</h2>
<p>${Html.prose(description)}</p>
${endpoints.map((endpoint) => articleOf(contract, endpoint)).join("\n")}
</section>`

const articleOf = (contract: Contract, endpoint: Endpoint): string => {
  const { method, operation, path } = endpoint
  const id = idOf(endpoint)
  return `<article id="${id}" aria-labelledby="${id}-title">
<h3 id="${id}-title">${Html.escaped(titleOf(endpoint))}</h3>
<p class="route"><code><span class="method">${method}</span> ${Html.escaped(path)}</code></p>
<p>${Html.prose(operation.description ?? "")}</p>
<div class="sample"><pre tabindex="0" role="region" aria-label="curl: ${Html.escaped(titleOf(endpoint))}"><code>${Html.escaped(
    curlOf(contract, method, path, operation),
  )}</code></pre><button type="button" aria-label="Copy the request: ${Html.escaped(titleOf(endpoint))}">Copy</button></div>
${parametersOf(contract, operation)}
${bodyOf(contract, operation)}
${responsesOf(contract, operation)}
</article>`
}

const parametersOf = (contract: Contract, { parameters = [] }: Operation): string =>
  parameters.length === 0
    ? ""
    : `<h4>Parameters</h4>${listOfFields(
        parameters.map((parameter) => ({
          path: parameter.name,
          type: `${parameter.in}, ${Fields.typeOf(contract, parameter.schema)}`,
          required: parameter.required === true,
          description: parameter.description ?? Fields.descriptionOf(contract, parameter.schema),
        })),
      )}`

const bodyOf = (contract: Contract, { requestBody }: Operation): string => {
  const body = requestBody?.content["application/json"]
  return body === undefined ? "" : `<h4>Body</h4>${listOfFields(Fields.listOf(contract, body.schema))}`
}

const responsesOf = (contract: Contract, { responses }: Operation): string =>
  Object.entries(responses)
    .map(([status, { content, description = "" }]) => {
      const [media] = Object.values(content ?? {})
      const fields = media === undefined ? [] : Fields.listOf(contract, media.schema)
      const inside = `${description === "" ? "" : `<p>${Html.prose(description)}</p>`}${status < "300" ? listOfFields(fields) : ""}`
      return `<details><summary>${status}${status < "300" ? "" : ` ${Html.prose(firstSentence(description))}`}</summary>${inside}</details>`
    })
    .join("\n")

const firstSentence = (text: string): string => /^[^.;]*/u.exec(text)?.[0] ?? ""

const listOfFields = (fields: ReadonlyArray<Fields.Field>): string =>
  fields.length === 0
    ? ""
    : `<dl>${fields
        .map(
          ({ description, path, required, type }) =>
            `<dt><code>${Html.escaped(path)}</code> <span>${Html.escaped(type)}${required ? ", required" : ""}</span></dt><dd>${Html.prose(description)}</dd>`,
        )
        .join("")}</dl>`
