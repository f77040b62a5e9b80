import { useQuery } from "@tanstack/react-query"
import { Download, FileQuestion } from "lucide-react"
import { instance } from "../api/instance.ts"
import * as Mode from "../api/Mode.ts"
import * as Queries from "../api/Queries.ts"
import type { EmailWithContent, EventRecord } from "../api/Records.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import { Tabs, type Tab } from "../ui/layout/Tabs.tsx"
import { EmailWebhooks } from "./EmailWebhooks.tsx"
import { Attachments, HeaderList, HtmlFrame, PlainText, Source } from "./compose/MessageParts.tsx"
import { Panel } from "../ui/layout/Screen.tsx"

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
          {email.status === "canceled"
            ? "The text and attachments of a canceled email are deleted within an hour."
            : "The text and attachments are deleted after the retention period of your account."}{" "}
          The event history is retained.
        </EmptyState>
      </Panel>
    )
  const { attachments, html, text } = content
  const link = ({ filename }: (typeof attachments)[number], index: number) => (
    <a
      href={Mode.withMode(`/preview/emails/${id}/attachments/${index}`)}
      download={filename}
      className="inline-flex h-7 items-center gap-1.5 rounded-lg border border-line-strong px-2.5 text-xs font-medium hover:bg-hover"
    >
      <Download size={13} aria-hidden />
      Download
    </a>
  )
  const tabs: ReadonlyArray<Tab> = [
    ...(html === null ? [] : [{ name: "Preview", content: () => <HtmlFrame id={id} html={html} /> }]),
    ...(text === null ? [] : [{ name: "Text", content: () => <PlainText text={text} /> }]),
    ...(html === null ? [] : [{ name: "HTML", content: () => <Source text={html} label="HTML source" /> }]),
    { name: "Headers", content: () => <MessageSource email={email} part="headers" /> },
    { name: "Raw", content: () => <MessageSource email={email} part="raw" /> },
    {
      name: "Attachments",
      count: attachments.length,
      content: () => <Attachments files={attachments} download={link} />,
    },
    ...(canSeeWebhooks
      ? [{ name: "Webhooks", content: () => <EmailWebhooks emailId={id} events={events.length} /> }]
      : []),
  ]
  return (
    <Panel className="overflow-hidden">
      <Tabs label="Content" tabs={tabs} />
    </Panel>
  )
}

interface SourceProps {
  readonly email: EmailWithContent
  readonly part: "headers" | "raw"
}

/** Headers or source of an email in any state: the bytes in the sandbox, or the composed message if there are none. */
const MessageSource = ({ email, part }: SourceProps) => {
  const { id, recipients } = email
  const isInSandbox =
    instance.transport === "capture" &&
    recipients.some(({ status }) => status === "delivered" || status === "complained")
  // Mail of the sandbox expires, and users delete it.
  const kept = useQuery({ ...Queries.sandboxMessage(id), enabled: isInSandbox })
  const isComposed = !isInSandbox || kept.isError
  const composed = useQuery({ ...Queries.raw(id), enabled: isComposed })
  const source = isComposed ? composed.data : kept.data && fromBase64(kept.data.raw)
  if (source === undefined)
    return composed.error === null ? <SkeletonRows rows={4} /> : <ErrorMessage error={composed.error} className="m-4" />
  return (
    <>
      {isComposed ? (
        <p role="note" className="border-b border-line px-4 py-2.5 text-xs text-ink-2">
          {noteOf(email)} The DKIM signature is added for each delivery and is not shown.
        </p>
      ) : undefined}
      {part === "raw" ? <Source text={source} label="Message source" /> : <HeaderList headers={headersIn(source)} />}
    </>
  )
}

const fromBase64 = (text: string): string =>
  new TextDecoder().decode(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)))

/** The bytes that each attempt has, so the note only says whether there was one. */
const noteOf = ({ attempts, status }: EmailWithContent): string => {
  if (attempts > 0) return "This is the message as it was composed for delivery."
  return status === "queued" || status === "deferred"
    ? "Not sent yet. This is the message as it will be sent."
    : "This email was never sent. This is the message as it would have been sent."
}

/** Returns the header fields of a message, unfolded. */
const headersIn = (source: string) =>
  (source.split(/\r?\n\r?\n/u, 1)[0] ?? "")
    .split(/\r?\n(?![ \t])/u)
    .map((line) => line.replaceAll(/\r?\n/gu, ""))
    .map((line) => ({ name: line.slice(0, line.indexOf(":")), value: line.slice(line.indexOf(":") + 1).trim() }))
