import { useMutation, useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { Paperclip, Send, X } from "lucide-react"
import { useState } from "react"
import { instance } from "../api/instance.ts"
import * as queries from "../api/Queries.ts"
import { post, Refused } from "../api/Api.ts"
import { size } from "../ui/display/formatBytes.ts"
import { Button } from "../ui/controls/Button.tsx"
import { CodeBlock } from "../ui/display/Code.tsx"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { TextArea, TextField } from "../ui/controls/Field.tsx"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import { say } from "../ui/feedback/Toasts.tsx"
import { Foreign } from "../ui/display/UntrustedText.tsx"

interface File {
  readonly filename: string
  readonly content: string
  readonly bytes: number
}

const CHUNK = 0x8000

const base64 = (bytes: Uint8Array): string => {
  let text = ""
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return btoa(text)
}

const list = (text: string): ReadonlyArray<string> =>
  text
    .split(/[,;\n]/u)
    .map((each) => each.trim())
    .filter((each) => each !== "")

const HTML = `<p>Hello Ana,</p>\n<p>thank you for your order. Your receipt is attached.</p>`

/** A message written by hand, to see how it looks and what becomes of it. */
export const Compose = () => {
  const navigate = useNavigate()
  const domains = useQuery(queries.domains)
  const first = domains.data?.data.find(({ status }) => status === "verified")?.name
  const [from, setFrom] = useState<string>()
  const [to, setTo] = useState("")
  const [subject, setSubject] = useState("")
  const [html, setHtml] = useState(HTML)
  const [text, setText] = useState("")
  const [tags, setTags] = useState("")
  const [at, setAt] = useState("")
  const [files, setFiles] = useState<ReadonlyArray<File>>([])
  const sender = from ?? (first === undefined ? "" : `Acme <hello@${first}>`)
  const body = {
    from: sender,
    to: list(to),
    subject,
    ...(html.trim() === "" ? {} : { html }),
    ...(text.trim() === "" ? {} : { text }),
    ...(list(tags).length === 0 ? {} : { tags: list(tags) }),
    ...(at === "" ? {} : { scheduled_at: new Date(at).toISOString() }),
  }
  const send = useMutation({
    mutationFn: () =>
      post<{ readonly id: string }>("/email/send", {
        ...body,
        ...(files.length === 0 ? {} : { attachments: files.map(({ content, filename }) => ({ filename, content })) }),
      }),
    onSuccess: async ({ id }) => {
      say(at === "" ? "Accepted. Here is what becomes of it." : "Accepted, and kept until its time.")
      await navigate({ to: "/emails/$id", params: { id } })
    },
  })
  const refused = send.error instanceof Refused ? send.error : undefined
  const attach = async (chosen: FileList | null) => {
    const read = await Promise.all(
      [...(chosen ?? [])].map(async (file) => {
        const bytes = new Uint8Array(await file.arrayBuffer())
        return { filename: file.name, content: base64(bytes), bytes: bytes.length }
      }),
    )
    setFiles([...files, ...read])
  }
  return (
    <Screen
      title="Compose"
      hint={
        instance.transport === "capture"
          ? "It is kept in the inbox here and leaves nowhere, whatever the recipient."
          : "It really goes out, and counts in this month’s volume."
      }
    >
      <form
        className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          send.mutate()
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) event.currentTarget.requestSubmit()
        }}
      >
        <Panel>
          <div className="flex flex-col gap-4 p-4">
            <TextField
              label="From"
              required
              value={sender}
              onChange={(event) => setFrom(event.target.value)}
              problem={refused?.of("from")}
            />
            <TextField
              label="To"
              required
              autoFocus
              placeholder="ana@example.org"
              hint="Several with commas between."
              value={to}
              onChange={(event) => setTo(event.target.value)}
              problem={refused?.of("to")}
            />
            <TextField
              label="Subject"
              required
              value={subject}
              onChange={(event) => setSubject(event.target.value)}
              problem={refused?.of("subject")}
            />
            <TextArea
              label="HTML"
              rows={9}
              spellCheck={false}
              className="font-mono"
              value={html}
              onChange={(event) => setHtml(event.target.value)}
              problem={refused?.of("html")}
            />
            <TextArea
              label="Text"
              rows={4}
              hint="Empty: it is derived from the HTML."
              value={text}
              onChange={(event) => setText(event.target.value)}
              problem={refused?.of("text")}
            />
            {files.length === 0 ? undefined : (
              <ul className="flex flex-col gap-1.5">
                {files.map((file, nth) => (
                  <li key={nth} className="flex items-center gap-2 rounded-lg border border-line px-2.5 py-1.5 text-sm">
                    <Paperclip size={13} className="text-ink-3" aria-hidden />
                    <span className="min-w-0 grow truncate">
                      <Foreign text={file.filename} />
                    </span>
                    <span className="text-xs text-ink-3">{size(file.bytes)}</span>
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
            {send.error === null ? undefined : <ErrorNote error={send.error} />}
            <footer className="flex flex-wrap items-center gap-2">
              <Button type="submit" look="solid" icon={<Send size={14} />} busy={send.isPending}>
                {at === "" ? "Send" : "Schedule"}
              </Button>
              <label className="inline-flex h-8 items-center gap-1.5 rounded-lg border border-line-strong bg-raised px-3 text-sm font-medium focus-within:outline-2 focus-within:outline-accent hover:bg-hover">
                <Paperclip size={14} aria-hidden />
                Attach
                <input type="file" multiple className="sr-only" onChange={(event) => void attach(event.target.files)} />
              </label>
            </footer>
          </div>
        </Panel>
        <div className="flex min-w-0 flex-col gap-5">
          <Panel title="Also">
            <div className="flex flex-col gap-4 p-4">
              <TextField
                label="Tags"
                placeholder="receipt"
                hint="At most five, with commas between."
                value={tags}
                onChange={(event) => setTags(event.target.value)}
                problem={refused?.of("tags")}
              />
              <TextField
                label="Send at"
                type="datetime-local"
                hint="Empty: now."
                value={at}
                onChange={(event) => setAt(event.target.value)}
                problem={refused?.of("scheduled_at")}
              />
            </div>
          </Panel>
          <Panel title="The same by the API">
            <div className="p-4">
              <CodeBlock
                label="The same message as a request"
                code={`curl ${instance.url}/v1/email/send \\\n  -H "Authorization: Bearer $WAYBILL_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`}
              />
            </div>
          </Panel>
        </div>
      </form>
    </Screen>
  )
}
