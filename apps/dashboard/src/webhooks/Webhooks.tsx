import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { ChevronRight, Plus, Webhook as Icon } from "lucide-react"
import { useState } from "react"
import { instance } from "../api/instance.ts"
import * as queries from "../api/Queries.ts"
import type { WebhookWithSecret } from "../api/Records.ts"
import { State } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { Empty } from "../ui/feedback/EmptyState.tsx"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { Panel, Screen, SkeletonRows } from "../ui/layout/Screen.tsx"
import { Secret } from "./SigningSecret.tsx"
import { WebhookForm } from "./WebhookForm.tsx"
import { Foreign } from "../ui/display/UntrustedText.tsx"

const EXAMPLES = [
  {
    name: "JavaScript",
    code: [
      `import { verifyWebhook } from "@waybill/client"`,
      ``,
      `// The body as it came, before anything parses it.`,
      `const event = await verifyWebhook(body, request.headers, process.env.WEBHOOK_SECRET)`,
      `if (event.type === "email.bounced") await forget(event.data.recipient)`,
    ].join("\n"),
  },
  {
    name: "curl",
    code: [
      `curl ${instance.url}/v1/webhooks \\`,
      `  -H "Authorization: Bearer $WAYBILL_KEY" \\`,
      `  -H "Content-Type: application/json" \\`,
      `  -d '{"url":"https://example.com/hooks/mail","events":["email.delivered","email.bounced"]}'`,
    ].join("\n"),
  },
]

export const Webhooks = () => {
  const search = useSearch({ from: "/shell/webhooks" })
  const navigate = useNavigate({ from: "/webhooks" })
  const query = useQuery(queries.webhooks)
  const [created, setCreated] = useState<WebhookWithSecret>()
  const create = (open: boolean) => void navigate({ search: open ? { new: true } : {}, replace: true })
  const button = (
    <Button look="solid" icon={<Plus size={15} />} onClick={() => create(true)}>
      Create a webhook
    </Button>
  )
  return (
    <Screen
      title="Webhooks"
      hint="Where what happens is told to, signed, and again until it is heard."
      actions={button}
    >
      <Panel>
        {query.isPending ? (
          <SkeletonRows rows={3} />
        ) : query.isError ? (
          <div className="p-4">
            <ErrorNote error={query.error} onRetry={() => void query.refetch()} />
          </div>
        ) : query.data.data.length === 0 ? (
          <Empty icon={<Icon size={20} />} title="Nobody is told yet" action={button} examples={EXAMPLES}>
            Create a webhook, and your application learns of deliveries, bounces and complaints as they happen.
          </Empty>
        ) : (
          <ul className="divide-y divide-line">
            {query.data.data.map((webhook) => (
              <li key={webhook.id}>
                <Link
                  to="/webhooks/$id"
                  params={{ id: webhook.id }}
                  className="flex items-center gap-4 px-4 py-3 text-sm hover:bg-hover focus-visible:-outline-offset-2"
                >
                  <span className="min-w-0 grow">
                    <span className="block truncate font-medium">{webhook.url}</span>
                    <span className="block truncate text-xs text-ink-3">
                      {webhook.description === null ? (
                        webhook.events.includes("*") ? (
                          "every event"
                        ) : (
                          webhook.events.join(", ")
                        )
                      ) : (
                        <Foreign text={webhook.description} />
                      )}
                    </span>
                  </span>
                  <State state={webhook.enabled ? "enabled" : "disabled"} />
                  <ChevronRight size={15} className="text-ink-3" aria-hidden />
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      <Dialog
        open={search.new === true}
        onOpenChange={create}
        onClosed={() => setCreated(undefined)}
        sticky={created !== undefined}
        title={created === undefined ? "Create a webhook" : "Its secret"}
        description={
          created === undefined
            ? undefined
            : "Copy it now; it is shown this once. With it your application verifies that a call is ours."
        }
      >
        {created === undefined ? (
          <WebhookForm onCancel={() => create(false)} onCreated={setCreated} />
        ) : (
          <Secret
            secret={created.secret}
            onDone={() => void navigate({ to: "/webhooks/$id", params: { id: created.id } })}
          />
        )}
      </Dialog>
    </Screen>
  )
}
