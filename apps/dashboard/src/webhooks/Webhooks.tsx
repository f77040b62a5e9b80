import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { ChevronRight, Plus, Webhook as Icon } from "lucide-react"
import { useState } from "react"
import { instance } from "../api/instance.ts"
import * as Queries from "../api/Queries.ts"
import type { WebhookWithSecret } from "../api/Records.ts"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import { SigningSecret } from "./SigningSecret.tsx"
import { WebhookForm } from "./WebhookForm.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"

const EXAMPLES = [
  {
    name: "JavaScript",
    code: [
      `import { verifyWebhook } from "@waybill/client"`,
      ``,
      `// Verify the raw request body, before parsing it.`,
      `const event = await verifyWebhook(body, request.headers, process.env.WEBHOOK_SECRET)`,
      `if (event.type === "email.bounced") await deactivate(event.data.recipient)`,
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
  const query = useQuery(Queries.webhooks)
  const [created, setCreated] = useState<WebhookWithSecret>()
  const setDialogOpen = (open: boolean) => void navigate({ search: open ? { new: true } : {}, replace: true })
  const button = (
    <Button variant="primary" icon={<Plus size={15} />} onClick={() => setDialogOpen(true)}>
      Create webhook
    </Button>
  )
  return (
    <Screen
      title="Webhooks"
      hint="Signed event notifications, retried until your endpoint accepts them."
      actions={button}
    >
      <Panel>
        {query.isPending ? (
          <SkeletonRows rows={3} />
        ) : query.isError ? (
          <div className="p-4">
            <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
          </div>
        ) : query.data.data.length === 0 ? (
          <EmptyState icon={<Icon size={20} />} title="No webhooks yet" action={button} examples={EXAMPLES}>
            Your endpoints appear here. Create a webhook to receive deliveries, bounces and complaints as they happen.
          </EmptyState>
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
                          "All events"
                        ) : (
                          webhook.events.join(", ")
                        )
                      ) : (
                        <UntrustedText text={webhook.description} />
                      )}
                    </span>
                  </span>
                  <StatusBadge status={webhook.enabled ? "enabled" : "disabled"} />
                  <ChevronRight size={15} className="text-ink-3" aria-hidden />
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      <Dialog
        open={search.new === true}
        onOpenChange={setDialogOpen}
        onClosed={() => setCreated(undefined)}
        requiresClose={created !== undefined}
        title={created === undefined ? "Create webhook" : "Signing secret"}
        description={
          created === undefined ? undefined : "Use it to verify webhook requests. Copy it now: it is shown only once."
        }
      >
        {created === undefined ? (
          <WebhookForm onCancel={() => setDialogOpen(false)} onCreated={setCreated} />
        ) : (
          <SigningSecret
            secret={created.secret}
            onDone={() => void navigate({ to: "/webhooks/$id", params: { id: created.id } })}
          />
        )}
      </Dialog>
    </Screen>
  )
}
