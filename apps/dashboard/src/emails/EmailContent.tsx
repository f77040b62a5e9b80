import { useQuery } from "@tanstack/react-query"
import { Download, FileQuestion, Image, ImageOff, Monitor, Smartphone } from "lucide-react"
import { useState } from "react"
import { instance } from "../api/instance.ts"
import * as queries from "../api/Queries.ts"
import type { EmailWithContent, EventRecord } from "../api/Records.ts"
import { useMay } from "../shell/useSession.ts"
import { Button, IconButton } from "../ui/controls/Button.tsx"
import { CodeBlock } from "../ui/display/Code.tsx"
import { cx } from "../ui/display/cx.ts"
import { Empty } from "../ui/feedback/EmptyState.tsx"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { Panel, SkeletonRows } from "../ui/layout/Screen.tsx"
import { size } from "../ui/display/formatBytes.ts"
import { Tabs, type Tab } from "../ui/layout/Tabs.tsx"
import { WebhooksOf } from "./EmailWebhooks.tsx"
import { Foreign } from "../ui/display/UntrustedText.tsx"

interface Props {
  readonly email: EmailWithContent
  readonly events: ReadonlyArray<EventRecord>
}

export const Content = ({ email, events }: Props) => {
  const { content, id } = email
  const mayWebhooks = useMay("webhooks:manage")
  if (content === null)
    return (
      <Panel>
        <Empty icon={<FileQuestion size={20} />} title="The content is no longer kept">
          What happened to the message stays in the log; its text and attachments are forgotten after the days that the
          account’s plan says.
        </Empty>
      </Panel>
    )
  const { attachments, html, text } = content
  const tabs: ReadonlyArray<Tab> = [
    ...(html === null ? [] : [{ name: "Preview", content: () => <HtmlFrame id={id} /> }]),
    ...(text === null ? [] : [{ name: "Text", content: () => <PlainText text={text} /> }]),
    ...(html === null ? [] : [{ name: "HTML", content: () => <Source text={html} label="The HTML source" /> }]),
    ...(instance.transport === "capture"
      ? [
          { name: "Headers", content: () => <Captured id={id} part="headers" /> },
          { name: "Raw", content: () => <Captured id={id} part="raw" /> },
        ]
      : [
          { name: "Headers", content: () => <OwnHeaders email={email} events={events} /> },
          { name: "Raw", content: () => <Composed id={id} /> },
        ]),
    { name: "Attachments", count: attachments.length, content: () => <Attachments email={email} /> },
    ...(mayWebhooks ? [{ name: "Webhooks", content: () => <WebhooksOf events={events} /> }] : []),
  ]
  return (
    <Panel className="overflow-hidden">
      <Tabs label="Content" tabs={tabs} />
    </Panel>
  )
}

/** A stranger’s HTML in a frame that runs nothing; pictures from elsewhere come when they are asked for. */
export const HtmlFrame = ({ id }: { readonly id: string }) => {
  const [images, setImages] = useState(false)
  const [narrow, setNarrow] = useState(false)
  return (
    <div>
      <div className="flex items-center gap-1 border-b border-line px-3 py-1.5">
        <IconButton
          label="As wide as a desk"
          aria-pressed={!narrow}
          onClick={() => setNarrow(false)}
          className={cx(!narrow && "bg-hover")}
        >
          <Monitor size={15} />
        </IconButton>
        <IconButton
          label="As narrow as a phone"
          aria-pressed={narrow}
          onClick={() => setNarrow(true)}
          className={cx(narrow && "bg-hover")}
        >
          <Smartphone size={15} />
        </IconButton>
        <span className="grow" />
        <Button
          small
          look="quiet"
          icon={images ? <ImageOff size={14} /> : <Image size={14} />}
          onClick={() => setImages(!images)}
        >
          {images ? "Hide remote images" : "Load remote images"}
        </Button>
      </div>
      <div className="flex justify-center bg-sunken">
        <iframe
          key={String(images)}
          title="The message as it looks"
          src={`/preview/emails/${id}${images ? "?images=1" : ""}`}
          sandbox="allow-popups allow-popups-to-escape-sandbox"
          className={cx("h-[34rem] w-full resize-y border-0 bg-white", narrow && "max-w-[390px]")}
        />
      </div>
    </div>
  )
}

