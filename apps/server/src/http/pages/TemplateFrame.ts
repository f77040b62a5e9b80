import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"

/**
 * An empty page, into which the editor of templates writes what was rendered. The page has the editor's origin, so that
 * it can be written without being loaded again, and runs no script: neither its policy nor its frame allows one.
 */
export const emptyPage = (policy: (images: boolean) => string) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const images = new URL(request.url, "http://x").searchParams.get("images") === "1"
    return HttpServerResponse.html("<!doctype html><title>Preview</title>").pipe(
      HttpServerResponse.setHeaders({
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": policy(images),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "private, no-store",
      }),
    )
  })
