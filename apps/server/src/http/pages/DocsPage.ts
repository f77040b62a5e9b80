import { Api } from "@waybill/api/Api"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { OpenApi } from "effect/http-api"
import type { Contract } from "./reference/Contract.ts"
import { referencePage } from "./reference/referencePage.ts"
import * as SharedDocument from "./SharedDocument.ts"

/**
 * Isolates the page from the dashboard, which has the same address: without `allow-same-origin` the page has an origin of
 * its own, without cookies, storage or responses of the service. It runs only its own inline script, by its hash, and
 * requests nothing: the contract is part of the page. See docs/decisions/api.md, 0030.
 */
const policy = (hashes: ReadonlyArray<string>): string =>
  [
    "sandbox allow-scripts",
    "default-src 'none'",
    `script-src ${hashes.join(" ")}`,
    "style-src 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ")

const NOSNIFF = { "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" }

/**
 * The documentation page and the OpenAPI document. Both are built at the first request, because most processes never
 * serve them.
 */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const text = yield* Effect.cached(Effect.sync(() => JSON.stringify(OpenApi.fromApi(Api))))
    const page = yield* Effect.cached(
      Effect.gen(function* () {
        const html = referencePage(JSON.parse(yield* text) as Contract)
        const headers = { ...NOSNIFF, "content-security-policy": policy(SharedDocument.scriptHashes(html)) }
        return { document: yield* SharedDocument.make(html, "text/html; charset=utf-8"), headers }
      }),
    )
    const contract = yield* Effect.cached(Effect.flatMap(text, (json) => SharedDocument.make(json, "application/json")))
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
