import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Download, Reply } from "lucide-react"
import { useState } from "react"
import type { InboundEmailWhole } from "../api/Records.ts"
import * as Mode from "../api/Mode.ts"
import { Conversation } from "../emails/Conversation.tsx"
import { Attachments, HeaderList, HtmlFrame, MailPanel, PlainText } from "../emails/compose/MessageParts.tsx"
import { ReceiptMenu } from "../receipts/ReceiptMenu.tsx"
import { useHasScope } from "../session/useHasScope.ts"
import { Button } from "../ui/controls/Button.tsx"
import { Dialog, DialogForm } from "../ui/feedback/Dialog.tsx"
import { formatBytes } from "../ui/display/formatBytes.ts"
import { formatDateTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import type { Tab } from "../ui/layout/Tabs.tsx"
import * as ReceivedQueries from "./ReceivedQueries.ts"
import * as Api from "../api/Api.ts"
import { TextArea, TextField, useForm } from "../ui/controls/Field.tsx"

interface Props {
  readonly id: string
  /** Undefined if the user may only read. */
  readonly onDelete: (() => void) | undefined
}

/** One received mail, with the conversation that it belongs to. */
export const ReceivedMail = ({ id, onDelete }: Props) => {
  const { data: mail } = useSuspenseQuery(ReceivedQueries.mail(id))
  const canSend = useHasScope("email:send")
  const { html } = mail
  const [replying, setReplying] = useState(false)
  const link = (file: InboundEmailWhole["attachments"][number]) => (
    <a
      href={`/v1${Mode.withMode(`/inbound/${id}/attachments/${file.id}`)}`}
      download
      aria-label={`Download ${file.filename}`}
      className="rounded p-1.5 text-ink-2 hover:bg-hover"
    >
      <Download size={16} />
    </a>
  )
  const tabs: ReadonlyArray<Tab> = [
    ...(mail.stripped_text === null
      ? []
      : [{ name: "Message", content: () => <PlainText text={mail.stripped_text ?? ""} /> }]),
    ...(html === null ? [] : [{ name: "Preview", content: () => <HtmlFrame id={id} html={html} of="inbound" /> }]),
    ...(mail.text === null ? [] : [{ name: "Text", content: () => <PlainText text={mail.text ?? ""} /> }]),
    { name: "Conversation", content: () => <Conversation id={mail.thread_id} own={id} /> },
    { name: "Routes", count: mail.routes.length + mail.forwards.length, content: () => <RoutesApplied mail={mail} /> },
    { name: "Sender", content: () => <HeaderList headers={findingsOf(mail)} /> },
    { name: "Headers", content: () => <HeaderList headers={mail.headers} /> },
    {
      name: "Attachments",
      count: mail.attachments.length,
      content: () => <Attachments files={mail.attachments} download={link} />,
    },
  ]
  return (
    <MailPanel
      subject={mail.subject}
      from={senderOf(mail)}
      to={mail.envelope.to}
      facts={
        <>
          {formatDateTime(mail.created_at)} · {formatBytes(mail.size_bytes)}
          {mail.email_id === null ? undefined : (
            <>
              {" · "}
              <Link to="/emails/$id" params={{ id: mail.email_id }} className="link">
                View the email it answers
              </Link>
            </>
          )}
        </>
      }
      actions={
        <>
          {canSend ? (
            <Button small icon={<Reply size={15} />} onClick={() => setReplying(true)}>
              Reply
            </Button>
          ) : undefined}
          <ReceiptMenu id={id} of="inbound" small />
          <a
            href={`/v1${Mode.withMode(`/inbound/${id}/raw`)}`}
            download={`${id}.eml`}
            aria-label="Download message"
            title="Download message"
            className="rounded p-1.5 text-ink-2 hover:bg-hover"
          >
            <Download size={16} />
          </a>
        </>
      }
      onDelete={onDelete}
      tabs={tabs}
      note={
        mail.text === null && mail.html === null ? (
          <p className="px-4 pt-4 text-sm text-ink-3">The content of this mail is empty or no longer kept.</p>
        ) : undefined
      }
    >
      <Dialog
        open={replying}
        onClose={() => setReplying(false)}
        title="Reply"
        description={<UntrustedText text={`To ${senderOf(mail)}`} />}
        wide
      >
        <ReplyForm mail={mail} onDone={() => setReplying(false)} />
      </Dialog>
    </MailPanel>
  )
}

const senderOf = ({ envelope, from }: InboundEmailWhole): string => {
  if (from === null) return envelope.from
  return from.name === null ? from.address : `${from.name} <${from.address}>`
}

/** Findings about the sender, as names and values. */
const findingsOf = ({ auth, automatic, envelope }: InboundEmailWhole) => [
  { name: "SPF", value: auth.spf },
  { name: "DKIM", value: auth.dkim.map(({ domain, result }) => `${domain} ${result}`).join(", ") || "none" },
  { name: "DMARC", value: auth.dmarc },
  { name: "ARC", value: auth.arc },
  { name: "Return path", value: envelope.from || "none" },
  { name: "Client", value: [envelope.helo, envelope.remote_ip].filter((each) => each !== null).join(", ") || "none" },
  { name: "TLS", value: envelope.tls ?? "none" },
  { name: "Written by", value: automatic === null ? "a person" : automatic.replace("_", " ") },
]

interface ReplyProps {
  readonly mail: InboundEmailWhole
  readonly onDone: () => void
}

/** Writes an answer to a received mail, whose recipient, subject and thread follow from the mail. */
const ReplyForm = ({ mail, onDone }: ReplyProps) => {
  const client = useQueryClient()
  const form = useForm({
    initial: { from: mail.envelope.to[0] ?? "", text: "" },
    send: ({ from, text }) => Api.post(`/inbound/${mail.id}/reply`, { from: from.trim(), text }),
    onSent: () => {
      void client.invalidateQueries({ queryKey: ["received", mail.id] })
      void client.invalidateQueries({ queryKey: ["threads", mail.thread_id] })
      onDone()
    },
  })
  return (
    <DialogForm submit="Send reply" form={form} onCancel={onDone}>
      <TextField label="From" hint="An address of one of your verified domains." required {...form.input("from")} />
      <TextArea label="Message" autoFocus required className="min-h-48" {...form.input("text")} />
    </DialogForm>
  )
}

interface Row {
  readonly action: string
  readonly result: string
  readonly email_id: string | null
  readonly reason: string | null
}

const FORWARD = "forward"

/** Routes that applied to a mail, and forwards that no route asked for, with their results. */
const RoutesApplied = ({ mail }: { readonly mail: InboundEmailWhole }) => {
  const rows: ReadonlyArray<Row> = [
    ...mail.routes,
    ...mail.forwards.map((forward) => ({ ...forward, action: FORWARD })),
  ]
  return rows.length === 0 ? (
    <p className="p-8 text-center text-sm text-ink-3">
      No route applied: the mail was stored, and webhooks were called.
    </p>
  ) : (
    <ul className="divide-y divide-line">
      {rows.map(({ action, email_id, reason, result }, nth) => (
        <li key={`${nth} ${action}`} className="flex items-baseline gap-3 px-4 py-3 text-sm">
          <span className="w-24 shrink-0 font-medium">{action}</span>
          <span className="min-w-0 grow break-words text-ink-2">
            {result}
            {reason === null ? undefined : `: ${reason}`}
          </span>
          {email_id === null ? undefined : (
            <Link to="/emails/$id" params={{ id: email_id }} className="shrink-0 link">
              View the email
            </Link>
          )}
        </li>
      ))}
    </ul>
  )
}
