import { Link } from "@tanstack/react-router"
import type { ListedTemplate } from "../api/Records.ts"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { RelativeTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import type { Column } from "../ui/layout/Table.tsx"

export const KINDS: { readonly [K in ListedTemplate["kind"]]: string } = {
  template: "Template",
  layout: "Layout",
  partial: "Partial",
}

const NAME: ReadonlyArray<Column<ListedTemplate>> = [
  {
    name: "Name",
    main: true,
    cell: ({ alias, id, name }) => (
      <Link to="/templates/$id" params={{ id }} className="block hover:underline">
        <span className="block truncate font-medium">
          <UntrustedText text={name} />
        </span>
        {alias === null ? undefined : <code className="block truncate font-mono text-xs text-ink-3">{alias}</code>}
      </Link>
    ),
  },
  { name: "Kind", wide: true, cell: ({ kind }) => <span className="text-xs text-ink-2">{KINDS[kind]}</span> },
  {
    name: "Version",
    number: true,
    wide: true,
    cell: ({ current_version, versions }) => (
      <span className="text-xs text-ink-2">
        {current_version === null
          ? "–"
          : current_version === versions
            ? current_version
            : `${current_version} of ${versions}`}
      </span>
    ),
  },
  { name: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
]

const CHANGED: ReadonlyArray<Column<ListedTemplate>> = [
  {
    name: "Changed",
    number: true,
    wide: true,
    cell: ({ updated_at }) => (
      <span className="text-xs text-ink-3">
        <RelativeTime iso={updated_at} />
      </span>
    ),
  },
]

/** Time of the last message, which not every server tells. */
type Used = ListedTemplate & { readonly used_at?: string | null }

const LAST_USE: ReadonlyArray<Column<ListedTemplate>> = [
  {
    name: "Last use",
    number: true,
    wide: true,
    cell: ({ kind, used_at }: Used) => (
      <span className="text-xs text-ink-3">
        {typeof used_at === "string" ? <RelativeTime iso={used_at} /> : kind === "template" ? "Never" : "–"}
      </span>
    ),
  },
]

export const columnsOf = (rows: ReadonlyArray<ListedTemplate>): ReadonlyArray<Column<ListedTemplate>> => [
  ...NAME,
  ...(rows.some((row) => "used_at" in row) ? LAST_USE : []),
  ...CHANGED,
]
