import { useQuery, useSuspenseQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { CircleCheck, Download, Info, TriangleAlert } from "lucide-react"
import * as Queries from "../api/Queries.ts"
import type { SandboxMessageWithContent } from "../api/Records.ts"
import { Attachments, HeaderList, HtmlFrame, MailPanel, PlainText, Source } from "../emails/compose/MessageParts.tsx"
import { formatBytes } from "../ui/display/formatBytes.ts"
import { IconButton } from "../ui/controls/Button.tsx"
import type { Tab } from "../ui/layout/Tabs.tsx"
import { formatDateTime } from "../ui/display/Time.tsx"
import * as MessageChecks from "./MessageChecks.ts"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { download } from "../ui/display/download.ts"

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))

const blobOf = (base64: string, type: string): Blob => new Blob([bytesOf(base64)], { type })

/** One message of the sandbox with its checks. `onDelete` is undefined if the user may only read. */
export const SandboxMail = ({ id, onDelete }: { readonly id: string; readonly onDelete: (() => void) | undefined }) => {
  const { data: mail } = useSuspenseQuery(Queries.sandboxMessage(id))
  const { html } = mail
  const { data: domains } = useQuery(Queries.domains)
  const checks = MessageChecks.checksOf(
    mail,
    new Map((domains?.data ?? []).map(({ name, status }) => [name as string, status as string])),
  )
  const warnings = checks.filter(({ level }) => level === "warn").length
  const button = ({ content, filename }: SandboxMessageWithContent["attachments"][number]) => (
    <IconButton
      label={`Download ${filename ?? "file"}`}
      onClick={() => download(blobOf(content, "application/octet-stream"), filename ?? "attachment")}
    >
      <Download size={16} />
    </IconButton>
  )
  const tabs: ReadonlyArray<Tab> = [
    ...(html === null ? [] : [{ name: "Preview", content: () => <HtmlFrame id={id} html={html} /> }]),
    ...(mail.text === null ? [] : [{ name: "Text", content: () => <PlainText text={mail.text ?? ""} /> }]),
    { name: "Checks", count: warnings, content: () => <Checks checks={checks} /> },
    { name: "Links", count: MessageChecks.linksOf(mail).length, content: () => <Links mail={mail} /> },
    { name: "Headers", content: () => <HeaderList headers={mail.headers} /> },
    {
      name: "Raw",
      content: () => <Source text={new TextDecoder().decode(bytesOf(mail.raw))} label="Message source" />,
    },
    {
      name: "Attachments",
      count: mail.attachments.length,
      content: () => <Attachments files={mail.attachments} download={button} />,
    },
  ]
  const save = () => download(blobOf(mail.raw, "message/rfc822"), `${id}.eml`)
  return (
    <MailPanel
      subject={mail.subject}
      from={mail.headers.find(({ name }) => name.toLowerCase() === "from")?.value ?? ""}
      to={mail.recipients}
      facts={
        <>
          {formatDateTime(mail.created_at)} · {formatBytes(mail.size_bytes)} ·{" "}
          <Link to="/emails/$id" params={{ id }} className="link">
            View in log
          </Link>
        </>
      }
      actions={
        <IconButton label="Download message" onClick={save}>
          <Download size={16} />
        </IconButton>
      }
      onDelete={onDelete}
      tabs={tabs}
    />
  )
}

const ICONS = {
  good: <CircleCheck size={16} className="text-good" aria-label="OK" />,
  warn: <TriangleAlert size={16} className="text-warn" aria-label="Warning" />,
  note: <Info size={16} className="text-ink-3" aria-label="Note" />,
} as const

const Checks = ({ checks }: { readonly checks: ReadonlyArray<MessageChecks.Check> }) => (
  <ul className="divide-y divide-line">
    {checks.map(({ level, name, message }) => (
      <li key={name} className="flex items-start gap-3 px-4 py-3">
        <span className="mt-0.5">{ICONS[level]}</span>
        <span className="min-w-0">
          <span className="block text-sm font-medium">{name}</span>
          <UntrustedText className="block text-sm break-words text-ink-2" text={message} />
        </span>
      </li>
    ))}
  </ul>
)

const Links = ({ mail }: { readonly mail: SandboxMessageWithContent }) => {
  const links = MessageChecks.linksOf(mail)
  return links.length === 0 ? (
    <p className="p-8 text-center text-sm text-ink-3">No links.</p>
  ) : (
    <ul className="divide-y divide-line">
      {links.map(({ href, text }, index) => (
        <li key={index} className="px-4 py-2.5 text-sm">
          <span className="block truncate">{text === "" ? "(no text)" : <UntrustedText text={text} />}</span>
          {/^(?:https?|mailto):/iu.test(href) ? (
            <a href={href} target="_blank" rel="noreferrer noopener" className="block truncate font-mono text-xs link">
              {href}
            </a>
          ) : (
            // Other schemes, such as javascript:, are shown as text only.
            <code className="block truncate font-mono text-xs text-ink-2">{href}</code>
          )}
        </li>
      ))}
    </ul>
  )
}
