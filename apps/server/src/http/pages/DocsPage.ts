import { Api } from "@waybill/api/Api"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiScalar, OpenApi } from "effect/http-api"
import { createHash } from "node:crypto"
import * as SharedDocument from "./SharedDocument.ts"

/**
 * Isolates the page from the dashboard, which has the same address: without `allow-same-origin` the page has an origin of
 * its own, without cookies, storage or responses of the service. It runs only its own inline scripts, by their hashes, and
 * requests nothing: the contract is part of the page. See docs/decisions/0030.
 */
const policy = (hashes: ReadonlyArray<string>): string =>
  [
    "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox allow-downloads",
    "default-src 'none'",
    `script-src ${hashes.map((hash) => `'${hash}'`).join(" ")}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ")

const NOSNIFF = { "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" }

const SCRIPT = /<script>([\s\S]*?)<\/script>/gu

/** Hashes by which the policy identifies inline scripts. */
const hashesOf = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(SCRIPT)].map(([, code = ""]) => `sha256-${createHash("sha256").update(code).digest("base64")}`)

/**
 * Script that runs before the library. It provides a `localStorage` in memory, since the library uses it unguarded and a
 * sandbox refuses it, and a clipboard by the `copy` event, since a sandbox and a page over plain HTTP have no other.
 */
const POLYFILLS = `
(() => {
  try {
    window.localStorage
  } catch {
    const entries = new Map()
    const memory = {
      get length() { return entries.size },
      key: (nth) => [...entries.keys()][nth] ?? null,
      getItem: (key) => entries.get(String(key)) ?? null,
      setItem: (key, value) => void entries.set(String(key), String(value)),
      removeItem: (key) => void entries.delete(String(key)),
      clear: () => entries.clear(),
    }
    Object.defineProperty(window, "localStorage", { configurable: true, value: memory })
  }
  const writeText = async (text) => {
    const copy = (event) => {
      event.clipboardData.setData("text/plain", text)
      event.preventDefault()
      event.stopImmediatePropagation()
    }
    window.addEventListener("copy", copy, true)
    try {
      if (!document.execCommand("copy")) throw new Error("the browser does not copy")
    } finally {
      window.removeEventListener("copy", copy, true)
    }
  }
  Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText } })
})()
`

/** A separate constant, because the library's type lacks some of these options. */
const scalar = {
  withDefaultFonts: false,
  defaultOpenAllTags: true,
  authentication: { preferredSecurityScheme: "api_key" },
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  // Requests from the page's own origin would be refused. The samples can be copied instead.
  hideTestRequestButton: true,
  hideClientButton: true,
  // These buttons lead to the vendor's service.
  showDeveloperTools: "never",
}

/** The page of the library with its script embedded, so that it works offline. */
const pageText = Effect.map(
  Effect.flatten(HttpRouter.toHttpEffect(HttpApiScalar.layer(Api, { path: "/docs", scalar }))),
  ({ body }) =>
    body._tag === "Uint8Array"
      ? Buffer.from(body.body)
          .toString("utf8")
          .replace("<body>", () => `<body><script>${POLYFILLS}</script>`)
          // The library reads a scheme that is not in lower case as Basic, and its samples would show that.
          .replace('"scheme":"Bearer"', '"scheme":"bearer"')
      : "",
)

/**
 * The documentation page and the OpenAPI document. Both are built at the first request, because together they take a
 * fifth of the start time and most processes never serve them.
 */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const page = yield* Effect.cached(
      Effect.gen(function* () {
        const html = yield* pageText
        const headers = { ...NOSNIFF, "content-security-policy": policy(hashesOf(html)) }
        return { document: yield* SharedDocument.make(html, "text/html; charset=utf-8"), headers }
      }),
    )
    const contract = yield* Effect.cached(
      Effect.suspend(() => SharedDocument.make(JSON.stringify(OpenApi.fromApi(Api)), "application/json")),
    )
    yield* router.add(
      "GET",
      "/docs",
      Effect.flatMap(page, ({ document, headers }) => SharedDocument.respond(document, headers)),
    )
    yield* router.add(
      "GET",
      "/openapi.json",
      Effect.flatMap(contract, (document) => SharedDocument.respond(document, NOSNIFF)),
    )
  }),
)
