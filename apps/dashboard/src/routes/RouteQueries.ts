import * as Queries from "../api/Queries.ts"
import type { InboundRoute, Page } from "../api/Records.ts"

/** All routes of the account, in the order in which they are tried. */
export const list = Queries.read<Page<InboundRoute>>(["routes"], "/inbound/routes")
