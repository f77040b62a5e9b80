import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { Globe, Plus } from "lucide-react"
import { useState } from "react"
import * as DeliveryRates from "@waybill/domain/explanation/DeliveryRates"
import { instance } from "../api/instance.ts"
import * as Queries from "../api/Queries.ts"
import type { Domain } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { useFormErrors } from "../api/useFormErrors.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { DialogForm } from "../ui/feedback/DialogForm.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { TextField } from "../ui/controls/Field.tsx"
import { ChoiceFilter } from "../ui/controls/FilterSelect.tsx"
import { SearchField, useTypedText } from "../ui/controls/SearchField.tsx"
import { defined } from "../api/defined.ts"
import { type Column, Table } from "../ui/layout/Table.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { RelativeTime, useNow } from "../ui/display/Time.tsx"
import * as SearchDates from "@waybill/domain/search/SearchDates"
import * as SearchText from "@waybill/domain/search/SearchText"
import * as TimeRange from "../overview/TimeRange.ts"
import { isHighRate } from "../overview/isHighRate.ts"
import * as Series from "../overview/Series.ts"
import { cx } from "../ui/display/cx.ts"
import { needsNoDns } from "./needsNoDns.ts"
import { NoMatches } from "../ui/feedback/NoMatches.tsx"
import { FilterBar } from "../ui/layout/FilterBar.tsx"
import { RowsPanel } from "../ui/layout/RowsPanel.tsx"

export const Domains = () => {
  const search = useSearch({ from: "/shell/domains" })
  const navigate = useNavigate({ from: "/domains" })
  const canEdit = useHasScope("domains:write")
  const query = useQuery(Queries.domains)
  const { status } = search
  const change = (next: Partial<Record<"q" | "status", string | undefined>> & { readonly new?: true | undefined }) =>
    void navigate({ search: (current) => defined({ ...current, ...next }), replace: true })
  const setDialogOpen = (open: boolean) => change({ new: open ? true : undefined })
  const typed = useTypedText(search.q ?? "", (text) => change({ q: text }))
  const q = typed.text.trim().toLowerCase()
  const rows = (query.data?.data ?? []).filter(
    (domain) => domain.name.includes(q) && (status === undefined || domain.status === status),
  )
  const bounces = useBounces()
  const button = canEdit ? (
    <Button variant="primary" icon={<Plus size={15} />} onClick={() => setDialogOpen(true)}>
      Add domain
    </Button>
  ) : undefined
  return (
    <Screen
      title="Domains"
      hint="Domains you can send from once DNS is verified. Bounces are of the last 30 days."
      actions={button}
    >
      <FilterBar search={<SearchField label="Search domains" placeholder="Part of the name" typed={typed} />}>
        <ChoiceFilter label="Status" choices={STATUSES} value={status} onChange={(next) => change({ status: next })} />
      </FilterBar>
      <RowsPanel
        query={query}
        rows={rows}
        empty={
          query.data?.data.length === 0 ? (
            <EmptyState icon={<Globe size={20} />} title="No domains yet" action={button}>
              Your sending domains appear here. Add one to get its DNS records; Waybill checks them until they are
              published.
            </EmptyState>
          ) : (
            <NoMatches name="domains" onClear={() => change({ q: undefined, status: undefined })} />
          )
        }
      >
        {(shown) => (
          <Table isList label="Domains" rows={shown} keyOf={({ id }) => id} columns={[...COLUMNS, ...bounces]} />
        )}
      </RowsPanel>
      <Dialog
        open={search.new === true}
        onOpenChange={setDialogOpen}
        title="Add domain"
        description="Use a subdomain, such as mail.example.com, to keep its sending reputation separate."
      >
        <AddDomain onCancel={() => setDialogOpen(false)} />
      </Dialog>
    </Screen>
  )
}

