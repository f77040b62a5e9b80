interface ShownWebhook {
  readonly enabled: boolean
  /** Set once the endpoint accepted no call for five minutes. */
  readonly failing_since: string | null
  readonly last_call: { readonly status: number | null } | null
}

type Shown = "disabled" | "enabled" | "failing" | "not accepting" | "not answering"

/** Returns the status that screens and terminals show. From the first failed call, a webhook is not shown as if all were well. */
export const shownWebhookStatus = ({ enabled, failing_since, last_call }: ShownWebhook): Shown => {
  if (!enabled) return "disabled"
  if (failing_since !== null) return "failing"
  if (last_call === null) return "enabled"
  const { status } = last_call
  if (status === null) return "not answering"
  return status >= 200 && status < 300 ? "enabled" : "not accepting"
}
