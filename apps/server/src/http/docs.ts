import { Api } from "@waybill/api/Api"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar, OpenApi } from "effect/http-api"

/** Told to browsers too: the page may talk to nobody but us, not even for a font. */
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src 'self' data:; font-src data:; connect-src 'self'"

const guarded = HttpRouter.middleware(
  Effect.succeed((app) => Effect.map(app, HttpServerResponse.setHeader("content-security-policy", POLICY))),
)

/** Named apart from its use: the library's type does not know all that its page does. */
const scalar = {
  withDefaultFonts: false,
  defaultOpenAllTags: true,
  authentication: { preferredSecurityScheme: "api_key" },
  // Its buttons lead to the maker's own service.
  showDeveloperTools: "never",
}

/**
 * The page carries its script in itself, so it works without any network. What it shows is made when somebody first asks:
 * together with the document it takes as long as a fifth of a start, and most processes are never asked.
 */
const page = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const reference = yield* Effect.cached(HttpRouter.toHttpEffect(HttpApiScalar.layer(Api, { path: "/docs", scalar })))
    yield* router.add("GET", "/docs", Effect.flatten(reference))
  }),
).pipe(Layer.provide(guarded.layer))

const document = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const text = yield* Effect.cached(Effect.sync(() => JSON.stringify(OpenApi.fromApi(Api))))
    yield* router.add(
      "GET",
      "/openapi.json",
      Effect.map(text, (text) => HttpServerResponse.text(text, { contentType: "application/json" })),
    )
  }),
)

export const layer = Layer.mergeAll(page, document)