const STATUSES = [
  { value: "verified", name: "Verified" },
  { value: "pending", name: "Pending" },
  { value: "degraded", name: "Degraded" },
  { value: "failed", name: "Failed" },
]

const COLUMNS: ReadonlyArray<Column<Domain>> = [
  {
    name: "Domain",
    main: true,
    cell: ({ name }) => (
      <Link to="/domains/$name" params={{ name }} className="block truncate py-1 font-medium hover:underline">
        {name}
      </Link>
    ),
  },
  { name: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
  {
    name: "Tracking",
    wide: true,
    cell: ({ click_tracking, open_tracking }) => (
      <span className="text-xs whitespace-nowrap text-ink-3">
        {[...(open_tracking ? ["Opens"] : []), ...(click_tracking ? ["Clicks"] : [])].join(", ") || "Off"}
      </span>
    ),
  },
  {
    name: "Last check",
    number: true,
    wide: true,
    cell: (domain) => (
      <span className="text-xs text-ink-3">
        {needsNoDns(domain) ? (
          "Needs no DNS"
        ) : domain.last_checked_at === null ? (
          "Not checked"
        ) : (
          <RelativeTime iso={domain.last_checked_at} />
        )}
      </span>
    ),
  },
]

/** Returns the column of bounce rates, if the user may read them. One answer has the rates of all domains. */
const useBounces = (): ReadonlyArray<Column<Domain>> => {
  const now = useNow()
  const { from, to } = TimeRange.rangeOf("30d", now)
  const canRead = useHasScope("email:logs:read")
  const rows = useQuery({ ...Queries.stats(from, to, "domain"), enabled: canRead }).data?.data
  const cell = ({ name }: Domain) => {
    const totals = Series.sum(rows?.filter(({ domain }) => domain === name) ?? [])
    const ended = DeliveryRates.ended(totals)
    if (ended === 0) return <span className="text-ink-3">{rows === undefined ? "" : "–"}</span>
    const rate = DeliveryRates.rate(totals.bounced, ended)
    return (
      <Link
        to="/emails"
        search={{ search: `since:${SearchDates.write(from, now)} ${SearchText.write("domain", name)} anyone:bounced` }}
        className={cx("hover:underline", isHighRate("bounced", rate) && "text-bad")}
      >
        {DeliveryRates.percent(rate)}
      </Link>
    )
  }
  return canRead ? [{ name: "Bounced", number: true, cell }] : []
}

/** Returns the domain of a URL or an address that was pasted, without `www.`, and any other text as it is. */
const domainIn = (text: string): string => {
  if (!/[/:@]/u.test(text)) return text
  const url = text.includes("://") ? text : `https://${text}`
  return URL.canParse(url) ? new URL(url).hostname.replace(/^www\.(?=[^.]+\.)/u, "") : text
}

const AddDomain = ({ onCancel }: { readonly onCancel: () => void }) => {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [text, setText] = useState("")
  const name = domainIn(text.trim())
  const add = useMutation({
    mutationFn: () => Api.post<Domain>("/domains", { name }),
    onSuccess: async (domain) => {
      client.setQueryData(Queries.domain(domain.name).queryKey, domain)
      await client.invalidateQueries({ queryKey: ["domains"], exact: true })
      await navigate({ to: "/domains/$name", params: { name: domain.name } })
    },
  })
  const errors = useFormErrors(add.error, { name: text })
  return (
    <DialogForm submit="Add" work={add} error={errors.form} onCancel={onCancel}>
      <TextField
        label="Domain"
        autoFocus
        required
        autoCapitalize="none"
        spellCheck={false}
        placeholder="mail.example.com"
        hint={
          name !== text.trim()
            ? `Adds ${name}, the domain of this address.`
            : instance.transport === "capture"
              ? "Sandbox: reserved domains, such as those ending in .test or .example, are verified at once."
              : undefined
        }
        value={text}
        onChange={(event) => setText(event.target.value)}
        error={errors.field.name}
      />
    </DialogForm>
  )
}
