import { Link, useNavigate } from "@tanstack/react-router"
import { Paperclip, Send, X } from "lucide-react"
import { useState } from "react"
import { instance } from "../../api/instance.ts"
import * as Api from "../../api/Api.ts"
import { formatBytes } from "../../ui/display/formatBytes.ts"
import { Button } from "../../ui/controls/Button.tsx"
import { CodeBlock } from "../../ui/controls/Code.tsx"
import { ConfirmDialog } from "../../ui/feedback/ConfirmDialog.tsx"
import { ErrorMessage } from "../../ui/feedback/ErrorMessage.tsx"
import { TextArea, TextField, useForm } from "../../ui/controls/Field.tsx"
import { Panel, Screen } from "../../ui/layout/Screen.tsx"
import { showToast } from "../../ui/feedback/Toasts.tsx"
import { CreateKey } from "../../firstEmail/FirstEmail.tsx"
import * as SampleKey from "../../firstEmail/SampleKey.ts"
import { useHasScope } from "../../session/useHasScope.ts"
import { UntrustedText } from "../../ui/display/UntrustedText.tsx"
import { ComposePreview } from "./ComposePreview.tsx"
import { useVerifiedDomain } from "../../session/useVerifiedDomain.ts"
import { useKeyNames } from "../../session/Names.ts"

interface AttachedFile {
  readonly filename: string
  readonly content: string
  readonly bytes: number
}

/** `String.fromCharCode` takes a limited number of arguments. */
const CHUNK_BYTES = 0x8000

const base64 = (bytes: Uint8Array): string => {
  let text = ""
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
    text += String.fromCharCode(...bytes.subarray(at, at + CHUNK_BYTES))
  return btoa(text)
}

const splitList = (text: string): ReadonlyArray<string> =>
  text
    .split(/[,;\n]/u)
    .map((each) => each.trim())
    .filter((each) => each !== "")

/** The fields, by their names in the API. The sender is the first verified domain's until another is typed. */
const EMPTY = {
  from: undefined as string | undefined,
  to: "",
  cc: "",
  bcc: "",
  reply_to: "",
  subject: "",
  html: "",
  text: "",
  tags: "",
  scheduled_at: "",
}

const bodyOf = ({ from, html, scheduled_at, subject, text, to, ...others }: typeof EMPTY, ownSender: string) => {
  const lists = Object.entries(others).map(([name, list]) => [name, splitList(list)] as const)
  return {
    from: from ?? ownSender,
    to: splitList(to),
    subject,
    ...Object.fromEntries(lists.filter(([, list]) => list.length > 0)),
    ...(html.trim() === "" ? {} : { html }),
    ...(text.trim() === "" ? {} : { text }),
    ...(scheduled_at === "" ? {} : { scheduled_at: new Date(scheduled_at).toISOString() }),
  }
}

