import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { type ReactNode, useState } from "react"
import * as DeliveryRates from "@waybill/domain/explanation/DeliveryRates"
import * as Queries from "../api/Queries.ts"
import type { StatsRow } from "../api/Records.ts"
import { Button } from "../ui/controls/Button.tsx"
import { SegmentedControl } from "../ui/controls/SegmentedControl.tsx"
import { cx } from "../ui/display/cx.ts"
import { useNow } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import * as MailboxProvider from "@waybill/domain/search/MailboxProvider"
import * as SearchDates from "@waybill/domain/search/SearchDates"
import * as SearchText from "@waybill/domain/search/SearchText"
import { isHighRate } from "./isHighRate.ts"
import { type CountedRow, useOwnDomains } from "./useOwnDomains.ts"
import { type Column, Table } from "../ui/layout/Table.tsx"
import { Panel } from "../ui/layout/Screen.tsx"
import { useKeyNames } from "../session/Names.ts"

const GROUPS = [
  ["domain", "Domain"],
  ["tag", "Tag"],
  ["provider", "Provider"],
  ["api_key", "Key"],
] as const
type Group = (typeof GROUPS)[number][0]

const HEADS = { domain: "Domain", tag: "Tag", provider: "Recipients at", api_key: "API key" } as const
const EMPTY = {
  domain: "No email in this range.",
  tag: "No email with a tag in this range.",
  provider: "No email in this range.",
  api_key: "No email with an API key in this range.",
} as const

const isOfOthers = ({ provider }: StatsRow): boolean => !MailboxProvider.isProvider(provider ?? "")

/** The subject of a row, and the search for its emails; none for companies of all kinds. */
interface Subject {
  readonly name: string
  readonly search: string | undefined
}

const subjectOf = (group: Group, row: CountedRow, keyName: (id: string) => string): Subject => {
  switch (group) {
    case "provider": {
      if (row.domain !== null) return { name: row.domain, search: SearchText.write("to", `@${row.domain}`) }
      const provider = row.provider ?? ""
      return MailboxProvider.isProvider(provider)
        ? { name: MailboxProvider.NAMES[provider], search: SearchText.write("provider", provider) }
        : { name: "Other domains", search: undefined }
    }
    case "api_key":
      return { name: keyName(row.api_key_id ?? ""), search: SearchText.write("key", row.api_key_id ?? "") }
    default:
      return { name: row[group] ?? "", search: SearchText.write(group, row[group] ?? "") }
  }
}

/** Number of domains or tags shown at first: those with the most recipients. */
const FIRST_ROWS = 8

const number = new Intl.NumberFormat()

interface Props {
  readonly from: string
  readonly to: string
  /** Whether opens and clicks are tracked. */
  readonly hasVisits: boolean
}

/** The numbers of the range by sending domain, tag, provider of the recipients, or API key. */
export const Breakdown = ({ from, hasVisits, to }: Props) => {
  const [group, setGroup] = useState<Group>("domain")
  const query = useQuery(Queries.stats(from, to, group))
  // While another group loads, the rows of the one before are still there.
  const rows = query.data?.group_by[0] === group ? query.data.data.filter(({ accepted }) => accepted > 0) : undefined
  const isOther = group === "provider" && rows !== undefined && rows.length > 0 && rows.every(isOfOthers)
  const ownDomains = useOwnDomains(from, to, isOther)
  return (
    <Panel
      title="Breakdown"
      actions={<SegmentedControl label="Group by" value={group} options={GROUPS} onChange={setGroup} />}
    >
      <ErrorMessage error={query.error} onRetry={() => void query.refetch()} className="m-4" />
      {query.isError ? undefined : rows === undefined ? (
        <SkeletonRows rows={3} />
      ) : rows.length === 0 ? (
        <p className="p-8 text-center text-sm text-ink-3">{EMPTY[group]}</p>
      ) : (
        <>
          {ownDomains === undefined ? undefined : (
            <p className="border-b border-line px-4 py-2 text-xs text-ink-3">
              No large provider is among the recipients.{" "}
              {ownDomains.isWhole
                ? "Their own domains:"
                : `Their own domains in the newest ${number.format(ownDomains.emails)} emails, without rates:`}
            </p>
          )}
          <Rows
            key={group}
            group={group}
            rows={ownDomains?.rows ?? rows}
            from={ownDomains?.from ?? from}
            hasRates={ownDomains?.isWhole ?? true}
            hasVisits={hasVisits && ownDomains === undefined}
            hasMore={query.data?.more_tags === true}
          />
        </>
      )}
    </Panel>
  )
}

