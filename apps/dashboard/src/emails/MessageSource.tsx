import { useQuery } from "@tanstack/react-query"
import { instance } from "../api/instance.ts"
import * as Queries from "../api/Queries.ts"
import type { EmailWithContent } from "../api/Records.ts"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import { HeaderList, Source } from "./MessageParts.tsx"

interface Props {
  readonly email: EmailWithContent
  readonly part: "headers" | "raw"
}

/** Headers or source of an email in any state: the captured bytes, or the composed message if there are none. */
export const MessageSource = ({ email, part }: Props) => {
  const { id, recipients } = email
  const isCaptured =
    instance.transport === "capture" &&
    recipients.some(({ status }) => status === "delivered" || status === "complained")
  // Captured mail expires, and users delete it.
  const captured = useQuery({ ...Queries.captured(id), enabled: isCaptured })
  const isComposed = !isCaptured || captured.isError
  const composed = useQuery({ ...Queries.raw(id), enabled: isComposed })
  const source = isComposed ? composed.data : captured.data && fromBase64(captured.data.raw)
  if (source === undefined)
    return composed.error === null ? (
      <SkeletonRows rows={4} />
    ) : (
      <div className="p-4">
        <ErrorMessage error={composed.error} />
      </div>
    )
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
