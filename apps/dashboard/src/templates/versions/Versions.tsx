import { useQuery, useQueryClient } from "@tanstack/react-query"
import { History } from "lucide-react"
import { useState } from "react"
import * as Api from "../../api/Api.ts"
import type { ListedTemplateVersion, TemplateRecord, TemplateVersion } from "../../api/Records.ts"
import { useHasScope } from "../../session/useHasScope.ts"
import { Badge } from "../../ui/display/Badge.tsx"
import { Button } from "../../ui/controls/Button.tsx"
import { formatDateTime } from "../../ui/display/Time.tsx"
import { UntrustedText } from "../../ui/display/UntrustedText.tsx"
import { ConfirmDialog } from "../../ui/feedback/ConfirmDialog.tsx"
import { EmptyState } from "../../ui/feedback/EmptyState.tsx"
import { showError, showToast } from "../../ui/feedback/Toasts.tsx"
import * as TemplateQueries from "../content/TemplateQueries.ts"
import { Comparison } from "./Comparison.tsx"
import { QueryResult } from "../../ui/layout/QueryResult.tsx"
import { Panel } from "../../ui/layout/Screen.tsx"
import { useKeyNames, useMemberNames } from "../../session/Names.ts"

interface Props {
  readonly record: TemplateRecord
  readonly canWrite: boolean
  /** Takes the texts of a version into the draft; undefined where it may not be changed. */
  readonly onRestore: ((source: TemplateVersion) => void) | undefined
}

/** Versions of a template, newest first: when, by whom and why, and what each changed. */
export const Versions = (props: Props) => (
  <QueryResult query={useQuery(TemplateQueries.versions(props.record.id))} rows={3}>
    {({ data }) => <VersionList versions={data} {...props} />}
  </QueryResult>
)

type ListProps = Props & { readonly versions: ReadonlyArray<ListedTemplateVersion> }

const VersionList = ({ canWrite, onRestore, record, versions }: ListProps) => {
  const client = useQueryClient()
  const [compared, setCompared] = useState<number>()
  const [target, setTarget] = useState<number>()
  const counts = useCounts(record.id)
  const restore = async (number: number) => {
    try {
      onRestore?.(await client.fetchQuery(TemplateQueries.version(record.id, number)))
    } catch (error) {
      showError(error)
    }
  }
  const authors = new Map([...useMemberNames(), ...useKeyNames()])
  if (versions.length === 0)
    return (
      <Panel>
        <EmptyState icon={<History size={20} />} title="No versions yet">
          Publish the draft to make the first version. Versions never change.
        </EmptyState>
      </Panel>
    )
  const newest = versions[0]?.number
  return (
    <>
      <Panel className="overflow-hidden">
        <ul aria-label="Versions" className="divide-y divide-line">
          {versions.map((version) => (
            <Row
              key={version.number}
              version={version}
              author={authors.get(version.created_by ?? "")}
              isCurrent={version.number === record.current_version}
              onCompare={() => setCompared(version.number)}
              emails={counts?.get(version.number)}
              onRestore={onRestore === undefined ? undefined : () => void restore(version.number)}
              onRollBack={
                canWrite && record.status !== "archived" && version.number !== record.current_version
                  ? () => setTarget(version.number)
                  : undefined
              }
            />
          ))}
        </ul>
      </Panel>
      <Comparison key={compared ?? newest} record={record} versions={versions} initial={compared ?? newest ?? 1} />
      <ConfirmDialog
        open={target !== undefined}
        onClose={() => setTarget(undefined)}
        title={`Send version ${target ?? ""} from now on?`}
        isDestructive={false}
        action="Send this version"
        onConfirm={async () => {
          const next = await Api.post<TemplateRecord>(`/templates/${record.id}/rollback`, { version: target })
          client.setQueryData(TemplateQueries.template(record.id).queryKey, next)
          void client.invalidateQueries({ queryKey: [...TemplateQueries.ALL, "list"] })
          showToast(`Version ${target ?? ""} is sent from now on.`)
        }}
      >
        New emails use it at once. Emails that are scheduled already, the draft and the other versions stay as they are.
      </ConfirmDialog>
    </>
  )
}

/** Recipients of each version, for roles that see statistics. */
const useCounts = (id: string): ReadonlyMap<number, number> | undefined => {
  const query = useQuery({ ...TemplateQueries.counts(id), enabled: useHasScope("stats:read") })
  return query.data === undefined
    ? undefined
    : new Map(query.data.data.map(({ accepted, template_version }) => [template_version ?? 0, accepted]))
}

interface RowProps {
  readonly version: ListedTemplateVersion
  readonly author: string | undefined
  readonly isCurrent: boolean
  readonly onCompare: () => void
  readonly onRollBack: (() => void) | undefined
  readonly onRestore: (() => void) | undefined
  /** Recipients of the last 30 days, as far as they are counted. */
  readonly emails: number | undefined
}

const Row = ({ author, emails, isCurrent, onCompare, onRestore, onRollBack, version }: RowProps) => {
  const { created_by, notes, number, published_at } = version
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3 text-sm">
      <div className="min-w-0 grow basis-60">
        <p className="flex items-center gap-2 font-medium">
          Version {number}
          {isCurrent ? (
            <Badge tone="good" dot>
              Sent now
            </Badge>
          ) : undefined}
        </p>
        {notes === null || notes === "" ? undefined : (
          <UntrustedText as="p" className="break-words text-ink-2" text={notes} />
        )}
        <p className="text-xs break-words text-ink-3">
          {formatDateTime(published_at)}
          {created_by === null ? undefined : (
            <>
              {" by "}
              <UntrustedText text={author ?? created_by} />
            </>
          )}
          {emails === undefined ? undefined : ` · ${emails} ${emails === 1 ? "recipient" : "recipients"} in 30 days`}
        </p>
      </div>
      <Button small onClick={onCompare} aria-label={`Changes of version ${number}`}>
        Changes
      </Button>
      {onRestore === undefined ? undefined : (
        <Button small onClick={onRestore} aria-label={`Restore into draft: version ${number}`}>
          Restore into draft
        </Button>
      )}
      {onRollBack === undefined ? undefined : (
        <Button small onClick={onRollBack} aria-label={`Send this version: ${number}`}>
          Send this version
        </Button>
      )}
    </li>
  )
}
