import { shownWebhookStatus } from "@waybill/domain/webhook/shownWebhookStatus"
import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { History, KeyRound, Pause, Pencil, Play, Trash2, Zap } from "lucide-react"
import { useState } from "react"
import * as OptimisticUpdate from "../ui/feedback/OptimisticUpdate.ts"
import * as Queries from "../api/Queries.ts"
import type { Delivery, Webhook as WebhookData, WebhookWithSecret } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { Button } from "../ui/controls/Button.tsx"
import { ConfirmDialog } from "../ui/feedback/ConfirmDialog.tsx"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { MoreMenu } from "../ui/controls/Menu.tsx"
import { DescriptionList } from "../ui/layout/DescriptionList.tsx"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import { eventName } from "../ui/display/eventName.ts"
import { formatDateTime } from "../ui/display/Time.tsx"
import { showError, showToast } from "../ui/feedback/Toasts.tsx"
import { Deliveries, IDLE_POLL_MS } from "./Deliveries.tsx"
import * as DisabledReason from "./DisabledReason.ts"
import * as WebhookStatus from "./WebhookStatus.tsx"
import { ReplayRange } from "./ReplayRange.tsx"
import { sendTestEvent } from "./sendTestEvent.ts"
import { SigningSecret } from "./SigningSecret.tsx"
import { useHistoryItem } from "../session/useHistoryItem.tsx"
import * as WebhookFormats from "./WebhookFormats.ts"
import { WebhookForm } from "./WebhookForm.tsx"
import { webhookName } from "./webhookName.ts"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { formatDuration } from "../ui/display/formatDuration.ts"
import { isSuccessful, ResponseStatus } from "./ResponseStatus.tsx"

export const Webhook = () => {
  const { id } = useParams({ from: "/shell/webhooks/$id" })
  const client = useQueryClient()
  const navigate = useNavigate()
  const { data: webhook } = useSuspenseQuery({ ...Queries.webhook(id), refetchInterval: IDLE_POLL_MS })
  const history = useHistoryItem(id)
  const [dialog, setDialog] = useState<"edit" | "remove" | "replay" | "rotate">()
  const close = () => setDialog(undefined)
  const [secret, setSecret] = useState<string>()
  // The answer of a change says nothing about calls.
  const updateCache = (next: Partial<WebhookData>) => {
    client.setQueryData(Queries.webhook(id).queryKey, (webhook) => webhook && { ...webhook, ...next })
    void client.invalidateQueries({ queryKey: ["webhooks"], exact: true })
  }
  const refreshDeliveries = () => client.invalidateQueries({ queryKey: Queries.deliveriesOf(id) })
  const test = useMutation({
    mutationFn: () => sendTestEvent(id),
    onSuccess: showAnswer,
    onError: showError,
    // "Last answer", the status and the deliveries.
    onSettled: () => client.invalidateQueries({ queryKey: Queries.webhook(id).queryKey }),
  })
  const enable = useMutation({
    mutationFn: (enabled: boolean) => Api.patch<WebhookData>(`/webhooks/${id}`, { enabled }),
    onMutate: (enabled) =>
      OptimisticUpdate.apply<WebhookData>(client, Queries.webhook(id).queryKey, (webhook) => ({ ...webhook, enabled })),
    onSuccess: (next) => {
      updateCache(next)
      showToast(next.enabled ? "Webhook enabled." : "Webhook disabled.", () => enable.mutate(!next.enabled))
    },
    onError: OptimisticUpdate.rollBack,
  })
  return (
    <Screen
      name={webhookName(webhook)}
      back={{ to: "/webhooks", name: "Webhooks" }}
      title={webhook.url}
      status={<WebhookStatus.Shown webhook={webhook} />}
      hint={
        webhook.description === null || webhook.description === "" ? undefined : (
          <UntrustedText text={webhook.description} />
        )
      }
      actions={
        <>
          {webhook.enabled ? (
            <Button icon={<Zap size={14} />} busy={test.isPending} onClick={() => test.mutate()}>
              Send test event
            </Button>
          ) : (
            <Button variant="primary" icon={<Play size={14} />} onClick={() => enable.mutate(true)}>
              Enable
            </Button>
          )}
          <MoreMenu
            isFramed
            label="Webhook actions"
            items={[
              { name: "Edit", icon: <Pencil size={15} />, onSelect: () => setDialog("edit") },
              webhook.enabled && { name: "Disable", icon: <Pause size={15} />, onSelect: () => enable.mutate(false) },
              { name: "Replay time range", icon: <History size={15} />, onSelect: () => setDialog("replay") },
              { name: "Rotate signing secret", icon: <KeyRound size={15} />, onSelect: () => setDialog("rotate") },
              ...history,
              "separator",
              { name: "Delete", icon: <Trash2 size={15} />, danger: true, onSelect: () => setDialog("remove") },
            ]}
          />
        </>
      }
    >
      <Panel>
        <DescriptionList
          items={[
            shownWebhookStatus(webhook) === "failing" &&
              webhook.failing_since !== null && ["Failing", failingText(webhook.failing_since, webhook.last_call)],
            webhook.disabled_reason !== null && ["Disabled", disabledText(webhook)],
            ["Last answer", <LastAnswer key="last_call" call={webhook.last_call} />],
            ["Events", webhook.events.includes("*") ? "All events" : webhook.events.map(eventName).join(", ")],
            ["Format", WebhookFormats.nameOf(webhook.format)],
            ["Signature headers", webhook.svix_headers ? "webhook-* and svix-*" : "webhook-*"],
            webhook.public_key !== null && [
              "Public key",
              <code key="public_key" className="font-mono text-xs break-all">
                {webhook.public_key}
              </code>,
            ],
            ["Created", formatDateTime(webhook.created_at)],
            [
              "ID",
              <code key="id" className="font-mono text-xs">
                {webhook.id}
              </code>,
            ],
          ]}
        />
      </Panel>
      <Deliveries webhookId={id} isEnabled={webhook.enabled} />
      <Dialog open={dialog === "edit"} onClose={close} title="Edit webhook">
        <WebhookForm
          webhook={webhook}
          onCancel={close}
          onChanged={(next) => {
            updateCache(next)
            close()
          }}
        />
      </Dialog>
      <Dialog
        open={dialog === "replay"}
        onClose={close}
        title="Replay time range"
        description="The events of this webhook in the range are delivered again. Event ids stay the same, so duplicates can be ignored."
      >
        <ReplayRange
          webhookId={id}
          onDone={() => {
            close()
            void refreshDeliveries()
          }}
        />
      </Dialog>
      <ConfirmDialog
        open={dialog === "rotate"}
        onClose={close}
        title="Rotate signing secret?"
        isDestructive={false}
        action="Rotate secret"
        onConfirm={async () => {
          const next = await Api.post<WebhookWithSecret>(`/webhooks/${id}/rotate-secret`)
          setSecret(next.secret)
          void client.invalidateQueries({ queryKey: Queries.webhook(id).queryKey })
        }}
      >
        Requests are signed with both secrets for 24 hours, so you can switch without rejecting any.
        {webhook.format === "sendgrid" ? " The signature as SendGrid has it is made with the new key at once." : ""}
      </ConfirmDialog>
      <Dialog
        open={secret !== undefined}
        onClose={() => setSecret(undefined)}
        requiresClose
        title="New signing secret"
        description="Copy it now: it is shown only once."
      >
        <SigningSecret secret={secret ?? ""} onDone={() => setSecret(undefined)} />
      </Dialog>
      <ConfirmDialog
        open={dialog === "remove"}
        onClose={close}
        title="Delete webhook?"
        action="Delete webhook"
        onConfirm={async () => {
          await Api.remove(`/webhooks/${id}`)
          await client.invalidateQueries({ queryKey: ["webhooks"], exact: true })
          showToast("Webhook deleted.")
          await navigate({ to: "/webhooks" })
        }}
      >
        No more events are sent to it, and pending deliveries are dropped.
      </ConfirmDialog>
    </Screen>
  )
}

