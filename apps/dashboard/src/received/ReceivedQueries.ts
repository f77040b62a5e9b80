import * as Api from "../api/Api.ts"
import * as Paths from "../api/Paths.ts"
import * as Queries from "../api/Queries.ts"
import type { InboundEmail, InboundEmailWhole, Page } from "../api/Records.ts"

export const page = (q: string | undefined, after: string | undefined, signal?: AbortSignal) =>
  Api.get<Page<InboundEmail>>("/inbound", { q, limit: Paths.PAGE, after }, signal)

/** Received mail, or that in which all words are found. */
export const list = (q: string | undefined) =>
  Queries.pages(["received", "list", q ?? ""], (after, signal) => page(q, after, signal))

export const mail = (id: string) => Queries.readOnce<InboundEmailWhole>(["received", id], `/inbound/${id}`)
