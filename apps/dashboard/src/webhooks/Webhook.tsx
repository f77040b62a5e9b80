import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams } from "@tanstack/react-router"
import { ArrowLeft, History, KeyRound, MoreHorizontal, Pause, Pencil, Play, Trash2, Zap } from "lucide-react"
import { useState } from "react"
import { ahead, takeBack } from "../api/OptimisticUpdate.ts"
import * as queries from "../api/Queries.ts"
import type { Delivery, Webhook as Record, WebhookWithSecret } from "../api/Records.ts"
import { patch, post, remove } from "../api/Api.ts"
import { State } from "../ui/display/Badge.tsx"
import { Button, IconButton } from "../ui/controls/Button.tsx"
import { Confirm, Dialog } from "../ui/feedback/Dialog.tsx"
import { Menu } from "../ui/controls/Menu.tsx"
import { Facts, Panel, Screen } from "../ui/layout/Screen.tsx"
import { exactly } from "../ui/display/Time.tsx"
import { complain, say } from "../ui/feedback/Toasts.tsx"
import { Deliveries } from "./Deliveries.tsx"
import { ReplayRange } from "./ReplayRange.tsx"
import { Secret } from "./SigningSecret.tsx"
import { WebhookForm } from "./WebhookForm.tsx"
import { Foreign } from "../ui/display/UntrustedText.tsx"

export const Webhook = () => {
  const { id } = useParams({ from: "/shell/webhooks/$id" })
  const client = useQueryClient()
  const navigate = useNavigate()
  const { data: webhook } = useSuspenseQuery(queries.webhook(id))
  const [editing, setEditing] = useState(false)
  const [rotating, setRotating] = useState(false)
  const [removing, setRemoving] = useState(false)
  const [replaying, setReplaying] = useState(false)
  const [secret, setSecret] = useState<string>()
  const keep = (next: Record) => {
    client.setQueryData(queries.webhook(id).queryKey, next)
    void client.invalidateQueries({ queryKey: ["webhooks"], exact: true })
  }
  const refreshDeliveries = () => client.invalidateQueries({ queryKey: queries.deliveries(id).queryKey })
  const test = useMutation({
    mutationFn: () => post<Delivery>(`/webhooks/${id}/test`),
    onSuccess: () => {
      say("A made-up event is on its way.")
      void refreshDeliveries()
    },
    onError: complain,
  })
  const enable = useMutation({
    mutationFn: (enabled: boolean) => patch<Record>(`/webhooks/${id}`, { enabled }),
    onMutate: (enabled) => ahead<Record>(client, queries.webhook(id).queryKey, (webhook) => ({ ...webhook, enabled })),
    onSuccess: (next) => {
      keep(next)
      say(next.enabled ? "It is called again." : "It is not called for now.", () => enable.mutate(!next.enabled))
    },
    onError: takeBack,
  })
  return (
    <Screen
      title={
        <span className="flex items-center gap-3">
          <Link to="/webhooks" aria-label="Back to the webhooks" className="rounded-md text-ink-3 hover:text-ink">
            <ArrowLeft size={16} />
          </Link>
          <span className="truncate">{webhook.url}</span>
          <State state={webhook.enabled ? "enabled" : "disabled"} />
        </span>
      }
      hint={webhook.description === null ? undefined : <Foreign text={webhook.description} />}
      actions={
        <>
          <Button icon={<Zap size={14} />} busy={test.isPending} onClick={() => test.mutate()}>
            Send a test
          </Button>
          <Menu
            trigger={
              <IconButton label="More for this webhook" className="border border-line-strong bg-raised">
                <MoreHorizontal size={16} />
              </IconButton>
            }
            items={[
              { name: "Change it", icon: <Pencil size={15} />, onSelect: () => setEditing(true) },
              webhook.enabled
                ? { name: "Pause it", icon: <Pause size={15} />, onSelect: () => enable.mutate(false) }
                : { name: "Call it again", icon: <Play size={15} />, onSelect: () => enable.mutate(true) },
              { name: "Replay a stretch of time", icon: <History size={15} />, onSelect: () => setReplaying(true) },
              { name: "Rotate the secret", icon: <KeyRound size={15} />, onSelect: () => setRotating(true) },
              "line",
              { name: "Delete it", icon: <Trash2 size={15} />, danger: true, onSelect: () => setRemoving(true) },
            ]}
          />
        </>
      }
    >
      <Panel>
        <Facts
          facts={[
            ["Events", webhook.events.includes("*") ? "every event" : webhook.events.join(", ")],
            ...(webhook.disabled_reason === null
              ? []
              : [["Disabled", DISABLED[webhook.disabled_reason] ?? webhook.disabled_reason] as const]),
            ["Created", exactly(webhook.created_at)],
            [
              "Id",
              <code key="id" className="font-mono text-xs">
                {webhook.id}
              </code>,
            ],
          ]}
        />
      </Panel>
      <Deliveries webhookId={id} />
      <Dialog open={editing} onOpenChange={setEditing} title="Change the webhook">
        <WebhookForm
          webhook={webhook}
          onCancel={() => setEditing(false)}
          onChanged={(next) => {
            keep(next)
            setEditing(false)
          }}
        />
      </Dialog>
      <Dialog
        open={replaying}
        onOpenChange={setReplaying}
        title="Replay a stretch of time"
        description="Every event in it is told again, with the same ids. Whoever de-duplicates sees nothing new twice."
      >
        <ReplayRange
          webhookId={id}
          onDone={() => {
            setReplaying(false)
            void refreshDeliveries()
          }}
        />
      </Dialog>
      <Confirm
        open={rotating}
        onOpenChange={setRotating}
        title="Rotate the secret?"
        action="Make a new secret"
        onConfirm={async () => {
          const next = await post<WebhookWithSecret>(`/webhooks/${id}/rotate-secret`)
          setSecret(next.secret)
        }}
      >
        The old one signs beside the new one for 24 hours, so that you can change it without losing a call.
      </Confirm>
      <Dialog
        open={secret !== undefined}
        onOpenChange={(open) => {
          if (!open) setSecret(undefined)
        }}
        sticky
        title="The new secret"
        description="Copy it now; it is shown this once."
      >
        <Secret secret={secret ?? ""} onDone={() => setSecret(undefined)} />
      </Dialog>
      <Confirm
        open={removing}
        onOpenChange={setRemoving}
        title="Delete this webhook?"
        action="Delete"
        onConfirm={async () => {
          await remove(`/webhooks/${id}`)
          await client.invalidateQueries({ queryKey: ["webhooks"], exact: true })
          say("The webhook is deleted.")
          await navigate({ to: "/webhooks" })
        }}
      >
        It is not called any more, and what is still to be told to it is dropped.
      </Confirm>
    </Screen>
  )
}

const DISABLED: { readonly [reason: string]: string } = {
  gone: "it answered 410 Gone",
  failing: "five days went by without one success",
  manual: "by hand",
}