export const PlainText = ({ text }: { readonly text: string }) => (
  <pre
    tabIndex={0}
    aria-label="The text part"
    className="max-h-[36rem] overflow-auto p-4 font-mono text-xs leading-relaxed break-words whitespace-pre-wrap"
  >
    {text}
  </pre>
)

export const Source = ({ label, text }: { readonly text: string; readonly label: string }) => (
  <div className="max-h-[36rem] overflow-auto p-4">
    <CodeBlock code={text} label={label} />
  </div>
)

const fromBase64 = (text: string): string =>
  new TextDecoder().decode(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)))

export const HeaderList = ({
  headers,
}: {
  readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>
}) => (
  <dl className="divide-y divide-line">
    {headers.map(({ name, value }, nth) => (
      <div key={nth} className="grid gap-x-4 px-4 py-2 text-xs sm:grid-cols-[11rem_1fr]">
        <dt className="font-medium text-ink-2">
          <Foreign text={name} />
        </dt>
        <dd className="min-w-0 font-mono break-all text-ink">
          <Foreign text={value} />
        </dd>
      </div>
    ))}
  </dl>
)

const NotYet = ({ error }: { readonly error: Error | null }) =>
  error === null ? (
    <SkeletonRows rows={4} />
  ) : (
    <div className="p-4">
      <ErrorNote error={error} />
    </div>
  )

/** As it would have gone out, signature included: the inbox of the sandbox keeps the bytes. */
const Captured = ({ id, part }: { readonly id: string; readonly part: "headers" | "raw" }) => {
  const query = useQuery(queries.captured(id))
  if (query.data === undefined) return <NotYet error={query.error} />
  return part === "raw" ? (
    <Source text={fromBase64(query.data.raw)} label="The whole message as it is on the wire" />
  ) : (
    <HeaderList headers={query.data.headers} />
  )
}

/** Composed anew, which gives the same bytes; nothing keeps what has left. */
const Composed = ({ id }: { readonly id: string }) => {
  const query = useQuery(queries.raw(id))
  if (query.data === undefined) return <NotYet error={query.error} />
  return <Source text={query.data} label="The whole message as it is on the wire, but for its DKIM signature" />
}

const isText = (value: unknown): value is string => typeof value === "string"

const OwnHeaders = ({ email, events }: Props) => {
  const given = events[0]?.data["headers"]
  const own =
    typeof given === "object" && given !== null ? Object.entries(given).filter(([, value]) => isText(value)) : []
  return (
    <HeaderList
      headers={[
        { name: "From", value: email.from },
        { name: "To", value: email.to.join(", ") },
        ...(email.cc.length === 0 ? [] : [{ name: "Cc", value: email.cc.join(", ") }]),
        { name: "Subject", value: email.subject },
        { name: "Message-ID", value: email.message_id },
        ...own.map(([name, value]) => ({ name, value: String(value) })),
      ]}
    />
  )
}

const Attachments = ({ email }: { readonly email: EmailWithContent }) => {
  const attachments = email.content?.attachments ?? []
  if (attachments.length === 0) return <p className="p-8 text-center text-sm text-ink-3">Nothing is attached.</p>
  return (
    <ul className="divide-y divide-line">
      {attachments.map((file, nth) => (
        <li key={nth} className="flex items-center gap-3 px-4 py-3 text-sm">
          <span className="min-w-0 grow">
            <span className="block truncate">
              <Foreign text={file.filename} />
            </span>
            <span className="block truncate text-xs text-ink-3">
              {file.content_type} · {size(file.size_bytes)}
              {file.content_id === null ? "" : ` · shown inside as cid:${file.content_id}`}
            </span>
          </span>
          <a
            href={`/preview/emails/${email.id}/attachments/${nth}`}
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