interface RowsProps {
  readonly group: Group
  readonly rows: ReadonlyArray<CountedRow>
  readonly from: string
  /** Whether the rows count all emails of the range. */
  readonly hasRates: boolean
  readonly hasVisits: boolean
  /** Whether the account has more tags than the statistics answer. */
  readonly hasMore: boolean
}

const Rows = ({ from, group, hasMore, hasRates, hasVisits, rows }: RowsProps) => {
  const [isWhole, setWhole] = useState(false)
  const since = SearchDates.write(from, useNow())
  const names = useKeyNames(group === "api_key")
  const keyName = (id: string) => names.get(id) ?? id
  const sorted = rows.toSorted((a, b) => b.accepted - a.accepted)
  const linkOf = (row: CountedRow, status: "bounced" | "complained") => {
    const { search } = subjectOf(group, row, keyName)
    return row.recipient_counts[status] === 0 ? undefined : search && `since:${since} ${search} anyone:${status}`
  }
  const rates: ReadonlyArray<Column<CountedRow>> = [
    { name: "Delivered", number: true, cell: delivered },
    { name: "Bounced", number: true, cell: (row) => <Emails search={linkOf(row, "bounced")}>{bounces(row)}</Emails> },
    { name: "Failed", number: true, wide: true, cell: failures },
    {
      name: "Complained",
      number: true,
      wide: true,
      cell: (row) => <Emails search={linkOf(row, "complained")}>{complaints(row)}</Emails>,
    },
  ]
  const visits: ReadonlyArray<Column<CountedRow>> = [
    { name: "Opens", number: true, wide: true, cell: ({ opened }) => number.format(opened) },
    { name: "Clicks", number: true, wide: true, cell: ({ clicked }) => number.format(clicked) },
  ]
  const subject: Column<CountedRow> = {
    name: HEADS[group],
    main: true,
    cell: (row) => {
      const { name, search } = subjectOf(group, row, keyName)
      return (
        <>
          <Emails search={search && `since:${since} ${search}`}>
            <UntrustedText text={name} />
          </Emails>
          {/* On a phone there is no column for complaints. */}
          {!hasRates || row.recipient_counts.complained === 0 ? undefined : (
            <span className="block truncate text-xs text-ink-3 sm:hidden">{complaints(row)} complained</span>
          )}
        </>
      )
    },
  }
  return (
    <>
      <Table
        label="Breakdown"
        rows={sorted.slice(0, isWhole ? sorted.length : FIRST_ROWS)}
        keyOf={(row) => subjectOf(group, row, keyName).name}
        columns={[
          subject,
          { name: "Accepted", number: true, cell: ({ accepted }) => number.format(accepted) },
          ...(hasRates ? rates : []),
          ...(hasVisits ? visits : []),
        ]}
      />
      {sorted.length > FIRST_ROWS ? (
        <p className="border-t border-line px-4 py-2">
          <Button small variant="ghost" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? "Show fewer" : `Show all ${number.format(sorted.length)}`}
          </Button>
        </p>
      ) : undefined}
      {isWhole && hasMore ? (
        <p className="px-4 pb-3 text-xs text-ink-3">
          The statistics name the first {number.format(sorted.length)} tags. Search the emails for the others.
        </p>
      ) : undefined}
    </>
  )
}

/** A link to the emails of a search, if there is one. */
const Emails = ({ children, search }: { readonly children: ReactNode; readonly search: string | undefined }) =>
  search === undefined ? (
    <span className="block truncate">{children}</span>
  ) : (
    <Link to="/emails" search={{ search }} className="block truncate hover:underline">
      {children}
    </Link>
  )

/** A share, a dash while it is of nothing, and red if it is a rate above its limit. */
const ratio = (part: number, whole: number, status?: "bounced" | "complained"): ReactNode => {
  if (whole === 0) return "–"
  const isBad = status !== undefined && isHighRate(status, part / whole)
  return <span className={cx(isBad && "text-bad")}>{DeliveryRates.percent(part / whole)}</span>
}

/** Shares of the recipients with an outcome. */
const delivered = ({ recipient_counts: counts }: CountedRow) =>
  ratio(DeliveryRates.reached(counts), DeliveryRates.ended(counts))
const bounces = ({ recipient_counts: counts }: CountedRow) =>
  ratio(counts.bounced, DeliveryRates.ended(counts), "bounced")

const failures = ({ recipient_counts: counts }: CountedRow) => ratio(counts.failed, DeliveryRates.ended(counts))

/** Share of the recipients reached, as the tile of all mail says it. */
const complaints = ({ recipient_counts: counts }: CountedRow) =>
  ratio(counts.complained, DeliveryRates.reached(counts), "complained")
