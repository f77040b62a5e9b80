import { Image, ImageOff, Monitor, Moon, Smartphone, Sun, Trash2 } from "lucide-react"
import { useQuery } from "@tanstack/react-query"
import { type ReactNode, useState } from "react"
import * as Mode from "../../api/Mode.ts"
import * as Queries from "../../api/Queries.ts"
import { Button, IconButton } from "../../ui/controls/Button.tsx"
import { CodeBlock } from "../../ui/controls/Code.tsx"
import { UntrustedText } from "../../ui/display/UntrustedText.tsx"
import { useWidth } from "../../ui/layout/useWidth.ts"
import { PreviewFrame } from "./PreviewFrame.tsx"
import { hasRemoteImages } from "./hasRemoteImages.ts"
import { QueryResult } from "../../ui/layout/QueryResult.tsx"
import { formatBytes } from "../../ui/display/formatBytes.ts"
import { type Tab, Tabs } from "../../ui/layout/Tabs.tsx"
import { Panel } from "../../ui/layout/Screen.tsx"

/** Below this, the narrow layout of an email is easier to read than a scaled one. */
const NARROW_PX = 480

interface Props {
  readonly id: string
  /** HTML of the mail, which the service shows. */
  readonly html: string
  readonly of?: "emails" | "inbound"
}

/** Preview of untrusted HTML in a sandboxed frame without scripts. Remote images load only on request. */
export const HtmlFrame = ({ html, id, of = "emails" }: Props) => {
  const [images, setImages] = useState(false)
  const [isDark, setDark] = useState(false)
  const [box, width] = useWidth()
  const [chosen, setIsNarrow] = useState<boolean>()
  const isNarrow = chosen ?? (width > 0 && width < NARROW_PX)
  // In the page of the service, attached pictures are in place.
  const page = useQuery(Queries.page(Mode.withMode(`/preview/${of}/${id}`)))
  return (
    <div ref={box}>
      <div className="flex items-center gap-1 border-b border-line px-3 py-1.5">
        <IconButton label="Desktop width" isPressed={!isNarrow} onClick={() => setIsNarrow(false)}>
          <Monitor size={15} />
        </IconButton>
        <IconButton label="Phone width" isPressed={isNarrow} onClick={() => setIsNarrow(true)}>
          <Smartphone size={15} />
        </IconButton>
        <IconButton label="Dark mode" isPressed={isDark} onClick={() => setDark(!isDark)}>
          {isDark ? <Sun size={15} /> : <Moon size={15} />}
        </IconButton>
        <span className="grow" />
        {hasRemoteImages(html) ? (
          <Button
            small
            variant="ghost"
            icon={images ? <ImageOff size={14} /> : <Image size={14} />}
            onClick={() => setImages(!images)}
          >
            {images ? "Hide remote images" : "Load remote images"}
          </Button>
        ) : undefined}
      </div>
      <QueryResult isInPanel query={page} rows={6}>
        {(shown) => (
          <PreviewFrame title="Email preview" html={shown} isPhone={isNarrow} isDark={isDark} hasImages={images} />
        )}
      </QueryResult>
    </div>
  )
}

export const PlainText = ({ text }: { readonly text: string }) => (
  <pre
    tabIndex={0}
    aria-label="Plain text"
    className="max-h-[36rem] overflow-auto p-4 font-mono text-xs leading-relaxed break-words whitespace-pre-wrap"
  >
    {text}
  </pre>
)

export const Source = ({ label, text }: { readonly text: string; readonly label: string }) => (
  <div className="max-h-[36rem] overflow-auto p-4">
    <CodeBlock wraps code={text} label={label} />
  </div>
)

export const HeaderList = ({
  headers,
}: {
  readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>
}) => (
  <dl className="divide-y divide-line">
    {headers.map(({ name, value }, index) => (
      <div key={index} className="grid gap-x-4 px-4 py-2 text-xs sm:grid-cols-[11rem_1fr]">
        <UntrustedText as="dt" className="font-medium text-ink-2" text={name} />
        <UntrustedText as="dd" className="min-w-0 font-mono break-all text-ink" text={value} />
      </div>
    ))}
  </dl>
)

interface Attachment {
  readonly filename: string | null
  readonly content_type: string
  readonly size_bytes: number
  readonly content_id?: string | null
}

interface AttachmentsProps<File> {
  readonly files: ReadonlyArray<File>
  /** Link or button that downloads a file. */
  readonly download: (file: File, index: number) => ReactNode
}

export const Attachments = <File extends Attachment>({ download, files }: AttachmentsProps<File>) =>
  files.length === 0 ? (
    <p className="p-8 text-center text-sm text-ink-3">No attachments.</p>
  ) : (
    <ul className="divide-y divide-line">
      {files.map((file, index) => (
        <li key={index} className="flex items-center gap-3 px-4 py-3 text-sm">
          <span className="min-w-0 grow">
            <UntrustedText className="block truncate" text={file.filename ?? "Unnamed file"} />
            <span className="block truncate text-xs text-ink-3">
              {file.content_type} · {formatBytes(file.size_bytes)}
              {file.content_id ? ` · inline as cid:${file.content_id}` : ""}
            </span>
          </span>
          {download(file, index)}
        </li>
      ))}
    </ul>
  )

interface MailProps {
  readonly subject: string | null
  readonly from: string
  readonly to: ReadonlyArray<string>
  /** Line below the addresses. */
  readonly facts: ReactNode
  readonly actions: ReactNode
  /** Undefined if the user may only read. */
  readonly onDelete: (() => void) | undefined
  readonly tabs: ReadonlyArray<Tab>
  /** Stands above the tabs. */
  readonly note?: ReactNode
  /** Dialogs. */
  readonly children?: ReactNode
}

/** A mail beside the list that it is chosen in. */
export const MailPanel = ({ actions, children, facts, from, note, onDelete, subject, tabs, to }: MailProps) => (
  <Panel className="min-w-0 overflow-hidden">
    <header className="flex flex-wrap items-start gap-x-3 gap-y-2 p-4">
      <div className="min-w-0 grow basis-72">
        <h2 className="text-lg font-semibold tracking-tight break-words">
          {subject === null || subject === "" ? "No subject" : <UntrustedText text={subject} />}
        </h2>
        <p className="mt-1 text-sm [overflow-wrap:anywhere] text-ink-2">
          <UntrustedText text={from} /> → <UntrustedText text={to.join(", ")} />
        </p>
        <p className="mt-0.5 text-xs text-ink-3">{facts}</p>
      </div>
      {actions}
      {onDelete === undefined ? undefined : (
        <IconButton label="Delete message" onClick={onDelete}>
          <Trash2 size={16} />
        </IconButton>
      )}
    </header>
    <div className="border-t border-line">
      {note}
      <Tabs label="Message" tabs={tabs} />
    </div>
    {children}
  </Panel>
)
