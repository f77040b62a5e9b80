import type { Webhook } from "../api/Records.ts"

/** Names a webhook: by its description, or by the host and path of its URL. */
export const webhookName = ({ description, url }: Pick<Webhook, "description" | "url">): string => {
  if (description !== null && description !== "") return description
  const { host, pathname } = new URL(url)
  return pathname === "/" ? host : `${host}${pathname}`
}
