import { useInfiniteQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Blocks, Mail } from "lucide-react"
import type { TemplateRecord } from "../api/Records.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { CodeExamples } from "../ui/display/Code.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { PagedRows } from "../ui/layout/PagedRows.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { Table } from "../ui/layout/Table.tsx"
import { columnsOf } from "./TemplateColumns.tsx"
import * as TemplateQueries from "./TemplateQueries.ts"

/** Where a template is used: its messages, or the templates that it is a part of. */
export const Usage = ({ record }: { readonly record: TemplateRecord }) =>
  record.kind === "template" ? <Messages record={record} /> : <Users alias={record.alias} kind={record.kind} />

const Messages = ({ record }: { readonly record: TemplateRecord }) => {
  const canRead = useHasScope("email:logs:read")
  const name = record.alias ?? record.id
  return (
    <Panel>
      <EmptyState
        icon={<Mail size={20} />}
        title="Emails of this template"
        action={
          canRead ? (
            <Link
              to="/emails"
              search={{ search: `template:${record.id}` }}
              className="inline-flex h-8 items-center rounded-lg border border-line-strong bg-raised px-3 text-sm font-medium hover:bg-hover"
            >
              View emails
            </Link>
          ) : undefined
        }
      >
        The log shows what was sent, with the version and the language of each email.
      </EmptyState>
      <div className="border-t border-line p-4">
        <CodeExamples
          examples={[
            {
              name: "JavaScript",
              code: [
                `await waybill.emails.send({`,
                `  from: "Acme <hello@acme.com>",`,
                `  to: "ana@example.org",`,
                `  template: "${name}",`,
                `  variables: {},`,
                `})`,
              ].join("\n"),
            },
          ]}
        />
      </div>
    </Panel>
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
      {(rows) => <Table label="Templates that use it" rows={rows} keyOf={({ id }) => id} columns={columnsOf(rows)} />}
    </PagedRows>
  )
}
