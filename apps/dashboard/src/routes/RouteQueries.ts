import { queryOptions } from "@tanstack/react-query"
import * as Api from "../api/Api.ts"
import type { InboundRoute, Page } from "../api/Records.ts"

/** All routes of the account, in the order in which they are tried. */
export const list = queryOptions({
  queryKey: ["routes"],
  queryFn: ({ signal }) => Api.get<Page<InboundRoute>>("/inbound/routes", {}, signal),
})
