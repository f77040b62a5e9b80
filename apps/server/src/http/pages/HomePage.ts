import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { plainPage } from "./plainPage.ts"

/** Page shown where the dashboard could not be built. */
const body = `<p>The service is running. The dashboard was not built; the output of <code>npm start</code> says why.</p>
<ul>
  <li><a href="/docs">Documentation</a> and the <a href="/docs/api">API reference</a>, with samples to copy</li>
  <li><a href="/openapi.json">OpenAPI document</a> for generating clients</li>
  <li><code>npx waybill --help</code> for accounts, keys, users and settings</li>
</ul>`

export const layer = HttpRouter.add("GET", "/", Effect.succeed(plainPage({ title: "Waybill", body })))
