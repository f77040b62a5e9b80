import { Api } from "@waybill/api/Api"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiScalar, OpenApi } from "effect/http-api"
import { createHash } from "node:crypto"
import * as SharedDocument from "./SharedDocument.ts"

/**
 * Told to browsers too. The page may run the scripts that it came with, known by their hashes, and nothing else: it shares
 * its origin with the dashboard. It may talk to nobody but this service, not even for a font.
 */
const policy = (hashes: ReadonlyArray<string>): string =>
  [
    "default-src 'none'",
    `script-src ${hashes.map((hash) => `'${hash}'`).join(" ")}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ")

const NOSNIFF = { "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" }

const SCRIPT = /<script>([\s\S]*?)<\/script>/gu

/** What a policy knows the inline scripts of a page by. */
const hashesOf = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(SCRIPT)].map(([, code = ""]) => `sha256-${createHash("sha256").update(code).digest("base64")}`)

/** Named apart from its use: the library's type does not know all that its page does. */
const scalar = {
  withDefaultFonts: false,
  defaultOpenAllTags: true,
  authentication: { preferredSecurityScheme: "api_key" },
  // Its buttons lead to the maker's own service.
  showDeveloperTools: "never",
}

/** The page of the library, which carries its script in itself, so that it works without any network. */
const pageText = Effect.map(
  Effect.flatten(HttpRouter.toHttpEffect(HttpApiScalar.layer(Api, { path: "/docs", scalar }))),
  ({ body }) => (body._tag === "Uint8Array" ? Buffer.from(body.body).toString("utf8") : ""),
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
