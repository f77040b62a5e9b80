import { Link } from "@tanstack/react-router"
import type { ListedTemplate } from "../api/Records.ts"
import { RelativeTime, useNow } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import type { Column } from "../ui/layout/Table.tsx"
import { Standing } from "./Standing.tsx"

export const KINDS: { readonly [K in ListedTemplate["kind"]]: string } = {
  template: "Template",
  layout: "Layout",
  partial: "Partial",
}

const HOUR_MS = 3_600_000

/** Use is counted by the hour, of which `iso` is the start. */
const LastUse = ({ iso }: { readonly iso: string }) =>
  useNow() - Date.parse(iso) < HOUR_MS ? <time dateTime={iso}>this hour</time> : <RelativeTime iso={iso} />

export const COLUMNS: ReadonlyArray<Column<ListedTemplate>> = [
  {
    name: "Name",
    main: true,
    cell: ({ alias, id, name }) => (
      <Link to="/templates/$id" params={{ id }} className="block hover:underline">
        <UntrustedText className="block truncate font-medium" text={name} />
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
  {
    name: "Languages",
    wide: true,
    cell: ({ languages }) => (
      <span className="block max-w-32 truncate text-xs text-ink-2" title={languages.join(", ")}>
        {languages.length === 0 ? "–" : languages.join(", ")}
      </span>
    ),
  },
  { name: "Status", cell: (record) => <Standing record={record} /> },
  {
    name: "Last use",
    number: true,
    wide: true,
    cell: ({ kind, used_at }) => (
      <span className="text-xs text-ink-3">
        {used_at !== null ? <LastUse iso={used_at} /> : kind === "template" ? "Never" : "–"}
      </span>
    ),
  },
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
