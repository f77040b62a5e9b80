import { Download, FileQuestion } from "lucide-react"
import type { EmailWithContent, EventRecord } from "../api/Records.ts"
import { useHasScope } from "../shell/useHasScope.ts"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { formatBytes } from "../ui/display/formatBytes.ts"
import { Tabs, type Tab } from "../ui/layout/Tabs.tsx"
import { EmailWebhooks } from "./EmailWebhooks.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { HtmlFrame, PlainText, Source } from "./MessageParts.tsx"
import { MessageSource } from "./MessageSource.tsx"

interface Props {
  readonly email: EmailWithContent
  readonly events: ReadonlyArray<EventRecord>
}

export const EmailContent = ({ email, events }: Props) => {
  const { content, id } = email
  const canSeeWebhooks = useHasScope("webhooks:manage")
  if (content === null)
    return (
      <Panel>
        <EmptyState icon={<FileQuestion size={20} />} title="Content deleted">
          The text and attachments are deleted after the retention period of your plan. The event history is retained.
        </EmptyState>
      </Panel>
    )
  const { attachments, html, text } = content
  const tabs: ReadonlyArray<Tab> = [
    ...(html === null ? [] : [{ name: "Preview", content: () => <HtmlFrame id={id} /> }]),
    ...(text === null ? [] : [{ name: "Text", content: () => <PlainText text={text} /> }]),
    ...(html === null ? [] : [{ name: "HTML", content: () => <Source text={html} label="HTML source" /> }]),
    { name: "Headers", content: () => <MessageSource email={email} part="headers" /> },
    { name: "Raw", content: () => <MessageSource email={email} part="raw" /> },
    { name: "Attachments", count: attachments.length, content: () => <Attachments email={email} /> },
    ...(canSeeWebhooks ? [{ name: "Webhooks", content: () => <EmailWebhooks events={events} /> }] : []),
  ]
  return (
    <Panel className="overflow-hidden">
      <Tabs label="Content" tabs={tabs} />
    </Panel>
  )
}

const Attachments = ({ email }: { readonly email: EmailWithContent }) => {
  const attachments = email.content?.attachments ?? []
  if (attachments.length === 0) return <p className="p-8 text-center text-sm text-ink-3">No attachments.</p>
  return (
    <ul className="divide-y divide-line">
      {attachments.map((file, index) => (
        <li key={index} className="flex items-center gap-3 px-4 py-3 text-sm">
          <span className="min-w-0 grow">
            <span className="block truncate">
              <UntrustedText text={file.filename} />
            </span>
            <span className="block truncate text-xs text-ink-3">
              {file.content_type} · {formatBytes(file.size_bytes)}
              {file.content_id === null ? "" : ` · inline as cid:${file.content_id}`}
            </span>
          </span>
          <a
            href={`/preview/emails/${email.id}/attachments/${index}`}
            download={file.filename}
            className="inline-flex h-7 items-center gap-1.5 rounded-lg border border-line-strong px-2.5 text-xs font-medium hover:bg-hover"
          >
            <Download size={13} aria-hidden />
            Download
          </a>
        </li>
      ))}
    </ul>
  )
}
