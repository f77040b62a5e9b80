import type { HttpServerRequest } from "effect/http"
import { HttpServerResponse } from "effect/http"
import * as Calls from "../../requestLog/Calls.ts"

/** Path of the document that the dashboard shows in the frame of an email. */
const FRAME = /^\/preview\/emails\/[^/]+$/u

interface Words {
  readonly title: string
  readonly text: string
}

const OTHERWISE: Words = {
  title: "Preview not available",
  text: "Something went wrong. Reload the preview, or open another tab of this email.",
}
const BUSY: Words = {
  title: "Preview not available",
  text: "The server is busy at the moment. Reload the preview in a few seconds.",
}
const SIGNED_OUT: Words = {
  title: "No access to this preview",
  text: "Sign in again, as a member who may read emails.",
}

const WORDS: ReadonlyMap<string, Words> = new Map([
  [
    "content_expired",
    {
      title: "Content deleted",
      text: "The text and attachments are deleted after the retention period of your plan. The event history is retained.",
    },
  ],
  ["email_not_found", { title: "Email not found", text: "No email with this id exists in this account." }],
  ["unauthorized", SIGNED_OUT],
  ["route_not_found", SIGNED_OUT],
  ["overloaded", BUSY],
  ["unavailable", BUSY],
])

const wordsOf = (response: HttpServerResponse.HttpServerResponse): Words => {
  if (response.status === 429) {
    const seconds = response.headers["retry-after"] ?? "60"
    return {
      title: "Too many requests",
      text: `Reload the preview in ${seconds} ${seconds === "1" ? "second" : "seconds"}.`,
    }
  }
  if (response.status === 401) return SIGNED_OUT
  return WORDS.get(Calls.reasonOf(response) ?? "") ?? OTHERWISE
}

/** Returns a refused preview as a page for people: its frame shows the response itself. Other responses stay as they are. */
export const inFrame = (
  path: string,
  { headers }: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse,
): HttpServerResponse.HttpServerResponse => {
  if (response.status < 400 || !FRAME.test(path) || headers["accept"]?.includes("text/html") !== true) return response
  const { text, title } = wordsOf(response)
  const { "content-encoding": _, "content-length": __, "content-type": ___, ...kept } = response.headers
  return HttpServerResponse.html(page(title, text)).pipe(
    HttpServerResponse.setStatus(response.status),
    HttpServerResponse.setHeaders({
      ...kept,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'; sandbox",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "private, no-store",
    }),
  )
}

const page = (title: string, text: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>
body { font: 0.875rem/1.6 system-ui, sans-serif; color: #52525b; text-align: center; max-width: 26rem; margin: 6rem auto; padding: 0 1.5rem }
h1 { font-size: 1rem; font-weight: 600; color: #18181b; margin: 0 0 0.25rem }
p { margin: 0 }
</style>
<h1>${title}</h1>
<p>${text}</p>
</html>
`
