import { useQuery, useSuspenseQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { CircleCheck, Download, Info, Trash2, TriangleAlert } from "lucide-react"
import * as queries from "../api/Queries.ts"
import type { WholeSandboxMessage } from "../api/Records.ts"
import { HeaderList, HtmlFrame, PlainText, Source } from "../emails/EmailContent.tsx"
import { size } from "../ui/display/formatBytes.ts"
import { IconButton } from "../ui/controls/Button.tsx"
import { Panel } from "../ui/layout/Screen.tsx"
import { Tabs, type Tab } from "../ui/layout/Tabs.tsx"
import { exactly } from "../ui/display/Time.tsx"
import { type Check, checksOf, linksOf } from "./MessageChecks.ts"
import { Foreign } from "../ui/display/UntrustedText.tsx"

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))

const save = (filename: string, base64: string, type: string): void => {
  const url = URL.createObjectURL(new Blob([bytesOf(base64)], { type }))
  const link = document.createElement("a")
  link.href = url
  link.download = filename
  link.click()
  URL.revokeObjectURL(url)
}

/** `onRemove` is absent where the session may only read. */
export const Mail = ({ id, onRemove }: { readonly id: string; readonly onRemove: (() => void) | undefined }) => {
  const { data: mail } = useSuspenseQuery(queries.captured(id))
  const { data: domains } = useQuery(queries.domains)
  const checks = checksOf(
    mail,
    new Map((domains?.data ?? []).map(({ name, status }) => [name as string, status as string])),
  )
  const worries = checks.filter(({ level }) => level === "warn").length
  const tabs: ReadonlyArray<Tab> = [
    ...(mail.html === null ? [] : [{ name: "Preview", content: () => <HtmlFrame id={id} /> }]),
    ...(mail.text === null ? [] : [{ name: "Text", content: () => <PlainText text={mail.text ?? ""} /> }]),
    { name: "Checks", count: worries, content: () => <Checks checks={checks} /> },
    { name: "Links", count: linksOf(mail).length, content: () => <Links mail={mail} /> },
    { name: "Headers", content: () => <HeaderList headers={mail.headers} /> },
    {
      name: "Raw",
      content: () => (
        <Source text={new TextDecoder().decode(bytesOf(mail.raw))} label="The whole message as it is on the wire" />
      ),
    },
    { name: "Attachments", count: mail.attachments.length, content: () => <Attachments mail={mail} /> },
  ]
  return (
    <Panel className="min-w-0 overflow-hidden">
      <header className="flex items-start gap-3 p-4">
        <div className="min-w-0 grow">
          <h2 className="text-lg font-semibold tracking-tight break-words">
            {mail.subject === "" ? "No subject" : <Foreign text={mail.subject} />}
          </h2>
          <p className="mt-1 text-sm text-ink-2">
            <Foreign text={mail.headers.find(({ name }) => name.toLowerCase() === "from")?.value ?? ""} /> →{" "}
            <Foreign text={mail.recipients.join(", ")} />
          </p>
          <p className="mt-0.5 text-xs text-ink-3">
            {exactly(mail.created_at)} · {size(mail.size_bytes)} ·{" "}
            <Link to="/emails/$id" params={{ id }} className="text-accent underline underline-offset-2">
              its log
            </Link>
          </p>
        </div>
        <IconButton label="Save as a file" onClick={() => save(`${id}.eml`, mail.raw, "message/rfc822")}>
          <Download size={16} />
        </IconButton>
        {onRemove === undefined ? undefined : (
          <IconButton label="Delete this mail" onClick={onRemove}>
            <Trash2 size={16} />
          </IconButton>
        )}
      </header>
      <div className="border-t border-line">
        <Tabs label="The mail" tabs={tabs} />
      </div>
    </Panel>
  )
}

const ICONS = {
  good: <CircleCheck size={16} className="text-good" aria-label="Good" />,
  warn: <TriangleAlert size={16} className="text-warn" aria-label="Worth a look" />,
  note: <Info size={16} className="text-ink-3" aria-label="Note" />,
} as const

const Checks = ({ checks }: { readonly checks: ReadonlyArray<Check> }) => (
  <ul className="divide-y divide-line">
    {checks.map(({ level, name, said }) => (
      <li key={name} className="flex items-start gap-3 px-4 py-3">
        <span className="mt-0.5">{ICONS[level]}</span>
        <span className="min-w-0">
          <span className="block text-sm font-medium">{name}</span>
          <span className="block text-sm break-words text-ink-2">
            <Foreign text={said} />
          </span>
        </span>
      </li>
    ))}
  </ul>
)

const Links = ({ mail }: { readonly mail: WholeSandboxMessage }) => {
  const links = linksOf(mail)
  return links.length === 0 ? (
    <p className="p-8 text-center text-sm text-ink-3">There is no link in it.</p>
  ) : (
    <ul className="divide-y divide-line">
      {links.map(({ href, words }, nth) => (
        <li key={nth} className="px-4 py-2.5 text-sm">
          <span className="block truncate">{words === "" ? "(no words)" : <Foreign text={words} />}</span>
          {/^(?:https?|mailto):/iu.test(href) ? (
            <a
              href={href}
              target="_blank"
              rel="noreferrer noopener"
              className="block truncate font-mono text-xs text-accent underline underline-offset-2"
            >
              {href}
            </a>
          ) : (
            // Whoever wrote the mail does not choose what runs here.
            <code className="block truncate font-mono text-xs text-ink-2">{href}</code>
          )}
        </li>
      ))}
    </ul>
  )
}

const Attachments = ({ mail }: { readonly mail: WholeSandboxMessage }) =>
  mail.attachments.length === 0 ? (
    <p className="p-8 text-center text-sm text-ink-3">Nothing is attached.</p>
  ) : (
    <ul className="divide-y divide-line">
      {mail.attachments.map((file, nth) => (
        <li key={nth} className="flex items-center gap-3 px-4 py-3 text-sm">
          <span className="min-w-0 grow">
            <span className="block truncate">
              <Foreign text={file.filename ?? "without a name"} />
            </span>
            <span className="block truncate text-xs text-ink-3">
              {file.content_type} · {size(file.size_bytes)}
            </span>
          </span>
          <IconButton
            label={`Save ${file.filename ?? "the file"}`}
            onClick={() => save(file.filename ?? "attachment", file.content, "application/octet-stream")}
          >
            <Download size={16} />
          </IconButton>
        </li>
      ))}
    </ul>
  )
