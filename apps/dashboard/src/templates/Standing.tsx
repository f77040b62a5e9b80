import type { ListedTemplate } from "../api/Records.ts"
import { Badge, StatusBadge } from "../ui/display/Badge.tsx"

/** State of a template: whether it can be sent, and whether its draft is what is sent. */
export const Standing = ({ record }: { readonly record: ListedTemplate }) => {
  const { draft_differs, missing_parts, status } = record
  const isBroken = status === "published" && missing_parts.length > 0
  return (
    <span className="inline-flex flex-wrap items-center gap-1.5">
      {isBroken ? (
        <span title={`It uses ${missing_parts.join(", ")}, which is not published.`}>
          <Badge tone="bad" dot>
            Cannot be sent
          </Badge>
        </span>
      ) : (
        <StatusBadge status={status} />
      )}
      {status === "published" && draft_differs ? <Badge tone="warn">Draft has changes</Badge> : undefined}
    </span>
  )
}