/** Form to write and send a single email. */
export const Compose = () => {
  const navigate = useNavigate()
  const key = SampleKey.useKey()
  const canCreateKeys = useHasScope("admin")
  // The text of a key that exists is not known any more; its name stands for it in a shell.
  const hasKeys = useKeyNames().size > 0
  const shownKey = key ?? (hasKeys ? "$WAYBILL_KEY" : undefined)
  const verifiedDomain = useVerifiedDomain()
  const [files, setFiles] = useState<ReadonlyArray<AttachedFile>>([])
  const [isAsking, setAsking] = useState(false)
  const [wasAsked, setAsked] = useState(false)
  const [lacksRecipient, setLacksRecipient] = useState(false)
  const ownSender = verifiedDomain === undefined ? "" : `hello@${verifiedDomain}`
  const form = useForm({
    initial: EMPTY,
    send: async (values) => {
      const attachments = files.map(({ content, filename }) => ({ filename, content }))
      const body = { ...bodyOf(values, ownSender), ...(files.length === 0 ? {} : { attachments }) }
      const { id } = await Api.post<{ readonly id: string }>("/email/send", body)
      showToast(values.scheduled_at === "" ? "Email queued." : "Email scheduled.")
      await navigate({ to: "/emails/$id", params: { id } })
    },
  })
  const { html, scheduled_at, subject, text } = form.values
  const missing = [
    ...(subject.trim() === "" ? ["a subject"] : []),
    ...(html.trim() === "" && text.trim() === "" ? ["text"] : []),
  ].join(" and ")
  const verb = scheduled_at === "" ? "Send" : "Schedule"
  const body = bodyOf(form.values, ownSender)
  const attach = async (selected: FileList | null) => {
    const added = await Promise.all(
      [...(selected ?? [])].map(async (file) => {
        const bytes = new Uint8Array(await file.arrayBuffer())
        return { filename: file.name, content: base64(bytes), bytes: bytes.length }
      }),
    )
    setFiles([...files, ...added])
  }
  return (
    <Screen
      title="Compose"
      hint={
        <>
          {instance.transport === "capture"
            ? "Sandbox: mail is kept here and never delivered."
            : "Email is delivered and counts toward this month’s limit."}
        </>
      }
    >
      <form
        className="grid grid-cols-1 items-start gap-5 lg:grid-cols-2"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          setLacksRecipient(body.to.length === 0)
          if (body.to.length === 0) return
          if (missing !== "" && !wasAsked) setAsking(true)
          else form.submit()
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return
          if (event.metaKey || event.ctrlKey) event.currentTarget.requestSubmit()
          // Enter in a line of the form does not send: most of the email is still to be written then.
          else if (event.target instanceof HTMLInputElement && event.target.type !== "file") event.preventDefault()
        }}
      >
        <Panel>
          <div className="flex flex-col gap-4 p-4">
            <TextField
              label="From"
              required
              value={body.from}
              onChange={(event) => form.set({ from: event.target.value })}
              error={form.errorOf("from")}
            />
            <TextField
              label="To"
              required
              autoFocus
              placeholder="ana@example.org"
              hint="Separate with commas."
              {...form.input("to")}
              error={lacksRecipient && body.to.length === 0 ? "Enter at least one address." : form.errorOf("to")}
            />
            {form.reason === "all_recipients_suppressed" && form.errorOf("to") !== undefined ? (
              <Link to="/suppressions" search={{ q: body.to[0] ?? "" }} className="link -mt-2 w-fit text-xs">
                View suppression
              </Link>
            ) : undefined}
            <TextField
              label="Subject"
              required
              {...form.input("subject")}
              error={lacksRecipient && subject.trim() === "" ? "Enter a subject." : form.errorOf("subject")}
            />
            <TextArea
              label="HTML"
              rows={7}
              spellCheck={false}
              placeholder="<p>Hello Ana, …</p>"
              className="font-mono"
              {...form.input("html")}
            />
            <TextArea label="Text" rows={4} hint="Leave empty to generate it from the HTML." {...form.input("text")} />
            {files.length === 0 ? undefined : (
              <ul className="flex flex-col gap-1.5">
                {files.map((file, index) => (
                  <li
                    key={index}
                    className="flex items-center gap-2 rounded-lg border border-line px-2.5 py-1.5 text-sm"
                  >
                    <Paperclip size={13} className="text-ink-3" aria-hidden />
                    <UntrustedText className="min-w-0 grow truncate" text={file.filename} />
                    <span className="text-xs text-ink-3">{formatBytes(file.bytes)}</span>
                    <button
                      type="button"
                      aria-label={`Remove ${file.filename}`}
                      className="rounded-md p-1 text-ink-3 hover:text-ink"
                      onClick={() => setFiles(files.filter((each) => each !== file))}
                    >
                      <X size={13} />
                    </button>
                  </li>
                ))}
              </ul>
            )}
            <ErrorMessage error={form.error} />
          </div>
          <footer className="sticky bottom-0 z-10 flex flex-wrap items-center gap-2 rounded-b-xl border-t border-line bg-panel px-4 py-3">
            <Button type="submit" variant="primary" icon={<Send size={14} />} busy={form.isPending}>
              {verb}
            </Button>
            <label className="inline-flex h-8 items-center gap-1.5 rounded-lg border border-line-strong bg-raised px-3 text-sm font-medium focus-within:outline-2 focus-within:outline-accent hover:bg-hover">
              <Paperclip size={14} aria-hidden />
              Attach files
              <input type="file" multiple className="sr-only" onChange={(event) => void attach(event.target.files)} />
            </label>
          </footer>
        </Panel>
        <div className="flex min-w-0 flex-col gap-5">
          <ComposePreview html={html} text={text} />
          <Panel title="Options">
            <div className="grid gap-4 p-4 sm:grid-cols-2">
              <TextField label="Cc" hint="Separate with commas." {...form.input("cc")} />
              <TextField label="Bcc" hint="Separate with commas." {...form.input("bcc")} />
              <TextField
                label="Reply-to"
                hint="Leave empty to receive answers at the sender’s address."
                {...form.input("reply_to")}
              />
              <TextField
                label="Tags"
                placeholder="receipt"
                hint="Up to five. Separate with commas."
                {...form.input("tags")}
              />
              <TextField
                label="Send at"
                type="datetime-local"
                hint="In your time zone. Leave empty to send now."
                {...form.input("scheduled_at")}
              />
            </div>
          </Panel>
          <Panel title="API request">
            <div className="flex flex-col items-start gap-3 p-4">
              {shownKey === undefined ? (
                <>
                  <p className="text-sm text-ink-2">
                    {canCreateKeys
                      ? "Create a key to see the request that sends this email, ready to run."
                      : "An administrator of the account can create a key for the request that sends this email."}
                  </p>
                  <CreateKey variant="secondary" />
                </>
              ) : (
                <CodeBlock
                  label="API request for this email"
                  code={`curl ${instance.url}/v1/email/send \\\n  -H "Authorization: Bearer ${shownKey}" \\\n  -H "Content-Type: application/json" \\\n  -d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`}
                />
              )}
            </div>
          </Panel>
        </div>
      </form>
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`${verb} without ${missing}?`}
        action={`${verb} anyway`}
        cancelLabel="Back to the email"
        isDestructive={false}
        onConfirm={async () => {
          setAsked(true)
          form.submit()
        }}
      >
        It arrives as it is. An email that was sent cannot be changed.
      </ConfirmDialog>
    </Screen>
  )
}
