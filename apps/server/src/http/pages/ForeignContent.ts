import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"

// Answers with what others wrote, which no browser may render.

/** Headers of bytes that are shown as they are. */
export const HEADERS = {
  "content-security-policy": "sandbox; default-src 'none'",
  "x-content-type-options": "nosniff",
  "cache-control": "private, no-store",
}

/** Returns bytes as a download, whatever their type. */
export const download = (
  bytes: Uint8Array,
  filename: string,
  {
    contentType = "application/octet-stream",
    headers = {},
  }: {
    readonly contentType?: string
    readonly headers?: Readonly<Record<string, string>>
  } = {},
) =>
  HttpServerResponse.uint8Array(bytes, {
    contentType,
    headers: {
      ...HEADERS,
      ...headers,
      "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(filename)}`,
    },
  })

/** Refuses a request for a mail that cannot be read, or not now. */
export const readable = <A, R>(
  reading: Effect.Effect<A, { readonly _tag: "Busy" } | { readonly _tag: "NotDisplayable" }, R>,
) =>
  Effect.mapError(reading, ({ _tag }) =>
    _tag === "Busy" ? new RequestRefusal.Overloaded({ budget: "parsing" }) : new RequestRefusal.MessageUnreadable(),
  )
