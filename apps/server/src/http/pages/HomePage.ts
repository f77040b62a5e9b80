import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"

/** Page shown where the dashboard could not be built. */
const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Waybill</title>
<style>
  body { font: 1rem/1.6 system-ui, sans-serif; max-width: 36rem; margin: 15vh auto; padding: 0 1.5rem }
  code { font-size: .9em }
</style>
<h1>Waybill</h1>
<p>The service is running. The dashboard was not built; the output of <code>npm start</code> says why.</p>
<ul>
  <li><a href="/docs">Documentation</a> and the <a href="/docs/api">API reference</a>, with samples to copy</li>
  <li><a href="/openapi.json">OpenAPI document</a> for generating clients</li>
  <li><code>npx waybill --help</code> for accounts, keys, users and settings</li>
</ul>
</html>
`

const HEADERS = {
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
}

export const layer = HttpRouter.add(
  "GET",
  "/",
  Effect.succeed(HttpServerResponse.html(PAGE).pipe(HttpServerResponse.setHeaders(HEADERS))),
)
