import { Api } from "@waybill/api/Api"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiScalar, OpenApi } from "effect/http-api"
import { createHash } from "node:crypto"
import * as SharedDocument from "./SharedDocument.ts"

/**
 * The page runs in an origin of its own: without `allow-same-origin` it reaches no cookie, storage, window or answer of the
 * dashboard, whose address it shares. It runs the scripts that it came with, known by their hashes, and fetches nothing:
 * the contract is part of it. Decided in docs/decisions/0030.
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

/** What a policy knows the inline scripts of a page by. */
const hashesOf = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(SCRIPT)].map(([, code = ""]) => `sha256-${createHash("sha256").update(code).digest("base64")}`)

/**
 * Runs before the library. The library reads and writes `localStorage` unguarded, which throws in a sandbox: a storage in
 * memory stands in for it. A sandbox is refused the clipboard too, as is a page served over plain HTTP: what a click copies
 * goes the older way.
 */
const STAND_INS = `
(() => {
  try {
    window.localStorage
  } catch {
    const kept = new Map()
    const memory = {
      get length() { return kept.size },
      key: (nth) => [...kept.keys()][nth] ?? null,
      getItem: (key) => kept.get(String(key)) ?? null,
      setItem: (key, value) => void kept.set(String(key), String(value)),
      removeItem: (key) => void kept.delete(String(key)),
      clear: () => kept.clear(),
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

/** Named apart from its use: the library's type does not know all that its page does. */
const scalar = {
  withDefaultFonts: false,
  defaultOpenAllTags: true,
  authentication: { preferredSecurityScheme: "api_key" },
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  // Requests from the page's own origin would be refused. The samples can be copied instead.
  hideTestRequestButton: true,
  hideClientButton: true,
  // Its buttons lead to the maker's own service.
  showDeveloperTools: "never",
}

/** The page of the library, which carries its script in itself, so that it works without any network. */
const pageText = Effect.map(
  Effect.flatten(HttpRouter.toHttpEffect(HttpApiScalar.layer(Api, { path: "/docs", scalar }))),
  ({ body }) =>
    body._tag === "Uint8Array"
      ? Buffer.from(body.body)
          .toString("utf8")
          .replace("<body>", () => `<body><script>${STAND_INS}</script>`)
          // The library takes a scheme that is not in lower case for Basic, and writes its samples so.
          .replace('"scheme":"Bearer"', '"scheme":"bearer"')
      : "",
)

/**
 * Both are made when somebody first asks: together they take as long as a fifth of a start, and most processes are never
 * asked. After that every answer refers to the same bytes.
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
