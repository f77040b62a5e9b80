import type { AccountId, EmailId, InboundId } from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as AttachmentLink from "@waybill/mail/tokens/AttachmentLink"
import { InstanceKey } from "@waybill/store/secrets/InstanceKey"
import { Clock, Duration, Effect } from "effect"
import { Instance } from "../settings/Instance.ts"
import * as HostNames from "../process/HostNames.ts"

/** How long a link to an attachment works. */
export const ATTACHMENT_LINK_LIFETIME = Duration.hours(1)

/** Derives the keys of these links. The first one signs, all of them verify. */
export const attachmentKeys = Effect.map(InstanceKey, (keyring) => keyring.derive("attachment"))

/** Links to the attachments of a mail, which work until a time. */
export type Links = (
  account_id: AccountId,
  mail_id: EmailId | InboundId,
) => {
  readonly expires_at: Timestamp.Timestamp
  readonly urlOf: (nth: number) => string
}

/** Makes links that begin with an address of this service. */
export const linksAt = Effect.fnUntraced(function* (base: string) {
  const [key = new Uint8Array()] = yield* attachmentKeys
  return Effect.map(Clock.currentTimeMillis, (now): Links => {
    const expires_ms = now + Duration.toMillis(ATTACHMENT_LINK_LIFETIME)
    const expires_at = Timestamp.fromMillis(expires_ms)
    const start = `${base.replace(/\/+$/u, "")}${AttachmentLink.PATH}`
    return (account_id, mail_id) => ({
      expires_at,
      urlOf: (nth) => `${start}${AttachmentLink.token(key, { account_id, mail_id, nth }, expires_ms)}`,
    })
  })
})

/** Makes links for a client: without BASE_URL they lead to the host that it asked, or are paths if that is no host. */
export const linksFrom = Effect.fnUntraced(function* (host: string | undefined) {
  const { baseUrl } = yield* Instance
  return yield* yield* linksAt(baseUrl ?? (host !== undefined && HostNames.isHost(host) ? `http://${host}` : ""))
})
