import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import * as VariableSchema from "@waybill/domain/template/VariableSchema"
import { Blocks } from "lucide-react"
import type { TemplateRecord } from "../api/Records.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { CodeExamples } from "../ui/controls/Code.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { PagedRows } from "../ui/layout/PagedRows.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import { Table } from "../ui/layout/Table.tsx"
import { COLUMNS } from "./TemplateColumns.tsx"
import { samplesOf } from "./samplesOf.ts"
import * as TemplateQueries from "./content/TemplateQueries.ts"
import { useVerifiedDomain } from "../session/useVerifiedDomain.ts"
import { Panel } from "../ui/layout/Screen.tsx"

/** Where a template is used: its messages, or the templates that it is a part of. */
export const Usage = ({ record }: { readonly record: TemplateRecord }) =>
  record.kind === "template" ? <Messages record={record} /> : <Users alias={record.alias} kind={record.kind} />

const Messages = ({ record }: { readonly record: TemplateRecord }) => {
  const canRead = useHasScope("email:logs:read")
  return (
    <Panel>
      <p className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3 text-sm text-ink-2">
        <span className="grow">Each email shows the version and the language that it was made of.</span>
        {canRead ? (
          <Link
            to="/emails"
            search={{ search: `template:${record.id}` }}
            className="inline-flex h-8 items-center rounded-lg border border-line-strong bg-raised px-3 font-medium text-ink hover:bg-hover"
          >
            View emails
          </Link>
        ) : undefined}
      </p>
      <div className="border-t border-line p-4">
        <Samples record={record} />
      </div>
    </Panel>
  )
}

/** Code that sends what is sent now, with the sample values of its preview: those of its schema, or of the variables in its text. */
const Samples = ({ record }: { readonly record: TemplateRecord }) => {
  const domain = useVerifiedDomain()
  const canWrite = useHasScope("templates:write")
  const { current_version, draft } = record
  const sent = useQuery({
    ...TemplateQueries.version(record.id, current_version ?? 0),
    enabled: current_version !== null,
  })
  const source = sent.data ?? draft
  const checked = useQuery({ ...TemplateQueries.checked(source), enabled: canWrite && !sent.isLoading })
  if (sent.isLoading || checked.isLoading) return <SkeletonRows rows={4} />
  const { from, variables } = source
  const ofSchema = VariableSchema.sampleOf({ type: "object", ...variables }) as Readonly<Record<string, unknown>>
  return (
    <CodeExamples
      examples={samplesOf({
        name: record.alias ?? record.id,
        from: from === null ? `hello@${domain ?? "acme.test"}` : undefined,
        variables: checked.data?.sample ?? ofSchema,
      })}
    />
  )
}

const Users = ({ alias, kind }: { readonly alias: string | null; readonly kind: "layout" | "partial" }) => {
  const query = useInfiniteQuery({ ...TemplateQueries.list({ uses: alias ?? "" }), enabled: alias !== null })
  const none = (
    <EmptyState icon={<Blocks size={20} />} title="Not used yet">
      {alias === null
        ? "Give it an alias in Settings: templates use it by that name."
        : kind === "layout"
          ? `Choose it as the layout of a template, or write {% layout "${alias}" %} in one.`
          : `Write {% render "${alias}" %} in a template.`}
    </EmptyState>
  )
  if (alias === null) return <Panel>{none}</Panel>
  return (
    <PagedRows query={query} isPending={false} empty={none}>
      {(rows) => <Table label="Templates that use it" rows={rows} keyOf={({ id }) => id} columns={COLUMNS} />}
    </PagedRows>
  )
}
