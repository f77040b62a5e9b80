import * as Sandbox from "@waybill/store/content/Sandbox"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { readdirSync, readFileSync } from "node:fs"
import { extname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { SignIn } from "../../signIn/SignIn.ts"
import * as Version from "../../process/Version.ts"
import * as RequestTarget from "../../requests/RequestTarget.ts"
import * as HomePage from "./HomePage.ts"
import { Instance, ReceivesMailAt } from "../../settings/Instance.ts"
import * as SharedDocument from "./SharedDocument.ts"

/** Folder of the built dashboard. */
export const DIST = fileURLToPath(new URL("../../../../dashboard/dist/", import.meta.url))

/** First segments of the dashboard's paths. On other paths the dashboard shows that there is no such page. */
export const SECTIONS: ReadonlySet<string> = new Set([
  "sign-in",
  "welcome",
  "overview",
  "emails",
  "inbox",
  "received",
  "routes",
  "sandbox",
  "compose",
  "requests",
  "domains",
  "webhooks",
  "templates",
  "suppressions",
  "settings",
  "operate",
])

/** First segments of paths that are not the dashboard's; an unknown path below them is answered by the API. */
const OTHERS: ReadonlySet<string> = new Set(["v1", "auth", "preview", "docs", "verify", "openapi.json", "compat"])

/** Paths served without sign-in: the dashboard's files contain no data, which comes from the API only. */
export const isOpen = (path: string, { headers, method }: HttpServerRequest.HttpServerRequest): boolean => {
  const [first = ""] = path.slice(1).split("/", 1)
  return path === "/" || first === "assets" || SECTIONS.has(first) || (isPage(method, headers) && !OTHERS.has(first))
}

/** Whether a browser opens a page. */
const isPage = (method: string, { accept = "" }: HttpServerRequest.HttpServerRequest["headers"]): boolean =>
  method === "GET" && accept.includes("text/html")

/** Allows the dashboard's own files only, no inline style, and no inline script but that of the build, by its hash. */
const policyOf = (index: string): string =>
  [
    "default-src 'none'",
    `script-src ${["'self'", ...SharedDocument.scriptHashes(index)].join(" ")}`,
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ")

const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=()",
}

const TYPES: Record<string, string> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
}

/** File names contain a hash of the content, so a file never changes. */
const IMMUTABLE = "public, max-age=31536000, immutable"
/** Compressed variants that the build writes beside each file. */
const ENDINGS = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const

interface Asset {
  readonly type: string
  readonly forms: SharedDocument.Forms
}

/** Reads all files into memory; together they are smaller than one mail with a picture. */
const readAssets = (folder: string): ReadonlyMap<string, Asset> => {
  const names = new Set(readdirSync(folder))
  return new Map(
    [...names]
      .filter((name) => extname(name) in TYPES)
      .map((name) => {
        const forms = new Map([["", readFileSync(join(folder, name))]])
        for (const [encoding, ending] of ENDINGS)
          if (names.has(name + ending)) forms.set(encoding, readFileSync(join(folder, name + ending)))
        return [name, { type: TYPES[extname(name)] ?? "", forms }] as const
      }),
  )
}

const asset = Effect.fnUntraced(function* (assets: ReadonlyMap<string, Asset>) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const file = assets.get(request.url.split(/[/?]/u)[2] ?? "")
  if (file === undefined)
    return yield* new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) })
  const { bytes, headers } = SharedDocument.formFor(request, file.forms)
  return HttpServerResponse.uint8Array(bytes, {
    contentType: file.type,
    headers: { ...headers, "cache-control": IMMUTABLE, "x-content-type-options": "nosniff" },
  })
})

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;")

/** Data that the page needs before sign-in. */
const bootData = Effect.gen(function* () {
  const { oidc, urls } = yield* SignIn
  const { baseUrl, submission, trackingHost, transport } = yield* Instance
  return JSON.stringify({
    version: Version.VERSION,
    // Without it, the dashboard uses its own address.
    ...(baseUrl === null ? {} : { url: urls.url }),
    transport,
    submission,
    mail: yield* ReceivesMailAt,
    oidc,
    passkeyDomain: urls.passkeyDomain,
    trackingDomains: trackingHost !== null,
    sandboxDays: { live: Sandbox.DAYS, test: Sandbox.TEST_DAYS },
  })
})

const page = Effect.fnUntraced(function* (document: SharedDocument.SharedDocument, policy: string) {
  const { warm } = yield* SignIn
  yield* warm
  return yield* SharedDocument.respond(document, { ...SECURITY_HEADERS, "content-security-policy": policy })
})

/** The page of a path that nothing else answers: the dashboard says so, with its navigation for who is signed in. */
const unknownPage = Effect.fnUntraced(function* <R>(
  indexPage: Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>,
) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const path = RequestTarget.pathOf(request.url)
  if (!isOpen(path, request))
    return yield* new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) })
  const response = yield* indexPage
  return response.status === 304 ? response : HttpServerResponse.setStatus(response, 404)
})

/** The built dashboard, or a plain page with links if it was not built. */
export const layer = (dist: string = DIST) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const built = yield* Effect.option(
        Effect.try(() => ({
          index: readFileSync(join(dist, "index.html"), "utf8"),
          assets: readAssets(join(dist, "assets")),
        })),
      )
      if (built._tag === "None") return HomePage.layer
      const { assets, index } = built.value
      const html = index.replace('content="{}"', `content="${escaped(yield* bootData)}"`)
      const indexPage = page(yield* SharedDocument.make(html, "text/html; charset=utf-8"), policyOf(index))
      return HttpRouter.use((router) =>
        Effect.gen(function* () {
          yield* router.add("GET", "/assets/:name", asset(assets))
          yield* router.add("GET", "/", indexPage)
          // The route matches the section itself too.
          for (const section of SECTIONS) yield* router.add("GET", `/${section}/*`, indexPage)
          yield* router.add("GET", "/*", unknownPage(indexPage))
        }),
      )
    }),
  )
