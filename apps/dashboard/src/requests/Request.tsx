import { useSuspenseQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import * as Queries from "../api/Queries.ts"
import { CopyButton } from "../ui/controls/CopyButton.tsx"
import { CodeBlock, indented } from "../ui/controls/Code.tsx"
import { formatBytes } from "../ui/display/formatBytes.ts"
import { formatDuration } from "../ui/display/formatDuration.ts"
import { formatDateTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { DescriptionList } from "../ui/layout/DescriptionList.tsx"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import type { RequestDetail } from "../api/Records.ts"
import { RequestStatus } from "./RequestStatus.tsx"
import { useSenderName } from "../session/Names.ts"

export const Request = () => {
  const { id } = useParams({ from: "/shell/requests/$id" })
  const query = useSuspenseQuery(Queries.request(id))
  const { method, path, status } = query.data
  return (
    <Screen
      name={`${method} ${path}`}
      back={{ to: "/requests", name: "Requests" }}
      title={
        <span className="font-mono text-lg break-all">
          {method} <UntrustedText text={path} />
        </span>
      }
      status={<RequestStatus status={status} />}
    >
      <Detail request={query.data} />
    </Screen>
  )
}

const Detail = ({ request }: { readonly request: RequestDetail }) => {
  const senderName = useSenderName()
  const { answer, api_key_id, body, body_bytes, email_ids } = request
  const message = messageOf(answer)
  return (
    <>
      <Panel title="Details">
        <DescriptionList
          items={[
            [
              "Request ID",
              <span key="id" className="flex items-center gap-1">
                <code className="min-w-0 truncate font-mono text-xs">{request.id}</code>
                <CopyButton text={request.id} label="Copy request ID" />
              </span>,
            ],
            ["Time", formatDateTime(request.created_at)],
            message !== undefined && ["Message", <UntrustedText key="message" text={message} />],
            request.reason !== null && ["Reason", <Reason key="reason" reason={request.reason} />],
            request.query !== null && ["Query", <UntrustedText key="query" text={request.query} />],
            [
              "Sent by",
              api_key_id === null ? (
                <UntrustedText key="member" text={senderName(request)} />
              ) : (
                <Link
                  key="key"
                  to="/requests"
                  search={{ api_key_id }}
                  className="link"
                  title="Show all requests with this key"
                >
                  <UntrustedText text={senderName(request)} />
                </Link>
              ),
            ],
            ["IP address", request.address],
            ["Duration", formatDuration(request.duration_ms)],
            email_ids.length > 0 && ["Emails", <Emails key="emails" ids={email_ids} />],
          ]}
        />
      </Panel>
      <Panel title={body_bytes === 0 ? "Body" : `Body (${formatBytes(body_bytes)} as sent)`}>
        <div className="p-4">
          {body === null ? (
            <p className="text-sm text-ink-3">
              {body_bytes === 0
                ? "The request had no body, or it was refused before its body was read."
                : "The body is no JSON and is not stored."}
            </p>
          ) : (
            <CodeBlock code={indented(body)} label="Masked body" />
          )}
        </div>
      </Panel>
      {answer === null ? undefined : (
        <Panel title="Response">
          <div className="p-4">
            <CodeBlock code={indented(answer)} label="Masked response" />
          </div>
        </Panel>
      )}
    </>
  )
}

/** The reason of a refusal, with a link to its page of the docs. */
const Reason = ({ reason }: { readonly reason: string }) => (
  <a href={`/docs/errors/${encodeURIComponent(reason)}`} target="_blank" rel="noopener" className="link">
    <code>{reason}</code>
  </a>
)

/** Returns the message of an error; undefined for another answer, and for one that was cut. */
const messageOf = (answer: string | null): string | undefined => {
  try {
    const { error } = JSON.parse(answer ?? "{}") as { readonly error?: { readonly message?: unknown } }
    return typeof error?.message === "string" ? error.message : undefined
  } catch {
    return undefined
  }
}

const Emails = ({ ids }: { readonly ids: ReadonlyArray<string> }) => (
  <ul>
    {ids.map((id) => (
      <li key={id}>
        <Link to="/emails/$id" params={{ id }} className="font-mono text-xs link">
          {id}
        </Link>
      </li>
    ))}
  </ul>
)
