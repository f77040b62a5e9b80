import { HttpServerResponse } from "effect/http"

interface Page {
  readonly title: string
  /** HTML below the title. */
  readonly body: string
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Makes a page that needs no other file and runs no script. Forms lead only to this service. */
export const plainPage = ({ body, headers = {}, status = 200, title }: Page) =>
  HttpServerResponse.html(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>
  body { font: 1rem/1.6 system-ui, sans-serif; max-width: 36rem; margin: 15vh auto; padding: 0 1.5rem }
  code { font-size: .9em }
</style>
<h1>${title}</h1>
${body}
</html>
`).pipe(
    HttpServerResponse.setStatus(status),
    HttpServerResponse.setHeaders({
      "content-security-policy":
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      ...headers,
    }),
  )
