import { useQuery } from "@tanstack/react-query"
import { Download, FileQuestion } from "lucide-react"
import { instance } from "../api/instance.ts"
import * as Queries from "../api/Queries.ts"
import type { EmailWithContent, EventRecord } from "../api/Records.ts"
import { useHasScope } from "../shell/useHasScope.ts"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import { formatBytes } from "../ui/display/formatBytes.ts"
import { Tabs, type Tab } from "../ui/layout/Tabs.tsx"
import { EmailWebhooks } from "./EmailWebhooks.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { HeaderList, HtmlFrame, PlainText, Source } from "./MessageParts.tsx"

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
    ...(instance.transport === "capture"
      ? [
          { name: "Headers", content: () => <CapturedPart id={id} part="headers" /> },
          { name: "Raw", content: () => <CapturedPart id={id} part="raw" /> },
        ]
      : [
          { name: "Headers", content: () => <ComposedHeaders email={email} events={events} /> },
          { name: "Raw", content: () => <ComposedSource id={id} /> },
        ]),
    { name: "Attachments", count: attachments.length, content: () => <Attachments email={email} /> },
    ...(canSeeWebhooks ? [{ name: "Webhooks", content: () => <EmailWebhooks events={events} /> }] : []),
  ]
  return (
    <Panel className="overflow-hidden">
      <Tabs label="Content" tabs={tabs} />
    </Panel>
  )
}

const fromBase64 = (text: string): string =>
  new TextDecoder().decode(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)))

const LoadingOrError = ({ error }: { readonly error: Error | null }) =>
  error === null ? (
    <SkeletonRows rows={4} />
  ) : (
    <div className="p-4">
      <ErrorMessage error={error} />
    </div>
  )

/** Headers or source of a captured message, including the DKIM signature. The sandbox inbox retains these bytes. */
const CapturedPart = ({ id, part }: { readonly id: string; readonly part: "headers" | "raw" }) => {
  const query = useQuery(Queries.captured(id))
  if (query.data === undefined) return <LoadingOrError error={query.error} />
  return part === "raw" ? (
    <Source text={fromBase64(query.data.raw)} label="Message source" />
  ) : (
    <HeaderList headers={query.data.headers} />
  )
}

/** Source of a sent message. It is not retained but composed again, which gives the same bytes except for the DKIM signature. */
const ComposedSource = ({ id }: { readonly id: string }) => {
  const query = useQuery(Queries.raw(id))
  if (query.data === undefined) return <LoadingOrError error={query.error} />
  return <Source text={query.data} label="Message source without the DKIM signature" />
}

const isText = (value: unknown): value is string => typeof value === "string"

const ComposedHeaders = ({ email, events }: Props) => {
  const headers = events[0]?.data["headers"]
  const custom =
    typeof headers === "object" && headers !== null ? Object.entries(headers).filter(([, value]) => isText(value)) : []
  return (
    <HeaderList
      headers={[
        { name: "From", value: email.from },
        { name: "To", value: email.to.join(", ") },
        ...(email.cc.length === 0 ? [] : [{ name: "Cc", value: email.cc.join(", ") }]),
        { name: "Subject", value: email.subject },
        { name: "Message-ID", value: email.message_id },
        ...custom.map(([name, value]) => ({ name, value: String(value) })),
      ]}
    />
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
