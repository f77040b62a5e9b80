import { useQuery, useQueryClient } from "@tanstack/react-query"
import { History } from "lucide-react"
import { useState } from "react"
import * as Api from "../../api/Api.ts"
import type { ListedTemplateVersion, TemplateRecord } from "../../api/Records.ts"
import { useKeyNames } from "../../requests/useKeyNames.ts"
import { useMemberNames } from "../../settings/useMemberNames.ts"
import { Badge } from "../../ui/display/Badge.tsx"
import { Button } from "../../ui/controls/Button.tsx"
import { formatDateTime } from "../../ui/display/Time.tsx"
import { UntrustedText } from "../../ui/display/UntrustedText.tsx"
import { ConfirmDialog } from "../../ui/feedback/ConfirmDialog.tsx"
import { EmptyState } from "../../ui/feedback/EmptyState.tsx"
import { ErrorMessage } from "../../ui/feedback/ErrorMessage.tsx"
import { SkeletonRows } from "../../ui/feedback/Skeleton.tsx"
import { showToast } from "../../ui/feedback/Toasts.tsx"
import { Panel } from "../../ui/layout/Panel.tsx"
import * as TemplateQueries from "../TemplateQueries.ts"
import { Comparison } from "./Comparison.tsx"

interface Props {
  readonly record: TemplateRecord
  readonly canWrite: boolean
}

/** Versions of a template, newest first: when, by whom and why, and what each changed. */
export const Versions = ({ canWrite, record }: Props) => {
  const query = useQuery(TemplateQueries.versions(record.id))
  const client = useQueryClient()
  const [compared, setCompared] = useState<number>()
  const [target, setTarget] = useState<number>()
  const authors = new Map([...useMemberNames(), ...useKeyNames()])
  if (query.isPending)
    return (
      <Panel>
        <SkeletonRows rows={3} />
      </Panel>
    )
  if (query.isError) return <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
  const versions = query.data.data
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
        onOpenChange={(isOpen) => (isOpen ? undefined : setTarget(undefined))}
        title={`Send version ${target ?? ""} from now on?`}
        isDestructive={false}
        action="Roll back"
        onConfirm={async () => {
          const next = await Api.post<TemplateRecord>(`/templates/${record.id}/rollback`, { version: target })
          client.setQueryData(TemplateQueries.template(record.id).queryKey, next)
          void client.invalidateQueries({ queryKey: [...TemplateQueries.ALL, "list"] })
          showToast(`Version ${target ?? ""} is sent from now on.`)
        }}
      >
        New messages are made of it at once. Messages that are scheduled already, the draft and the other versions stay
        as they are.
      </ConfirmDialog>
    </>
  )
}

interface RowProps {
  readonly version: ListedTemplateVersion
  readonly author: string | undefined
  readonly isCurrent: boolean
  readonly onCompare: () => void
  readonly onRollBack: (() => void) | undefined
}

const Row = ({ author, isCurrent, onCompare, onRollBack, version }: RowProps) => {
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
          <p className="break-words text-ink-2">
            <UntrustedText text={notes} />
          </p>
        )}
        <p className="text-xs break-words text-ink-3">
          {formatDateTime(published_at)}
          {created_by === null ? undefined : (
            <>
              {" by "}
              <UntrustedText text={author ?? created_by} />
            </>
          )}
        </p>
      </div>
      <Button small onClick={onCompare} aria-label={`Changes of version ${number}`}>
        Changes
      </Button>
      {onRollBack === undefined ? undefined : (
        <Button small onClick={onRollBack} aria-label={`Roll back to version ${number}`}>
          Roll back
        </Button>
      )}
    </li>
  )
}
