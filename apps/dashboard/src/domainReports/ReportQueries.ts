import { keepPreviousData } from "@tanstack/react-query"
import * as Queries from "../api/Queries.ts"
import type { DmarcReports, TlsReports } from "../api/Records.ts"

export interface Choice {
  readonly name: string
  readonly days: number
  readonly verified: boolean
}

/** Sources and failures that are shown; the API and the command line have more. */
export const MAX_SHOWN = 50

const reports = <A>(kind: "dmarc" | "tls", { days, name, verified }: Choice) => ({
  ...Queries.read<A>(["domains", name, kind, days, verified], `/domains/${encodeURIComponent(name)}/${kind}`, {
    days,
    limit: MAX_SHOWN,
    verified: String(verified),
  }),
  placeholderData: keepPreviousData,
})

export const dmarc = (choice: Choice) => reports<DmarcReports>("dmarc", choice)
export const tls = (choice: Choice) => reports<TlsReports>("tls", choice)
