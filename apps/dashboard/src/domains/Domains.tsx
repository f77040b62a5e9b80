import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { Globe } from "lucide-react"
import * as DeliveryRates from "@waybill/domain/explanation/DeliveryRates"
import { instance } from "../api/instance.ts"
import * as Queries from "../api/Queries.ts"
import type { Domain } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { StatusBadge, statusChoices } from "../ui/display/Badge.tsx"
import { Dialog, DialogForm } from "../ui/feedback/Dialog.tsx"
import { TextField, useForm } from "../ui/controls/Field.tsx"
import { ChoiceFilter } from "../ui/controls/FilterSelect.tsx"
import { RelativeTime, useNow } from "../ui/display/Time.tsx"
import * as SearchDates from "@waybill/domain/search/SearchDates"
import * as SearchText from "@waybill/domain/search/SearchText"
import * as TimeRange from "../overview/TimeRange.ts"
import { isHighRate } from "../overview/isHighRate.ts"
import * as Series from "../overview/Series.ts"
import { cx } from "../ui/display/cx.ts"
import { needsNoDns } from "./needsNoDns.ts"
import { ListScreen } from "../ui/layout/ListScreen.tsx"
import type { Column } from "../ui/layout/Table.tsx"
import { useListSearch } from "../ui/layout/useListSearch.ts"

export const Domains = () => {
  const list = useListSearch<"status">()
  const canEdit = useHasScope("domains:write")
  const query = useQuery(Queries.domains)
  const { status } = list.search
  const q = list.typed.text.trim().toLowerCase()
  const bounces = useBounces()
  return (
    <ListScreen
      title="Domains"
      hint="Domains you can send from once DNS is verified. Bounces are of the last 30 days."
      create={canEdit && "Add domain"}
      list={list}
      search={["Search domains", "Part of the name"]}
      filters={<ChoiceFilter label="Status" choices={STATUSES} {...list.filter("status")} />}
      query={query}
      rows={query.data?.data.filter(
        (domain) => domain.name.includes(q) && (status === undefined || domain.status === status),
      )}
      columns={[...COLUMNS, ...bounces]}
      noun="domains"
      empty={{
        icon: <Globe size={20} />,
        title: "No domains yet",
        children:
          "Your sending domains appear here. Add one to get its DNS records; Waybill checks them until they are published.",
      }}
    >
      <Dialog
        open={list.isCreating}
        onClose={() => list.setCreating(false)}
        title="Add domain"
        description="Use a subdomain, such as mail.example.com, to keep its sending reputation separate."
      >
        <AddDomain onCancel={() => list.setCreating(false)} />
      </Dialog>
    </ListScreen>
  )
}

const STATUSES = statusChoices("verified", "pending", "degraded", "failed")

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
    small: true,
    cell: ({ click_tracking, open_tracking }) =>
      [...(open_tracking ? ["Opens"] : []), ...(click_tracking ? ["Clicks"] : [])].join(", ") || "Off",
  },
  {
    name: "Last check",
    number: true,
    wide: true,
    small: true,
    cell: (domain) =>
      needsNoDns(domain) ? (
        "Needs no DNS"
      ) : domain.last_checked_at === null ? (
        "Not checked"
      ) : (
        <RelativeTime iso={domain.last_checked_at} />
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
  const form = useForm({
    initial: { name: "" },
    send: (typed) => Api.post<Domain>("/domains", { name: domainIn(typed.name.trim()) }),
    onSent: async (domain) => {
      client.setQueryData(Queries.domain(domain.name).queryKey, domain)
      await client.invalidateQueries({ queryKey: ["domains"], exact: true })
      await navigate({ to: "/domains/$name", params: { name: domain.name } })
    },
  })
  const typed = form.values.name.trim()
  return (
    <DialogForm submit="Add" form={form} onCancel={onCancel}>
      <TextField
        label="Domain"
        autoFocus
        required
        autoCapitalize="none"
        spellCheck={false}
        placeholder="mail.example.com"
        hint={
          domainIn(typed) !== typed
            ? `Adds ${domainIn(typed)}, the domain of this address.`
            : instance.transport === "capture"
              ? "Sandbox: reserved domains, such as those ending in .test or .example, are verified at once."
              : undefined
        }
        {...form.input("name")}
      />
    </DialogForm>
  )
}