/** Says what the endpoint answered to a test event: in red, if it did not accept it. */
const showAnswer = ({ attempts, last_answer, last_status, status }: Delivery): void => {
  if (isSuccessful(last_status)) showToast(`The endpoint answered ${last_status}.`)
  else if (attempts === 0 && status === "pending") showToast("Test event queued. The endpoint was not called yet.")
  else {
    const answered = last_status === null ? "The endpoint did not answer" : `The endpoint answered ${last_status}`
    showError(new Error(last_answer === null ? `${answered}.` : `${answered}: ${last_answer}`))
  }
}

const failingText = (since: string, call: WebhookData["last_call"]): string =>
  `No call accepted since ${formatDateTime(since)}. ${
    call !== null && call.status !== null
      ? `The endpoint answers ${call.status}: each call is repeated up to seven times, within about 28 hours.`
      : "While the endpoint does not answer, it is called rarely, and other calls are held."
  } After five days without an accepted call the webhook is disabled.`

const disabledText = (webhook: WebhookData): string =>
  `${DisabledReason.words(webhook)}. No events are sent. Once the webhook is enabled, “Replay time range” sends those it missed.`

/** Shows what the endpoint answered last, when, and how it began; or why it gave no answer. */
const LastAnswer = ({ call }: { readonly call: WebhookData["last_call"] }) => {
  if (call === null) return "None yet"
  const text = call.error ?? (isSuccessful(call.status) ? null : call.answer)
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <ResponseStatus status={call.status} />
      <span className="tabular">
        {formatDateTime(call.at)}, {formatDuration(call.duration_ms)}
      </span>
      {text === null ? undefined : (
        <UntrustedText className="line-clamp-2 min-w-0 text-xs text-ink-3 [overflow-wrap:anywhere]" text={text} />
      )}
    </span>
  )
}
